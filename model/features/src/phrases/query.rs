//! A question's part: what each phrase of a document has of it.

use rayon::prelude::*;

use super::{LONGEST_RUN, PARTS, Phrase, Phrases, RUNS, SHARED, Shared, YEARS};
use crate::dates;
use crate::question::Question;
use crate::stems::letter_runs;
use crate::strings::Strings;

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
const STEMS: usize = 64;
/// How many places of the question a run of words may begin at.
const PLACES: usize = 128;
/// Distinct stems of a question that are looked at.
const DISTINCT: usize = 255;

/// A question within a document.
pub(crate) struct QueryPhrases {
    /// Of each phrase.
    pub(crate) matches: Vec<Match>,
    /// Idf of each distinct stem of the question; 0 of those that the document does not have.
    weights: Vec<f32>,
    /// Sums of weights for each value of each byte of a set of stems.
    sums: Vec<[f32; 256]>,
    letters: usize,
    years: Vec<u16>,
}

impl QueryPhrases {
    pub(crate) fn new(question: &Question, phrases: &Phrases) -> Self {
        let mut distinct: Vec<&String> = Vec::new();
        for stem in question.stems() {
            if distinct.len() < DISTINCT && !distinct.contains(&stem) {
                distinct.push(stem);
            }
        }
        let known = |stem: &String| phrases.by_stem.get(stem).map(|&number| number as usize);
        let weight = |stem: &&String| known(stem).map_or(0.0, |number| phrases.idf[number]);
        let weights: Vec<f32> = distinct.iter().take(STEMS).map(weight).collect();
        // For each stem of the document which of the question's it is, from 1, and where that stands in the question.
        let mut stems = vec![0_u16; phrases.idf.len()];
        let mut places = vec![0_u128; distinct.len()];
        for ((which, stem), place) in (1..).zip(&distinct).zip(&mut places) {
            if let Some(number) = known(stem) {
                stems[number] = which;
            }
            let places = question.stems().iter().take(PLACES).enumerate().filter(|(_, other)| other == stem);
            *place = places.fold(0, |places, (place, _)| places | 1 << place);
        }
        // For each run of letters of the document which of the question's it is, from 1.
        let mut letters = vec![0_u16; phrases.by_run.len()];
        let runs = letter_runs(question.text());
        for (which, run) in (1..).zip(runs.iter().take(RUNS)) {
            if let Some(&number) = phrases.by_run.get(run) {
                letters[number as usize] = which;
            }
        }
        let years = dates::years(question.text());
        let one = |phrase: &Phrase| {
            let mut found = Match::default();
            let mut any = false;
            for which in
                phrase.distinct.iter().map(|&stem| usize::from(stems[stem as usize])).filter(|&which| which > 0)
            {
                any = true;
                if which <= STEMS {
                    found.stems |= 1 << (which - 1);
                }
            }
            for &run in &phrase.runs {
                if let Some(bit) = letters[run as usize].checked_sub(1) {
                    found.letters[usize::from(bit) / 64] |= 1 << (bit % 64);
                }
            }
            if any {
                let place = |stem: &u32| stems[*stem as usize].checked_sub(1).map_or(0, |bit| places[usize::from(bit)]);
                found.run = longest_run(phrase.stems.iter().map(place));
            }
            found.years = of_years(&phrase.years, &years);
            found
        };
        Self {
            matches: phrases.phrases.par_iter().with_min_len(64).map(one).collect(),
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

    /// [`SHARED`] of the headers of each node.
    pub(crate) fn headers_of_nodes(&self, phrases: &Phrases) -> Vec<[f32; SHARED.len()]> {
        let headers = |node: usize| self.shared(&self.of_node(phrases, node), phrases.sizes[node]);
        (0..phrases.of_node.len()).into_par_iter().with_min_len(256).map(headers).collect()
    }

    /// [`SHARED`] of the three phrases of each node.
    pub(crate) fn shared_of_nodes(&self, phrases: &Phrases) -> Vec<Shared> {
        let alone: Vec<[f32; SHARED.len()]> = (0..self.matches.len() as u32)
            .into_par_iter()
            .with_min_len(64)
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
            out.fill(0.0);
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

fn of_years(years: &[u16], query: &[u16]) -> u8 {
    let (Some(&first), Some(&last)) = (query.first(), query.last()) else { return 0 };
    let any = |test: &dyn Fn(u16) -> bool| u8::from(years.iter().any(|&year| test(year)));
    let flags = [
        any(&|year| query.contains(&year)),
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
/// question of each of the phrase's stems, by bit.
fn longest_run(places: impl Iterator<Item = u128>) -> u8 {
    let (mut ends, mut longest) = ([0_u128; LONGEST_RUN], 0);
    for here in places {
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
