//! The plot of recall@k against k.

use tabsegnet_page::kit::{class, escape};

use super::palette::{dash, marker};
use super::text::{fit, width};
use crate::report::{MethodReport, Report};

/// Where the axis is marked, and the curves carry markers.
pub(super) const TICKS: [usize; 9] = [1, 2, 3, 5, 7, 10, 20, 30, 50];

/// Font size of labels; the style sheet has the same.
const FONT: f64 = 13.0;
const LABEL_HEIGHT: f64 = 17.0;
const LEFT: f64 = 40.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 44.0;

/// A plot of given size, in the units of its view box.
pub(super) struct Curves<'a> {
    report: &'a Report,
    /// Distinguishes the ids of several plots in a page.
    id: &'static str,
    width: f64,
    height: f64,
    /// Right end of the curves; the labels stand behind it.
    right: f64,
    /// Ends of the axis of recall.
    low: f64,
    high: f64,
}

impl<'a> Curves<'a> {
    /// A plot `width` wide with room for names of up to `label_width`.
    pub(super) fn new(report: &'a Report, id: &'static str, size: (f64, f64), label_width: f64) -> Self {
        let values = || report.methods.iter().flat_map(|method| method.recall_curve.iter().copied());
        let (low, high) = values().fold((1.0_f64, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        // Tenths that enclose the values, at least one of them.
        let high = ((high * 10.0).ceil() / 10.0).max(0.1);
        let low = ((low * 10.0).floor() / 10.0).min(high - 0.1);
        let longest = report.methods.iter().map(|method| width(&method.name, FONT)).fold(0.0, f64::max);
        let labels = TOP + BOTTOM + LABEL_HEIGHT * report.methods.len() as f64;
        Self {
            report,
            id,
            width: size.0,
            height: size.1.max(labels),
            right: size.0 - longest.min(label_width) - 40.0,
            low,
            high,
        }
    }

    /// The plot as an SVG element.
    pub(super) fn svg(&self) -> String {
        let Self { report, id, width, height, .. } = self;
        let curves: String =
            report.methods.iter().enumerate().map(|(number, method)| self.curve(number, method)).collect();
        format!(
            r#"<svg class="plot {id}" viewBox="0 0 {width} {height}" role="img" aria-labelledby="{id}-title {id}-desc"><title id="{id}-title">Recall by number of nodes read</title><desc id="{id}-desc">{}</desc>{}{curves}{}</svg>"#,
            escape(&self.description()),
            self.axes(),
            self.labels(),
        )
    }

    fn description(&self) -> String {
        let ends = self.report.methods.iter().map(|method| {
            let at = |k: usize| method.recall_curve.get(k - 1).copied().unwrap_or_default();
            format!("{}: {:.3} at 1, {:.3} at 10, {:.3} at 50", method.name, at(1), at(10), at(50))
        });
        let ends: Vec<String> = ends.collect();
        format!("One line a method, mean recall for k from 1 to 50. {}.", ends.join("; "))
    }

    /// k on a logarithmic axis: the first ranks are what a reader sees.
    fn x(&self, k: usize) -> f64 {
        LEFT + 8.0 + (self.right - LEFT - 8.0) * (k as f64).ln() / 50f64.ln()
    }

    fn y(&self, recall: f64) -> f64 {
        let share = (recall - self.low) / (self.high - self.low);
        self.height - BOTTOM - share * (self.height - TOP - BOTTOM)
    }

    fn axes(&self) -> String {
        let (left, right, bottom) = (LEFT, self.right, self.height - BOTTOM);
        let mut axes = String::new();
        let steps = ((self.high - self.low) * 10.0).round() as usize;
        for step in 0..=steps {
            let recall = self.low + step as f64 / 10.0;
            let y = self.y(recall);
            axes += &format!(
                r#"<line class="grid" x1="{left}" x2="{right:.1}" y1="{y:.1}" y2="{y:.1}"/><text class="tick" x="{:.1}" y="{:.1}" text-anchor="end">{recall:.1}</text>"#,
                left - 6.0,
                y + 4.5
            );
        }
        for k in TICKS {
            let x = self.x(k);
            axes += &format!(
                r#"<line class="grid" x1="{x:.1}" x2="{x:.1}" y1="{TOP}" y2="{:.1}"/><text class="tick" x="{x:.1}" y="{:.1}" text-anchor="middle">{k}</text>"#,
                bottom + 4.0,
                bottom + 18.0
            );
        }
        axes += &format!(
            r#"<text class="axis" x="4" y="14">mean recall@k</text><text class="axis" x="{:.1}" y="{:.1}" text-anchor="middle">k, nodes read (logarithmic)</text>"#,
            f64::midpoint(left, right),
            self.height - 6.0
        );
        axes
    }

    fn curve(&self, number: usize, method: &MethodReport) -> String {
        let points: Vec<String> = (1..)
            .zip(&method.recall_curve)
            .map(|(k, recall)| format!("{:.1} {:.1}", self.x(k), self.y(*recall)))
            .collect();
        let markers: String = TICKS
            .into_iter()
            .filter_map(|k| Some(marker(number, self.x(k), self.y(*method.recall_curve.get(k - 1)?), 3.6)))
            .collect();
        format!(
            r#"<g class="{}"><title>{}</title><path class="curve" d="M{}" stroke-dasharray="{}"/>{markers}</g>"#,
            class(number),
            escape(&method.name),
            points.join("L"),
            dash(number)
        )
    }

    /// Names at the ends of the curves, moved apart where these lie close, each with a line to its
    /// curve's end.
    fn labels(&self) -> String {
        let mut ends: Vec<(usize, &MethodReport, f64)> = self
            .report
            .methods
            .iter()
            .enumerate()
            .filter_map(|(number, method)| Some((number, method, self.y(*method.recall_curve.last()?))))
            .collect();
        ends.sort_by(|(.., a), (.., b)| a.total_cmp(b));
        let wanted: Vec<f64> = ends.iter().map(|(.., y)| *y).collect();
        let places = spread(&wanted, LABEL_HEIGHT, TOP, self.height - BOTTOM);
        let label = |((number, method, end), y): ((usize, &MethodReport, f64), f64)| {
            let x = self.right;
            format!(
                r#"<g class="{}"><path class="leader" d="M{:.1} {end:.1}L{:.1} {y:.1}"/>{}<text class="name" x="{:.1}" y="{:.1}">{}</text></g>"#,
                class(number),
                x + 4.0,
                x + 18.0,
                marker(number, x + 24.0, y, 3.6),
                x + 32.0,
                y + 4.5,
                escape(&fit(&method.name, self.width - x - 32.0, FONT))
            )
        };
        ends.into_iter().zip(places).map(label).collect()
    }
}

/// Moves rising places at least `gap` apart and into `top..=bottom` (as far as they fit), each no
/// further than its neighbours make it.
fn spread(wanted: &[f64], gap: f64, top: f64, bottom: f64) -> Vec<f64> {
    // Neighbours that would overlap join into a block that stands at the mean of their wishes.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    let clamp = |centre: f64, count: usize| {
        let half = gap * (count - 1) as f64 / 2.0;
        centre.min(bottom - half).max(top + half)
    };
    for &place in wanted {
        let (mut centre, mut count) = (clamp(place, 1), 1);
        while let Some(&(above, others)) = blocks.last()
            && centre - above < gap * (count + others) as f64 / 2.0
        {
            blocks.pop();
            let sum = above * others as f64 + centre * count as f64;
            count += others;
            centre = clamp(sum / count as f64, count);
        }
        blocks.push((centre, count));
    }
    let places =
        |(centre, count): (f64, usize)| (0..count).map(move |i| centre + gap * (i as f64 - (count - 1) as f64 / 2.0));
    blocks.into_iter().flat_map(places).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn labels_that_do_not_meet_stay_where_they_are() {
        assert_eq!(spread(&[10.0, 50.0], 17.0, 0.0, 100.0), [10.0, 50.0]);
        assert_eq!(spread(&[49.0, 51.0], 20.0, 0.0, 100.0), [40.0, 60.0]);
        assert_eq!(spread(&[99.0, 100.0], 20.0, 0.0, 100.0), [80.0, 100.0]);
    }

    proptest! {
        #[test]
        fn labels_never_overlap_nor_leave_the_plot(mut wanted in prop::collection::vec(0.0..100.0f64, 0..10)) {
            wanted.sort_by(f64::total_cmp);
            let places = spread(&wanted, 10.0, 0.0, 100.0);
            prop_assert_eq!(places.len(), wanted.len());
            prop_assert!(places.array_windows().all(|[a, b]| b - a >= 10.0 - 1e-9));
            prop_assert!(places.iter().all(|y| (-1e-9..=100.0 + 1e-9).contains(y)));
        }
    }
}
