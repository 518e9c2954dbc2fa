//! What a benchmark holds, beside what the paper says of its own.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use tabsegnet_document::numbers::grouped;

use super::{Benchmark, Cut, Part, Task};

/// Counts and means of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Statistics {
    /// Tables of the corpus.
    pub tables: usize,
    /// Tables that they were cut from.
    pub sources: usize,
    /// Sub-tables that are whole, cut by rows, cut by columns.
    pub cuts: [usize; 3],
    /// Sub-tables without a caption.
    pub without_caption: usize,
    /// Mean rows of a table, without the header.
    pub mean_rows: f64,
    /// Mean columns.
    pub mean_columns: f64,
    /// Questions.
    pub questions: usize,
    /// Questions with 1, 2, 3 and more gold tables.
    pub gold: [usize; 4],
    /// Statements that are refuted, and that are supported.
    pub labels: [usize; 2],
    /// Questions of the part to tune on, and to measure on.
    pub parts: [usize; 2],
    /// Source tables with a question in the same.
    pub sources_with_questions: [usize; 2],
}

impl Statistics {
    /// Of a benchmark.
    pub fn of(benchmark: &Benchmark) -> Self {
        let mut found =
            Self { tables: benchmark.tables.len(), questions: benchmark.questions.len(), ..Self::default() };
        let mut sources: HashMap<&str, bool> = HashMap::new();
        let [mut rows, mut columns] = [0, 0];
        for table in &benchmark.tables {
            sources.insert(&table.source_table, false);
            rows += table.record.rows.len();
            columns += table.record.column_headers.len();
            found.without_caption += usize::from(table.record.caption.is_empty());
            let [whole, by_rows, by_columns] = &mut found.cuts;
            *match table.cut {
                Cut::Whole => whole,
                Cut::Rows => by_rows,
                Cut::Columns => by_columns,
            } += 1;
        }
        for question in &benchmark.questions {
            let [one, two, three, more] = &mut found.gold;
            *match question.record.tables.len() {
                0 | 1 => one,
                2 => two,
                3 => three,
                _ => more,
            } += 1;
            let [refuted, supported] = &mut found.labels;
            match question.label {
                Some(true) => *supported += 1,
                Some(false) => *refuted += 1,
                None => {}
            }
            let part = usize::from(Part::of(&question.source_table) == Part::Test);
            let add = |counts: &mut [usize; 2]| counts.iter_mut().skip(part).take(1).for_each(|count| *count += 1);
            add(&mut found.parts);
            if sources.insert(&question.source_table, true) != Some(true) {
                add(&mut found.sources_with_questions);
            }
        }
        found.sources = sources.len();
        let tables = found.tables.max(1) as f64;
        (found.mean_rows, found.mean_columns) = (rows as f64 / tables, columns as f64 / tables);
        found
    }

    /// As Markdown, beside the paper's Table 1 (arXiv 2504.01346, v3), then the rest and what was left out.
    pub fn render(&self, task: Task, tally: &BTreeMap<&'static str, usize>) -> String {
        let paper = match task {
            Task::Verification => "34,351 | 15,106 | 5.8 | 5.7",
            Task::Single => "17,229 | 6,106 | 7.4 | 4.5",
            Task::Multi => "5,523 | 2,573 | 13.8 | 7.3",
        };
        let [whole, rows, columns] = self.cuts;
        let [one, two, three, more] = self.gold;
        let mut text = format!(
            "| {} | tables | questions | mean rows | mean columns |\n|---|---:|---:|---:|---:|\n\
             | built | {} | {} | {:.1} | {:.1} |\n| Zou et al. 2025, Table 1 | {paper} |\n\n",
            task.name(),
            thousands(self.tables),
            thousands(self.questions),
            self.mean_rows,
            self.mean_columns,
        );
        let mut line = |what: &str, value: String| {
            let _ = writeln!(text, "- {what}: {value}");
        };
        let list = |values: &[usize]| values.iter().map(|value| thousands(*value)).collect::<Vec<_>>().join(" / ");
        line("source tables", thousands(self.sources));
        line("sub-tables whole / by rows / by columns", list(&[whole, rows, columns]));
        line("sub-tables without a caption", thousands(self.without_caption));
        line("questions with 1 / 2 / 3 gold tables", list(&[one, two, three]));
        if more > 0 {
            line("questions with more", thousands(more));
        }
        if self.labels != [0, 0] {
            line("statements refuted / supported", list(&self.labels));
        }
        line("questions to tune on / to measure on", list(&self.parts));
        line("source tables with questions, to tune on / to measure on", list(&self.sources_with_questions));
        for (what, number) in tally {
            line(what, thousands(*number));
        }
        text
    }
}

fn thousands(number: usize) -> String {
    grouped(number as u64)
}
