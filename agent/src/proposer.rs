//! Proposing candidates: the question's words say how likely each family is, and a log-linear model over all candidates
//! takes that as one of its features.
//!
//! Words of questions as features of the one model would drown: it learns from many lookups what a fact has to do with the
//! question, and takes a lookup where the words want a program.

use std::path::Path;

use tabsegnet_choice::{Example, Features, Fitting, likelihoods};
use tabsegnet_ranker::tensors::{NamedTensors, TensorData};
use tabsegnet_store::Digest;

use crate::choice::Candidates;
use crate::family::Family;
use crate::features::WIDTH;

/// Buckets of words and pairs of words.
const BUCKETS: usize = 1 << 13;
/// Wrong candidates of a question that are learnt from; evenly spaced where there are more.
const WRONG: usize = 200;
/// The weights of a group: those of a row, and that of the family's likelihood.
const OF_GROUP: usize = WIDTH + 1;
/// Likelihoods below it count as it.
const LEAST: f32 = 1e-4;
const FAMILIES: Fitting = Fitting { steps: 200, rate: 0.1, penalty: 0.1 };
const CANDIDATES: Fitting = Fitting { steps: 200, rate: 0.05, penalty: 0.4 };

/// Both log-linear models.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposer {
    families: Families,
    /// `[groups, OF_GROUP]`
    candidates: Vec<f32>,
}

/// How likely each family is by a question's words.
#[derive(Debug, Clone, PartialEq)]
pub struct Families(
    /// `[families, BUCKETS]`
    Vec<f32>,
);

impl Families {
    /// The likelihood of each of some families by words of [`buckets`].
    pub(crate) fn likelihoods(&self, words: &[u32], families: &[Family]) -> Vec<f32> {
        let score = |family: &Family| tabsegnet_choice::score(&self.0, &of_words(words, *family));
        likelihoods(&families.iter().map(score).collect::<Vec<f32>>())
    }
}

impl Proposer {
    /// How likely each family is by a question's words.
    pub(crate) fn families(&self) -> &Families {
        &self.families
    }

    /// The score of a candidate whose family has a likelihood, or of "none of them".
    pub(crate) fn score(&self, family: Family, likelihood: f32, features: &[(u16, f32)]) -> f32 {
        let start = family.group() * OF_GROUP;
        let weights = self.candidates.get(start..start + OF_GROUP).unwrap_or(&[]);
        tabsegnet_choice::score(weights, features) + tabsegnet_choice::score(weights, &[of_likelihood(likelihood)])
    }

    /// As tensors of a file: `families` and `candidates`.
    pub(crate) fn tensors(&self) -> [(String, TensorData); 2] {
        let matrix = |values: &[f32], rows: usize, columns: usize| TensorData::new(values.to_vec(), [rows, columns]);
        [
            ("families".to_owned(), matrix(&self.families.0, Family::ALL.len(), BUCKETS)),
            ("candidates".to_owned(), matrix(&self.candidates, Family::GROUPS.len(), OF_GROUP)),
        ]
    }

    /// From the tensors of a file.
    ///
    /// # Errors
    /// In words, what is missing or wrong.
    pub(crate) fn parse(file: &Path, bytes: &[u8]) -> Result<Self, String> {
        let tensors = NamedTensors::read(file, bytes).map_err(|error| error.to_string())?;
        let values = |name: &str, rows: usize, columns: usize| {
            let (shape, values) = tensors.floats(name)?;
            match shape == [rows, columns] && values.iter().all(|value| value.is_finite()) {
                true => Ok(values.to_vec()),
                false => {
                    Err(format!("tensor {name} has the shape {shape:?}, expected finite numbers [{rows}, {columns}]"))
                }
            }
        };
        Ok(Self {
            families: Families(values("families", Family::ALL.len(), BUCKETS)?),
            candidates: values("candidates", Family::GROUPS.len(), OF_GROUP)?,
        })
    }
}

/// The buckets of a question's words and pairs of neighbouring words, each once: years are one word, other numbers another.
pub(crate) fn buckets(question: &str) -> Vec<u32> {
    let text = question.to_lowercase();
    let mut words = vec!["<"];
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
        let end_of = |of: &dyn Fn(char) -> bool| rest.find(|c: char| !of(c)).unwrap_or(rest.len());
        let (end, word) = if first.is_alphabetic() {
            let end = end_of(&char::is_alphabetic);
            (end, rest.get(..end))
        } else if first.is_ascii_digit() {
            let end = end_of(&is_number);
            let digits = rest.get(..end).unwrap_or("").trim_end_matches(['.', ',']);
            let is_year = digits.len() == 4 && ["19", "20"].iter().any(|century| digits.starts_with(century));
            (end, Some(if is_year { "2000" } else { "0" }))
        } else {
            (first.len_utf8(), rest.get(..first.len_utf8()).filter(|sign| ["%", "$"].contains(sign)))
        };
        words.extend(word);
        rest = rest.get(end..).unwrap_or("");
    }
    words.push(">");
    let bucket = |text: &str| {
        let hex = Digest::new().part(text).hex();
        hex.get(..8).and_then(|hex| u32::from_str_radix(hex, 16).ok()).unwrap_or(0) % BUCKETS as u32
    };
    let pairs = words.windows(2).map(|pair| bucket(&pair.join(" ")));
    let mut found: Vec<u32> = words.iter().map(|word| bucket(word)).chain(pairs).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn of_words(words: &[u32], family: Family) -> Features<u32> {
    let (start, length) = ((family.number() * BUCKETS) as u32, (words.len().max(1) as f32).sqrt());
    words.iter().map(|word| (start + word, 1.0 / length)).collect()
}

