//! A question's part: what each phrase of a document has of it.

use rayon::prelude::*;

use super::{LONGEST_RUN, Overlap, Overlaps, Paths, Phrase, Phrases, RUNS, Years};
use crate::dates;
use crate::question::Question;
use crate::schema::{Schema as _, flag};
use crate::stems::letter_runs;
use crate::strings::Strings;

/// What a phrase has of a question, as sets of its stems, letters and years.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Match {
    /// Distinct stems of the question, by bit.
    pub(crate) stems: u64,
    letters: [u64; RUNS / 64],
    pub(super) run: u8,
    years: YearSet,
}

impl Match {
    /// What two phrases have together; the longer of their runs of words.
    #[must_use]
    pub(crate) fn with(mut self, other: &Self) -> Self {
        self.stems |= other.stems;
        self.letters.iter_mut().zip(other.letters).for_each(|(both, other)| *both |= other);
        self.run = self.run.max(other.run);
        self.years.0 |= other.years.0;
        self
    }

    /// Runs of letters.
    pub(super) fn letters(&self) -> f32 {
        self.letters.iter().map(|letters| letters.count_ones()).sum::<u32>() as f32
    }
}

/// How the years of a phrase stand to those of a question.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct YearSet(u8);

impl YearSet {
    /// One of the question's.
    pub(super) const EQUAL: Self = Self(1);
    /// Between the question's first and last.
    pub(super) const WITHIN: Self = Self(1 << 1);
    /// The year before the first, the year after the last.
    pub(super) const BEFORE: Self = Self(1 << 2);
    pub(super) const AFTER: Self = Self(1 << 3);
    /// The first, the last.
    pub(super) const FIRST: Self = Self(1 << 4);
    pub(super) const LAST: Self = Self(1 << 5);
    /// Any year at all.
    pub(super) const ANY: Self = Self(1 << 6);
    /// No more than a year from the question's.
    pub(super) const NEAR: Self = Self(1 << 7);

    /// Of `years` for a question with the years `query`, rising; empty for one without.
    fn new(years: &[u16], query: &[u16]) -> Self {
        let (Some(&first), Some(&last)) = (query.first(), query.last()) else { return Self::default() };
        let mut set = Self::default();
        for &year in years {
            for (holds, bit) in [
                (query.contains(&year), Self::EQUAL),
                (year > first && year < last, Self::WITHIN),
                (year + 1 == first, Self::BEFORE),
                (year == last + 1, Self::AFTER),
                (year == first, Self::FIRST),
                (year == last, Self::LAST),
                (true, Self::ANY),
                (year + 1 >= first && year <= last + 1, Self::NEAR),
            ] {
                set.0 |= if holds { bit.0 } else { 0 };
            }
        }
        set
    }

    pub(super) fn has(self, bit: Self) -> f32 {
        flag(self.0 & bit.0 != 0)
    }
}

/// How many stems of the question a match may hold.
const STEMS: usize = 64;
/// How many places of the question a run of words may begin at.
const PLACES: usize = 128;
/// Distinct stems of a question that are looked at.
const DISTINCT: usize = 255;

/// What each phrase of a document has of a question.
pub(crate) struct PhraseMatches {
    /// Of each phrase.
    pub(crate) matches: Vec<Match>,
    /// Idf of each distinct stem of the question; 0 of those that the document does not have.
    weights: Vec<f32>,
    /// Sums of weights for each value of each byte of a set of stems.
    sums: Vec<[f32; 256]>,
    /// Distinct runs of letters of the question.
    pub(super) letters: usize,
    years: Vec<u16>,
}

impl PhraseMatches {
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
            found.years = YearSet::new(&phrase.years, &years);
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

    pub(super) fn weight(&self, stems: u64) -> f32 {
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
        row.with(column)
    }

    /// The share of the question's runs of letters that a match has.
    pub(crate) fn share_of_letters(&self, found: &Match) -> f32 {
        found.letters() / self.letters.max(1) as f32
    }

    /// The overlap of the headers of a node.
    fn headers(&self, phrases: &Phrases, node: usize) -> Overlap {
        let (idf, runs) = phrases.sizes[node];
        Overlap::of(self, &self.of_node(phrases, node), idf, runs)
    }

