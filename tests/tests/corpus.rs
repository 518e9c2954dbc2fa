//! Corpora of tables, from `index` to `infer --corpus` and `ask --corpus`.

use std::io::{BufRead as _, BufReader};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tabsegnet_generate::multitable::{read_published_all, write_own};
use tabsegnet_test_support::{ChatServer, completion};
use tabsegnet_tests::{Outcome, Work, interrupt, program, wait_for};

fn index(work: &Work, arguments: &[&str]) -> Outcome {
    Outcome::of(program("index").current_dir(work.path("")).arg("--output").arg("corpus").args(arguments))
}

/// `infer` without a checkpoint.
fn infer(work: &Work, arguments: &[&str]) -> Outcome {
    Outcome::of(program("infer").current_dir(work.path("")).args(["--corpus", "corpus"]).args(arguments))
}

/// `ask` with the shipped checkpoints and without a language model.
fn ask(work: &Work, arguments: &[&str]) -> Outcome {
    ask_with(work, None, arguments)
}

/// `ask` with the language model of a server.
fn ask_with(work: &Work, server: Option<&ChatServer>, arguments: &[&str]) -> Outcome {
    let general = concat!(env!("CARGO_MANIFEST_DIR"), "/../checkpoints/general");
    let mut command = program("ask");
    if let Some(server) = server {
        command.env("TABSEGNET_LLM_URL", server.base_url()).env("TABSEGNET_LLM_MODEL", "fake");
    }
    command.current_dir(work.path("")).args(["--corpus", "corpus", "--checkpoint", general]);
    Outcome::of(command.args(arguments))
}

fn table(id: &str, title: &str, header: &[&str], rows: &[&[&str]]) -> String {
    json!({"id": id, "title": title, "header": header, "rows": rows}).to_string() + "\n"
}

fn cities() -> String {
    table(
        "cities",
        "Cities of Norway",
        &["City", "Population"],
        &[&["Oslo", "700000"], &["Bergen", "290000"], &["Trondheim", "210000"]],
    ) + &table(
        "rivers",
        "Rivers of France",
        &["River", "Length in km"],
        &[&["Loire", "1006"], &["Seine", "777"], &["Rhone", "813"]],
    ) + &table(
        "winners",
        "Tennis open",
        &["Year", "Winner"],
        &[&["2001", "Capriati"], &["2002", "Seles"], &["2003", "Henin"]],
    )
}

