//! A small encoder, tables that look drawn, and all that a corpus answers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tabsegnet_corpus::gtr::GtrConfig;
use tabsegnet_corpus::{
    CandidateConfig, Candidates, Change, Corpus, CorpusError, Fusion, GtrRetriever, Hit, IndexConfig, LinkRank,
    Listwise, QueryAdapter, Rerank, Retriever, Rrf, Weights, Writer,
};
use tabsegnet_datasets::tables::TableRecord;
use tabsegnet_encoder::{Encoder, EncoderConfig, EncoderError};
use tabsegnet_ranker::boosting::BoostedTrees;
use tabsegnet_ranker::boosting::bins::Bins;
use tabsegnet_ranker::boosting::training::{BoostingConfig, Lists, grow};
use tempfile::TempDir;

/// The sum of a vector for each word, of length 1: texts with words in common are near.
pub struct WordHashes {
    pub identity: &'static str,
}

pub const ENCODER: WordHashes = WordHashes { identity: "words" };
const DIM: usize = 8;

impl Encoder for WordHashes {
    fn dim(&self) -> usize {
        DIM
    }

    fn identity(&self) -> &str {
        self.identity
    }

    fn encode(&self, texts: &[&str], progress: &mut dyn FnMut(usize)) -> Result<Vec<f32>, EncoderError> {
        let mut vectors = Vec::with_capacity(texts.len() * DIM);
        for (number, text) in texts.iter().enumerate() {
            let mut sums = [0.1_f32; DIM];
            for word in text.split_whitespace() {
                let mut hash = 0xcbf2_9ce4_8422_2325_u64;
                for (sum, byte) in sums.iter_mut().zip(word.bytes().chain(0..)) {
                    hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
                    *sum += (hash >> 40) as f32 / (1 << 23) as f32 - 1.0;
                }
            }
            let length = sums.iter().map(|x| x * x).sum::<f32>().sqrt();
            vectors.extend(sums.map(|x| x / length));
            progress(number + 1);
        }
        Ok(vectors)
    }
}

/// Numbers that look drawn, the same on every machine.
pub struct Drawn(pub u64);

impl Drawn {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for at in (1..all.len()).rev() {
            all.swap(at, self.below(at + 1));
        }
    }
}

#[rustfmt::skip]
const WORDS: [&str; 24] = [
    "Lima", "cities", "city", "Games", "population", "1999", "2,004", "2004", "wins", "win", "Peru", "boss",
    "año", "Ada", "Bob", "Cyd", "Dee", "river", "rivers", "7.5", "Olympic", "team", "teams", "name",
];

fn words(drawn: &mut Drawn, most: usize) -> String {
    let count = drawn.below(most + 1);
    (0..count).map(|_| WORDS[drawn.below(WORDS.len())]).collect::<Vec<_>>().join(" ")
}

/// A table of few words, so that tables are alike and linked.
pub fn table(id: &str, drawn: &mut Drawn) -> TableRecord {
    let titles = ["", "Cities of Peru", "cities of peru", "Olympic Games", "Wins", "Rivers"];
    let columns = drawn.below(4);
    // One with neither header nor rows is no table.
    let rows = drawn.below(6).max(usize::from(columns == 0));
    TableRecord {
        id: id.to_owned(),
        source: "drawn".into(),
        title: titles[drawn.below(titles.len())].into(),
        section: words(drawn, 2),
        caption: words(drawn, 4),
        column_headers: (0..columns).map(|_| WORDS[drawn.below(6)].to_owned()).collect(),
        rows: (0..rows)
            .map(|_| {
                let ragged = columns + usize::from(drawn.below(5) == 0);
                (0..ragged).map(|_| words(drawn, 2)).collect()
            })
            .collect(),
        excerpt: None,
    }
}

/// A file of tables.
#[derive(Debug, Clone, PartialEq)]
pub struct TableFile {
    pub name: String,
    pub tables: Vec<TableRecord>,
}

/// Files with so many tables each; among them some that are equal but for their ids.
pub fn table_files(sizes: &[usize], seed: u64) -> Vec<TableFile> {
    let mut drawn = Drawn(seed);
    let mut number = 0;
    let mut file = |(at, &size): (usize, &usize)| {
        let mut tables: Vec<TableRecord> = Vec::new();
        for _ in 0..size {
            // Ids that do not come in order.
            let id = format!("t{:03}-{number}", number * 7919 % 1000);
            number += 1;
            match tables.last() {
                Some(last) if drawn.below(6) == 0 => tables.push(TableRecord { id, ..last.clone() }),
                _ => tables.push(table(&id, &mut drawn)),
            }
        }
        TableFile { name: format!("file-{at}"), tables }
    };
    sizes.iter().enumerate().map(&mut file).collect()
}

