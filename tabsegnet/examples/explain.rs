//! Where a node's score comes from: its features, its neighbours, and what the reranker adds.

use tabsegnet::{Question, RankingError, Session};

/// Prints three nodes with what their scores are made of.
pub fn main() -> Result<(), RankingError> {
    let session = Session::open("checkpoints/general")?;
    let report = session.open_document("tabsegnet/examples/report.json")?;

    // Explanations cost another pass over the document, so they have a call of their own. Three nodes are enough here.
    let question = Question::new("What was long-term deferred revenue on June 30, 2009?").top(3);
    let explained = report.explain(question)?;

    // How strongly this question lets each type of edge speak.
    for strength in &explained.ranking.edge_strengths {
        println!("{:32} {:+.2}", strength.edge_type, strength.strength);
    }
    for node in &explained.ranking.nodes {
        println!("\n{} {} = {:.2}", node.id, node.text, node.score);
        let Some(why) = &node.explanation else { continue };
        // An effect is the score less the score without that feature or edge: the greatest come first.
        for feature in why.features.iter().take(3) {
            println!("  {:40} {:+.2}", feature.feature, feature.effect);
        }
        for edge in why.edges.iter().take(3) {
            println!("  {} from {:23} {:+.2}", edge.edge_type, edge.node, edge.effect);
        }
    }
    // The scores of all nodes, in document order, as for shading a page.
    assert_eq!(explained.scores.len(), report.nodes().len());
    Ok(())
}
