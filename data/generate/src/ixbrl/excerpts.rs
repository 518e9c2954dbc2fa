//! Parts of a filing that are documents of their own: some of its tables and the sentences beside
//! them.

use std::collections::{BTreeMap, BTreeSet};

use tabsegnet_document::model::{Block, Document, Table};
use tabsegnet_document::node_id;
use tabsegnet_document::numbers::parse_cell_number;

use tabsegnet_lexical::{Bm25Config, LexicalIndex};

use super::filing::{Fact, Filing, recognizable};
use super::questions::{Draft, Sought};
use crate::dice::Dice;
use tabsegnet_datasets::config::IxbrlConfig;
use tabsegnet_datasets::sample::{Question, Sample, Segment};
use tabsegnet_datasets::values::numbers_in;

/// Fewest facts of a table that a part is chosen for.
const FEWEST_FACTS: usize = 3;
/// Tables that count as near.
const NEAR: usize = 3;
/// Sentences before and after each that an answer or a negative brings.
const BESIDE: usize = 3;
/// Sentences of a stretch from anywhere.
const STRETCH: usize = 12;
/// Most sentences that a fact brings into its part from elsewhere in the filing.
const MOST_PASSAGES: usize = 2;

/// Sets of tables, one for each part, fewer where the filing has fewer tables with facts.
///
/// A part is chosen for a table: tables that state the same concepts, as the statements and the
/// notes to them do, tables near it, and any others, in about equal numbers.
pub(super) fn choose(filing: &Filing, config: &IxbrlConfig, dice: &mut Dice) -> Vec<BTreeSet<usize>> {
    let tables = filing.tables();
    let size = |table: &usize| tables.get(table).map_or(usize::MAX, |table| table.cells().len() + 1);
    let mut concepts: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for fact in &filing.facts {
        for cell in &fact.cells {
            concepts.entry(cell.table).or_default().insert(&fact.concept);
        }
    }
    let facts = |table: &usize| filing.facts.iter().filter(|f| f.cells.iter().any(|c| c.table == *table)).count();
    let mut anchors: Vec<usize> =
        concepts.keys().copied().filter(|table| size(table) <= config.nodes && facts(table) >= FEWEST_FACTS).collect();
    dice.shuffle(&mut anchors);

    let mut covered = BTreeSet::new();
    let mut chosen = Vec::new();
    // Tables that no part has yet come first.
    while chosen.len() < config.documents_per_filing {
        let Some(next) = anchors.iter().position(|table| !covered.contains(table)).or(Some(0)) else { break };
        if next >= anchors.len() {
            break;
        }
        let anchor = anchors.remove(next);
        let wanted = dice.range(config.tables.div_ceil(2) as i64, config.tables as i64) as usize;
        let mut part = BTreeSet::from([anchor]);
        let mut nodes = size(&anchor);
        let mut take = |candidates: &[usize], count: usize, part: &mut BTreeSet<usize>| {
            let mut taken = 0;
            for table in candidates {
                if taken == count || part.len() == wanted {
                    break;
                }
                if !part.contains(table) && nodes.saturating_add(size(table)) <= config.nodes {
                    nodes += size(table);
                    part.insert(*table);
                    taken += 1;
                }
            }
        };
        let third = wanted.div_ceil(3);
        let mut related = related(anchor, &concepts);
        related.truncate(2 * third);
        dice.shuffle(&mut related);
        take(&related, third, &mut part);
        let near = tables.keys().copied().filter(|&table| table != anchor && table.abs_diff(anchor) <= NEAR);
        let mut near: Vec<usize> = near.collect();
        dice.shuffle(&mut near);
        take(&near, third, &mut part);
        let mut others: Vec<usize> = concepts.keys().copied().collect();
        dice.shuffle(&mut others);
        take(&others, wanted, &mut part);
        covered.extend(part.iter().copied());
        chosen.push(part);
    }
    chosen
}

/// Tables that share concepts with one, most shared first.
fn related(anchor: usize, concepts: &BTreeMap<usize, BTreeSet<&str>>) -> Vec<usize> {
    let Some(own) = concepts.get(&anchor) else { return Vec::new() };
    let others = concepts.iter().filter(|(table, _)| **table != anchor);
    let mut related: Vec<(usize, usize, usize)> = others
        .map(|(&table, other)| (own.intersection(other).count(), table.abs_diff(anchor), table))
        .filter(|(shared, _, _)| *shared > 0)
        .collect();
    related.sort_by_key(|&(shared, distance, table)| (std::cmp::Reverse(shared), distance, table));
    related.into_iter().map(|(_, _, table)| table).collect()
}

