//! How well number columns are found: SQUALL's tables, whose column types people wrote down.
//!
//!     column_types FOLDER
//!
//! FOLDER has `csv` (the tables of WikiTableQuestions) and `json` (SQUALL's, with types). Counted as published
//! ingestions are: a column is one of numbers where its type begins with `number`; a column whose numbers all have a sign
//! (`%`, a currency, `#`) has a type of its own there, and is none.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use tabsegnet_sql::tables::{ColumnType, Import};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder] = arguments.as_slice() else { bail!("see the head of this file") };
    let folder = Path::new(folder);
    let mut files: Vec<_> = std::fs::read_dir(folder.join("json"))?.collect::<Result<_, _>>()?;
    files.sort_by_key(std::fs::DirEntry::path);
    let (mut right, mut found, mut gold, mut columns) = (0, 0, 0, 0);
    for file in &files {
        let path = file.path();
        let stem = path.file_stem().context("a name")?.to_string_lossy().into_owned();
        let (part, number) = stem.split_once('_').context("PART_NUMBER.json")?;
        let table: Value = serde_json::from_slice(&std::fs::read(&path)?)?;
        let rows = records(&std::fs::read_to_string(folder.join(format!("csv/{part}-csv/{number}.csv")))?);
        let [header, rows @ ..] = rows.as_slice() else { continue };
        let import = Import::new(header, rows);
        for (at, kind) in table["types"].as_array().context("types")?.iter().skip(2).enumerate() {
            if at >= header.len() || rows.iter().all(|row| row.get(at).is_none_or(|cell| cell.trim().is_empty())) {
                continue;
            }
            let column = import.columns().iter().find(|column| column.source == at).context("a column")?;
            let is_number = column.kind != ColumnType::Text && column.unit.is_none();
            let is_gold = kind.as_str().unwrap_or_default().starts_with("number");
            columns += 1;
            right += usize::from(is_number && is_gold);
            found += usize::from(is_number);
            gold += usize::from(is_gold);
            if is_number != is_gold && std::env::var_os("TABSEGNET_SHOW").is_some() {
                let cells: Vec<&String> = rows.iter().filter_map(|row| row.get(at)).take(5).collect();
                println!("{stem} {kind} {:?} {cells:?}", header.get(at));
            }
        }
    }
    let share =
        |of: usize| f64::from(u32::try_from(right).unwrap_or(0)) / f64::from(u32::try_from(of.max(1)).unwrap_or(1));
    println!("tables {}", files.len());
    println!("columns {columns}");
    println!("number columns {gold}");
    println!("recall {:.3}", share(gold));
    println!("precision {:.3}", share(found));
    Ok(())
}

/// The records of a file whose quotes are escaped by a backslash.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut letters) = (false, text.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => field.extend(letters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(std::mem::take(&mut field)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            letter => field.push(letter),
        }
    }
    if !field.is_empty() || !record.is_empty() {
        record.push(field);
        records.push(record);
    }
    records
}
