//! AIT-QA as published (Katsis et al. 2021, <https://github.com/IBM/AITQA>): questions one a line (`id`, `table_id`,
//! `question`, `answers`), and beside them the tables (`id`, `column_header` and `row_header` as lists of levels, `data`),
//! one a line.
//!
//! A table is one document. It is laid out as a report prints it, a row a level over the columns and a row of its own
//! for a group of rows, and its headers are inferred as those of any other table.
//!
//! Gold are the cells that show an answer, every one where several do.

use std::collections::BTreeSet;

use serde::Deserialize;
use tabsegnet_document::model::Table;
use tabsegnet_document::{KnownTable, Region, node_id, table_with};

use crate::error::DataError;
use crate::record::Place;
use crate::sample::{GoldAnswer, Labels};
use crate::table_questions::{Gold, TableQuestions};

#[derive(Deserialize)]
pub(crate) struct Record {
    id: Option<String>,
    table_id: Option<String>,
    question: Option<String>,
    answers: Option<Vec<String>>,
}

#[derive(Deserialize)]
pub(crate) struct TableRecord {
    id: Option<String>,
    column_header: Option<Vec<Vec<String>>>,
    row_header: Option<Vec<Vec<String>>>,
    data: Option<Vec<Vec<String>>>,
}

/// AIT-QA: complex tables of airlines' annual reports.
///
/// Errors: a file of another form, a question without what it needs, a table that is not there or holds no cell, two
/// questions of one id; each names the file, the record and the field.
pub(crate) static AITQA: TableQuestions<Record, TableRecord> = TableQuestions {
    name: "aitqa",
    about: "AIT-QA as published; its tables are in files of their own",
    what: "AIT-QA question",
    no_gold: "no gold node (no cell shows an answer)",
    fields: |record| [record.id.take(), record.question.take(), record.table_id.take()],
    table_id: "id",
    table_name: |table| table.id.as_deref(),
    table: read_table,
    gold,
};

/// The levels over the columns as rows, a group of rows as a row without values before it.
fn read_table(place: &Place<'_>, record: TableRecord) -> Result<Table, DataError> {
    let levels = "a list of lists of texts, one a line of cells";
    let columns = place.require(record.column_header, "column_header", levels)?;
    let named = place.require(record.row_header, "row_header", levels)?;
    let data = place.require(record.data, "data", "a list of rows of texts")?;
    // Without row headers the first column of the cells names them.
    let left = usize::from(!named.is_empty());
    let depth = columns.iter().map(Vec::len).max().unwrap_or(0);
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut merged = Vec::new();
    for level in 0..depth {
        // The lowest level stands right above the cells, whatever is above it.
        let label = |path: &Vec<String>| {
            (level + path.len()).checked_sub(depth).and_then(|at| path.get(at)).cloned().unwrap_or_default()
        };
        let labels: Vec<String> = columns.iter().map(label).collect();
        let same_above = |at: usize| {
            columns.get(at).zip(columns.get(at + 1)).is_some_and(|(path, next)| {
                path.len() == next.len()
                    && (level + path.len()).checked_sub(depth).is_some_and(|end| path.get(..=end) == next.get(..=end))
            })
        };
        let mut first = 0;
        for at in 0..labels.len() {
            if level + 1 < depth && same_above(at) {
                continue;
            }
            if at > first {
                merged.push(Region { first_row: level, last_row: level, first_col: first + left, last_col: at + left });
            }
            first = at + 1;
        }
        rows.push(std::iter::repeat_n(String::new(), left).chain(labels).collect());
    }
    let mut groups: Vec<String> = Vec::new();
    for (number, cells) in data.into_iter().enumerate() {
        let (name, outer) = match named.get(number).and_then(|path| path.split_last()) {
            Some((name, outer)) => (Some(name.clone()), outer),
            None => ((left == 1).then(String::new), &[][..]),
        };
        let kept = groups.iter().zip(outer).take_while(|(group, next)| group == next).count();
        rows.extend(outer.iter().skip(kept).map(|group| vec![group.clone()]));
        groups = outer.to_vec();
        rows.push(name.into_iter().chain(cells).collect());
    }
    let (table, _) =
        table_with(&rows, &merged, KnownTable::default()).map_err(|error| place.error("data", error.to_string()))?;
    Ok(table)
}

