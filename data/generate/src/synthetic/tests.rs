use std::collections::{BTreeMap, BTreeSet, HashSet};

use tabsegnet_store::Digest;

use tabsegnet_datasets::native::{Native, sample_json};
use tabsegnet_document::model::CellRole;
use tabsegnet_document::numbers::parse_number;

use super::names::{DEV_STEMS, TRAIN_STEMS};
use super::questions::MOST_GOLD;
use super::*;

fn draws() -> Vec<Draw> {
    let config = SyntheticConfig::default();
    let draw = |part, count| (0..count).map(move |index| Draw::new(config.seed, part, index));
    draw(Part::Train, config.train_documents).chain(draw(Part::Dev, config.dev_documents)).collect()
}

fn digest(samples: &[Sample]) -> String {
    samples.iter().fold(Digest::new(), |digest, sample| digest.part(sample_json(sample))).hex()
}

/// The text of a cell; `None` where the node is no data cell of the document.
fn cell_text(document: &Document, node: &str) -> Option<String> {
    let (table, place) = node.strip_prefix('t')?.split_once(":r")?;
    let (row, col) = place.split_once('c')?;
    let (row, col) = (row.parse().ok()?, col.parse().ok()?);
    let table = document.tables().find(|t| t.number().to_string() == table)?;
    let cell = table.cell_at(row, col)?;
    let exact = (cell.row, cell.col) == (row, col) && table.role(cell) == CellRole::Data;
    exact.then(|| cell.text.clone())
}

#[test]
fn the_same_config_gives_the_same_bytes() {
    let config = SyntheticConfig { train_documents: 5, dev_documents: 5, ..Default::default() };
    for part in [Part::Train, Part::Dev] {
        let samples = generate(&config, part);
        assert_eq!(digest(&generate(&config, part)), digest(&samples));
        let other = generate(&SyntheticConfig { seed: 1, ..config.clone() }, part);
        assert_ne!(digest(&other), digest(&samples));
    }
}

/// A change of this digest changes every result that was measured on the data.
#[test]
fn the_bytes_are_those_of_every_platform_and_release() {
    let config = SyntheticConfig { dev_documents: 5, ..Default::default() };
    let mut samples = generate(&config, Part::Dev);
    assert_eq!(digest(&samples), "ba66c0055fd45873aad2f2b7e8891e37ff2cd0b89900e7c7a9cacd91ba56a49a");
    samples.iter_mut().flat_map(|sample| &mut sample.questions).for_each(|question| question.segments.clear());
    assert_eq!(digest(&samples), "54f3be03388743d810428afec9c00375a55ea42a30316cd604e7d22de3b310cb");
}

#[test]
fn more_documents_or_questions_leave_the_earlier_ones_as_they_are() {
    let small = SyntheticConfig { dev_documents: 4, ..Default::default() };
    let large = SyntheticConfig { dev_documents: 9, questions_per_document: 6, ..Default::default() };
    let (small, large) = (generate(&small, Part::Dev), generate(&large, Part::Dev));
    assert_eq!((small.len(), large.len()), (4, 9));
    for (one, other) in small.iter().zip(&large) {
        assert_eq!(one.document, other.document);
        assert_eq!(one.questions[..], other.questions[..3]);
    }
}

#[test]
fn every_question_has_gold_that_is_there() {
    let config = SyntheticConfig::default();
    let mut ids = HashSet::new();
    for sample in [Part::Train, Part::Dev].iter().flat_map(|&part| generate(&config, part)) {
        assert_eq!(sample.questions.len(), config.questions_per_document);
        let passages = sample.document.passages().count();
        for question in &sample.questions {
            assert!(ids.insert(question.id.clone()), "{} comes twice", question.id);
            assert!((1..=MOST_GOLD).contains(&question.gold.len()), "{}", question.id);
            let distinct: HashSet<&String> = question.gold.iter().collect();
            assert_eq!(distinct.len(), question.gold.len(), "{}", question.id);
            for node in &question.gold {
                let there = match node.strip_prefix('p') {
                    Some(passage) => passage.parse::<usize>().is_ok_and(|passage| passage < passages),
                    None => cell_text(&sample.document, node).is_some(),
                };
                assert!(there, "{}: {node} is no cell or sentence of the document", question.id);
            }
            let leftover = ["{", "}", "  ", " ?", " ,"].iter().find(|mark| question.text.contains(**mark));
            assert_eq!(leftover, None, "{}: {}", question.id, question.text);
        }
    }
}

