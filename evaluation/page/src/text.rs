//! Text as the page shows it, and numbers as people read them.

/// JSON for a script element: nothing in it can end the element or open a comment, and it is
/// JavaScript too.
pub(crate) fn for_script(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            // All of these can only stand within strings.
            '<' => escaped.push_str("\\u003c"),
            '>' => escaped.push_str("\\u003e"),
            '&' => escaped.push_str("\\u0026"),
            '\u{2028}' => escaped.push_str("\\u2028"),
            '\u{2029}' => escaped.push_str("\\u2029"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// The first `most` characters of a text, cut at a blank where one is near, with "…".
pub(crate) fn shorten(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else {
        return text.to_owned();
    };
    let kept = text.get(..end).unwrap_or(text);
    let cut = match kept.rfind(' ') {
        Some(blank) if blank > end / 2 => kept.get(..blank).unwrap_or(kept),
        _ => kept,
    };
    format!("{}…", cut.trim_end())
}

/// A score with three decimals, or with an exponent where these would say nothing. Must agree with
/// `number` in `page.js`.
pub(crate) fn number(value: f32) -> String {
    let size = value.abs();
    let text =
        if size != 0.0 && !(0.0005..1e6).contains(&size) { format!("{value:.2e}") } else { format!("{value:.3}") };
    text.replace('-', "\u{2212}")
}

/// The name of an edge type in words: `row_header_to_cell` is "row header → cell".
pub(crate) fn edge_type(name: &str) -> String {
    name.replace("_to_", " → ").replace('_', " ")
}

/// ` dir="auto"` for text in which it can make a difference: one with a letter that is written
/// from right to left. Most cells have none, and the attribute on each would add to every page.
pub(crate) fn direction(text: &str) -> &'static str {
    let right_to_left = |c: char| {
        matches!(c, '\u{590}'..='\u{8ff}' | '\u{200f}' | '\u{202b}' | '\u{202e}' | '\u{2067}'
            | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
    };
    if text.chars().any(right_to_left) { " dir=\"auto\"" } else { "" }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn json_in_a_script_is_the_same_json_and_cannot_end_it(text in any::<String>(), tail in "(</script>|<!--|\u{2028}|&)*") {
            let json = serde_json::to_string(&[text + &tail]).unwrap();
            let escaped = for_script(&json);
            prop_assert_eq!(escaped.find(['<', '>', '&', '\u{2028}', '\u{2029}']), None);
            prop_assert_eq!(serde_json::from_str::<Vec<String>>(&escaped).unwrap(), serde_json::from_str::<Vec<String>>(&json).unwrap());
        }

        #[test]
        fn shortened_text_is_a_beginning(text in any::<String>(), most in 1..20_usize) {
            let short = shorten(&text, most);
            prop_assert!(short.chars().count() <= most + 1);
            prop_assert!(text == short || text.starts_with(short.trim_end_matches('…').trim_end()));
        }
    }

    #[test]
    fn numbers_and_names_read_well() {
        assert_eq!([number(-1.25), number(0.0), number(1e-9), number(-3e7)].join(" "), "−1.250 0.000 1.00e−9 −3.00e7");
        assert_eq!(edge_type("row_header_to_cell"), "row header → cell");
        assert_eq!((direction("Net income 12"), direction("הכנסות 12")), ("", " dir=\"auto\""));
    }
}
