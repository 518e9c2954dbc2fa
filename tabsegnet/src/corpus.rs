//! A corpus of tables: the right tables for a question, and in them the right cells.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tabsegnet_corpus::gtr::{GtrConfig, GtrError};
use tabsegnet_corpus::{
    Corpus as Tables, CorpusError, Fusion, GtrRetriever, Hit, Rerank, Retriever, Rrf, Weights, of_others,
};
use tabsegnet_datasets::document::{Document, MAX_GRID_POSITIONS};
use tabsegnet_datasets::node_id;
use tabsegnet_datasets::tables::TableRecord;
use tabsegnet_encoder::{EncoderKind, Shipped, shipped};
use tabsegnet_lexical::question::check;
use tabsegnet_store::in_words;

use crate::ranking::Position;
use crate::settings::RankerSettings;
use crate::{NodeRef, OpenDocument, Question, RankedNode, RankingError, Session};

mod layout;
mod prompt;

pub use layout::blocks_of;
use layout::{Shape, Standing, laid_out, unshown};

pub use tabsegnet_corpus as index;

/// Words for a way to rank tables, for messages.
pub const RETRIEVERS: &str = "rerank, fusion, links, rrf, bm25, bm25-schema, dense, gtr (with settings as gtr:tau=0.5,K=20), or the folder \
                              of a trained one";

/// An open corpus with the way in which it ranks. Cheap to clone: all clones are one, for any number of threads.
#[derive(Clone)]
pub struct Corpus(Arc<Inner>);

struct Inner {
    tables: Tables,
    retriever: Box<dyn Retriever>,
}

/// The tables for a question, best first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableRanking {
    /// Empty where the question has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub question_id: String,
    /// The question.
    pub question: String,
    /// How the tables were ranked.
    pub retriever: String,
    /// How many tables the corpus has.
    pub tables_in_corpus: usize,
    /// The tables.
    pub tables: Vec<RankedTable>,
    /// The nodes of these tables that a ranker puts first; empty unless wanted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<TableNode>,
}

/// A table at its place in a ranking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankedTable {
    /// From 1.
    pub rank: usize,
    /// The table's id.
    pub id: String,
    /// The file that it is from.
    pub file: String,
    /// Title of its page or document.
    pub title: String,
    /// Headings above it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub section: String,
    /// Its caption.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub caption: String,
    /// Its column headers.
    #[serde(rename = "header")]
    pub column_headers: Vec<String>,
    /// How many rows it has below them.
    pub rows: usize,
    /// How many of these a document may hold, where it may not hold all: nodes are ranked among the first ones, and a page
    /// shows these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_in_document: Option<usize>,
    /// Where it stands in its file, of a table of a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_file: Option<InFile>,
    /// Whether no node of it is ranked: it says nothing of what the question names with a capital and the title of another
    /// table names, such as the tables of other companies' reports.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_out: bool,
    /// Higher is more relevant; comparable within one question.
    pub score: f32,
}

/// Where a table stands in the document that it is from, with the sentences beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InFile {
    /// The number `n` of the ids `t{n}…` of its nodes.
    pub table: usize,
    /// The number `n` of the id `p{n}` of the first sentence.
    pub passage: usize,
    /// How many sentences; those that a table before it in the ranking has already do not count.
    pub passages: usize,
}

/// A node of a table of the corpus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableNode {
    /// The id of its table; of a sentence that of the table that it stands beside.
    pub table: String,
    /// The file that it is from.
    pub file: String,
    /// Its id there, as the ranking of the file alone has it; none of a line of JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id_in_file: Option<String>,
    /// The node. In its id and position the table's number is its place in the ranking, from 0, and sentences are counted
    /// through; rows and columns are those of the document, of a line of JSON the header is row 0.
    #[serde(flatten)]
    pub node: RankedNode,
}

