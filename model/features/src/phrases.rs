//! Sentences, captions and header paths compared with a question by stems, runs of words, runs of
//! letters and years. A cell is compared through the paths of its headers; its value is not looked at.

mod matches;

use std::collections::HashMap;

use tabsegnet_graph::{Node, NodeKind};

use crate::dates::{self, Day};
use crate::stems::{letter_runs, stems};
use crate::strings::Strings;

use matches::YearSet;
pub(crate) use matches::{BestOverlaps, Match, PhraseMatches};

/// Longest run of words that counts.
const LONGEST_RUN: usize = 6;
/// Distinct runs of four letters of a question that are looked at.
const RUNS: usize = 256;

crate::blocks! {
    /// Of a node: its headers' paths together (or its text), its row path, its column path.
    pub(crate) struct NodePhrases {
        headers: Overlaps = "headers.{}",
        row: Overlaps = "row.{}",
        column: Overlaps = "column.{}",
        headers_years: Years = "headers.year_{}",
        row_years: Years = "row.year_{}",
        column_years: Years = "column.year_{}",
        table: TableYears = "table.{}",
    }
}

crate::blocks! {
    /// An overlap as it is, less the best of the document, and less the best of the table or of all sentences.
    pub(crate) struct Overlaps {
        own: Overlap = "{}",
        of_document: Overlap = "{}.of_document",
        of_table: Overlap = "{}.of_table",
    }
}

crate::features! {
    /// What one or two phrases of so much idf and so many runs of letters have in common with a question.
    pub(crate) struct Overlap(query: &PhraseMatches, found: &Match, idf: f32, runs: u32) {
        stems_of_question: query.share(found.stems),
        stems_of_text: if idf > 0.0 { query.weight(found.stems) / idf } else { 0.0 },
        run_of_words: f32::from(found.run) / LONGEST_RUN as f32,
        letters_of_text: found.letters() / runs.max(1) as f32,
        letters_of_question: query.share_of_letters(found),
        stems: found.stems.count_ones() as f32 / 10.0,
    }
}

crate::features! {
    /// How a phrase's years stand to those of a question.
    pub(crate) struct Years(years: YearSet) {
        equal: years.has(YearSet::EQUAL),
        within: years.has(YearSet::WITHIN),
        year_before: years.has(YearSet::BEFORE),
        year_after: years.has(YearSet::AFTER),
        first: years.has(YearSet::FIRST),
        last: years.has(YearSet::LAST),
        none: 1.0 - years.has(YearSet::ANY),
        other: years.has(YearSet::ANY) * (1.0 - years.has(YearSet::NEAR)),
    }
}

crate::features! {
    /// Of a table's share of the question's years, and the greatest of all tables'.
    pub(crate) struct TableYears(share: f32, best: f32) {
        years: share,
        years_of_document = "years.of_document": share - best,
    }
}

/// What a node's headers, its row path and its column path have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paths<T> {
    pub(crate) headers: T,
    pub(crate) row: T,
    pub(crate) column: T,
}

/// A distinct sentence, caption or path.
#[derive(Debug, Clone, Default)]
pub(crate) struct Phrase {
    /// In order, by number.
    pub(crate) stems: Vec<u32>,
    /// Distinct, rising.
    pub(crate) distinct: Vec<u32>,
    /// Runs of four letters, by number, rising.
    runs: Vec<u32>,
    pub(crate) years: Vec<u16>,
    pub(crate) days: Vec<Day>,
}

/// The phrases of a document and the stems in them.
#[derive(Debug, Clone)]
pub(crate) struct Phrases {
    /// The first is empty.
    pub(crate) phrases: Vec<Phrase>,
    /// Two phrases a node: of its row and its column; the first alone for sentences and captions.
    pub(crate) of_node: Vec<[u32; 2]>,
    /// Whether the first phrase of a node is its row's.
    has_paths: Vec<bool>,
    by_stem: HashMap<String, u32>,
    by_run: HashMap<[u8; 4], u32>,
    /// ln(1 + (N − n + ½) / (n + ½)) of each stem over the document's sentences and headers.
    pub(crate) idf: Vec<f32>,
    /// Sentences and headers.
    units: u32,
    /// Whether a stem is of letters.
    is_word: Vec<bool>,
    /// Sum of idf over the distinct stems of a node's phrases, and their distinct runs of letters.
    sizes: Vec<(f32, u32)>,
    /// Distinct years of each table.
    pub(crate) table_years: Vec<Vec<u16>>,
}

