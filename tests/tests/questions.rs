//! Many questions about one document, and the document's encoded form between runs.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::Value;
use tabsegnet_store::{Space, Store};
use tabsegnet_tests::{Outcome, Work, report};

const QUESTIONS: [&str; 3] = ["revenue of products in 2018?", "What fell?", "services 2017"];

fn work() -> Work {
    let work = Work::trained();
    work.write("d.json", report().to_string());
    work
}

fn infer(work: &Work, arguments: &[&str]) -> Outcome {
    work.infer(&[&["--document", "d.json"], arguments].concat())
}

/// Number of documents that are kept.
fn kept(work: &Work) -> u64 {
    let store = Store::open(&work.path("cache")).expect("a store");
    store.read(Space::Documents).and_then(|documents| documents.count()).expect("it can be read")
}

#[test]
fn regression_a_byte_order_mark_is_no_part_of_the_first_question() {
    let work = work();
    work.write("marked.jsonl", format!("\u{feff}{}\n", serde_json::json!({"id": "first", "question": QUESTIONS[0]})));
    let query = infer(&work, &["--questions", "marked.jsonl", "--format", "json"]).ok();
    let ranking: Value = serde_json::from_str(&query.stdout).expect("JSON");
    let ranking = ranking.get(0).unwrap_or(&ranking);
    assert_eq!((&ranking["question_id"], &ranking["question"]), (&"first".into(), &QUESTIONS[0].into()));
}

#[test]
fn regression_a_question_without_an_id_gets_one_that_no_earlier_one_has() {
    let work = work();
    work.write("mixed.txt", "{\"id\": \"q2\", \"question\": \"What fell?\"}\nWhat rose?\nWhat stayed?\n");
    let query = infer(&work, &["--questions", "mixed.txt", "--format", "json"]).ok();
    let rankings: Vec<Value> = serde_json::from_str(&query.stdout).expect("a list");
    assert_eq!(
        rankings.iter().filter_map(|ranking| ranking["question_id"].as_str()).collect::<Vec<_>>(),
        ["q2", "q3", "q4"]
    );
}

#[test]
fn many_questions_are_answered_as_each_alone() {
    let work = work();
    work.write("plain.txt", QUESTIONS.join("\n"));
    let lines = QUESTIONS.iter().map(|question| serde_json::json!({"question": question}).to_string() + "\n");
    work.write("lines.jsonl", lines.collect::<String>());
    let alone: Vec<Value> = QUESTIONS
        .iter()
        .map(|question| {
            let run = infer(&work, &["--question", question, "--format", "json"]).ok();
            let ranking: Value = serde_json::from_str(&run.stdout).expect("JSON");
            assert!(ranking.get("question_id").is_none(), "{ranking}");
            ranking["nodes"].clone()
        })
        .collect();
    for query in [
        &["--questions", "plain.txt"][..],
        &["--questions", "lines.jsonl"],
        &["--question", QUESTIONS[0], "--question", QUESTIONS[1], "--question", QUESTIONS[2]],
    ] {
        let run = |format: &str| infer(&work, &[query, &["--format", format]].concat()).ok().stdout;
        let rankings: Vec<Value> = serde_json::from_str(&run("json")).expect("a list");
        let nodes: Vec<Value> = rankings.iter().map(|ranking| ranking["nodes"].clone()).collect();
        assert_eq!(nodes, alone);
        let ids: Vec<&str> = rankings.iter().filter_map(|ranking| ranking["question_id"].as_str()).collect();
        assert_eq!(ids, ["q1", "q2", "q3"]);
        let lines: Vec<Value> = run("jsonl").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(lines, rankings);
        assert_eq!(run("table").lines().filter(|line| line.starts_with("rank ")).count(), 3);
        let trec = run("trec");
        assert_eq!(trec.lines().filter(|line| line.starts_with("q2 Q0 ")).count(), trec.lines().count() / 3);
    }
    infer(&work, &["--questions", "plain.txt", "--format", "json", "--output", "out.json"]).ok();
    assert_eq!(work.json("out.json").as_array().map(Vec::len), Some(3));
}

#[test]
fn questions_keep_their_ids_and_are_numbered_without() {
    let work = work();
    work.write("q.txt", "{\"id\": \"x-1\", \"question\": \"revenue?\"}\r\ncosts?\n");
    let run = infer(&work, &["--question", "what rose?", "--questions", "q.txt", "--format", "jsonl"]).ok();
    let ids: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["question_id"].clone())
        .collect();
    assert_eq!(ids, ["q1", "x-1", "q3"]);
}

