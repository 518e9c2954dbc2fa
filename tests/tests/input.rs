//! Bad and unusual data: every message names file, record and field, and nothing earlier is harmed.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabsegnet_tests::{TINY, Work, files, native_lines, report, table_document};

/// A finished training, so that there is something to harm, and FinQA files to train on next.
fn finqa(records: &Value) -> Work {
    let (_, settings) = TINY.split_once("[model]").expect("a section");
    let data = "[data]\nkind = \"finqa\"\ntrain = [\"train.json\"]\ndev = [\"dev.json\"]\ndistractors = 1\n";
    let work = Work::with(&format!("{data}[model]{settings}"));
    work.write("train.json", records.to_string());
    work.write("dev.json", json!([record("dev", "DEV/page_1.pdf")]).to_string());
    work
}

fn record(id: &str, page: &str) -> Value {
    json!({
        "id": id, "filename": page,
        "pre_text": ["sales rose .", "costs fell ."], "post_text": ["see note 3 ."],
        "table": [["", "2018", "2017"], ["net sales", "$ 480", "415"], ["costs", "1,000", "990"]],
        "qa": {"question": "how did sales change?", "program": "subtract(480, 415)", "gold_inds": {"table_1": "", "text_0": ""}}
    })
}

fn records() -> Value {
    json!([record("a-1", "A/page_1.pdf"), record("b-1", "B/page_2.pdf")])
}

#[test]
fn a_ranker_with_text_repair_repairs_the_documents_it_ranks() {
    let mut records = records();
    records[0]["pre_text"][0] = json!("shareholders 2019 equity rose .");
    records[0]["table"][2] = json!(["costs", "1,000", "2014"]);
    let texts = |text_repair: bool| {
        let work = finqa(&records);
        work.train(&["--set", &format!("data.text_repair={text_repair}"), "--set", "evaluation.after_training=false"])
            .ok();
        let ask = ["--dataset", "finqa", "--input", "train.json", "--pool", "train.json"];
        work.infer(&[&ask[..], &["--format", "jsonl", "--top-k", "100"]].concat()).ok().stdout
    };
    let as_they_are = texts(false);
    assert!(as_they_are.contains("shareholders 2019 equity") && as_they_are.contains("\"2014\""), "{as_they_are}");
    let text_repair = texts(true);
    assert!(text_repair.contains("shareholders’ equity") && text_repair.contains("\"—\""), "{text_repair}");
    // Gold and distractors stay.
    let nodes = |answers: &str| answers.matches("\"kind\"").count();
    assert_eq!(nodes(&text_repair), nodes(&as_they_are));
}

#[test]
fn distractors_stand_as_the_rankers_config_says() {
    let mut records = records();
    // A copy of a page's own table is no distractor.
    records[1]["table"][1][0] = json!("net revenue");
    let nodes = |placement: &str| {
        let work = finqa(&records);
        work.train(&["--set", &format!("data.distractor_placement={placement}")]).ok();
        let ask = ["--dataset", "finqa", "--input", "train.json", "--format", "jsonl", "--top-k", "100"];
        work.infer(&ask).ok().stdout.matches("\"kind\"").count()
    };
    // Each of the two pages gets a table and, with lead-in, the sentence before it.
    assert_eq!(nodes("with_lead_in"), nodes("random") + 2);
    finqa(&records)
        .train(&["--set", "data.distractor_placement=near"])
        .fails(2, &["unknown variant `near`, expected `random` or `with_lead_in`"]);
}

