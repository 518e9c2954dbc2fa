//! A session as another program uses it.

use std::path::PathBuf;

use proptest::prelude::*;
use tabsegnet::ranking::{
    NodeEdge, NodeExplanation, NodeFeature, Position, RerankerExplanation, SegmentEffect, TypeStrength,
};
use tabsegnet::{Context, Explained, NodeKind, OpenDocument, Question, RankedNode, Ranking, Session, SessionOptions};

fn root(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(path)
}

fn owned<T: Send + Sync + Clone + 'static>() {}

#[test]
fn sessions_and_documents_are_owned_and_shared_by_threads() {
    owned::<Session>();
    owned::<OpenDocument>();
    owned::<Ranking>();
    owned::<Explained>();
    owned::<Context>();
}

const QUESTION: &str = "What was long-term deferred revenue on June 30, 2009?";

#[test]
fn an_explanation_is_of_the_ranking_and_a_kept_document_answers_the_same() {
    let cache = tempfile::tempdir().unwrap();
    let options = SessionOptions { cache: Some(cache.path().to_owned()), ..SessionOptions::default() };
    let session = Session::open_with(root("checkpoints/general"), &options).unwrap();
    let report = session.open_document(root("tabsegnet/examples/report.json")).unwrap();
    let ranking = report.rank(QUESTION).unwrap();
    assert_eq!(ranking.nodes.len(), 10);
    let explained = report.explain(Question::new(QUESTION)).unwrap();
    let order = |ranking: &Ranking| ranking.nodes.iter().map(|n| (n.id.clone(), n.score.to_bits())).collect::<Vec<_>>();
    assert_eq!(order(&explained.ranking), order(&ranking));
    assert!(explained.ranking.nodes.iter().all(|node| node.explanation.is_some()));
    let best = report.nodes().iter().position(|node| node.id == ranking.nodes[0].id).unwrap();
    assert_eq!(explained.scores[best], ranking.nodes[0].score);

    report.keep().unwrap();
    let kept = session.open_document(root("tabsegnet/examples/report.json")).unwrap();
    assert_eq!(kept.rank(QUESTION).unwrap(), ranking);
    assert_eq!(kept.context(QUESTION, 200).unwrap(), report.context(QUESTION, 200).unwrap());
    assert!(kept.rank("  ").unwrap_err().to_string().contains("blank"));
}

#[test]
fn nodes_say_where_they_stand_in_the_file_also_when_kept() {
    let cache = tempfile::tempdir().unwrap();
    let options = SessionOptions { cache: Some(cache.path().to_owned()), ..SessionOptions::default() };
    let session = Session::open_with(root("checkpoints/general"), &options).unwrap();
    let text = "# Fruit\n\nPears were short.\n\n| | sold |\n|---|---|\n| pears | 312 |\n";
    std::fs::write(cache.path().join("fruit.md"), text).unwrap();
    for _ in 0..2 {
        let fruit = session.open_document(cache.path().join("fruit.md")).unwrap();
        let ranking = fruit.rank("How many pears were sold?").unwrap();
        let at = |id: &str| ranking.nodes.iter().find(|node| node.id == id).unwrap().location.as_deref();
        assert_eq!([at("s0"), at("p0"), at("t0:r1c1")], [Some("line 1"), Some("line 3"), Some("line 7")]);
        fruit.keep().unwrap();
    }
}

#[test]
fn what_is_not_there_is_an_error_that_names_it() {
    let error = Session::open("no/such/checkpoint").err().unwrap().to_string();
    assert!(error.contains("no/such/checkpoint"), "{error}");
    let session = Session::open(root("checkpoints/general")).unwrap();
    let error = session.open_document("no/such/report.html").err().unwrap().to_string();
    assert!(error.contains("no/such/report.html"), "{error}");
    let options = SessionOptions { encoder: Some("no/such/encoder".into()), ..SessionOptions::default() };
    let error = Session::open_with(root("checkpoints/general"), &options).err().unwrap().to_string();
    assert!(error.contains("no/such/encoder"), "{error}");
}

fn number() -> impl Strategy<Value = f32> {
    any::<f32>().prop_filter("JSON has no such numbers", |value| value.is_finite())
}

fn position() -> impl Strategy<Value = Position> {
    prop_oneof![
        any::<u16>().prop_map(|n| Position::Heading { heading: n.into() }),
        any::<u16>().prop_map(|n| Position::Passage { passage: n.into() }),
        any::<u16>().prop_map(|n| Position::Table { table: n.into() }),
        any::<[u16; 5]>().prop_map(|n| {
            let [table, row, col, rowspan, colspan] = n.map(usize::from);
            Position::Cell { table, row, col, rowspan, colspan }
        }),
    ]
}

fn feature() -> impl Strategy<Value = NodeFeature> {
    (any::<String>(), number(), number()).prop_map(|(feature, value, effect)| NodeFeature { feature, value, effect })
}

fn explanation() -> impl Strategy<Value = NodeExplanation> {
    let features = || prop::collection::vec(feature(), 0..3);
    let reranker = (number(), number(), features()).prop_map(|(first_score, alone, features)| RerankerExplanation {
        first_score,
        alone,
        features,
    });
    let edge = (any::<String>(), any::<String>(), number(), number())
        .prop_map(|(node, edge_type, strength, effect)| NodeEdge { node, edge_type, strength, effect });
    let segment = (any::<String>(), number()).prop_map(|(segment, effect)| SegmentEffect { segment, effect });
    let parts = (
        prop::option::of(reranker),
        number(),
        prop::collection::vec(edge, 0..3),
        features(),
        prop::collection::vec(segment, 0..3),
    );
    parts.prop_map(|(reranker, alone, edges, features, segments)| NodeExplanation {
        reranker,
        alone,
        edges,
        features,
        segments,
    })
}

fn node() -> impl Strategy<Value = RankedNode> {
    let texts = (any::<String>(), any::<String>(), any::<Vec<String>>(), any::<[Option<String>; 5]>());
    (any::<u16>(), texts, 0..NodeKind::ALL.len(), position(), number(), prop::option::of(explanation())).prop_map(
        |(
            rank,
            (id, text, section, [row_headers, column_headers, caption, segment, location]),
            kind,
            position,
            score,
            explanation,
        )| {
            RankedNode {
                rank: rank.into(),
                id,
                kind: NodeKind::ALL[kind],
                text,
                section: section.into(),
                row_headers,
                column_headers,
                caption: caption.map(Into::into),
                position,
                location,
                duplicates: Vec::new(),
                segment,
                score,
                explanation,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    #[test]
    fn results_go_through_json_and_back(
        texts: [String; 3], read_as: Option<String>, count: u16, segments: Vec<String>, warnings: Vec<String>,
        nodes in prop::collection::vec(node(), 0..4),
        strengths in prop::collection::vec((any::<String>(), number()), 0..3), scores in prop::collection::vec(number(), 0..5),
    ) {
        let [question_id, question, document] = texts;
        let edge_strengths =
            strengths.into_iter().map(|(edge_type, strength)| TypeStrength { edge_type, strength }).collect();
        let nodes_in_document = count.into();
        let ranking =
            Ranking { question_id, question, read_as, document, nodes_in_document, warnings, segments, edge_strengths, nodes };
        let explained = Explained { ranking, scores };
        let json = serde_json::to_string(&explained).unwrap();
        prop_assert_eq!(serde_json::from_str::<Explained>(&json).unwrap(), explained);
    }
}
