//! The published files of the data sets that MultiTableQA is made from (paper, §2.1), as they are downloaded.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Deserialize;
use serde_json::{Value, json};
use tabsegnet_datasets::tables::{TableQuestion, TableRecord};
use tabsegnet_document::folders::files_below;
use tabsegnet_store::{read_bytes, read_text};

use super::MultiTableError;
use super::source::{ReadSources, SourceQuestion};

/// A data set whose published files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataSet {
    /// WikiTableQuestions: `data/*.tsv`, `csv/*-csv/*.csv` and, for titles, `misc/table-metadata.tsv`.
    Wtq,
    /// SQA: `*.tsv` and `table_csv/*.csv`; its tables are WTQ's, and have the same ids.
    Sqa,
    /// TabFact: `data/all_csv/*.csv`, `data/table_to_page.json`, statements in `collected_data`, `tokenized_data` and `pairwise_data`.
    Tabfact,
    /// OTT-QA and HybridQA: tables as JSON, one a file or a line, with `uid`, `header` and `data`; questions as lists with `table_id`.
    Ottqa,
}

impl DataSet {
    const ALL: [(&'static str, Self); 5] = [
        ("wtq", Self::Wtq),
        ("sqa", Self::Sqa),
        ("tabfact", Self::Tabfact),
        ("ottqa", Self::Ottqa),
        ("hybridqa", Self::Ottqa),
    ];
}

/// A data set and where its files lie: `wtq=WikiTableQuestions-1.0.2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Which.
    pub data_set: DataSet,
    /// The folder of its files.
    pub folder: PathBuf,
}

impl FromStr for Published {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = || DataSet::ALL.map(|(name, _)| name).join(", ");
        let (name, folder) =
            text.split_once('=').ok_or_else(|| format!("expected NAME=FOLDER, NAME of {}", known()))?;
        let found = DataSet::ALL.into_iter().find(|(known, _)| *known == name);
        let (_, data_set) = found.ok_or_else(|| format!("{name} is none of {}", known()))?;
        Ok(Self { data_set, folder: folder.into() })
    }
}

/// Tables and questions of a data set, in order.
type Read = (Vec<TableRecord>, Vec<SourceQuestion>);

/// Tables and questions as published. Of tables, and of questions, with one id the first counts: SQA's tables are WTQ's.
///
/// Questions of tables that are not there are left out.
///
/// # Errors
/// Files that are missing, or not of the form that the data set has; the message names file and place.
pub fn read_data_sets(published: &[Published]) -> Result<ReadSources, MultiTableError> {
    let mut read = ReadSources::default();
    let ReadSources { tables, questions, left_out } = &mut read;
    for Published { data_set, folder } in published {
        let (of_set, questions_of_set) = match data_set {
            DataSet::Wtq => wtq(folder)?,
            DataSet::Sqa => sqa(folder)?,
            DataSet::Tabfact => tabfact(folder)?,
            DataSet::Ottqa => ottqa(folder)?,
        };
        if of_set.is_empty() || questions_of_set.is_empty() {
            let missing = if of_set.is_empty() { "tables" } else { "questions" };
            return Err(wrong(folder, format!("has no {missing} in the published form (--help names the files)")));
        }
        tables.extend(of_set);
        questions.extend(questions_of_set);
    }
    let mut ids = HashSet::new();
    tables.retain(|table| ids.insert(table.id.clone()));
    let mut seen = HashSet::new();
    questions.retain(|question| seen.insert(question.record.id.clone()));
    let all = questions.len();
    questions.retain(|question| question.record.tables.iter().all(|table| ids.contains(table)));
    if questions.len() < all {
        left_out.push(format!("{} questions of tables that are not among the files", all - questions.len()));
    }
    Ok(read)
}

fn wrong(path: &Path, message: impl std::fmt::Display) -> MultiTableError {
    MultiTableError::Files(format!("{}: {message}", path.display()))
}