#[test]
fn bad_finqa_files_are_refused_by_file_record_and_field() {
    let whole = records().to_string();
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut records = records();
        change(&mut records[1]);
        records.to_string()
    };
    let removed = |field: &str| {
        changed(&|record| {
            record.as_object_mut().expect("a record").remove(field);
        })
    };
    let gold = |key: &str| changed(&|record| record["qa"]["gold_inds"] = json!({ key: "" }));
    let cases: Vec<(&str, String, &str)> = vec![
        ("empty", String::new(), "train.json: the whole file: the file is empty"),
        ("cut short", whole[..whole.len() / 2].into(), "train.json: "),
        ("malformed", whole.replacen(':', ";", 1), "train.json: "),
        ("no list", "{}".into(), "train.json: "),
        ("no records", "[]".into(), "train.json: the whole file: the list of records is empty"),
        ("no UTF-8", String::new(), "train.json: could not read"),
        ("no table", removed("table"), "train.json: record b-1, field table: is missing"),
        ("no id", removed("id"), "train.json: record #1, field id: is missing"),
        ("no qa", removed("qa"), "train.json: record b-1, field qa: is missing"),
        (
            "no question",
            changed(&|record| record["qa"] = json!({"program": "", "gold_inds": {}})),
            "train.json: record b-1, field qa.question: is missing",
        ),
        (
            "blank question",
            changed(&|record| record["qa"]["question"] = " ".into()),
            "record b-1, field qa.question: is blank",
        ),
        (
            "no program",
            changed(&|record| record["qa"] = json!({"question": "q", "gold_inds": {}})),
            "train.json: record b-1, field qa.program: is missing",
        ),
        (
            "sentence out of range",
            gold("text_3"),
            "record b-1, field qa.gold_inds.text_3: is out of range: the page has 3 sentences",
        ),
        (
            "row out of range",
            gold("table_3"),
            "record b-1, field qa.gold_inds.table_3: is out of range: the table has 3 rows",
        ),
        ("no place", gold("row_1"), "record b-1, field qa.gold_inds.row_1: expected text_K or table_R"),
        (
            "ragged",
            changed(&|record| record["table"][1] = json!(["a", "b"])),
            "record b-1, field table: row 1 covers 2 columns, row 0 covers 3",
        ),
        ("no cells", changed(&|record| record["table"] = json!([])), "record b-1, field table: the table has no cells"),
        (
            "a number for a text",
            changed(&|record| record["table"][1][1] = 480.into()),
            "[1].table[1][1]: invalid type: integer",
        ),
        ("an id twice", changed(&|record| record["id"] = "a-1".into()), "record a-1, field id: "),
        (
            "nothing with gold",
            changed(&|_| ()).replace("\"table_1\":\"\",\"text_0\":\"\"", ""),
            "the train part has no question with gold nodes",
        ),
    ];
    let work = finqa(&records());
    work.train(&[]).ok();
    let before = files(&work.path(""));
    for (what, text, message) in cases {
        eprintln!("{what}");
        match what {
            "no UTF-8" => work.write("train.json", b"[\xff"),
            _ => work.write("train.json", text),
        }
        work.train(&["--prepare"]).fails(1, &[message]);
        work.train(&[]).fails(1, &[message]);
        let mut after = files(&work.path(""));
        if what == "nothing with gold" {
            // Data without gold can be prepared.
            after.retain(|name, _| before.contains_key(name));
        }
        after.insert("train.json".into(), before[std::path::Path::new("train.json")].clone());
        assert!(after == before, "files were changed");
    }
}

#[test]
fn bad_native_files_are_refused_by_file_line_and_field() {
    let work = Work::trained();
    let before = files(&work.path("out"));
    let line = |question: Value| {
        let mut document = report();
        document["questions"] = json!([question]);
        native_lines() + &document.to_string()
    };
    let good = native_lines();
    let question = |text: &str, gold: &str| line(json!({"id": "q", "question": text, "gold": [gold]}));
    let cases: [(&str, String, &str); 7] = [
        ("empty", String::new(), "dev.jsonl: the whole file: no record; expected one JSON document a line"),
        ("cut short", good[..good.len() - 9].into(), "dev.jsonl: line 6, "),
        (
            "no such node",
            question("revenue?", "t0:r9c9"),
            "dev.jsonl: record report, field questions[0] (q).gold: \"t0:r9c9\" is no node",
        ),
        ("blank question", question("  ", "p0"), "dev.jsonl: record report, field questions[0].question: is blank"),
        ("unknown field", good.replacen("\"blocks\"", "\"bloks\"", 1), "dev.jsonl: line 1, "),
        (
            "ragged",
            good.replacen("\"rows\":[[", "\"rows\":[[\"one more\",", 1),
            "dev.jsonl: record dev-0000, field blocks[",
        ),
        (
            "id twice",
            line(json!({"id": "dev-0000-0", "question": "q?", "gold": ["p0"]})),
            "document dev-0000 has a question of this id already",
        ),
    ];
    for (what, text, message) in cases {
        eprintln!("{what}");
        work.write("dev.jsonl", text);
        work.infer(&["--dataset", "native", "--input", "dev.jsonl", "--output", "out.json"]).fails(1, &[message]);
        assert!(!work.path("out.json").exists());
    }
    work.infer(&["--dataset", "native", "--input", "nowhere.jsonl"]).fails(1, &["nowhere.jsonl: could not read"]);
    assert!(files(&work.path("out")) == before);
}

