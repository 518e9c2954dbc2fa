//! Files with tables, opened as a database.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use tabsegnet_document::folders::files_below;
use tabsegnet_document::model::{Document, Table};
use tabsegnet_document::{ReadError, ReadOptions, extension, node_id, read};
use tabsegnet_records::{RecordsError, is_database, json_lines};
use tempfile::NamedTempFile;

use super::{Import, ImportedColumn, MAX_COLUMNS, Names, parquet_file};
use crate::generate::Labels;
use crate::named_as_records;

/// Files could not be opened as a database.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file or folder could not be read.
    #[error("{}: {message}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What was found, what was expected.
        message: String,
    },
    /// A file could not be read as a document.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// No table was found.
    #[error("{}: no table was found; expected .csv, .tsv, .jsonl, .parquet, .xlsx, .md, .html or the project's JSON with one", .0.display())]
    Empty(PathBuf),
    /// What a folder has is opened alone.
    #[error("{}: no file was found whose tables are read together; give {} alone instead of its folder", folder.display(), file.display())]
    Alone {
        /// The folder.
        folder: PathBuf,
        /// A database of it.
        file: PathBuf,
    },
    /// The database that the tables go into could not be written.
    #[error("the tables cannot be put into a temporary database: {0}")]
    Write(#[from] rusqlite::Error),
    /// A file of records could not be read.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// The temporary file could not be made.
    #[error("no temporary file could be made for the tables: {0}")]
    Temporary(#[from] std::io::Error),
}

/// A cell of a file that a result came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cited {
    /// The file.
    pub file: PathBuf,
    /// The node id of the cell in the file's document, `t0:r3c1`; none for JSON lines and Parquet.
    pub node: Option<String>,
    /// The row of the file's table, from 0, header rows counted; for JSON lines and Parquet the record, from 0.
    pub row: usize,
    /// The column of the file's table, from 0.
    pub column: usize,
    /// What the column's header says.
    pub header: String,
}

/// A table of a file in the database.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedTable {
    /// The name in the database.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// Its columns.
    pub columns: Vec<ImportedColumn>,
    /// The table of the document; none for JSON lines and Parquet.
    table: Option<Table>,
}

/// Tables of files in a SQLite database of its own, which goes when this does.
#[derive(Debug)]
pub struct FileDatabase {
    database: NamedTempFile,
    /// The tables, by file name, then in the order of the file.
    pub tables: Vec<ImportedTable>,
    /// What was cut off, left out or guessed; each names its file.
    pub warnings: Vec<String>,
}

/// A database that tables are put into.
struct Filling {
    database: NamedTempFile,
    connection: Connection,
    into: Tables,
}

struct Tables {
    tables: Vec<ImportedTable>,
    names: Names,
    warnings: Vec<String>,
    /// Whether there are other files: then a file's name is part of all its tables' names.
    several_files: bool,
    /// What is said of a file in the names of its tables.
    stems: HashMap<PathBuf, String>,
    /// The first file of which a table has too many columns, and how many.
    too_wide: Option<(PathBuf, usize)>,
}

impl Filling {
    fn new(files: usize) -> Result<Self, ImportError> {
        let database = tempfile::Builder::new().prefix("tables").suffix(".sqlite").tempfile()?;
        let connection = Connection::open(database.path())?;
        let into = Tables {
            tables: Vec::new(),
            names: Names::default(),
            warnings: Vec::new(),
            several_files: files > 1,
            stems: HashMap::new(),
            too_wide: None,
        };
        Ok(Self { database, connection, into })
    }

    fn finish(self) -> Result<FileDatabase, ImportError> {
        self.connection.close().map_err(|(_, error)| error)?;
        let Tables { tables, warnings, .. } = self.into;
        Ok(FileDatabase { database: self.database, tables, warnings })
    }
}

