//! What sets methods apart in plots: colour, dash and marker, so that none is needed alone.

use tabsegnet_page::kit::{COLOURS, class};

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

/// CSS rules for `.m0` and on: `color` for whatever is drawn with `currentColor`.
pub(super) fn rules() -> String {
    (0..COLOURS.len()).map(|number| format!(".m{number}{{color:var(--m{number})}}")).collect()
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

    #[test]
    fn many_methods_look_different() {
        let looks: HashSet<_> = (0..56).map(|m| (class(m), dash(m), marker(m, 0.0, 0.0, 1.0))).collect();
        assert_eq!(looks.len(), 56);
    }
}
