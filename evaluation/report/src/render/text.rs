//! Text from outside, made safe for where it is put.

/// Escapes text for one line of Markdown, table cells included: it is shown as it is, whatever it
/// holds. What means nothing where it stands (an underscore within a word, a lone bracket, "<" before
/// a digit) is left alone, for those who read the source.
pub(super) fn escape_markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut before = None;
    let mut rest = text.trim().chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied();
        let in_word = before.is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric);
        let special = match c {
            '\\' | '|' | '`' | '*' | '~' | '$' => true,
            '_' | '#' | '@' => !in_word,
            // Tags and entities.
            '<' => next.is_some_and(|n| n.is_alphabetic() || "/!?".contains(n)),
            '&' => next.is_some_and(|n| n.is_alphanumeric() || n == '#'),
            // Links and their definitions.
            ']' => next.is_some_and(|n| "([:".contains(n)),
            // At the start of a line: quotations, lists, rules.
            '>' => before.is_none(),
            '-' | '+' => before.is_none() && next.is_none_or(|n| n == '-' || n.is_whitespace()),
            '.' | ')' => {
                let number = !escaped.is_empty() && escaped.bytes().all(|b| b.is_ascii_digit());
                number && next.is_none_or(char::is_whitespace)
            }
            _ => false,
        };
        if special {
            escaped.push('\\');
        }
        escaped.push(if c.is_control() { ' ' } else { c });
        before = Some(c);
    }
    escaped
}

/// Text cut in its middle, with "…" there, such that it fits into `width` units at `size` units
/// font size; the end stays because variants of a method differ there ("…, seed 3"). Widths are
/// estimates for a sans-serif font, on the safe side.
pub(super) fn fit(text: &str, width: f64, size: f64) -> String {
    if self::width(text, size) <= width {
        return text.to_owned();
    }
    let room = (width - advance('…') * size).max(0.0);
    let start = within(text.chars(), room * 0.55, size);
    let end: Vec<char> = within(text.chars().rev(), room * 0.45, size).chars().rev().collect();
    format!("{}…{}", start.trim_end(), String::from_iter(end).trim_start())
}

/// As many of the characters, in their order, as fit into `width`.
fn within(characters: impl Iterator<Item = char>, width: f64, size: f64) -> String {
    let mut used = 0.0;
    let fits = |c: &char| {
        used += advance(*c) * size;
        used <= width
    };
    characters.take_while(fits).collect()
}

/// Estimated width of a text at font size `size`.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(|c| advance(c) * size).sum()
}

/// Estimated width of a character in font sizes.
fn advance(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' => 0.3,
        'f' | 'r' | 't' | ' ' | '(' | ')' | '[' | ']' | '-' | '/' => 0.4,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 0.92,
        'A'..='Z' | '&' | '+' => 0.72,
        c if (c as u32) < 0x1100 => 0.58,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_markdown_shows_the_text_itself() {
        for (text, escaped) in [
            ("a|b\n<i>*x*</i>", r"a\|b \<i>\*x\*\</i>"),
            ("graph.cell_text _x_ C#", r"graph.cell_text \_x\_ C\#"),
            ("[a](b) `c` \\ &lt;", r"[a\](b) \`c\` \\ \&lt;"),
            ("recall@10 [-0.1, 0.2] <0.01 & @someone", r"recall@10 [-0.1, 0.2] <0.01 & \@someone"),
            ("- a", r"\- a"),
            ("12. a", r"12\. a"),
            ("> a", r"\> a"),
            ("-0.5", "-0.5"),
            ("0.5", "0.5"),
        ] {
            assert_eq!(escape_markdown(text), escaped);
        }
    }

    #[test]
    fn long_text_is_cut_to_its_place() {
        assert_eq!(fit("BM25", 100.0, 12.0), "BM25");
        let cut = fit("graph ranker with two layers, seed 3", 100.0, 12.0);
        assert!(width(&cut, 12.0) <= 100.0, "{cut}");
        assert!(cut.starts_with("graph") && cut.ends_with("seed 3"), "{cut}");
        assert_eq!([fit("", 0.0, 12.0), fit("BM25", 5.0, 12.0)], ["", "…"]);
    }
}
