//! Where a model is and how it is spoken to.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::budget::Limits;
use crate::chat::{ChatRequest, Message, ReplySchema};
use crate::error::LlmError;
use crate::secret::Secret;

/// How a server is brought to answer with JSON. Whatever it does, replies are validated here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyFormat {
    /// `response_format: json_schema`.
    #[default]
    JsonSchema,
    /// `response_format: json_object`.
    JsonObject,
    /// `tools`: one function, whose arguments are the JSON. For models that were trained to call tools.
    Tools,
    /// The prompt alone.
    Text,
}

/// The table `[llm]` of a config. The key is not among the settings: it comes from the environment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LlmSettings {
    /// Such as `http://127.0.0.1:8080/v1`; `/chat/completions` is put behind it. `gguf:PATH` is a file of a model that is run
    /// here, with the feature `gguf`. Empty: there is no model.
    pub base_url: String,
    /// The model, as the server calls it; that of a file has the file's name unless said.
    pub model: String,
    /// The environment variable with the key; one that is not set means that the server takes none.
    pub key_variable: String,
    /// Whether `http://` may be used to other machines, which shows key and questions to who listens.
    pub allow_plain_http: bool,
    /// How JSON is got.
    pub reply_format: ReplyFormat,
    /// Whether replies come piece by piece.
    pub stream: bool,
    /// Tokens that a reply may have; sent as `max_completion_tokens` to a server that says so.
    pub max_tokens: u32,
    /// 0: the likeliest reply. Left out for a server that says that it takes none.
    pub temperature: f32,
    /// For servers that take one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Attempts of one call: 429, 5xx, broken connections and silence are tried again.
    pub attempts: u32,
    /// Seconds before the second attempt at most; doubled each time, and the real wait is drawn below it.
    pub backoff_seconds: f64,
    /// Seconds that a server may tell us to wait; more is an error.
    pub max_wait_seconds: f64,
    /// Seconds to a connection.
    pub connect_seconds: f64,
    /// Seconds of silence, before the first piece and between two.
    pub silence_seconds: f64,
    /// Seconds of one attempt as a whole.
    pub call_seconds: f64,
    /// Price of a million tokens read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_prompt: Option<f64>,
    /// Price of a million tokens written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_completion: Option<f64>,
    /// The most that one question may take; `cost` is that of the whole run.
    pub budget: Limits,
}

impl Default for LlmSettings {
    fn default() -> Self {
        Self {
            base_url: String::new(),
            model: String::new(),
            key_variable: "TABSEGNET_LLM_KEY".to_owned(),
            allow_plain_http: false,
            reply_format: ReplyFormat::default(),
            stream: true,
            max_tokens: 1024,
            temperature: 0.0,
            seed: None,
            attempts: 4,
            backoff_seconds: 1.0,
            max_wait_seconds: 60.0,
            connect_seconds: 10.0,
            silence_seconds: 120.0,
            call_seconds: 600.0,
            price_prompt: None,
            price_completion: None,
            budget: Limits::default(),
        }
    }
}

/// The address of an endpoint.
pub(crate) struct Endpoint {
    pub(crate) url: String,
    pub(crate) loopback: bool,
}

impl LlmSettings {
    /// The same with `TABSEGNET_LLM_URL` and `TABSEGNET_LLM_MODEL`, where they are set, in place of the config's.
    #[must_use]
    pub fn with_environment(mut self, variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        if let Some(url) = set("TABSEGNET_LLM_URL") {
            self.base_url = url;
        }
        if let Some(model) = set("TABSEGNET_LLM_MODEL") {
            self.model = model;
        }
        self
    }

