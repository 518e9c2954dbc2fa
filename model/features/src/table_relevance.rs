//! Which of a document's tables its sentences are about: what a table and the sentences have in common
//! that no other table has. No question changes it.

mod compared;

use std::collections::HashSet;

use tabsegnet_graph::NodeKind;

use crate::dates::{DAYS_OF_A_YEAR, Day};
use crate::marks::{announces, ends_in_colon};
use crate::order::View;
use crate::schema::{Schema, flag};
use crate::vectors::{Vectors, dot};
use compared::{Counts, Mentioned, Table, alone};

crate::blocks! {
    /// What the table scorer sees of a table.
    pub(crate) struct TableInputs {
        mentions: Mentions = "{}",
        years: TableYears = "{}",
        place: TablePlace = "{}",
        below_best: Mentions = "{}.below_best",
    }
}

crate::blocks! {
    /// What the sentences mention of a table.
    pub(crate) struct Mentions {
        numbers: Numbers = "{}",
        words: Words = "{}",
        cosines: Cosines = "{}",
        years: Years = "{}",
        days: Days = "{}",
    }
}

crate::features! {
    /// Numbers of the table that the sentences mention, as they stand or computed from them.
    pub(crate) struct Numbers {
        numbers,
        share_of_numbers,
        numbers_of_its_own,
        rounded_numbers,
        rounded_numbers_of_its_own,
        percents,
        differences,
        percents_of_its_own,
    }
}

crate::features! {
    /// Words that table and sentences share, by idf. "before" and "after" are the nearest sentences.
    pub(crate) struct Words {
        share_of_words,
        share_of_sentences,
        words_of_its_own,
        share_of_words_of_its_own,
        rarest_word_of_its_own,
        before,
        after,
        before_of_its_own,
        after_of_its_own,
        rare_words,
    }
}

crate::features! {
    /// Cosines of caption, row headers, column headers and the whole table to sentences.
    pub(crate) struct Cosines {
        before = "before.cosine",
        after = "after.cosine",
        row = "row.cosine",
        rows = "rows.cosine",
        best = "best.cosine",
        mean = "cosine",
        column = "column.cosine",
        best_three = "best_three.cosine",
    }
}

crate::features! {
    /// How the table's years stand to those that the sentences mention.
    pub(crate) struct Years {
        last_year,
        share_of_years,
        share_of_text_years,
    }
}

crate::features! {
    /// Days and years of the table that the sentences mention.
    pub(crate) struct Days {
        days,
        share_of_days,
        days_of_its_own,
        first_day,
        last_day,
        share_of_days_of_the_year,
        first_year,
        latest_year,
    }
}

crate::features! {
    /// The table's years beside those of other tables and of the sentence before it.
    pub(crate) struct TableYears {
        has_year,
        last_year_of_tables,
        years_before,
    }
}

crate::features! {
    /// What the sentences before and after the table look like, and where it stands.
    pub(crate) struct TablePlace {
        colon_before,
        announced,
        after_sentence,
        gap,
        tables_of_sentence,
        numbers_after,
        numbers_before,
        rows,
        columns,
        caption_before,
        place,
        words_before,
        unit_before,
    }
}

/// Sentences before and after a table whose vectors are compared with it.
const NEARBY: usize = 24;
/// Least share of the greatest idf at which a word is rare.
const RARE: f32 = 0.7;
/// Nodes between a table and the sentence before it beyond which more do not count.
const FARTHEST: usize = 50;

/// Everything that a table's inputs come from.
struct Relevance<'a> {
    view: View<'a>,
    vectors: &'a Vectors<'a>,
    /// Nodes of each table.
    members: Vec<Vec<usize>>,
    tables: Vec<Table>,
    mentioned: Mentioned,
    /// The last year of all tables.
    latest: Option<u16>,
}

