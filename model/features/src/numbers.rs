//! Numbers as they are written.

use std::collections::HashSet;

use tabsegnet_graph::{Node, NodeKind};

use crate::strings::Strings;

/// What follows a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    None,
    Percent,
    /// million, billion, thousand
    Large,
}

/// A number without commas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) digits: String,
    pub(crate) unit: Unit,
}

impl Written {
    /// Whether it is likely to mean the same amount where it stands again: three digits or a point, and
    /// no year.
    pub(crate) fn is_distinctive(&self) -> bool {
        let year = self.digits.len() == 4 && (self.digits.starts_with("19") || self.digits.starts_with("20"));
        let count = self.digits.bytes().filter(u8::is_ascii_digit).count();
        !(year && count == 4) && (count >= 3 || self.digits.contains('.'))
    }

    /// Its digits from the first that is not 0.
    pub(crate) fn significant(&self) -> String {
        significant(&self.digits)
    }
}

/// The digits of a number from the first that is not 0, the point left out.
pub(crate) fn significant(digits: &str) -> String {
    digits.replace('.', "").trim_start_matches('0').to_owned()
}

/// The numbers of a text, in order.
pub(crate) fn numbers(text: &str) -> Vec<Written> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let joined = at > 0 && bytes.get(at - 1).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_'));
        if !digit(at) || joined {
            at += 1;
            continue;
        }
        let start = at;
        while digit(at) || bytes.get(at) == Some(&b',') {
            at += 1;
        }
        if bytes.get(at) == Some(&b'.') && digit(at + 1) {
            at += 1;
            while digit(at) {
                at += 1;
            }
        }
        let digits = text.get(start..at).unwrap_or_default().replace(',', "");
        found.push(Written { digits, unit: unit(text.get(at..).unwrap_or_default()) });
    }
    found
}

fn unit(after: &str) -> Unit {
    let after = after.trim_start();
    let word = |name: &str| after.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    if after.starts_with('%') {
        Unit::Percent
    } else if word("million") || word("billion") || word("thousand") {
        Unit::Large
    } else {
        Unit::None
    }
}

/// The numbers of a document's sentences and cells.
#[derive(Debug, Clone)]
pub(crate) struct Numbers {
    /// Of each node; empty for captions and headers.
    pub(crate) of_node: Vec<Vec<Written>>,
    /// Of the cells of each table, the distinctive ones.
    pub(crate) of_table: Vec<HashSet<String>>,
}

impl Numbers {
    pub(crate) fn new(nodes: &[Node], strings: &Strings) -> Self {
        let read = |node: &Node| match node.kind {
            NodeKind::Passage | NodeKind::Cell => numbers(&node.text),
            _ => Vec::new(),
        };
        let of_node: Vec<Vec<Written>> = nodes.iter().map(read).collect();
        let mut of_table = vec![HashSet::new(); strings.tables];
        for (own, table) in of_node.iter().zip(strings.tables_of_nodes()) {
            if let Some(table) = table {
                let distinctive = own.iter().filter(|number| number.is_distinctive());
                of_table[table].extend(distinctive.map(|number| number.digits.clone()));
            }
        }
        Self { of_node, of_table }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(text: &str) -> Vec<(String, Unit)> {
        numbers(text).into_iter().map(|number| (number.digits, number.unit)).collect()
    }

    #[test]
    fn numbers_are_read_with_what_follows() {
        let expected = [("1234.5", Unit::Large), ("7", Unit::Percent), ("2019", Unit::None)];
        let expected = expected.map(|(digits, unit)| (digits.to_owned(), unit));
        assert_eq!(written("$ 1,234.5 million, 7 % of a1 in 2019."), expected);
    }

    #[test]
    fn years_and_single_digits_are_not_distinctive() {
        let distinctive = |text: &str| numbers(text).iter().map(Written::is_distinctive).collect::<Vec<_>>();
        assert_eq!(distinctive("2019 12 7.5 123 1,900.5"), [false, false, true, true, true]);
        assert_eq!(numbers("0.057")[0].significant(), "57");
    }

    proptest! {
        #[test]
        fn any_text_has_numbers(text in "\\PC{0,40}") {
            prop_assert!(numbers(&text).iter().all(|number| number.digits.starts_with(|c: char| c.is_ascii_digit())));
        }
    }
}
