//! The published data sets, where `TABSEGNET_DATASETS` names a folder that holds them or parts of them: whether nearly
//! all of it is read, and whether the gold nodes are what the files say of them.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tabsegnet_datasets::config::{DataConfig, Part};
use tabsegnet_datasets::sample::Samples;
use tabsegnet_document::facts::FactPlace;
use tabsegnet_document::numbers::parse_cell_number;
use tabsegnet_document::{ReadDocument, ReadOptions};
use tabsegnet_generate::ixbrl::labels;
use tabsegnet_generate::registry;
use tabsegnet_graph::{Graph, Node, NodeKind};
use tabsegnet_test_support::{path_in, say, skipped};

/// The folder of a data set.
fn folder(name: &str) -> Option<PathBuf> {
    let folder = path_in("TABSEGNET_DATASETS", name, "the folder that holds the data sets")?.join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    skipped(name, &format!("{} is not there", folder.display()));
    None
}

struct Read {
    samples: Samples,
    /// Nodes by document and id.
    nodes: HashMap<String, HashMap<String, Node>>,
}

impl Read {
    /// Reads a part; every question has gold, and every gold id names a node of its document.
    fn new(config: &DataConfig, part: Part) -> Self {
        let samples =
            config.source(part, &registry()).and_then(|source| source.read()).unwrap_or_else(|error| panic!("{error}"));
        let graph = |document| Graph::of(document).nodes().iter().map(|node| (node.id.clone(), node.clone())).collect();
        let nodes: HashMap<String, HashMap<String, Node>> =
            samples.samples.iter().map(|sample| (sample.document.id.clone(), graph(&sample.document))).collect();
        for sample in &samples.samples {
            for question in &sample.questions {
                assert!(!question.gold.is_empty(), "{}", question.id);
                for id in &question.gold {
                    assert!(nodes[&sample.document.id].contains_key(id), "{}: {id}", question.id);
                }
            }
        }
        Self { samples, nodes }
    }

    /// Says what is there; nearly all questions have gold.
    fn check(&self, name: &str) -> usize {
        let questions = self.samples.samples.iter().map(|sample| sample.questions.len()).sum();
        let left_out = self.samples.left_out.len();
        say(&format!("{name}: {} documents", self.samples.samples.len()));
        share(&format!("{name}, questions with gold"), questions, questions + left_out, 0.95);
        questions
    }

    /// The texts of a question's gold nodes; `None` where it was left out.
    fn gold(&self, question: &str) -> Option<Vec<&Node>> {
        self.samples.samples.iter().find_map(|sample| {
            let question = sample.questions.iter().find(|other| other.id == question)?;
            Some(question.gold.iter().map(|id| &self.nodes[&sample.document.id][id]).collect())
        })
    }
}

/// Filings, of which those of some companies are the dev part.
fn filings(root: &Path) -> DataConfig {
    DataConfig {
        kind: "ixbrl".into(),
        root: root.display().to_string(),
        train: vec![".".into()],
        ..DataConfig::default()
    }
}

fn config(kind: &str, root: &Path, train: &str, dev: &str, tables: &[&str]) -> DataConfig {
    DataConfig {
        kind: kind.into(),
        root: root.display().to_string(),
        train: vec![train.into()],
        dev: vec![dev.into()],
        tables: tables.iter().map(|&file| file.into()).collect(),
        ..DataConfig::default()
    }
}

fn json(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    match file.extension().unwrap().to_str() {
        Some("jsonl") => text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        _ => serde_json::from_str(&text).unwrap(),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Numbers as programs and derivations write them, without signs.
fn numbers(text: &str) -> Vec<f64> {
    let split = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | ',' | '_' | '#')));
    split.filter_map(|part| part.trim_matches(',').replace(',', "").parse::<f64>().ok()).collect()
}

fn amount(node: &Node) -> Option<f64> {
    parse_cell_number(&node.text).map(f64::abs)
}

/// Says how many of how many, and asserts a share.
fn share(what: &str, found: usize, of: usize, at_least: f64) {
    let share = found as f64 / of.max(1) as f64;
    say(&format!("{what}: {found} of {of}, {:.2} %", 100.0 * share));
    assert!(of > 0 && share >= at_least, "{what}: {found} of {of}");
}

