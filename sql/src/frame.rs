//! Rows, and where their values come from, as frames of polars.

use polars_core::frame::DataFrame;
use polars_core::prelude::{Column as FrameColumn, DataType, PlSmallStr, PolarsResult, TimeUnit};
use tabsegnet_records::iso;

use crate::rows::{Column, Kind, Rows, Value, plain};
use crate::schema::Schema;
use crate::sourced::{Source, SourcedRows, cell_of};

impl Rows {
    /// The rows as a frame, one of the crate `polars` of the same version too. A column is one of truth values, days or
    /// times (in microseconds, without a zone) where `schema` declares it so and all its values can be read so; else one of
    /// integers, floats or bytes where all its values are, or of texts as in CSV. NULL is null; a column without values has
    /// the type that is declared. Names that come again get a number.
    ///
    /// # Errors
    /// What polars gives.
    pub fn frame(&self, schema: &Schema) -> PolarsResult<DataFrame> {
        let names = self.unique_names();
        let columns = self.columns.iter().zip(names).enumerate();
        let columns = columns.map(|(at, (of, name))| column(self, at, name.into(), declared(schema, of)));
        DataFrame::new(self.rows.len(), columns.collect::<PolarsResult<Vec<FrameColumn>>>()?)
    }
}

impl SourcedRows {
    /// Where the values of the rows come from, a row each as far as that is known, and a frame of none where it is not: the
    /// value by `row`, from 0, and `column` of [`Rows::frame`]; the `table`; of SQLite the `row_id`, of PostgreSQL the `key`
    /// as JSON; the `table_column`; of tables of files `file` and `cell`, the cell's node id or row and column.
    ///
    /// # Errors
    /// What polars gives.
    pub fn source_frame(&self) -> PolarsResult<DataFrame> {
        let names = self.rows.unique_names();
        let mut cells: Vec<(usize, usize, &Source)> = Vec::new();
        for (row, sources) in self.sources.iter().enumerate() {
            cells.extend(sources.iter().enumerate().filter_map(|(at, source)| Some((row, at, source.as_ref()?))));
        }
        let texts = |name: &str, text: fn(&Source) -> Option<String>| {
            let texts: Vec<Option<String>> = cells.iter().map(|(_, _, source)| text(source)).collect();
            FrameColumn::new(name.into(), texts)
        };
        let key = |source: &Source| {
            let key = Some(&source.origin.key).filter(|key| !key.is_empty())?;
            serde_json::to_string(key).ok()
        };
        let rows: Vec<u32> = cells.iter().map(|(row, ..)| *row as u32).collect();
        let columns: Vec<Option<String>> = cells.iter().map(|(_, at, _)| names.get(*at).cloned()).collect();
        let row_ids: Vec<Option<i64>> = cells.iter().map(|(_, _, source)| source.origin.row_id).collect();
        DataFrame::new(
            cells.len(),
            vec![
                FrameColumn::new("row".into(), rows),
                FrameColumn::new("column".into(), columns),
                texts("table", |source| Some(source.origin.table.clone())),
                FrameColumn::new("row_id".into(), row_ids),
                texts("key", key),
                texts("table_column", |source| Some(source.origin.column.clone())),
                texts("file", |source| Some(source.cited.as_ref()?.file.display().to_string())),
                texts("cell", |source| source.cited.as_ref().map(cell_of)),
            ],
        )
    }
}

/// The type that the schema declares a column of a result as; empty where it is of no table.
fn declared<'s>(schema: &'s Schema, column: &Column) -> &'s str {
    let (Some(table), Some(name)) = (&column.table, &column.column) else { return "" };
    let tables = schema.tables.iter().map(|table| (&table.name, &table.columns));
    let mut all = tables.chain(schema.views.iter().map(|view| (&view.name, &view.columns)));
    let columns = all.find(|(known, _)| *known == table).map(|(_, columns)| columns);
    let found = columns.into_iter().flatten().find(|known| known.name == *name);
    found.map_or("", |known| known.declared_type.as_str())
}

