use std::fs;

use proptest::prelude::*;

use super::*;

fn ranked(question: &str, nodes: &[(&str, f32)]) -> RankedQuestion {
    let nodes = nodes.iter().map(|(node, score)| ((*node).to_owned(), *score)).collect();
    RankedQuestion { question: question.to_owned(), nodes }
}

fn judged(question: &str, gold: &[&str]) -> JudgedQuestion {
    let gold = gold.iter().map(|node| (*node).to_owned()).collect();
    JudgedQuestion { question: question.to_owned(), gold }
}

/// The error of reading `content` as a run, without the directory's name.
fn run_error(content: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.trec");
    fs::write(&path, content).unwrap();
    let error = read_run(&path).unwrap_err().to_string();
    error.replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn files_look_as_documented() {
    let dir = tempfile::tempdir().unwrap();
    let (run, qrels) = (dir.path().join("runs/m.trec"), dir.path().join("qrels.trec"));
    let questions = [ranked("q 1", &[("t0:r1c2", 1.5), ("p0", 1.5)]), ranked("q2", &[("50%", -2e-9)])];
    write_run(&run, "BM25 path", &questions).unwrap();
    assert_eq!(
        fs::read_to_string(&run).unwrap(),
        "q%201 Q0 t0:r1c2 1 1.5 BM25%20path\n\
         q%201 Q0 p0 2 1.4999999 BM25%20path\n\
         q2 Q0 50%25 1 -2e-9 BM25%20path\n"
    );
    write_qrels(&qrels, &[judged("q 1", &["p0", "t0:r1c2"])]).unwrap();
    assert_eq!(fs::read_to_string(&qrels).unwrap(), "q%201 0 p0 1\nq%201 0 t0:r1c2 1\n");
}

#[test]
fn a_foreign_run_is_read_as_trec_eval_reads_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("foreign.trec");
    // Lines out of order, ranks from 0, equal scores, tabs, a blank line, no final newline.
    fs::write(&path, "b Q0 n1 0 1 x\na\tQ0\tn2\t7\t0.5\tx\n\nb Q0 n3 1 1.0 x\nb Q0 n2 2 3 x").unwrap();
    let run = read_run(&path).unwrap();
    let expected = [ranked("b", &[("n2", 3.0), ("n3", 1.0), ("n1", 1.0)]), ranked("a", &[("n2", 0.5)])];
    assert_eq!((run.tag.as_str(), run.questions.as_slice()), ("x", &expected[..]));
}

#[test]
fn errors_of_reading_name_file_line_and_field() {
    let first = "q Q0 a 1 2 x\n";
    for (line, error) in [
        (
            "q Q0 b 2 1",
            "m.trec, line 2, field 1 and on: found \"q Q0 b 2 1\", expected 6 fields instead of 5: \
             question_id Q0 node_id rank score tag",
        ),
        ("q Q0 b two 1 x", "m.trec, line 2, field rank: found \"two\", expected a whole number"),
        ("q Q0 b 2 NaN x", "m.trec, line 2, field score: found \"NaN\", expected a finite 32-bit decimal number"),
        ("q Q0 b 2 1e39 x", "m.trec, line 2, field score: found \"1e39\", expected a finite 32-bit decimal number"),
        (
            "q Q0 b%2 2 1 x",
            "m.trec, line 2, field node_id: found \"b%2\", expected two hexadecimal digits after \
             each %, UTF-8 when decoded; write % as %25",
        ),
        ("q Q0 a 2 1 x", "m.trec, line 2, field node_id: found \"a\", expected each node once for each question"),
        (
            "q Q0 b 2 1 y",
            "m.trec, line 2, field tag: found \"y\", expected \"x\" as on the lines before: one method a file",
        ),
    ] {
        assert_eq!(run_error(&format!("{first}{line}\n")), error);
    }
    assert_eq!(
        run_error("\n \n"),
        "m.trec: the file holds no line, expected lines `question_id Q0 node_id rank score tag`"
    );
}