/// The files of a folder whose name ends so, in the order of their names.
fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, MultiTableError> {
    let (mut files, problems) = files_below(&[folder.to_owned()], |_| false);
    if let Some(problem) = problems.into_iter().next() {
        return Err(MultiTableError::Files(problem));
    }
    files.retain(|file| file.to_string_lossy().ends_with(ending));
    Ok(files)
}

fn question(id: String, text: &str, table: String, answers: Vec<String>, split: &str) -> SourceQuestion {
    let record = TableQuestion {
        id,
        question: text.trim().to_owned(),
        tables: vec![table],
        source_table: String::new(),
        split: split.to_owned(),
    };
    SourceQuestion { record, answers: answers.into_iter().map(Value::from).collect(), ..SourceQuestion::default() }
}

fn table(id: String, source: &str, rows: Vec<Vec<String>>) -> TableRecord {
    let mut rows = rows.into_iter();
    let column_headers = rows.next().unwrap_or_default();
    TableRecord { id, source: source.to_owned(), column_headers, rows: rows.collect(), ..TableRecord::default() }
}

fn stem(file: &Path) -> String {
    file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Rows of a file of separated values; of WTQ quotes are escaped with a backslash.
fn separated(file: &Path, reader: &mut csv::ReaderBuilder) -> Result<Vec<Vec<String>>, MultiTableError> {
    let bytes = read_bytes(file)?;
    let mut reader = reader.has_headers(false).flexible(true).from_reader(bytes.as_slice());
    let row = |record: Result<csv::ByteRecord, csv::Error>| {
        let record = record.map_err(|error| wrong(file, error))?;
        Ok(record.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_owned()).collect())
    };
    reader.byte_records().map(row).collect()
}

/// The rows of a TSV file by the names of its columns, `quoted` where quotes hold its fields together; none where it has not
/// all of these columns.
fn named_rows<const N: usize>(
    file: &Path,
    quoted: bool,
    names: [&str; N],
) -> Result<Vec<[String; N]>, MultiTableError> {
    let mut rows = separated(file, csv::ReaderBuilder::new().delimiter(b'\t').quoting(quoted))?.into_iter();
    let header = rows.next().unwrap_or_default();
    let Some(places) = names.iter().map(|name| header.iter().position(|of| of == name)).collect::<Option<Vec<usize>>>()
    else {
        return Ok(Vec::new());
    };
    let row = |cells: Vec<String>| {
        let mut cells = places.iter().map(|place| cells.get(*place).cloned().unwrap_or_default());
        std::array::from_fn(|_| cells.next().unwrap_or_default())
    };
    Ok(rows.map(row).collect())
}

/// `wtq/204-590` of `csv/204-csv/590.csv` and of `table_csv/204_590.csv`.
fn wtq_id(path: &str) -> String {
    let path = path.trim_end_matches(".csv").replace("-csv/", "-");
    format!("wtq/{}", path.rsplit('/').next().unwrap_or_default().replace('_', "-"))
}

fn wtq(folder: &Path) -> Result<Read, MultiTableError> {
    let mut titles = BTreeMap::new();
    let about = folder.join("misc/table-metadata.tsv");
    if about.is_file() {
        for [context, title, headers] in named_rows(&about, false, ["contextId", "title", "headers"])? {
            titles.insert(wtq_id(&context), (title, headers.replace('|', " -- ")));
        }
    }
    let mut tables = Vec::new();
    for file in files(&folder.join("csv"), ".csv")? {
        let of_batch = file.parent().map(stem).unwrap_or_default();
        let id = wtq_id(&format!("{of_batch}/{}.csv", stem(&file)));
        let rows = separated(&file, csv::ReaderBuilder::new().double_quote(false).escape(Some(b'\\')))?;
        let (title, section) = titles.get(&id).cloned().unwrap_or_default();
        tables.push(TableRecord { title, section, ..table(id, "wtq", rows) });
    }
    let mut questions = Vec::new();
    for file in files(&folder.join("data"), ".tsv")? {
        for [id, text, context, target] in named_rows(&file, false, ["id", "utterance", "context", "targetValue"])? {
            let unescaped = |answer: &str| answer.replace("\\n", "\n").replace("\\p", "|").replace("\\\\", "\\");
            let answers = target.split('|').map(unescaped).collect();
            questions.push(question(id, &text, wtq_id(&context), answers, &stem(&file)));
        }
    }
    Ok((tables, questions))
}