fn gold(place: &Place<'_>, table: &Table, record: Record, labels: Labels) -> Result<Gold, DataError> {
    let values = match labels {
        Labels::Required => place.require(record.answers, "answers", "a list of texts")?,
        Labels::Optional => record.answers.unwrap_or_default(),
    };
    let shown = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let answers: BTreeSet<String> =
        values.iter().map(|answer| shown(answer)).filter(|answer| !answer.is_empty()).collect();
    let cells = table.cells().iter().filter(|cell| answers.contains(&shown(&cell.text)));
    let nodes = cells.map(|cell| node_id::cell(table, cell)).collect();
    Ok((nodes, (!values.is_empty()).then(|| GoldAnswer { values, ..GoldAnswer::default() })))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::{Value, json};

    use super::*;
    use crate::dataset::Inputs;
    use crate::sample::Samples;
    use crate::testing::read_inputs;

    fn read(question: &Value, table: &Value) -> Result<Samples, DataError> {
        let dir = tempfile::tempdir().unwrap();
        let (files, tables) = (vec![dir.path().join("q.jsonl")], vec![dir.path().join("t.jsonl")]);
        fs::write(&files[0], format!("{question}\n")).unwrap();
        fs::write(&tables[0], format!("{table}\n")).unwrap();
        read_inputs(&AITQA, &Inputs { files, tables, ..Inputs::default() }, Labels::Required)
    }

    fn question() -> Value {
        json!({"id": "q-0", "table_id": "tab-0", "question": "What was cash in 2018?", "answers": ["$7"]})
    }

    fn table() -> Value {
        json!({"id": "tab-0", "column_header": [["December 31,", "2018"], ["December 31,", "2017"], ["Change"]],
               "row_header": [["Current assets:", "Cash"], ["Current assets:", "Receivables"], ["Total"]],
               "data": [["$7", "$6", "1"], ["30", "20", "10"], ["37", "26", "11"]]})
    }

    #[test]
    fn levels_become_rows_and_groups_stand_over_theirs() {
        let samples = read(&question(), &table()).unwrap();
        let sample = &samples.samples[0];
        let table = sample.document.tables().next().unwrap();
        assert_eq!((table.rows(), table.cols(), table.num_header_rows(), table.num_header_cols()), (6, 4, 2, 1));
        let cell = table.cell_at(4, 2).unwrap();
        assert_eq!(cell.text, "20");
        assert_eq!(table.path(&table.column_headers_of(cell)), "December 31, > 2017");
        assert_eq!(table.path(&table.row_headers_of(cell)), "Current assets: > Receivables");
        assert_eq!(table.path(&table.column_headers_of(table.cell_at(3, 3).unwrap())), "Change");
        assert_eq!(sample.questions[0].gold, ["t0:r3c1"]);
        assert_eq!(sample.questions[0].answer.as_ref().unwrap().values, ["$7"]);
    }

    #[test]
    fn without_row_headers_the_first_column_names_the_rows() {
        let mut table = table();
        table["row_header"] = json!([]);
        table["column_header"] = json!([["Item"], ["2018"], ["2017"]]);
        table["data"] = json!([["Cash", "$7", "$6"], ["Total", "37", "26"]]);
        let samples = read(&question(), &table).unwrap();
        assert_eq!(samples.samples[0].questions[0].gold, ["t0:r1c1"]);
    }

    #[test]
    fn what_is_missing_is_named() {
        for key in ["column_header", "row_header", "data"] {
            let mut table = table();
            table.as_object_mut().unwrap().remove(key);
            let message = read(&question(), &table).unwrap_err().to_string();
            assert!(message.contains(key) && message.contains("tab-0"), "{message}");
        }
        let mut question = question();
        question["table_id"] = json!("tab-9");
        assert!(read(&question, &table()).unwrap_err().to_string().contains("tab-9"));
        question["answers"] = json!(null);
        assert!(read(&question, &table()).is_err());
    }
}
