//! A model behind an OpenAI-compatible chat endpoint.

use std::io::{self, BufReader, Read as _};
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde_json::{Value, json};
use ureq::Body;
use ureq::http::Response;

use crate::budget::{Budget, Tokens, estimated_tokens};
use crate::chat::{ChatModel, ChatRequest, Finish, Piece, Reply};
use crate::error::{BudgetError, LlmError};
use crate::secret::Secret;
use crate::settings::{LlmSettings, ReplyFormat};
use crate::sse::Events;

/// Bytes of content that one reply may have.
const MAX_REPLY: usize = 4 << 20;
/// Characters of a server's words that an error shows.
const SHOWN: usize = 300;

/// An OpenAI-compatible chat endpoint. Calls may be made from many threads.
#[derive(Debug)]
pub struct HttpModel {
    settings: LlmSettings,
    url: String,
    key: Option<Secret>,
    agent: ureq::Agent,
}

impl HttpModel {
    /// Checks the settings; no connection is made.
    ///
    /// # Errors
    /// [`LlmError::Settings`].
    pub fn new(settings: LlmSettings, key: Option<Secret>) -> Result<Self, LlmError> {
        let endpoint = settings.endpoint()?;
        // A proxy would have to be told the key to reach this very machine.
        let proxy = if endpoint.loopback { None } else { ureq::Proxy::try_from_env() };
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(proxy)
            .user_agent(concat!("tabsegnet/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(Duration::from_secs_f64(settings.connect_seconds)))
            .timeout_per_read(Some(Duration::from_secs_f64(settings.silence_seconds)))
            .build()
            .new_agent();
        Ok(Self { url: endpoint.url, settings, key, agent })
    }

    /// The JSON that is sent.
    fn body(&self, request: &ChatRequest) -> Value {
        let mut body = json!({
            "model": self.settings.model,
            "messages": request.messages,
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
        });
        let mut set = |name: &str, value: Value| {
            if let Some(fields) = body.as_object_mut() {
                fields.insert(name.to_owned(), value);
            }
        };
        if let Some(seed) = request.seed {
            set("seed", seed.into());
        }
        if self.settings.stream {
            set("stream", true.into());
            set("stream_options", json!({"include_usage": true}));
        }
        match (&request.schema, self.settings.reply_format) {
            (Some(schema), ReplyFormat::JsonSchema) => set(
                "response_format",
                json!({"type": "json_schema",
                       "json_schema": {"name": schema.name, "strict": true, "schema": schema.schema}}),
            ),
            (Some(schema), ReplyFormat::Tools) => {
                let function = json!({"name": schema.name, "description": "Takes your reply.",
                                      "parameters": schema.schema});
                set("tools", json!([{"type": "function", "function": function}]));
                // The one that there is; not all servers take its name here.
                set("tool_choice", "required".into());
            }
            (Some(_), ReplyFormat::JsonObject) => set("response_format", json!({"type": "json_object"})),
            _ => {}
        }
        body
    }

    /// One attempt.
    fn attempt(
        &self,
        body: &[u8],
        time: Duration,
        on_piece: &mut dyn FnMut(Piece<'_>),
        got: &mut Got,
    ) -> Result<(), Failure> {
        let whole = Duration::from_secs_f64(self.settings.call_seconds).min(time);
        let mut request = self
            .agent
            .post(&self.url)
            .config()
            .timeout_global(Some(whole))
            .build()
            .header("Content-Type", "application/json")
            .header("Accept", if self.settings.stream { "text/event-stream" } else { "application/json" });
        if let Some(key) = &self.key {
            request = request.header("Authorization", key.bearer());
        }
        let response = request.send(body).map_err(|error| Failure::of(&error))?;
        let status = response.status().as_u16();
        match status {
            200..=299 => self.read(response, on_piece, got),
            _ => Err(Failure::Status {
                status,
                wait: retry_after(&response),
                location: header(&response, "location").map(str::to_owned),
                said: self.said(response),
            }),
        }
    }

    fn read(
        &self,
        response: Response<Body>,
        on_piece: &mut dyn FnMut(Piece<'_>),
        got: &mut Got,
    ) -> Result<(), Failure> {
        let streamed = header(&response, "content-type").is_some_and(|kind| kind.contains("text/event-stream"));
        let reader = BufReader::new(response.into_body().into_reader());
        if !streamed {
            let mut text = String::new();
            reader.take(MAX_REPLY as u64).read_to_string(&mut text).map_err(|error| Failure::of_read(&error))?;
            let chunk = self.chunk(&text)?;
            return if got.take(chunk, on_piece)? { Ok(()) } else { Err(self.garbage(&text)) };
        }
        for event in Events::new(reader) {
            let event = event.map_err(|error| Failure::of_read(&error))?;
            if event.trim() == "[DONE]" {
                break;
            }
            got.take(self.chunk(&event)?, on_piece)?;
        }
        match got.finish {
            Some(_) => Ok(()),
            None => Err(Failure::Cut("the stream ended before the reply did".to_owned())),
        }
    }

    fn chunk(&self, text: &str) -> Result<Chunk, Failure> {
        let chunk: Chunk = serde_json::from_str(text).map_err(|_| self.garbage(text))?;
        match &chunk.error {
            None => Ok(chunk),
            Some(error) => Err(Failure::Cut(format!("the server says: {}", self.short(&message_of(error))))),
        }
    }

    fn garbage(&self, text: &str) -> Failure {
        let text = text.trim();
        let reason = if text.is_empty() {
            "the server answers with nothing".to_owned()
        } else {
            format!("the server answers with {:?}", self.short(text))
        };
        Failure::NotChat(reason)
    }

    /// A server's words, cut down, without the key.
    fn short(&self, text: &str) -> String {
        let text = self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.hide_in(text));
        let mut shown: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some((end, _)) = shown.char_indices().nth(SHOWN) {
            shown.truncate(end);
            shown.push('…');
        }
        shown
    }

    /// What the body of an error says.
    fn said(&self, response: Response<Body>) -> String {
        let mut text = Vec::new();
        // What is missing of it is not worth an error of its own.
        let _ = response.into_body().into_reader().take(1 << 16).read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text);
        let said = match serde_json::from_str::<Value>(&text) {
            Ok(json) => message_of(json.get("error").unwrap_or(&json)),
            Err(_) => text.into_owned(),
        };
        let said = self.short(&said);
        if said.is_empty() { "without a word".to_owned() } else { said }
    }

    /// The error of the last attempt.
    fn error(&self, failure: Failure, attempts: u32) -> LlmError {
        let url = self.url.clone();
        match failure {
            Failure::Status { status: status @ (401 | 403), said, .. } => {
                LlmError::Key { url, status, said, variable: self.settings.key_variable.clone() }
            }
            Failure::Status { status: 300..=399, location, .. } => LlmError::Redirect {
                url,
                to: self.short(location.as_deref().unwrap_or("an address that it does not say")),
            },
            Failure::Status { status, said, wait, .. } if is_busy(status) => {
                let advice = wait.filter(|wait| wait.as_secs_f64() > self.settings.max_wait_seconds).map(|wait| {
                    format!("; it wants {} s of waiting, more than llm.max_wait_seconds allows", wait.as_secs())
                });
                LlmError::Busy { url, status, said, attempts, advice: advice.unwrap_or_default() }
            }
            Failure::Status { status, said, .. } => {
                let hint = match status {
                    404 | 405 => "llm.base_url usually ends in /v1, and llm.model names a model that the server has",
                    400 | 422 if said.contains("format") || said.contains("schema") || said.contains("grammar") => {
                        "set llm.reply_format to json_object or text for a server without JSON schemas"
                    }
                    400 | 422 if said.contains("tool") || said.contains("function") => {
                        "set llm.reply_format to json_schema, json_object or text for a server without tool calls"
                    }
                    400 | 413 | 422 => "llm.model, llm.max_tokens and llm.reply_format have to fit the server",
                    _ => "see the server's own log",
                };
                LlmError::Refused { url, status, said, hint }
            }
            Failure::Timeout { phase, setting } => LlmError::Timeout { url, phase, setting, attempts },
            Failure::Broken(reason) | Failure::Cut(reason) => {
                LlmError::Unreachable { url, attempts, reason: self.short(&reason) }
            }
            Failure::NotChat(reason) => LlmError::NotChat { url, reason },
        }
    }

    /// How long to wait before the next attempt: what the server says, else a random part of a doubled wait.
    fn wait(&self, failure: &Failure, attempt: u32) -> Duration {
        if let Failure::Status { wait: Some(wait), .. } = failure {
            return *wait;
        }
        let doubled = self.settings.backoff_seconds * f64::from(1_u32 << (attempt - 1).min(10));
        Duration::from_secs_f64(doubled.min(self.settings.max_wait_seconds) * (0.5 + fastrand::f64() / 2.0))
    }
}

impl ChatModel for HttpModel {
    fn name(&self) -> &str {
        &self.settings.model
    }

    fn chat(
        &self,
        request: &ChatRequest,
        budget: &mut Budget,
        on_piece: &mut dyn FnMut(Piece<'_>),
    ) -> Result<Reply, LlmError> {
        let body = self.body(request).to_string();
        let prompt = request.estimated_tokens();
        let most = u64::from(request.max_tokens);
        let mut attempt = 0;
        loop {
            budget.check(prompt.saturating_add(most), self.settings.cost(prompt, most))?;
            budget.begin_call();
            attempt += 1;
            let mut got = Got::default();
            let result = self.attempt(body.as_bytes(), budget.time_left(), on_piece, &mut got);
            let written = estimated_tokens(&got.content) + estimated_tokens(&got.reasoning);
            let tokens = got.tokens.unwrap_or(Tokens { prompt, completion: written, estimated: true });
            let cost = self.settings.cost(tokens.prompt, tokens.completion);
            let failure = match result {
                Ok(()) => {
                    budget.book(tokens, cost);
                    let Got { content, reasoning, finish, .. } = got;
                    let finish = finish.unwrap_or(Finish::Stop);
                    return Ok(Reply { content, reasoning, finish, tokens, cost, recorded: false });
                }
                Err(failure) => failure,
            };
            // A reply that broke off is paid for all the same.
            if written > 0 {
                budget.book(tokens, cost);
            }
            let wait = self.wait(&failure, attempt);
            let too_long = wait.as_secs_f64() > self.settings.max_wait_seconds;
            if !failure.is_passing() || attempt >= self.settings.attempts || too_long {
                return Err(self.error(failure, attempt));
            }
            if wait >= budget.time_left() {
                return Err(BudgetError::Time { seconds: self.settings.budget.seconds }.into());
            }
            std::thread::sleep(wait);
            on_piece(Piece::Again);
        }
    }
}

/// What has come of a reply.
#[derive(Default)]
struct Got {
    content: String,
    reasoning: String,
    finish: Option<Finish>,
    tokens: Option<Tokens>,
    /// The number of the tool call that is the reply.
    tool: Option<usize>,
}

impl Got {
    /// Takes a chunk of a stream, or a whole reply; whether it said anything of a reply.
    fn take(&mut self, chunk: Chunk, on_piece: &mut dyn FnMut(Piece<'_>)) -> Result<bool, Failure> {
        if let Some(usage) = chunk.usage {
            self.tokens =
                Some(Tokens { prompt: usage.prompt_tokens, completion: usage.completion_tokens, estimated: false });
        }
        let Some(choice) = chunk.choices.unwrap_or_default().into_iter().next() else { return Ok(false) };
        let said = choice.delta.or(choice.message).unwrap_or_default();
        if let Some(reasoning) = said.reasoning_content.or(said.reasoning) {
            self.reasoning.push_str(&reasoning);
        }
        if let Some(content) = said.content.filter(|content| !content.is_empty()) {
            self.content.push_str(&content);
            on_piece(Piece::Text(&content));
        }
        for (place, call) in said.tool_calls.unwrap_or_default().into_iter().enumerate() {
            // Of several calls the first is the reply.
            let number = call.index.unwrap_or(place);
            let Some(arguments) = call.function.and_then(|function| function.arguments) else { continue };
            if *self.tool.get_or_insert(number) != number {
                continue;
            }
            // Some servers write the arguments as JSON and not as a text with JSON in it.
            let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
            self.content.push_str(&arguments);
            on_piece(Piece::Text(&arguments));
        }
        if self.content.len() + self.reasoning.len() > MAX_REPLY {
            return Err(Failure::NotChat(format!("the reply has more than {MAX_REPLY} bytes")));
        }
        if let Some(reason) = choice.finish_reason {
            self.finish = Some(reason.as_str().into());
        }
        Ok(true)
    }
}

/// A chunk of a stream, or a whole completion: they differ in `delta` and `message`.
#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<Usage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Said>,
    message: Option<Said>,
    finish_reason: Option<String>,
}

#[derive(Deserialize, Default)]
struct Said {
    content: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    tool_calls: Option<Vec<ToolCall>>,
}

/// A call, or in a stream a piece of one: pieces of one call have its number.
#[derive(Deserialize)]
struct ToolCall {
    index: Option<usize>,
    function: Option<Function>,
}

#[derive(Deserialize)]
struct Function {
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

/// Why an attempt failed.
enum Failure {
    Status { status: u16, wait: Option<Duration>, location: Option<String>, said: String },
    Timeout { phase: &'static str, setting: &'static str },
    Broken(String),
    Cut(String),
    NotChat(String),
}

impl Failure {
    fn of(error: &ureq::Error) -> Self {
        use ureq::Timeout;
        let timeout = |phase, setting| Self::Timeout { phase, setting };
        match error {
            ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve) => {
                timeout("the connection", "llm.connect_seconds")
            }
            ureq::Error::Timeout(Timeout::Global | Timeout::PerCall) => {
                timeout("the reply", "llm.call_seconds or llm.budget.seconds")
            }
            ureq::Error::Timeout(_) => timeout("the silence of the server", "llm.silence_seconds"),
            ureq::Error::Io(error) => Self::of_read(error),
            ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::Protocol(_) => {
                Self::NotChat(format!("the server does not speak HTTP as expected: {error}"))
            }
            other => Self::Broken(other.to_string()),
        }
    }

    fn of_read(error: &io::Error) -> Self {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>());
        match (inner, error.kind()) {
            (Some(inner), _) => Self::of(inner),
            (None, io::ErrorKind::InvalidData) => Self::NotChat(format!("the server's answer cannot be read: {error}")),
            (None, io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock) => {
                Self::Timeout { phase: "the silence of the server", setting: "llm.silence_seconds" }
            }
            _ => Self::Broken(error.to_string()),
        }
    }

    /// Whether another attempt may do.
    fn is_passing(&self) -> bool {
        match self {
            Self::Status { status, .. } => is_busy(*status),
            Self::Timeout { .. } | Self::Broken(_) | Self::Cut(_) => true,
            Self::NotChat(_) => false,
        }
    }
}

fn is_busy(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500..=599)
}

fn header<'a>(response: &'a Response<Body>, name: &str) -> Option<&'a str> {
    response.headers().get(name)?.to_str().ok()
}

/// Seconds, or a date.
fn retry_after(response: &Response<Body>) -> Option<Duration> {
    let value = header(response, "retry-after")?.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = httpdate::parse_http_date(value).ok()?;
    Some(until.duration_since(SystemTime::now()).unwrap_or_default())
}

/// `{"message": …}`, or a text.
fn message_of(error: &Value) -> String {
    let message = error.get("message").or_else(|| error.get("detail")).unwrap_or(error);
    message.as_str().map_or_else(|| message.to_string(), str::to_owned)
}
