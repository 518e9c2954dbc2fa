//! Keys of a config: unknown ones, and setting one.

use tabsegnet_corpus::gtr::GtrConfig;
use toml::{Table, Value};

use super::{ConfigError, known};

/// Writes settings of GTR that are there under the paper's symbols under their names.
pub(super) fn name_symbols(table: &mut Table) {
    let gtr = table.get_mut("corpus").and_then(|corpus| corpus.get_mut("gtr")).and_then(Value::as_table_mut);
    let Some(gtr) = gtr else { return };
    for (symbol, name) in GtrConfig::SYMBOLS {
        if let Some(value) = gtr.remove(symbol) {
            gtr.insert(name.to_owned(), value);
        }
    }
}

/// Every key of `table` must be one of the defaults'.
pub(super) fn check(place: &str, table: &Table) -> Result<(), ConfigError> {
    check_in(place, "", table, &known()?)
}

fn check_in(place: &str, prefix: &str, table: &Table, known_here: &Table) -> Result<(), ConfigError> {
    for (key, value) in table {
        let path = format!("{prefix}{key}");
        match (known_here.get(key), value) {
            (None, _) => return Err(unknown(place, &path)),
            (Some(Value::Table(known_below)), Value::Table(below)) => {
                check_in(place, &format!("{path}."), below, known_below)?;
            }
            (Some(Value::Array(example)), Value::Array(items)) => {
                let Some(Value::Table(known_below)) = example.first() else { continue };
                for (index, item) in items.iter().enumerate() {
                    if let Value::Table(below) = item {
                        check_in(place, &format!("{path}[{index}]."), below, known_below)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn unknown(place: &str, key: &str) -> ConfigError {
    let mut candidates = vec!["extends".to_owned()];
    if let Ok(known) = known() {
        paths("", &known, &mut candidates);
    }
    fn parted(path: &str) -> (&str, &str) {
        path.rsplit_once('.').unwrap_or(("", path))
    }
    let (section, last) = parted(key);
    // Beyond a third of its letters nothing is near: then the key is an old one, or none.
    let farthest = (last.chars().count() / 3).max(1);
    let distance = |path: &String| {
        let (of, name) = parted(path);
        let apart = strsim::damerau_levenshtein(last, name);
        // The same name elsewhere is what was meant more often than a similar one here.
        (apart <= farthest).then(|| apart + usize::from(section != of))
    };
    // Of two as near the one with the longer common prefix.
    let common_prefix = |path: &String| key.bytes().zip(path.bytes()).take_while(|(a, b)| a == b).count();
    let near =
        candidates.iter().filter_map(|path| Some(((distance(path)?, std::cmp::Reverse(common_prefix(path))), path)));
    let hint = match near.min() {
        Some((_, path)) => format!("; the nearest known key is {path} (--print-config shows all)"),
        None => {
            "; none is like it (--print-config shows all, docs/glossary.md has what old keys are called now)".to_owned()
        }
    };
    ConfigError::UnknownKey { place: place.to_owned(), key: key.to_owned(), hint }
}

/// All keys, sections too; of a list of sections those of its first.
pub(super) fn paths(prefix: &str, table: &Table, out: &mut Vec<String>) {
    for (key, value) in table {
        let path = format!("{prefix}{key}");
        match value {
            Value::Table(below) => paths(&format!("{path}."), below, out),
            Value::Array(items) => {
                if let Some(Value::Table(below)) = items.first() {
                    paths(&format!("{path}[0]."), below, out);
                }
            }
            _ => {}
        }
        out.push(path);
    }
}

/// Sets `section.key=value`; the value is TOML where it parses as such, else text.
pub(super) fn set(table: &mut Table, argument: &str) -> Result<(), ConfigError> {
    let error = |message: &str| ConfigError::Set { argument: argument.to_owned(), message: message.to_owned() };
    let (path, text) = argument.split_once('=').ok_or_else(|| error("expected section.key=value"))?;
    let symbol = path.trim().strip_prefix("corpus.gtr.").map(|key| key.trim_matches('"'));
    let named = GtrConfig::SYMBOLS.iter().find(|(of, _)| Some(*of) == symbol);
    let named = named.map(|(_, name)| format!("corpus.gtr.{name}"));
    let path = named.as_deref().unwrap_or_else(|| path.trim());
    let value = match toml::from_str::<Table>(&format!("value = {text}")) {
        Ok(mut parsed) if parsed.len() == 1 => parsed.remove("value"),
        _ => None,
    }
    .unwrap_or_else(|| Value::String(text.trim().to_owned()));

    let mut defaults = Value::Table(known()?);
    let mut here = table;
    let mut parts = path.split('.').peekable();
    while let Some(part) = parts.next() {
        let Some(default) = defaults.as_table_mut().and_then(|table| table.remove(part)) else {
            return Err(unknown("--set", path));
        };
        defaults = default;
        if parts.peek().is_none() {
            if defaults.is_table() && !value.is_table() {
                return Err(error("is a section; name a key in it"));
            }
            here.insert(part.to_owned(), value);
            return Ok(());
        }
        let below = here.entry(part).or_insert_with(|| Value::Table(Table::new()));
        here = below.as_table_mut().ok_or_else(|| error("goes through a key that is no section"))?;
    }
    Err(error("expected section.key=value"))
}