impl Tables {
    /// Adds the tables of a file.
    fn add(
        &mut self,
        connection: &Connection,
        file: &Path,
        found: Vec<(Option<Table>, Import)>,
    ) -> Result<(), ImportError> {
        let names = table_names(&self.stem(file), found.iter().map(|(table, _)| table.as_ref()), self.several_files);
        for (number, ((table, import), name)) in found.into_iter().zip(names).enumerate() {
            if import.columns().len() > MAX_COLUMNS {
                self.too_wide.get_or_insert((file.to_owned(), import.columns().len()));
                self.warnings.push(format!(
                    "{}: t{number} is left out, it has {} columns and a table can have {MAX_COLUMNS}",
                    file.display(),
                    import.columns().len()
                ));
                continue;
            }
            let name = self.names.take(&name, "table_1");
            import.write(connection, &name)?;
            let columns = import.columns().to_vec();
            self.tables.push(ImportedTable { name, file: file.to_owned(), columns, table });
        }
        Ok(())
    }
}

impl Tables {
    fn stem(&self, file: &Path) -> String {
        self.stems.get(file).cloned().unwrap_or_else(|| stem(file))
    }

    /// Adds a Parquet file, or nothing of it.
    fn add_parquet(&mut self, connection: &Connection, file: &Path) -> Result<(), ImportError> {
        let name = self.names.take(&self.stem(file), "table_1");
        connection.execute_batch("SAVEPOINT parquet")?;
        match parquet_file::import(file, connection, &name) {
            Ok(columns) => {
                connection.execute_batch("RELEASE parquet")?;
                self.tables.push(ImportedTable { name, file: file.to_owned(), columns, table: None });
                Ok(())
            }
            Err(error) => {
                connection.execute_batch("ROLLBACK TO parquet; RELEASE parquet")?;
                Err(error)
            }
        }
    }
}

impl ImportedTable {
    /// The number of the table in its document; none for JSON lines and Parquet.
    pub fn number(&self) -> Option<usize> {
        self.table.as_ref().map(Table::number)
    }

    /// What headers call its columns.
    pub fn labels(&self) -> Labels {
        let named = self.columns.iter().filter(|column| !column.header.is_empty());
        named.map(|column| ((self.name.clone(), column.name.clone()), column.header.clone())).collect()
    }

    /// Whether it has a record in each row, as its columns are called ([`named_as_records`]).
    pub fn is_of_records(&self) -> bool {
        let headers = self.columns.iter().map(|column| column.header.as_str());
        named_as_records(headers, self.columns.iter().map(|column| column.name.as_str()))
    }

    /// How many rows of the document's table are its header: the database's first row is the one behind them.
    pub fn header_rows(&self) -> usize {
        self.table.as_ref().map_or(0, header_rows)
    }
}

/// The files that a folder is searched for.
const KNOWN: [&str; 13] =
    ["csv", "tsv", "tab", "jsonl", "parquet", "xlsx", "xlsm", "md", "markdown", "html", "htm", "xhtml", "json"];

/// Forms that hold tables of their own, and are opened alone.
const OTHERS: [&str; 4] = ["db", "sqlite", "sqlite3", "sql"];

