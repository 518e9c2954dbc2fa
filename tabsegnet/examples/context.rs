//! A context for a language model: the best sentences, and tables cut down to the rows and columns that matter, each
//! with an id that an answer can cite.

use tabsegnet::{RankingError, Session};

/// Prints a context and where its best node stands.
pub fn main() -> Result<(), RankingError> {
    let session = Session::open("checkpoints/general")?;
    let report = session.open_document("tabsegnet/examples/report.json")?;
    let question = "What was long-term deferred revenue on June 30, 2009?";

    // As many of the best nodes as fit into about 300 tokens.
    let context = report.context(question, 300)?;
    println!("{}", context.text);
    println!("({} nodes, about {} tokens)", context.nodes, context.tokens);

    // A cited id leads back to its place.
    let best = &report.rank(question)?.nodes[0];
    println!("{} stands at {:?}", best.id, best.position);

    // A budget too small for the best node is an error that says how much it takes.
    if let Err(error) = report.context(question, 5) {
        println!("{error}");
    }
    Ok(())
}