#[test]
fn multihiertt() {
    let Some(folder) = folder("multihiertt") else { return };
    let file = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let file = file.filter(|file| file.extension().is_some_and(|extension| extension == "json")).min().unwrap();
    let name = file.file_name().unwrap().to_str().unwrap();
    let read = Read::new(&config("multihiertt", &folder, name, name, &[]), Part::Dev);
    read.check("MultiHierTT");
    let (mut cells, mut numeric, mut described, mut as_described, mut arguments, mut in_gold) = (0, 0, 0, 0, 0, 0);
    for record in json(&file) {
        let Some(gold) = read.gold(text(&record["uid"])) else { continue };
        // A comma parts arguments there, never thousands.
        let program = numbers(&text(&record["qa"]["program"]).replace("const_", "#").replace(',', " "));
        arguments += program.len();
        let shows =
            |number: f64| gold.iter().any(|node| amount(node) == Some(number) || numbers(&node.text).contains(&number));
        in_gold += program.iter().filter(|&&number| shows(number)).count();
        let evidence = record["qa"]["table_evidence"].as_array().unwrap();
        for evidence in evidence {
            let [table, row, col] = text(evidence).split('-').collect::<Vec<_>>()[..] else { panic!("{evidence}") };
            let ids =
                [format!("t{table}:r{row}c{col}"), format!("t{table}:h{row}c{col}"), format!("t{table}:r{row}h{col}")];
            let node = gold.iter().find(|node| ids.contains(&node.id)).unwrap_or_else(|| panic!("{evidence}: no node"));
            cells += 1;
            numeric += usize::from(amount(node).is_some());
            if let Some(description) = record["table_description"][text(evidence)].as_str() {
                described += 1;
                as_described += usize::from(amount(node).is_some_and(|number| numbers(description).contains(&number)));
            }
        }
    }
    share("MultiHierTT, evidence cells that show a number", numeric, cells, 0.95);
    if described > 0 {
        share("MultiHierTT, evidence cells whose description has their number", as_described, described, 0.95);
    } else {
        say("MultiHierTT: the records have no table_description to compare with");
    }
    share("MultiHierTT, arguments of programs that gold nodes show", in_gold, arguments, 0.7);
}

#[test]
fn finqa() {
    let Some(folder) = folder("finqa") else { return };
    let config = config("finqa", &folder, "train.json", "dev.json", &[]);
    for part in [Part::Train, Part::Dev] {
        let read = Read::new(&config, part);
        read.check(&format!("FinQA {}", part.name()));
        let tables = read.samples.samples.iter().map(|sample| sample.document.tables().count());
        share("FinQA, documents with their distractors", tables.filter(|&n| n == 4).count(), read.nodes.len(), 1.0);
        let (mut arguments, mut shown) = (0, 0);
        for record in json(&folder.join(format!("{}.json", part.name()))) {
            let Some(gold) = read.gold(text(&record["id"])) else { continue };
            // Large numbers are never constants of a program.
            let program = text(&record["qa"]["program"]).replace("const_", "#").replace(',', " ");
            let numbers: Vec<f64> = numbers(&program).into_iter().filter(|number| *number > 100.0).collect();
            arguments += numbers.len();
            let shows = |number: f64| {
                gold.iter().any(|node| amount(node) == Some(number) || self::numbers(&node.text).contains(&number))
            };
            shown += numbers.iter().filter(|&&number| shows(number)).count();
        }
        share("FinQA, arguments of programs that gold nodes show", shown, arguments, 0.9);
    }
}

#[test]
fn tatqa() {
    let Some(folder) = folder("tatqa") else { return };
    let config = config("tatqa", &folder, "train.json", "dev.json", &[]);
    for part in [Part::Train, Part::Dev] {
        let read = Read::new(&config, part);
        let (mut operands, mut shown, mut spans, mut held) = (0, 0, 0, 0);
        for record in json(&folder.join(format!("{}.json", part.name()))) {
            for question in record["questions"].as_array().unwrap() {
                let Some(gold) = read.gold(text(&question["uid"])) else { continue };
                let shows =
                    |number: f64| gold.iter().any(|n| amount(n) == Some(number) || numbers(&n.text).contains(&number));
                match text(&question["answer_type"]) {
                    // Large numbers are never constants.
                    "arithmetic" => {
                        let numbers: Vec<f64> =
                            numbers(text(&question["derivation"])).into_iter().filter(|n| *n > 100.0).collect();
                        operands += numbers.len();
                        shown += numbers.iter().filter(|&&number| shows(number)).count();
                    }
                    "span" => {
                        let answer = text(&question["answer"][0]).to_lowercase();
                        spans += 1;
                        held += usize::from(
                            gold.iter().any(|node| node.text.to_lowercase().contains(answer.trim()))
                                || parse_cell_number(&answer).is_some_and(|number| shows(number.abs())),
                        );
                    }
                    _ => {}
                }
            }
        }
        read.check(&format!("TAT-QA {}", part.name()));
        share("TAT-QA, operands that gold nodes show", shown, operands, 0.95);
        share("TAT-QA, answers that gold nodes hold", held, spans, 0.95);
    }
}