impl FileDatabase {
    /// Opens a file, or all files of a folder and of the folders in it whose ending is known. A table has the name of
    /// its file; of several in a file each has its caption (a sheet's name, a table's of a database) or its number, with
    /// the file's name before it where there are other files. Of files of the same name in several folders the folder's name
    /// stands before it.
    ///
    /// # Errors
    /// [`ImportError`]: the file cannot be read, holds no table, or the temporary database cannot be written. Of a
    /// folder, a file that cannot be read is a warning as long as another one can.
    pub fn open(path: &Path) -> Result<Self, ImportError> {
        let failed =
            |message: std::io::Error| ImportError::File { path: path.to_owned(), message: message.to_string() };
        let folder = std::fs::metadata(path).map_err(failed)?.is_dir();
        let (mut files, mut warnings, mut alone) = (vec![path.to_owned()], Vec::new(), None);
        if folder {
            std::fs::read_dir(path).map_err(failed)?;
            let (below, problems) = files_below(&[path.to_owned()], |_| false);
            files = below;
            warnings.extend(problems);
            let others = files.iter().filter(|file| OTHERS.contains(&extension(file).as_str()));
            warnings.extend(others.map(|file| {
                format!("{}: is not read with the files beside it; give it alone instead of its folder", file.display())
            }));
            alone = files.iter().find(|file| is_database(file)).cloned();
            files.retain(|file| Self::is_known(file));
        }
        let mut filling = Filling::new(files.len())?;
        filling.into.stems = stems(path, &files);
        let mut first_failure = None;
        {
            let transaction = filling.connection.transaction()?;
            for file in &files {
                let added = match extension(file).as_str() {
                    "parquet" => filling.into.add_parquet(&transaction, file),
                    _ => tables_of(file, &mut warnings).and_then(|found| filling.into.add(&transaction, file, found)),
                };
                match added {
                    Ok(()) => {}
                    Err(error @ ImportError::Write(_)) => return Err(error),
                    Err(error) if folder => {
                        warnings.push(error.to_string());
                        first_failure = first_failure.or(Some(error));
                    }
                    Err(error) => return Err(error),
                }
            }
            transaction.commit()?;
        }
        if filling.into.tables.is_empty() {
            let folder = path.to_owned();
            let alone = alone.map(|file| ImportError::Alone { folder, file });
            let too_wide = filling.into.too_wide.map(|(path, columns)| {
                let message =
                    format!("its table has {columns} columns, and one can have {MAX_COLUMNS} at most; split it");
                ImportError::File { path, message }
            });
            return Err(first_failure.or(too_wide).or(alone).unwrap_or_else(|| ImportError::Empty(path.to_owned())));
        }
        warnings.append(&mut filling.into.warnings);
        filling.into.warnings = warnings;
        filling.finish()
    }

    /// The tables of documents that were read already, each with the name of its file. Documents without tables add
    /// none, and a database without tables is no error.
    ///
    /// # Errors
    /// [`ImportError`]: the temporary database cannot be written.
    pub fn of_documents<'d>(
        documents: impl IntoIterator<Item = (&'d Path, &'d Document)>,
    ) -> Result<Self, ImportError> {
        let documents: Vec<(&Path, &Document)> = documents.into_iter().collect();
        let mut filling = Filling::new(documents.len())?;
        let files: Vec<PathBuf> = documents.iter().map(|(file, _)| file.to_path_buf()).collect();
        filling.into.stems = stems(Path::new(""), &files);
        let transaction = filling.connection.transaction()?;
        for (file, document) in documents {
            filling.into.add(&transaction, file, imports(document))?;
        }
        transaction.commit()?;
        filling.finish()
    }

    /// Whether a file's ending is that of a form with tables.
    pub fn is_known(path: &Path) -> bool {
        KNOWN.contains(&extension(path).as_str())
    }

    /// What headers call the columns.
    pub fn labels(&self) -> Labels {
        self.tables.iter().flat_map(ImportedTable::labels).collect()
    }

    /// The SQLite file.
    pub fn path(&self) -> &Path {
        self.database.path()
    }

    /// The first cell of a row (by its row id) of the database.
    pub fn first_cell(&self, table: &str, row_id: i64) -> Option<Cited> {
        let first = self.tables.iter().find(|found| found.name.eq_ignore_ascii_case(table))?.columns.first()?;
        self.cited(table, row_id, &first.name)
    }

    /// The cell of a file that stands in a row (by its row id) and a column of the database.
    pub fn cited(&self, table: &str, row_id: i64, column: &str) -> Option<Cited> {
        let sheet = self.tables.iter().find(|found| found.name.eq_ignore_ascii_case(table))?;
        let column = sheet.columns.iter().find(|found| found.name.eq_ignore_ascii_case(column))?;
        let row = usize::try_from(row_id).ok()?.checked_sub(1)?;
        let row = row.checked_add(sheet.header_rows())?;
        let cell = sheet.table.as_ref().and_then(|found| Some((found, found.cell_at(row, column.source)?)));
        Some(Cited {
            file: sheet.file.clone(),
            node: cell.map(|(found, cell)| node_id::cell(found, cell)),
            row,
            column: column.source,
            header: column.header.clone(),
        })
    }
}