#[test]
fn tables_of_files_and_documents_are_found_with_their_cells() {
    let work = Work::new();
    work.write("tables/a.jsonl", cities());
    work.write(
        "tables/deep/note.md",
        "# Report\n\nIt is short.\n\n## Debt\n\nIt changed.\n\n| | 2023 | 2022 |\n|---|---|---|\n| Bonds | 12 | 11 |\n| Loans | 7 | 9 |\n\n\
         Loans fell because the bank was repaid in May.\n",
    );
    index(&work, &["tables"]).ok();
    let found = infer(&work, &["--question", "How many people live in Bergen?", "--format", "json"]).ok().stdout;
    let ranking: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(ranking["tables_in_corpus"], 4);
    assert_eq!(ranking["tables"][0]["id"], "cities");
    assert_eq!(ranking["tables"][0]["file"], "tables/a.jsonl");

    let general = concat!(env!("CARGO_MANIFEST_DIR"), "/../checkpoints/general");
    let nodes =
        ["--question", "What did loans amount to in 2022?", "--nodes", "--checkpoint", general, "--format", "jsonl"];
    let ranking: Value = serde_json::from_str(&infer(&work, &nodes).ok().stdout).unwrap();
    assert_eq!(ranking["tables"][0]["id"], "tables/deep/note.md#t0");
    assert_eq!(ranking["tables"][0]["section"], "Report -- Debt");
    let first = &ranking["nodes"][0];
    assert_eq!((&first["table"], &first["text"]), (&json!("tables/deep/note.md#t0"), &json!("9")));
    assert_eq!((&first["file"], &first["id_in_file"]), (&json!("tables/deep/note.md"), &json!("t0:r2c2")));
    // A sentence, whatever the place of its table in the ranking; the file alone calls it so too.
    let why = ["--question", "Why did loans fall?", "--nodes=3", "--checkpoint", general, "--format", "jsonl"];
    let ranking: Value = serde_json::from_str(&infer(&work, &why).ok().stdout).unwrap();
    let nodes = ranking["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 3);
    let sentence = nodes.iter().find(|node| node["kind"] == "passage").unwrap();
    assert_eq!(sentence["text"], "Loans fell because the bank was repaid in May.");
    assert_eq!((&sentence["id_in_file"], &sentence["table"]), (&json!("p2"), &json!("tables/deep/note.md#t0")));
    let alone = Outcome::of(program("infer").current_dir(work.path("")).args([
        "--document", "tables/deep/note.md", "--question", "Why did loans fall?", "--checkpoint", general, "--format",
        "jsonl", "--cache", "cache",
    ]));
    let alone: Value = serde_json::from_str(&alone.ok().stdout).unwrap();
    let same = alone["nodes"].as_array().unwrap().iter().find(|node| node["id"] == "p2").unwrap();
    assert_eq!(same["text"], sentence["text"]);
    let page = [&why[..2], &["--nodes", "--checkpoint", general, "--format", "html"]].concat();
    let page = infer(&work, &page).ok().stdout;
    assert!(page.contains("1. deep/note  (tables/deep/note.md#t0, score "), "{page}");
    infer(&work, &["--question", "x", "--nodes=0", "--checkpoint", general]).fails(2, &["--nodes is 0"]);
}

#[test]
fn regression_tables_of_one_name_are_told_apart_by_their_folders() {
    let work = Work::new();
    for year in 2021..=2024 {
        let rows: String = (0..4).map(|row| format!("Region {row},{},{}\n", year * 3 + row, row)).collect();
        work.write(&format!("in/{year}/sales.csv"), format!("Region,Pieces,Shops\n{rows}"));
    }
    index(&work, &["in"]).ok();
    let first = |question: &str| {
        let found = infer(&work, &["--question", question, "--retriever", "bm25", "--format", "json"]).ok().stdout;
        let ranking: Value = serde_json::from_str(&found).unwrap();
        let table = &ranking["tables"][0];
        (table["id"].as_str().unwrap().to_owned(), table["title"].as_str().unwrap().to_owned())
    };
    for year in 2021..=2024 {
        let (id, title) = first(&format!("How many pieces were sold in region 2 in {year}?"));
        assert_eq!((id, title), (format!("in/{year}/sales.csv#t0"), format!("{year}/sales")));
    }
    // One that is given itself keeps its folders, and one as it was is not read again.
    work.write("in/2022/sales.csv", "Region,Pieces,Shops\nRegion 2,5,1\n");
    index(&work, &["in/2022/sales.csv"]).ok();
    assert_eq!(first("How many pieces were sold in 2022?").1, "2022/sales");
    let again = index(&work, &["in"]).ok();
    assert!(again.stderr.contains("4 files are as they were"), "{}", again.stderr);
}

#[test]
fn a_corpus_is_searched_and_changed_from_any_folder() {
    let work = Work::new();
    work.write("in/a.jsonl", cities());
    work.write("in/questions.jsonl", "{\"id\": \"q\", \"question\": \"Who won?\"}\n");
    let first = index(&work, &["in"]);
    assert_eq!(first.code, Some(3), "{first:?}");
    assert!(first.stderr.contains("questions.jsonl: record line 1, field rows: is missing"), "{first:?}");
    let from = |folder: &str, arguments: &[&str]| {
        Outcome::of(program("index").current_dir(work.path(folder)).args(["--output", "../corpus"]).args(arguments))
    };
    let again = from("in", &["a.jsonl"]).ok();
    assert!(again.stderr.contains("1 file is as it was"), "{}", again.stderr);
    from("in", &["--list", "a.jsonl"]).fails(2, &["--list"]);
    std::fs::remove_file(work.path("in/a.jsonl")).unwrap();
    let removed = from("in", &["--remove", "a.jsonl"]).ok();
    assert!(removed.stderr.contains("3 removed or replaced; the corpus has 0 tables"), "{}", removed.stderr);
}

#[test]
fn runs_of_every_way_to_rank_have_the_form_that_trec_eval_reads() {
    let work = Work::new();
    work.write("a.jsonl", cities());
    work.write("questions.jsonl", "{\"id\": \"one\", \"question\": \"length of the Seine\", \"tables\": [\"rivers\"]}\n{\"id\": \"two\", \"question\": \"who won the open in 2002\"}\n");
    index(&work, &["a.jsonl"]).ok();
    for retriever in ["rerank", "fusion", "rrf", "bm25", "bm25-schema"] {
        let run =
            infer(&work, &["--questions", "questions.jsonl", "--format", "trec", "--retriever", retriever]).ok().stdout;
        let firsts: Vec<Vec<&str>> =
            run.lines().map(|line| line.split(' ').collect::<Vec<_>>()).filter(|fields| fields[3] == "1").collect();
        assert_eq!(firsts.len(), 2, "{retriever}: {run}");
        if retriever != "bm25-schema" {
            assert_eq!([firsts[0][2], firsts[1][2]], ["rivers", "winners"], "{retriever}: {run}");
        }
        assert_eq!([firsts[0][0], firsts[0][1]], ["one", "Q0"]);
    }
    // A line may be the question itself, and need no id.
    work.write("plain.jsonl", "length of the Seine\n{\"question\": \"who won\"}\n");
    let plain = infer(&work, &["--questions", "plain.jsonl", "--format", "trec", "--top-k", "1"]).ok().stdout;
    assert!(plain.starts_with("q1 Q0 rivers 1 ") && plain.contains("\nq2 Q0 "), "{plain}");
    infer(&work, &["--question", "x", "--retriever", "gtr"]).ok();
    infer(&work, &["--question", "x", "--retriever", "best"])
        .fails(2, &["--retriever best: is no way to rank tables", "bm25-schema"]);
}

#[test]
fn prompt_page_and_table_show_the_tables() {
    let work = Work::new();
    work.write("a.jsonl", cities());
    index(&work, &["a.jsonl"]).ok();
    let ask = |more: &[&str]| infer(&work, &[&["--question", "How long is the Loire?"], more].concat()).ok().stdout;
    let prompt = ask(&["--format", "prompt", "--tokens", "400"]);
    assert!(prompt.contains("T1 (rivers): Rivers of France") && prompt.contains("| r1: | Loire | 1006 |"), "{prompt}");
    // A table too large for the budget is cut in its cells, then in its columns.
    let columns: Vec<String> =
        (0..60).map(|number| format!("Quantity of the substance with number {number}")).collect();
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let long = "word ".repeat(100);
    work.write("wide.jsonl", table("wide", &format!("Substances {long}"), &columns, &[&[long.as_str(); 60]]));
    index(&work, &["wide.jsonl"]).ok();
    let wide = infer(&work, &["--question", "substances", "--format", "prompt", "--tokens", "500"]).ok().stdout;
    for part in ["<reasoning>", "T1 (wide): Substances word", "…", "more columns)"] {
        assert!(wide.contains(part), "{part:?} is not in {wide}");
    }
    infer(&work, &["--question", "x", "--format", "prompt", "--tokens", "10"])
        .fails(1, &["expected a budget of at least"]);
    let page = ask(&["--format", "html"]);
    assert!(page.contains("<table") && page.contains("Rivers of France"), "{page}");
    let text = ask(&["--top-k", "1"]);
    assert!(text.contains("rivers") && text.contains("(3 rows)") && !text.contains("cities"), "{text}");
    let named = "Lakes of Italy";
    let same = json!({"id": "same", "title": named, "section": named, "caption": named, "header": ["Lake"], "rows": [["Garda"]]});
    work.write("same.jsonl", same.to_string());
    index(&work, &["same.jsonl"]).ok();
    let text = infer(&work, &["--question", "Which lakes are there?", "--top-k", "1"]).ok().stdout;
    assert_eq!(text.matches(named).count(), 1, "{text}");
}

#[test]
fn questions_are_answered_from_the_best_tables() {
    let work = Work::new();
    work.write("tables/a.jsonl", cities());
    work.write(
        "tables/note.md",
        "# Report\n\nIt is short.\n\n## Debt\n\nIt changed.\n\n| | 2023 | 2022 |\n|---|---|---|\n| Bonds | 12 | 11 |\n| Loans | 7 | 9 |\n\n\
         Loans fell because the bank was repaid in May.\n",
    );
    index(&work, &["tables"]).ok();
    let lines = "{\"id\": \"a\", \"question\": \"How many people live in Bergen?\", \"tables\": [\"cities\"]}\n\
                 {\"id\": \"b\", \"question\": \"What did loans amount to in 2022?\"}\n";
    work.write("questions.jsonl", lines);
    for policy in ["rules", "learnt", "auto"] {
        let arguments = ["--questions", "questions.jsonl", "--format", "jsonl", "--policy", policy];
        let found = ask(&work, &arguments).ok().stdout;
        let answers: Vec<Value> = found.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let of = |number: usize, key: &str| answers[number]["citations"][0][key].clone();
        assert_eq!([&answers[0]["id"], &answers[1]["id"]], [&json!("a"), &json!("b")], "{found}");
        assert_eq!(
            [&answers[0]["answer"], &answers[1]["answer"]],
            [&json!("290000"), &json!("9")],
            "{policy}: {found}"
        );
        assert_eq!([of(0, "table"), of(0, "file")], [json!("cities"), json!("tables/a.jsonl")]);
        assert_eq!([of(1, "table"), of(1, "file")], [json!("tables/note.md#t0"), json!("tables/note.md")]);
        assert_eq!(of(0, "position")["row"], 2);
    }
    let question = ["--question", "How many people live in Bergen?"];
    let with = |more: &[&str]| ask(&work, &[&question[..], more].concat());
    assert!(with(&[]).ok().stdout.contains("t0:r2c1 in cities: 290000"));
    let listed: Value = serde_json::from_str(&with(&["--format", "json"]).ok().stdout).unwrap();
    assert_eq!(listed[0]["answer"], "290000");
    with(&["--format", "html", "--output", "page.html"]).ok();
    let page = String::from_utf8(work.read("page.html")).unwrap();
    assert!(
        page.contains("<h1 dir=\"auto\">How many people live in Bergen?</h1>") && page.contains("Cities of Norway")
    );
    assert!(page.contains("<p class=\"said\" dir=\"auto\">290000</p>"));
    // What cannot be.
    with(&["--question", "And in Oslo?", "--format", "html"]).fails(2, &["and 2 were given; give one"]);
    with(&["--retriever", "best"]).fails(2, &["--retriever best: is no way to rank tables", "bm25-schema"]);
    with(&["--document", "tables/note.md"]).fails(2, &["--corpus"]);
    with(&["--tables", "0"]).fails(2, &["--tables is 0"]);
    ask(&work, &["--questions", "-", "--format", "html"]).fails(2, &["--questions -"]);
    std::fs::remove_dir_all(work.path("corpus")).unwrap();
    with(&[]).fails(1, &["error: corpus: holds no corpus"]);
}

#[test]
fn a_language_model_is_told_which_tables_were_found_and_how_near_they_are() {
    let work = Work::new();
    let header = ["City", "Population"];
    let tables = table("norway", "Cities of Norway", &header, &[&["Oslo", "700000"], &["Bergen", "290000"]])
        + &table("sweden", "Cities of Sweden", &header, &[&["Stockholm", "980000"], &["Malmo", "350000"]]);
    work.write("a.jsonl", tables);
    index(&work, &["a.jsonl"]).ok();
    let server = ChatServer::start(|_, request| {
        let actions =
            json!([{"action": "AnswerQuestion", "cells": ["t0:r2c1"], "operation": "look up", "answer": ["290000"]}]);
        completion(request, &json!({"thought": "It stands there.", "actions": actions}).to_string())
    });
    let question = ["--question", "What is the population of the city of Bergen?", "--policy", "llm"];
    let with = |more: &[&str]| ask_with(&work, Some(&server), &[&question[..], more].concat());
    let answered = with(&["--format", "jsonl", "--trace", "trace.jsonl"]).ok().stdout;
    let answer: Value = serde_json::from_str(&answered).unwrap();
    assert_eq!((&answer["answer"], &answer["citations"][0]["table"]), (&json!("290000"), &json!("norway")), "{answer}");
    let received = server.received();
    let prompt = received[0].body["messages"][1]["content"].as_str().unwrap();
    for part in
        ["T1 is table t0 of the graph", "\nT1 (norway): Cities of Norway\n", "\nT2 (sweden): ", "\nRelations: T1–T2 "]
    {
        assert!(prompt.contains(part), "{part:?} is not in {prompt}");
    }
    // As the prompt for other models has it, but for what that says of answers without a graph.
    let shown = infer(&work, &[&question[..2], &["--format", "prompt"]].concat()).ok().stdout;
    let (_, tables) = shown.trim_end().split_once("\n\n").unwrap();
    assert!(prompt.contains(tables) && !prompt.contains("</answer>"), "{tables} is not in {prompt}");
    // The walk comes out again without the model.
    let replayed = ask(&work, &["--replay-trace", "trace.jsonl"]).ok();
    assert_eq!(replayed.stdout, "q1: the same; answer \"290000\"\n", "{}", replayed.stderr);
    // Where a prompt has no room for tables the walk goes on without.
    work.write("small.toml", "[agent]\nprompt_tokens = 1000\n");
    let long = "What is the population of Bergen? ".repeat(30);
    let small = ["--question", long.trim(), "--policy", "llm", "--config", "small.toml"];
    ask_with(&work, Some(&server), &small).ok();
    let received = server.received();
    let prompt = received.last().unwrap().body["messages"][1]["content"].as_str().unwrap();
    assert!(!prompt.contains("T1 (") && prompt.contains("Visited nodes:"), "{prompt}");
}

#[test]
fn a_table_of_a_corpus_too_large_for_the_graph_goes_through_sql() {
    let work = Work::new();
    let mut orders = String::from("Order,Year,City,Amount\n");
    for row in 0..6000 {
        orders += &format!("{row},{},{},{}\n", 2010 + row / 600, ["Rome", "Oslo"][row % 2], row % 7);
    }
    work.write("orders.csv", orders);
    index(&work, &["orders.csv"]).ok();
    let arguments = ["--question", "What was the total amount in 2019?", "--sql-cells", "20000"];
    let answered = ask(&work, &[&arguments[..], &["--format", "jsonl"]].concat()).ok();
    assert!(answered.stderr.contains("t0 goes through SQL: 6001 rows of 4 cells"), "{}", answered.stderr);
    let answer: Value = serde_json::from_str(&answered.stdout).unwrap();
    let expected: usize = (5400..6000).map(|row| row % 7).sum();
    assert_eq!((&answer["answer"], &answer["policy"]), (&json!(expected.to_string()), &json!("sql")), "{answer}");
    assert_eq!(answer["citations"][0]["table"], "orders.csv#t0", "{answer}");
    ask(&work, &[&arguments[..], &["--format", "html", "--output", "page.html"]].concat()).ok();
    let page = String::from_utf8(work.read("page.html")).unwrap();
    assert!(page.contains("<h1 dir=\"auto\">What was the total amount in 2019?</h1>"), "{page}");
    assert!(page.contains("rows are not shown") && page.contains(&format!("dir=\"auto\">{expected}</p>")), "{page}");
}

#[test]
fn what_cannot_be_taken_in_is_listed_and_the_rest_counts() {
    let work = Work::new();
    work.write("in/a.jsonl", cities() + "{\"id\": \"broken\"\n" + &table("last", "Last", &["a"], &[&["b"]]));
    work.write("in/b.jsonl", table("cities", "Another", &["x"], &[&["y"]]));
    work.write("in/c.pdf", "%PDF-1.4");
    let first = index(&work, &["in"]);
    assert_eq!(first.code, Some(3), "{first:?}");
    for said in ["4 tables added", "in/a.jsonl", "line 4", "in/b.jsonl: table \"cities\"", "in/c.pdf"] {
        assert!(first.stderr.contains(said), "{said}: {}", first.stderr);
    }
    // Repaired, it takes the place of what was there.
    work.write("in/a.jsonl", table("cities", "Cities", &["City"], &[&["Oslo"]]));
    std::fs::remove_file(work.path("in/b.jsonl")).unwrap();
    std::fs::remove_file(work.path("in/c.pdf")).unwrap();
    let second = index(&work, &["in", "--remove", "in/b.jsonl"]).ok();
    assert!(second.stderr.contains("the corpus has 1 table in 1 segment"), "{}", second.stderr);
    let third = index(&work, &["in"]).ok();
    assert!(third.stderr.contains("1 file is as it was"), "{}", third.stderr);
    assert!(!third.stderr.contains("not there any more"), "{}", third.stderr);
    assert_eq!(index(&work, &["--list"]).ok().stdout, "in/a.jsonl\n");
    // What is deleted stays until somebody says so, which is said.
    std::fs::remove_file(work.path("in/a.jsonl")).unwrap();
    work.write("in/d.jsonl", table("rivers", "Rivers", &["River"], &[&["Aker"]]));
    let fourth = index(&work, &["in"]).ok();
    assert!(
        fourth.stderr.contains("in: in/a.jsonl is not there any more, and still in the corpus"),
        "{}",
        fourth.stderr
    );
    assert_eq!(index(&work, &["--list"]).ok().stdout, "in/a.jsonl\nin/d.jsonl\n");
    let fifth = index(&work, &["in", "--remove", "in/a.jsonl"]).ok();
    assert!(!fifth.stderr.contains("not there any more"), "{}", fifth.stderr);
    assert_eq!(index(&work, &["--remove", "in/no.jsonl"]).code, Some(1), "nothing was done");
}

#[test]
fn regression_no_table_goes_without_a_word() {
    use std::os::unix::ffi::OsStrExt as _;
    let work = Work::new();
    let rows = |id: &str, cell: &str| table(id, "Sums", &["Sum"], &[&[cell]]);
    // Names that are no UTF-8 have one text, and are not the same.
    for name in [&b"b\xe9.jsonl"[..], b"b\xe8.jsonl"] {
        work.write("names/a.jsonl", rows("a", "1"));
        let path = work.path("names").join(std::ffi::OsStr::from_bytes(name));
        std::fs::write(path, rows("b", "2")).unwrap();
    }
    let first = index(&work, &["names"]);
    assert_eq!(first.code, Some(3), "{first:?}");
    assert_eq!(first.stderr.matches("is no UTF-8; rename it").count(), 2, "{first:?}");
    assert_eq!(index(&work, &["--list"]).ok().stdout, "names/a.jsonl\n");
    // One that comes later takes the place of one that is there.
    work.write("later.jsonl", rows("a", "3"));
    let later = index(&work, &["later.jsonl"]).ok();
    let told = "warning: later.jsonl: table \"a\" takes the place of the one of names/a.jsonl";
    assert!(later.stderr.contains(told), "{later:?}");
    // A folder where a file was.
    std::fs::remove_file(work.path("later.jsonl")).unwrap();
    work.write("more/c.jsonl", rows("c", "4"));
    index(&work, &["more"]).ok();
    std::fs::remove_file(work.path("more/c.jsonl")).unwrap();
    work.write("more/c.jsonl/d.jsonl", rows("d", "5"));
    let folder = index(&work, &["more"]).ok();
    assert!(folder.stderr.contains("more: more/c.jsonl is not there any more"), "{folder:?}");
    // A corpus among what it is of would be taken for the folder's only content the next time.
    let within = Outcome::of(program("index").current_dir(work.path("")).args(["--output", "more", "./more/"]));
    within.fails(2, &["--output ./more/: is what is to be indexed"]);
    // Files of somebody else that have a corpus' names.
    work.write("own/00000009.segment", "mine");
    for arguments in [&["more/c.jsonl"][..], &["--join", "corpus"]] {
        let own = Outcome::of(program("index").current_dir(work.path("")).args(["--output", "own"]).args(arguments));
        own.fails(1, &["own/00000009.segment", "expected a folder without such"]);
    }
    assert_eq!(work.read("own/00000009.segment"), b"mine");
    // What is damaged is not written anew with a digest of its own.
    let list = work.read("corpus/corpus.json");
    let list = String::from_utf8(list).unwrap();
    let at = list.rfind(".segment").unwrap() - 8;
    let segment = format!("corpus/{}.segment", &list[at..at + 8]);
    let mut bytes = work.read(&segment);
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    work.write(&segment, bytes);
    index(&work, &["names/a.jsonl", "--segments", "1"]).fails(1, &[&segment, "its content has SHA-256"]);
}

#[test]
fn regression_nodes_of_a_run_are_those_of_the_ten_tables() {
    let work = Work::new();
    let tables: String =
        (10..40).map(|n| table(&format!("t{n}"), "Sums", &["Year", "Sum"], &[&["2020", &n.to_string()]])).collect();
    work.write("a.jsonl", tables);
    index(&work, &["a.jsonl"]).ok();
    let general = concat!(env!("CARGO_MANIFEST_DIR"), "/../checkpoints/general");
    let nodes = ["--question", "sum of 2020", "--nodes", "--checkpoint", general, "--format"];
    let ranking: Value = serde_json::from_str(&infer(&work, &[&nodes[..], &["jsonl"]].concat()).ok().stdout).unwrap();
    let place = |node: &Value| {
        let (table, id) = (node["table"].as_str().unwrap(), node["id"].as_str().unwrap());
        format!("{table}#{}", id.split(':').next_back().unwrap())
    };
    let wanted: Vec<String> = ranking["nodes"].as_array().unwrap().iter().map(place).collect();
    let run = infer(&work, &[&nodes[..], &["trec"]].concat()).ok().stdout;
    let found: Vec<&str> = run.lines().map(|line| line.split(' ').nth(2).unwrap()).collect();
    assert_eq!(found, wanted);
}

#[test]
fn a_check_says_which_file_is_not_as_it_was_written() {
    let work = Work::new();
    work.write("a.jsonl", cities());
    index(&work, &["a.jsonl"]).ok();
    let checked = index(&work, &["--check"]).ok();
    assert!(checked.stderr.contains("3 tables in 1 segment, all as they were written"), "{}", checked.stderr);
    let segment = "corpus/00000001.segment";
    let mut bytes = work.read(segment);
    bytes[20] ^= 1;
    work.write(segment, bytes);
    index(&work, &["--check"]).fails(1, &["00000001.segment: its content has SHA-256", "make the corpus anew"]);
    index(&work, &["--check", "a.jsonl"]).fails(2, &["--check"]);
}

#[test]
fn corpora_of_parts_join_to_the_same_answers() {
    let work = Work::new();
    let lines = cities();
    work.write("all.jsonl", &lines);
    work.write("questions.txt", "How long is the Loire?\nWho won in 2003?\nx\n");
    index(&work, &["all.jsonl"]).ok();
    let ask = ["--questions", "questions.txt", "--format", "trec"];
    let whole = infer(&work, &ask).ok().stdout;
    std::fs::remove_dir_all(work.path("corpus")).unwrap();
    for (number, line) in lines.lines().enumerate() {
        work.write(&format!("part{number}.jsonl"), line);
        let part = format!("shard{number}");
        Outcome::of(program("index").current_dir(work.path("")).args([
            "--output",
            &part,
            &format!("part{number}.jsonl"),
        ]))
        .ok();
    }
    index(&work, &["--join", "shard0", "--join", "shard1", "--join", "shard2"]).ok();
    assert_eq!(infer(&work, &ask).ok().stdout, whole);
    index(&work, &["--join", "shard0"]).fails(2, &["a directory without a corpus"]);
    // Of an id that two have the first counts, as where one index is made of all, and it is said.
    std::fs::remove_dir_all(work.path("corpus")).unwrap();
    work.write("part9.jsonl", table("cities", "Others", &["x"], &[&["y"]]));
    Outcome::of(program("index").current_dir(work.path("")).args(["--output", "shard9", "part9.jsonl"])).ok();
    let clash = index(&work, &["--join", "shard0", "--join", "shard9"]);
    assert_eq!(clash.code, Some(3), "{clash:?}");
    assert!(
        clash.stderr.contains("part9.jsonl: table \"cities\": its id is taken by a table of part0.jsonl"),
        "{clash:?}"
    );
}

#[test]
fn wrong_usage_and_missing_corpora_say_what_to_do() {
    let work = Work::new();
    infer(&work, &["--question", "x"]).fails(1, &["holds no corpus", "index --output corpus"]);
    index(&work, &["no-such-file"]).fails(1, &["no-such-file"]);
    index(&work, &[]).fails(2, &["nothing to do"]);
    work.write("empty/.hidden", "x");
    index(&work, &["empty"]).fails(1, &["holds no file"]);
    work.write("file", "x");
    index(&work, &["--encoder", "nope", "file"]).fails(2, &["--encoder nope: there is no such folder"]);
    let into_file = |arguments: &[&str]| {
        Outcome::of(program("index").current_dir(work.path("")).args(["--output", "file"]).args(arguments))
    };
    into_file(&["empty"]).fails(2, &["--output file: is a file; expected a folder"]);
    let of_file =
        Outcome::of(program("infer").current_dir(work.path("")).args(["--corpus", "file", "--question", "x"]));
    of_file.fails(1, &["file: is a file; expected the folder of a corpus"]);
    index(&work, &["--join", "nope"]).fails(1, &["nope: holds no corpus"]);
    assert!(!work.path("corpus").exists());
    // Of what holds no table no corpus is made.
    work.write("text.md", "Nothing but words.\n");
    index(&work, &["text.md"]).fails(1, &["no corpus is made", "text.md: holds no table"]);
    infer(&work, &["--question", "x"]).fails(1, &["holds no corpus"]);
    // A number is an id, too.
    work.write("number.jsonl", "{\"id\": 7, \"header\": [\"a\"], \"rows\": [[\"1\"]]}\n");
    index(&work, &["number.jsonl"]).ok();
    index(&work, &["--remove", "number.jsonl"]).ok();
    work.write("a.jsonl", cities());
    index(&work, &["a.jsonl"]).ok();
    // What is there counts, what is not is said.
    work.write("more/b.md", "| a | b |\n|---|---|\n| 1 | 2 |\n");
    let partly = index(&work, &["more", "none.csv"]);
    assert_eq!(partly.code, Some(3), "{partly:?}");
    assert!(["1 table added", "none.csv"].iter().all(|told| partly.stderr.contains(told)), "{partly:?}");
    index(&work, &["--remove", "./more/"]).ok();
    let again = index(&work, &["--remove", "more"]);
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(again.stderr.contains("more: the corpus has no such file, nor one below it"), "{again:?}");
    index(&work, &["a.jsonl", "--vectors", "int8"]).fails(2, &["--vectors", "keeps the other kind"]);
    let gtr = |settings: &str| infer(&work, &["--question", "How long is the Loire?", "--retriever", settings]);
    let ranked = |settings: &str| gtr(settings).ok().stdout.replace(settings, "gtr");
    assert_eq!(ranked("gtr:τ=.2,α=0.8,K=2,k=3"), ranked("gtr:tau=0.2,alpha=0.8,K=2,k=3"));
    gtr("gtr:tau=2").fails(2, &["--retriever gtr:tau=2: tau is 2; expected from 0 to 1"]);
    gtr("gtr:tau=0.5,K=0").fails(2, &["--retriever gtr:tau=0.5,K=0: K is 0; expected 1 or more"]);
    gtr("gtr:tow=0.5").fails(2, &["--retriever gtr:tow=0.5: unknown field `tow`", "tau", "gtr:tau=0.5,K=20"]);
    gtr(concat!(env!("CARGO_MANIFEST_DIR"), "/../checkpoints/corpus-minilm"))
        .fails(2, &["corpus-minilm: has learnt from vectors of another encoder"]);
    infer(&work, &[]).fails(2, &["--question"]);
    infer(&work, &["--question", " "]).fails(2, &["blank"]);
    infer(&work, &["--question", "x", "--nodes"]).fails(2, &["--checkpoint"]);
    for (more, said) in [
        (&["--header-rows", "2"][..], "--header-rows goes with --document"),
        (&["--show-tables"], "--show-tables goes with --document"),
        (&["--cache", "c"], "--cache is for a ranker of nodes"),
        (&["--device", "cpu"], "--device is for a ranker of nodes"),
        (&["--glossary", "none.toml"], "--glossary is for a ranker of nodes"),
    ] {
        infer(&work, &[&["--question", "x"], more].concat()).fails(2, &[said]);
    }
    work.write("corpus/corpus.json", "{\"format\": 9}");
    infer(&work, &["--question", "x"]).fails(1, &["is of version 9 of corpora, this program reads 5"]);
}

/// Tables of teams with a question each, and the config of a training on them.
fn teams() -> Work {
    let work = Work::new();
    let mut tables = String::new();
    let mut questions = String::new();
    for number in 0..40 {
        let (team, town) = (format!("team{number}"), format!("town{}", number % 7));
        tables += &table(
            &format!("t{number}"),
            &format!("Season of {team}"),
            &["Player", "Goals"],
            &[&[&format!("anna{number}"), "3"], &[&format!("bert{number}"), "5"], &[&town, "8"]],
        );
        questions += &(json!({"id": format!("q{number}"), "question": format!("How many goals did anna{number} score for {team}?"),
            "tables": [format!("t{number}")]}).to_string() + "\n");
    }
    work.write("tables.jsonl", tables);
    work.write("questions.jsonl", questions);
    work.write(
        "config.toml",
        "[task]\nkind = \"corpus\"\n[corpus]\nroot = \".\"\n[corpus.boosting]\nnum_iterations = 5\n[[corpus.parts]]\nname = \"teams\"\n\
         tables = [\"tables.jsonl\"]\ntrain = [\"questions.jsonl\"]\ntrain_split = \"tune\"\ndev = [\"questions.jsonl\"]\ndev_split = \"test\"\n\
         [evaluation]\nresamples = 50\nrounds = 50\n[output]\ndirectory = \"out\"\ncache = \"cache\"\n",
    );
    work
}

#[test]
fn a_reranker_of_tables_is_trained_and_measured() {
    let work = teams();
    let trained = work.train(&[]).ok();
    for said in ["## teams", "| gtr ", "| rerank ", "Acc@10", "GTR's coarse stage keeps"] {
        assert!(trained.stdout.contains(said), "{said}: {}", trained.stdout);
    }
    let weights = || ["reranker", "listwise"].map(|name| work.read(&format!("out/best/{name}.safetensors")));
    let first = weights();
    let again = ["--set", "evaluation.after_training=false"];
    Outcome::of(work.command("train", &again).env("RAYON_NUM_THREADS", "1")).ok();
    assert_eq!(weights(), first, "the same seed, the same bytes");
    assert!(work.evaluate(&[]).ok().stdout.contains("## teams"));
    work.train(&["--resume"]).fails(1, &["cannot be resumed"]);
    work.train(&["--set", "corpus.train_questions=0"]).fails(2, &["corpus.train_questions is 0"]);
    index(&work, &["tables.jsonl"]).ok();
    let run = infer(
        &work,
        &["--question", "How many goals did anna7 score for team7?", "--retriever", "out/best", "--format", "trec"],
    )
    .ok()
    .stdout;
    assert!(run.starts_with("q Q0 t7 1 "), "{run}");
}

/// All trees were waited for, of each fold.
#[test]
fn regression_ctrl_c_ends_a_training_between_trees_and_leaves_nothing() {
    let work = teams();
    // They would take minutes.
    let mut child = work.start(&["--set", "corpus.boosting.num_iterations=1000000"]);
    let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut lines = stderr.lines().map(|line| line.expect("UTF-8"));
    // The second candidates are those that the trees order.
    let second = lines.by_ref().filter(|line| line.starts_with("candidates: of ")).nth(1);
    assert!(second.is_some(), "it ended before the trees");
    interrupt(&child);
    let sent = Instant::now();
    wait_for(&mut child, || sent.elapsed() > Duration::from_secs(20));
    let ended = child.try_wait().expect("a child");
    if ended.is_none() {
        child.kill().expect("it can be killed");
    }
    let said: Vec<String> = lines.collect();
    assert_eq!(ended.and_then(|status| status.code()), Some(1), "20 s after the signal: {said:?}");
    assert!(said.iter().any(|line| line.starts_with("trees, fold 0: stopped")), "{said:?}");
    let left = std::fs::read_dir(work.path("out")).expect("out").filter_map(Result::ok).map(|entry| entry.file_name());
    assert_eq!(left.collect::<Vec<_>>(), [".lock"]);
}

#[test]
fn published_files_of_multitableqa_are_indexed_and_measured() {
    let work = Work::with(
        "[task]\nkind = \"corpus\"\n[corpus]\nroot = \"own\"\n[[corpus.parts]]\nname = \"wtq\"\ntables = [\"tables.jsonl\"]\n\
         dev = [\"questions.jsonl\"]\n[evaluation]\nresamples = 50\nrounds = 50\n[output]\ndirectory = \"out\"\ncache = \"cache\"\n",
    );
    let (mut tables, mut questions) = (String::new(), String::new());
    for source in 0..6 {
        for part in 0..2 {
            let rows: Vec<[String; 2]> =
                (0..3).map(|row| [format!("anna{source}{part}{row}"), row.to_string()]).collect();
            let line = json!({"table_idx": 2 * source + part, "source_table_idx": source, "split": "test", "example_query": [],
                "caption": format!("Goals of team{source}, part {part}"), "table": {"header": ["Player", "Goals"], "rows": rows}});
            tables += &(line.to_string() + "\n");
        }
        let line = json!({"query": format!("Who scored most for team{source}?"), "source_table_idx": source, "label": ["anna"]});
        questions += &(line.to_string() + "\n");
    }
    work.write("published/wtq_table.jsonl", tables);
    work.write("published/wtq_query.jsonl", questions);
    let read = read_published_all(&[work.path("published/wtq")]).unwrap();
    write_own(&read, &work.path("own")).unwrap();

    index(&work, &["own/tables.jsonl"]).ok();
    let question = ["--question", "Who scored most for team4?", "--retriever", "bm25"];
    let run = infer(&work, &[&question[..], &["--format", "trec", "--top-k", "2"]].concat()).ok().stdout;
    let mut found: Vec<&str> = run.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    found.sort_unstable();
    assert_eq!(found, ["8", "9"], "{run}");
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../checkpoints/corpus");
    let report = work.evaluate(&["--checkpoint", shipped]).ok().stdout;
    assert!(report.contains("## wtq\n\n12 tables, 6 questions of 6 source tables"), "{report}");
}

#[test]
fn records_of_a_corpus_are_counted_and_joined_as_those_of_a_folder() {
    let work = Work::new();
    let agents = "Agent ID,Agent Name,Team,Hourly Rate\nA1,Ines Yilmaz,Network,$30.44\nA2,Daniel Weber,Network,$54.88\nA3,Ola Berg,Desktop,$41.00\n";
    let tickets: String = (0..60)
        .map(|number| format!("T-{number},{},A{}\n", ["Urgent", "Low", "High"][number % 3], 1 + number % 2))
        .collect();
    work.write("helpdesk/agents.csv", agents);
    work.write("helpdesk/tickets.csv", format!("Ticket ID,Priority,Agent ID\n{tickets}"));
    index(&work, &["helpdesk"]).ok();
    let answer = |question: &str| -> Value {
        let said = ask(&work, &["--question", question, "--format", "jsonl"]).ok().stdout;
        serde_json::from_str(&said).unwrap()
    };
    let count = answer("How many urgent tickets are there?");
    assert_eq!((&count["answer"], count["abstained"].as_bool()), (&json!("20"), Some(false)), "{count}");
    assert!(count["sql"].as_str().unwrap().contains("'Urgent'"), "{count}");
    let rate = answer("What is the hourly rate of Daniel Weber?");
    assert_eq!(rate["answer"], "$54.88", "{rate}");
    // The cell is told as the corpus has it.
    let cited = &rate["citations"][0];
    assert_eq!(
        (&cited["table"], &cited["file"]),
        (&json!("helpdesk/agents.csv#t0"), &json!("helpdesk/agents.csv")),
        "{rate}"
    );
    ask(
        &work,
        &["--question", "What is the hourly rate of Daniel Weber?", "--format", "html", "--output", "page.html"],
    )
    .ok();
    assert!(work.text("page.html").contains("$54.88"));
}
