//! Horizontal bars with intervals, in groups.

use tabsegnet_page::kit::{class, escape};

use super::numbers;
use super::palette::marker;
use super::text::{fit, width};
use crate::significance::Estimate;

const FONT: f64 = 13.0;
const WIDTH: f64 = 460.0;
const ROW: f64 = 21.0;
const HEADING: f64 = 26.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 26.0;
/// Room for the number behind the bars.
const VALUE: f64 = 40.0;
/// Widest that names may get.
const NAMES: f64 = 170.0;

/// Bars that belong together.
pub(super) struct BarGroup<'a> {
    /// Stands above the bars; nothing if empty.
    pub heading: String,
    /// Name and estimate of each method, in the order of the report.
    pub bars: Vec<(&'a str, Estimate)>,
}

/// One bar a method for each group, as an SVG element. `id` is unique in the page, `title` says
/// what the bars measure. The axis starts at 0: the length of a bar is its value.
pub(super) fn svg(id: &str, title: &str, groups: &[BarGroup]) -> String {
    let bars = || groups.iter().flat_map(|group| &group.bars);
    let names = bars().map(|(name, _)| width(name, FONT)).fold(0.0, f64::max).min(NAMES);
    let largest = bars().map(|(_, estimate)| estimate.high).fold(0.1, f64::max);
    let end = (largest * 10.0).ceil() / 10.0;
    let scale = Scale { left: names + 28.0, right: WIDTH - VALUE - 8.0, end };
    let mut y = TOP;
    let mut rows = String::new();
    for group in groups {
        if !group.heading.is_empty() {
            y += HEADING;
            rows += &format!(r#"<text class="heading" x="0" y="{:.1}">{}</text>"#, y - 8.0, escape(&group.heading));
        }
        for (number, (name, estimate)) in group.bars.iter().enumerate() {
            rows += &bar(number, name, estimate, y, names, &scale);
            y += ROW;
        }
    }
    format!(
        r#"<svg class="plot" viewBox="0 0 {WIDTH} {:.0}" role="img" aria-labelledby="{id}-title {id}-desc"><title id="{id}-title">{}</title><desc id="{id}-desc">{}</desc>{}{rows}</svg>"#,
        y + BOTTOM,
        escape(title),
        escape(&description(groups)),
        scale.axis(y)
    )
}

struct Scale {
    left: f64,
    right: f64,
    /// The value at the right end.
    end: f64,
}

impl Scale {
    fn x(&self, value: f64) -> f64 {
        self.left + (self.right - self.left) * value / self.end
    }

    fn axis(&self, bottom: f64) -> String {
        let step = if self.end > 0.5 { 0.2 } else { 0.1 };
        let ticks = (0..).map(|tick| f64::from(tick) * step).take_while(|value| *value <= self.end + 1e-9);
        ticks
            .map(|value| {
                let x = self.x(value);
                format!(
                    r#"<line class="grid" x1="{x:.1}" x2="{x:.1}" y1="{TOP}" y2="{:.1}"/><text class="tick" x="{x:.1}" y="{:.1}" text-anchor="middle">{value:.1}</text>"#,
                    bottom + 4.0,
                    bottom + 18.0
                )
            })
            .collect()
    }
}

fn bar(number: usize, name: &str, estimate: &Estimate, y: f64, names: f64, scale: &Scale) -> String {
    let middle = y + ROW / 2.0;
    let [low, mean, high] = [estimate.low, estimate.mean, estimate.high].map(|value| scale.x(value));
    let (cap_top, cap_bottom) = (middle - 4.0, middle + 4.0);
    format!(
        r#"<g class="{}"><title>{} {} {}</title><text class="name" x="0" y="{:.1}">{}</text>{}<rect class="bar" x="{:.1}" y="{:.1}" width="{:.1}" height="{:.1}"/><path class="interval" d="M{low:.1} {cap_top:.1}V{cap_bottom:.1}M{low:.1} {middle:.1}H{high:.1}M{high:.1} {cap_top:.1}V{cap_bottom:.1}"/><text class="value" x="{WIDTH}" y="{:.1}" text-anchor="end">{}</text></g>"#,
        class(number),
        escape(name),
        numbers::measure(estimate.mean),
        numbers::interval(estimate),
        middle + 4.5,
        escape(&fit(name, names + 1.0, FONT)),
        marker(number, names + 16.0, middle, 3.6),
        scale.left,
        y + 4.0,
        mean - scale.left,
        ROW - 8.0,
        middle + 4.5,
        numbers::measure(estimate.mean)
    )
}

fn description(groups: &[BarGroup]) -> String {
    let group = |group: &BarGroup| {
        let bar = |(name, estimate): &(&str, Estimate)| {
            format!("{name} {} {}", numbers::measure(estimate.mean), numbers::interval(estimate))
        };
        let bars: Vec<String> = group.bars.iter().map(bar).collect();
        let colon = if group.heading.is_empty() { "" } else { ": " };
        format!("{}{colon}{}.", group.heading, bars.join("; "))
    };
    let groups: Vec<String> = groups.iter().map(group).collect();
    format!("Bars of means with 95 % intervals. {}", groups.join(" "))
}
