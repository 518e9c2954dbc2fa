//! Replies kept in a file, by the digest of their request.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::budget::Budget;
use crate::chat::{ChatModel, ChatRequest, Piece, Reply};
use crate::error::LlmError;

/// A model whose replies are kept in a JSONL file: one that is there is given again without a call, another comes from the
/// model behind and is written down at once, a line each. Without a model behind, the file alone answers.
///
/// A line holds the digest of the request (model, turns, schema, temperature, seed, `max_tokens`: not the address, never the
/// key), the request and the reply. A last line that was cut off is dropped. One program writes a file at a time.
pub struct Recorded {
    file: PathBuf,
    name: String,
    inner: Option<Box<dyn ChatModel>>,
    state: Mutex<State>,
}

struct State {
    replies: HashMap<String, Reply>,
    out: Option<File>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    digest: String,
    model: String,
    request: ChatRequest,
    reply: Reply,
}

impl Recorded {
    /// Records what `inner` says; the file is made where it is missing.
    ///
    /// # Errors
    /// [`LlmError::Record`]: a file that cannot be opened, a line that is none.
    pub fn new(file: &Path, inner: Box<dyn ChatModel>) -> Result<Self, LlmError> {
        let wrong = |error: std::io::Error| LlmError::Record { file: file.to_owned(), message: error.to_string() };
        let mut out = OpenOptions::new().read(true).append(true).create(true).open(file).map_err(wrong)?;
        let mut text = String::new();
        out.read_to_string(&mut text).map_err(wrong)?;
        let (replies, good) = read(file, &text)?;
        if good < text.len() {
            out.set_len(good as u64).map_err(wrong)?;
        }
        out.seek(SeekFrom::End(0)).map_err(wrong)?;
        if !text.get(..good).unwrap_or("").is_empty() && !text.get(..good).is_some_and(|text| text.ends_with('\n')) {
            out.write_all(b"\n").map_err(wrong)?;
        }
        let name = inner.name().to_owned();
        Ok(Self {
            file: file.to_owned(),
            name,
            inner: Some(inner),
            state: Mutex::new(State { replies, out: Some(out) }),
        })
    }

    /// Answers from the file alone, as the model `name` did; as the one that the file names first where it is empty.
    ///
    /// # Errors
    /// [`LlmError::Record`].
    pub fn replay(file: &Path, name: &str) -> Result<Self, LlmError> {
        let wrong = |error: std::io::Error| LlmError::Record { file: file.to_owned(), message: error.to_string() };
        let text = std::fs::read_to_string(file).map_err(wrong)?;
        let (replies, _) = read(file, &text)?;
        let state = Mutex::new(State { replies, out: None });
        let first = || serde_json::from_str::<Line>(text.lines().next()?).ok();
        let name = match name.trim().is_empty() {
            true => first().map_or_else(String::new, |line| line.model),
            false => name.to_owned(),
        };
        Ok(Self { file: file.to_owned(), name, inner: None, state })
    }

    fn digest(&self, request: &ChatRequest) -> String {
        // Fields in the order of the struct, maps in that of their keys: equal requests give equal text.
        let text = serde_json::to_string(&(&self.name, request)).unwrap_or_default();
        Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        // Nothing is half done when a thread fails here.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// The replies of a file, and how many bytes of it are good.
fn read(file: &Path, text: &str) -> Result<(HashMap<String, Reply>, usize), LlmError> {
    let mut replies = HashMap::new();
    let mut good = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        if !line.trim().is_empty() {
            match serde_json::from_str::<Line>(line) {
                Ok(line) => replies.insert(line.digest, line.reply),
                // Whoever wrote it was ended in the midst of it.
                Err(_) if !line.ends_with('\n') => break,
                Err(error) => {
                    let message = format!("line {number}: {error}; expected a recorded reply, such as --record writes");
                    return Err(LlmError::Record { file: file.to_owned(), message });
                }
            };
        }
        good += line.len();
    }
    Ok((replies, good))
}

impl ChatModel for Recorded {
    fn name(&self) -> &str {
        &self.name
    }

