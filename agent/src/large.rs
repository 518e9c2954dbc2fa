//! Documents with tables that are too large for the graph: these go through SQL, the rest through the ranker, and the surer
//! of both answers. So do folders, and documents of nothing but tables with records or lists of things: all tables through SQL,
//! the documents that a question is about through the ranker too.

mod excerpt;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabsegnet::ranking::Position;
use tabsegnet::{OpenDocument, Question, RankingError, Session};
use tabsegnet_document::model::{Block, Document, Table};
use tabsegnet_document::numbers::parse_cell_number;
use tabsegnet_document::{Cut, Locations, ReadError, ReadOptions, read};
use tabsegnet_encoder::{EncoderConfig, load};
use tabsegnet_llm::{Budget, ChatModel, LlmSettings, Piece};
use tabsegnet_sql::Sandbox;
use tabsegnet_sql::tables::is_of_records;
use tabsegnet_tablerag::{
    ChunkSettings, Cited, Execution, Found, Library, LibraryError, Meant, ModelPlanner, Outcome, Planner, ReadFiles,
    Reader, Reading, Reranker, RoundError, RoundEvent, RoundSettings, Rounds, Rules, Source, Trust, read_files,
};

use crate::answer::{Answer, Check, Citation};
use crate::folder::Folder;
use crate::measures::answer_with;
use crate::quantity::{Quantity, Unit, of_cell};
use crate::rules::Policy;
pub use excerpt::Excerpt;

/// Cells from which on a table goes through SQL, unless something else is wanted: the graph of ten times as many took 2 GB
/// and answered sums with single cells.
pub const CELLS: usize = 50_000;

/// How many times what a cell shows it holds at least where it shows thousands of it.
const IN_FULL: f64 = 100.0;

/// Documents of a folder that the ranker reads for a question: those of the best chunks.
const DOCUMENTS: usize = 3;

/// A document, or a folder of them, of which tables go through SQL.
pub struct Large {
    path: PathBuf,
    /// Of a folder, the cells from which on a table goes through SQL alone.
    folder: Option<usize>,
    library: Library,
    /// The document without these tables, where it has anything else.
    rest: Option<Document>,
    /// What was read of each table that is too large for the graph: number, rows, columns.
    pub tables: Vec<(usize, usize, usize)>,
    /// What was cut off or guessed when the document was read.
    pub warnings: Vec<String>,
    /// What was cut off.
    cuts: Vec<Cut>,
    /// Where the document's nodes stand in its file; of a folder nothing.
    locations: Locations,
    execution: Execution,
}

