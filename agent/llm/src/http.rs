//! A model behind an OpenAI-compatible chat endpoint.

mod failure;
mod form;
mod reply;

use std::io::{BufReader, Read as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use ureq::Body;
use ureq::http::Response;

use crate::budget::{Budget, Tokens, estimated_tokens};
use crate::chat::{ChatModel, ChatRequest, Finish, Piece, Reply};
use crate::error::{BudgetError, LlmError};
use crate::http::failure::{Failure, hint, is_busy};
use crate::http::form::Form;
use crate::http::reply::{Chunk, Got, MAX_REPLY};
use crate::secret::Secret;
use crate::settings::{LlmSettings, ReplyFormat};
use crate::sse::Events;

/// Characters of a server's words that an error shows.
const SHOWN: usize = 300;

/// An OpenAI-compatible chat endpoint. Calls may be made from many threads.
#[derive(Debug)]
pub struct HttpModel {
    settings: LlmSettings,
    url: String,
    key: Option<Secret>,
    agent: ureq::Agent,
    /// What the server does not take, as far as it has said so.
    refuses_max_tokens: AtomicBool,
    refuses_temperature: AtomicBool,
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
        let [refuses_max_tokens, refuses_temperature] = [const { AtomicBool::new(false) }; 2];
        Ok(Self { url: endpoint.url, settings, key, agent, refuses_max_tokens, refuses_temperature })
    }

    /// The form that the server takes, as far as it is known.
    fn form(&self) -> Form {
        Form {
            completion_tokens: self.refuses_max_tokens.load(Ordering::Relaxed),
            temperature: !self.refuses_temperature.load(Ordering::Relaxed),
        }
    }

    /// The JSON that is sent.
    fn body(&self, request: &ChatRequest, form: Form) -> Value {
        let mut body = json!({"model": self.settings.model, "messages": request.messages});
        let mut set = |name: &str, value: Value| {
            if let Some(fields) = body.as_object_mut() {
                fields.insert(name.to_owned(), value);
            }
        };
        set(if form.completion_tokens { "max_completion_tokens" } else { "max_tokens" }, request.max_tokens.into());
        if form.temperature {
            set("temperature", request.temperature.into());
        }
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
            Some(error) => Err(Failure::Cut(format!("the server says: {}", self.short(&plain(&message_of(error)))))),
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
        let said = self.short(&plain(&said));
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
                let hint = hint(status, &said);
                LlmError::Refused { url, status, said, hint }
            }
            Failure::Timeout { phase, setting } => LlmError::Timeout { url, phase, setting, attempts },
            Failure::Broken(reason) | Failure::NotChat(reason) if self.meets_plain_http(&reason) => {
                LlmError::NoTls { url, reason: self.short(&reason) }
            }
            Failure::Broken(reason) | Failure::Cut(reason) => {
                LlmError::Unreachable { url, attempts, reason: self.short(&reason) }
            }
            Failure::NotChat(reason) => LlmError::NotChat { url, reason },
        }
    }

    /// Whether a handshake was answered with something else, as servers without TLS do.
    fn meets_plain_http(&self, reason: &str) -> bool {
        let said = ["InvalidContentType", "corrupt message", "wrong version number"];
        let is_https = self.url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
        is_https && said.iter().any(|words| reason.contains(words))
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
        let mut form = self.form();
        let mut body = self.body(request, form).to_string();
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
            if let Failure::Status { status, said, .. } = &failure
                && let Some(other) = form.without(*status, said)
            {
                // It says so at once and of one parameter a time; the next requests begin as this one ends.
                self.refuses_max_tokens.fetch_or(other.completion_tokens, Ordering::Relaxed);
                self.refuses_temperature.fetch_or(!other.temperature, Ordering::Relaxed);
                (form, body) = (other, self.body(request, other).to_string());
                attempt -= 1;
                continue;
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

/// What a server says, which is not to steer a terminal.
fn plain(said: &str) -> String {
    said.replace(|c: char| c.is_control(), " ")
}

/// `{"message": …}`, or a text.
fn message_of(error: &Value) -> String {
    let message = error.get("message").or_else(|| error.get("detail")).unwrap_or(error);
    message.as_str().map_or_else(|| message.to_string(), str::to_owned)
}
