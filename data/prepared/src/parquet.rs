//! The five Parquet files, written and read through polars.

use std::fs::File;
use std::path::Path;

use polars::prelude::*;

use tabsegnet_datasets::DataError;
use tabsegnet_datasets::prepared::{Prepared, PreparedDocument, PreparedQuestion, PreparedSegment};
use tabsegnet_graph::{Adjacency, Graph, Node, NodeKind, TablePlace, TypeNames};
use tabsegnet_store::FileError;

const DOCUMENTS: &str = "documents.parquet";
const NODES: &str = "nodes.parquet";
const EDGES: &str = "edges.parquet";
const QUESTIONS: &str = "questions.parquet";
const SEGMENTS: &str = "segments.parquet";

pub(super) fn write(prepared: &Prepared, directory: &Path) -> Result<(), DataError> {
    let documents = &prepared.documents;
    let passages = |d: &PreparedDocument| d.nodes().iter().filter(|n| n.kind == NodeKind::Passage).count() as u32;
    let tables = |d: &PreparedDocument| d.nodes().iter().filter(|n| n.kind == NodeKind::Caption).count() as u32;
    write_table(
        directory,
        DOCUMENTS,
        documents.len(),
        vec![
            numbers("document", 0..documents.len() as u32),
            texts("id", documents.iter().map(|d| d.id.as_str())),
            numbers("tables", documents.iter().map(tables)),
            numbers("passages", documents.iter().map(passages)),
        ],
    )?;

    let nodes: Vec<(u32, u32, &Node, &String)> = documents
        .iter()
        .zip(0..)
        .flat_map(|(document, d)| {
            let texts = document.nodes().iter().zip(&document.ranking_texts);
            texts.zip(0..).map(move |((node, text), n)| (d, n, node, text))
        })
        .collect();
    let in_table = |name: &str, field: fn(&TablePlace) -> usize| {
        let values = nodes.iter().map(|(_, _, node, _)| node.place.as_ref().map(|place| field(place) as u32));
        Column::new(name.into(), values.collect::<Vec<Option<u32>>>())
    };
    let sections: Vec<Option<u32>> = nodes.iter().map(|(_, _, node, _)| node.section).collect();
    let path = |name: &str, field: fn(&TablePlace) -> &str| {
        let values = nodes.iter().map(|(_, _, node, _)| node.place.as_ref().map(field));
        Column::new(name.into(), values.collect::<Vec<Option<&str>>>())
    };
    write_table(
        directory,
        NODES,
        nodes.len(),
        vec![
            numbers("document", nodes.iter().map(|node| node.0)),
            numbers("node", nodes.iter().map(|node| node.1)),
            texts("id", nodes.iter().map(|node| node.2.id.as_str())),
            texts("kind", nodes.iter().map(|node| node.2.kind.name())),
            texts("text", nodes.iter().map(|node| node.2.text.as_str())),
            texts("ranking_text", nodes.iter().map(|node| node.3.as_str())),
            in_table("table", |place| place.table),
            in_table("row", |place| place.row),
            in_table("col", |place| place.col),
            in_table("rowspan", |place| place.rowspan),
            in_table("colspan", |place| place.colspan),
            path("row_path", |place| &place.row_path),
            path("column_path", |place| &place.column_path),
            Column::new("section".into(), sections),
        ],
    )?;

    let mut edges: Vec<(u32, u32, u32, &str)> = Vec::new();
    for (document, number) in documents.iter().zip(0..) {
        let adjacency = document.graph.adjacency();
        let named = |(edge, (source, destination, _))| (number, source, destination, adjacency.type_name(edge));
        edges.extend(adjacency.iter().enumerate().map(named));
    }
    write_table(
        directory,
        EDGES,
        edges.len(),
        vec![
            numbers("document", edges.iter().map(|edge| edge.0)),
            numbers("source", edges.iter().map(|edge| edge.1)),
            numbers("destination", edges.iter().map(|edge| edge.2)),
            texts("type", edges.iter().map(|edge| edge.3)),
        ],
    )?;

    let questions = &prepared.questions;
    write_table(
        directory,
        QUESTIONS,
        questions.len(),
        vec![
            texts("id", questions.iter().map(|q| q.id.as_str())),
            numbers("document", questions.iter().map(|q| q.document as u32)),
            texts("question", questions.iter().map(|q| q.text.as_str())),
            lists("gold", questions.iter().map(|q| &q.gold[..])),
        ],
    )?;

    let segments: Vec<(u32, &PreparedSegment)> =
        questions.iter().zip(0..).flat_map(|(q, number)| q.segments.iter().map(move |s| (number, s))).collect();
    write_table(
        directory,
        SEGMENTS,
        segments.len(),
        vec![
            numbers("question", segments.iter().map(|segment| segment.0)),
            texts("text", segments.iter().map(|segment| segment.1.text.as_str())),
            lists("nodes", segments.iter().map(|segment| &segment.1.nodes[..])),
        ],
    )
}