#[test]
fn bad_documents_and_questions_are_refused() {
    let work = Work::trained();
    let ragged = json!({"id": "r", "blocks": [{"table": {"rows": [["a"], ["b", "c"]]}}]}).to_string();
    let whole = report().to_string();
    for (what, text, message) in [
        ("empty", "", "d.json: the file is empty; expected JSON with an id and blocks"),
        ("cut short", &whole[..60], "d.json: "),
        ("two values", "{\"id\": \"a\", \"blocks\": []} {}", "d.json: after the end of the value"),
        ("ragged", &ragged, "d.json: record r, field blocks[0].table: row 1 covers 2 columns"),
        ("no nodes", "{\"id\": \"a\", \"blocks\": []}", "d.json: record a, field blocks: hold no text"),
    ] {
        eprintln!("{what}");
        work.write("d.json", text);
        work.infer(&["--document", "d.json", "--question", "revenue?"]).fails(1, &[message]);
    }
    work.write("d.json", whole);
    work.infer(&["--document", "d.json", "--question", " \t"]).fails(2, &["--question: the question is blank"]);
    work.infer(&["--document", "nowhere.json", "--question", "revenue?"]).fails(1, &["nowhere.json: could not read"]);
}

#[test]
fn what_was_guessed_of_a_document_is_said_on_stderr_and_in_json() {
    let work = Work::trained();
    work.write("d.csv", b"Umsatz,2024\nM\xfcller,5\n");
    let ask = ["--document", "d.csv", "--question", "M\u{fc}ller?"];
    // From the file, and as it was kept.
    for _ in 0..2 {
        let run = work.infer(&[&ask[..], &["--format", "json"]].concat()).ok();
        assert!(run.stderr.contains("warning: d.csv: ") && run.stderr.contains("windows-1252"), "{}", run.stderr);
        let ranking: Value = serde_json::from_str(&run.stdout).expect("JSON");
        assert!(ranking["warnings"][0].as_str().is_some_and(|warning| warning.contains("windows-1252")), "{ranking:#}");
    }
    work.write("d.csv", "Umsatz,2024\nM\u{fc}ller,5\n");
    let run = work.infer(&[&ask[..], &["--format", "json"]].concat()).ok();
    assert!(serde_json::from_str::<Value>(&run.stdout).expect("JSON").get("warnings").is_none(), "{}", run.stdout);
}

#[test]
fn a_table_of_one_row_is_ranked() {
    let work = Work::trained();
    for (columns, nodes) in [(1, 2), (3, 4)] {
        work.write("d.json", table_document(1, columns).to_string());
        let run =
            work.infer(&["--document", "d.json", "--question", "revenue?", "--format", "json", "--top-k", "99"]).ok();
        let ranking: Value = serde_json::from_str(&run.stdout).expect("JSON");
        assert_eq!(ranking["nodes_in_document"], nodes, "{ranking:#}");
    }
    // One of FinQA's pages has such a table: a header row and nothing else.
    let mut records = records();
    records[1]["table"] = json!([["", "2018", "2017"]]);
    records[1]["qa"]["gold_inds"] = json!({"table_0": ""});
    finqa(&records).train(&[]).ok();
}

#[test]
fn a_table_of_100_000_cells_is_ranked_in_seconds() {
    let work = Work::trained();
    work.write("d.json", table_document(1000, 100).to_string());
    let ask = ["--document", "d.json", "--question", "what is 4321 ?", "--format", "trec"];
    let started = Instant::now();
    let run = work.infer(&ask).ok();
    let taken = started.elapsed();
    // Every cell and the caption, each once.
    let ids: std::collections::BTreeSet<&str> = run.stdout.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    assert_eq!((run.stdout.lines().count(), ids.len()), (100_001, 100_001));
    assert!(taken < Duration::from_secs(30), "{taken:?}");
}

