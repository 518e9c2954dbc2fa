//! What a question holds columns to without naming it: that there is no value or one, yes or no, women or men.

use super::{flags, missing};
use crate::compose::sketch::{Operand, Relation};
use crate::linking::{Linker, Mention, Words};
use crate::rows::Value;
use crate::schema_graph::ColumnKind;

/// A column that has no value, or is one of yes and no, and what it is held to; with the words that say so.
#[derive(Debug, Clone)]
pub(super) struct Implied {
    pub column: usize,
    pub words: std::ops::Range<usize>,
    pub relation: Relation,
    pub operand: Operand,
}

/// Columns that the question holds to something without its being named.
pub(super) fn implied(
    words: &Words,
    (columns, tables): (&[Mention], &[Mention]),
    names: &[Words],
    linker: &Linker<'_>,
) -> Vec<Implied> {
    let (graph, values) = (linker.graph(), linker.values());
    let of = |column: usize, words, operand| Implied { column, words, relation: Relation::Equal, operand };
    let missing = missing::missing_of(words, (columns, tables), names, linker);
    let missing = missing.into_iter().map(|(column, words)| of(column, words, Operand::Nothing));
    let done = missing::done(words, columns, |column| values.has_nulls(column) && values.holds_dates(column));
    let done =
        done.map(|(column, words)| Implied { relation: Relation::Unequal, ..of(column, words, Operand::Nothing) });
    let flags = (0..names.len()).filter_map(|column| {
        let [yes, no] = values.flags(column)?;
        let has = |stem: &str, of: &Words| of.words.iter().any(|word| word.stem == stem);
        let is_its_own = |stem: &str| {
            let others = names.iter().enumerate().filter(|(other, _)| *other != column);
            let is_table = graph.tables().iter().any(|table| has(stem, &Words::of_name(&table.name)));
            !is_table && !others.into_iter().any(|(_, of)| has(stem, of))
        };
        let (words, holds) = flags::flag(words, names.get(column)?, is_its_own)?;
        let operand = match if holds { yes } else { no } {
            Value::Integer(value) => Operand::Number(value as f64),
            Value::Text(text) => Operand::Text(text),
            _ => return None,
        };
        Some(of(column, words, operand))
    });
    let sexes = names.iter().enumerate().filter_map(|(column, name)| {
        let (words, letter) = flags::sex(words, name)?;
        Some(of(column, words, Operand::Text(values.spelt(column, letter)?)))
    });
    let used_up = columns.iter().enumerate().filter_map(|(column, mention)| {
        let is_number = graph.columns().get(column)?.kind == ColumnKind::Number;
        let words = missing::used_up(words, mention).filter(|_| is_number && mention.coverage > 0.3)?;
        Some(of(column, words, Operand::Number(0.0)))
    });
    flags.chain(sexes).chain(missing).chain(done).chain(used_up).collect()
}