fn lists<'a>(name: &str, values: impl Iterator<Item = &'a [u32]>) -> Column {
    let lists: Vec<Series> = values.map(|list| Series::new("".into(), list)).collect();
    if lists.is_empty() {
        Column::new_empty(name.into(), &DataType::List(Box::new(DataType::UInt32)))
    } else {
        Column::new(name.into(), lists)
    }
}

fn numbers(name: &str, values: impl Iterator<Item = u32>) -> Column {
    Column::new(name.into(), values.collect::<Vec<u32>>())
}

fn texts<'a>(name: &str, values: impl Iterator<Item = &'a str>) -> Column {
    Column::new(name.into(), values.collect::<Vec<&str>>())
}

fn write_table(directory: &Path, name: &str, height: usize, columns: Vec<Column>) -> Result<(), DataError> {
    let path = directory.join(name);
    let failed = |error: PolarsError| prepared_error(&path, format!("could not write the table: {error}"));
    let mut frame = DataFrame::new(height, columns).map_err(failed)?;
    let file = File::create(&path).map_err(FileError::at(&path, "write"))?;
    ParquetWriter::new(file).finish(&mut frame).map_err(failed)?;
    Ok(())
}

fn prepared_error(path: &Path, message: impl Into<String>) -> DataError {
    DataError::Prepared { file: path.display().to_string(), message: message.into() }
}

/// A table read back. Every error names the file and says how to be rid of it.
struct Table<'a> {
    path: std::path::PathBuf,
    directory: &'a Path,
    frame: DataFrame,
}

impl<'a> Table<'a> {
    fn open(directory: &'a Path, name: &str) -> Result<Self, DataError> {
        let path = directory.join(name);
        let file = File::open(&path).map_err(FileError::at(&path, "read"))?;
        let mut table = Self { path, directory, frame: DataFrame::empty() };
        table.frame = ParquetReader::new(file).finish().map_err(|error| table.damaged(error))?;
        Ok(table)
    }

    fn damaged(&self, what: impl std::fmt::Display) -> DataError {
        let directory = self.directory.display();
        prepared_error(&self.path, format!("{what}; delete {directory} to prepare the data anew"))
    }

    fn column(&self, name: &str) -> Result<&Column, DataError> {
        self.frame.column(name).map_err(|error| self.damaged(error))
    }

    fn optional_numbers(&self, name: &str) -> Result<Vec<Option<u32>>, DataError> {
        let column = self.column(name)?.u32().map_err(|error| self.damaged(error))?;
        Ok(column.iter().collect())
    }

    fn numbers(&self, name: &str) -> Result<Vec<u32>, DataError> {
        self.whole(name, self.optional_numbers(name)?)
    }

    fn optional_texts(&self, name: &str) -> Result<Vec<Option<String>>, DataError> {
        let column = self.column(name)?.str().map_err(|error| self.damaged(error))?;
        Ok(column.iter().map(|text| text.map(str::to_owned)).collect())
    }

    fn texts(&self, name: &str) -> Result<Vec<String>, DataError> {
        self.whole(name, self.optional_texts(name)?)
    }

    fn lists(&self, name: &str) -> Result<Vec<Vec<u32>>, DataError> {
        let lists = self.column(name)?.list().map_err(|error| self.damaged(error))?;
        let list = |i: usize| {
            let list = lists.get_as_series(i)?;
            list.u32().ok()?.iter().collect::<Option<Vec<u32>>>()
        };
        self.whole(name, (0..lists.len()).map(list).collect())
    }

    fn whole<T>(&self, name: &str, values: Vec<Option<T>>) -> Result<Vec<T>, DataError> {
        values.into_iter().collect::<Option<_>>().ok_or_else(|| self.damaged(format!("column {name} holds nulls")))
    }
}

pub(super) fn read(directory: &Path) -> Result<(Vec<PreparedDocument>, Vec<PreparedQuestion>), DataError> {
    let table = Table::open(directory, DOCUMENTS)?;
    let mut documents: Vec<PreparedDocument> = table
        .texts("id")?
        .into_iter()
        .map(|id| PreparedDocument { id, graph: Graph::default(), ranking_texts: vec![] })
        .collect();
    let nodes = read_nodes(directory, &mut documents)?;
    read_edges(directory, &mut documents, nodes)?;
    let mut questions = read_questions(directory, &documents)?;
    read_segments(directory, &documents, &mut questions)?;
    Ok((documents, questions))
}

