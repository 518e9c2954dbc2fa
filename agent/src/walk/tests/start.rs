//! Where a walk begins.

use std::sync::Mutex;

use tabsegnet_llm::{Budget, ChatModel, ChatRequest, Limits, LlmError, LlmSettings, Piece, Reply, Scripted};

use super::*;

/// The prompts that a model gets, before it gives the next reply of a list.
struct Listening {
    replies: Scripted,
    prompts: Mutex<Vec<String>>,
}

impl Listening {
    fn new(replies: &[&str]) -> Self {
        Self { replies: Scripted::new(replies.iter().copied()), prompts: Mutex::default() }
    }
}

impl ChatModel for Listening {
    fn name(&self) -> &'static str {
        "listening"
    }

    fn chat(
        &self,
        request: &ChatRequest,
        budget: &mut Budget,
        on_piece: &mut dyn FnMut(Piece<'_>),
    ) -> Result<Reply, LlmError> {
        self.prompts.lock().unwrap().push(request.messages.last().unwrap().content.clone());
        self.replies.chat(request, budget, on_piece)
    }
}

fn found(graph: &Graph, settings: &WalkSettings, model: &Listening, most: usize) -> Result<Retrieved, RetrieveError> {
    let cells = CellGraph::new(graph, settings);
    let mut budget = Budget::new(Limits::default());
    retrieve(&cells, "What were sales?", most, (model, &LlmSettings::default()), &mut budget, &mut |_| {})
}