impl Phrases {
    pub(crate) fn new(nodes: &[Node], strings: &Strings) -> Self {
        let mut numbers: HashMap<u32, u32> = HashMap::from([(0, 0)]);
        let mut texts = vec![0_u32];
        let mut number = |string: u32| {
            *numbers.entry(string).or_insert_with(|| {
                texts.push(string);
                texts.len() as u32 - 1
            })
        };
        let with_paths = |kind| matches!(kind, NodeKind::Cell | NodeKind::RowHeader | NodeKind::ColumnHeader);
        let has_paths: Vec<bool> = nodes.iter().map(|node| with_paths(node.kind)).collect();
        let of_node = strings.nodes.iter().zip(&has_paths).map(|(node, has_paths)| match has_paths {
            true => [number(node.parts.row), number(node.parts.column)],
            false => [number(node.parts.own), 0],
        });
        let of_node: Vec<[u32; 2]> = of_node.collect();

        let (mut by_stem, mut by_run) = (HashMap::new(), HashMap::new());
        let phrases = texts.iter().map(|&text| Phrase::new(strings.text(text), &mut by_stem, &mut by_run));
        let phrases: Vec<Phrase> = phrases.collect();
        let mut holding = vec![0_u32; by_stem.len()];
        let mut units = 0;
        let is_unit = |kind| matches!(kind, NodeKind::Passage | NodeKind::RowHeader | NodeKind::ColumnHeader);
        for (_, own) in nodes.iter().zip(&of_node).filter(|(node, _)| is_unit(node.kind)) {
            units += 1;
            own.iter().flat_map(|&phrase| &phrases[phrase as usize].distinct).for_each(|&s| holding[s as usize] += 1);
        }
        let mut is_word = vec![false; by_stem.len()];
        for (stem, &number) in &by_stem {
            let stem: &String = stem;
            is_word[number as usize] = !stem.starts_with(|c: char| c.is_ascii_digit());
        }
        let mut known = Self {
            units,
            is_word,
            phrases,
            has_paths,
            by_stem,
            by_run,
            idf: holding.into_iter().map(|holding| idf(holding, units)).collect(),
            sizes: Vec::new(),
            table_years: vec![Vec::new(); strings.tables],
            of_node,
        };
        known.sizes = known.of_node.iter().map(|&node| known.size(node)).collect();
        for (node, table) in known.of_node.iter().zip(strings.tables_of_nodes()) {
            if let Some(table) = table {
                let years = node.iter().flat_map(|&phrase| &known.phrases[phrase as usize].years);
                known.table_years[table].extend(years);
            }
        }
        for years in &mut known.table_years {
            years.sort_unstable();
            years.dedup();
        }
        known
    }

    /// Sum of idf over the distinct stems of two phrases, and their distinct runs of letters.
    fn size(&self, [row, column]: [u32; 2]) -> (f32, u32) {
        let (row, column) = (&self.phrases[row as usize], &self.phrases[column as usize]);
        let mut total = 0.0;
        merge(&row.distinct, &column.distinct, |stem| total += self.idf[stem as usize]);
        let mut runs = 0;
        merge(&row.runs, &column.runs, |_| runs += 1);
        (total, runs)
    }

    /// The idf of a stem that stands in one sentence or header.
    pub(crate) fn greatest_idf(&self) -> f32 {
        idf(1, self.units.max(1))
    }

    /// Whether a stem is of letters, no number.
    pub(crate) fn is_word(&self, stem: u32) -> bool {
        self.is_word[stem as usize]
    }