    fn notice(&self) -> Option<String> {
        self.inner.as_ref()?.notice()
    }

    fn chat(
        &self,
        request: &ChatRequest,
        budget: &mut Budget,
        on_piece: &mut dyn FnMut(Piece<'_>),
    ) -> Result<Reply, LlmError> {
        let digest = self.digest(request);
        let known = self.state().replies.get(&digest).cloned();
        if let Some(mut reply) = known {
            // As the first time, so that a run that is replayed ends where the recorded one did; but nothing is paid.
            budget.check(reply.tokens.total(), None)?;
            budget.begin_call();
            budget.book(reply.tokens, None);
            on_piece(Piece::Text(&reply.content));
            reply.recorded = true;
            return Ok(reply);
        }
        let Some(inner) = &self.inner else { return Err(LlmError::NotRecorded { file: self.file.clone(), digest }) };
        let reply = inner.chat(request, budget, on_piece)?;
        let line = Line { digest, model: self.name.clone(), request: request.clone(), reply: reply.clone() };
        let wrong = |message: String| LlmError::Record { file: self.file.clone(), message };
        let mut text = serde_json::to_string(&line).map_err(|error| wrong(error.to_string()))?;
        text.push('\n');
        let mut state = self.state();
        if let Some(out) = &mut state.out {
            out.write_all(text.as_bytes()).map_err(|error| wrong(format!("could not be written: {error}")))?;
        }
        state.replies.insert(line.digest, line.reply);
        Ok(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::Recorded;
    use crate::budget::{Budget, Limits};
    use crate::chat::{ChatModel, ChatRequest, Message, Reply};
    use crate::error::LlmError;
    use crate::scripted::Scripted;

    fn chat(model: &dyn ChatModel, text: &str) -> Result<Reply, LlmError> {
        let request = ChatRequest::new(vec![Message::user(text)]);
        model.chat(&request, &mut Budget::new(Limits::default()), &mut |_| {})
    }

    #[test]
    fn replies_are_kept_and_given_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("replies.jsonl");
        let model = Recorded::new(&file, Box::new(Scripted::new(["one", "two"]))).unwrap();
        assert_eq!(chat(&model, "a").unwrap().content, "one");
        let again = chat(&model, "a").unwrap();
        assert_eq!((again.content.as_str(), again.recorded), ("one", true));
        assert_eq!(chat(&model, "b").unwrap().content, "two");
        let replay = Recorded::replay(&file, "scripted").unwrap();
        assert_eq!(chat(&replay, "b").unwrap().content, "two");
        let error = chat(&replay, "c").unwrap_err();
        assert!(matches!(error, LlmError::NotRecorded { .. }) && error.to_string().contains("replies.jsonl"));
        // Another model's replies are others.
        assert!(chat(&Recorded::replay(&file, "other").unwrap(), "b").is_err());
        assert_eq!(chat(&Recorded::replay(&file, "").unwrap(), "b").unwrap().content, "two");
    }

    #[test]
    fn a_line_cut_off_is_dropped_and_a_broken_one_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("replies.jsonl");
        chat(&Recorded::new(&file, Box::new(Scripted::new(["one"]))).unwrap(), "a").unwrap();
        let whole = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("{whole}{}", &whole[..whole.len() / 2])).unwrap();
        let model = Recorded::new(&file, Box::new(Scripted::new(["two"]))).unwrap();
        assert_eq!(chat(&model, "a").unwrap().content, "one");
        assert_eq!(chat(&model, "b").unwrap().content, "two");
        assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 2);
        // Without its line end a whole line counts.
        std::fs::write(&file, whole.trim_end()).unwrap();
        chat(&Recorded::new(&file, Box::new(Scripted::new(["three"]))).unwrap(), "c").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 2);
        std::fs::write(&file, format!("{whole}{{}}\n")).unwrap();
        let error = Recorded::replay(&file, "scripted").err().unwrap().to_string();
        assert!(error.contains("line 2"), "{error}");
        assert!(Recorded::replay(&folder.path().join("none"), "m").is_err());
    }
}
