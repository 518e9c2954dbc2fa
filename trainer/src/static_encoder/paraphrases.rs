//! What one concept is called, in several filings, in its taxonomy and by people: paraphrases, learnt contrastively.
//!
//! Of a batch of pairs the first text shall be nearer to the second of its own pair than to those of the others, and the
//! other way round (InfoNCE, van den Oord et al. 2018; in-batch negatives). Texts that share a concept are no negatives of
//! each other. In every other pair the first text stands in a question and the second beside the year it is about, so that
//! what questions are made of counts little and years find years.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Result, ensure};
use burn::tensor::activation::log_softmax;
use burn::tensor::{Tensor, TensorData};
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use tabsegnet_datasets::config::files_with;
use tabsegnet_generate::ixbrl::{FilingLabels, Label, labels, names};
use tabsegnet_lexical::glossary::Glossary;
use tabsegnet_lexical::tokenize;
use tabsegnet_store::eprintln;

use super::nearest::Nearest;
use super::table::TokenTable;
use super::vocabulary::Vocabulary;
use crate::config::ContrastiveConfig;

/// What stands around a label in a question about one year. Its order does not count: a text is the mean of its tokens.
const PHRASES: &[&str] = &[
    "What was in?", "What were for?", "How much was the company's in fiscal?", "What did the company report as for?",
    "Give me at the end of.",
];
/// The years that questions are about.
const YEARS: std::ops::Range<u32> = 2015..2027;

/// Added to the logit of a pair that is no negative.
const MASKED: f32 = -1e9;

/// Texts with the concepts that each stands for.
pub(super) struct Paraphrases {
    /// Each once, but for case and punctuation.
    pub texts: Vec<String>,
    /// Of each text, sorted.
    concepts: Vec<Vec<u32>>,
    /// The texts of each concept.
    by_concept: BTreeMap<String, Vec<usize>>,
    /// Those of the concepts that have two or more.
    groups: Vec<Vec<usize>>,
    /// Of each text, once numbered.
    tokens: Vec<Vec<u32>>,
    /// Of each year in each phrase, and alone.
    phrases: Vec<[Vec<u32>; 2]>,
}

/// Two texts of one concept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pair {
    texts: [usize; 2],
    /// Whether the first stands in a question about a year and the second beside that year, as in a table: which of
    /// [`Paraphrases::phrases`].
    phrases: Option<usize>,
}

/// What the filings of a config give.
pub(super) struct FromFilings {
    pub paraphrases: Paraphrases,
    /// Where filings are held out.
    pub nearest: Option<Nearest>,
}

impl FromFilings {
    /// Reads the filings that the config names; nothing where it names none.
    ///
    /// # Errors
    /// A file that cannot be read, no filing left to learn from, no label of theirs that can be measured.
    pub fn read(
        config: &ContrastiveConfig,
        glossary: &Glossary,
        vocabulary: &Vocabulary,
        max_tokens: usize,
    ) -> Result<Option<Self>> {
        if config.filings.is_empty() {
            return Ok(None);
        }
        let held_out = filings("static_encoder.contrastive.held_out", &config.held_out)?;
        let mut learnt = filings("static_encoder.contrastive.filings", &config.filings)?;
        let companies: BTreeSet<Option<String>> = held_out.iter().map(|filing| filing.company.clone()).collect();
        let read = learnt.len();
        learnt.retain(|filing| filing.company.is_some() && !companies.contains(&filing.company));
        ensure!(
            !learnt.is_empty(),
            "static_encoder.contrastive.filings: none of {read} files is a filing with inline XBRL of a company that is \
             not held out; add filings of other companies"
        );
        let learnt_labels: Vec<Label> = learnt.iter().flat_map(|filing| filing.labels.clone()).collect();
        let said = said(&learnt_labels, glossary);
        let paraphrases =
            Paraphrases::new(learnt_labels.iter().cloned().chain(said)).numbered(vocabulary, max_tokens)?;
        ensure!(
            !paraphrases.groups.is_empty(),
            "static_encoder.contrastive.filings: no concept of {} filings has two names; add filings",
            learnt.len()
        );
        eprintln!(
            "paraphrases: {} labels of {} filings, with the names of their concepts and the glossary {} texts; {} concepts with \
             two or more",
            learnt_labels.len(),
            learnt.len(),
            paraphrases.texts.len(),
            paraphrases.groups.len()
        );
        let nearest = match held_out.is_empty() {
            true => None,
            false => {
                let held_out = held_out.into_iter().flat_map(|filing| filing.labels);
                let known = Paraphrases::new(learnt_labels).numbered(vocabulary, max_tokens)?;
                Some(Nearest::new(known, held_out, vocabulary, max_tokens)?)
            }
        };
        Ok(Some(Self { paraphrases, nearest }))
    }
}

