//! What all pages of the project have in common: base style, themes, colours, and text made safe for HTML.

/// The light theme and what every page starts from.
pub const BASE: &str = include_str!("kit.css");

/// Declarations of the dark theme.
pub const DARK: &str =
    "--background:#15181d;--text:#e6e9ee;--soft:#a3abb7;--line:#353b45;--band:#1e2229;color-scheme:dark;";

/// Colours by theme: (on white, on the dark background). After Okabe and Ito's palette for
/// colour-blind readers, darkened or lightened until each has contrast 3 with its background.
pub const COLOURS: [(&str, &str); 8] = [
    ("#0068a8", "#56a9ec"),
    ("#c14b00", "#ff9a5c"),
    ("#00785a", "#3ccb9f"),
    ("#a8477f", "#e79ac8"),
    ("#8a6500", "#e8c547"),
    ("#2585bf", "#a6dcff"),
    ("#5b616b", "#a9b0bc"),
    ("#1a1a1a", "#ffffff"),
];

/// CSS custom properties `--m0` and on with the colours of the light or of the dark theme.
pub fn colours(dark: bool) -> String {
    let colour = |(on_white, on_dark)| if dark { on_dark } else { on_white };
    let property = |(number, pair)| format!("--m{number}:{};", colour(pair));
    COLOURS.into_iter().enumerate().map(property).collect()
}

/// Class with a colour, by the number of what has it; the first comes again after the last. Must agree with `page.js`.
pub fn class(number: usize) -> String {
    format!("m{}", number % COLOURS.len())
}

/// Escapes text for HTML, between tags and in quoted attributes. Control characters, which may not
/// stand in a page, become U+FFFD.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' | '\r' => escaped.push(' '),
            c if c.is_control() => escaped.push(char::REPLACEMENT_CHARACTER),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Relative luminance as WCAG 2 defines it.
    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    pub(crate) fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        a.max(b) / a.min(b)
    }

    #[test]
    fn colours_stand_out_in_both_themes() {
        for (on_white, on_dark) in COLOURS {
            assert!(contrast(on_white, "#ffffff") >= 4.0, "{on_white}");
            assert!(contrast(on_dark, "#15181d") >= 4.0, "{on_dark}");
        }
        assert!(DARK.contains("--background:#15181d") && BASE.contains("--background:#ffffff"));
    }

    #[test]
    fn escaped_text_stays_text() {
        assert_eq!(
            escape("<script>\"a\" & 'b'</script>\u{0}"),
            "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;\u{fffd}"
        );
    }
}