/// A document cannot be gone through.
#[derive(Debug, thiserror::Error)]
pub enum LargeError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It cannot be taken in.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The encoder of its chunks.
    #[error(transparent)]
    Encoder(#[from] tabsegnet_encoder::EncoderError),
    /// A table that cannot be cut for a page.
    #[error("the rows that an answer rests on cannot be shown: {0}")]
    Cut(#[from] tabsegnet_document::model::TableError),
}

impl Large {
    /// Reads a document; nothing where none of its tables has `cells` cells or more and it is none of records, or such are not
    /// wanted. `program` serves [`tabsegnet_sql::worker`].
    ///
    /// # Errors
    /// [`LargeError`].
    pub fn read(path: &Path, cells: usize, records: bool, program: OsString) -> Result<Option<Self>, LargeError> {
        let read = read(path, &ReadOptions::default())?;
        let tables: Vec<(usize, usize, usize)> = read
            .document
            .blocks
            .iter()
            .filter(|block| is_large(block, cells))
            .filter_map(|block| match block {
                Block::Table(table) => Some((table.number(), table.rows(), table.cols())),
                Block::Heading(_) | Block::Passage(_) => None,
            })
            .collect();
        if tables.is_empty() && !(records && has_records(&read.document)) {
            return Ok(None);
        }
        let rest = rest_of(&read.document, cells, &[]);
        let (warnings, cuts, locations) = (read.warnings, read.cuts, read.layout.locations);
        let sources = vec![Source::of_file(path, read.document)];
        let large = Self::of(path, ReadFiles { sources, warnings, cuts }, program)?;
        Ok(Some(Self { rest, tables, locations, ..large }))
    }

    /// Some tables of a corpus, a document of those of each file. `path` is a document of all that were found, for a page; `program`
    /// serves [`tabsegnet_sql::worker`].
    ///
    /// # Errors
    /// [`LargeError`].
    pub fn of_files(path: &Path, documents: Vec<(PathBuf, Document)>, program: OsString) -> Result<Self, LargeError> {
        let sources = documents.into_iter().map(|(file, document)| Source::of_file(&file, document)).collect();
        let (warnings, cuts) = (Vec::new(), Vec::new());
        let large = Self::of(path, ReadFiles { sources, warnings, cuts }, program)?;
        Ok(Self { library: large.library.of_part(), ..large })
    }

    /// Reads a folder of reports and spreadsheets. All tables go through SQL, and those of `cells` cells or more through nothing
    /// else. `program` serves [`tabsegnet_sql::worker`].
    ///
    /// # Errors
    /// [`LargeError`]; nothing in it can be read.
    pub fn read_folder(path: &Path, cells: usize, program: OsString) -> Result<Self, LargeError> {
        let read = read_files(&[path.to_owned()], &ReadOptions::default())?;
        Ok(Self { folder: Some(cells), ..Self::of(path, read, program)? })
    }

    /// All that was read goes through SQL, and nothing is left beside it.
    fn of(path: &Path, read: ReadFiles, program: OsString) -> Result<Self, LargeError> {
        let ReadFiles { sources, warnings, cuts } = read;
        let config = EncoderConfig::default();
        let encoder = Arc::from(load(&config)?);
        let library = Library::new(sources, &encoder, &config, ChunkSettings::default())?;
        let execution = Execution { program: Some(program), sandbox: Sandbox::default() };
        let (path, tables) = (path.to_owned(), Vec::new());
        Ok(Self {
            path,
            folder: None,
            library,
            rest: None,
            tables,
            warnings,
            cuts,
            locations: Locations::default(),
            execution,
        })
    }

    /// Its documents and tables, where it is a folder.
    pub fn in_folder(&self) -> Option<[usize; 2]> {
        self.folder.map(|_| [self.library.sources().len(), self.library.tables().len()])
    }

    /// Opens what is left of the document for the ranker; nothing where nothing is left.
    ///
    /// # Errors
    /// As [`Session::open_made`].
    pub fn open_rest(&self, session: &Session) -> Result<Option<OpenDocument>, RankingError> {
        let Some(rest) = &self.rest else { return Ok(None) };
        let name = self.path.with_extension("json");
        session.open_made(name.file_name().unwrap_or_default(), rest).map(Some)
    }

    /// Whether anything is left.
    pub fn has_rest(&self) -> bool {
        self.rest.is_some()
    }

    /// Answers by rules: the likeliest statement, or what `policy` says of the rest where that is surer.
    ///
    /// # Errors
    /// The chunks cannot be searched.
    pub fn answer(
        &self,
        (id, question): (&str, &str),
        rest: Option<(Texts<'_>, &dyn Policy)>,
        settings: &RoundSettings,
    ) -> Result<Answer, RoundError> {
        let mut said = None;
        let reader = Rest { rest, id, cells: self.folder.unwrap_or_default(), said: &mut said };
        let outcome = self.go(question, &mut Rules::new(reader), settings, &mut |_| ())?;
        if outcome.trust == Some(Trust::Text)
            && let Some(answer) = said
        {
            let warnings = self.warnings.clone();
            return Ok(Answer { rounds: outcome.trace, warnings, ..answer.located(&self.locations) });
        }
        Ok(self.said(answer_of(outcome, (id, question), "sql")))
    }

    /// Answers with a language model that plans the rounds, within a budget.
    ///
    /// # Errors
    /// The chunks cannot be searched; the model cannot be reached, refuses, or the like. What was spent is booked then too.
    pub fn answer_by_model(
        &self,
        (id, question): (&str, &str),
        (model, llm, budget): (&dyn ChatModel, &LlmSettings, &mut Budget),
        settings: &RoundSettings,
        on_piece: &mut dyn FnMut(Piece<'_>),
        sink: &mut dyn FnMut(&RoundEvent),
    ) -> Result<Answer, RoundError> {
        let mut planner = ModelPlanner::new(model, llm, budget, on_piece);
        let outcome = self.go(question, &mut planner, settings, sink)?;
        let spent = budget.spent();
        let answer = self.said(answer_of(outcome, (id, question), "llm"));
        Ok(Answer { tokens: Some(spent.tokens), cost: spent.cost, ..answer })
    }

    /// What is said of an answer by SQL; of a document alone its cells are of no other file.
    fn said(&self, answer: Answer) -> Answer {
        let mut answer = Answer { warnings: self.warnings.clone(), ..self.with_unit(answer) };
        if self.folder.is_none() {
            answer.citations.iter_mut().for_each(|citation| citation.file = None);
        }
        of_all_rows(answer.located(&self.locations), &self.cuts)
    }

    /// What a statement takes from cells, or makes of them, counts what these count, where all of them count one thing.
    fn with_unit(&self, answer: Answer) -> Answer {
        let is_kept = |sql: &String| !["count(", "/", "*"].iter().any(|other| sql.to_lowercase().contains(other));
        let Some(value) = answer.value.clone().filter(|_| answer.sql.as_ref().is_some_and(is_kept)) else {
            return answer;
        };
        let quantity = |citation: &Citation| {
            let named =
                |source: &&Source| citation.file.as_ref().is_none_or(|file| *file == source.name.display().to_string());
            let Position::Cell { table: number, row, col, .. } = citation.position else { return None };
            let document = &self.library.sources().iter().find(named)?.document;
            let table = document.tables().find(|table| table.number() == number)?;
            let own = citation.headers();
            let count = own.clone().count();
            let of = of_cell(&citation.text, own.chain([table.caption()]), count, None)?;
            // What a workbook shows in thousands SQL has in full.
            let number = |text: Option<&str>| text.and_then(parse_cell_number).map(f64::abs);
            let is_scaled =
                number(table.value_at(row, col)) > number(Some(&citation.text)).map(|shown| shown * IN_FULL);
            Some(Quantity { scale: of.scale.filter(|_| !is_scaled), ..of })
        };
        let cited: Vec<(&Citation, Quantity)> =
            answer.citations.iter().filter_map(|citation| Some((citation, quantity(citation)?))).collect();
        let Some(&(citation, Quantity { unit, scale, .. })) = cited.first() else { return answer };
        if cited.iter().any(|(_, of)| (of.unit, of.scale) != (unit, scale)) {
            return answer;
        }
        let shown = match (cited.as_slice(), unit) {
            // As it is written.
            ([_], _) if parse_cell_number(&citation.text) == parse_cell_number(&value) => citation.text.clone(),
            (_, Some(Unit::Percent)) => format!("{value}%"),
            (_, Some(unit)) => format!("{unit}{value}"),
            (_, None) => value,
        };
        Answer { answers: vec![shown.clone()], answer: shown, unit, scale, ..answer }
    }

    fn go(
        &self,
        question: &str,
        planner: &mut dyn Planner,
        settings: &RoundSettings,
        sink: &mut dyn FnMut(&RoundEvent),
    ) -> Result<Outcome, RoundError> {
        let reranker = Reranker::shipped()?;
        let rounds = Rounds { library: &self.library, reranker, execution: &self.execution, settings };
        rounds.answer(question, planner, sink)
    }
}

fn is_large(block: &Block, cells: usize) -> bool {
    matches!(block, Block::Table(table) if table.rows() * table.cols() >= cells.max(1))
}

/// Whether a document is tables alone, and one of them has a record or a thing in each row: what is counted, added up and
/// compared in it needs all rows, and the best nodes are some.
pub fn has_records(document: &Document) -> bool {
    document.passages().next().is_none() && document.tables().any(|table| is_of_records(table) || is_list(table))
}

/// Columns of words from which on a table is a list of things and no statement of numbers.
const COLUMNS_OF_WORDS: usize = 2;

/// Whether a table lists things, a row each, and says words of them beside numbers: of questions to such tables of an
/// encyclopedia SQL answers .37 right and the graph .07, of those to statements of numbers .14 and .77 (docs/experiments.md).
fn is_list(table: &Table) -> bool {
    let heads = table.num_header_rows();
    if heads > 1 || (0..table.rows()).any(|row| table.row_parent(row).is_some()) {
        return false;
    }
    let of_words = |col: &usize| {
        let texts = (heads..table.rows()).filter_map(|row| table.cell_at(row, *col)).map(|cell| cell.text.trim());
        let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
        let numbers = texts.iter().filter(|text| parse_cell_number(text).is_some()).count();
        !texts.is_empty() && 2 * numbers < texts.len()
    };
    (0..table.cols()).filter(of_words).take(COLUMNS_OF_WORDS).count() == COLUMNS_OF_WORDS
}

/// An answer from a table, as likely as the table is meant.
fn as_meant(answer: Answer, meant: Meant) -> Answer {
    let checks = meant.note().into_iter().map(|what| Check { what, passed: false });
    let checks = answer.checks.into_iter().chain(checks).collect();
    Answer { confidence: answer.confidence * meant.likelihood(), checks, ..answer }
}

/// A document without its tables of `cells` cells or more, and without some others by their numbers; nothing where nothing but
/// headings is left.
fn rest_of(document: &Document, cells: usize, others: &[usize]) -> Option<Document> {
    let is_other = |block: &Block| matches!(block, Block::Table(table) if others.contains(&table.number()));
    let is_left = |block: &&Block| !is_large(block, cells) && !is_other(block);
    let rest: Vec<Block> = document.blocks.iter().filter(is_left).cloned().collect();
    let has_more = rest.iter().any(|block| !matches!(block, Block::Heading(_)));
    has_more.then(|| Document { id: document.id.clone(), blocks: rest })
}

/// What the ranker reads beside SQL.
#[derive(Clone, Copy)]
pub enum Texts<'a> {
    /// What is left of a document.
    Document(&'a OpenDocument),
    /// The documents of a folder that a question is about, opened for it or an earlier one.
    Folder(&'a Folder),
}

/// What a policy says of texts.
struct Rest<'a> {
    rest: Option<(Texts<'a>, &'a dyn Policy)>,
    id: &'a str,
    cells: usize,
    said: &'a mut Option<Answer>,
}

impl Reader for Rest<'_> {
    fn read(&mut self, library: &Library, question: &str, found: &[Found]) -> Option<Reading> {
        let (texts, policy) = self.rest?;
        let query = Question::new(question).id(self.id).top(usize::MAX).each_place();
        let of = |document: &OpenDocument| answer_with(document, &document.rank(query).ok()?, policy).ok();
        let answer = match texts {
            Texts::Document(document) => of(document)?,
            Texts::Folder(folder) => {
                let mut documents: Vec<usize> = Vec::new();
                for document in found.iter().map(|found| library.chunks()[found.chunk].document) {
                    if documents.len() < DOCUMENTS && !documents.contains(&document) {
                        documents.push(document);
                    }
                }
                let answers = documents.into_iter().filter_map(|number| {
                    let Source { name, document, .. } = &library.sources()[number];
                    let meant = |table: usize| {
                        library.stored(number, table).map_or(Meant::This, |table| library.meant(table, question))
                    };
                    // Tables of other years would answer as well.
                    let is_other = |table: &usize| {
                        library.stored(number, *table).is_some_and(|table| library.means_another(table, question))
                    };
                    let others: Vec<usize> = document.tables().map(Table::number).filter(is_other).collect();
                    let open = folder.document(number, others.clone(), |session| {
                        session.open_made(name, &rest_of(document, self.cells, &others)?).ok()
                    })?;
                    let mut answer = of(&open)?;
                    let file = name.display().to_string();
                    answer.citations.iter_mut().for_each(|citation| citation.file = Some(file.clone()));
                    let of_tables = answer.citations.iter().filter_map(|citation| match citation.position {
                        Position::Cell { table, .. } | Position::Table { table } => Some(meant(table)),
                        _ => None,
                    });
                    let least = of_tables.min_by(|a, b| a.likelihood().total_cmp(&b.likelihood()));
                    Some(as_meant(answer, least.unwrap_or(Meant::This)))
                });
                // The surest; of equals that of the better chunk.
                let surer = |best: Answer, next: Answer| match (best.abstained, next.abstained) {
                    (true, false) => next,
                    (false, false) if next.confidence > best.confidence => next,
                    _ => best,
                };
                answers.reduce(surer)?
            }
        };
        let reading =
            (!answer.abstained).then(|| Reading { answer: answer.answers.clone(), confidence: answer.confidence });
        *self.said = Some(answer);
        reading
    }
}

fn answer_of(outcome: Outcome, (id, question): (&str, &str), policy: &str) -> Answer {
    let more = outcome.executed.as_ref().is_some_and(|run| run.more);
    let mut checks = outcome.checks;
    if more {
        checks.push(Check { what: "the first of the cells that it comes from are cited".to_owned(), passed: true });
    }
    let value = match outcome.answer.as_slice() {
        [one] => parse_cell_number(one).map(|_| one.clone()),
        _ => None,
    };
    Answer {
        id: id.to_owned(),
        question: question.to_owned(),
        answer: outcome.answer.join("; "),
        answers: outcome.answer,
        abstained: outcome.abstained,
        confidence: outcome.confidence,
        value,
        sql: outcome.executed.map(|run| run.sql),
        citations: outcome.cited.iter().filter_map(citation).collect(),
        checks,
        policy: policy.to_owned(),
        rounds: outcome.trace,
        ..Answer::default()
    }
}

/// What SQL says of a table that was cut off is not said: the sum of half of the rows looks like any other.
fn of_all_rows(answer: Answer, cuts: &[Cut]) -> Answer {
    let (Some(cut), true) = (cuts.first(), answer.sql.is_some()) else { return answer };
    answer.withheld(format!("all rows were read: {}", cut.warning))
}

fn citation(cited: &Cited) -> Option<Citation> {
    let position = match cited.cell {
        Some((table, row, col)) => Position::Cell { table, row, col, rowspan: 1, colspan: 1 },
        None => Position::Passage { passage: cited.node.strip_prefix('p')?.parse().ok()? },
    };
    Some(Citation {
        node: cited.node.clone(),
        text: cited.text.clone(),
        row_headers: cited.row_headers.clone(),
        column_headers: cited.column_headers.clone(),
        position,
        location: None,
        table: None,
        file: Some(cited.document.clone()),
        id_in_file: None,
    })
}

#[cfg(test)]
mod tests {
    use tabsegnet_document::model::TableSource;

    use super::*;

    #[test]
    fn lists_are_told_from_statements() {
        let table = |rows: &[&[&str]]| {
            let rows = rows.iter().map(|row| row.iter().map(|text| (*text).into()).collect()).collect();
            Table::new(TableSource { header_rows: 1, header_cols: 1, rows, ..TableSource::default() }).unwrap()
        };
        assert!(is_list(&table(&[
            &["Year", "Club", "City"],
            &["1990", "Ajax", "Amsterdam"],
            &["1991", "Celtic", "Glasgow"]
        ])));
        assert!(!is_list(&table(&[&["", "2024", "2023"], &["Sales", "9", "8"], &["Costs", "4", "–"]])));
        assert!(!is_list(&table(&[&["Club", "Won", "Drawn"], &["Ajax", "9", ""], &["Celtic", "8", ""]])));
        assert!(!is_list(&table(&[&["Year", "Club", "City"]])));
    }

    #[test]
    fn regression_what_is_computed_over_half_a_table_is_not_said() {
        let warning = "the table is cut off after 9 of 12 records: a table may have 18 cells".to_owned();
        let cuts = [Cut { rows: 9, of: Some(12), warning }];
        let answer = |sql: Option<&str>| Answer {
            answer: "45".into(),
            sql: sql.map(str::to_owned),
            confidence: 0.5,
            ..Answer::default()
        };
        assert_eq!(of_all_rows(answer(None), &cuts), answer(None));
        assert_eq!(of_all_rows(answer(Some("SELECT 45")), &[]), answer(Some("SELECT 45")));
        let said = of_all_rows(answer(Some("SELECT 45")), &cuts);
        assert!(said.abstained && said.answer.is_empty() && !said.checks[0].passed, "{said:?}");
        assert!(said.checks[0].what.contains("after 9 of 12 records"));
    }
}
