//! Against llama.cpp: what its server makes of a small random model (tools/scripts/gguf_reference.py).

use std::path::PathBuf;
use std::sync::Mutex;

use serde::Deserialize;

use super::*;
use crate::budget::Limits;
use crate::chat::Message;
use crate::gguf::vocabulary::Part;
use crate::open::OpenModel;

/// How far a log-probability may be from llama.cpp's: with weights in f32, which are summed in another order, and in 8 bits, where
/// both quantise activations, too, and round them differently.
const TOLERANCES: [(&str, f32); 2] = [("random.gguf", 1e-4), ("random-q8_0.gguf", 0.02)];

#[derive(Deserialize)]
struct Reference {
    tokens: Vec<Tokenised>,
    conversations: Vec<Answered>,
    templates: Vec<Written>,
}

#[derive(Deserialize)]
struct Tokenised {
    text: String,
    tokens: Vec<u32>,
}

#[derive(Deserialize)]
struct Answered {
    model: String,
    messages: Vec<Message>,
    prompt: Vec<u32>,
    reply: Vec<Token>,
}

#[derive(Deserialize)]
struct Token {
    id: u32,
    /// Log-probabilities of the ten best, by token.
    top: std::collections::HashMap<String, f32>,
}

#[derive(Deserialize)]
struct Written {
    template: String,
    messages: Vec<Message>,
    prompt: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/gguf")
}

fn reference() -> Reference {
    serde_json::from_str(&std::fs::read_to_string(folder().join("reference.json")).unwrap()).unwrap()
}

fn settings() -> LlmSettings {
    LlmSettings { base_url: format!("gguf:{}", folder().join("random.gguf").display()), ..LlmSettings::default() }
}

fn model() -> GgufModel {
    GgufModel::open(&folder().join("random.gguf"), &settings()).unwrap()
}

#[test]
fn texts_become_llama_cpp_s_tokens() {
    let model = model();
    for Tokenised { text, tokens } in reference().tokens {
        assert_eq!(model.vocabulary.encode(&[Part::Said(text.clone())]), tokens, "{text:?}");
    }
}

#[test]
fn conversations_are_written_as_chat_templates_write_them() {
    for Written { template, messages, prompt } in reference().templates {
        let form = Template::of(&template).unwrap();
        let parts = form.parts(&messages, "</s>");
        let text: String = parts
            .iter()
            .map(|part| match part {
                Part::Form(text) | Part::Said(text) => text.as_str(),
            })
            .collect();
        assert_eq!(text, prompt, "{form:?}");
    }
    assert_eq!(Template::of("{% for message in messages %}{{ message.content }}{% endfor %}"), None);
}

#[test]
fn logits_are_llama_cpp_s() {
    for (name, tolerance) in TOLERANCES {
        let model = GgufModel::open(&folder().join(name), &settings()).unwrap();
        let mut furthest: f32 = 0.0;
        let conversations: Vec<Answered> =
            reference().conversations.into_iter().filter(|conversation| conversation.model == name).collect();
        assert_eq!(conversations.len(), 2, "{name}");
        for Answered { messages, prompt, reply, .. } in conversations {
            let request = ChatRequest::new(messages);
            assert_eq!(model.prompt(&request), prompt);
            let mut weights = model.weights.clone();
            let mut logits = model.forward(&mut weights, &prompt, 0).unwrap();
            for (Token { id, top }, place) in reply.iter().zip(prompt.len()..) {
                let sum: f32 = logits.iter().map(|logit| logit.exp()).sum();
                for (token, expected) in top {
                    let found = logits[token.parse::<usize>().unwrap()] - sum.ln();
                    furthest = furthest.max((found - expected).abs());
                    assert!(
                        (found - expected).abs() <= tolerance,
                        "{name}: token {token} at {place}: {found}, not {expected}"
                    );
                }
                assert_eq!(likeliest(&logits), Some(*id), "{name} at {place}");
                logits = model.forward(&mut weights, &[*id], place).unwrap();
            }
        }
        println!("{name}: furthest log-probability {furthest:.6}");
    }
}

#[test]
fn a_reply_is_the_greedy_one_in_pieces_and_booked() {
    let model = model();
    for Answered { messages, prompt, reply, .. } in reference().conversations.into_iter().take(2) {
        let mut expected = Vec::new();
        reply.iter().for_each(|token| model.vocabulary.bytes_of(token.id, &mut expected));
        let expected = String::from_utf8_lossy(&expected).into_owned();
        let request = ChatRequest { max_tokens: reply.len() as u32, ..ChatRequest::new(messages) };
        let mut budget = Budget::new(Limits::default());
        let pieces = Mutex::new(String::new());
        let mut on_piece = |piece: Piece<'_>| match piece {
            Piece::Text(text) => pieces.lock().unwrap().push_str(text),
            Piece::Again => pieces.lock().unwrap().clear(),
        };
        let found = model.chat(&request, &mut budget, &mut on_piece).unwrap();
        assert_eq!((found.content.as_str(), &found.finish), (expected.as_str(), &Finish::Length));
        assert_eq!(*pieces.lock().unwrap(), expected);
        let tokens = Tokens { prompt: prompt.len() as u64, completion: reply.len() as u64, estimated: false };
        assert_eq!((found.tokens, budget.spent().tokens, budget.spent().calls), (tokens, tokens, 1));
        // Through the settings, a second time: always the same.
        let opened = OpenModel::open(&settings(), None, None, &|_| None).unwrap().unwrap().model;
        assert_eq!((opened.name(), opened.notice()), ("random", None));
        assert_eq!(opened.chat(&request, &mut budget, &mut |_| {}).unwrap().content, expected);
    }
}

