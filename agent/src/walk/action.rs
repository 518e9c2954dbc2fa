//! Moves on the graph, and how they are read from JSON.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

/// One move. `text`, where it is given, has to be that of the node: cells of equal value stay apart by their ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action")]
pub enum Action {
    /// Goes to a node: by its id, or to the one whose text is found.
    VisitNode {
        /// An id, or empty.
        #[serde(default)]
        node: String,
        /// The node's text, or what is looked for.
        #[serde(default)]
        text: String,
    },
    /// All neighbours of a node, by relation.
    GetAllNeighbours {
        /// An id.
        node: String,
        /// Its text; may be empty.
        #[serde(default)]
        text: String,
        /// From 1.
        #[serde(default = "first")]
        page: usize,
    },
    /// The neighbours that two nodes share, such as the cell where a row and a column cross.
    GetSharedNeighbours {
        /// An id.
        node: String,
        /// Its text; may be empty.
        #[serde(default)]
        text: String,
        /// Another id.
        other: String,
        /// From 1.
        #[serde(default = "first")]
        page: usize,
    },
    /// What some steps reach.
    GetNodesWithin {
        /// An id.
        node: String,
        /// Its text; may be empty.
        #[serde(default)]
        text: String,
        /// Steps: 1 to 3.
        hops: usize,
        /// From 1.
        #[serde(default = "first")]
        page: usize,
    },
    /// Leaves the nodes that were visited after this one.
    Backtrack {
        /// The id of a visited node.
        node: String,
    },
    /// Runs a program over numbers of cells.
    Compute {
        /// In FinQA's language, such as `subtract(12, 8), divide(#0, 8)`.
        program: String,
        /// The ids of the cells that hold its numbers.
        #[serde(deserialize_with = "one_or_many")]
        cells: Vec<String>,
    },
    /// Ends with an answer.
    AnswerQuestion {
        /// The ids that it rests on.
        #[serde(deserialize_with = "one_or_many")]
        cells: Vec<String>,
        /// A program that gives it, or words such as `look up`.
        #[serde(default)]
        operation: String,
        /// Why.
        #[serde(default)]
        explanation: String,
        /// The answer; several where the question wants several.
        #[serde(deserialize_with = "one_or_many")]
        answer: Vec<String>,
    },
    /// Ends without one.
    Abstain {
        /// Why.
        #[serde(default)]
        explanation: String,
    },
}

fn first() -> usize {
    1
}

/// A list, or what would be its only element; numbers are taken as they are written.
fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a text or a list of texts")]
    enum Text {
        Text(String),
        Number(serde_json::Number),
    }
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a text or a list of texts")]
    enum Texts {
        One(Text),
        Many(Vec<Text>),
    }
    let text = |text: Text| match text {
        Text::Text(text) => text,
        Text::Number(number) => number.to_string(),
    };
    Ok(match Texts::deserialize(deserializer)? {
        Texts::One(one) => vec![text(one)],
        Texts::Many(many) => many.into_iter().map(text).collect(),
    })
}

const NAMES: [&str; 8] = [
    "VisitNode", "GetAllNeighbours", "GetSharedNeighbours", "GetNodesWithin", "Backtrack", "Compute", "AnswerQuestion",
    "Abstain",
];

/// An action with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// What is done.
    pub action: Action,
    /// Why, in the words of who chose it.
    pub reason: String,
}

impl Call {
    /// Reads one; keys that no action has are passed over.
    ///
    /// # Errors
    /// What is wrong, in words for who wrote it.
    pub fn read(value: &Value) -> Result<Self, String> {
        let Some(name) = value.get("action").and_then(Value::as_str) else {
            return Err(format!("an action without a name; \"action\" is to be one of {}", NAMES.join(", ")));
        };
        if !NAMES.contains(&name) {
            let name: String = name.chars().take(60).collect();
            return Err(format!("there is no action {name:?}; there are {}", NAMES.join(", ")));
        }
        let action = Action::deserialize(value).map_err(|error| format!("{name} cannot be read: {error}"))?;
        let reason = value.get("reason").and_then(Value::as_str).unwrap_or("").to_owned();
        Ok(Self { action, reason })
    }
}

impl Action {
    /// Whether it ends the walk.
    pub fn ends(&self) -> bool {
        matches!(self, Self::AnswerQuestion { .. } | Self::Abstain { .. })
    }
}

/// The JSON schema of a reply: a thought, then actions. Every property is required, so that servers that hold replies to
/// schemas take it. In the `last` round only answers are left.
pub(crate) fn reply_schema(last: bool, most: usize) -> Value {
    let text = || json!({"type": "string"});
    let texts = || json!({"type": "array", "items": {"type": "string"}});
    let number = || json!({"type": "integer"});
    let form = |name: &str, fields: &[(&str, Value)]| {
        let mut properties = json!({"action": {"type": "string", "enum": [name]}, "reason": text()});
        let mut required = vec!["action", "reason"];
        for (field, schema) in fields {
            if let Some(properties) = properties.as_object_mut() {
                properties.insert((*field).to_owned(), schema.clone());
            }
            required.push(field);
        }
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    };
    let mut forms = vec![
        form(
            "AnswerQuestion",
            &[("cells", texts()), ("operation", text()), ("explanation", text()), ("answer", texts())],
        ),
        form("Abstain", &[("explanation", text())]),
    ];
    if !last {
        let near = [("node", text()), ("text", text()), ("page", number())];
        forms.extend([
            form("VisitNode", &[("node", text()), ("text", text())]),
            form("GetAllNeighbours", &near),
            form("GetSharedNeighbours", &[("node", text()), ("text", text()), ("other", text()), ("page", number())]),
            form("GetNodesWithin", &[("node", text()), ("text", text()), ("hops", number()), ("page", number())]),
            form("Backtrack", &[("node", text())]),
            form("Compute", &[("program", text()), ("cells", texts())]),
        ]);
    }
    let most = if last { 1 } else { most };
    json!({
        "type": "object",
        "properties": {
            "thought": text(),
            "actions": {"type": "array", "items": {"anyOf": forms}, "minItems": 1, "maxItems": most},
        },
        "required": ["thought", "actions"],
        "additionalProperties": false,
    })
}