    /// The key, from the variable that the settings name.
    ///
    /// # Errors
    /// One that has blanks or control characters within.
    pub fn key(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Secret>, LlmError> {
        self.check_key_variable()?;
        let Some(key) = variable(&self.key_variable).filter(|key| !key.trim().is_empty()) else { return Ok(None) };
        let key = Secret::new(&key);
        match key.is_sendable() {
            true => Ok(Some(key)),
            false => Err(wrong(&self.key_variable, "expected a key of ASCII letters, digits and signs without blanks")),
        }
    }

    /// Whether there is a model to speak to.
    pub fn has_endpoint(&self) -> bool {
        !self.base_url.is_empty()
    }

    /// The file of a model that is run here.
    pub fn file(&self) -> Option<&Path> {
        self.base_url.strip_prefix("gguf:").map(Path::new)
    }

    /// What the model is called.
    pub fn model_name(&self) -> String {
        match self.file().and_then(Path::file_stem) {
            Some(stem) if self.model.trim().is_empty() => stem.to_string_lossy().into_owned(),
            _ => self.model.clone(),
        }
    }

    /// A request with these settings.
    pub fn request(&self, messages: Vec<Message>, schema: Option<ReplySchema>) -> ChatRequest {
        ChatRequest { messages, schema, max_tokens: self.max_tokens, temperature: self.temperature, seed: self.seed }
    }

    /// What tokens cost, where both prices are known.
    pub(crate) fn cost(&self, prompt: u64, completion: u64) -> Option<f64> {
        Some((prompt as f64 * self.price_prompt? + completion as f64 * self.price_completion?) / 1e6)
    }

    /// Checks all of them; where the endpoint is.
    pub(crate) fn endpoint(&self) -> Result<Endpoint, LlmError> {
        let url = self.base_url.trim_end_matches('/');
        let expected = "expected a URL such as http://127.0.0.1:8080/v1 or https://api.example.com/v1, or gguf:PATH";
        if url.is_empty() {
            let message = format!("there is no endpoint; set it in the config or TABSEGNET_LLM_URL; {expected}");
            return Err(wrong("llm.base_url", message));
        }
        let (scheme, rest) = url.split_once("://").ok_or_else(|| wrong("llm.base_url", expected))?;
        let host = rest.split('/').next().unwrap_or("");
        if host.is_empty()
            || rest.contains(['?', '#', '\\'])
            || rest.chars().any(|c| c.is_whitespace() || c.is_control())
        {
            return Err(wrong("llm.base_url", expected));
        }
        if host.contains('@') {
            let message = format!("a name or password in the URL is not sent; set {} instead", self.key_variable);
            return Err(wrong("llm.base_url", message));
        }
        if let Some(port) = port_of(host)
            && !(port.bytes().all(|digit| digit.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0))
        {
            return Err(wrong("llm.base_url", format!("port {port:?} is none; expected 1 to 65535")));
        }
        let loopback = is_loopback(host);
        match scheme.to_ascii_lowercase().as_str() {
            "https" => {}
            "http" if loopback || self.allow_plain_http => {}
            "http" => {
                let message = "http:// to another machine shows key and questions to who listens; take https://, or set \
                               llm.allow_plain_http = true";
                return Err(wrong("llm.base_url", message));
            }
            _ => return Err(wrong("llm.base_url", expected)),
        }
        if self.model.trim().is_empty() {
            let message = "is empty; expected the model's name as the server has it, also from TABSEGNET_LLM_MODEL";
            return Err(wrong("llm.model", message));
        }
        self.check_key_variable()?;
        self.check_numbers()?;
        Ok(Endpoint { url: format!("{url}/chat/completions"), loopback })
    }

    /// A key where its variable's name belongs would be shown by messages.
    fn check_key_variable(&self) -> Result<(), LlmError> {
        let fits = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        match !self.key_variable.is_empty() && self.key_variable.chars().all(fits) {
            true => Ok(()),
            false => Err(wrong(
                "llm.key_variable",
                "expected the name of an environment variable, of capital letters, digits and _, not the key itself",
            )),
        }
    }

    pub(crate) fn check_numbers(&self) -> Result<(), LlmError> {
        let seconds = [
            ("llm.backoff_seconds", self.backoff_seconds),
            ("llm.max_wait_seconds", self.max_wait_seconds),
            ("llm.connect_seconds", self.connect_seconds),
            ("llm.silence_seconds", self.silence_seconds),
            ("llm.call_seconds", self.call_seconds),
            ("llm.budget.seconds", self.budget.seconds),
        ];
        for (name, value) in seconds {
            if !(value > 0.0 && value <= 1e6) {
                return Err(wrong(name, format!("is {value}; expected seconds above 0, at most 1000000")));
            }
        }
        if self.attempts == 0 || self.max_tokens == 0 {
            return Err(wrong("llm.attempts, llm.max_tokens", "expected at least 1"));
        }
        if !(0.0..=2.0).contains(&self.temperature) {
            return Err(wrong("llm.temperature", format!("is {}; expected 0 to 2", self.temperature)));
        }
        let prices = [self.price_prompt, self.price_completion, self.budget.cost];
        if prices.into_iter().flatten().any(|price| !(price.is_finite() && price >= 0.0)) {
            return Err(wrong(
                "llm.price_prompt, llm.price_completion, llm.budget.cost",
                "expected numbers of at least 0",
            ));
        }
        if self.budget.cost.is_some() && self.cost(0, 0).is_none() {
            let message = "cannot be kept without llm.price_prompt and llm.price_completion, per million tokens";
            return Err(wrong("llm.budget.cost", message));
        }
        Ok(())
    }
}

fn wrong(setting: &str, message: impl Into<String>) -> LlmError {
    LlmError::Settings { setting: setting.to_owned(), message: message.into() }
}

/// Whether a host, with its port, is this machine by its own address: no name is looked up.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(six) => six.split(']').next().unwrap_or(""),
        None => host.split(':').next().unwrap_or(""),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

/// What stands behind the colon of a host; that of an address in brackets behind these.
fn port_of(host: &str) -> Option<&str> {
    let name = host.rfind(']').map_or(host, |end| host.get(end..).unwrap_or(""));
    name.split_once(':').map(|(_, port)| port)
}

#[cfg(test)]
mod tests {
    use super::LlmSettings;

