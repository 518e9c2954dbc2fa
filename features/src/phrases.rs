//! Sentences, captions and header paths compared with a question by stems, runs of words, runs of
//! letters and years. A cell is compared through the paths of its headers; its value is not looked at.

use std::collections::HashMap;

use rayon::prelude::*;
use tabsegnet_data::graph::{Node, NodeKind};

use crate::dates;
use crate::question::Question;
use crate::stems::{letter_runs, stems};
use crate::strings::Strings;

/// What a phrase has in common with a question.
const SHARED: [&str; 6] =
    ["stems_of_question", "stems_of_text", "run_of_words", "letters_of_text", "letters_of_question", "stems"];
/// How a phrase's years stand to those of a question.
const YEARS: [&str; 8] = ["equal", "within", "year_before", "year_after", "first", "last", "none", "other"];
/// The phrases of a node: its headers' paths together (or its text), its row path, its column path.
const PARTS: [&str; 3] = ["headers", "row", "column"];
/// Longest run of words that counts.
const LONGEST_RUN: usize = 6;
/// Distinct runs of four letters of a question that are looked at.
const RUNS: usize = 256;

/// [`SHARED`] of each part, and less the best of the document and of the table.
pub(crate) const SHARED_COUNT: usize = 3 * PARTS.len() * SHARED.len();
/// [`YEARS`] of each part.
pub(crate) const YEARS_COUNT: usize = PARTS.len() * YEARS.len();

/// [`SHARED`] of each part of a node.
pub(crate) type Shared = [[f32; SHARED.len()]; PARTS.len()];

/// Names of the features, in order.
pub(crate) fn names() -> Vec<String> {
    let mut names = Vec::with_capacity(SHARED_COUNT + YEARS_COUNT + 2);
    for part in PARTS {
        for kind in ["", ".of_document", ".of_table"] {
            names.extend(SHARED.iter().map(|name| format!("{part}.{name}{kind}")));
        }
    }
    for part in PARTS {
        names.extend(YEARS.iter().map(|name| format!("{part}.year_{name}")));
    }
    names.extend(["table.years".to_owned(), "table.years.of_document".to_owned()]);
    names
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
            true => [number(node.parts[1]), number(node.parts[2])],
            false => [number(node.parts[0]), 0],
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
        for (node, table) in known.of_node.iter().zip(&strings.table) {
            if let Some(table) = table {
                let years = node.iter().flat_map(|&phrase| &known.phrases[phrase as usize].years);
                known.table_years[*table as usize].extend(years);
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

    /// A node's row and column phrase, the empty ones for sentences and captions.
    pub(crate) fn paths_of(&self, node: usize) -> [&Phrase; 2] {
        let paths = if self.has_paths[node] { self.of_node[node] } else { [0, 0] };
        paths.map(|phrase| &self.phrases[phrase as usize])
    }
}

fn idf(holding: u32, units: u32) -> f32 {
    let (holding, units) = (holding as f32, units as f32);
    (1.0 + (units - holding + 0.5).max(0.0) / (holding + 0.5)).ln()
}

/// Calls `each` with every number of two rising lists, once.
fn merge(a: &[u32], b: &[u32], mut each: impl FnMut(u32)) {
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
        Self { stems, distinct, runs, years: dates::years(text) }
    }
}

/// What a phrase has of a question, as sets of its stems, letters and years.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Match {
    /// Distinct stems of the question, by bit.
    pub(crate) stems: u64,
    letters: [u64; RUNS / 64],
    run: u8,
    /// By [`YEARS`]; the last two stand for "has a year" and "has one near the question's".
    years: u8,
}

/// How many stems of the question a match may hold.
pub(crate) const STEMS: usize = 64;

/// A question within a document.
pub(crate) struct Asked {
    /// Of each phrase.
    pub(crate) matches: Vec<Match>,
    /// Idf of each distinct stem of the question; 0 of those that the document does not have.
    weights: Vec<f32>,
    /// Sums of weights for each value of each byte of a set of stems.
    sums: Vec<[f32; 256]>,
    letters: usize,
    years: Vec<u16>,
}

