//! The thought of a reply while it still comes.

use std::io::Write;

use tabsegnet_llm::Piece;
use tabsegnet_store::printable;

/// Writes what stands in the field `thought` of a reply as it arrives: a line each, without control characters, so that no
/// reply can steer a terminal.
pub struct Thoughts<W> {
    out: W,
    reply: String,
    /// Characters of the thought that are written.
    written: usize,
    ended: bool,
}

impl<W: Write> Thoughts<W> {
    /// Thoughts to a writer, such as stderr.
    pub fn new(out: W) -> Self {
        Self { out, reply: String::new(), written: 0, ended: false }
    }

    /// Takes a piece. What cannot be written is left out.
    pub fn take(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Again => self.end(),
            Piece::Text(text) => {
                if self.ended {
                    return;
                }
                self.reply.push_str(text);
                let Some((thought, whole)) = thought(&self.reply) else { return };
                let new: String = printable(&thought).chars().skip(self.written).collect();
                if !new.is_empty() {
                    let sign = if self.written == 0 { "  " } else { "" };
                    let _ = write!(self.out, "{sign}{new}");
                    self.written += new.chars().count();
                }
                let _ = if whole && self.written > 0 { writeln!(self.out) } else { self.out.flush() };
                self.ended = whole;
            }
        }
    }

    /// A reply is over, or void: the next piece begins another.
    pub fn end(&mut self) {
        if self.written > 0 && !self.ended {
            let _ = writeln!(self.out);
        }
        self.reply.clear();
        self.written = 0;
        self.ended = false;
    }
}

/// The field `thought` as far as it has come, and whether it is whole.
fn thought(reply: &str) -> Option<(String, bool)> {
    let rest = reply.split_once("\"thought\"")?.1.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let mut end = 0;
    let mut escaped = false;
    let mut whole = false;
    for (at, c) in rest.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => {
                whole = true;
                break;
            }
            _ => {}
        }
        end = at + c.len_utf8();
    }
    // An escape may be half there: what is left of it is at most `\ud83d\ude0`.
    let raw = rest.get(..end)?;
    let text = (0..=11)
        .filter_map(|less| raw.get(..raw.len().checked_sub(less)?))
        .find_map(|raw| serde_json::from_str::<String>(&format!("\"{}\"", printable(raw))).ok());
    Some((text?, whole))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tabsegnet_llm::Piece;

    use super::Thoughts;

    fn written(reply: &str, step: usize) -> String {
        let mut out = Vec::new();
        let mut thoughts = Thoughts::new(&mut out);
        let chars: Vec<char> = reply.chars().collect();
        for piece in chars.chunks(step) {
            thoughts.take(Piece::Text(&piece.iter().collect::<String>()));
        }
        thoughts.end();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn thoughts_are_written_as_they_come() {
        for step in [1, 2, 3, 100] {
            assert_eq!(
                written("{\"thought\": \"Two \\\"é\\u00e9\\ud83d\\ude00\\n\\u001b[2J\", \"actions\": []}", step),
                "  Two \"éé😀  [2J\n"
            );
            assert_eq!(written("{\"thought\":\"cut o", step), "  cut o\n");
            assert_eq!(written("no thought at all", step), "");
            assert_eq!(written("{\"thought\": \"\", \"actions\": []}", step), "");
        }
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(thought in ".{0,60}", step in 1..20usize) {
            let reply = serde_json::json!({"thought": thought}).to_string();
            prop_assert_eq!(written(&reply, step), written(&reply, 10_000));
        }
    }
}