/// The feature behind a row's: the family's likelihood.
fn of_likelihood(likelihood: f32) -> (u16, f32) {
    (WIDTH as u16, likelihood.max(LEAST).ln())
}

fn of_candidate(family: Family, likelihood: f32, features: &[(u16, f32)]) -> Features<u16> {
    let start = family.group() * OF_GROUP;
    features
        .iter()
        .chain([&of_likelihood(likelihood)])
        .map(|(at, value)| ((start + usize::from(*at)) as u16, *value))
        .collect()
}

/// A question that the proposer is trained on.
#[derive(Debug, Clone)]
pub struct TrainingExample {
    words: Vec<u32>,
    families: Vec<Family>,
    right_families: Vec<bool>,
    /// "None of them", then candidates.
    choices: Vec<(Family, Features<u16>)>,
    right: Vec<bool>,
}

impl TrainingExample {
    /// Of a question's candidates and which of them are right; where none is, "none of them" is.
    pub fn new(candidates: &Candidates, right: &[bool]) -> Self {
        let list = || candidates.candidates.iter().zip(right);
        let families = candidates.families();
        let is_right = |family: &Family| list().any(|(candidate, right)| *right && candidate.family == *family);
        let right_families = families.iter().map(is_right).collect();
        let wrong = right.iter().filter(|right| !**right).count().max(WRONG);
        let mut choices = vec![(Family::Nothing, candidates.nothing.clone())];
        let mut of_choices = vec![!right.contains(&true)];
        let mut seen = 0;
        for (candidate, &right) in list() {
            seen += usize::from(!right);
            // Evenly spaced.
            if right || seen * WRONG / wrong > (seen - 1) * WRONG / wrong {
                choices.push((candidate.family, candidate.features.clone()));
                of_choices.push(right);
            }
        }
        Self { words: candidates.words.clone(), families, right_families, choices, right: of_choices }
    }

    /// Whether a candidate is right.
    pub fn is_reached(&self) -> bool {
        self.right.first() == Some(&false)
    }
}

/// Learns from questions which families their words want.
pub fn fit_families(training: &[&TrainingExample]) -> Families {
    let example = |question: &&TrainingExample| Example {
        choices: question.families.iter().map(|family| of_words(&question.words, *family)).collect(),
        right: question.right_families.clone(),
    };
    // Of a question without a right candidate it is not known.
    let examples: Vec<Example<u32>> = training.iter().filter(|question| question.is_reached()).map(example).collect();
    Families(tabsegnet_choice::fit(&examples, Family::ALL.len() * BUCKETS, FAMILIES, |_| {}))
}

/// A proposer of `families`, its other model learnt from questions, each with the families of whoever has not learnt from it.
pub fn fit(training: &[(&TrainingExample, &Families)], families: Families) -> Proposer {
    let example = |(question, families): &(&TrainingExample, &Families)| {
        let likelihoods = families.likelihoods(&question.words, &question.families);
        let of =
            |family: Family| question.families.iter().position(|of| *of == family).and_then(|at| likelihoods.get(at));
        let choice = |(family, features): &(Family, Features<u16>)| {
            of_candidate(*family, of(*family).copied().unwrap_or(1.0), features)
        };
        Example { choices: question.choices.iter().map(choice).collect(), right: question.right.clone() }
    };
    let examples: Vec<Example<u16>> = training.iter().map(example).collect();
    let candidates = tabsegnet_choice::fit(&examples, Family::GROUPS.len() * OF_GROUP, CANDIDATES, |_| {});
    Proposer { families, candidates }
}

#[cfg(test)]
mod tests {
    use super::buckets;

    #[test]
    fn words_and_pairs_have_buckets() {
        let same = |a: &str, b: &str| buckets(a) == buckets(b);
        assert!(same("What was the change from 2015 to 2016?", "what was the change from 2009 to 2012"));
        assert!(same("more than 1,000.", "more than 20") && !same("more than 1,000", "more than 2010"));
        assert!(!same("the change in sales", "sales in the change") && !same("5 %", "5 $"));
        // "<" and ">" and the pair of them
        assert_eq!((buckets("").len(), buckets("é ß 中").len()), (3, 9));
    }
}
