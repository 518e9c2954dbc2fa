//! A language model from a GGUF file, run on this machine's processor: the llama family, through candle's quantised llama.

mod template;
mod vocabulary;

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use candle_core::quantized::gguf_file::Content;
use candle_core::{Device, Tensor};
use candle_transformers::models::quantized_llama::{MAX_SEQ_LEN, ModelWeights};

use crate::budget::{Budget, Tokens};
use crate::chat::{ChatModel, ChatRequest, Finish, Piece, Reply};
use crate::error::{BudgetError, LlmError};
use crate::settings::LlmSettings;
use template::Template;
use vocabulary::Vocabulary;

/// Tokens of a prompt that are read at once.
const AT_ONCE: usize = 256;

/// A model from a file. Calls may be made from many threads; the weights are held once.
///
/// It gives the likeliest token each time (temperature 0). A JSON schema cannot be forced on it: what it says is validated as
/// every reply is, with a repair turn. It reads at most 4,096 tokens, prompt and reply together, or fewer where the file says so.
pub struct GgufModel {
    file: PathBuf,
    name: String,
    settings: LlmSettings,
    weights: ModelWeights,
    vocabulary: Vocabulary,
    template: Option<Template>,
    /// Tokens of prompt and reply together.
    context: usize,
}

impl GgufModel {
    /// Reads a file.
    ///
    /// # Errors
    /// [`LlmError::Settings`], for a file that cannot be read too; [`LlmError::File`] for one that is no GGUF, or whose model is
    /// not of the llama family as candle computes it: another tokenizer than SentencePiece's, scaled rotary embeddings, heads of a
    /// width of their own.
    pub fn open(file: &Path, settings: &LlmSettings) -> Result<Self, LlmError> {
        settings.check_numbers()?;
        if settings.temperature != 0.0 {
            return Err(LlmError::Settings {
                setting: "llm.temperature".to_owned(),
                message: format!(
                    "is {}; a model from a file gives the likeliest reply: expected 0",
                    settings.temperature
                ),
            });
        }
        let wrong = |message: String| LlmError::File { file: file.to_owned(), message };
        let mut reader = BufReader::new(File::open(file).map_err(|error| LlmError::Settings {
            setting: "llm.base_url".to_owned(),
            message: format!(
                "gguf:{}: could not be read: {error}; expected gguf: and the path of a GGUF file",
                file.display()
            ),
        })?);
        let content = Content::read(&mut reader).map_err(|error| wrong(format!("is no GGUF file: {error}")))?;
        let vocabulary = Vocabulary::read(&content.metadata).map_err(wrong)?;
        let known_context = check_model(&content, vocabulary.len()).map_err(wrong)?;
        let template = content.metadata.get("tokenizer.chat_template").and_then(|value| value.to_string().ok());
        // Without a template llama.cpp takes this one too.
        let template = template.map_or(Some(Template::ChatMl), |template| Template::of(template));
        let weights = ModelWeights::from_gguf(content, &mut reader, &Device::Cpu)
            .map_err(|error| wrong(format!("the weights cannot be read: {error}")))?;
        let context = known_context.min(MAX_SEQ_LEN);
        let (file, name, settings) = (file.to_owned(), settings.model_name(), settings.clone());
        Ok(Self { file, name, settings, weights, vocabulary, template, context })
    }

    fn failed(&self, error: &candle_core::Error) -> LlmError {
        LlmError::File { file: self.file.clone(), message: format!("the model failed: {error}") }
    }

    /// The tokens of a conversation.
    fn prompt(&self, request: &ChatRequest) -> Vec<u32> {
        let template = self.template.unwrap_or(Template::ChatMl);
        self.vocabulary.encode(&template.parts(&request.messages, self.vocabulary.end_text()))
    }

    /// Whether there is time left; the error says which setting has used it up.
    fn time_left(&self, started: Instant, budget: &Budget) -> Result<(), LlmError> {
        if budget.time_left().is_zero() {
            return Err(BudgetError::Time { seconds: self.settings.budget.seconds }.into());
        }
        if started.elapsed() < Duration::from_secs_f64(self.settings.call_seconds) {
            return Ok(());
        }
        let url = self.file.display().to_string();
        Err(LlmError::Timeout { url, phase: "the reply", setting: "llm.call_seconds", attempts: 1 })
    }

    /// Feeds tokens behind the first `place`; the logits of the next one.
    fn forward(&self, weights: &mut ModelWeights, tokens: &[u32], place: usize) -> Result<Vec<f32>, LlmError> {
        let mut run = || -> candle_core::Result<Vec<f32>> {
            let input = Tensor::new(tokens, &Device::Cpu)?.unsqueeze(0)?; // [1, tokens]
            weights.forward(&input, place)?.squeeze(0)?.to_vec1() // [vocabulary]
        };
        run().map_err(|error| self.failed(&error))
    }

    fn generate(
        &self,
        prompt: &[u32],
        most: usize,
        budget: &Budget,
        on_piece: &mut dyn FnMut(Piece<'_>),
        written: &mut u64,
    ) -> Result<(String, Finish), LlmError> {
        let started = Instant::now();
        // The weights are shared; what is remembered of this conversation is its own.
        let mut weights = self.weights.clone();
        let mut logits = Vec::new();
        let mut place = 0;
        for tokens in prompt.chunks(AT_ONCE) {
            self.time_left(started, budget)?;
            logits = self.forward(&mut weights, tokens, place)?;
            place += tokens.len();
        }
        let mut text = Text::default();
        for _ in 0..most {
            self.time_left(started, budget)?;
            let token = likeliest(&logits).ok_or_else(|| LlmError::File {
                file: self.file.clone(),
                message: "its logits are no numbers; the weights are damaged".to_owned(),
            })?;
            *written += 1;
            if self.vocabulary.ends(token) {
                return Ok((text.finish(on_piece), Finish::Stop));
            }
            self.vocabulary.bytes_of(token, &mut text.bytes);
            text.tell(on_piece);
            logits = self.forward(&mut weights, &[token], place)?;
            place += 1;
        }
        Ok((text.finish(on_piece), Finish::Length))
    }
}

impl ChatModel for GgufModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn notice(&self) -> Option<String> {
        let file = self.file.display();
        let unknown =
            format!("{file}: its chat template is none that is known here; conversations are written as ChatML");
        self.template.is_none().then_some(unknown)
    }

