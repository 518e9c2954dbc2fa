//! What tells of what a question names.

use crate::question::words;

/// Characters of a text that is a header: in longer ones some words begin with any three letters.
const HEADER: usize = 60;

/// Whether one of some texts names what a question names: by the word, another form of it, or words that begin with its letters.
pub(crate) fn is_named<'t>(name: &str, mut texts: impl Iterator<Item = &'t str>) -> bool {
    let lower = name.to_lowercase();
    let stem = words(&lower).into_iter().next().map(|(stem, _)| stem);
    let is_short = name.chars().count() <= 6 && name.chars().all(char::is_uppercase);
    texts.any(|text| {
        let text = text.to_lowercase();
        text.contains(&lower)
            || words(&text).into_iter().any(|(word, _)| Some(&word) == stem.as_ref())
            || is_short && text.len() <= HEADER && initials(&text).contains(&lower)
    })
}

/// The first letters of a text's words, small ones left out.
fn initials(text: &str) -> String {
    let small = ["and", "of", "the", "for", "in", "to", "on", "a"];
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !small.contains(word));
    words.filter_map(|word| word.chars().next()).collect()
}

#[cfg(test)]
mod tests {
    use super::is_named;

    #[test]
    fn names_are_found_in_other_forms() {
        let named = |name: &str, text: &str| is_named(name, [text].into_iter());
        assert!(named("Germany", "Sales in Germany") && named("Americas", "America"));
        assert!(named("VAS", "Value-added services and solutions"));
        assert!(!named("Slack", "Total revenues") && !named("Slack", ""));
    }
}
