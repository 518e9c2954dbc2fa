//! The vocabulary of a GGUF file, and how texts become its tokens: SentencePiece's pieces with scores, joined pair by pair, the
//! best score first.

use std::collections::{BinaryHeap, HashMap};

use candle_core::quantized::gguf_file::Value;

/// Kinds of tokens, as GGUF numbers them.
const UNKNOWN: u32 = 2;
const CONTROL: u32 = 3;
const USER_DEFINED: u32 = 4;
const BYTE: u32 = 6;
/// SentencePiece's blank.
const BLANK: char = '\u{2581}';

/// A vocabulary.
pub(super) struct Vocabulary {
    pieces: Vec<Piece>,
    /// What text can become: pieces that are neither control tokens nor bytes.
    ids: HashMap<String, u32>,
    /// Tokens that stand for themselves wherever they are meant: by their texts, the longest first.
    specials: Vec<(String, u32)>,
    bytes: Vec<Option<u32>>,
    unknown: Option<u32>,
    begin: Option<u32>,
    ends: Vec<u32>,
    space_prefix: bool,
}

struct Piece {
    text: String,
    score: f32,
    kind: u32,
}

/// A part of a conversation: what its form consists of, in which tokens such as `</s>` are meant, or what somebody said, in
/// which they are text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Form(String),
    Said(String),
}

impl Vocabulary {
    /// Reads it from a file's metadata.
    ///
    /// # Errors
    /// What is missing or of another kind, in words.
    pub(super) fn read(metadata: &HashMap<String, Value>) -> Result<Self, String> {
        let get = |key: &str| metadata.get(&format!("tokenizer.ggml.{key}"));
        let model = get("model").and_then(|value| value.to_string().ok()).map_or("", String::as_str);
        if model != "llama" {
            return Err(format!(
                "its tokenizer is {model:?}; expected \"llama\" (SentencePiece's). Let llama.cpp's server serve the file"
            ));
        }
        let list = |key: &str| {
            let values = get(key).and_then(|value| value.to_vec().ok());
            values.ok_or_else(|| format!("there is no list tokenizer.ggml.{key}"))
        };
        let (texts, scores, kinds) = (list("tokens")?, list("scores")?, list("token_type")?);
        if texts.len() != scores.len() || texts.len() != kinds.len() {
            return Err(format!("{} tokens, {} scores, {} kinds", texts.len(), scores.len(), kinds.len()));
        }
        let mut pieces = Vec::with_capacity(texts.len());
        for (number, ((text, score), kind)) in texts.iter().zip(scores).zip(kinds).enumerate() {
            let kind = kind.to_u32().ok().or_else(|| kind.to_i32().ok().and_then(|kind| kind.try_into().ok()));
            let (Ok(text), Ok(score), Some(kind)) = (text.to_string(), score.to_f32(), kind) else {
                return Err(format!("token {number} has no text, score or kind"));
            };
            // Of the two zeros one, so that equal scores are equal.
            pieces.push(Piece { text: text.clone(), score: score + 0.0, kind });
        }
        let token = |key: &str, default: Option<u32>| {
            let id = get(key).and_then(|value| value.to_u32().ok()).or(default);
            id.filter(|id| (*id as usize) < pieces.len())
        };
        let flag = |key: &str, default: bool| get(key).and_then(|value| value.to_bool().ok()).unwrap_or(default);
        let begin = token("bos_token_id", Some(1)).filter(|_| flag("add_bos_token", true));
        let mut ends: Vec<u32> =
            [token("eos_token_id", Some(2)), token("eot_token_id", None)].into_iter().flatten().collect();
        let (mut ids, mut specials, mut bytes) = (HashMap::new(), Vec::new(), vec![None; 256]);
        for (piece, id) in pieces.iter().zip(0_u32..) {
            match piece.kind {
                BYTE => {
                    let hex = piece.text.strip_prefix("<0x").and_then(|text| text.strip_suffix('>'));
                    let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
                    let place = byte.and_then(|byte| bytes.get_mut(usize::from(byte)));
                    *place
                        .ok_or_else(|| format!("token {id} is {:?}; expected a byte such as <0x0A>", piece.text))? =
                        Some(id);
                }
                UNKNOWN => {}
                CONTROL | USER_DEFINED if piece.text.is_empty() => {}
                CONTROL | USER_DEFINED => specials.push((piece.text.clone(), id)),
                _ => {
                    ids.entry(piece.text.clone()).or_insert(id);
                }
            }
            // Ends of turns that files forget to name.
            if piece.kind == CONTROL && matches!(piece.text.as_str(), "<|im_end|>" | "<|eot_id|>" | "<end_of_turn>") {
                ends.push(id);
            }
        }
        specials.sort_by_key(|(text, id)| (std::cmp::Reverse(text.len()), *id));
        let unknown = token("unknown_token_id", Some(0));
        Ok(Self { ids, specials, bytes, unknown, begin, ends, space_prefix: flag("add_space_prefix", true), pieces })
    }

    /// How many tokens there are.
    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether a token ends a reply.
    pub(super) fn ends(&self, token: u32) -> bool {
        self.ends.contains(&token)
    }

    /// The text of the token that ends a reply, where there is one.
    pub(super) fn end_text(&self) -> &str {
        self.ends.first().and_then(|&end| self.pieces.get(end as usize)).map_or("", |piece| piece.text.as_str())
    }