/// What the tables of each file are called by: the file's name, and where several have one, with those of its folders from the
/// first on in which they differ.
fn stems(root: &Path, files: &[PathBuf]) -> HashMap<PathBuf, String> {
    let mut same: HashMap<String, Vec<&PathBuf>> = HashMap::new();
    files.iter().for_each(|file| same.entry(stem(file).to_lowercase()).or_default().push(file));
    let folders = |file: &Path| -> Vec<String> {
        let below = file.strip_prefix(root).unwrap_or(file).parent().unwrap_or(Path::new(""));
        below.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let of_file = |file: &PathBuf| {
        let own = folders(file);
        let others = same.get(&stem(file).to_lowercase()).into_iter().flatten().filter(|other| **other != file);
        let others: Vec<Vec<String>> = others.map(|other| folders(other)).filter(|other| *other != own).collect();
        let shared = |other: &Vec<String>| own.iter().zip(other).take_while(|(a, b)| a == b).count();
        let shared = others.iter().map(shared).min().filter(|shared| *shared < own.len());
        let parts = shared.map_or(&[][..], |shared| &own[shared..]);
        let parts = parts.iter().cloned().chain([stem(file)]);
        (file.clone(), parts.collect::<Vec<String>>().join("_"))
    };
    files.iter().map(of_file).collect()
}

/// A file's name without its ending.
fn stem(file: &Path) -> String {
    file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

/// Characters of a caption that is a name; what is longer says more than that.
const CAPTION: usize = 40;

/// What the tables of a file are called, in their order.
fn table_names<'t>(
    stem: &str,
    tables: impl ExactSizeIterator<Item = Option<&'t Table>>,
    several_files: bool,
) -> Vec<String> {
    if tables.len() <= 1 {
        return vec![stem.to_owned(); tables.len()];
    }
    let captions: Vec<&str> = tables.map(|table| table.map_or("", Table::caption).trim()).collect();
    let is_name = |caption: &str| {
        caption.chars().count() <= CAPTION
            && caption.contains(char::is_alphabetic)
            && captions.iter().filter(|other| other.eq_ignore_ascii_case(caption)).count() == 1
    };
    let name = |(number, caption): (usize, &&str)| match (is_name(caption), several_files) {
        (true, false) => (*caption).to_owned(),
        (true, true) => format!("{stem} {caption}"),
        (false, _) => format!("{stem}_t{number}"),
    };
    captions.iter().enumerate().map(name).collect()
}

/// The header rows of a table; a first row of names counts where none was found, also where it is all there is.
fn header_rows(table: &Table) -> usize {
    let named = || {
        let first: Vec<&str> =
            (0..table.cols()).filter_map(|col| table.cell_at(0, col)).map(|cell| cell.text.trim()).collect();
        let names: std::collections::HashSet<&&str> = first.iter().collect();
        names.len() == first.len() && first.iter().all(|text| text.contains(char::is_alphabetic))
    };
    match table.num_header_rows() {
        0 => usize::from(named()),
        rows => rows,
    }
}

fn tables_of(file: &Path, warnings: &mut Vec<String>) -> Result<Vec<(Option<Table>, Import)>, ImportError> {
    if extension(file) == "jsonl" {
        let (header, rows) = json_lines(file, &ReadOptions::default())?;
        return Ok(if header.is_empty() { Vec::new() } else { vec![(None, Import::new(&header, &rows))] });
    }
    let read = read(file, &ReadOptions::default())?;
    warnings.extend(read.warnings.iter().map(|warning| format!("{}: {warning}", file.display())));
    Ok(imports(&read.document))
}

/// The tables of a document by their numbers.
fn imports(document: &Document) -> Vec<(Option<Table>, Import)> {
    let mut found: Vec<&Table> = document.tables().collect();
    found.sort_by_key(|table| table.number());
    found.into_iter().map(|table| (Some(table.clone()), import(table))).collect()
}

/// What a table's columns are called.
fn header(table: &Table) -> Vec<String> {
    let headers = header_rows(table);
    let of_column = |col: usize| {
        let mut levels: Vec<&str> = Vec::new();
        for text in (0..headers).filter_map(|row| table.cell_at(row, col)).map(|cell| cell.text.trim()) {
            if !text.is_empty() && levels.last() != Some(&text) {
                levels.push(text);
            }
        }
        levels.join(" > ")
    };
    (0..table.cols()).map(of_column).collect()
}

/// Whether a document's table has a record in each row, as its columns are called ([`named_as_records`]).
pub fn is_of_records(table: &Table) -> bool {
    named_as_records(header(table).iter().map(String::as_str), [])
}

fn import(table: &Table) -> Import {
    let (header, headers) = (header(table), header_rows(table));
    let cell = |row: usize, col: usize| table.value_at(row, col).map_or_else(String::new, str::to_owned);
    let rows: Vec<Vec<String>> =
        (headers..table.rows()).map(|row| (0..table.cols()).map(|col| cell(row, col)).collect()).collect();
    Import::new(&header, &rows)
}

#[cfg(test)]
mod tests {
    use tabsegnet_records::{has_records, read_records};

    use super::*;

    const PARQUET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/records/tests/parquet");

    /// The rows of a database's only table.
    fn rows(database: &FileDatabase) -> Vec<String> {
        let [table] = database.tables.as_slice() else { panic!("{:?}", database.tables) };
        let connection = Connection::open(database.path()).unwrap();
        let mut statement = connection.prepare(&format!("SELECT * FROM {}", table.name)).unwrap();
        let width = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            let values = (0..width).map(|at| row.get_ref(at).map(|value| format!("{value:?}")));
            values.collect::<rusqlite::Result<Vec<String>>>().map(|values| values.join(" "))
        };
        statement.query_map([], row).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn records_are_documents_with_the_same_table() {
        let folder = tempfile::tempdir().unwrap();
        let lines = folder.path().join("people.jsonl");
        std::fs::write(&lines, "{\"name\": \"Ann\", \"age\": 3}\n{\"name\": \"Bo\", \"city\": \"Rome\"}\n").unwrap();
        let options = ReadOptions::default();
        for file in [lines, Path::new(PARQUET).join("orders.parquet")] {
            assert!(has_records(&file) && !has_records(folder.path()));
            let read = read_records(&file, &options).unwrap();
            assert_eq!(read.cuts, []);
            let made = FileDatabase::of_documents([(file.as_path(), &read.document)]).unwrap();
            let opened = FileDatabase::open(&file).unwrap();
            assert_eq!((rows(&made), made.tables[0].name.as_str()), (rows(&opened), opened.tables[0].name.as_str()));
        }
        let orders = Path::new(PARQUET).join("orders.parquet");
        let read = read_records(&orders, &options).unwrap();
        let made = FileDatabase::of_documents([(orders.as_path(), &read.document)]).unwrap();
        let cited = made.cited("orders", 4, "amount").unwrap();
        assert_eq!((cited.node.as_deref(), cited.header.as_str()), (Some("t0:r4c2"), "amount"));
        let table = read.document.tables().next().unwrap();
        assert_eq!((table.rows(), table.num_header_rows(), table.cell_at(4, 2).unwrap().text.as_str()), (9, 1, "500"));
    }

    #[test]
    fn a_folder_is_a_database_whose_cells_can_be_cited() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("sales.csv", "City,Sold\nRome,\"1,115\"\nOslo,–\n");
        write("two.md", "# A\n\n| a | b |\n|---|---|\n| x | 1 |\n\ntext\n\n| c | d |\n|---|---|\n| y | 2 |\n");
        write(
            "three.md",
            "# Our shops\n\n| a | b |\n|---|---|\n| x | 1 |\n\n# Staff\n\n| c | d |\n|---|---|\n| y | 2 |\n\n# Staff\n\n| e |\n|---|\n| z |\n",
        );
        write("people.jsonl", "{\"name\": \"Ann\", \"age\": 3}\n");
        write("broken.xlsx", "no workbook");
        write("notes.bin", "left alone");
        let database = FileDatabase::open(folder.path()).unwrap();
        let names: Vec<&str> = database.tables.iter().map(|table| table.name.as_str()).collect();
        assert_eq!(
            names,
            ["people", "sales", "three_our_shops", "three_t1", "three_t2", "two_t0", "two_t1"],
            "by caption where it names one table"
        );
        let alone = FileDatabase::open(&folder.path().join("three.md")).unwrap();
        assert_eq!(alone.tables[0].name, "our_shops");
        assert!(database.warnings.iter().any(|warning| warning.contains("broken.xlsx")), "{:?}", database.warnings);
        let connection = Connection::open(database.path()).unwrap();
        let sold: i64 =
            connection.query_row("SELECT sold FROM sales WHERE city = 'Rome'", [], |row| row.get(0)).unwrap();
        assert_eq!(sold, 1115);
        let cited = database.cited("SALES", 2, "sold").unwrap();
        assert_eq!(
            (cited.node.as_deref(), cited.row, cited.column, cited.header.as_str()),
            (Some("t0:r2c1"), 2, 1, "Sold")
        );
        assert_eq!(database.cited("people", 1, "age").unwrap().row, 0);
        for (table, row, column) in
            [("sales", 0, "sold"), ("sales", -1, "sold"), ("none", 1, "a"), ("sales", 1, "none")]
        {
            assert_eq!(database.cited(table, row, column), None);
        }
    }

    #[test]
    fn regression_folders_in_a_folder_are_read_and_their_names_part_files_of_one_name() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("2022/sales.csv", "Region,Sold\nEast,1\n"),
            ("2023/north/sales.csv", "Region,Sold\nEast,2\n"),
            ("2023/south/sales.csv", "Region,Sold\nEast,3\n"),
            ("staff.csv", "Name,Age\nAnn,40\n"),
            ("2023/shops.csv", "Shop,Size\nA,40\n"),
        ] {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        let database = FileDatabase::open(folder.path()).unwrap();
        let mut names: Vec<&str> = database.tables.iter().map(|table| table.name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["_2022_sales", "_2023_north_sales", "_2023_south_sales", "shops", "staff"]);
        let documents = database.tables.iter().map(|table| {
            let read = tabsegnet_document::read(&table.file, &ReadOptions::default()).unwrap();
            (table.file.clone(), read.document)
        });
        let documents: Vec<(PathBuf, Document)> = documents.collect();
        let made = FileDatabase::of_documents(documents.iter().map(|(file, of)| (file.as_path(), of))).unwrap();
        assert_eq!(made.tables.len(), 5);
        assert!(made.tables.iter().all(|table| names.contains(&table.name.as_str())), "{:?}", made.tables);
    }

    #[test]
    fn regression_sql_computes_over_what_cells_hold_and_not_over_what_they_show() {
        let text = r#"{"id": "r", "blocks": [{"table": {"header_rows": 1, "rows": [["Item", "Sold", "Share"],
            ["a", {"text": "1,235", "stored": "1234500"}, {"text": "13%", "stored": "12.5%"}],
            ["b", {"text": "11", "stored": "10.75"}, "20%"]]}}]}"#;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("r.json");
        std::fs::write(&file, text).unwrap();
        let database = FileDatabase::open(&file).unwrap();
        assert_eq!(
            rows(&database),
            ["Text([97]) Real(1234500.0) Real(12.5)", "Text([98]) Real(10.75) Real(20.0)"],
            "{:?}",
            database.tables
        );
        let cited = database.cited("r", 1, "sold").unwrap();
        assert_eq!(cited.node.as_deref(), Some("t0:r1c1"));
    }

    #[test]
    fn regression_a_table_with_too_many_columns_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("wide.csv");
        let line = |text: &str| vec![text; MAX_COLUMNS + 1].join(",");
        std::fs::write(&file, format!("{}\n{}\n", line("a"), line("1"))).unwrap();
        let error = FileDatabase::open(&file).unwrap_err().to_string();
        assert!(error.contains("2001 columns") && error.contains("2000 at most"), "{error}");
    }

    #[test]
    fn what_has_no_table_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(FileDatabase::open(folder.path()), Err(ImportError::Empty(_))));
        let path = folder.path().join("a.jsonl");
        std::fs::write(&path, "{\"a\": 1}\nx\n").unwrap();
        assert!(FileDatabase::open(&path).unwrap_err().to_string().contains("line 2"));
        assert!(matches!(FileDatabase::open(&folder.path().join("none.csv")), Err(ImportError::File { .. })));
    }
}