/// The labels of files, or of those in directories.
fn filings(key: &'static str, paths: &[String]) -> Result<Vec<FilingLabels>> {
    let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
    let files = files_with(key, paths, &["htm", "html", "xhtml"])?;
    Ok(files.par_iter().map(|file| labels(file)).collect::<Result<_, _>>()?)
}

/// What the concepts of labels are called beside these, and the glossary's entries: one whose source is a concept is of that
/// concept, each other is one of its own.
fn said(labels: &[Label], glossary: &Glossary) -> Vec<Label> {
    let concepts: BTreeSet<&str> = labels.iter().map(|label| label.concept.as_str()).collect();
    let of_concept = |concept: &str| {
        names(concept).into_iter().map(|text| Label { concept: concept.to_owned(), text }).collect::<Vec<_>>()
    };
    let of_glossary = glossary.entries().iter().enumerate().flat_map(|(number, entry)| {
        let is_concept = entry.source.contains(':') && !entry.source.contains(char::is_whitespace);
        let concept = if is_concept { entry.source.clone() } else { format!("glossary {number}") };
        let texts = entry.terms.iter().chain(&entry.labels);
        texts.map(|text| Label { concept: concept.clone(), text: text.clone() }).collect::<Vec<_>>()
    });
    concepts.into_iter().flat_map(of_concept).chain(of_glossary).collect()
}

impl Paraphrases {
    pub fn new(labels: impl IntoIterator<Item = Label>) -> Self {
        let mut texts: BTreeMap<Vec<String>, (String, BTreeSet<String>)> = BTreeMap::new();
        for Label { concept, text } in labels {
            let words = tokenize(&text);
            if !words.is_empty() {
                texts.entry(words).or_insert_with(|| (text, BTreeSet::new())).1.insert(concept);
            }
        }
        let mut by_concept: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (text, (_, concepts)) in texts.values().enumerate() {
            concepts.iter().for_each(|concept| by_concept.entry(concept.clone()).or_default().push(text));
        }
        let mut concepts = vec![Vec::new(); texts.len()];
        for (number, of) in by_concept.values().enumerate() {
            of.iter().for_each(|&text| concepts[text].push(number as u32));
        }
        let groups = by_concept.values().filter(|texts| texts.len() >= 2).cloned().collect();
        let texts = texts.into_values().map(|(text, _)| text).collect();
        Self { texts, concepts, by_concept, groups, tokens: Vec::new(), phrases: Vec::new() }
    }

    /// With the numbers of the texts' tokens.
    pub fn numbered(self, vocabulary: &Vocabulary, max_tokens: usize) -> Result<Self> {
        let texts: Vec<&str> = self.texts.iter().map(String::as_str).collect();
        let phrases =
            YEARS.flat_map(|year| PHRASES.iter().map(move |phrase| [format!("{phrase} {year}"), year.to_string()]));
        let phrases = phrases.map(|[phrase, year]| {
            let [phrase, year] =
                [phrase, year].map(|text| Ok::<_, anyhow::Error>(vocabulary.encode(&[&text], max_tokens)?.concat()));
            Ok([phrase?, year?])
        });
        Ok(Self { tokens: vocabulary.encode(&texts, max_tokens)?, phrases: phrases.collect::<Result<_>>()?, ..self })
    }

    /// Token numbers of each text.
    pub fn tokens(&self) -> impl Iterator<Item = &[u32]> {
        self.tokens.iter().map(Vec::as_slice)
    }

    /// The texts of a concept; none of one that has none.
    pub fn of_concept(&self, concept: &str) -> Vec<usize> {
        self.by_concept.get(concept).cloned().unwrap_or_default()
    }