impl TableNode {
    /// The node whatever the ranking: `FILE#t5:r3c1` of a document, `TABLE#r3c1` of a line of JSON.
    pub fn in_corpus(&self) -> NodeRef {
        match &self.id_in_file {
            Some(id) => NodeRef { document: self.file.clone(), node: id.clone() },
            None => {
                let id = self.node.id.split_once(':').map_or(self.node.id.as_str(), |(_, place)| place);
                NodeRef { document: self.table.clone(), node: id.to_owned() }
            }
        }
    }
}

impl TableRanking {
    /// The table that a node of the ranking's document ([`Corpus::document`]) is of, by the node's position: a heading is of
    /// the table that it stands over, a sentence of the one that it stands beside. `None` where the ranking has no such table.
    pub fn table_of(&self, position: &Position) -> Option<&RankedTable> {
        match position {
            Position::Cell { table, .. } | Position::Table { table } => self.tables.get(*table),
            Position::Heading { heading } => {
                let mut headings = 0;
                self.tables.iter().filter(|table| !table.left_out).find(|table| {
                    headings += 1 + usize::from(!table.section.is_empty());
                    *heading < headings
                })
            }
            Position::Passage { passage } => self.beside(*passage).map(|(table, _)| table),
        }
    }

    /// What the file of a table calls a node of the ranking's document.
    pub fn id_in_file(&self, id: &str, position: &Position) -> Option<String> {
        match position {
            Position::Passage { passage } => Some(node_id::passage(self.beside(*passage)?.1)),
            Position::Cell { table, .. } | Position::Table { table } => {
                let in_file = self.tables.get(*table)?.in_file.as_ref()?;
                let of_table = id.strip_prefix(&node_id::caption(*table))?;
                Some(node_id::caption(in_file.table) + of_table)
            }
            Position::Heading { .. } => None,
        }
    }

    /// The table that a sentence of the ranking's document stands beside, and its number in the table's file.
    fn beside(&self, mut passage: usize) -> Option<(&RankedTable, usize)> {
        for table in &self.tables {
            let Some(in_file) = &table.in_file else { continue };
            match passage.checked_sub(in_file.passages) {
                None => return Some((table, in_file.passage + passage)),
                Some(beyond) => passage = beyond,
            }
        }
        None
    }
}