/// The document of a part with its questions.
pub(super) fn build(
    filing: &Filing,
    id: String,
    part: &BTreeSet<usize>,
    drafts: Vec<Draft>,
    index: &LexicalIndex,
    config: &IxbrlConfig,
    dice: &mut Dice,
) -> Sample {
    let query: BTreeSet<usize> = drafts.iter().flat_map(|draft| draft.facts()).collect();
    let query: Vec<&Fact> = query.into_iter().filter_map(|fact| filing.facts.get(fact)).collect();
    let shown: BTreeSet<u64> = query.iter().flat_map(|fact| &fact.cells).filter_map(|cell| cell.shown).collect();

    let in_prose: BTreeSet<usize> = drafts.iter().flat_map(Draft::passages).collect();
    let stating = |most: usize| query.iter().flat_map(move |fact| fact.passages.iter().copied().take(most));
    // What stands beside an answer must not tell that it is one: as much comes from elsewhere in the filing.
    let mut brought: BTreeSet<usize> = in_prose.iter().copied().chain(stating(MOST_PASSAGES)).collect();
    for draft in &drafts {
        let scores = index.bm25(&draft.text, Bm25Config::default());
        let mut best: Vec<usize> = (0..scores.len()).filter(|&passage| scores[passage] > 0.0).collect();
        best.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        brought.extend(best.into_iter().take(config.hard_negatives));
    }
    let mut taken: BTreeSet<usize> =
        brought.iter().flat_map(|passage| passage.saturating_sub(BESIDE)..=passage + BESIDE).collect();
    for _ in 0..config.stretches {
        let first = dice.below(index.len());
        taken.extend(first..first + STRETCH);
    }
    let wanted = in_prose.into_iter().chain(stating(usize::MAX)).collect();
    let taken = sentences_of(filing, part, &wanted, taken, &shown, config.sentences);
    let mut blocks = Vec::new();
    // New numbers of the sentences by their old ones.
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    let mut passage = 0;
    for block in &filing.read.document.blocks {
        match block {
            Block::Passage(text) => {
                if taken.contains(&passage) {
                    numbers.insert(passage, numbers.len());
                    blocks.push(Block::Passage(text.clone()));
                }
                passage += 1;
            }
            Block::Table(table) => {
                let tagged = filing.tagged_tables.contains(&table.number());
                if part.contains(&table.number()) && (tagged || !shows(table, &shown)) {
                    blocks.push(Block::Table(table.clone()));
                }
            }
        }
    }
    let question = |(number, draft): (usize, Draft)| {
        let segments: Vec<Segment> = draft
            .segments
            .into_iter()
            .map(|(text, sought)| Segment { text, nodes: nodes_of(filing, &sought, part, &numbers) })
            .collect();
        let gold: BTreeSet<String> = segments.iter().flat_map(|segment| segment.nodes.clone()).collect();
        Question { id: format!("{id}-{number}"), text: draft.text, gold: gold.into_iter().collect(), segments }
    };
    let questions = drafts.into_iter().enumerate().map(question).collect();
    Sample { document: Document { id: id.clone(), blocks }, questions }
}

/// The places within a part of what is sought.
fn nodes_of(filing: &Filing, sought: &Sought, part: &BTreeSet<usize>, numbers: &BTreeMap<usize, usize>) -> Vec<String> {
    let (cells, passages) = match sought {
        Sought::Fact(fact) => match filing.facts.get(*fact) {
            Some(fact) => (Some(&fact.cells), &fact.passages),
            None => return Vec::new(),
        },
        Sought::Passages(passages) => (None, passages),
    };
    let cells = cells.into_iter().flatten().filter(|cell| part.contains(&cell.table)).map(|cell| cell.node.clone());
    let passages = passages.iter().filter_map(|passage| numbers.get(passage)).map(|&new| node_id::passage(new));
    cells.chain(passages).collect()
}

/// The sentences beside the tables and those `taken` from elsewhere. Without sentences that show a number which is
/// wanted and are not `wanted` themselves: whether they state the same is not known.
fn sentences_of(
    filing: &Filing,
    part: &BTreeSet<usize>,
    wanted: &BTreeSet<usize>,
    mut taken: BTreeSet<usize>,
    shown: &BTreeSet<u64>,
    context: usize,
) -> BTreeSet<usize> {
    let blocks = &filing.read.document.blocks;
    let positions = filing.passage_blocks();
    for (at, block) in blocks.iter().enumerate() {
        let Block::Table(table) = block else { continue };
        if !part.contains(&table.number()) {
            continue;
        }
        // Passages before the block, and so the index of the first one after it.
        let next = positions.partition_point(|&position| position < at);
        let before = (0..next).rev().zip((0..at).rev()).take(context);
        taken.extend(before.take_while(|&(passage, position)| positions.get(passage) == Some(&position)).map(|p| p.0));
        let after = (next..positions.len()).zip(at + 1..).take(context);
        taken.extend(after.take_while(|&(passage, position)| positions.get(passage) == Some(&position)).map(|p| p.0));
    }
    let text = |passage: usize| match positions.get(passage).and_then(|&at| blocks.get(at)) {
        Some(Block::Passage(text)) => text.as_str(),
        _ => "",
    };
    taken.retain(|passage| {
        *passage < positions.len()
            && (wanted.contains(passage)
                || !numbers_in(text(*passage)).iter().any(|(_, number)| shown.contains(&number.to_bits())))
    });
    taken
}

/// Whether a table shows one of the numbers.
fn shows(table: &Table, shown: &BTreeSet<u64>) -> bool {
    table.cells().iter().any(|cell| {
        let number = parse_cell_number(&cell.text).and_then(|number| recognizable(&cell.text, number));
        number.is_some_and(|number| shown.contains(&number))
    })
}