/// Fills in the ranking texts; returns the nodes, by document.
fn read_nodes(directory: &Path, documents: &mut [PreparedDocument]) -> Result<Vec<Vec<Node>>, DataError> {
    let table = Table::open(directory, NODES)?;
    let mut nodes = vec![Vec::new(); documents.len()];
    let columns = ["table", "row", "col", "rowspan", "colspan"].map(|name| table.optional_numbers(name));
    let [tables, rows, cols, rowspans, colspans] = columns;
    let (tables, rows, cols, rowspans, colspans) = (tables?, rows?, cols?, rowspans?, colspans?);
    let sections = table.optional_numbers("section")?;
    let (row_paths, column_paths) = (table.optional_texts("row_path")?, table.optional_texts("column_path")?);
    let of = table.numbers("document")?;
    let rest = table.texts("id")?.into_iter().zip(table.texts("kind")?);
    let rest = rest.zip(table.texts("text")?).zip(table.texts("ranking_text")?);
    for (i, (((id, kind), text), ranking_text)) in rest.enumerate() {
        let place = (|| {
            Some(TablePlace {
                table: tables[i]? as usize,
                row: rows[i]? as usize,
                col: cols[i]? as usize,
                rowspan: rowspans[i]? as usize,
                colspan: colspans[i]? as usize,
                row_path: row_paths[i].clone()?,
                column_path: column_paths[i].clone()?,
            })
        })();
        let kind = NodeKind::ALL
            .into_iter()
            .find(|known| known.name() == kind)
            .ok_or_else(|| table.damaged(format!("row {i} has the unknown kind {kind:?}")))?;
        let document = documents
            .get_mut(of[i] as usize)
            .ok_or_else(|| table.damaged(format!("row {i} belongs to no document")))?;
        let nodes = &mut nodes[of[i] as usize];
        let section = sections[i];
        if section.is_some_and(|heading| heading as usize >= nodes.len()) {
            return Err(table.damaged(format!("row {i} stands under a heading that is no earlier node")));
        }
        nodes.push(Node { id, kind, text, place, section });
        document.ranking_texts.push(ranking_text);
    }
    Ok(nodes)
}

/// Fills in the graphs, of which the nodes are given by document.
fn read_edges(directory: &Path, documents: &mut [PreparedDocument], nodes: Vec<Vec<Node>>) -> Result<(), DataError> {
    let table = Table::open(directory, EDGES)?;
    let names = TypeNames::default();
    let of = table.numbers("document")?;
    let ends = table.numbers("source")?.into_iter().zip(table.numbers("destination")?);
    let mut edges: Vec<Vec<(u32, u32, u8)>> = vec![Vec::new(); documents.len()];
    for (i, ((source, destination), name)) in ends.zip(table.texts("type")?).enumerate() {
        let edge_type = names.number(&name).map_err(|error| table.damaged(format!("row {i}: {error}")))?;
        edges
            .get_mut(of[i] as usize)
            .ok_or_else(|| table.damaged(format!("row {i} belongs to no document")))?
            .push((source, destination, edge_type));
    }
    for ((document, nodes), edges) in documents.iter_mut().zip(nodes).zip(edges) {
        let graph = Adjacency::new(nodes.len(), names.clone(), &edges).and_then(|edges| Graph::new(nodes, edges));
        document.graph = graph.map_err(|error| table.damaged(error))?;
    }
    Ok(())
}

fn read_questions(directory: &Path, documents: &[PreparedDocument]) -> Result<Vec<PreparedQuestion>, DataError> {
    let table = Table::open(directory, QUESTIONS)?;
    let gold = table.lists("gold")?;
    let rest = table.texts("id")?.into_iter().zip(table.numbers("document")?).zip(table.texts("question")?);
    let mut questions = Vec::with_capacity(gold.len());
    for (i, (((id, document), text), gold)) in rest.zip(gold).enumerate() {
        let document = document as usize;
        if !are_nodes(documents, document, &gold) {
            return Err(table.damaged(format!("row {i} has gold that is no node")));
        }
        questions.push(PreparedQuestion { id, document, text, gold, segments: Vec::new() });
    }
    Ok(questions)
}

fn read_segments(
    directory: &Path,
    documents: &[PreparedDocument],
    questions: &mut [PreparedQuestion],
) -> Result<(), DataError> {
    let table = Table::open(directory, SEGMENTS)?;
    let rest = table.numbers("question")?.into_iter().zip(table.texts("text")?).zip(table.lists("nodes")?);
    for (i, ((question, text), nodes)) in rest.enumerate() {
        let question = questions
            .get_mut(question as usize)
            .filter(|question| are_nodes(documents, question.document, &nodes))
            .ok_or_else(|| table.damaged(format!("row {i} has no question or nodes that are none")))?;
        question.segments.push(PreparedSegment { text, nodes });
    }
    Ok(())
}

fn are_nodes(documents: &[PreparedDocument], document: usize, nodes: &[u32]) -> bool {
    documents.get(document).is_some_and(|document| nodes.iter().all(|&node| (node as usize) < document.nodes().len()))
}