fn sqa(folder: &Path) -> Result<Read, MultiTableError> {
    let mut tables = Vec::new();
    for file in files(&folder.join("table_csv"), ".csv")? {
        tables.push(table(wtq_id(&file.to_string_lossy()), "wtq", separated(&file, &mut csv::ReaderBuilder::new())?));
    }
    let mut questions = Vec::new();
    for file in files(folder, ".tsv")? {
        let names = ["id", "annotator", "position", "question", "table_file", "answer_text"];
        for [id, annotator, position, text, table, answers] in named_rows(&file, true, names)? {
            let sequence = format!("{id}-{annotator}");
            let found =
                question(format!("{sequence}-{position}"), &text, wtq_id(&table), listed(&answers), &stem(&file));
            let position = position.trim().parse().ok();
            questions.push(SourceQuestion { sequence: Some(sequence), position, ..found });
        }
    }
    Ok((tables, questions))
}

/// The texts of a list as Python writes it: `['a', "it's"]`.
fn listed(text: &str) -> Vec<String> {
    let (mut found, mut open, mut letters) = (Vec::new(), None, text.chars());
    let mut current = String::new();
    while let Some(letter) = letters.next() {
        match (open, letter) {
            (None, '\'' | '"') => open = Some(letter),
            (None, _) => {}
            (Some(_), '\\') => current.extend(letters.next()),
            (Some(quote), _) if letter == quote => {
                open = None;
                found.push(std::mem::take(&mut current));
            }
            (Some(_), _) => current.push(letter),
        }
    }
    found
}

fn tabfact(folder: &Path) -> Result<Read, MultiTableError> {
    let id = |name: &str| format!("tabfact/{}", name.trim_end_matches(".csv").trim_end_matches(".html"));
    let pages = folder.join("data/table_to_page.json");
    let titles: BTreeMap<String, (String, Value)> = match pages.is_file() {
        true => parsed(&pages)?,
        false => BTreeMap::new(),
    };
    let mut tables = Vec::new();
    for file in files(&folder.join("data/all_csv"), ".csv")? {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let rows = separated(&file, csv::ReaderBuilder::new().delimiter(b'#').quoting(false))?;
        let caption = titles.get(&name).map(|(title, _)| title.clone()).unwrap_or_default();
        tables.push(TableRecord { title: caption.clone(), caption, ..table(id(&name), "tabfact", rows) });
    }
    let mut questions = Vec::new();
    let mut add = |name: &str, of: &str, number: usize, text: &str, label: i64, form: Option<&str>| {
        let id_of = id(name);
        let place = id_of.trim_start_matches("tabfact/").to_owned();
        let found = question(format!("{of}-{place}-{number}"), text, id_of, Vec::new(), of);
        questions.push(SourceQuestion { label: Some(json!(label)), form: form.map(str::to_owned), ..found });
    };
    // What was tokenised was lemmatised too.
    for (part, form) in [("collected_data", None), ("tokenized_data", Some("lemmatised"))] {
        let part = folder.join(part);
        for file in if part.is_dir() { files(&part, ".json")? } else { Vec::new() } {
            let of: BTreeMap<String, (Vec<String>, Vec<i64>, Value)> = parsed(&file)?;
            for (name, (statements, labels, _)) in &of {
                for (number, (text, label)) in statements.iter().zip(labels).enumerate() {
                    add(name, &stem(&file), number, text, *label, form);
                }
            }
        }
    }
    let pairs = folder.join("pairwise_data");
    for file in if pairs.is_dir() { files(&pairs, ".json")? } else { Vec::new() } {
        let of: Vec<(String, String, String)> = parsed(&file)?;
        for (number, (name, supported, refuted)) in of.iter().enumerate() {
            add(name, &stem(&file), 2 * number, supported, 1, None);
            add(name, &stem(&file), 2 * number + 1, refuted, 0, None);
        }
    }
    Ok((tables, questions))
}

