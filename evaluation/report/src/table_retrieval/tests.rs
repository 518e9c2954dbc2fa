use proptest::prelude::*;

use super::*;
use crate::trec::{read_qrels, read_run, write_qrels, write_run};

fn gold(question: &str, gold: &[&str], group: &str) -> TableGold {
    let gold = gold.iter().map(|id| (*id).to_owned()).collect();
    TableGold { question: question.into(), gold, group: group.into() }
}

fn ranking(question: &str, ranked: &[&str]) -> TableRanking {
    TableRanking { question: question.into(), ranked: ranked.iter().map(|id| (*id).to_owned()).collect() }
}

fn method(name: &str, rankings: Vec<TableRanking>) -> TableMethod {
    TableMethod { name: name.into(), rankings }
}

fn few() -> Resampling {
    Resampling { resamples: 50, rounds: 199, seed: 1 }
}

/// a and b at ranks 1 and 12 of the first question; c at rank 2 of the second; nothing found for the third.
fn worked_out() -> (Vec<TableGold>, TableMethod) {
    let questions = vec![gold("q1", &["a", "b", "b"], "s1"), gold("q2", &["c"], "s1"), gold("q3", &["d", "e"], "s2")];
    let long: Vec<String> = (0..10).map(|number| format!("x{number}")).collect();
    let mut first = ranking("q1", &["a"]);
    first.ranked.extend(long);
    // It comes again, which takes no rank.
    first.ranked.extend(["a".to_owned(), "b".to_owned()]);
    let method = method("m", vec![ranking("q3", &[]), first, ranking("q2", &["a", "c", "c"])]);
    (questions, method)
}

#[test]
fn measures_worked_out_by_hand() {
    let (questions, method) = worked_out();
    let compared = compare_tables(&questions, &[method], None, &few()).unwrap();
    assert_eq!((compared.questions, compared.groups), (3, 2));
    let mean = |measure| compared.estimate("m", measure).unwrap().mean;
    let close = |measure, value: f64| assert!((mean(measure) - value).abs() < 1e-12, "{measure:?} {}", mean(measure));
    close(TableMeasure::Acc(1), 0.0);
    close(TableMeasure::Acc(10), 1.0 / 3.0);
    close(TableMeasure::Acc(20), 2.0 / 3.0);
    close(TableMeasure::Acc(50), 2.0 / 3.0);
    close(TableMeasure::Recall(1), 0.5 / 3.0);
    close(TableMeasure::Recall(10), 1.5 / 3.0);
    close(TableMeasure::Recall(20), 2.0 / 3.0);
    close(TableMeasure::Mrr, (1.0 + 0.5) / 3.0);
    assert_eq!(compared.estimate("m", TableMeasure::Acc(7)), None);
    assert!(compared.differences.is_empty());
}

#[test]
fn groups_are_drawn_together() {
    // Two groups, one all right, one all wrong, of different sizes: a resample has mean 0, 1 or the whole's.
    let questions: Vec<TableGold> =
        (0..8).map(|number| gold(&format!("q{number}"), &["t"], if number < 6 { "right" } else { "wrong" })).collect();
    let rankings = (0..8).map(|number| ranking(&format!("q{number}"), if number < 6 { &["t"] } else { &["u"] }));
    let compared = compare_tables(&questions, &[method("m", rankings.collect())], None, &Resampling::default());
    let estimate = compared.unwrap().estimate("m", TableMeasure::Acc(1)).unwrap();
    assert_eq!((estimate.low, estimate.mean, estimate.high), (0.0, 0.75, 1.0));
}