/// The thought and the actions of a reply; single actions count as lists of one.
///
/// # Errors
/// What is missing, in words for who wrote it.
pub(crate) fn read_reply(reply: Value) -> Result<(String, Vec<Value>), String> {
    let thought = reply.get("thought").and_then(Value::as_str).unwrap_or("").to_owned();
    let actions = match reply.get("actions") {
        Some(Value::Array(actions)) if !actions.is_empty() => actions.clone(),
        Some(Value::Array(_)) => return Err("\"actions\" is empty; choose at least one".to_owned()),
        Some(action @ Value::Object(_)) => vec![action.clone()],
        None if reply.get("action").is_some() => vec![reply],
        _ => return Err("expected {\"thought\": text, \"actions\": [{\"action\": name, …}]}".to_owned()),
    };
    Ok((thought, actions))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Action, Call, NAMES, read_reply, reply_schema};

    #[test]
    fn actions_are_read_or_refused_in_words() {
        let read = |value: Value| Call::read(&value).map(|call| call.action);
        assert_eq!(
            read(json!({"action": "GetAllNeighbours", "node": "t0:r1c1", "colour": "red"})),
            Ok(Action::GetAllNeighbours { node: "t0:r1c1".into(), text: String::new(), page: 1 })
        );
        assert_eq!(
            read(json!({"action": "Compute", "program": "add(1, 2)", "cells": "t0:r1c1"})),
            Ok(Action::Compute { program: "add(1, 2)".into(), cells: vec!["t0:r1c1".into()] })
        );
        let answer = json!({"action": "AnswerQuestion", "cells": ["t0:r1c1"], "answer": 15});
        assert!(matches!(read(answer), Ok(Action::AnswerQuestion { answer, .. }) if answer == ["15"]));
        for (value, words) in [
            (json!({"action": "Fly", "node": "t0"}), "there is no action \"Fly\""),
            (json!({"node": "t0"}), "an action without a name"),
            (json!({"action": 7}), "an action without a name"),
            (json!("VisitNode"), "an action without a name"),
            (json!({"action": "GetAllNeighbours"}), "missing field `node`"),
            (json!({"action": "GetAllNeighbours", "node": "t0", "page": -1}), "cannot be read"),
            (json!({"action": "GetNodesWithin", "node": "t0", "hops": 1e30}), "cannot be read"),
            (json!({"action": "Compute", "program": "add(1, 2)", "cells": [[1]]}), "a text or a list of texts"),
        ] {
            let error = read(value.clone()).unwrap_err();
            assert!(error.contains(words), "{value}: {error}");
        }
    }

    #[test]
    fn the_schema_names_every_action_and_what_each_takes() {
        let schema = reply_schema(false, 8);
        let forms = schema["properties"]["actions"]["items"]["anyOf"].as_array().unwrap();
        let mut names: Vec<&str> =
            forms.iter().filter_map(|form| form["properties"]["action"]["enum"][0].as_str()).collect();
        names.sort_unstable();
        let mut expected = NAMES.to_vec();
        expected.sort_unstable();
        assert_eq!(names, expected);
        // What follows the schema is read.
        for form in forms {
            let mut value = json!({});
            for (name, property) in form["properties"].as_object().unwrap() {
                value[name] = match property["type"].as_str() {
                    Some("array") => json!(["t0"]),
                    Some("integer") => json!(1),
                    _ => property["enum"].get(0).cloned().unwrap_or(json!("t0")),
                };
            }
            assert!(Call::read(&value).is_ok(), "{value}");
        }
        assert_eq!(reply_schema(true, 8)["properties"]["actions"]["items"]["anyOf"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn replies_are_read_with_some_patience() {
        let one = json!({"action": "Abstain"});
        for reply in [json!({"thought": "", "actions": [one]}), json!({"actions": one}), one.clone()] {
            assert_eq!(read_reply(reply).unwrap().1, std::slice::from_ref(&one));
        }
        // What a schema wants and nothing is done with may be missing; what is done has to be there.
        let call = Call::read(&json!({"action": "GetAllNeighbours", "node": "t0", "more": 1})).unwrap();
        assert_eq!((call.reason.as_str(), call.action.ends()), ("", false));
        assert!(
            Call::read(&json!({"action": "Compute", "reason": "", "cells": ["t0"]})).unwrap_err().contains("program")
        );
        for reply in [json!({}), json!({"actions": []}), json!({"actions": "Abstain"}), json!([one])] {
            assert!(read_reply(reply).is_err());
        }
    }
}