#[test]
fn a_question_of_10_000_characters_is_cut_and_ranked_and_a_longer_one_refused() {
    let work = Work::trained();
    work.write("d.json", report().to_string());
    let ask =
        |question: &str| work.infer(&["--document", "d.json", "--question", question, "--format", "trec"]).ok().stdout;
    let long = ask(&"revenue of products ".repeat(500));
    // 128 tokens count.
    assert_eq!(long, ask(&"revenue of products ".repeat(60)));
    let too_long = "and ".repeat(20_000);
    let limit = ["the question has 80000 characters", "at most 10000"];
    work.infer(&["--document", "d.json", "--question", &too_long]).fails(2, &[&["--question: "], &limit[..]].concat());
    work.write(
        "q.jsonl",
        json!({"question": "revenue?"}).to_string() + "\n" + &json!({"id": "a7", "question": too_long}).to_string(),
    );
    work.infer(&["--document", "d.json", "--questions", "q.jsonl"])
        .fails(1, &[&["q.jsonl: line 2: a7: "], &limit[..]].concat());
}

#[test]
fn texts_of_any_script_and_without_words_are_ranked() {
    let work = Work::trained();
    let document = json!({"id": "数据\n表", "blocks": [
        {"passage": ""}, {"passage": "\u{0}\u{7}\u{1b}[31m"}, {"passage": "收入增长 🚀 e\u{301}"},
        {"table": {"header_rows": 1, "rows": [["", "\u{202e}x"], ["—", "۱۲۳"]]}}]});
    work.write("d.json", document.to_string());
    for format in ["table", "json", "jsonl", "trec"] {
        let run = work.infer(&["--document", "d.json", "--question", "収入は? \u{1b}[2J", "--format", format]).ok();
        assert!(!run.stdout.contains('\u{1b}'), "control characters reach the terminal: {:?}", run.stdout);
    }
}

#[test]
fn a_report_in_another_language_says_that_the_rankers_know_english_alone() {
    let work = Work::trained();
    let sentence =
        "Die Umsatzerlöse stiegen im Geschäftsjahr um 8 %, was vor allem auf höhere Preise zurückzuführen ist. ";
    let ask = |text: &str| {
        work.write("d.md", text);
        let run = work.infer(&["--document", "d.md", "--question", "sales in 2024?", "--format", "json"]).ok();
        let ranking: Value = serde_json::from_str(&run.stdout).expect("JSON");
        assert_eq!(ranking.get("warnings").is_some(), run.stderr.contains("warning: d.md: "), "{}", run.stderr);
        ranking["warnings"][0].as_str().unwrap_or_default().to_owned()
    };
    assert!(ask(&sentence.repeat(10)).contains("know English alone"));
    let english = "Net sales rose by 8 % in the year, which was due to higher prices. ";
    for text in [&english.repeat(10), sentence, "| Umsatz | 2024 |\n|--|--|\n| Automobile | 7 |\n"] {
        assert_eq!(ask(text), "", "{text}");
    }
}

#[test]
fn reports_of_unusual_headings_are_ranked_and_shown() {
    let work = Work::trained();
    let table = "<table><tr><td></td><td>2024</td></tr><tr><td>Sales</td><td>7</td></tr></table>";
    let none = format!("<p>Sales rose.</p>{table}");
    let many: String = (0..5000).map(|n| format!("<h2>Note {n}</h2><p>It is note {n}.</p>")).collect();
    let deep =
        (0..30).fold(String::new(), |page, n| format!("{page}<section><h{0}>Part {n}</h{0}>{table}", n.min(5) + 1));
    let two =
        format!("<html><body><h1>Of 2023</h1>{table}</body></html><html><body><h1>Of 2024</h1>{table}</body></html>");
    for (page, nodes) in [(none, 6), (many, 10_000), (deep, 180), (two, 12)] {
        work.write("d.html", page);
        let ask = ["--document", "d.html", "--question", "sales in 2024?"];
        let all = work.infer(&[&ask[..], &["--format", "trec"]].concat()).ok().stdout;
        assert_eq!(all.lines().count(), nodes);
        let shown = work.infer(&[&ask[..], &["--format", "html"]].concat()).ok().stdout;
        assert!(shown.contains("<ol class=\"ranks\""), "{}", &shown[..shown.len().min(2000)]);
    }
}