#[test]
fn a_file_of_questions_is_read_in_the_encoding_that_it_is_in_and_numbers_are_ids() {
    let work = work();
    let utf16: Vec<u8> = "\u{feff}Was fiel in Köln?\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (bytes, warned) in [(utf16, false), (b"Was fiel in K\xf6ln?\n".to_vec(), true)] {
        work.write("q.txt", bytes);
        let run = infer(&work, &["--questions", "q.txt", "--format", "jsonl"]).ok();
        assert!(run.stdout.contains("Was fiel in Köln?"), "{}", run.stdout);
        assert_eq!(run.stderr.contains("warning: q.txt: the text is no UTF-8"), warned, "{}", run.stderr);
    }
    work.write("q.jsonl", "{\"id\": 7, \"question\": \"costs?\"}\n");
    assert!(
        infer(&work, &["--questions", "q.jsonl", "--format", "jsonl"]).ok().stdout.contains("\"question_id\":\"7\"")
    );
}

#[test]
fn a_file_of_questions_is_refused_by_line_before_anything_is_ranked() {
    let work = work();
    for (text, message) in [
        ("", "q.txt: the file has no question"),
        ("\n \n", "q.txt: the file has no question"),
        ("revenue?\n{\"question\": \" \"}\n", "q.txt: line 2: the question is blank"),
        ("revenue?\n{\"question\": \"costs?\"\n", "q.txt: line 2: expected a question, or {\"id\""),
        ("{\"text\": \"costs?\"}\n", "q.txt: line 1: field question is missing"),
        ("{\"question\": 7}\n", "q.txt: line 1: field question is 7; expected the question's text"),
        ("{\"id\": [7], \"question\": \"costs?\"}\n", "q.txt: line 1: field id is [7]; expected a word"),
        ("[2024] revenue?\n[\"costs?\"]\n", "q.txt: line 2: is a list; expected one question a line"),
        ("costs\0?\nrevenue?\n", "q.txt: is no text; expected one question a line"),
        ("{\"id\": \"a b\", \"question\": \"costs?\"}\n", "q.txt: line 1: the question's id \"a b\""),
        (
            "a?\n{\"id\": \"q1\", \"question\": \"costs?\"}\n",
            "q.txt: line 2: the question's id \"q1\" is that of an earlier",
        ),
    ] {
        work.write("q.txt", text);
        infer(&work, &["--questions", "q.txt"]).fails(1, &[message]);
    }
    infer(&work, &["--questions", "nowhere.txt"]).fails(1, &["nowhere.txt: could not read"]);
    for blank in [" ", "???", "🙂"] {
        infer(&work, &["--question", "revenue?", "--question", blank]).fails(2, &["--question: the question is blank"]);
    }
    for arguments in [
        &["--questions", "-", "--format", "json"][..],
        &["--questions", "-", "--output", "out.txt"],
        &["--questions", "q.txt", "--dataset", "native", "--input", "d.json"],
    ] {
        infer(&work, arguments).fails(2, &[]);
    }
}