/// `[tables, TableInputs::COUNT]`
pub(crate) fn table_inputs(view: &View<'_>, vectors: &Vectors<'_>) -> Vec<f32> {
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); view.strings.tables];
    for (node, table) in view.strings.tables_of_nodes().enumerate() {
        if let Some(table) = table {
            members[table].push(node);
        }
    }
    let mentioned = view.mentioned();
    let relevance = Relevance {
        view: *view,
        vectors,
        tables: members.iter().map(|members| view.table(members, &mentioned)).collect(),
        members,
        mentioned,
        latest: view.phrases.table_years.iter().filter_map(|years| years.last()).max().copied(),
    };
    let tables = &relevance.tables;
    let counts = Counts::new(view, tables);
    let mentions: Vec<Mentions> = (0..tables.len()).map(|table| relevance.mentions(table, &counts)).collect();
    let best = Mentions::greatest(mentions.iter().copied());
    let mut values = vec![0.0; tables.len() * TableInputs::COUNT];
    for ((table, mentions), out) in mentions.into_iter().enumerate().zip(values.chunks_exact_mut(TableInputs::COUNT)) {
        let (years, place) = (relevance.table_years(table), relevance.place(table));
        TableInputs { mentions, years, place, below_best: mentions.below(best) }.write(out);
    }
    values
}