    /// Whether two texts stand for one concept.
    pub fn share(&self, a: usize, b: usize) -> bool {
        self.concepts[a].iter().any(|concept| self.concepts[b].binary_search(concept).is_ok())
    }

    /// Two different texts each of so many concepts, or of all where there are fewer; every other pair as question and row.
    pub fn draw(&self, pairs: usize, rng: &mut ChaCha8Rng) -> Vec<Pair> {
        let groups = sample(rng, self.groups.len(), pairs.min(self.groups.len()));
        let pair = |(number, group): (usize, usize)| {
            let texts = &self.groups[group];
            let two = sample(rng, texts.len(), 2);
            let phrases =
                (number % 2 == 1 && !self.phrases.is_empty()).then(|| sample(rng, self.phrases.len(), 1).index(0));
            Pair { texts: [texts[two.index(0)], texts[two.index(1)]], phrases }
        };
        groups.into_iter().enumerate().map(pair).collect()
    }

    /// The mean loss of pairs.
    pub fn loss(&self, table: &TokenTable, pairs: &[Pair], temperature: f64) -> Tensor<1> {
        let n = pairs.len();
        let tokens = |side: usize| {
            pairs.iter().map(move |Pair { texts, phrases }| {
                let around = phrases.map_or(&[][..], |phrases| &self.phrases[phrases][side]);
                [&self.tokens[texts[side]], around].concat()
            })
        };
        let tokens: Vec<Vec<u32>> = tokens(0).chain(tokens(1)).collect();
        let vectors = table.forward(tokens.iter().map(Vec::as_slice)); // [2 n, dim]
        let (a, b) = (vectors.clone().narrow(0, 0, n), vectors.narrow(0, n, n));
        let (mask, own) = self.masks(pairs);
        let device = a.device();
        let square = |values: Vec<f32>| Tensor::<2>::from_data(TensorData::new(values, [n, n]), &device);
        let own = square(own);
        // l[i][j] = a_i · b_j / τ
        let logits = a.matmul(b.transpose()).div_scalar(temperature) + square(mask); // [n, n]
        // −log (exp l[i][i] / Σ_j exp l[i][j]), j a negative or i
        let first = log_softmax(logits.clone(), 1) * own.clone();
        let second = log_softmax(logits.transpose(), 1) * own;
        (first.sum() + second.sum()).div_scalar(-2.0 * n.max(1) as f64)
    }

    /// `[n, n]` each: what is added to the logit of first text i and second text j, and the identity.
    fn masks(&self, pairs: &[Pair]) -> (Vec<f32>, Vec<f32>) {
        let (mut mask, mut own) = (Vec::new(), Vec::new());
        for (i, Pair { texts: [a, _], .. }) in pairs.iter().enumerate() {
            for (j, Pair { texts: [_, b], .. }) in pairs.iter().enumerate() {
                mask.push(if i != j && self.share(*a, *b) { MASKED } else { 0.0 });
                own.push(if i == j { 1.0 } else { 0.0 });
            }
        }
        (mask, own)
    }
}

#[cfg(test)]
mod tests {
    use burn::module::Module as _;
    use burn::optim::{AdamConfig, GradientsParams};
    use burn::tensor::Device;
    use rand::SeedableRng as _;

    use super::*;
    use crate::batches::floats;

    fn label(concept: &str, text: &str) -> Label {
        Label { concept: concept.into(), text: text.into() }
    }

    /// Four concepts; "Net income" is of two. A word is a token.
    fn paraphrases() -> Paraphrases {
        let labels = [
            ("c:Revenues", "Net sales"),
            ("c:Revenues", "Revenues:"),
            ("c:Revenues", "revenues"),
            ("c:NetIncomeLoss", "Net income"),
            ("c:NetIncomeLoss", "Net earnings"),
            ("c:ProfitLoss", "Net income"),
            ("c:ProfitLoss", "Profit"),
            ("c:Assets", "Total assets"),
        ];
        let mut made = Paraphrases::new(labels.map(|(concept, text)| label(concept, text)));
        let words: BTreeSet<String> = made.texts.iter().flat_map(|text| tokenize(text)).collect();
        let number = |word: &String| words.iter().position(|known| known == word).unwrap() as u32;
        made.tokens = made.texts.iter().map(|text| tokenize(text).iter().map(number).collect()).collect();
        made.phrases = vec![[vec![words.len() as u32], vec![words.len() as u32 + 1]]];
        made
    }

