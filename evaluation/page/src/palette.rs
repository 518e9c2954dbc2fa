//! Colours: of segments, as the report's methods have them, and of shades.

use std::fmt::Write as _;

/// Colours of segments by theme: (on white, on the dark background). Those of the report
/// (`evaluation/report/src/render/palette.rs`), which can be told apart by colour-blind readers.
const SEGMENTS: [(&str, &str); 8] = [
    ("#0068a8", "#56a9ec"),
    ("#c14b00", "#ff9a5c"),
    ("#00785a", "#3ccb9f"),
    ("#a8477f", "#e79ac8"),
    ("#8a6500", "#e8c547"),
    ("#2585bf", "#a6dcff"),
    ("#5b616b", "#a9b0bc"),
    ("#1a1a1a", "#ffffff"),
];

/// Backgrounds of shaded nodes by theme, from the lightest: yellow as a marker pen's. The text has
/// contrast 4.5 on every one.
const SHADES: [(&str, &str); crate::marks::SHADES] = [
    ("#fffbe6", "#23221b"),
    ("#fff5c4", "#2d2a1a"),
    ("#ffec99", "#3a3518"),
    ("#ffe066", "#4a4214"),
    ("#ffd43b", "#5a4e0c"),
];

/// Text on shades, where `--soft` would be too pale.
#[cfg(test)]
const TEXT: (&str, &str) = ("#1b1f24", "#e6e9ee");

/// CSS custom properties `--m0`… (segments) and `--l1`… (shades) of a theme.
pub(crate) fn properties(dark: bool) -> String {
    let pick = |(light, on_dark): (&'static str, &'static str)| if dark { on_dark } else { light };
    let mut css = String::new();
    for (number, colours) in SEGMENTS.into_iter().enumerate() {
        let _ = write!(css, "--m{number}:{};", pick(colours));
    }
    for (number, colours) in SHADES.into_iter().enumerate() {
        let _ = write!(css, "--l{}:{};", number + 1, pick(colours));
    }
    css
}

/// CSS rules for `.m0`…, which set `--m` to the segment's colour, and `.l1`…
pub(crate) fn rules() -> String {
    let segments = (0..SEGMENTS.len()).map(|number| format!(".m{number}{{--m:var(--m{number})}}"));
    let shades = (1..=SHADES.len()).map(|level| format!(".l{level}{{background:var(--l{level})}}"));
    segments.chain(shades).collect()
}

/// The class with a segment's colour. Must agree with `page.js`.
pub(crate) fn class(segment: usize) -> String {
    format!("m{}", segment % SEGMENTS.len())
}

/// The letters that stand for a segment beside its colour: A…Z, AA… Must agree with `page.js`.
pub(crate) fn letters(segment: usize) -> String {
    let mut letters = Vec::new();
    let mut rest = segment + 1;
    while rest > 0 {
        letters.push(char::from(b'A' + ((rest - 1) % 26) as u8));
        rest = (rest - 1) / 26;
    }
    letters.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance as WCAG 2 defines it.
    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        a.max(b) / a.min(b)
    }

    #[test]
    fn text_can_be_read_on_every_shade_and_shades_differ() {
        let style = include_str!("style.css");
        assert!(style.contains(&format!("--text:{}", TEXT.0)) && style.contains("--background:#ffffff"));
        for (light, dark) in SHADES {
            assert!(contrast(light, TEXT.0) >= 4.5 && contrast(dark, TEXT.1) >= 4.5, "{light} {dark}");
        }
        for pair in SHADES.windows(2) {
            assert!(contrast(pair[0].0, pair[1].0) > 1.02 && contrast(pair[0].1, pair[1].1) > 1.08, "{pair:?}");
        }
    }

    #[test]
    fn segments_look_as_the_reports_methods_do() {
        let report = include_str!("../../report/src/render/palette.rs");
        for (light, dark) in SEGMENTS {
            assert!(report.contains(&format!("(\"{light}\", \"{dark}\")")), "{light} {dark}");
            assert!(contrast(light, "#ffffff") >= 3.0 && contrast(dark, "#15181d") >= 3.0);
        }
    }

    #[test]
    fn letters_never_repeat() {
        assert_eq!([0, 25, 26, 701, 702].map(letters), ["A", "Z", "AA", "ZZ", "AAA"]);
    }
}