impl Corpus {
    /// Opens a corpus that `index` made, to be searched with the reranker that comes with the project.
    ///
    /// # Errors
    /// There is none, it is damaged, or its encoder or the reranker is not to be had.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self, RankingError> {
        Self::open_with(directory, "rerank")
    }

    /// Opens a corpus to be searched in a way of [`RETRIEVERS`].
    ///
    /// # Errors
    /// As [`Corpus::open`]; a way that is none.
    pub fn open_with(directory: impl AsRef<Path>, retriever: &str) -> Result<Self, RankingError> {
        let tables = Tables::open(directory.as_ref())?;
        let retriever = open_retriever(&tables, retriever)?;
        Ok(Self(Arc::new(Inner { tables, retriever })))
    }

    /// [`Corpus::open_with`] of a program whose option `--retriever` names the way: an error names it.
    ///
    /// # Errors
    /// As [`Corpus::open_with`].
    pub fn open_by_option(directory: impl AsRef<Path>, retriever: &str) -> Result<Self, RankingError> {
        Self::open_with(directory, retriever).map_err(|error| match error {
            RankingError::Corpus(CorpusError::Retriever { given, message }) => {
                CorpusError::Retriever { given: format!("--retriever {given}"), message }.into()
            }
            other => other,
        })
    }

    /// How many tables it has.
    pub fn len(&self) -> usize {
        self.0.tables.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is to be said before it is searched: that the reranker has learnt from other vectors than it has.
    pub fn notice(&self) -> Option<String> {
        self.0.retriever.notice(&self.0.tables)
    }

    /// What the tables are ranked by.
    pub fn retriever(&self) -> String {
        self.0.retriever.name()
    }

    /// The best tables for a question. The question's `top` says how many.
    ///
    /// # Errors
    /// A question that is blank or too long; a damaged file.
    pub fn search<'q>(&self, question: impl Into<Question<'q>>) -> Result<TableRanking, RankingError> {
        let question = question.into();
        check(question.text())?;
        let Inner { tables, retriever } = self.0.as_ref();
        let hits = retriever.retrieve(tables, &tables.query(question.text())?, question.wanted())?;
        let mut shown: HashMap<String, Vec<Range<usize>>> = HashMap::new();
        let records = hits.iter().map(|hit| tables.table(hit.table)).collect::<Result<Vec<_>, _>>()?;
        let of_others = of_others(question.text(), &records);
        let each = hits.iter().zip(records).zip(of_others).zip(1..);
        let ranked = each.map(|(((hit, table), left_out), rank)| -> Result<RankedTable, RankingError> {
            let (file, score) = (tables.source(hit.table).to_owned(), hit.score);
            let in_file = Standing::of(&table)?.map(|standing| {
                let passages = if left_out {
                    0..0
                } else {
                    let shown = shown.entry(file.clone()).or_default();
                    let passages = unshown(standing.passages(), shown);
                    shown.push(passages.clone());
                    passages
                };
                InFile { table: standing.table.number(), passage: passages.start, passages: passages.len() }
            });
            let rows_in_document = in_file.is_none().then(|| Shape::of(&table, MAX_GRID_POSITIONS).cut_to()).flatten();
            let TableRecord { id, title, section, caption, column_headers, rows, .. } = table;
            let rows = rows.len();
            Ok(RankedTable {
                rank,
                id,
                file,
                title,
                section,
                caption,
                column_headers,
                rows,
                rows_in_document,
                in_file,
                left_out,
                score,
            })
        });
        Ok(TableRanking {
            question_id: question.id_text().to_owned(),
            question: question.text().to_owned(),
            retriever: retriever.name(),
            tables_in_corpus: tables.len(),
            tables: ranked.collect::<Result<_, _>>()?,
            nodes: Vec::new(),
        })
    }

    /// Ids of the best tables with their scores, for many questions at a time.
    ///
    /// # Errors
    /// As [`Corpus::search`].
    pub fn search_ids(&self, question: &str, top: usize) -> Result<Vec<(String, f32)>, RankingError> {
        let Inner { tables, retriever } = self.0.as_ref();
        let hits: Vec<Hit> = retriever.retrieve(tables, &tables.query(question)?, top)?;
        Ok(hits.into_iter().map(|hit| (tables.id(hit.table).to_owned(), hit.score)).collect())
    }

    /// A table by its id.
    ///
    /// # Errors
    /// There is none.
    pub fn table(&self, id: &str) -> Result<TableRecord, RankingError> {
        let tables = &self.0.tables;
        Ok(tables.table(tables.find(id)?)?)
    }

    /// The tables of a ranking as one document: each under its title and headings, with the sentences that stand beside it, the
    /// number of each its place. Of a table beyond what a document may hold the first rows, as
    /// [`RankedTable::rows_in_document`] says; none of those that are [`RankedTable::left_out`].
    ///
    /// # Errors
    /// A table that is there no more.
    pub fn document(&self, ranking: &TableRanking) -> Result<Document, RankingError> {
        self.document_of("corpus", ranking, |_| true)
    }

    /// Those of the tables alone that `is` says, by their places, as a document of a name.
    ///
    /// # Errors
    /// As [`Corpus::document`].
    pub fn document_of(
        &self,
        name: &str,
        ranking: &TableRanking,
        is: impl Fn(usize) -> bool,
    ) -> Result<Document, RankingError> {
        let mut blocks = Vec::new();
        let kept = |(number, ranked): &(usize, &RankedTable)| !ranked.left_out && is(*number);
        for (number, ranked) in ranking.tables.iter().enumerate().filter(kept) {
            let wanted = ranked.in_file.as_ref().map(|in_file| in_file.passage..in_file.passage + in_file.passages);
            blocks.extend(laid_out(&self.table(&ranked.id)?, number, wanted)?);
        }
        Ok(Document { id: name.into(), blocks })
    }

    /// Opens the tables of a ranking for a ranker of nodes.
    ///
    /// # Errors
    /// As [`Corpus::document`] and [`Session::open_made`].
    pub fn open_tables(&self, session: &Session, ranking: &TableRanking) -> Result<OpenDocument, RankingError> {
        session.open_made("corpus.json", &self.document(ranking)?)
    }

    /// Puts the best nodes of the ranking's tables into it: corpus → tables → nodes.
    ///
    /// # Errors
    /// As [`Corpus::open_tables`] and [`OpenDocument::rank`].
    pub fn rank_nodes(&self, session: &Session, ranking: &mut TableRanking, top: usize) -> Result<(), RankingError> {
        if ranking.tables.is_empty() {
            return Ok(());
        }
        let document = self.open_tables(session, ranking)?;
        // Headings are what the tables are called, which the ranking says.
        let nodes = document.rank(Question::new(&ranking.question).top(usize::MAX).each_place())?.nodes.into_iter();
        let of_table = nodes.filter(|node| !matches!(node.position, Position::Heading { .. })).filter_map(|node| {
            let RankedTable { id, file, .. } = ranking.table_of(&node.position)?;
            let id_in_file = ranking.id_in_file(&node.id, &node.position);
            Some(TableNode { table: id.clone(), file: file.clone(), id_in_file, node })
        });
        ranking.nodes = of_table.take(top).collect();
        for (node, rank) in ranking.nodes.iter_mut().zip(1..) {
            node.node.rank = rank;
        }
        Ok(())
    }
}