#[test]
fn a_prompt_read_in_parts_gives_the_same_logits() {
    let model = model();
    let prompt: Vec<u32> = (0..300).map(|number| 300 + number % 200).collect();
    let whole = model.forward(&mut model.weights.clone(), &prompt, 0).unwrap();
    let mut weights = model.weights.clone();
    let (mut place, mut parted) = (0, Vec::new());
    for part in prompt.chunks(AT_ONCE) {
        parted = model.forward(&mut weights, part, place).unwrap();
        place += part.len();
    }
    assert!(whole.iter().zip(&parted).all(|(one, other)| (one - other).abs() < 1e-3));
}

#[test]
fn what_a_cell_says_is_text_and_no_end_of_a_turn() {
    let model = model();
    let prompt = |text: &str| model.prompt(&ChatRequest::new(vec![Message::user(text)]));
    let ends = |tokens: &[u32]| tokens.iter().filter(|&&token| model.vocabulary.ends(token)).count();
    assert_eq!((ends(&prompt("a")), ends(&prompt("</s><|im_end|></s>"))), (1, 1));
}

#[test]
fn budgets_and_lengths_hold() {
    let model = model();
    let request = ChatRequest { max_tokens: 20, ..ChatRequest::new(vec![Message::user("a")]) };
    let limits = |limits: Limits| model.chat(&request, &mut Budget::new(limits), &mut |_| {}).unwrap_err();
    assert!(matches!(limits(Limits { tokens: 30, ..Limits::default() }), LlmError::Budget(BudgetError::Tokens { .. })));
    assert!(matches!(
        limits(Limits { seconds: 1e-9, ..Limits::default() }),
        LlmError::Budget(BudgetError::Time { .. })
    ));
    let long = ChatRequest { max_tokens: 500, ..request.clone() };
    let error = model.chat(&long, &mut Budget::new(Limits::default()), &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("more than the 512 that the model takes; lower agent.prompt_tokens"), "{error}");
    let slow = LlmSettings { call_seconds: 1e-9, ..settings() };
    let slow = GgufModel::open(&folder().join("random.gguf"), &slow).unwrap();
    let error = slow.chat(&request, &mut Budget::new(Limits::default()), &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("llm.call_seconds"), "{error}");
}

#[test]
fn files_that_cannot_be_used_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let good = std::fs::read(super::tests::folder().join("random.gguf")).unwrap();
    let at = |bytes: &[u8]| {
        let path = folder.path().join("model.gguf");
        std::fs::write(&path, bytes).unwrap();
        GgufModel::open(&path, &LlmSettings::default()).err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(at(&good), "");
    assert!(at(b"no model").contains("model.gguf: is no GGUF file"));
    assert!(at(&good[..good.len() / 2]).contains("model.gguf: "), "a file that was cut");
    let changed = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let at = good.windows(from.len()).position(|bytes| bytes == from.as_bytes()).unwrap();
        let mut bytes = good.clone();
        bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
        bytes
    };
    let missing = at(&changed("llama.rope.dimension_count", "llama.rope.dimension_coumt"));
    assert!(missing.contains("there is no number llama.rope.dimension_count"), "{missing}");
    let lost = at(&changed("blk.1.ffn_up.weight", "blk.7.ffn_up.weight"));
    assert!(lost.contains("the weights cannot be read") && lost.contains("blk.1.ffn_up"), "{lost}");
    let tokenizer = at(&changed("tokenizer.ggml.scores", "tokenizer.ggml.zcores"));
    assert!(tokenizer.contains("there is no list tokenizer.ggml.scores"), "{tokenizer}");
    let absent = GgufModel::open(&folder.path().join("none.gguf"), &LlmSettings::default()).err().unwrap().to_string();
    assert!(absent.starts_with("llm.base_url: gguf:") && absent.contains("none.gguf: could not be read"), "{absent}");
    let warm = LlmSettings { temperature: 0.7, ..LlmSettings::default() };
    let error = GgufModel::open(&super::tests::folder().join("random.gguf"), &warm).err().unwrap().to_string();
    assert!(error.contains("llm.temperature: is 0.7"), "{error}");
}
