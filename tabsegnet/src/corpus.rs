//! A corpus of tables: the right tables for a question, and in them the right cells.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tabsegnet_corpus::gtr::GtrConfig;
use tabsegnet_corpus::{Corpus as Tables, CorpusError, Fusion, GtrRetriever, Hit, Rerank, Retriever, Rrf, Weights};
use tabsegnet_datasets::document::{Block, Document, Heading, Table, TableSource};
use tabsegnet_datasets::tables::TableRecord;
use tabsegnet_document::native::document_json;
use tabsegnet_document::{Format, ReadOptions};
use tabsegnet_encoder::{Shipped, shipped};

use crate::{OpenDocument, Question, RankedNode, RankingError, Session};

mod prompt;

pub use tabsegnet_corpus as index;

/// Words for a way to rank tables, for messages.
pub const RETRIEVERS: &str = "rerank, fusion, rrf, bm25, bm25-schema, dense, gtr, or the folder of a trained one";

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
    pub header: Vec<String>,
    /// How many rows it has below them.
    pub rows: usize,
    /// Higher is more relevant; comparable within one question.
    pub score: f32,
}

/// A node of a table of the corpus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableNode {
    /// The id of its table.
    pub table: String,
    /// The node. In its id and position the table's number is its place in the ranking, from 0; rows and columns count
    /// the header as row 0.
    #[serde(flatten)]
    pub node: RankedNode,
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

    /// How many tables it has.
    pub fn len(&self) -> usize {
        self.0.tables.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the tables are ranked by.
    pub fn retriever(&self) -> String {
        self.0.retriever.name()
    }

    /// The best tables for a question. The question's `top` says how many.
    ///
    /// # Errors
    /// A blank question; a damaged file.
    pub fn search<'q>(&self, question: impl Into<Question<'q>>) -> Result<TableRanking, RankingError> {
        let question = question.into();
        if question.text().trim().is_empty() {
            return Err(RankingError::BlankQuestion);
        }
        let Inner { tables, retriever } = self.0.as_ref();
        let hits = retriever.retrieve(tables, &tables.query(question.text())?, question.wanted())?;
        let ranked = hits.iter().zip(1..).map(|(hit, rank)| -> Result<RankedTable, RankingError> {
            let TableRecord { id, title, section, caption, header, rows, .. } = tables.table(hit.table)?;
            let (file, rows) = (tables.source(hit.table).to_owned(), rows.len());
            Ok(RankedTable { rank, id, file, title, section, caption, header, rows, score: hit.score })
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

    /// The tables of a ranking as one document: each under its title and headings, the number of each its place.
    ///
    /// # Errors
    /// A table that is there no more.
    pub fn document(&self, ranking: &TableRanking) -> Result<Document, RankingError> {
        let mut blocks = Vec::new();
        for (number, ranked) in ranking.tables.iter().enumerate() {
            let table = self.table(&ranked.id)?;
            let title = if table.title.is_empty() { &table.id } else { &table.title };
            blocks.push(Block::Heading(Heading { level: 1, text: title.clone() }));
            if !table.section.is_empty() {
                blocks.push(Block::Heading(Heading { level: 2, text: table.section.clone() }));
            }
            blocks.push(Block::Table(grid(&table, number)));
        }
        Ok(Document { id: "corpus".into(), blocks })
    }

    /// Opens the tables of a ranking for a ranker of nodes.
    ///
    /// # Errors
    /// As [`Corpus::document`] and [`Session::open_bytes`].
    pub fn open_tables(&self, session: &Session, ranking: &TableRanking) -> Result<OpenDocument, RankingError> {
        let json = document_json(&self.document(ranking)?);
        let options = ReadOptions { format: Some(Format::Native), ..ReadOptions::default() };
        session.open_bytes("corpus.json", json, &options)
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
        // Headings belong to several tables or none.
        let nodes = document.rank(Question::new(&ranking.question).top(usize::MAX))?.nodes.into_iter();
        let of_table = nodes.filter_map(|node| {
            let table = ranking.tables.get(node.position.table()?)?;
            Some(TableNode { table: table.id.clone(), node })
        });
        ranking.nodes = of_table.take(top).collect();
        for (node, rank) in ranking.nodes.iter_mut().zip(1..) {
            node.node.rank = rank;
        }
        Ok(())
    }
}

/// A table of the corpus as one of a document: its header, where it has one, is row 0, its first column names the rows.
fn grid(table: &TableRecord, number: usize) -> Table {
    let columns = table.rows.iter().map(Vec::len).chain([table.header.len()]).max().unwrap_or(0).max(1);
    let line = |texts: &[String]| {
        (0..columns).map(|column| texts.get(column).map_or("", String::as_str).into()).collect::<Vec<_>>()
    };
    let has_header = table.header.iter().any(|text| !text.trim().is_empty());
    let mut rows = Vec::with_capacity(table.rows.len() + 1);
    if has_header || table.rows.is_empty() {
        rows.push(line(&table.header));
    }
    rows.extend(table.rows.iter().map(|row| line(row)));
    let header_rows = usize::from(has_header && rows.len() > 1);
    let header_cols = usize::from(columns > 1);
    let source =
        TableSource { number, caption: table.caption.clone(), header_rows, header_cols, rows, row_parents: Vec::new() };
    // Every place has a cell of its own; only a table beyond what a document may hold is refused.
    Table::new(source).unwrap_or_else(|_| empty(number))
}

fn empty(number: usize) -> Table {
    let rows = vec![vec!["(a table beyond what a document may hold)".into()]];
    let source = TableSource { number, rows, ..TableSource::default() };
    Table::new(source).unwrap_or_else(|_| unreachable!("one cell is a table"))
}

/// Opens a way to rank the tables of a corpus by its name or folder.
///
/// # Errors
/// No such name and no such folder; a trained one that is damaged.
pub fn open_retriever(tables: &Tables, name: &str) -> Result<Box<dyn Retriever>, CorpusError> {
    Ok(match name {
        "rerank" => Box::new(Rerank::read(&shipped(Shipped::Corpus)?)?),
        "fusion" => Box::new(Fusion::new("fusion", *Rerank::read(&shipped(Shipped::Corpus)?)?.weights())),
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
        "gtr" => Box::new(GtrRetriever::new(tables, "gtr", &GtrConfig::default())?),
        folder if Path::new(folder).is_dir() => Box::new(Rerank::read(Path::new(folder))?),
        other => {
            return Err(CorpusError::Setting { key: "retriever", value: format!("{other:?}"), expected: RETRIEVERS });
        }
    })
}