/// Opens a way to rank the tables of a corpus by its name or folder.
///
/// # Errors
/// No such name and no such folder; a trained one that is damaged.
pub fn open_retriever(tables: &Tables, name: &str) -> Result<Box<dyn Retriever>, CorpusError> {
    // Signals of another encoder weigh otherwise.
    let reranker = match tables.manifest().encoder.kind {
        EncoderKind::Static => Shipped::Corpus,
        EncoderKind::Bert => Shipped::CorpusMinilm,
    };
    let (way, settings) = name.split_once(':').unwrap_or((name, ""));
    Ok(match name {
        "rerank" => Box::new(Rerank::read(&shipped(reranker)?)?),
        "fusion" => Box::new(Rerank::read(&shipped(reranker)?)?.fusion("fusion")),
        "bm25" => Box::new(Fusion::new("bm25", Weights::FIELDS)),
        "bm25-schema" => Box::new(Fusion::new("bm25-schema", Weights::SCHEMA)),
        "dense" => Box::new(Fusion::new("dense", Weights::DENSE)),
        "rrf" => Box::new(Rrf {
            name: "rrf".into(),
            of: vec![
                Box::new(Fusion::new("bm25", Weights::FIELDS)),
                Box::new(Fusion::new("bm25-schema", Weights::SCHEMA)),
                Box::new(Fusion::new("dense", Weights::DENSE)),
            ],
            depth: 100,
        }),
        "links" => Box::new(Rerank::read(&shipped(reranker)?)?.links("links")),
        folder if Path::new(folder).is_dir() => Box::new(trained(tables, Path::new(folder))?),
        _ if way == "gtr" => {
            let config = gtr_config(tables, name, settings)?;
            Box::new(GtrRetriever::new(tables, name, &config).map_err(|error| as_typed(error, name, settings))?)
        }
        other => return Err(no_way(other, format!("is no way to rank tables; expected {RETRIEVERS}"))),
    })
}

fn no_way(given: &str, message: String) -> CorpusError {
    CorpusError::Retriever { given: given.to_owned(), message }
}

/// A setting that cannot be, by the name that it was given by.
fn as_typed(error: CorpusError, given: &str, settings: &str) -> CorpusError {
    let CorpusError::Gtr(GtrError::Setting { name, value, wanted }) = error else { return error };
    let mut typed = settings.split(',').filter_map(|setting| Some(setting.split_once('=')?.0.trim()));
    let means = |key: &&str| GtrConfig::SYMBOLS.iter().any(|(symbol, of)| symbol == key && *of == name);
    no_way(given, format!("{} is {value}; expected {wanted}", typed.find(means).unwrap_or(name)))
}