pub fn settings(segments: usize) -> IndexConfig {
    IndexConfig { memory: 1, segments, ..IndexConfig::default() }
}

pub fn writer(directory: &Path, config: &IndexConfig) -> Result<Writer<'static>, CorpusError> {
    Writer::open(directory, &ENCODER, &EncoderConfig::default(), config)
}

pub fn add(writer: &mut Writer, file: &TableFile) {
    writer.begin(&file.name, "");
    for table in &file.tables {
        assert!(writer.add(table.clone(), &mut |_| ()).unwrap().is_ok());
    }
}

/// Takes files in, in one change.
pub fn take_in<'f>(
    directory: &Path,
    config: &IndexConfig,
    files: impl IntoIterator<Item = &'f TableFile>,
) -> Result<Change, CorpusError> {
    let mut writer = writer(directory, config)?;
    files.into_iter().for_each(|file| add(&mut writer, file));
    writer.commit(&mut |_| ())
}

pub fn open(directory: &Path) -> Result<Corpus, CorpusError> {
    Corpus::open_with(directory, Arc::new(ENCODER))
}

pub const QUESTIONS: [&str; 8] = [
    "Which city of Peru has the largest population?",
    "wins of the teams in 2004",
    "rivers",
    "Olympic games 1999 olympic games Ada Bob",
    "año 7.5",
    "nothing known here at all zzz",
    "",
    "name name NAME city",
];

/// Trees over candidates, alone and beside each other, that look at many of their numbers, grown once.
pub fn trees() -> &'static (BoostedTrees, BoostedTrees) {
    static TREES: OnceLock<(BoostedTrees, BoostedTrees)> = OnceLock::new();
    TREES.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        take_in(dir.path(), &settings(9), &table_files(&[60], 5)).unwrap();
        let corpus = open(dir.path()).unwrap();
        let lists: Vec<Candidates> = QUESTIONS
            .iter()
            .map(|text| {
                Candidates::new(&corpus, &corpus.query(text).unwrap(), &Weights::default(), &CandidateConfig::default())
                    .unwrap()
            })
            .collect();
        let is_gold = |hit: &Hit| corpus.id(hit.table).ends_with(['3', '6', '8']);
        let alone = lists.iter().map(|list| (list.rows.clone(), list.hits.iter().map(is_gold).collect()));
        let alone = grown(Candidates::width(), &alone.collect::<Vec<_>>());
        let beside = lists.iter().map(|list| {
            let first = Listwise::new(&corpus, list, &alone.scores(&list.rows));
            let rows = first.rows.len() / Listwise::width();
            (first.rows.clone(), first.hits.iter().take(rows).map(is_gold).collect())
        });
        let listwise = grown(Listwise::width(), &beside.collect::<Vec<_>>());
        (alone, listwise)
    })
}

fn grown(width: usize, lists: &[(Vec<f32>, Vec<bool>)]) -> BoostedTrees {
    let all: Vec<f32> = lists.iter().flat_map(|(rows, _)| rows).copied().collect();
    let mut grown = Lists::new(Bins::new(&all, width));
    lists.iter().for_each(|(rows, gold)| grown.push(rows, gold));
    let config = BoostingConfig {
        num_iterations: 30,
        num_leaves: 6,
        min_data_in_leaf: 5,
        min_sum_hessian_in_leaf: 0.0,
        learning_rate: 0.2,
        ..BoostingConfig::default()
    };
    grow(&grown, &config, 0, &mut |_| ())
}

/// A reranker with them.
pub fn reranker(weights: Weights) -> Rerank {
    let (alone, listwise) = trees().clone();
    Rerank::new(Some(adapter()), weights, CandidateConfig::default(), alone, Some(listwise), "")
}

/// Turns the vectors of questions a little.
pub fn adapter() -> QueryAdapter {
    let numbers = |count: usize, by: usize| (0..count).map(|at| ((at * by) % 17) as f32 / 170.0 - 0.05).collect();
    QueryAdapter::new(numbers(DIM * 4, 7), numbers(4 * DIM, 5), 4)
}

fn fusion(name: &str, weights: Weights) -> Box<dyn Retriever> {
    Box::new(Fusion::new(name, weights))
}

/// Those that need nothing of a corpus before they rank.
pub fn quick_retrievers() -> Vec<Box<dyn Retriever>> {
    vec![
        fusion("sum", Weights::default()),
        fusion("schema", Weights::SCHEMA),
        fusion("fields", Weights::FIELDS),
        fusion("dense", Weights::DENSE),
        fusion("zero", Weights::ZERO),
        Box::new(Rrf {
            name: "rrf".into(),
            of: vec![fusion("fields", Weights::FIELDS), fusion("dense", Weights::DENSE)],
            depth: 7,
        }),
        Box::new(LinkRank::new("links", Weights::default())),
        Box::new(reranker(Weights::default())),
    ]
}

