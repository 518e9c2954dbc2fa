//! What sets methods apart in plots: colour, dash and marker, so that none is needed alone.

/// Colours by theme: (on white, on the dark background). After Okabe and Ito's palette for
/// colour-blind readers, darkened or lightened until each has contrast 3 with its background.
const COLOURS: [(&str, &str); 8] = [
    ("#0068a8", "#56a9ec"),
    ("#c14b00", "#ff9a5c"),
    ("#00785a", "#3ccb9f"),
    ("#a8477f", "#e79ac8"),
    ("#8a6500", "#e8c547"),
    ("#2585bf", "#a6dcff"),
    ("#5b616b", "#a9b0bc"),
    ("#1a1a1a", "#ffffff"),
];

const DASHES: [&str; 5] = ["none", "8 3", "2.5 2.5", "10 3 2.5 3", "5 2"];

/// Marker outlines, centred on 0 and of about the same area, for radius 1.
const MARKERS: [&str; 7] = [
    "M1 0A1 1 0 1 1 -1 0A1 1 0 1 1 1 0Z",
    "M-.9 -.9H.9V.9H-.9Z",
    "M0 -1.2L1.15 .85H-1.15Z",
    "M0 -1.3L1.1 0L0 1.3L-1.1 0Z",
    "M0 1.2L1.15 -.85H-1.15Z",
    "M-.4 -1.2H.4V-.4H1.2V.4H.4V1.2H-.4V.4H-1.2V-.4H-.4Z",
    "M0 -1.2L1.15 -.35L.7 1H-.7L-1.15 -.35Z",
];

/// CSS custom properties `--m0` and on with the colours of the light or of the dark theme.
pub(super) fn properties(dark: bool) -> String {
    let colour = |(on_white, on_dark)| if dark { on_dark } else { on_white };
    let property = |(number, pair)| format!("--m{number}:{};", colour(pair));
    COLOURS.into_iter().enumerate().map(property).collect()
}

/// CSS rules for `.m0` and on: `color` for whatever is drawn with `currentColor`.
pub(super) fn rules() -> String {
    (0..COLOURS.len()).map(|number| format!(".m{number}{{color:var(--m{number})}}")).collect()
}

/// Class with the colour of a method, by its number in the report.
pub(super) fn class(method: usize) -> String {
    format!("m{}", method % COLOURS.len())
}

/// Dash pattern of a method's line.
pub(super) fn dash(method: usize) -> &'static str {
    pick(&DASHES, method)
}

/// A method's marker at (x, y), in the current colour.
pub(super) fn marker(method: usize, x: f64, y: f64, radius: f64) -> String {
    let outline = pick(&MARKERS, method);
    format!(r#"<path class="marker" d="{outline}" transform="translate({x:.1} {y:.1}) scale({radius})"/>"#)
}

/// A line with a marker, for tables and legends; the name stands beside it.
pub(super) fn swatch(method: usize) -> String {
    format!(
        r#"<svg class="swatch {}" viewBox="0 0 30 12" aria-hidden="true"><line x1="0" x2="30" y1="6" y2="6" stroke-dasharray="{}"/>{}</svg>"#,
        class(method),
        dash(method),
        marker(method, 15.0, 6.0, 4.2)
    )
}

fn pick(from: &[&'static str], method: usize) -> &'static str {
    from.iter().copied().cycle().nth(method % from.len().max(1)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

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
    fn colours_stand_out_in_both_themes() {
        for (on_white, on_dark) in COLOURS {
            assert!(contrast(on_white, "#ffffff") >= 4.0, "{on_white}");
            assert!(contrast(on_dark, "#15181d") >= 4.0, "{on_dark}");
        }
        assert!(include_str!("style.css").contains("--background:#15181d"));
    }

    #[test]
    fn many_methods_look_different() {
        let looks: HashSet<_> = (0..56).map(|m| (class(m), dash(m), marker(m, 0.0, 0.0, 1.0))).collect();
        assert_eq!(looks.len(), 56);
    }
}