/// A reranker of somebody's own.
///
/// # Errors
/// One that is damaged, or has learnt from vectors of another kind than the corpus has.
fn trained(tables: &Tables, folder: &Path) -> Result<Rerank, CorpusError> {
    let rerank = Rerank::read(folder)?;
    let file = folder.join("config.toml");
    let damaged = |message: String| CorpusError::Damaged { file: file.display().to_string(), message };
    let config = std::fs::read_to_string(&file).map_err(|error| damaged(error.to_string()))?;
    let of_trees = RankerSettings::parse(&file, &config).map_err(|error| damaged(error.to_string()))?.encoder.kind;
    if of_trees != tables.manifest().encoder.kind {
        let message =
            "has learnt from vectors of another encoder; expected one trained over vectors of the corpus' own";
        return Err(no_way(&folder.display().to_string(), message.to_owned()));
    }
    Ok(rerank)
}

/// Settings of GTR, `KEY=VALUE` with commas between. Static vectors' cosines are high: at the paper's .3 nearly all tables are
/// neighbours, and .6 is their default.
fn gtr_config(tables: &Tables, given: &str, settings: &str) -> Result<GtrConfig, CorpusError> {
    let wrong = |error: toml::de::Error| {
        let message = in_words(error.message());
        no_way(given, format!("{message}; expected KEY=VALUE with commas between, as in gtr:tau=0.5,K=20"))
    };
    // The paper's symbols are no bare keys of TOML, nor is .5 one of its numbers.
    let greek = GtrConfig::SYMBOLS.into_iter().filter(|(symbol, _)| !symbol.is_ascii());
    let settings = greek.fold(settings.to_owned(), |text, (symbol, name)| text.replace(symbol, name));
    let mut config: toml::Table = settings.replace(',', "\n").replace("=.", "=0.").parse().map_err(wrong)?;
    if tables.manifest().encoder.kind == EncoderKind::Static && !config.contains_key("tau") {
        config.insert("tau".into(), 0.6.into());
    }
    config.try_into().map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_encoder_has_a_reranker() {
        for (reranker, kind) in [(Shipped::Corpus, "static"), (Shipped::CorpusMinilm, "bert")] {
            let folder = shipped(reranker).unwrap();
            Rerank::read(&folder).unwrap();
            let config: toml::Table = std::fs::read_to_string(folder.join("config.toml")).unwrap().parse().unwrap();
            assert_eq!(config["encoder"]["kind"].as_str(), Some(kind));
        }
    }

    #[test]
    fn a_node_is_of_the_table_that_it_stands_in_or_over() {
        let ranked = |id: &str, section: &str| RankedTable {
            rank: 1,
            id: id.into(),
            file: String::new(),
            title: String::new(),
            section: section.into(),
            caption: String::new(),
            column_headers: Vec::new(),
            rows: 1,
            rows_in_document: None,
            in_file: None,
            left_out: id == "left out",
            score: 0.0,
        };
        let tables = vec![ranked("a", ""), ranked("b", "Debt"), ranked("left out", "Debt"), ranked("c", "")];
        let ranking = TableRanking {
            question_id: String::new(),
            question: "x".into(),
            retriever: "bm25".into(),
            tables_in_corpus: 4,
            tables,
            nodes: Vec::new(),
        };
        let of = |position: Position| ranking.table_of(&position).map(|table| table.id.as_str());
        let headings = (0..5).map(|heading| of(Position::Heading { heading }));
        assert_eq!(headings.collect::<Vec<_>>(), [Some("a"), Some("b"), Some("b"), Some("c"), None]);
        assert_eq!(of(Position::Cell { table: 3, row: 1, col: 0, rowspan: 1, colspan: 1 }), Some("c"));
        assert_eq!((of(Position::Table { table: 4 }), of(Position::Passage { passage: 0 })), (None, None));
    }
}
