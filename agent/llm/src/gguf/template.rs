//! How conversations are written for a model: the forms that files of the llama family name in their chat templates.

use crate::chat::{Message, Role};
use crate::gguf::vocabulary::Part;

/// A form of conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Template {
    /// `<|im_start|>user … <|im_end|>`.
    ChatMl,
    /// `[INST] <<SYS>> … <</SYS>> … [/INST]`.
    Llama2,
    /// `[INST] … [/INST]`; instructions stand before the first question.
    Mistral,
    /// `<|user|> … </s>`.
    Zephyr,
    /// `<|start_header_id|>user<|end_header_id|> … <|eot_id|>`.
    Llama3,
}

impl Template {
    /// The form that a chat template writes, by its marks; `None` for one that is not known here.
    pub(super) fn of(template: &str) -> Option<Self> {
        let has = |mark: &str| template.contains(mark);
        Some(if has("<|im_start|>") {
            Self::ChatMl
        } else if has("<|start_header_id|>") && has("<|eot_id|>") {
            Self::Llama3
        } else if has("[INST]") && has("<<SYS>>") {
            Self::Llama2
        } else if has("[INST]") && !has("[AVAILABLE_TOOLS]") {
            Self::Mistral
        } else if has("<|user|>") && has("<|assistant|>") && has("eos_token") {
            Self::Zephyr
        } else {
            return None;
        })
    }

    /// The parts of a conversation up to where the model's turn begins. `end` is the token that ends a reply. The token that
    /// begins texts is not among them.
    pub(super) fn parts(self, messages: &[Message], end: &str) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut add = |before: &str, said: &str, after: &str| {
            parts.extend([Part::Form(before.to_owned()), Part::Said(said.to_owned()), Part::Form(after.to_owned())]);
        };
        match self {
            Self::ChatMl => {
                for message in messages {
                    add(&format!("<|im_start|>{}\n", name(message.role)), &message.content, "<|im_end|>\n");
                }
                add("<|im_start|>assistant\n", "", "");
            }
            Self::Llama3 => {
                for message in messages {
                    let before = format!("<|start_header_id|>{}<|end_header_id|>\n\n", name(message.role));
                    add(&before, message.content.trim(), "<|eot_id|>");
                }
                add("<|start_header_id|>assistant<|end_header_id|>\n\n", "", "");
            }
            Self::Zephyr => {
                for message in messages {
                    add(&format!("<|{}|>\n", name(message.role)), &message.content, &format!("{end}\n"));
                }
                add("<|assistant|>\n", "", "");
            }
            Self::Llama2 | Self::Mistral => {
                let mut instructions: Option<&str> = None;
                for message in messages {
                    match (message.role, instructions.take()) {
                        (Role::System, _) => instructions = Some(&message.content),
                        (Role::User, None) => add("[INST] ", &message.content, " [/INST]"),
                        (Role::User, Some(told)) if self == Self::Llama2 => {
                            add("[INST] <<SYS>>\n", told, "\n<</SYS>>\n\n");
                            add("", &message.content, " [/INST]");
                        }
                        (Role::User, Some(told)) => {
                            add("[INST] ", told, "\n\n");
                            add("", &message.content, " [/INST]");
                        }
                        (Role::Assistant, _) => {
                            let after = if self == Self::Llama2 { format!(" {end}<s>") } else { end.to_owned() };
                            add(" ", message.content.trim(), &after);
                        }
                    }
                }
            }
        }
        parts
    }
}

fn name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}
