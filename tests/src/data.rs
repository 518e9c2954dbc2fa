//! Documents that the tests rank.

use serde_json::{Value, json};
use tabsegnet_datasets::config::{Part, SyntheticConfig};
use tabsegnet_datasets::native::sample_json;
use tabsegnet_generate::synthetic::generate;

/// The dev part of [`TINY`](crate::TINY) as JSON lines of labelled documents.
pub fn native_lines() -> String {
    let config = SyntheticConfig { train_documents: 12, dev_documents: 6, ..SyntheticConfig::default() };
    generate(&config, Part::Dev).iter().map(|sample| sample_json(sample) + "\n").collect()
}

/// A small report with a merged header.
pub fn report() -> Value {
    json!({"id": "report", "blocks": [
        {"passage": "Revenue rose."},
        {"table": {"caption": "Revenue", "header_rows": 2, "header_cols": 1, "rows": [
            ["", {"text": "Year", "colspan": 2}], ["", "2018", "2017"], ["Products", "12", "11"], ["Services", "7", "5"]]}},
        {"passage": "Costs fell."}]})
}

/// A document of one table with a header row and a header column.
pub fn table_document(rows: usize, columns: usize) -> Value {
    let rows: Vec<Vec<String>> =
        (0..rows).map(|row| (0..columns).map(|column| format!("{}", row * columns + column)).collect()).collect();
    json!({"id": "table", "blocks": [{"table": {"header_rows": 1, "header_cols": 1, "rows": rows}}]})
}