    fn at(paraphrases: &Paraphrases, text: &str) -> usize {
        paraphrases.texts.iter().position(|known| known == text).unwrap()
    }

    #[test]
    fn texts_that_differ_in_case_alone_are_one_and_concepts_of_one_text_have_no_pairs() {
        let paraphrases = paraphrases();
        assert_eq!(
            paraphrases.texts,
            ["Net earnings", "Net income", "Net sales", "Profit", "Revenues:", "Total assets"]
        );
        assert_eq!(paraphrases.groups.len(), 3);
        let of = |text| at(&paraphrases, text);
        assert!(
            paraphrases.share(of("Net income"), of("Profit"))
                && paraphrases.share(of("Net income"), of("Net earnings"))
        );
        assert!(!paraphrases.share(of("Net earnings"), of("Profit")));
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        for _ in 0..20 {
            let pairs = paraphrases.draw(9, &mut rng);
            assert_eq!(pairs.len(), 3);
            assert_eq!(pairs.iter().map(|pair| pair.phrases).collect::<Vec<_>>(), [None, Some(0), None]);
            assert!(pairs.iter().all(|Pair { texts: [a, b], .. }| a != b && paraphrases.share(*a, *b)));
        }
    }

    #[test]
    fn texts_of_one_concept_are_no_negatives() {
        let paraphrases = paraphrases();
        let of = |text| at(&paraphrases, text);
        let pairs = [
            [of("Net earnings"), of("Net income")],
            [of("Net income"), of("Profit")],
            [of("Net sales"), of("Revenues:")],
        ];
        let (mask, own) = paraphrases.masks(&pairs.map(|texts| Pair { texts, phrases: None }));
        // "Net income" is of the concept of "Net income"; "Net earnings" and "Profit" share none.
        assert_eq!(
            mask.iter().map(|&m| m == MASKED).collect::<Vec<_>>(),
            [false, false, false, true, false, false, false, false, false]
        );
        assert_eq!(own, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    }

    /// Loss and cosine of two paraphrases before and after some steps, and the table's numbers.
    fn learnt(seed: u64) -> ([f32; 2], [f32; 2], Vec<f32>) {
        let (paraphrases, device) = (paraphrases(), Device::flex().autodiff());
        let tokens = paraphrases.phrases[0][1][0] + 1;
        let values = (0..tokens * 8).map(|i| ((i * 37 % 23) as f32 - 11.0) / 11.0).collect();
        let mut table = TokenTable::new(values, vec![1.0; tokens as usize], 8, &device);
        let mut optimiser = AdamConfig::new().init();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (mut losses, mut cosines) = (Vec::new(), Vec::new());
        for step in 0..60 {
            let loss = paraphrases.loss(&table, &paraphrases.draw(3, &mut rng), 0.1);
            let gradients = GradientsParams::from_grads(loss.backward(), &table);
            if step == 0 || step == 59 {
                let two = [at(&paraphrases, "Net sales"), at(&paraphrases, "Revenues:")];
                let vectors = table.valid().forward(two.iter().map(|&text| paraphrases.tokens[text].as_slice()));
                let vectors = floats(vectors.into_data());
                cosines.push(vectors[..8].iter().zip(&vectors[8..]).map(|(a, b)| a * b).sum());
                losses.push(floats(loss.into_data())[0]);
            }
            table = optimiser.step(0.05, table, gradients);
        }
        ([losses[0], losses[1]], [cosines[0], cosines[1]], table.values().0)
    }

    #[test]
    fn paraphrases_come_near_each_other_with_the_same_bits_whatever_the_threads() {
        let ([first, last], [before, after], _) = learnt(1);
        assert!(last < 0.5 * first && after > before + 0.2, "loss {first} {last}, cosine {before} {after}");
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| learnt(1).2.into_iter().map(f32::to_bits).collect::<Vec<_>>())
        };
        assert_eq!(with(1), with(3));
    }
}
