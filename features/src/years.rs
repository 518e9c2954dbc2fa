//! How the years of a node stand to those of a question.

use crate::strings::Strings;

pub(crate) const NAMES: [&str; 11] = [
    "equal",
    "within",
    "year_before",
    "year_after",
    "other",
    "none",
    "question_none",
    "question_one",
    "last_of_table",
    "first_of_table",
    "share_of_question",
];

/// The years of each node: a cell's are those of its headers.
#[derive(Debug, Clone)]
pub(crate) struct Years {
    of_node: Vec<Vec<u16>>,
    /// Whether a node has the last, and the first year of its table.
    ends: Vec<[bool; 2]>,
}

impl Years {
    pub(crate) fn new(strings: &Strings, is_cell: &[bool]) -> Self {
        let of_node = strings.nodes.iter().zip(is_cell).map(|(node, &is_cell)| {
            let parts = if is_cell { &node.parts[1..3] } else { &node.parts[..1] };
            let words = parts.iter().flat_map(|&part| strings.words_of(part));
            let mut years: Vec<u16> = words.filter_map(|&word| strings.known[word as usize].year).collect();
            years.sort_unstable();
            years.dedup();
            years
        });
        let of_node: Vec<Vec<u16>> = of_node.collect();
        let mut range: Vec<Option<(u16, u16)>> = vec![None; strings.tables];
        let tables = || strings.table.iter().map(|table| table.map(|table| table as usize));
        for (years, table) in of_node.iter().zip(tables()) {
            if let (Some(table), Some(&first), Some(&last)) = (table, years.first(), years.last()) {
                let (low, high) = range[table].unwrap_or((first, last));
                range[table] = Some((low.min(first), high.max(last)));
            }
        }
        let ends = of_node.iter().zip(tables()).map(|(years, table)| match table.and_then(|table| range[table]) {
            Some((first, last)) => [years.contains(&last), years.contains(&first)],
            None => [false; 2],
        });
        Self { ends: ends.collect(), of_node }
    }

    /// `asked` are the question's years, rising.
    pub(crate) fn write(&self, node: usize, asked: &[u16], out: &mut [f32]) {
        let years = &self.of_node[node];
        if years.is_empty() {
            out[5] = 1.0;
        } else if let (Some(&first), Some(&last)) = (asked.first(), asked.last()) {
            let any = |test: &dyn Fn(u16) -> bool| f32::from(u8::from(years.iter().any(|&year| test(year))));
            out[0] = any(&|year| asked.contains(&year));
            out[1] = any(&|year| year > first && year < last);
            out[2] = any(&|year| year + 1 == first);
            out[3] = any(&|year| year == last + 1);
            out[4] = f32::from(u8::from(out[..4].iter().all(|&value| value == 0.0)));
            out[10] = asked.iter().filter(|year| years.contains(year)).count() as f32 / asked.len() as f32;
        }
        out[6] = f32::from(u8::from(asked.is_empty()));
        out[7] = f32::from(u8::from(asked.len() == 1));
        for (out, end) in out[8..10].iter_mut().zip(self.ends[node]) {
            *out = f32::from(u8::from(end));
        }
    }
}