/// Every kind of retriever, with several settings.
pub fn retrievers(corpus: &Corpus) -> Result<Vec<Box<dyn Retriever>>, CorpusError> {
    let gtr = |clusters, transposed| GtrConfig { clusters, typical: 3, tau: 0.2, transposed, ..GtrConfig::default() };
    let mut all = quick_retrievers();
    all.push(Box::new(GtrRetriever::new(corpus, "gtr", &gtr(3, false))?));
    all.push(Box::new(GtrRetriever::new(corpus, "gtr transposed", &gtr(2, true))?));
    Ok(all)
}

/// A ranking: ids and the bits of their scores.
pub type Ranking = Vec<(String, u32)>;

pub fn ranking(corpus: &Corpus, hits: &[Hit]) -> Ranking {
    hits.iter().map(|hit| (corpus.id(hit.table).to_owned(), hit.score.to_bits())).collect()
}

/// All that a corpus answers, to the bit: rankings by name and question, rows of candidates, tables and their files.
#[derive(Debug, PartialEq)]
pub struct Answers {
    pub rankings: Vec<(String, &'static str, Ranking)>,
    rows: Vec<Vec<u32>>,
    tables: Vec<(TableRecord, String)>,
}

pub fn answers_of(corpus: &Corpus) -> Result<Answers, CorpusError> {
    answers_by(corpus, &retrievers(corpus)?)
}

fn answers_by(corpus: &Corpus, retrievers: &[Box<dyn Retriever>]) -> Result<Answers, CorpusError> {
    let queries = QUESTIONS.iter().map(|text| corpus.query(text)).collect::<Result<Vec<_>, _>>()?;
    let mut rankings = Vec::new();
    for retriever in retrievers {
        let together = retriever.retrieve_all(corpus, &queries, 12)?;
        for ((question, query), hits) in QUESTIONS.iter().zip(&queries).zip(together) {
            let alone = ranking(corpus, &retriever.retrieve(corpus, query, 12)?);
            assert_eq!(alone, ranking(corpus, &hits), "{} alone and among others: {question:?}", retriever.name());
            rankings.push((retriever.name(), *question, alone));
        }
    }
    let rows = queries.iter().map(|query| {
        let rows = Candidates::new(corpus, query, &Weights::default(), &CandidateConfig::default())?.rows;
        Ok(rows.into_iter().map(f32::to_bits).collect())
    });
    let tables = corpus.tables().into_iter().map(|at| Ok((corpus.table(at)?, corpus.source(at).to_owned())));
    Ok(Answers {
        rankings,
        rows: rows.collect::<Result<_, CorpusError>>()?,
        tables: tables.collect::<Result<_, CorpusError>>()?,
    })
}

pub fn answers(directory: &Path) -> Answers {
    answers_of(&open(directory).unwrap()).unwrap()
}

/// Without graphs, which many equal tables fill.
pub fn quick_answers(directory: &Path) -> Answers {
    answers_by(&open(directory).unwrap(), &quick_retrievers()).unwrap()
}

/// Those of files taken in at once.
pub fn answers_at_once<'f>(files: impl IntoIterator<Item = &'f TableFile>) -> Answers {
    let dir = tempfile::tempdir().unwrap();
    take_in(dir.path(), &settings(12), files).unwrap();
    answers(dir.path())
}

/// A copy of a corpus, without its lock.
pub fn copy(directory: &Path) -> TempDir {
    let to = tempfile::tempdir().unwrap();
    for name in names(directory).iter().filter(|name| *name != "corpus.lock") {
        std::fs::copy(directory.join(name), to.path().join(name)).unwrap();
    }
    to
}

/// Names of a directory's files.
pub fn names(directory: &Path) -> BTreeSet<String> {
    let entry = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    std::fs::read_dir(directory).unwrap().map(entry).collect()
}

/// Names of the segments' files.
pub fn segments(directory: &Path) -> Vec<PathBuf> {
    let all = names(directory);
    all.iter().filter(|name| name.ends_with(".segment")).map(|name| directory.join(name)).collect()
}

/// Asserts that a directory holds what its manifest names and no more.
pub fn assert_clean(directory: &Path) {
    let corpus = open(directory).unwrap();
    let mut expected: BTreeSet<String> = ["corpus.json", "corpus.lock"].map(String::from).into();
    expected.extend(corpus.manifest().stored().map(|file| file.name.clone()));
    assert_eq!(names(directory), expected);
}

/// This test again in a child process, to which `key` says what to do. Its output is not captured.
pub fn child(test: &str, key: &str, value: &Path) -> std::process::Command {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test, "--nocapture"]).env(key, value);
    child
}
