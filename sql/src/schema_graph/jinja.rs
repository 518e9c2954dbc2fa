//! What dbt's models have of Jinja, as far as it is read: `ref`, `source`, `config` and comments.

/// A table that a model reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named {
    /// Another model, a seed or a snapshot, by its name.
    Model(String),
    /// A table of a source, by both names.
    Source(String, String),
}

impl Named {
    /// Its name in the schema.
    pub fn name(&self) -> String {
        match self {
            Self::Model(name) => name.clone(),
            Self::Source(source, table) => format!("{source}.{table}"),
        }
    }
}

/// A model as SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rendered {
    pub sql: String,
    /// The tables it reads, in the order of the text.
    pub reads: Vec<Named>,
}

/// Words behind a table that are no name for it.
const NO_ALIAS: [&str; 24] = [
    "where", "join", "left", "right", "inner", "outer", "full", "cross", "natural", "on", "using", "group", "order",
    "having", "limit", "union", "intersect", "except", "qualify", "window", "select", "with", "offset", "lateral",
];

/// Replaces what stands in braces. A table of a source becomes one name, with its last part as alias where it has none.
///
/// # Errors
/// What else of Jinja is there, in words.
pub(super) fn render(text: &str) -> Result<Rendered, String> {
    let mut rendered = Rendered { sql: String::new(), reads: Vec::new() };
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        rendered.sql.push_str(before);
        let (end, is_comment) = match from.as_bytes().get(1) {
            Some(b'{') => ("}}", false),
            Some(b'#') => ("#}", true),
            Some(b'%') => ("%}", false),
            _ => {
                rendered.sql.push('{');
                rest = from.get(1..).unwrap_or_default();
                continue;
            }
        };
        let inside = from.get(2..).unwrap_or_default();
        let Some(until) = inside.find(end) else { return Err(format!("{} is never closed", shown(from))) };
        let (inside, after) = inside.split_at(until);
        let after = after.get(2..).unwrap_or_default();
        if !is_comment {
            let whole = from.get(..until + 4).unwrap_or_default();
            let call = inside.trim().trim_matches('-').trim();
            if whole.starts_with("{%") {
                return Err(format!("{} is not read; of Jinja ref, source and config are", shown(whole)));
            }
            let named = named(call)
                .ok_or_else(|| format!("{} is not read; of Jinja ref, source and config are", shown(whole)))?;
            if let Some(named) = named {
                rendered.sql.push_str(&quoted(&named.name()));
                if let Named::Source(_, table) = &named
                    && !has_alias(after)
                {
                    rendered.sql.push_str(&format!(" AS {}", quoted(table)));
                }
                rendered.reads.push(named);
            }
        }
        rest = after;
    }
    rendered.sql.push_str(rest);
    Ok(rendered)
}

fn quoted(name: &str) -> String {
    crate::catalogue::quote(name)
}

fn shown(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(60).collect();
    if short.len() < line.len() { format!("{short}…") } else { short }
}

fn has_alias(after: &str) -> bool {
    let after = after.trim_start();
    let word: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    after.starts_with('"') || !word.is_empty() && !NO_ALIAS.contains(&word.to_lowercase().as_str())
}

/// The table of a call of `ref` or `source`; `Some(None)` for `config`.
#[allow(clippy::option_option, reason = "no call that is read, one that says nothing, a table")]
pub(super) fn named(call: &str) -> Option<Option<Named>> {
    let (name, arguments) = call.split_once('(')?;
    let arguments = arguments.trim_end().strip_suffix(')')?;
    if name.trim() == "config" {
        return Some(None);
    }
    let texts: Option<Vec<&str>> = arguments
        .split(',')
        .map(str::trim)
        // A version of a model.
        .filter(|argument| !argument.starts_with("v=") && !argument.starts_with("version="))
        .map(|argument| {
            let quote = argument.chars().next().filter(|c| ['\'', '"'].contains(c))?;
            let text = argument.strip_prefix(quote)?.strip_suffix(quote)?;
            (!text.is_empty() && !text.contains(['\'', '"', '\\'])).then_some(text)
        })
        .collect();
    match (name.trim(), texts?.as_slice()) {
        // Of a package.
        ("ref", [name] | [_, name]) => Some(Some(Named::Model((*name).to_owned()))),
        ("source", [source, table]) => Some(Some(Named::Source((*source).to_owned(), (*table).to_owned()))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn calls_become_names() {
        let text = "{{ config(materialized='table', tags=['a, b']) }}{# a {{ ref('c') }} #}\nselect '{' as x, o.id from {{ ref( \"stg\" ) }} s\n\
                    join {{- source('raw', 'orders') -}} where 1 join {{ source('raw','pay') }} as p on {{ref('pkg', 'm', v=2)}}";
        let rendered = render(text).unwrap();
        assert_eq!(
            rendered.sql,
            "\nselect '{' as x, o.id from \"stg\" s\njoin \"raw.orders\" AS \"orders\" where 1 join \"raw.pay\" as p on \"m\""
        );
        let names: Vec<String> = rendered.reads.iter().map(Named::name).collect();
        assert_eq!(names, ["stg", "raw.orders", "raw.pay", "m"]);
    }

    #[test]
    fn what_is_not_read_is_said() {
        for (text, words) in [
            ("select {% if x %} 1 {% endif %}", "{% if x %} is not read"),
            ("select {{ var('x') }}", "{{ var('x') }} is not read"),
            ("select {{ ref(name) }}", "is not read"),
            ("select {{ ref('a'", "is never closed"),
            ("{{ this }}", "is not read"),
        ] {
            let error = render(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_ends(text in "(\\{\\{|\\}\\}|\\{%|%\\}|\\{#|#\\}|ref\\(|'|a|é| |,|\\)|source\\(){0,40}") {
            let _ = render(&text);
        }
    }
}