#[test]
fn hybridqa() {
    let Some(folder) = folder("hybridqa") else { return };
    let tables = ["train.tables.jsonl", "dev.tables.jsonl"];
    let config = config("hybridqa", &folder, "train.questions.json", "dev.questions.json", &tables);
    for part in [Part::Train, Part::Dev] {
        let read = Read::new(&config, part);
        let (mut nodes, mut found, mut passages, mut answering) = (0, 0, 0, 0);
        for question in json(&folder.join(format!("{}.questions.json", part.name()))) {
            let Some(gold) = read.gold(text(&question["question_id"])) else { continue };
            let answer = text(&question["answer-text"]).to_lowercase();
            for node in question["answer-node"].as_array().unwrap() {
                if text(&node[3]) == "table" {
                    nodes += 1;
                    found += usize::from(
                        gold.iter().any(|gold| gold.place.is_some() && gold.text.trim() == text(&node[0]).trim()),
                    );
                }
            }
            for passage in gold.iter().filter(|node| node.place.is_none()) {
                passages += 1;
                answering += usize::from(passage.text.to_lowercase().contains(&answer));
            }
        }
        read.check(&format!("HybridQA {}", part.name()));
        share("HybridQA, answer cells that are gold", found, nodes, 0.99);
        share("HybridQA, gold passages that hold the answer", answering, passages, 0.99);
    }
}

#[test]
fn hitab() {
    let Some(folder) = folder("hitab") else { return };
    let tables = ["train.tables.jsonl", "dev.tables.jsonl"];
    let config = config("hitab", &folder, "train.questions.jsonl", "dev.questions.jsonl", &tables);
    for part in [Part::Train, Part::Dev] {
        let read = Read::new(&config, part);
        let (mut values, mut shown) = (0, 0);
        for question in json(&folder.join(format!("{}.questions.jsonl", part.name()))) {
            let Some(gold) = read.gold(text(&question["id"])) else { continue };
            for cells in question["linked_cells"]["quantity_link"].as_object().unwrap().values() {
                for value in cells.as_object().unwrap().values() {
                    values += 1;
                    let shows = |node: &&Node| match value {
                        Value::String(value) => node.text.trim() == value.trim(),
                        number => amount(node) == number.as_f64().map(f64::abs),
                    };
                    shown += usize::from(gold.iter().any(shows));
                }
            }
        }
        read.check(&format!("HiTab {}", part.name()));
        share("HiTab, linked values that gold nodes show", shown, values, 0.99);
        let (mut cells, mut rows_right, mut columns_right) = (0, 0, 0);
        for table in json(&folder.join(format!("{}.tables.jsonl", part.name()))) {
            let Some(nodes) = read.nodes.get(text(&table["table_id"])) else { continue };
            let (rows, columns) = (paths(&table, "left_root", "row_index"), paths(&table, "top_root", "column_index"));
            for node in nodes.values().filter(|node| node.id.contains('c') && node.id.contains(":r")) {
                let Some(place) = &node.place else { continue };
                let (Some(row), Some(column)) = (rows.get(&place.row), columns.get(&place.col)) else { continue };
                cells += 1;
                rows_right += usize::from(*row == place.row_path);
                columns_right += usize::from(*column == place.column_path);
            }
        }
        share("HiTab, row paths that are the header tree's", rows_right, cells, 0.99);
        // Units that the tables merge over several columns are in the tree of the first of them alone.
        share("HiTab, column paths that are the header tree's", columns_right, cells, 0.94);
    }
}

