//! Messages in words of people.

/// So many of a thing: `1 table`, `2 tables`.
pub fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// Types as they are called in Rust, which messages about data have, and as they are called otherwise.
const TYPES: [(&str, &str); 10] = [
    ("usize", "a whole number"),
    ("u64", "a whole number"),
    ("u32", "a whole number"),
    ("u16", "a whole number"),
    ("u8", "a whole number"),
    ("i64", "a whole number"),
    ("f64", "a number"),
    ("f32", "a number"),
    ("a sequence", "a list"),
    ("a map", "an object"),
];

/// A message of a reader of JSON or TOML, with words for what it expected.
pub fn in_words(message: &str) -> String {
    let Some((before, expected)) = message.split_once("expected ") else { return message.to_owned() };
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric());
    let told =
        TYPES.iter().find_map(|(name, words)| Some((words, expected.strip_prefix(name).filter(|rest| ends(rest))?)));
    told.map_or_else(|| message.to_owned(), |(words, rest)| format!("{before}expected {words}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_in_words() {
        assert_eq!(
            in_words("invalid type: string \"a\", expected usize"),
            "invalid type: string \"a\", expected a whole number"
        );
        assert_eq!(in_words("expected a sequence at line 1"), "expected a list at line 1");
        for other in ["expected a mapping", "expected one of `a`", "no key"] {
            assert_eq!(in_words(other), other);
        }
        assert_eq!([counted(1, "table"), counted(0, "table")], ["1 table", "0 tables"]);
    }
}