#[test]
fn questions_on_stdin_are_answered_one_by_one() {
    let work = work();
    let mut child = work
        .command(
            "infer",
            &["--checkpoint", "out/best", "--document", "d.json", "--questions", "-", "--format", "jsonl"],
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("infer runs");
    let mut stdin = child.stdin.take().expect("stdin");
    let mut answers = BufReader::new(child.stdout.take().expect("stdout")).lines();
    for question in QUESTIONS {
        writeln!(stdin, "{question}").expect("a question can be written");
        // The next question is written when this one is answered.
        let answer: Value =
            serde_json::from_str(&answers.next().expect("an answer").expect("a line")).expect("a JSON line");
        assert_eq!(answer["question"], question);
    }
    // A blank line is none. One that is no question is told, and the next is answered.
    writeln!(stdin, "\n{{\"question\": \" \"}}").expect("a question can be written");
    stdin.write_all(b"\xff\n").expect("a line can be written");
    let mut next = || -> Value {
        serde_json::from_str(&answers.next().expect("an answer").expect("a line")).expect("a JSON line")
    };
    for problem in ["stdin: line 5: the question is blank", "stdin: line 6: it is no UTF-8"] {
        assert!(next()["error"].as_str().is_some_and(|error| error.contains(problem)), "{problem}");
    }
    writeln!(stdin, "{}", QUESTIONS[0]).expect("a question can be written");
    assert_eq!(next()["question"], QUESTIONS[0]);
    drop(stdin);
    Outcome::after(child).fails(1, &["stdin: line 5: the question is blank", "2 of the lines of stdin"]);
    assert_eq!(kept(&work), 1);
}

#[test]
fn an_encoded_document_is_kept_and_used_and_never_trusted_when_damaged() {
    let work = work();
    let ask = ["--question", QUESTIONS[0], "--format", "trec"];
    let expected = infer(&work, &ask).ok().stdout;
    assert_eq!(kept(&work), 1);
    let file = "cache/store/data.mdb";
    let whole = work.read(file);
    let run = infer(&work, &ask).ok();
    assert_eq!((run.stdout, run.stderr.lines().count()), (expected.clone(), 1), "{}", run.stderr);

    // The tensors of a document begin after their header.
    let header = whole.windows(9).position(|bytes| bytes == b"\"vectors\"").expect("a document");
    let mut changed = whole.clone();
    changed[header + 1500] ^= 4;
    let cut = whole[..whole.len() / 2].to_vec();
    let version = |work: &Work| work.write("cache/store/version", "tabsegnet store 0\n");
    type Damage<'a> = (&'static str, &'a dyn Fn(&Work));
    let damages: [Damage<'_>; 4] = [
        ("the document is encoded anew", &|work| work.write(file, &changed)),
        ("cut off", &|work| work.write(file, &cut)),
        ("it is made anew", &|work| work.write(file, [b'x'; 10_000])),
        ("of another version", &version),
    ];
    for (message, damage) in damages {
        damage(&work);
        let run = infer(&work, &ask).ok();
        assert_eq!(run.stdout, expected);
        assert!(run.stderr.contains("cache/store") && run.stderr.contains(message), "{}", run.stderr);
        let run = infer(&work, &ask).ok();
        assert_eq!((run.stdout, run.stderr.lines().count()), (expected.clone(), 1), "{}", run.stderr);
    }

    // Another document, another text of nodes.
    work.write("d.json", report().to_string().replace("2018", "2019"));
    infer(&work, &ask).ok();
    assert_eq!(kept(&work), 2);
    let config = work.text("out/best/config.toml");
    work.change_checkpoint("out/best", "config.toml", config.replace("cell_text = \"path\"", "cell_text = \"bare\""));
    infer(&work, &ask).ok();
    assert_eq!(kept(&work), 3);
}

#[test]
fn a_document_of_one_passage_is_ranked_before_and_after_it_is_kept() {
    let work = work();
    work.write("d.json", r#"{"id": "one", "blocks": [{"passage": "Revenue rose."}]}"#);
    let ask = ["--question", "revenue?", "--format", "trec"];
    let first = infer(&work, &ask).ok().stdout;
    assert!(first.starts_with("q Q0 p0 1 ") && first.lines().count() == 1, "{first}");
    assert_eq!(infer(&work, &ask).ok().stdout, first);
}

#[test]
fn several_programs_may_open_one_document_at_once() {
    let work = work();
    let arguments =
        ["--checkpoint", "out/best", "--document", "d.json", "--question", QUESTIONS[0], "--format", "trec"];
    let start = |_| {
        let mut command = work.command("infer", &arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("infer runs")
    };
    let children: Vec<_> = (0..6).map(start).collect();
    let mut answers: Vec<String> = children.into_iter().map(|child| Outcome::after(child).ok().stdout).collect();
    answers.dedup();
    assert_eq!((answers.len(), kept(&work)), (1, 1));
}

#[test]
fn a_question_is_read_in_the_documents_words_and_says_so() {
    let work = work();
    work.write("own.toml", "[[entry]]\nterms = [\"takings\"]\nlabels = [\"products\"]\nsource = \"here\"\n");
    let ranked = |question: &str, options: &[&str]| -> Value {
        let run = infer(&work, &[&["--question", question, "--format", "json"], options].concat()).ok();
        serde_json::from_str(&run.stdout).expect("JSON")
    };
    let read = ranked("takings of 2018?", &["--glossary", "own.toml"]);
    assert_eq!(read["read_as"], "products of 2018?");
    assert_eq!(read["question"], "takings of 2018?");
    let plain = ranked("products of 2018?", &["--no-glossary"]);
    assert_eq!(read["nodes"], plain["nodes"]);
    assert!(plain.get("read_as").is_none());
    // The one that comes with the project.
    work.write("costs.md", "| | 2018 |\n|---|---|\n| Research and development | 5 |\n| Other | 3 |\n");
    let costs = ["--document", "costs.md", "--question", "R&D in 2018?"];
    let plain = work.infer(&[&costs[..], &["--no-glossary"]].concat()).ok();
    assert!(!plain.stdout.contains("read as"), "{}", plain.stdout);
    let table = work.infer(&costs).ok();
    assert!(table.stdout.contains("read as: research and development in 2018?"), "{}", table.stdout);

    work.write("empty.toml", "[[entry]]\nterms = [\"takings\"]\nlabels = []\nsource = \"here\"\n");
    let refused = infer(&work, &["--question", "takings?", "--glossary", "empty.toml"]);
    assert!(refused.stderr.contains("empty.toml: entry 1 (here): labels has no text"), "{}", refused.stderr);
    assert_eq!(refused.code, Some(2));
}
