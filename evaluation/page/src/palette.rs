//! Colours of segments, those of [`crate::kit`], and of shades.

use std::fmt::Write as _;

use crate::kit::{self, COLOURS};

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
    let mut css = kit::colours(dark);
    for (number, colours) in SHADES.into_iter().enumerate() {
        let _ = write!(css, "--l{}:{};", number + 1, pick(colours));
    }
    css
}

/// CSS rules for `.m0`…, which set `--m` to the segment's colour, and `.l1`…
pub(crate) fn rules() -> String {
    let segments = (0..COLOURS.len()).map(|number| format!(".m{number}{{--m:var(--m{number})}}"));
    let shades = (1..=SHADES.len()).map(|level| format!(".l{level}{{background:var(--l{level})}}"));
    segments.chain(shades).collect()
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
    use crate::kit::tests::contrast;

    #[test]
    fn text_can_be_read_on_every_shade_and_shades_differ() {
        let style = kit::BASE;
        assert!(style.contains(&format!("--text:{}", TEXT.0)) && style.contains("--background:#ffffff"));
        for (light, dark) in SHADES {
            assert!(contrast(light, TEXT.0) >= 4.5 && contrast(dark, TEXT.1) >= 4.5, "{light} {dark}");
        }
        for pair in SHADES.windows(2) {
            assert!(contrast(pair[0].0, pair[1].0) > 1.02 && contrast(pair[0].1, pair[1].1) > 1.08, "{pair:?}");
        }
    }

    #[test]
    fn letters_never_repeat() {
        assert_eq!([0, 25, 26, 701, 702].map(letters), ["A", "Z", "AA", "ZZ", "AAA"]);
    }
}