    /// The overlap of the headers of each node.
    pub(crate) fn headers_of_nodes(&self, phrases: &Phrases) -> Vec<Overlap> {
        let nodes = (0..phrases.of_node.len()).into_par_iter().with_min_len(256);
        nodes.map(|node| self.headers(phrases, node)).collect()
    }

    /// The overlaps of the three phrases of each node.
    pub(crate) fn overlaps(&self, phrases: &Phrases) -> Vec<Paths<Overlap>> {
        let alone = |phrase: u32| {
            let (idf, runs) = phrases.size([phrase, 0]);
            Overlap::of(self, &self.matches[phrase as usize], idf, runs)
        };
        let alone: Vec<Overlap> = (0..self.matches.len() as u32).into_par_iter().with_min_len(64).map(alone).collect();
        let of_node = |node: usize| {
            let [row, column] = phrases.path_numbers(node).map(|phrase| alone[phrase as usize]);
            Paths { headers: self.headers(phrases, node), row, column }
        };
        (0..phrases.of_node.len()).into_par_iter().with_min_len(256).map(of_node).collect()
    }

    /// The years of the three phrases of a node.
    pub(crate) fn years(&self, phrases: &Phrases, node: usize) -> Paths<Years> {
        if self.years.is_empty() {
            return Paths { headers: Years::default(), row: Years::default(), column: Years::default() };
        }
        let [row, column] = phrases.path_numbers(node).map(|phrase| Years::of(self.matches[phrase as usize].years));
        Paths { headers: Years::of(self.of_node(phrases, node).years), row, column }
    }

    /// 1 of a node whose headers have a year of the question; nothing where the question has none.
    pub(crate) fn has_year_of(&self, phrases: &Phrases, node: usize) -> Option<f32> {
        (!self.years.is_empty()).then(|| self.of_node(phrases, node).years.has(YearSet::EQUAL))
    }

    /// The share of the question's years that each table has.
    pub(crate) fn years_of_tables(&self, phrases: &Phrases) -> Vec<f32> {
        let count = self.years.len().max(1) as f32;
        let held = |years: &Vec<u16>| self.years.iter().filter(|year| years.contains(year)).count() as f32;
        phrases.table_years.iter().map(|years| held(years) / count).collect()
    }
}

/// The greatest overlaps of a document, of each of its tables and of its sentences.
pub(crate) struct BestOverlaps {
    of_document: Paths<Overlap>,
    of_table: Vec<Paths<Overlap>>,
    of_sentences: Paths<Overlap>,
}

impl BestOverlaps {
    pub(crate) fn new(overlaps: &[Paths<Overlap>], strings: &Strings) -> Self {
        let lowest = Overlap::all(f32::NEG_INFINITY);
        let lowest = Paths { headers: lowest, row: lowest, column: lowest };
        let mut best = Self { of_document: lowest, of_table: vec![lowest; strings.tables], of_sentences: lowest };
        for (own, table) in overlaps.iter().zip(strings.tables_of_nodes()) {
            let near = table.map_or(&mut best.of_sentences, |table| &mut best.of_table[table]);
            for best in [&mut best.of_document, near] {
                best.headers = best.headers.zip(own.headers, f32::max);
                best.row = best.row.zip(own.row, f32::max);
                best.column = best.column.zip(own.column, f32::max);
            }
        }
        best
    }

    /// A node's overlaps as they are and less the best.
    pub(crate) fn relative(&self, own: &Paths<Overlap>, table: Option<usize>) -> Paths<Overlaps> {
        let (all, near) = (&self.of_document, table.map_or(&self.of_sentences, |table| &self.of_table[table]));
        let of = |own: Overlap, all, near| Overlaps { own, of_document: own.below(all), of_table: own.below(near) };
        Paths {
            headers: of(own.headers, all.headers, near.headers),
            row: of(own.row, all.row, near.row),
            column: of(own.column, all.column, near.column),
        }
    }
}

/// Words of the longest run that stands both in a phrase and in the question. `places` are those in the
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