#[test]
fn a_model_reads_the_document_and_names_nodes() {
    let graph = sales();
    let reply = r#"{"nodes": ["t0:r1c1", "t9:r0c0", "t0:r1c1", "t0:r1h0 \"Net sales\"", "p0", "nonsense", ""]}"#;
    let model = Listening::new(&["no", reply]);
    let retrieved = found(&graph, &WalkSettings::default(), &model, 8).unwrap();
    assert_eq!((retrieved.nodes.join(" "), retrieved.unknown), ("t0:r1c1 t0:r1h0 p0".to_owned(), 3));
    assert_eq!(retrieved.windows, 1);
    let prompts = model.prompts.lock().unwrap();
    assert!(prompts[1].contains("This cannot be used: there is no JSON object"), "{prompts:?}");
    for node in graph.nodes() {
        assert!(prompts[0].contains(&format!("{} ", node.id)), "{} in {}", node.id, prompts[0]);
    }
    let two = Listening::new(&[reply]);
    assert_eq!(found(&graph, &WalkSettings::default(), &two, 2).unwrap().nodes.join(" "), "t0:r1c1 t0:r1h0");
    let never = Listening::new(&[r#"{"nodes": [1]}"#, r#"{"nodes": "p0"}"#]);
    let error = found(&graph, &WalkSettings::default(), &never, 8).unwrap_err();
    assert!(matches!(error.passing(), Ok(RetrieveError::Model(LlmError::Invalid { .. }))));
}

#[test]
fn a_long_document_is_read_in_windows_and_the_best_of_all_are_put_in_order() {
    let rows: Vec<Vec<String>> =
        (0..60).map(|row| vec![format!("branch {row}"), format!("{row}.5"), format!("{row}.25")]).collect();
    let mut table: Vec<Vec<&str>> = vec![vec!["", "2016", "2015"]];
    table.extend(rows.iter().map(|row| row.iter().map(String::as_str).collect()));
    let table: Vec<&[&str]> = table.iter().map(Vec::as_slice).collect();
    let graph = document(vec![source("Sales", &table)]);
    let settings = WalkSettings { prompt_tokens: 950, windows: 3, ..WalkSettings::default() };
    let replies = [r#"{"nodes": ["t0:r3c1"]}"#, r#"{"nodes": []}"#, r#"{"nodes": ["t0:r59c1", "t0:r58c2"]}"#];
    let model = Listening::new(&[&replies[..], &[r#"{"nodes": ["t0:r59c1"]}"#]].concat());
    let retrieved = found(&graph, &settings, &model, 4);
    let prompts = model.prompts.lock().unwrap();
    let retrieved = retrieved.unwrap_or_else(|error| panic!("{error}: {prompts:?}"));
    assert_eq!((retrieved.nodes.join(" "), retrieved.windows), ("t0:r59c1 t0:r3c1 t0:r58c2".to_owned(), 3));
    assert!(prompts[1].contains("Table t0 \"Sales\", continued\nt0:h0c0 \"\" | t0:h0c1 \"2016\""), "{}", prompts[1]);
    assert!(prompts[3].contains("t0:r3c1 \"2.5\"") && !prompts[3].contains("t0:r4c1"), "{}", prompts[3]);
    let whole = prompts.iter().take(3).cloned().collect::<String>();
    for node in graph.nodes() {
        assert!(whole.contains(&format!("{} ", node.id)), "{}", node.id);
    }
    let few = WalkSettings { windows: 2, ..settings };
    let error = found(&graph, &few, &Listening::new(&[]), 4).unwrap_err();
    assert!(error.to_string().contains("takes 3 prompts of 950 tokens, more than agent.windows = 2"), "{error}");
    assert!(error.passing().is_ok());
}

#[test]
fn a_walk_begins_where_the_settings_say() {
    let graph = sales();
    let ranking = ranking(&graph, "What were sales?", &["t1:r1c1", "t0:r1c1", "p0"]);
    let run = |start, replies: &[&str]| {
        let settings = WalkSettings { start, start_nodes: 4, ..WalkSettings::default() };
        let cells = CellGraph::new(&graph, &settings);
        let model = Listening::new(replies);
        let mut budget = Budget::new(Limits::default());
        let (llm, mut on_piece) = (LlmSettings::default(), |_: Piece<'_>| {});
        let mut chooser = ModelChooser::new(&model, &llm, &mut budget, &mut on_piece);
        let mut events = Vec::new();
        let answer = walk(&cells, &ranking, &mut chooser, &mut |event| events.push(event.clone()));
        let TraceEvent::Start { nodes, retrieved, note, .. } = events[0].clone() else { panic!("{events:?}") };
        (nodes.join(" "), retrieved, note, events, answer.is_ok())
    };
    let end = r#"{"thought": "", "actions": [{"action": "Abstain", "explanation": "no"}]}"#;
    let named = r#"{"nodes": ["t0:r2c1", "t0:r1c1", "t0:r3c1", "t0:r3c2", "t0:r9c9"]}"#;
    let (nodes, retrieved, note, _, _) = run(StartNodes::Ranker, &[end]);
    assert_eq!((nodes.as_str(), retrieved, note), ("t1:r1c1 t0:r1c1 p0", None, None));
    let (nodes, retrieved, _, events, _) = run(StartNodes::Llm, &[named, end]);
    assert_eq!((nodes.as_str(), retrieved.unwrap().unknown), ("t0:r2c1 t0:r1c1 t0:r3c1 t0:r3c2", 1));
    // A replay begins with the same nodes.
    let cells = CellGraph::new(&graph, &WalkSettings::default());
    let again = walk(&cells, &ranking, &mut Script::of_trace(&events), &mut |_| {}).unwrap();
    let TraceEvent::Start { nodes: replayed, .. } = &again.trace[0] else { panic!("{:?}", again.trace) };
    assert_eq!(replayed.join(" "), nodes);
    let (nodes, _, _, _, _) = run(StartNodes::Both, &[named, end]);
    assert_eq!(nodes, "t0:r2c1 t0:r1c1 t0:r3c1 t1:r1c1");
    // What cannot be used is said; what would fail at every question fails.
    for replies in [&["no", "no", end][..], &[r#"{"nodes": ["x"]}"#, end]] {
        let (nodes, _, note, _, ok) = run(StartNodes::Both, replies);
        assert!(ok && nodes == "t1:r1c1 t0:r1c1 p0", "{nodes}");
        assert!(note.unwrap().contains("begins with the ranker's nodes"));
    }
    let (nodes, _, _, events, ok) = run(StartNodes::Llm, &[]);
    assert!(!ok && nodes == "t1:r1c1 t0:r1c1 p0" && matches!(events[1], TraceEvent::End { .. }), "{events:?}");
}
