//! What can go wrong on the way to a reply, with what was tried and what to set.

use std::path::PathBuf;

/// A limit that the next call would break; nothing was sent.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BudgetError {
    /// Attempts.
    #[error("the budget of {limit} calls is spent; raise llm.budget.calls")]
    Calls {
        /// The most.
        limit: u32,
    },
    /// Tokens.
    #[error("{spent} of {limit} tokens are spent and the next call may take {wanted}; raise llm.budget.tokens")]
    Tokens {
        /// The most.
        limit: u64,
        /// So far.
        spent: u64,
        /// What the next call may take.
        wanted: u64,
    },
    /// Time.
    #[error("the budget of {seconds} seconds is spent; raise llm.budget.seconds")]
    Time {
        /// The most.
        seconds: f64,
    },
    /// Money.
    #[error(
        "{spent:.4} of {limit:.4} are spent, or kept for calls that are on their way, and the next call may cost {wanted:.4}; raise llm.budget.cost"
    )]
    Cost {
        /// The most.
        limit: f64,
        /// So far.
        spent: f64,
        /// What the next call may cost.
        wanted: f64,
    },
}

/// Why there is no reply.
#[derive(Debug, thiserror::Error)]
pub enum LlmError {
    /// Settings that cannot be used.
    #[error("{setting}: {message}")]
    Settings {
        /// Which, as the config file or the environment names it.
        setting: String,
        /// What is wrong and what is expected.
        message: String,
    },
    /// The budget is spent.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// 401, 403.
    #[error("{url}: the server refuses the key ({status}: {said}); set {variable} to a key of this server")]
    Key {
        /// Where.
        url: String,
        /// The status.
        status: u16,
        /// The server's words.
        said: String,
        /// The environment variable of the key.
        variable: String,
    },
    /// 404 and other refusals of a request.
    #[error("{url}: the server refuses the request ({status}: {said}); {hint}")]
    Refused {
        /// Where.
        url: String,
        /// The status.
        status: u16,
        /// The server's words.
        said: String,
        /// What to set.
        hint: &'static str,
    },
    /// A redirect, which is not followed.
    #[error("{url}: the server redirects to {to}; no key is sent on, set llm.base_url to where the server is")]
    Redirect {
        /// Where.
        url: String,
        /// Where to.
        to: String,
    },
    /// 408, 429 and 5xx, again and again.
    #[error("{url}: the server gives {status} ({said}) after {attempts} attempts{advice}")]
    Busy {
        /// Where.
        url: String,
        /// The last status.
        status: u16,
        /// The server's words.
        said: String,
        /// Attempts made.
        attempts: u32,
        /// What the server wants, as `; it wants 90 s of waiting, more than llm.max_wait_seconds`.
        advice: String,
    },
    /// No connection, or one that breaks.
    #[error(
        "{url}: no reply after {attempts} attempts: {reason}; is a server running there, and is there a network? \
         llm.base_url says where it is"
    )]
    Unreachable {
        /// Where.
        url: String,
        /// Attempts made.
        attempts: u32,
        /// Why the last one failed.
        reason: String,
    },
    /// A phase took too long.
    #[error(
        "{url}: {phase} took longer than {setting} allows, in {attempts} attempts; raise it, or take a faster model"
    )]
    Timeout {
        /// Where.
        url: String,
        /// What, in words.
        phase: &'static str,
        /// The setting.
        setting: &'static str,
        /// Attempts made.
        attempts: u32,
    },
    /// An answer that is no chat completion.
    #[error("{url}: {reason}; expected an OpenAI-compatible chat completion, does llm.base_url end in /v1?")]
    NotChat {
        /// Where.
        url: String,
        /// What came.
        reason: String,
    },
    /// `https://` where a server speaks plain HTTP.
    #[error(
        "{url}: the server does not speak TLS ({reason}); set llm.base_url to http://…, which for another machine takes \
         llm.allow_plain_http = true"
    )]
    NoTls {
        /// Where.
        url: String,
        /// What came.
        reason: String,
    },
    /// A reply that is no JSON of the wanted form, also after it was said what is wrong.
    #[error("the model's reply is not usable, also after one repair turn: {reason}")]
    Invalid {
        /// What is wrong with the second.
        reason: String,
    },
    /// The file of a model that cannot be used.
    #[error("{}: {message}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What is wrong and what is expected.
        message: String,
    },
    /// A conversation that is too long for a model from a file.
    #[error(
        "{}: the prompt of {prompt} tokens and a reply of up to {reply} (llm.max_tokens) are more than the {context} that the \
         model takes; lower agent.prompt_tokens or llm.max_tokens",
        file.display()
    )]
    Context {
        /// The file.
        file: PathBuf,
        /// Tokens of the prompt.
        prompt: usize,
        /// That the reply may have.
        reply: usize,
        /// That both may have together.
        context: usize,
    },
    /// A record that cannot be read or written.
    #[error("{}: {message}", file.display())]
    Record {
        /// The file.
        file: PathBuf,
        /// What is wrong, with the line.
        message: String,
    },
    /// A replay that has no such reply.
    #[error(
        "{}: has no reply to this request (digest {digest}); record it with a server, or replay with the settings it was \
         recorded with", file.display()
    )]
    NotRecorded {
        /// The file.
        file: PathBuf,
        /// Of the request.
        digest: String,
    },
    /// A script that has come to its end.
    #[error("the script has no reply number {number}")]
    ScriptEnded {
        /// From 1.
        number: usize,
    },
}