impl Asked {
    pub(crate) fn new(question: &Question, phrases: &Phrases) -> Self {
        let mut distinct: Vec<&String> = Vec::new();
        for stem in question.stems() {
            if distinct.len() < STEMS && !distinct.contains(&stem) {
                distinct.push(stem);
            }
        }
        let known = |stem: &String| phrases.by_stem.get(stem).map(|&number| number as usize);
        let weights: Vec<f32> =
            distinct.iter().map(|stem| known(stem).map_or(0.0, |number| phrases.idf[number])).collect();
        // For each stem of the document its bit, and where it stands in the question.
        let (mut bits, mut places) = (HashMap::new(), HashMap::new());
        for (bit, stem) in distinct.iter().enumerate() {
            if let Some(number) = known(stem) {
                bits.insert(number as u32, 1_u64 << bit);
            }
        }
        for (place, stem) in question.stems().iter().enumerate().take(128) {
            if let Some(number) = known(stem) {
                *places.entry(number as u32).or_insert(0_u128) |= 1 << place;
            }
        }
        let mut letters = HashMap::new();
        let runs = letter_runs(question.text());
        for (bit, run) in runs.iter().take(RUNS).enumerate() {
            if let Some(&number) = phrases.by_run.get(run) {
                letters.insert(number, bit);
            }
        }
        let years = dates::years(question.text());
        let one = |phrase: &Phrase| {
            let mut found = Match::default();
            for stem in &phrase.distinct {
                found.stems |= bits.get(stem).copied().unwrap_or_default();
            }
            for &bit in phrase.runs.iter().filter_map(|run| letters.get(run)) {
                found.letters[bit / 64] |= 1 << (bit % 64);
            }
            found.run = longest_run(&phrase.stems, &places);
            found.years = of_years(&phrase.years, &years);
            found
        };
        Self {
            matches: phrases.phrases.iter().map(one).collect(),
            sums: sums(&weights),
            weights,
            letters: runs.len().min(RUNS),
            years,
        }
    }

    /// Sum of the idf of a set of the question's stems, over that of all that the document has.
    pub(crate) fn share(&self, stems: u64) -> f32 {
        let total = self.weight(u64::MAX);
        if total > 0.0 { self.weight(stems) / total } else { 0.0 }
    }

    fn weight(&self, stems: u64) -> f32 {
        let bytes = stems.to_le_bytes();
        self.sums.iter().zip(bytes).map(|(sums, byte)| sums[usize::from(byte)]).sum()
    }

    /// The greatest idf of a set of the question's stems.
    pub(crate) fn greatest(&self, stems: u64) -> f32 {
        let held = self.weights.iter().enumerate().filter(|(bit, _)| stems >> bit & 1 == 1);
        held.fold(0.0, |greatest, (_, &weight)| greatest.max(weight))
    }

    /// What both phrases of a node have of the question.
    pub(crate) fn of_node(&self, phrases: &Phrases, node: usize) -> Match {
        let [row, column] = phrases.of_node[node].map(|phrase| &self.matches[phrase as usize]);
        let mut both = *row;
        both.stems |= column.stems;
        both.letters.iter_mut().zip(column.letters).for_each(|(both, other)| *both |= other);
        both.run = both.run.max(column.run);
        both.years |= column.years;
        both
    }

    /// [`SHARED`] of a match whose phrases have so much idf and so many runs of letters.
    fn shared(&self, found: &Match, (idf, runs): (f32, u32)) -> [f32; SHARED.len()] {
        let letters: u32 = found.letters.iter().map(|letters| letters.count_ones()).sum();
        [
            self.share(found.stems),
            if idf > 0.0 { self.weight(found.stems) / idf } else { 0.0 },
            f32::from(found.run) / LONGEST_RUN as f32,
            letters as f32 / runs.max(1) as f32,
            letters as f32 / self.letters.max(1) as f32,
            found.stems.count_ones() as f32 / 10.0,
        ]
    }

    /// [`SHARED`] of the three phrases of each node.
    pub(crate) fn shared_of_nodes(&self, phrases: &Phrases) -> Vec<Shared> {
        let alone: Vec<[f32; SHARED.len()]> = (0..self.matches.len() as u32)
            .map(|phrase| self.shared(&self.matches[phrase as usize], phrases.size([phrase, 0])))
            .collect();
        let nodes = (0..phrases.of_node.len()).into_par_iter().with_min_len(256);
        let of_node = |node: usize| {
            let headers = self.shared(&self.of_node(phrases, node), phrases.sizes[node]);
            let paths = if phrases.has_paths[node] { phrases.of_node[node] } else { [0, 0] };
            [headers, alone[paths[0] as usize], alone[paths[1] as usize]]
        };
        nodes.map(of_node).collect()
    }

    /// [`YEARS`] of the three phrases of a node.
    pub(crate) fn write_years(&self, phrases: &Phrases, node: usize, out: &mut [f32]) {
        if self.years.is_empty() {
            return;
        }
        let paths = if phrases.has_paths[node] { phrases.of_node[node] } else { [0, 0] };
        let [row, column] = paths.map(|phrase| self.matches[phrase as usize].years);
        let all = self.of_node(phrases, node).years;
        for (out, years) in out.chunks_exact_mut(YEARS.len()).zip([all, row, column]) {
            let flag = |bit: usize| f32::from(years >> bit & 1);
            for (bit, out) in out.iter_mut().enumerate().take(6) {
                *out = flag(bit);
            }
            out[6] = 1.0 - flag(HAS_YEAR);
            out[7] = flag(HAS_YEAR) * (1.0 - flag(IS_NEAR));
        }
    }