impl Relevance<'_> {
    fn mentions(&self, table: usize, counts: &Counts<'_>) -> Mentions {
        Mentions {
            numbers: self.numbers(table, counts),
            words: self.words(table, counts),
            cosines: self.cosines(table),
            years: self.years(table),
            days: self.days(table, counts),
        }
    }

    fn numbers(&self, number: usize, counts: &Counts<'_>) -> Numbers {
        let (own, table) = (&self.view.numbers.of_table[number], &self.tables[number]);
        let found: Vec<&String> = own.intersection(&self.mentioned.numbers).collect();
        let rounded: Vec<&String> = table.starts.iter().collect();
        let percents: Vec<&String> = table.changes.iter().collect();
        let differences = table.differences.difference(own).count();
        Numbers {
            numbers: (found.len() as f32).ln_1p(),
            share_of_numbers: found.len() as f32 / own.len().max(1) as f32,
            numbers_of_its_own: alone(&found, &counts.numbers).ln_1p(),
            rounded_numbers: (rounded.len() as f32).ln_1p(),
            rounded_numbers_of_its_own: alone(&rounded, &counts.starts).ln_1p(),
            percents: (percents.len() as f32).ln_1p(),
            differences: (differences as f32).ln_1p(),
            percents_of_its_own: alone(&percents, &counts.changes).ln_1p(),
        }
    }

    fn words(&self, number: usize, counts: &Counts<'_>) -> Words {
        let View { phrases, order, .. } = self.view;
        let (table, mentioned) = (&self.tables[number], &self.mentioned);
        let greatest = phrases.greatest_idf();
        let idf = |word: &u32| phrases.idf[*word as usize] / greatest;
        let is_alone = |word: &&u32| counts.words.get(word) == Some(&1);
        // Sums over sorted words: the order of a set would change the last bits.
        let sum = |words: &mut dyn Iterator<Item = &u32>| {
            let mut words: Vec<u32> = words.copied().collect();
            words.sort_unstable();
            words.iter().map(idf).sum::<f32>()
        };
        let share = |part: f32, whole: f32| if whole > 0.0 { part / whole } else { 0.0 };
        let both: HashSet<u32> = table.words.intersection(&mentioned.words).copied().collect();
        let of_both = sum(&mut both.iter());
        let (own, all_own) = (sum(&mut both.iter().filter(is_alone)), sum(&mut table.words.iter().filter(is_alone)));
        // The share of a sentence that the table has, and what of it no other table has.
        let near = |sentence: Option<usize>| {
            let Some(sentence) = sentence else { return (0.0, 0.0) };
            let words: HashSet<u32> = self.view.words_of(sentence).collect();
            let found: HashSet<u32> = words.intersection(&table.words).copied().collect();
            (share(sum(&mut found.iter()), sum(&mut words.iter())), sum(&mut found.iter().filter(is_alone)))
        };
        let [(before, before_of_its_own), (after, after_of_its_own)] = order.near[number].map(near);
        Words {
            share_of_words: share(of_both, sum(&mut table.words.iter())),
            share_of_sentences: share(of_both, sum(&mut mentioned.words.iter())),
            words_of_its_own: own.ln_1p(),
            share_of_words_of_its_own: if all_own > 0.0 { own / all_own } else { 0.5 },
            rarest_word_of_its_own: both.iter().filter(is_alone).map(idf).fold(0.0, f32::max),
            before,
            after,
            before_of_its_own,
            after_of_its_own,
            rare_words: (both.iter().filter(|word| idf(word) > RARE).count() as f32).ln_1p(),
        }
    }

    fn cosines(&self, number: usize) -> Cosines {
        let View { nodes, strings, order, .. } = self.view;
        let (first, last) = order.ends[number];
        let node_vector = |node: usize| self.vectors.of_node(node);
        let near =
            |sentence: Option<usize>| sentence.map_or(0.0, |sentence| dot(&node_vector(first), &node_vector(sentence)));
        let [before, after] = order.near[number].map(near);
        let cosines = Cosines { before, after, ..Cosines::default() };
        let place = order.passages.partition_point(|&node| node < first);
        let nearby = order.passages.get(place.saturating_sub(NEARBY)..).unwrap_or_default().iter();
        let sentences: Vec<Vec<f32>> = nearby
            .take(2 * NEARBY)
            .filter(|&&node| node < first || node > last)
            .map(|&node| node_vector(node))
            .collect();
        if sentences.is_empty() {
            return cosines;
        }
        let greatest = |values: &[f32]| values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len().max(1) as f32;
        let to_sentences =
            |vector: &[f32]| sentences.iter().map(|sentence| dot(vector, sentence)).collect::<Vec<f32>>();
        // The greatest cosine of each header of a kind.
        let headers = |kind: NodeKind| -> Vec<f32> {
            let members = self.members[number].iter();
            let headers = members.filter(|&&node| nodes[node].kind == kind && nodes[node].text.len() > 2);
            headers.map(|&node| greatest(&to_sentences(&node_vector(node)))).collect()
        };
        let (rows, columns) = (headers(NodeKind::RowHeader), headers(NodeKind::ColumnHeader));
        let of_any = |headers: &[f32], of: &dyn Fn(&[f32]) -> f32| if headers.is_empty() { 0.0 } else { of(headers) };
        let mut whole = to_sentences(self.vectors.of_string(strings.nodes[first].parts.table));
        let (best, mean_of_whole) = (greatest(&whole), mean(&whole));
        whole.sort_by(|a, b| b.total_cmp(a));
        Cosines {
            row: of_any(&rows, &greatest),
            rows: of_any(&rows, &mean),
            best,
            mean: mean_of_whole,
            column: of_any(&columns, &greatest),
            best_three: mean(whole.get(..3).unwrap_or(&whole)),
            ..cosines
        }
    }

    fn years(&self, number: usize) -> Years {
        let (years, mentioned) = (&self.view.phrases.table_years[number], &self.mentioned.years);
        let Some(&last) = years.last() else { return Years::default() };
        let of_text = mentioned.iter().max().copied().unwrap_or(last);
        let both = years.iter().filter(|year| mentioned.contains(year)).count() as f32;
        Years {
            last_year: (f32::from(last) - f32::from(of_text)).clamp(-4.0, 4.0),
            share_of_years: both / years.len() as f32,
            share_of_text_years: both / mentioned.len().max(1) as f32,
        }
    }

    fn days(&self, number: usize, counts: &Counts<'_>) -> Days {
        let (table, mentioned) = (&self.tables[number], &self.mentioned);
        let found: Vec<&Day> = table.days.intersection(&mentioned.days).collect();
        let count = table.days.len().max(1) as f32;
        let of_the_year =
            |day: &&Day| mentioned.days.iter().any(|mentioned| mentioned % DAYS_OF_A_YEAR == **day % DAYS_OF_A_YEAR);
        let has_day = |day: Option<&Day>| flag(day.is_some_and(|day| mentioned.days.contains(day)));
        let has_year = |year: Option<&u16>| flag(year.is_some_and(|year| mentioned.years.contains(year)));
        let years = &self.view.phrases.table_years[number];
        Days {
            days: (found.len() as f32).ln_1p(),
            share_of_days: found.len() as f32 / count,
            days_of_its_own: alone(&found, &counts.days).ln_1p(),
            first_day: has_day(table.days.iter().min()),
            last_day: has_day(table.days.iter().max()),
            share_of_days_of_the_year: table.days.iter().filter(of_the_year).count() as f32 / count,
            first_year: has_year(years.first()),
            latest_year: has_year(years.last()),
        }
    }

    fn table_years(&self, number: usize) -> TableYears {
        let View { phrases, order, .. } = self.view;
        let years = &phrases.table_years[number];
        let Some(&last) = years.last() else { return TableYears::default() };
        let [before, _] = order.near[number];
        let before = before.map_or_else(Vec::new, |sentence| phrases.years_of(sentence));
        let after = |latest: u16| (f32::from(last) - f32::from(latest)).clamp(-5.0, 0.0);
        TableYears {
            has_year: 1.0,
            last_year_of_tables: self.latest.map_or(0.0, after),
            years_before: years.iter().filter(|year| before.contains(year)).count() as f32 / years.len() as f32,
        }
    }

    fn place(&self, number: usize) -> TablePlace {
        let View { nodes, strings, order, numbers, phrases } = self.view;
        let [before, after] = order.near[number];
        let (first, _) = order.ends[number];
        let text = before.map_or("", |sentence| nodes[sentence].text.as_str());
        let lower = text.to_lowercase();
        let count = |sentence: Option<usize>| sentence.map_or(0.0, |node| numbers.of_node[node].len() as f32);
        let headers = self.members[number].iter();
        let headers: Vec<String> = headers
            .filter(|&&node| matches!(nodes[node].kind, NodeKind::Caption | NodeKind::ColumnHeader))
            .map(|&node| nodes[node].text.to_lowercase())
            .collect();
        let unit = ["in millions", "in thousands", "in billions"]
            .iter()
            .find(|unit| headers.iter().any(|header| header.contains(**unit)));
        let sentence: HashSet<u32> =
            before.map_or_else(HashSet::new, |sentence| self.view.words_of(sentence).collect());
        let mut in_caption: Vec<u32> = self.view.words_of(first).filter(|stem| sentence.contains(stem)).collect();
        in_caption.sort_unstable();
        in_caption.dedup();
        let (rows, cols) = order.size[number];
        let place = order.passages.partition_point(|&node| node < first);
        TablePlace {
            colon_before: flag(ends_in_colon(text)),
            announced: flag(announces(text)),
            after_sentence: flag(first > 0 && strings.table[first - 1].is_none()),
            gap: before.map_or(FARTHEST, |sentence| (first - sentence - 1).min(FARTHEST)) as f32,
            tables_of_sentence: order.near.iter().filter(|[other, _]| *other == before).count() as f32,
            numbers_after: count(after),
            numbers_before: count(before),
            rows: rows as f32,
            columns: cols as f32,
            caption_before: in_caption.iter().map(|&stem| phrases.idf[stem as usize] / phrases.greatest_idf()).sum(),
            place: place as f32 / order.passages.len().max(1) as f32,
            words_before: text.split_whitespace().count() as f32,
            unit_before: flag(unit.is_some_and(|unit| lower.contains(unit))),
        }
    }
}