fn column(rows: &Rows, at: usize, name: PlSmallStr, declared: &str) -> PolarsResult<FrameColumn> {
    let declared = declared.to_ascii_lowercase();
    let is = |word: &str| declared.contains(word);
    if is("bool")
        && let Some(values) = read(rows, at, truth)
    {
        return Ok(FrameColumn::new(name, values));
    }
    if is("timestamp") || is("datetime") {
        if let Some(values) = read(rows, at, |value| iso::micros(text(value)?)) {
            return FrameColumn::new(name, values).cast(&DataType::Datetime(TimeUnit::Microseconds, None));
        }
    } else if is("date")
        && let Some(values) = read(rows, at, |value| iso::days(text(value)?))
    {
        return FrameColumn::new(name, values).cast(&DataType::Date);
    }
    Ok(match rows.kind(at) {
        Kind::Nothing => FrameColumn::full_null(name, rows.rows.len(), &type_of(&declared)),
        Kind::Integers => FrameColumn::new(name, some(rows, at, whole)),
        Kind::Numbers => FrameColumn::new(name, some(rows, at, Value::number)),
        Kind::Blobs => FrameColumn::new(name, some(rows, at, bytes)),
        Kind::Texts => FrameColumn::new(name, some(rows, at, |value| (*value != Value::Null).then(|| plain(value)))),
    })
}

/// The values of a column, where all but NULLs can be read.
fn read<T>(rows: &Rows, at: usize, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<Option<T>>> {
    let values = rows.values(at).map(|value| match value {
        Value::Null => Some(None),
        value => read(value).map(Some),
    });
    values.collect()
}

/// The values of a column, null where one cannot be read.
fn some<T>(rows: &Rows, at: usize, read: impl Fn(&Value) -> Option<T>) -> Vec<Option<T>> {
    rows.values(at).map(read).collect()
}

/// SQLite has 0 and 1, PostgreSQL the words.
fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Integer(0) => Some(false),
        Value::Integer(1) => Some(true),
        Value::Text(text) => text.parse().ok(),
        _ => None,
    }
}

fn text(value: &Value) -> Option<&str> {
    if let Value::Text(text) = value { Some(text) } else { None }
}

fn whole(value: &Value) -> Option<i64> {
    if let Value::Integer(value) = value { Some(*value) } else { None }
}

fn bytes(value: &Value) -> Option<Vec<u8>> {
    if let Value::Blob(bytes) = value { Some(bytes.clone()) } else { None }
}