#[test]
fn documents_are_of_the_stated_size() {
    for draw in draws() {
        let (passages, tables) = (draw.document.passages().count(), draw.document.tables().count());
        let cells: usize = draw.document.tables().map(|table| table.cells().len()).sum();
        assert!((12..=25).contains(&passages), "{}: {passages} passages", draw.document.id);
        assert!((3..=5).contains(&tables), "{}: {tables} tables", draw.document.id);
        let nodes = passages + tables + cells;
        assert!((100..=250).contains(&nodes), "{}: {nodes} nodes", draw.document.id);
    }
}

#[test]
fn sums_add_up_as_shown() {
    for draw in draws() {
        let shown = |node: &str| match cell_text(&draw.document, node).unwrap().as_str() {
            "—" => 0.0,
            text => parse_number(text).unwrap(),
        };
        for sum in &draw.sums {
            let parts: f64 = sum.parts.iter().map(|(sign, part)| *sign as f64 * shown(part)).sum();
            let total = shown(&sum.total);
            assert!((parts - total).abs() < 1e-6, "{} {}: {parts} {total}", draw.document.id, sum.total);
        }
    }
}

/// What makes the gold of a question the only one: a figure is stated under one key, and the words
/// of a part belong to no other part of the same concept.
#[test]
fn a_figure_stated_twice_is_the_same_and_words_distinguish_parts() {
    for draw in draws() {
        let mut values: BTreeMap<&str, i64> = BTreeMap::new();
        let mut parts: BTreeMap<(&str, &str), &str> = BTreeMap::new();
        for fact in &draw.facts {
            let id = &draw.document.id;
            assert_eq!(*values.entry(&fact.key).or_insert(fact.value), fact.value, "{id}: {}", fact.key);
            for wording in &fact.scope.wordings {
                let part = *parts.entry((fact.concept.id, wording)).or_insert(&fact.scope.key);
                assert_eq!(part, fact.scope.key, "{id}: {wording}");
            }
        }
    }
}

#[test]
fn at_least_a_third_of_the_questions_need_two_tables() {
    let config = SyntheticConfig::default();
    let (mut two, mut all) = (0, 0);
    for draw in draws() {
        for draft in draw.drafts(&config) {
            let gold: Vec<&Fact> = draw.facts.iter().filter(|fact| draft.gold.contains(&fact.node)).collect();
            let keys: BTreeSet<&str> = gold.iter().map(|fact| fact.key.as_str()).collect();
            let states_all = |table: usize| {
                let stated = gold.iter().filter(|fact| fact.table == Some(table));
                stated.map(|fact| fact.key.as_str()).collect::<BTreeSet<_>>() == keys
            };
            let cells_alone = gold.iter().all(|fact| fact.table.is_some());
            two += usize::from(cells_alone && !(0..5).any(states_all));
            all += 1;
        }
    }
    assert!(3 * two >= all, "{two} of {all}");
}

#[test]
fn the_parts_share_no_company() {
    assert!(TRAIN_STEMS.iter().all(|stem| !DEV_STEMS.contains(stem)));
    let companies =
        |part: Part| -> BTreeSet<String> { (0..60).map(|index| Draw::new(0, part, index).report.company).collect() };
    assert!(companies(Part::Train).is_disjoint(&companies(Part::Dev)));
}

#[test]
fn samples_round_trip_through_native_json() {
    let samples = generate(&SyntheticConfig { dev_documents: 20, ..Default::default() }, Part::Dev);
    let lines: Vec<String> = samples.iter().map(sample_json).collect();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("samples.jsonl");
    std::fs::write(&path, lines.join("\n")).unwrap();
    let inputs = Inputs { files: vec![path], ..Inputs::default() };
    assert_eq!(Native.read(&inputs, &DataConfig::default(), Labels::Required).unwrap().samples, samples);
}

#[test]
fn segments_are_those_of_the_facts_and_hold_all_gold() {
    let config = SyntheticConfig { train_documents: 40, ..Default::default() };
    let samples = generate(&config, Part::Train);
    let mut several = 0;
    for question in samples.iter().flat_map(|sample| &sample.questions) {
        let covered: BTreeSet<&String> = question.segments.iter().flat_map(|segment| &segment.nodes).collect();
        assert_eq!(covered, question.gold.iter().collect(), "{question:?}");
        let texts: BTreeSet<&str> = question.segments.iter().map(|segment| segment.text.as_str()).collect();
        assert!(texts.len() == question.segments.len() && !texts.contains(""), "{question:?}");
        several += usize::from(texts.len() > 1);
    }
    assert!(several > 40, "{several}");
}