    /// Whether a node's headers have a year of the question; nothing where the question has none.
    pub(crate) fn has_year_of(&self, phrases: &Phrases, node: usize) -> Option<bool> {
        (!self.years.is_empty()).then(|| self.of_node(phrases, node).years & 1 == 1)
    }

    /// The share of the question's years that each table has.
    pub(crate) fn years_of_tables(&self, phrases: &Phrases) -> Vec<f32> {
        let count = self.years.len().max(1) as f32;
        let held = |years: &Vec<u16>| self.years.iter().filter(|year| years.contains(year)).count() as f32;
        phrases.table_years.iter().map(|years| held(years) / count).collect()
    }
}

/// The greatest values of a document, of each of its tables and of its sentences.
pub(crate) struct BestShared {
    of_document: Shared,
    of_table: Vec<Shared>,
    of_sentences: Shared,
}

impl BestShared {
    pub(crate) fn of(shared: &[Shared], strings: &Strings) -> Self {
        const LOWEST: Shared = [[f32::NEG_INFINITY; SHARED.len()]; PARTS.len()];
        let raise = |best: &mut Shared, values: &Shared| {
            best.as_flattened_mut().iter_mut().zip(values.as_flattened()).for_each(|(best, v)| *best = best.max(*v));
        };
        let mut found = Self { of_document: LOWEST, of_table: vec![LOWEST; strings.tables], of_sentences: LOWEST };
        for (shared, table) in shared.iter().zip(&strings.table) {
            raise(&mut found.of_document, shared);
            raise(table.map_or(&mut found.of_sentences, |table| &mut found.of_table[table as usize]), shared);
        }
        found
    }

    /// A node's values, part by part: each as it is, less the document's best, less that of its table or
    /// of all sentences.
    pub(crate) fn write(&self, shared: &Shared, table: Option<usize>, out: &mut [f32]) {
        let near = table.map_or(&self.of_sentences, |table| &self.of_table[table]);
        let parts = shared.iter().zip(&self.of_document).zip(near);
        for (((own, all), near), out) in parts.zip(out.chunks_exact_mut(3 * SHARED.len())) {
            let (plain, relative) = out.split_at_mut(SHARED.len());
            let (of_document, of_table) = relative.split_at_mut(SHARED.len());
            plain.copy_from_slice(own);
            for (at, own) in own.iter().enumerate() {
                of_document[at] = own - all[at];
                of_table[at] = own - near[at];
            }
        }
    }
}

const HAS_YEAR: usize = 6;
const IS_NEAR: usize = 7;

fn of_years(years: &[u16], asked: &[u16]) -> u8 {
    let (Some(&first), Some(&last)) = (asked.first(), asked.last()) else { return 0 };
    let any = |test: &dyn Fn(u16) -> bool| u8::from(years.iter().any(|&year| test(year)));
    let flags = [
        any(&|year| asked.contains(&year)),
        any(&|year| year > first && year < last),
        any(&|year| year + 1 == first),
        any(&|year| year == last + 1),
        any(&|year| year == first),
        any(&|year| year == last),
        u8::from(!years.is_empty()),
        any(&|year| year + 1 >= first && year <= last + 1),
    ];
    flags.iter().enumerate().fold(0, |set, (bit, flag)| set | flag << bit)
}

/// Words of the longest run that stands in a phrase and in the question alike. `places` are those in the
/// question of each stem, by bit.
fn longest_run(stems: &[u32], places: &HashMap<u32, u128>) -> u8 {
    let (mut ends, mut longest) = ([0_u128; LONGEST_RUN], 0);
    for stem in stems {
        let here = places.get(stem).copied().unwrap_or_default();
        // ends[n]: where in the question a run of n + 1 words that ends here may end.
        for length in (1..LONGEST_RUN).rev() {
            ends[length] = ends[length - 1] << 1 & here;
        }
        ends[0] = here;
        longest = longest.max(ends.iter().take_while(|ends| **ends != 0).count());
    }
    longest as u8
}

fn sums(weights: &[f32]) -> Vec<[f32; 256]> {
    weights
        .chunks(8)
        .map(|weights| {
            std::array::from_fn(|byte| {
                weights.iter().enumerate().filter(|(bit, _)| byte >> bit & 1 == 1).map(|(_, weight)| weight).sum()
            })
        })
        .collect()
}