    /// What a token adds to a text; nothing for control tokens.
    pub(super) fn bytes_of(&self, token: u32, out: &mut Vec<u8>) {
        let Some(piece) = self.pieces.get(token as usize) else { return };
        match piece.kind {
            CONTROL | UNKNOWN => {}
            BYTE => {
                let byte = self.bytes.iter().position(|id| *id == Some(token)).and_then(|byte| u8::try_from(byte).ok());
                out.extend(byte);
            }
            _ => out.extend_from_slice(piece.text.replace(BLANK, " ").as_bytes()),
        }
    }

    /// The tokens of a conversation, the one that begins texts first. Text that joins over the parts becomes what it would be
    /// in one piece.
    pub(super) fn encode(&self, parts: &[Part]) -> Vec<u32> {
        let mut tokens: Vec<u32> = self.begin.into_iter().collect();
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Said(said) => text.push_str(said),
                Part::Form(form) => {
                    let mut rest = form.as_str();
                    while let Some((before, id, after)) = self.first_special(rest) {
                        text.push_str(before);
                        self.encode_text(&text, &mut tokens);
                        text.clear();
                        tokens.push(id);
                        rest = after;
                    }
                    text.push_str(rest);
                }
            }
        }
        self.encode_text(&text, &mut tokens);
        tokens
    }

    fn first_special<'a>(&self, text: &'a str) -> Option<(&'a str, u32, &'a str)> {
        let found = self.specials.iter().filter_map(|(special, id)| Some((text.find(special.as_str())?, special, *id)));
        // Of two at one place the longer, which stands first.
        let (at, special, id) = found.min_by_key(|(at, special, _)| (*at, std::cmp::Reverse(special.len())))?;
        Some((text.get(..at)?, id, text.get(at + special.len()..)?))
    }

    fn encode_text(&self, text: &str, tokens: &mut Vec<u32>) {
        if text.is_empty() {
            return;
        }
        let prefix = if self.space_prefix { " " } else { "" };
        let text = format!("{prefix}{text}").replace(' ', "\u{2581}");
        for piece in self.joined(&text) {
            match self.ids.get(piece) {
                Some(id) => tokens.push(*id),
                None => {
                    let byte = |byte: u8| self.bytes.get(usize::from(byte)).copied().flatten().or(self.unknown);
                    tokens.extend(piece.bytes().filter_map(byte));
                }
            }
        }
    }

    /// A text in pieces: characters, of which neighbours are joined while together they are in the vocabulary, the best score
    /// first, of equal ones the first in the text.
    fn joined<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let mut symbols: Vec<Symbol> = text
            .char_indices()
            .map(|(start, c)| Symbol { start, end: start + c.len_utf8(), before: None, after: None })
            .collect();
        let last = symbols.len().saturating_sub(1);
        for (number, symbol) in symbols.iter_mut().enumerate() {
            symbol.before = number.checked_sub(1);
            symbol.after = (number < last).then_some(number + 1);
        }
        let mut queue = BinaryHeap::new();
        let pair = |symbols: &[Symbol], left: Option<usize>, right: Option<usize>, queue: &mut BinaryHeap<Pair>| {
            let (Some(left), Some(right)) = (left, right) else { return };
            let (Some(one), Some(other)) = (symbols.get(left), symbols.get(right)) else { return };
            let id = text.get(one.start..other.end).and_then(|text| self.ids.get(text));
            if let Some(piece) = id.and_then(|&id| self.pieces.get(id as usize)) {
                queue.push(Pair { score: piece.score, left, right, start: one.start, end: other.end });
            }
        };
        for number in 1..symbols.len() {
            pair(&symbols, Some(number - 1), Some(number), &mut queue);
        }
        while let Some(Pair { left, right, start, end, .. }) = queue.pop() {
            let (Some(&one), Some(&other)) = (symbols.get(left), symbols.get(right)) else { continue };
            // One of them may have become part of something else.
            if one.start != start || other.end != end || one.end != other.start || one.is_gone() || other.is_gone() {
                continue;
            }
            let after = other.after;
            if let Some(symbol) = symbols.get_mut(left) {
                (symbol.end, symbol.after) = (end, after);
            }
            if let Some(symbol) = symbols.get_mut(right) {
                symbol.end = symbol.start;
            }
            if let Some(symbol) = after.and_then(|after| symbols.get_mut(after)) {
                symbol.before = Some(left);
            }
            pair(&symbols, one.before, Some(left), &mut queue);
            pair(&symbols, Some(left), after, &mut queue);
        }
        symbols
            .iter()
            .filter(|symbol| !symbol.is_gone())
            .filter_map(|symbol| text.get(symbol.start..symbol.end))
            .collect()
    }
}

/// A piece on its way, and its neighbours.
#[derive(Clone, Copy)]
struct Symbol {
    start: usize,
    end: usize,
    before: Option<usize>,
    after: Option<usize>,
}

impl Symbol {
    fn is_gone(self) -> bool {
        self.start == self.end
    }
}

/// Two neighbours that may be joined.
struct Pair {
    score: f32,
    left: usize,
    right: usize,
    start: usize,
    end: usize,
}

impl Ord for Pair {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.left.cmp(&self.left))
    }
}

impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Pair {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Pair {}
