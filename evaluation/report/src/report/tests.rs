use std::fs;

use proptest::prelude::*;

use super::*;

mod rendering;

const FEW: Resampling = Resampling { resamples: 200, rounds: 200, seed: 3 };

fn question(number: usize, gold: usize, nodes: usize, evidence: Evidence) -> QuestionInfo {
    let (id, document) = (format!("q{number}"), format!("d{}", number / 2));
    QuestionInfo { id, dataset: String::new(), document, evidence, gold, nodes }
}

fn method(name: &str, rankings: Vec<GoldRanks>) -> MethodRun {
    let description = format!("what {name} is");
    MethodRun { name: name.to_owned(), description, rankings, seconds_per_question: Some(0.002) }
}

fn ranks(ranks: &[u32], gold: usize) -> GoldRanks {
    GoldRanks::new(ranks.to_vec(), gold).unwrap()
}

fn input(questions: Vec<QuestionInfo>, methods: Vec<MethodRun>) -> ReportInput {
    ReportInput {
        title: "A title".to_owned(),
        created: "2026-01-01".to_owned(),
        dataset: "set".to_owned(),
        part: "dev".to_owned(),
        questions_left_out: vec![("no gold".to_owned(), 1)],
        settings: vec![("seed".to_owned(), "3".to_owned())],
        questions,
        methods,
        notes: vec!["A note.".to_owned()],
        resampling: FEW,
    }
}

fn small() -> ReportInput {
    let questions = vec![
        question(0, 1, 40, Evidence::Table),
        question(1, 2, 40, Evidence::Text),
        question(2, 4, 90, Evidence::Both),
    ];
    let good = vec![ranks(&[1], 1), ranks(&[1, 2], 2), ranks(&[1, 2, 12, 30], 4)];
    let bad = vec![ranks(&[2], 1), ranks(&[20], 2), ranks(&[11, 12, 13, 14], 4)];
    input(questions, vec![method("good", good), method("bad", bad)])
}

#[test]
fn figures_are_means_over_questions() {
    let report = Report::build(small()).unwrap();
    let dataset = &report.dataset;
    assert_eq!((dataset.documents, dataset.questions, dataset.max_nodes_per_document), (2, 3, 90));
    assert_eq!((dataset.mean_nodes_per_document, dataset.gold_per_question), (65.0, 7.0 / 3.0));
    let [good, bad] = report.methods.as_slice() else { panic!("two methods") };
    let recall = good.estimate(Measure::Recall10).unwrap();
    assert!((recall.mean - 2.5 / 3.0).abs() < 1e-12 && recall.high <= 1.0 && recall.low >= 0.5);
    assert_eq!(good.estimate(Measure::Mrr).unwrap().mean, 1.0);
    assert_eq!(good.recall_curve.len(), crate::CURVE_LENGTH);
    assert_eq!(good.recall_curve.last(), Some(&1.0));
    assert!((bad.recall_curve[19] - 2.5 / 3.0).abs() < 1e-12);
    let measures: Vec<Measure> = good.measures.iter().map(|m| m.measure).collect();
    assert_eq!(measures, Measure::ALL);
}

#[test]
fn every_pair_is_compared_and_every_slice_measured() {
    let report = Report::build(small()).unwrap();
    let [recall, map] = report.comparisons.as_slice() else { panic!("one pair, two measures") };
    assert_eq!((recall.method_a.as_str(), recall.method_b.as_str()), ("good", "bad"));
    assert_eq!([recall.measure, map.measure], Measure::MAIN);
    let [good, bad] = report.methods.as_slice() else { panic!("two methods") };
    let means = [good, bad].map(|m| m.estimate(Measure::Recall10).unwrap().mean);
    assert!((recall.difference.mean - (means[0] - means[1])).abs() < 1e-12);
    assert!(recall.p > 0.0 && recall.p <= recall.p_adjusted && recall.p_adjusted <= 1.0);

    let slices: Vec<(&str, &str, usize)> =
        report.slices.iter().map(|s| (s.group.as_str(), s.name.as_str(), s.questions)).collect();
    assert_eq!(
        slices,
        [
            ("evidence", "tables only", 1),
            ("evidence", "text only", 1),
            ("evidence", "tables and text", 1),
            ("gold nodes", "1", 1),
            ("gold nodes", "2", 1),
            ("gold nodes", "3–4", 1),
            ("document size", "40 nodes", 2),
            ("document size", "90 nodes", 1),
        ]
    );
    let both = &report.slices[2].methods[0];
    let expected = Estimate { mean: 0.5, low: 0.5, high: 0.5 };
    assert_eq!((both.name.as_str(), both.recall_10), ("good", expected));
}

