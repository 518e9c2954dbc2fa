//! JSON lines: an object a line.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Header and rows of a file of JSON objects, one a line; a field that an object lacks, and null, is an empty text, and
/// what is nested is its JSON. Columns stand in the order in which their fields come first.
///
/// # Errors
/// The line (from 1) that is no object, and why.
pub(crate) fn read(text: &str) -> Result<(Vec<String>, Vec<Vec<String>>), String> {
    let mut header: Vec<String> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut rows = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let object: Map<String, Value> = serde_json::from_str(line)
            .map_err(|error| format!("line {}: expected a JSON object: {error}", number + 1))?;
        let mut row = vec![String::new(); header.len()];
        for (name, value) in object {
            let place = *places.entry(name.clone()).or_insert_with(|| {
                header.push(name);
                row.push(String::new());
                header.len() - 1
            });
            if let Some(cell) = row.get_mut(place) {
                *cell = match value {
                    Value::Null => String::new(),
                    Value::String(text) => text,
                    other => other.to_string(),
                };
            }
        }
        rows.push(row);
    }
    Ok((header, rows))
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn fields_become_columns() {
        let (header, rows) = read("{\"a\": 1, \"b\": null}\n\n{\"c\": [1], \"a\": \"x\"}\n").unwrap();
        assert_eq!(header, ["a", "b", "c"]);
        assert_eq!(rows, [vec!["1", ""], vec!["x", "", "[1]"]]);
        assert!(read("{}\n[1]").unwrap_err().starts_with("line 2"));
    }
}