/// The questions that come with the project name nodes by number: a filing read in another way than when they were written
/// would show here.
#[test]
fn questions_to_filings() {
    let Some(folder) = folder("sec") else { return };
    let root = tempfile::tempdir().unwrap();
    let filings = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    for filing in filings.filter(|path| path.extension().is_some_and(|extension| extension == "html")) {
        fs::copy(&filing, root.path().join(filing.file_name().unwrap())).unwrap();
    }
    let names = ["questions-train.jsonl", "questions-more.jsonl", "questions-dev.jsonl"];
    for name in names {
        let shipped = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../filings")).join(name);
        fs::copy(shipped, root.path().join(name)).unwrap();
    }
    let config = DataConfig {
        kind: "files".into(),
        root: root.path().display().to_string(),
        train: names[..2].iter().map(|name| (*name).to_owned()).collect(),
        dev: vec![names[2].to_owned()],
        ..DataConfig::default()
    };
    let [train, dev] = [Part::Train, Part::Dev].map(|part| {
        let read = Read::new(&config, part);
        assert_eq!(read.samples.left_out, [], "gold of another text");
        read.check("questions to filings");
        read.samples.samples.into_iter().map(|sample| sample.document.id).collect::<HashSet<_>>()
    });
    assert!(train.is_disjoint(&dev), "a filing is of one part");
    let generated = [Part::Train, Part::Dev].map(|part| Read::new(&self::filings(&folder), part).samples.samples);
    let [of_train, of_dev] =
        generated.map(|samples| samples.into_iter().map(|s| s.document.id).collect::<HashSet<_>>());
    assert!(train.is_disjoint(&of_dev) && dev.is_disjoint(&of_train), "nor is it where its questions are generated");
}

#[test]
fn sec() {
    let Some(folder) = folder("sec") else { return };
    let config = filings(&folder);
    let mut filings: HashMap<String, ReadDocument> = HashMap::new();
    let mut companies: Vec<HashSet<String>> = Vec::new();
    for part in [Part::Train, Part::Dev] {
        let read = Read::new(&config, part);
        let (mut questions, mut two_tables, mut cells, mut right, mut tagged) = (0, 0, 0, 0, 0);
        let mut of_part = HashSet::new();
        for sample in &read.samples.samples {
            let nodes = &read.nodes[&sample.document.id];
            assert!((500..=40_000).contains(&nodes.len()), "{}: {} nodes", sample.document.id, nodes.len());
            let name = &sample.document.id;
            let filing = filings.entry(name.to_owned()).or_insert_with(|| {
                tabsegnet_document::read(&folder.join(format!("{name}.html")), &ReadOptions::default()).unwrap()
            });
            of_part.insert(filing.facts.contexts.values().next().unwrap().entity.clone());
            for question in &sample.questions {
                questions += 1;
                let tables = question.segments.iter().map(|segment| {
                    let tables = segment.nodes.iter().filter_map(|id| Some(nodes[id].place.as_ref()?.table));
                    tables.collect::<HashSet<usize>>()
                });
                two_tables += usize::from(tables.reduce(|a, b| &a & &b).unwrap().is_empty());
                for segment in &question.segments {
                    let mut values = Vec::new();
                    for place in segment.nodes.iter().filter_map(|id| nodes[id].place.as_ref().map(|place| (id, place)))
                    {
                        let (id, place) = place;
                        cells += 1;
                        let at = FactPlace::Cell { table: place.table, row: place.row, col: place.col };
                        let facts = filing.facts.numbers.iter().filter(|fact| fact.place == at);
                        let shown = parse_cell_number(&nodes[id].text).unwrap();
                        let facts: Vec<_> = facts.collect();
                        tagged += usize::from(!facts.is_empty());
                        let value = facts
                            .iter()
                            .filter_map(|fact| fact.value().filter(|value| same(fact.apply(shown), *value)));
                        right += usize::from(value.clone().next().is_some());
                        values.extend(value.take(1));
                    }
                    assert!(values.windows(2).all(|pair| same(pair[0], pair[1])), "{segment:?}: {values:?}");
                }
            }
        }
        say(&format!("SEC {}: {} companies", part.name(), of_part.len()));
        share("SEC, questions over two tables", two_tables, questions, 1.0 / 3.0);
        // The others state it again without a tag.
        share("SEC, gold cells that are tagged", tagged, cells, 0.7);
        share("SEC, tagged gold cells whose number is the tagged value", right, tagged, 1.0);
        let questions = read.check("SEC");
        assert!(questions >= 40 * of_part.len() && questions <= 180 * of_part.len(), "{questions}");
        companies.push(of_part);
    }
    assert!(companies[0].is_disjoint(&companies[1]));
}