#[test]
fn rankings_of_other_questions_are_refused() {
    let refused = |change: &dyn Fn(&mut ReportInput)| {
        let mut input = small();
        change(&mut input);
        Report::build(input).unwrap_err().to_string()
    };
    assert_eq!(refused(&|i| i.questions.clear()), "a report needs at least one question");
    assert_eq!(refused(&|i| i.methods.clear()), "a report needs at least one method");
    assert_eq!(
        refused(&|i| i.methods[1].name = "good".to_owned()),
        "two methods are called \"good\": give each a name of its own"
    );
    assert_eq!(
        refused(&|i| i.questions[1].id = "q0".to_owned()),
        "two questions are called \"q0\": give each a name of its own"
    );
    assert_eq!(
        refused(&|i| i.methods[0].rankings.truncate(2)),
        "method \"good\" has 2 rankings for 3 questions: one a question, in their order"
    );
    assert_eq!(
        refused(&|i| i.methods[0].rankings.swap(0, 1)),
        "method \"good\", question \"q0\": the ranking has 2 gold nodes, the question 1 gold nodes: \
         are the rankings in the order of the questions?"
    );
    assert_eq!(
        refused(&|i| i.questions[2].nodes = 29),
        "method \"good\", question \"q2\": the ranking has a gold node at rank 30, the question 29 \
         nodes: are the rankings in the order of the questions?"
    );
    assert_eq!(
        refused(&|i| i.methods[1].seconds_per_question = Some(f64::NAN)),
        "method \"bad\": NaN seconds per question is no time, expected a finite number >= 0"
    );
}

#[test]
fn files_are_written_and_the_json_is_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let report = Report::build(small()).unwrap();
    report.write(dir.path()).unwrap();
    let path = dir.path().join("report.json");
    assert_eq!(Report::read(&path).unwrap(), report);
    assert_eq!(fs::read_to_string(dir.path().join("report.md")).unwrap(), report.to_markdown());
    assert_eq!(fs::read_to_string(dir.path().join("report.html")).unwrap(), report.to_html());
    // The first keys, so that a change of their order is seen.
    assert!(report.to_json().starts_with("{\n  \"format\": 1,\n  \"title\": \"A title\",\n  \"created\""));
}

#[test]
fn what_is_no_report_is_refused_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report.json");
    fs::write(&path, "{\"format\": 1,\n \"title\": 7}").unwrap();
    let error = Report::read(&path).unwrap_err().to_string();
    assert!(error.contains("report.json: this is no report") && error.contains("line 2 column 11"), "{error}");
    let mut report = Report::build(small()).unwrap();
    report.format = 9;
    fs::write(&path, report.to_json()).unwrap();
    let error = Report::read(&path).unwrap_err().to_string();
    assert!(error.ends_with("field format: found 9, this version reads 1"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn reports_come_back_the_same_from_json(
        questions in prop::collection::vec((1usize..7, 0usize..60, (0u32..40, 0u32..40)), 1..20)
    ) {
        let infos = questions.iter().enumerate().map(|(number, &(gold, more, ..))| {
            question(number, gold, 50 + more, Evidence::ALL[number % 3])
        });
        let run = |offset: fn((u32, u32)) -> u32| {
            questions
                .iter()
                .map(|q| GoldRanks::new((1 + offset(q.2)..).take(q.0).collect(), q.0).unwrap())
                .collect()
        };
        let methods =
            vec![method("a", run(|(a, _)| a)), method("b", run(|(_, b)| b)), method("c", run(|_| 0))];
        let report = Report::build(input(infos.collect(), methods)).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Report>(&report.to_json()).unwrap(), &report);
        for slice in &report.slices {
            prop_assert!(slice.questions >= 1 && slice.methods.len() == 3);
        }
        rendering::well_formed(&report.to_html(), "id");
    }
}