/// The type of a column without values, by the first word of what is declared.
fn type_of(declared: &str) -> DataType {
    match declared.split(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or_default() {
        "int" | "integer" | "bigint" | "smallint" | "tinyint" | "mediumint" => DataType::Int64,
        "real" | "double" | "float" | "numeric" | "decimal" => DataType::Float64,
        "blob" | "bytea" => DataType::Binary,
        _ => DataType::String,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use polars_core::prelude::AnyValue;
    use rusqlite::Connection;

    use super::*;
    use crate::tables::FileDatabase;
    use crate::{Database, Origin, Sandbox};

    const KINDS: &str =
        "CREATE TABLE t (day DATE, at DATETIME, flag BOOLEAN, n INTEGER, x REAL, s TEXT, b BLOB, odd DATE);
        INSERT INTO t VALUES ('2024-02-29', '2024-02-29 12:34:56.5', 1, 7, 0.5, 'ü', x'00ff', '2024-02-29'),
            (NULL, '1970-01-02', 0, NULL, 2, '', NULL, 'soon'), (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
        CREATE VIEW days AS SELECT day AS d FROM t";

    fn open(folder: &tempfile::TempDir, sql: &str) -> Database {
        let path: PathBuf = folder.path().join("a.db");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        Database::open(&path, &Sandbox::default()).unwrap()
    }

    /// The values of a column.
    fn values<'f>(frame: &'f DataFrame, column: &str) -> Vec<AnyValue<'f>> {
        let column = frame.column(column).unwrap();
        (0..column.len()).map(|row| column.get(row).unwrap()).collect()
    }

    #[test]
    fn columns_have_the_types_that_are_declared_or_seen() {
        let folder = tempfile::tempdir().unwrap();
        let database = open(&folder, KINDS);
        let schema = database.schema().unwrap();
        let frame = database.query("SELECT *, n + x AS sum, n FROM t").unwrap().frame(&schema).unwrap();
        assert_eq!(frame.shape(), (3, 10));
        let time = DataType::Datetime(TimeUnit::Microseconds, None);
        let (text, bytes) = (DataType::String, DataType::Binary);
        assert_eq!(
            frame.dtypes(),
            [
                DataType::Date,
                time.clone(),
                DataType::Boolean,
                DataType::Int64,
                DataType::Float64,
                text.clone(),
                bytes.clone(),
                text.clone(),
                DataType::Float64,
                DataType::Int64
            ]
        );
        let null = AnyValue::Null;
        assert_eq!(values(&frame, "day"), [AnyValue::Date(19_782), null.clone(), null.clone()]);
        let at = |micros: i64| AnyValue::Datetime(micros, TimeUnit::Microseconds, None);
        assert_eq!(values(&frame, "at"), [at(1_709_210_096_500_000), at(86_400_000_000), null.clone()]);
        assert_eq!(values(&frame, "flag"), [AnyValue::Boolean(true), AnyValue::Boolean(false), null.clone()]);
        assert_eq!(values(&frame, "s"), [AnyValue::String("ü"), AnyValue::String(""), null.clone()]);
        assert_eq!(values(&frame, "b"), [AnyValue::Binary(&[0, 255]), null.clone(), null.clone()]);
        assert_eq!(values(&frame, "odd")[1], AnyValue::String("soon"));
        assert_eq!(values(&frame, "n_2"), [AnyValue::Int64(7), null.clone(), null]);
        // Through a view, and where there is no row.
        let none = database.query("SELECT d, at, flag, n, x, s, b, n + 1 FROM t, days WHERE 0").unwrap();
        let none = none.frame(&schema).unwrap();
        let whole = DataType::Int64;
        assert_eq!(
            (none.height(), none.dtypes()),
            (0, vec![DataType::Date, time, DataType::Boolean, whole, DataType::Float64, text.clone(), bytes, text])
        );
    }

    #[test]
    fn values_of_a_server_are_read_too() {
        let folder = tempfile::tempdir().unwrap();
        let schema = open(&folder, "CREATE TABLE t (flag boolean, at timestamp)").schema().unwrap();
        let column =
            |name: &str| Column { name: name.to_owned(), table: Some("t".to_owned()), column: Some(name.to_owned()) };
        let row = |texts: [&str; 2]| texts.map(|text| Value::Text(text.to_owned())).to_vec();
        let rows = Rows {
            columns: vec![column("flag"), column("at")],
            rows: vec![row(["true", "2024-01-01 00:00:00+00"]), row(["false", "2024-01-01 00:00:00+00"])],
            truncated: false,
        };
        let frame = rows.frame(&schema).unwrap();
        assert_eq!(frame.dtypes(), [DataType::Boolean, DataType::String]);
        assert_eq!(values(&frame, "flag"), [AnyValue::Boolean(true), AnyValue::Boolean(false)]);
    }

    #[test]
    fn sources_are_a_frame_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("sales.csv"), "City,Sold\nRome,5\nOslo,7\n").unwrap();
        let files = FileDatabase::open(folder.path()).unwrap();
        let database = Database::open(files.path(), &Sandbox::default()).unwrap();
        let sql = "SELECT sold, 1 AS one, city AS sold FROM sales ORDER BY rowid DESC";
        let (rows, origins) = database.query_with_origins(sql).unwrap();
        let sourced = SourcedRows::new(rows, origins, Some(&files));
        let frame = sourced.source_frame().unwrap();
        let names: Vec<&str> = frame.get_column_names().into_iter().map(|name| name.as_str()).collect();
        assert_eq!(names, ["row", "column", "table", "row_id", "key", "table_column", "file", "cell"]);
        let rows = [0, 0, 1, 1].map(AnyValue::UInt32);
        assert_eq!(values(&frame, "row"), rows);
        let texts = |name: &str| -> Vec<String> {
            values(&frame, name).iter().map(|value| value.get_str().unwrap_or("null").to_owned()).collect()
        };
        assert_eq!(texts("column"), ["sold", "sold_2", "sold", "sold_2"]);
        assert_eq!(texts("table_column"), ["sold", "city", "sold", "city"]);
        assert_eq!(values(&frame, "row_id"), [2, 2, 1, 1].map(AnyValue::Int64));
        assert_eq!(texts("cell"), ["t0:r2c1", "t0:r2h0", "t0:r1c1", "t0:r1h0"]);
        assert!(texts("file").iter().all(|file| file.ends_with("sales.csv")));
        assert_eq!(texts("key"), ["null"; 4]);

        let (rows, origins) = database.query_with_origins("SELECT count(*) FROM sales").unwrap();
        assert_eq!(SourcedRows::new(rows.clone(), origins, None).source_frame().unwrap().shape(), (0, 8));
        let key = BTreeMap::from([("id".to_owned(), Value::Integer(7))]);
        let origin = Origin { table: "s.t".to_owned(), row_id: None, key, column: "n".to_owned() };
        let frame = SourcedRows::new(rows, vec![vec![Some(origin)]], None).source_frame().unwrap();
        assert_eq!(values(&frame, "key"), [AnyValue::String("{\"id\":7}")]);
        assert_eq!(values(&frame, "row_id"), [AnyValue::Null]);
    }
}