    fn chat(
        &self,
        request: &ChatRequest,
        budget: &mut Budget,
        on_piece: &mut dyn FnMut(Piece<'_>),
    ) -> Result<Reply, LlmError> {
        let prompt = self.prompt(request);
        let most = request.max_tokens as usize;
        if prompt.len().saturating_add(most) > self.context {
            return Err(LlmError::Context {
                file: self.file.clone(),
                prompt: prompt.len(),
                reply: most,
                context: self.context,
            });
        }
        let read = prompt.len() as u64;
        let cost = |written: u64| self.settings.cost(read, written);
        budget.check(read.saturating_add(most as u64), cost(most as u64))?;
        budget.begin_call();
        let mut written = 0;
        let result = self.generate(&prompt, most, budget, on_piece, &mut written);
        let tokens = Tokens { prompt: read, completion: written, estimated: false };
        budget.book(tokens, cost(written));
        let (content, finish) = result?;
        Ok(Reply { content, reasoning: String::new(), finish, tokens, cost: cost(written), recorded: false })
    }
}

/// A reply on its way: bytes, of which whole characters are told.
#[derive(Default)]
struct Text {
    bytes: Vec<u8>,
    told: String,
}

impl Text {
    fn tell(&mut self, on_piece: &mut dyn FnMut(Piece<'_>)) {
        let whole = match std::str::from_utf8(&self.bytes) {
            Ok(_) => self.bytes.len(),
            // What may still become a character waits, what never will is a sign for that.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => self.bytes.len(),
        };
        let rest = self.bytes.split_off(whole);
        let new = String::from_utf8_lossy(&self.bytes).into_owned();
        self.bytes = rest;
        if !new.is_empty() {
            on_piece(Piece::Text(&new));
            self.told.push_str(&new);
        }
    }

    fn finish(mut self, on_piece: &mut dyn FnMut(Piece<'_>)) -> String {
        if !self.bytes.is_empty() {
            let rest = String::from_utf8_lossy(&self.bytes).into_owned();
            on_piece(Piece::Text(&rest));
            self.told.push_str(&rest);
        }
        self.told
    }
}

/// The first of the largest; `None` where one is no number.
fn likeliest(logits: &[f32]) -> Option<u32> {
    let mut best: Option<(f32, u32)> = None;
    for (&logit, number) in logits.iter().zip(0_u32..) {
        if logit.is_nan() {
            return None;
        }
        if best.is_none_or(|(largest, _)| logit > largest) {
            best = Some((logit, number));
        }
    }
    best.map(|(_, number)| number)
}

/// That candle computes this model as it is meant; the tokens that it was made for.
fn check_model(content: &Content, tokens: usize) -> Result<usize, String> {
    let get = |key: &str| content.metadata.get(key);
    let text = |key: &str| get(key).and_then(|value| value.to_string().ok()).map_or("", String::as_str);
    let number = |key: &str| {
        let value = get(&format!("llama.{key}"));
        value.and_then(|value| value.to_u64().or_else(|_| value.to_u32().map(u64::from)).ok())
    };
    let server = "let llama.cpp's server serve the file";
    let family = text("general.architecture");
    if family != "llama" {
        return Err(format!("its model is of the family {family:?}; expected \"llama\"; for others {server}"));
    }
    let scaled =
        get("llama.rope.scaling.type").and_then(|value| value.to_string().ok()).is_some_and(|kind| kind != "none");
    if scaled || content.tensor_infos.contains_key("rope_freqs.weight") {
        return Err(format!("its rotary embeddings are scaled, which is not computed here; {server}"));
    }
    let missing = |key: &str| format!("there is no number llama.{key}");
    let width = number("embedding_length").ok_or_else(|| missing("embedding_length"))?;
    let heads = number("attention.head_count").ok_or_else(|| missing("attention.head_count"))?;
    let shared = number("attention.head_count_kv").ok_or_else(|| missing("attention.head_count_kv"))?;
    let turned = number("rope.dimension_count").ok_or_else(|| missing("rope.dimension_count"))?;
    let head = width.checked_div(heads).unwrap_or(0);
    if head == 0 || width % heads != 0 || shared == 0 || heads % shared != 0 {
        return Err(format!("{heads} heads and {shared} of keys do not go into a width of {width}"));
    }
    if turned != head || number("attention.key_length").is_some_and(|length| length != head) {
        return Err(format!(
            "its heads of {head} are turned by {turned} or have another width, which is not computed here; {server}"
        ));
    }
    let embedding = content.tensor_infos.get("token_embd.weight").ok_or("there is no tensor token_embd.weight")?;
    let rows = embedding.shape.dims().first().copied().unwrap_or(0);
    if rows != tokens {
        return Err(format!("{tokens} tokens and {rows} embeddings"));
    }
    Ok(number("context_length").map_or(MAX_SEQ_LEN, |length| usize::try_from(length).unwrap_or(MAX_SEQ_LEN)))
}

#[cfg(test)]
mod tests;
