//! Which passages name which cells: a passage about what a cell says begins with it.

use std::collections::{BTreeSet, HashMap};

use tabsegnet_graph::{Node, NodeKind};

/// Words at the beginning of a passage that may name a cell.
const FIRST: usize = 12;
/// Words of a cell, at most, and of a cell that holds the first two words of a passage.
const LONGEST: usize = 8;
const LONGEST_HOLDING: usize = 16;
/// Passages and nodes that the same words may join, at most: what more have says nothing.
const PASSAGES: usize = 20;
const NODES: usize = 40;

/// FNV-1a of words one after the other.
#[derive(Clone, Copy)]
struct Hash(u64);

impl Hash {
    const NONE: Self = Self(0xcbf2_9ce4_8422_2325);

    fn with(self, word: &str) -> Self {
        let bytes = word.bytes().chain([0xff]);
        Self(bytes.fold(self.0, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)))
    }

    fn of(words: &[String]) -> Self {
        words.iter().fold(Self::NONE, |hash, word| hash.with(word))
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Whether words can be a name: bare numbers and letters are not.
fn is_name(words: &[String]) -> bool {
    words.iter().any(|word| word.chars().count() > 1 && word.chars().all(char::is_alphabetic))
}

/// Nodes of tables that the beginning of a passage names, each with the passage, rising: the text of a cell or row header
/// stands among the passage's first twelve words, or the passage's first two words stand in it.
pub(super) fn links(nodes: &[Node]) -> Vec<(u32, u32)> {
    let mut whole: HashMap<u64, Vec<u32>> = HashMap::new();
    let mut pairs: HashMap<u64, Vec<u32>> = HashMap::new();
    for (number, node) in (0..).zip(nodes) {
        if !matches!(node.kind, NodeKind::Cell | NodeKind::RowHeader) {
            continue;
        }
        let of_cell: Vec<String> = words(&node.text).take(LONGEST_HOLDING + 1).collect();
        if of_cell.len() > LONGEST_HOLDING || !is_name(&of_cell) {
            continue;
        }
        if of_cell.len() <= LONGEST {
            whole.entry(Hash::of(&of_cell).0).or_default().push(number);
        }
        for pair in of_cell.windows(2).filter(|pair| is_name(pair)) {
            let of_pair = pairs.entry(Hash::of(pair).0).or_default();
            if of_pair.last() != Some(&number) {
                of_pair.push(number);
            }
        }
    }
    // Of each words that name nodes the passages.
    let mut named: [HashMap<u64, BTreeSet<u32>>; 2] = Default::default();
    for (number, _) in (0..).zip(nodes).filter(|(_, node)| node.kind == NodeKind::Passage) {
        let first: Vec<String> = words(&nodes[number as usize].text).take(FIRST).collect();
        for start in 0..first.len() {
            let mut hash = Hash::NONE;
            for word in first.iter().skip(start).take(LONGEST) {
                hash = hash.with(word);
                if whole.contains_key(&hash.0) {
                    named[0].entry(hash.0).or_default().insert(number);
                }
            }
        }
        if let Some(pair) = first.get(..2).map(Hash::of).filter(|hash| pairs.contains_key(&hash.0)) {
            named[1].entry(pair.0).or_default().insert(number);
        }
    }
    let mut found = BTreeSet::new();
    for (named, of) in named.iter().zip([&whole, &pairs]) {
        for (hash, passages) in named.iter().filter(|(_, passages)| passages.len() <= PASSAGES) {
            let nodes = of.get(hash).filter(|nodes| nodes.len() <= NODES);
            found.extend(nodes.into_iter().flatten().flat_map(|node| passages.iter().map(|passage| (*node, *passage))));
        }
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(kind: NodeKind, text: &str) -> Node {
        Node { id: String::new(), kind, text: text.to_owned(), place: None, section: None }
    }

    #[test]
    fn passages_that_begin_with_a_cell_name_it() {
        use NodeKind::{Cell, ColumnHeader, Passage, RowHeader};
        let nodes = [
            node(Passage, "Munich ( German : München ) is the capital of Bavaria ."),
            node(ColumnHeader, "Munich"),
            node(RowHeader, "Chi Cheng ( ROC )"),
            node(Cell, "Munich"),
            node(Cell, "1972"),
            node(Cell, "Bavaria"),
            node(Passage, "Chi Cheng was born in 1972 ."),
            node(Passage, "It is said of her that of all who ever ran for that town she was the fastest , in Munich ."),
        ];
        assert_eq!(links(&nodes), [(2, 6), (3, 0), (5, 0)]);
    }

    #[test]
    fn what_many_passages_begin_with_names_nothing() {
        let passages = |count| std::iter::repeat_n(node(NodeKind::Passage, "Net sales rose ."), count);
        let nodes: Vec<Node> = [node(NodeKind::RowHeader, "Net sales")].into_iter().chain(passages(PASSAGES)).collect();
        assert_eq!(links(&nodes).len(), PASSAGES);
        let more: Vec<Node> = nodes.into_iter().chain(passages(1)).collect();
        assert_eq!(links(&more), []);
    }
}