    /// The distinct years of a node, rising.
    pub(crate) fn years_of(&self, node: usize) -> Vec<u16> {
        let mut years: Vec<u16> =
            self.of_node[node].iter().flat_map(|&phrase| &self.phrases[phrase as usize].years).copied().collect();
        years.sort_unstable();
        years.dedup();
        years
    }

    /// The days of a node's phrases.
    pub(crate) fn days_of(&self, node: usize) -> impl Iterator<Item = Day> {
        self.of_node[node].iter().flat_map(|&phrase| &self.phrases[phrase as usize].days).copied()
    }

    /// For each node a number from 1 of its kind and its paths together; 0 of one without paths.
    pub(crate) fn paths(&self, nodes: &[Node]) -> Vec<u32> {
        let mut numbers: HashMap<(NodeKind, [u32; 2]), u32> = HashMap::new();
        let of_node = |((node, has_paths), paths): ((&Node, &bool), &[u32; 2])| {
            if !has_paths || *paths == [0, 0] {
                return 0;
            }
            let next = numbers.len() as u32 + 1;
            *numbers.entry((node.kind, *paths)).or_insert(next)
        };
        nodes.iter().zip(&self.has_paths).zip(&self.of_node).map(of_node).collect()
    }

    /// The number of a stem; nothing of one that the document does not have.
    pub(crate) fn stem(&self, stem: &str) -> Option<u32> {
        self.by_stem.get(stem).copied()
    }

    /// The distinct stems of a node, rising.
    pub(crate) fn stems_of(&self, node: usize) -> Vec<u32> {
        let [row, column] = self.of_node[node].map(|phrase| self.phrases[phrase as usize].distinct.as_slice());
        let mut stems = Vec::with_capacity(row.len() + column.len());
        merge(row, column, |stem| stems.push(stem));
        stems
    }

    /// A node's row and column phrase, the empty ones for sentences and captions.
    pub(crate) fn paths_of(&self, node: usize) -> [&Phrase; 2] {
        self.path_numbers(node).map(|phrase| &self.phrases[phrase as usize])
    }

    fn path_numbers(&self, node: usize) -> [u32; 2] {
        if self.has_paths[node] { self.of_node[node] } else { [0, 0] }
    }
}

/// ln(1 + (N − n + ½) / (n + ½)) of what `holding` of `units` texts hold.
pub(crate) fn idf(holding: u32, units: u32) -> f32 {
    let (holding, units) = (holding as f32, units as f32);
    (1.0 + (units - holding + 0.5).max(0.0) / (holding + 0.5)).ln()
}

/// Calls `each` with every number of two rising lists, once.
pub(crate) fn merge(a: &[u32], b: &[u32], mut each: impl FnMut(u32)) {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    loop {
        let next = match (a.peek(), b.peek()) {
            (Some(&&x), Some(&&y)) => x.min(y),
            (Some(&&x), None) | (None, Some(&&x)) => x,
            (None, None) => return,
        };
        a.next_if(|&&x| x == next);
        b.next_if(|&&x| x == next);
        each(next);
    }
}

impl Phrase {
    fn new(text: &str, by_stem: &mut HashMap<String, u32>, by_run: &mut HashMap<[u8; 4], u32>) -> Self {
        let mut of_stem = |stem| {
            let next = by_stem.len() as u32;
            *by_stem.entry(stem).or_insert(next)
        };
        let stems: Vec<u32> = stems(text).into_iter().map(&mut of_stem).collect();
        let mut of_run = |run| {
            let next = by_run.len() as u32;
            *by_run.entry(run).or_insert(next)
        };
        let mut distinct = stems.clone();
        let mut runs: Vec<u32> = letter_runs(text).into_iter().map(&mut of_run).collect();
        for list in [&mut distinct, &mut runs] {
            list.sort_unstable();
            list.dedup();
        }
        Self { stems, distinct, runs, years: dates::years(text), days: dates::days(text) }
    }
}