    fn refused(base_url: &str) -> String {
        let settings = LlmSettings { base_url: base_url.into(), model: "m".into(), ..LlmSettings::default() };
        settings.endpoint().err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn plain_http_is_for_this_machine() {
        for good in [
            "http://127.0.0.1:8080/v1", "http://localhost/v1/", "http://[::1]:1/v1", "HTTPS://api.example.com/v1",
            "https://10.0.0.1",
        ] {
            assert_eq!(refused(good), "", "{good}");
        }
        for other in ["http://10.0.0.1/v1", "http://127.0.0.1.example.com/v1", "http://localhost.example.com"] {
            assert!(refused(other).contains("allow_plain_http"), "{other}: {}", refused(other));
        }
        for wrong in
            ["", "localhost:8080", "ftp://a/v1", "http://", "https://a b/v1", "https://a/v1?key=x", "https:///v1"]
        {
            assert!(refused(wrong).contains("expected a URL"), "{wrong}: {}", refused(wrong));
        }
        for port in ["99999", "0", "", "80a", "-1"] {
            for host in ["127.0.0.1", "[::1]"] {
                let said = refused(&format!("http://{host}:{port}/v1"));
                assert!(said.contains("llm.base_url") && said.contains("expected 1 to 65535"), "{port}: {said}");
            }
        }
        let with_password = refused("https://me:hunter2@api.example.com/v1");
        assert!(with_password.contains("TABSEGNET_LLM_KEY") && !with_password.contains("hunter2"));
        let url = "http://10.0.0.1/v1".to_owned();
        let allowed =
            LlmSettings { base_url: url, model: "m".into(), allow_plain_http: true, ..LlmSettings::default() };
        assert!(allowed.endpoint().is_ok());
    }

    #[test]
    fn numbers_are_checked() {
        let good =
            || LlmSettings { base_url: "http://localhost/v1".into(), model: "m".into(), ..LlmSettings::default() };
        let message =
            |settings: LlmSettings| settings.endpoint().err().map(|error| error.to_string()).unwrap_or_default();
        assert!(message(LlmSettings { model: " ".into(), ..good() }).contains("TABSEGNET_LLM_MODEL"));
        assert!(message(LlmSettings { silence_seconds: f64::NAN, ..good() }).contains("llm.silence_seconds"));
        assert!(message(LlmSettings { attempts: 0, ..good() }).contains("at least 1"));
        assert!(message(LlmSettings { temperature: -1.0, ..good() }).contains("temperature"));
        let mut limited = good();
        limited.budget.cost = Some(1.0);
        assert!(message(limited.clone()).contains("price_prompt"));
        let priced = LlmSettings { price_prompt: Some(2.0), price_completion: Some(8.0), ..limited };
        assert_eq!(message(priced.clone()), "");
        assert_eq!(priced.cost(500_000, 250_000), Some(3.0));
    }

    #[test]
    fn the_environment_gives_address_model_and_key() {
        let variable = |name: &str| match name {
            "TABSEGNET_LLM_URL" => Some(" http://localhost:1/v1 ".to_owned()),
            "TABSEGNET_LLM_MODEL" => Some("small".to_owned()),
            "TABSEGNET_LLM_KEY" => Some("sk-1234".to_owned()),
            "BROKEN" => Some("sk 1\n2".to_owned()),
            _ => None,
        };
        let settings = LlmSettings { model: "large".into(), ..LlmSettings::default() }.with_environment(&variable);
        assert_eq!((settings.base_url.as_str(), settings.model.as_str()), ("http://localhost:1/v1", "small"));
        let key = settings.key(&variable).unwrap().unwrap();
        assert_eq!((format!("{key:?}"), key.hide_in("no sk-1234 here")), ("Secret(…)".into(), "no (key) here".into()));
        let named = |name: &str| LlmSettings { key_variable: name.into(), ..LlmSettings::default() };
        assert!(named("UNSET").key(&variable).unwrap().is_none());
        let error = named("BROKEN").key(&variable).unwrap_err().to_string();
        assert!(error.contains("BROKEN") && !error.contains("sk"), "{error}");
        let error = named("sk-1234").key(&variable).unwrap_err().to_string();
        assert!(error.contains("llm.key_variable") && !error.contains("1234"), "{error}");
    }
}
