//! Plots of lines: values from 0 to 1 over places along an axis.

use tabsegnet_page::kit::{class, escape};

use super::palette::{dash, marker, swatch};
use super::text::{fit, width};

/// Font size of labels; the style sheet has the same.
const FONT: f64 = 13.0;
const LABEL_HEIGHT: f64 = 17.0;
const LEFT: f64 = 40.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 44.0;

/// What a plot shows.
pub(super) struct Plot<'a> {
    pub title: String,
    /// The same in words, with figures.
    pub description: String,
    /// What goes upwards and what goes along.
    pub axes: [&'static str; 2],
    /// Places along, from 0 to 1, with what is written there.
    pub ticks: Vec<(f64, String)>,
    pub lines: Vec<Line<'a>>,
}

/// A line of a plot.
pub(super) struct Line<'a> {
    /// Stands at its end, as far as there is room.
    pub name: &'a str,
    /// What the legend says of it.
    pub legend: String,
    /// Of its colour, dash and marker.
    pub number: usize,
    /// Places along, from 0 to 1, and values; a line without any is in the legend alone.
    pub points: Vec<(f64, f64)>,
    /// Numbers of the points that carry a marker.
    pub marked: Vec<usize>,
}

impl Plot<'_> {
    /// The plot as an SVG element of a class, with a view box of given size and room for names of up to `label_width`. `id` is
    /// unique in the page.
    pub(super) fn svg(&self, id: &str, class: &str, size: (f64, f64), label_width: f64) -> String {
        Drawing::new(self, size, label_width).svg(id, class)
    }

    /// What the lines are, as an HTML list.
    pub(super) fn legend(&self) -> String {
        let item = |line: &Line<'_>| format!("<li>{}{}</li>", swatch(line.number), escape(&line.legend));
        format!("<ul class=\"legend\">{}</ul>", self.lines.iter().map(item).collect::<String>())
    }
}

/// A plot of given size, in the units of its view box.
struct Drawing<'a> {
    plot: &'a Plot<'a>,
    width: f64,
    height: f64,
    /// Right end of the axis; the labels stand behind it.
    right: f64,
    /// Ends of the axis of values.
    low: f64,
    high: f64,
}

impl<'a> Drawing<'a> {
    fn new(plot: &'a Plot<'a>, size: (f64, f64), label_width: f64) -> Self {
        let values = plot.lines.iter().flat_map(|line| &line.points).map(|(_, value)| *value);
        let (low, high) = values.fold((1.0_f64, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        // Tenths that enclose the values, at least one of them.
        let high = ((high * 10.0).ceil() / 10.0).max(0.1);
        let low = ((low * 10.0).floor() / 10.0).min(high - 0.1);
        let longest = plot.lines.iter().map(|line| width(line.name, FONT)).fold(0.0, f64::max);
        let labels = TOP + BOTTOM + LABEL_HEIGHT * plot.lines.len() as f64;
        Self {
            plot,
            width: size.0,
            height: size.1.max(labels),
            right: size.0 - longest.min(label_width) - 40.0,
            low,
            high,
        }
    }

    fn svg(&self, id: &str, class: &str) -> String {
        let Self { plot, width, height, .. } = self;
        let curves: String = plot.lines.iter().map(|line| self.curve(line)).collect();
        format!(
            r#"<svg class="{class}" viewBox="0 0 {width} {height}" role="img" aria-labelledby="{id}-title {id}-desc"><title id="{id}-title">{}</title><desc id="{id}-desc">{}</desc>{}{curves}{}</svg>"#,
            escape(&plot.title),
            escape(&plot.description),
            self.axes(),
            self.labels(),
        )
    }

    fn x(&self, place: f64) -> f64 {
        LEFT + 8.0 + (self.right - LEFT - 8.0) * place
    }

    fn y(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        self.height - BOTTOM - share * (self.height - TOP - BOTTOM)
    }

    fn axes(&self) -> String {
        let (left, right, bottom) = (LEFT, self.right, self.height - BOTTOM);
        let mut axes = String::new();
        let steps = ((self.high - self.low) * 10.0).round() as usize;
        for step in 0..=steps {
            let value = self.low + step as f64 / 10.0;
            let y = self.y(value);
            axes += &format!(
                r#"<line class="grid" x1="{left}" x2="{right:.1}" y1="{y:.1}" y2="{y:.1}"/><text class="tick" x="{:.1}" y="{:.1}" text-anchor="end">{value:.1}</text>"#,
                left - 6.0,
                y + 4.5
            );
        }
        for (place, text) in &self.plot.ticks {
            let x = self.x(*place);
            axes += &format!(
                r#"<line class="grid" x1="{x:.1}" x2="{x:.1}" y1="{TOP}" y2="{:.1}"/><text class="tick" x="{x:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
                bottom + 4.0,
                bottom + 18.0,
                escape(text)
            );
        }
        let [upwards, along] = self.plot.axes;
        axes += &format!(
            r#"<text class="axis" x="4" y="14">{upwards}</text><text class="axis" x="{:.1}" y="{:.1}" text-anchor="middle">{along}</text>"#,
            f64::midpoint(left, right),
            self.height - 6.0
        );
        axes
    }

    fn curve(&self, line: &Line<'_>) -> String {
        if line.points.is_empty() {
            return String::new();
        }
        let points: Vec<String> =
            line.points.iter().map(|(place, value)| format!("{:.1} {:.1}", self.x(*place), self.y(*value))).collect();
        let markers: String = line
            .marked
            .iter()
            .filter_map(|&point| {
                let (place, value) = line.points.get(point)?;
                Some(marker(line.number, self.x(*place), self.y(*value), 3.6))
            })
            .collect();
        format!(
            r#"<g class="{}"><title>{}</title><path class="curve" d="M{}" stroke-dasharray="{}"/>{markers}</g>"#,
            class(line.number),
            escape(line.name),
            points.join("L"),
            dash(line.number)
        )
    }

    /// Names at the ends of the curves, moved apart where these lie close, each with a line to its
    /// curve's end.
    fn labels(&self) -> String {
        let mut ends: Vec<(&Line<'_>, f64, f64)> = self
            .plot
            .lines
            .iter()
            .filter_map(|line| {
                let (place, value) = line.points.last()?;
                Some((line, self.x(*place), self.y(*value)))
            })
            .collect();
        ends.sort_by(|(.., a), (.., b)| a.total_cmp(b));
        let wanted: Vec<f64> = ends.iter().map(|(.., y)| *y).collect();
        let places = spread(&wanted, LABEL_HEIGHT, TOP, self.height - BOTTOM);
        let label = |((line, end_x, end), y): ((&Line<'_>, f64, f64), f64)| {
            let x = self.right;
            // One that ends before the others is led to the right first.
            let to_right = match end_x < x - 0.5 {
                true => format!(
                    r#"<path class="leader" d="M{:.1} {end:.1}H{:.1}" stroke-dasharray="1 4"/>"#,
                    end_x + 4.0,
                    x + 4.0
                ),
                false => String::new(),
            };
            format!(
                r#"<g class="{}">{to_right}<path class="leader" d="M{:.1} {end:.1}L{:.1} {y:.1}"/>{}<text class="name" x="{:.1}" y="{:.1}">{}</text></g>"#,
                class(line.number),
                x + 4.0,
                x + 18.0,
                marker(line.number, x + 24.0, y, 3.6),
                x + 32.0,
                y + 4.5,
                escape(&fit(line.name, self.width - x - 32.0, FONT))
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