#[test]
fn qrels_count_relevance_above_0_and_refuse_words() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("qrels");
    fs::write(&path, "q 0 a 2\nq 0 b 0\nr 0 a -1\n").unwrap();
    assert_eq!(read_qrels(&path).unwrap(), [judged("q", &["a"]), judged("r", &[])]);
    fs::write(&path, "q 0 a yes\n").unwrap();
    let error = read_qrels(&path).unwrap_err().to_string();
    assert!(error.ends_with("line 1, field relevance: found \"yes\", expected a whole number, 1 for gold"));
    fs::write(&path, "").unwrap();
    assert!(matches!(read_qrels(&path), Err(TrecError::NoLines { .. })));
    assert!(matches!(read_qrels(&dir.path().join("none")), Err(TrecError::File(_))));
}

#[test]
fn what_the_format_cannot_hold_is_refused_and_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.trec");
    let good = ranked("q", &[("a", 1.0)]);
    for bad in [
        ranked("q", &[("b", 1.0)]),
        ranked("", &[("b", 1.0)]),
        ranked("r", &[]),
        ranked("r", &[("b", 1.0), ("b", 0.0)]),
        ranked("r", &[("", 1.0)]),
    ] {
        let error = write_run(&path, "x", &[good.clone(), bad]).unwrap_err();
        assert!(matches!(error, TrecError::Unwritable { .. }), "{error}");
    }
    assert!(write_run(&path, "", &[good]).is_err());
    assert!(write_qrels(&path, &[judged("q", &[])]).is_err());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// Ids of any characters, white space of every kind and escapes among them.
fn id() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z0-9:]{1,6}", "[ \t\n%\u{a0}\u{2003}\u{1c}\u{85}a2é]{1,5}", any::<String>()]
        .prop_filter("ids are not empty", |id| !id.is_empty())
}

fn run() -> impl Strategy<Value = Vec<RankedQuestion>> {
    let nodes = prop::collection::btree_map(id(), prop_oneof![Just(0.5f32), any::<f32>()], 1..12);
    prop::collection::btree_map(id(), nodes, 1..5).prop_map(|questions| {
        let ranked = |(question, nodes): (String, std::collections::BTreeMap<String, f32>)| {
            let mut nodes: Vec<(String, f32)> = nodes.into_iter().collect();
            nodes.sort_by(|(_, a), (_, b)| crate::measures::falling(*a, *b));
            RankedQuestion { question, nodes }
        };
        questions.into_iter().map(ranked).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn runs_come_back_in_the_order_written(questions in run(), tag in id()) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m.trec");
        write_run(&path, &tag, &questions).unwrap();
        let read = read_run(&path).unwrap();
        prop_assert_eq!(&read.tag, &tag);
        prop_assert_eq!(read.questions.len(), questions.len());
        for (read, written) in read.questions.iter().zip(&questions) {
            prop_assert_eq!(&read.question, &written.question);
            prop_assert!(read.nodes.iter().map(|(node, _)| node).eq(written.nodes.iter().map(|(node, _)| node)));
            prop_assert!(read.nodes.array_windows().all(|[(_, a), (_, b)]| a > b));
        }
        // What was read has scores that fall strictly, so it is written as the same file again.
        let again = dir.path().join("again.trec");
        write_run(&again, &tag, &read.questions).unwrap();
        prop_assert_eq!(fs::read(&path).unwrap(), fs::read(&again).unwrap());
    }

    #[test]
    fn qrels_come_back_the_same(
        questions in prop::collection::btree_map(id(), prop::collection::btree_set(id(), 1..6), 1..5)
    ) {
        let written: Vec<JudgedQuestion> = questions
            .into_iter()
            .map(|(question, gold)| JudgedQuestion { question, gold: gold.into_iter().collect() })
            .collect();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("qrels.trec");
        write_qrels(&path, &written).unwrap();
        prop_assert_eq!(read_qrels(&path).unwrap(), written);
    }

    #[test]
    fn encoded_ids_are_one_field(id in id()) {
        let encoded = encode_id(&id);
        prop_assert_eq!(encoded.split_whitespace().collect::<Vec<_>>(), [&*encoded]);
        prop_assert_eq!(ids::decode_id(&encoded), Some(id));
    }
}