fn parsed<T: serde::de::DeserializeOwned>(file: &Path) -> Result<T, MultiTableError> {
    serde_json::from_slice(&read_bytes(file)?).map_err(|error| wrong(file, error))
}

/// A table of OTT-QA and HybridQA: each cell with the pages that it links to.
#[derive(Deserialize)]
struct Linked {
    uid: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    section_title: String,
    header: Vec<(String, Value)>,
    data: Vec<Vec<(String, Value)>>,
}

impl From<Linked> for TableRecord {
    fn from(of: Linked) -> Self {
        let texts = |cells: Vec<(String, Value)>| cells.into_iter().map(|(text, _)| text).collect::<Vec<String>>();
        let rows = std::iter::once(of.header).chain(of.data).map(texts).collect();
        Self { title: of.title, section: of.section_title, ..table(format!("ottqa/{}", of.uid), "ottqa", rows) }
    }
}

#[derive(Deserialize)]
struct OfTable {
    question_id: String,
    question: String,
    table_id: String,
    #[serde(default, rename = "answer-text")]
    answer: String,
}

fn ottqa(folder: &Path) -> Result<Read, MultiTableError> {
    let (mut tables, mut questions) = (Vec::new(), Vec::new());
    for file in files(folder, ".jsonl")? {
        for (number, line) in (1..).zip(read_text(&file)?.lines()) {
            let of: Linked =
                serde_json::from_str(line).map_err(|error| wrong(&file, format!("line {number}: {error}")))?;
            tables.push(of.into());
        }
    }
    for file in files(folder, ".json")? {
        match parsed::<Value>(&file)? {
            of @ Value::Object(_) if of.get("uid").is_some() => {
                let of: Linked = serde_json::from_value(of).map_err(|error| wrong(&file, error))?;
                tables.push(of.into());
            }
            Value::Array(of) => {
                for (number, of) in of.into_iter().enumerate() {
                    let of: OfTable = serde_json::from_value(of)
                        .map_err(|error| wrong(&file, format!("question {number}: {error}")))?;
                    let split = stem(&file);
                    let table = format!("ottqa/{}", of.table_id);
                    questions.push(question(of.question_id, &of.question, table, vec![of.answer], &split));
                }
            }
            // Pages and lists of other things lie beside them.
            _ => {}
        }
    }
    Ok((tables, questions))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    fn read(name: &str, folder: &Path) -> Read {
        let published: Published = format!("{name}={}", folder.display()).parse().unwrap();
        let ReadSources { tables, questions, left_out } = read_data_sets(&[published]).unwrap();
        assert_eq!(left_out.len(), usize::from(name == "tabfact"), "{left_out:?}");
        (tables, questions)
    }

    #[test]
    fn questions_and_tables_of_wtq_and_sqa_have_one_id() {
        let wtq = folder(&[
            ("csv/204-csv/590.csv", "\"Year\",\"Note\"\n\"2001\",\"a \\\"b\\\", c\"\n"),
            ("misc/table-metadata.tsv", "contextId\ttitle\theaders\ncsv/204-csv/590.csv\tTown\tA|B\n"),
            (
                "data/training.tsv",
                "id\tutterance\tcontext\ttargetValue\nnt-0\twhich year?\tcsv/204-csv/590.csv\t2001|a\\pb\n",
            ),
            ("data/other.tsv", "a\tb\n1\t2\n"),
        ]);
        let (tables, questions) = read("wtq", wtq.path());
        assert_eq!((tables[0].id.as_str(), tables[0].title.as_str()), ("wtq/204-590", "Town"));
        assert_eq!(
            (tables[0].section.as_str(), &tables[0].rows),
            ("A -- B", &vec![vec!["2001".into(), "a \"b\", c".into()]])
        );
        assert_eq!(questions.len(), 1);
        assert_eq!(
            (&questions[0].record.tables[..], questions[0].answers()),
            (&["wtq/204-590".to_owned()][..], vec!["2001".into(), "a|b".into()])
        );
        let sqa = folder(&[
            ("table_csv/204_590.csv", "Year,Note\n2001,\"x, y\"\n"),
            (
                "train.tsv",
                "id\tannotator\tposition\tquestion\ttable_file\tanswer_coordinates\tanswer_text\nnt-0\t1\t2\t\"who of \"\"a\"\"?\"\ttable_csv/204_590.csv\t['(0, 1)']\t\"['x', \"\"it's\"\"]\"\n",
            ),
        ]);
        let (tables, questions) = read("sqa", sqa.path());
        assert_eq!((tables[0].id.as_str(), tables[0].rows[0][1].as_str()), ("wtq/204-590", "x, y"));
        assert_eq!((questions[0].sequence.as_deref(), questions[0].position), (Some("nt-0-1"), Some(2)));
        assert_eq!(questions[0].answers(), ["x", "it's"]);
        assert_eq!(questions[0].record.question, "who of \"a\"?");
    }

    #[test]
    fn statements_of_tabfact_have_labels_and_forms() {
        let tabfact = folder(&[
            ("data/all_csv/2-1-1.html.csv", "a#b\nx \"y#z\n"),
            ("data/table_to_page.json", "{\"2-1-1.html.csv\": [\"a town\", \"http\"]}"),
            ("tokenized_data/val_examples.json", "{\"2-1-1.html.csv\": [[\"a be b\", \"c\"], [1, 0], \"a town\"]}"),
            (
                "pairwise_data/pairs.json",
                "[[\"2-1-1.html.csv\", \"it is so\", \"it is not\"], [\"9.html.csv\", \"a\", \"b\"]]",
            ),
        ]);
        let (tables, questions) = read("tabfact", tabfact.path());
        assert_eq!(
            (tables[0].id.as_str(), tables[0].caption.as_str(), &tables[0].rows[0][..]),
            ("tabfact/2-1-1", "a town", &["x \"y".to_owned(), "z".into()][..])
        );
        let told: Vec<_> =
            questions.iter().map(|of| (of.record.question.as_str(), of.supported(), of.form.is_some())).collect();
        assert_eq!(
            told,
            [
                ("a be b", Some(true), true),
                ("c", Some(false), true),
                ("it is so", Some(true), false),
                ("it is not", Some(false), false)
            ]
        );
    }

    #[test]
    fn tables_of_ottqa_lose_their_links() {
        let line = "{\"uid\": \"T_0\", \"title\": \"T\", \"section_title\": \"S\", \"header\": [[\"A\", []]], \"data\": [[[\"1\", [\"/wiki/x\"]]]]}";
        let questions =
            "[{\"question_id\": \"q\", \"question\": \"what?\", \"table_id\": \"T_0\", \"answer-text\": \"1\"}]";
        for tables in ["tables_tok.jsonl", "tables_tok/T_0.json"] {
            let ottqa = folder(&[(tables, line), ("dev.json", questions), ("dev.traced.json", questions)]);
            let (tables, found) = read("hybridqa", ottqa.path());
            assert_eq!(
                (tables[0].id.as_str(), tables[0].section.as_str(), &tables[0].rows),
                ("ottqa/T_0", "S", &vec![vec!["1".into()]])
            );
            assert_eq!((found.len(), found[0].record.tables[0].as_str()), (1, "ottqa/T_0"));
        }
    }

    #[test]
    fn what_is_missing_is_said() {
        for (text, part) in [("wtq", "NAME=FOLDER"), ("wiki=x", "none of wtq, sqa, tabfact, ottqa, hybridqa")] {
            assert!(text.parse::<Published>().unwrap_err().contains(part));
        }
        let error = |files: &[(&str, &str)], name: &str| {
            let folder = folder(files);
            let published: Published = format!("{name}={}", folder.path().display()).parse().unwrap();
            read_data_sets(&[published]).unwrap_err().to_string()
        };
        assert!(error(&[("x.txt", "")], "ottqa").contains("has no tables in the published form"));
        assert!(error(&[("dev.json", "[{\"question\": 1}]")], "ottqa").contains("dev.json: question 0: "));
    }
}