/// What a ranker would find that knows of a node its kind and where in the filing it stands, and nothing else: gold is
/// spread over all of a filing.
#[test]
fn sec_places_alone_find_next_to_nothing() {
    /// Parts of equal size that a filing is cut into.
    const PARTS: usize = 50;
    let Some(folder) = folder("sec") else { return };
    let config = filings(&folder);
    // Of each kind in each part of a filing: gold nodes, nodes.
    let mut counts: HashMap<(NodeKind, usize), (usize, usize)> = HashMap::new();
    let (mut found, mut chance, mut questions) = (0.0, 0.0, 0_u32);
    for part in [Part::Train, Part::Dev] {
        for sample in &Read::new(&config, part).samples.samples {
            let graph = Graph::of(&sample.document);
            let nodes = graph.nodes();
            let place = |at: usize| (nodes[at].kind, at * PARTS / nodes.len());
            let gold: Vec<HashSet<&str>> =
                sample.questions.iter().map(|question| question.gold.iter().map(String::as_str).collect()).collect();
            if part == Part::Train {
                for (at, node) in nodes.iter().enumerate() {
                    let (golden, all) = counts.entry(place(at)).or_default();
                    *golden += gold.iter().filter(|gold| gold.contains(node.id.as_str())).count();
                    *all += gold.len();
                }
                continue;
            }
            let share = |at: usize| counts.get(&place(at)).map_or(0.0, |(golden, all)| *golden as f64 / *all as f64);
            let mut order: Vec<usize> = (0..nodes.len()).collect();
            order.sort_by(|&a, &b| share(b).total_cmp(&share(a)));
            for gold in &gold {
                let first = order[..10].iter().filter(|&&at| gold.contains(nodes[at].id.as_str())).count();
                found += first as f64 / gold.len() as f64;
                chance += 10.0 / nodes.len() as f64;
                questions += 1;
            }
        }
    }
    let (found, chance) = (found / f64::from(questions), chance / f64::from(questions));
    say(&format!("SEC, places alone: recall@10 {found:.4}, by chance {chance:.4}, of {questions} questions"));
    assert!(found < 0.03, "{found}");
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// The path of a header tree to each line of a table, the innermost where there are several.
fn paths(table: &Value, root: &str, line: &str) -> HashMap<usize, String> {
    let mut found: HashMap<usize, Vec<String>> = HashMap::new();
    let mut open = vec![(&table[root], Vec::new())];
    while let Some((node, path)) = open.pop() {
        let mut path: Vec<String> = path;
        let index = |key: &str| node[key].as_u64().map(|index| index as usize);
        if let (Some(row), Some(col)) = (index("row_index"), index("column_index")) {
            let text = text(&table["texts"][row][col]).trim();
            if !text.is_empty() {
                path.push(text.to_owned());
            }
            let best = found.entry(index(line).unwrap()).or_default();
            if path.len() > best.len() {
                best.clone_from(&path);
            }
        }
        open.extend(node["children"].as_array().unwrap().iter().map(|child| (child, path.clone())));
    }
    found.into_iter().map(|(line, path)| (line, path.join(" > "))).collect()
}

/// What several filings call the same: labels of concepts that all have, and few that say nothing.
#[test]
fn labels_of_filings() {
    let Some(folder) = folder("sec") else { return };
    let files: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let filings: Vec<_> =
        files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "html")).collect();
    let read: Vec<_> = filings.iter().map(|file| labels(file).unwrap()).collect();
    let companies: HashSet<_> = read.iter().map(|filing| filing.company.clone().unwrap()).collect();
    assert_eq!(companies.len(), filings.len());
    for concept in ["us-gaap:Assets", "us-gaap:NetIncomeLoss"] {
        let named = read.iter().filter(|filing| filing.labels.iter().any(|label| label.concept == concept)).count();
        share(&format!("filings with a label of {concept}"), named, read.len(), 0.7);
    }
    let all: Vec<_> = read.iter().flat_map(|filing| &filing.labels).collect();
    let worded = all.iter().filter(|label| label.text.split_whitespace().count() >= 2).count();
    share("labels of two words or more", worded, all.len(), 0.8);
}