#[test]
fn methods_are_tested_against_the_named_one() {
    let questions: Vec<TableGold> =
        (0..40).map(|number| gold(&format!("q{number}"), &["t"], &format!("s{number}"))).collect();
    let of = |name: &str, right: usize| {
        let found = |number| ranking(&format!("q{number}"), if number < right { &["t"] } else { &["u"] });
        method(name, (0..40).map(found).collect())
    };
    let methods = [of("half", 20), of("base", 10), of("most", 39), of("same", 10)];
    let resampling = Resampling { resamples: 200, rounds: 1999, seed: 0 };
    let compared = compare_tables(&questions, &methods, Some("base"), &resampling).unwrap();
    assert_eq!(compared.differences.len(), 3 * TableMeasure::all().count());
    let acc: Vec<&TableDifference> =
        compared.differences.iter().filter(|difference| difference.measure == TableMeasure::Acc(10)).collect();
    let names: Vec<&str> = acc.iter().map(|difference| difference.method.as_str()).collect();
    assert_eq!(names, ["half", "most", "same"]);
    // The smallest p counts three times, the next twice, the largest once.
    assert_eq!(acc[1].p, 1.0 / 2000.0);
    assert_eq!(acc[1].p_holm, 3.0 / 2000.0);
    assert!((acc[0].p_holm - (2.0 * acc[0].p).max(acc[1].p_holm)).abs() < 1e-15 && acc[0].p < 0.01);
    assert_eq!((acc[2].p, acc[2].p_holm, acc[2].difference.mean), (1.0, 1.0, 0.0));
    assert!((acc[0].difference.mean - 0.25).abs() < 1e-12);

    let text = compared.markdown();
    assert!(text.contains("**97.5**") && text.contains("+72.5 ["), "{text}");
    assert!(text.contains("Acc@50 − that of base") && text.contains("40 questions on 40 source tables"), "{text}");
    let page = to_html(&BTreeMap::from([("multi <1>".to_owned(), compared.clone())]));
    assert!(page.contains("multi &lt;1&gt;</h2>") && page.contains("<strong>97.5</strong>"), "{page}");
    assert!(page.matches("<svg").count() == 2 && !page.contains("<script"), "{page}");
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let alone = one.install(|| compare_tables(&questions, &methods, Some("base"), &resampling).unwrap());
    assert_eq!(alone, compared);
}

#[test]
fn what_cannot_be_compared_is_named() {
    let (questions, method) = worked_out();
    let message = |questions: &[TableGold], methods: &[TableMethod], against: Option<&str>| {
        compare_tables(questions, methods, against, &few()).unwrap_err().to_string()
    };
    let missing = TableMethod { rankings: method.rankings[1..].to_vec(), ..method.clone() };
    assert_eq!(
        message(&questions, &[missing], None),
        "m: question \"q3\" has no ranking; give an empty one where nothing was found"
    );
    assert!(message(&questions[..2], std::slice::from_ref(&method), None).contains("\"q3\", which is none"));
    let mut twice = method.clone();
    twice.rankings.push(ranking("q2", &[]));
    assert!(message(&questions, &[twice], None).starts_with("m: question \"q2\" comes twice"));
    let doubled = [questions.clone(), questions.clone()].concat();
    assert!(message(&doubled, std::slice::from_ref(&method), None).starts_with("the gold: question \"q1\""));
    assert!(message(&questions, &[method.clone(), method.clone()], None).contains("two methods are called \"m\""));
    assert!(
        message(&questions, std::slice::from_ref(&method), Some("n"))
            .contains("\"n\" to test against; there are \"m\"")
    );
    let mut bare = questions.clone();
    bare[0].gold.clear();
    assert!(
        message(&bare, std::slice::from_ref(&method), None).starts_with("question \"q1\": a question without gold")
    );
    let nothing = TableMethod { rankings: Vec::new(), ..method };
    assert_eq!(message(&[], &[nothing], None), "there are no questions to take a mean over");
}

#[test]
fn rankings_and_gold_go_through_trec_files() {
    let dir = tempfile::tempdir().unwrap();
    let ranked = [ranking("q 1", &["wtq/204-590", "b c", "%"]), ranking("q2", &["b"])];
    let runs: Vec<RankedQuestion> = ranked.iter().map(RankedQuestion::from).collect();
    let path = dir.path().join("run.trec");
    write_run(&path, "GTR", &runs).unwrap();
    let read: Vec<TableRanking> = read_run(&path).unwrap().questions.into_iter().map(TableRanking::from).collect();
    assert_eq!(read, ranked);
    let judged = JudgedQuestion::from(&gold("q2", &["b", "c"], "s"));
    let path = dir.path().join("qrels.trec");
    write_qrels(&path, [&judged]).unwrap();
    assert_eq!(read_qrels(&path).unwrap(), [judged]);
}

proptest! {
    #[test]
    fn acc_is_one_exactly_where_recall_is_and_both_never_fall_in_k(
        ranked in prop::collection::vec(0..70u32, 0..70),
        gold in prop::collection::vec(0..70u32, 1..8),
    ) {
        let ranks = GoldRanks::in_ranking(ranked, gold).unwrap();
        let mut before = [0.0; 2];
        for k in 1..=60 {
            let [acc, recall] = [TableMeasure::Acc(k).of(&ranks), TableMeasure::Recall(k).of(&ranks)];
            prop_assert_eq!(acc, f64::from(u8::from(recall == 1.0)));
            prop_assert!(acc <= recall && acc >= before[0] && recall >= before[1]);
            before = [acc, recall];
        }
        prop_assert!(TableMeasure::Acc(1).of(&ranks) <= TableMeasure::Mrr.of(&ranks));
    }
}
