//! Features of what each column does, and of the question as a whole.

use std::collections::BTreeSet;

use super::{CUES, Reading};
use crate::schema_graph::ColumnKind;

pub(super) fn bucket(probability: f32) -> &'static str {
    match probability {
        p if p > 0.95 => "9",
        p if p > 0.8 => "8",
        p if p > 0.5 => "5",
        p if p > 0.2 => "2",
        p if p > 0.05 => "1",
        _ => "0",
    }
}

impl Reading<'_> {
    fn cue_before(&self, at: usize) -> &str {
        let before = self.marks.get(..at).unwrap_or_default().iter().rev();
        before
            .into_iter()
            .find(|mark| CUES.split_whitespace().any(|cue| cue == mark.as_str()))
            .map_or("-", String::as_str)
    }

    /// Features of what a column does.
    pub fn of_column(&self, column: usize) -> Vec<String> {
        let mut features = vec!["bias".to_owned()];
        let (Some(node), Some(mention)) = (self.graph.columns().get(column), self.columns.get(column)) else {
            return features;
        };
        let mut add = |name: String| features.push(name);
        let kind = match (node.is_key, node.kind) {
            (true, _) => "key",
            _ if self.dates.contains(&column) => "date",
            (_, ColumnKind::Text) => "text",
            (_, ColumnKind::Number) => "number",
            (_, ColumnKind::Date) => "date",
            (_, ColumnKind::Other) => "other",
        };
        let said = bucket(self.mentioned(column));
        let table = bucket(self.table_odds(node.table));
        let coverage = match mention.coverage {
            c if c > 0.99 && !mention.spans.is_empty() => "whole",
            c if c > 0.99 => "all",
            c if c > 0.4 => "half",
            c if c > 0.0 => "part",
            _ => "none",
        };
        add(format!("said {said}"));
        add(format!("table {table}"));
        add(format!("said {said} table {table}"));
        add(format!("coverage {coverage}"));
        add(format!("kind {kind}"));
        add(format!("kind {kind} said {said}"));
        let opening: Vec<&str> = (0..2).map(|at| self.mark(Some(at))).collect();
        add(format!("opening {}", opening.join(" ")));
        add(format!("opening {} said {said}", opening.join(" ")));
        let value = self.linked.values.get(&column);
        let text = value.is_some_and(|values| values.iter().any(|value| !value.is_number))
            || self.implied.iter().any(|implied| implied.column == column);
        let number = value.is_some_and(|values| values.iter().any(|value| value.is_number));
        add(format!("value {text} {number}"));
        add(format!("value {text} {number} {coverage}"));
        let place = self.graph.tables().get(node.table).map_or(0, |table| column - table.columns.start);
        add(format!("place {} {kind}", place.min(3)));
        let start = mention.spans.first().map(|span| span.0).or_else(|| mention.words.first().copied());
        let table_mention = self.tables.get(node.table);
        let table_at = table_mention.filter(|m| m.coverage > 0.99).and_then(|m| m.words.first().copied());
        // Whether another column has more of the same words.
        let rival = self.columns.iter().enumerate().any(|(other, of)| {
            other != column
                && of.coverage > 0.4
                && self.mentioned(other) > self.mentioned(column)
                && of.words.iter().any(|word| mention.words.contains(word))
        });
        add(format!("rival {rival} {coverage}"));
        add(format!("rival {rival} said {said}"));
        // The name of what a question wants, which goes without saying.
        let is_name = self.is_label(column);
        // The title of a person is no name.
        let is_other = |last: &&str| *last != "titl" || is_name;
        if let Some(last) = self.stems(column).last().filter(is_other) {
            add(format!("last {last} {}", bucket(self.mentioned(column))));
        }
        if let Some(at) = table_at {
            let first = self.first_table() == Some(node.table);
            let cue = self.cue_before(at);
            add(format!("table at {} first {first}", at.min(6)));
            add(format!("table at {} name {is_name} {kind}", at.min(6)));
            add(format!("table first {first} name {is_name} said {said}"));
            add(format!("table before {} name {is_name}", self.mark(at.checked_sub(1))));
            add(format!("table cue {cue} name {is_name}"));
            add(format!("table cue {cue} name {is_name} said {said}"));
        } else {
            add(format!("table silent name {is_name} said {said}"));
        }
        if let Some(at) = start.filter(|_| mention.coverage > 0.4) {
            let end = mention.spans.first().map_or(at + 1, |span| span.1);
            let (before, second) = (self.mark(at.checked_sub(1)), self.mark(at.checked_sub(2)));
            let (after, next) = (self.mark(Some(end)), self.mark(Some(end + 1)));
            let cue = self.cue_before(at);
            let quarter = 4 * at / self.marks.len().max(1);
            add(format!("before {before}"));
            add(format!("before {second} {before}"));
            add(format!("after {after}"));
            add(format!("after {after} {next}"));
            add(format!("cue {cue}"));
            add(format!("cue {cue} {kind}"));
            add(format!("cue {cue} after {after}"));
            add(format!("cue {cue} {coverage}"));
            add(format!("quarter {quarter}"));
            add(format!("quarter {quarter} {coverage} {kind}"));
            add(format!("at {}", at.min(8)));
            let earlier = self.columns.iter().filter(|other| other.coverage > 0.99).filter(|other| {
                let first = other.spans.first().map(|span| span.0).or_else(|| other.words.first().copied());
                first.is_some_and(|first| first < at)
            });
            add(format!("earlier {}", earlier.count().min(4)));
            for word in self.marks.iter().take(at).collect::<BTreeSet<_>>() {
                if CUES.split_whitespace().any(|cue| cue == word) {
                    add(format!("has before {word}"));
                }
            }
            for word in self.marks.iter().skip(end).collect::<BTreeSet<_>>() {
                if CUES.split_whitespace().any(|cue| cue == word) {
                    add(format!("has after {word}"));
                }
            }
        }
        features
    }

    /// How many columns are listed before anything else is said of them.
    pub fn listed(&self) -> usize {
        const ENDS: [&str; 14] = [
            "whose", "where", "that", "with", "who", "have", "order", "sort", "for", "by", "in", "from", "when", "than",
        ];
        let end = self.marks.iter().skip(2).position(|mark| ENDS.contains(&mark.as_str()));
        let end = end.map_or(self.marks.len(), |at| at + 2);
        let said = self.columns.iter().enumerate().filter(|(column, _)| self.mentioned(*column) > 0.3);
        let starts = said.filter_map(|(_, mention)| mention.spans.first()).filter(|span| span.0 < end);
        starts.map(|span| span.1).collect::<BTreeSet<_>>().len()
    }

    /// The table that is named first.
    fn first_table(&self) -> Option<usize> {
        let named = self.tables.iter().enumerate().filter(|(_, mention)| mention.coverage > 0.99);
        named.filter_map(|(table, mention)| Some((*mention.words.first()?, table))).min().map(|(_, table)| table)
    }

    /// Features of the question as a whole: its words and pairs of words.
    pub fn of_question(&self) -> Vec<String> {
        let mut features = vec!["bias".to_owned()];
        let mut words: Vec<&str> = self.marks.iter().map(String::as_str).filter(|mark| !mark.is_empty()).collect();
        words.dedup_by(|a, b| a == b && *a == "@");
        let mut seen = BTreeSet::new();
        for word in &words {
            if seen.insert((*word).to_owned()) {
                features.push((*word).to_owned());
            }
        }
        let ends = std::iter::once("^").chain(words.iter().copied()).chain(["$"]).collect::<Vec<_>>();
        for pair in ends.windows(2) {
            let pair = pair.join(" ");
            if seen.insert(pair.clone()) {
                features.push(pair);
            }
        }
        for triple in ends.windows(3) {
            let triple = triple.join(" ");
            if seen.insert(triple.clone()) {
                features.push(triple);
            }
        }
        let values = words.iter().filter(|word| **word == "@").count();
        features.push(format!("values {}", values.min(3)));
        features.push(format!("numbers {}", self.numbers.len().min(3)));
        let said = self.linked.columns.iter().filter(|column| column.mentioned > 0.5).count();
        features.push(format!("columns {}", said.min(5)));
        let tables = self.linked.sets.first().map_or(0, |set| set.tree.tables.len());
        features.push(format!("tables {}", tables.min(4)));
        features
    }
}
