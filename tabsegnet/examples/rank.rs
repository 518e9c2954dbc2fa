//! The nodes of a report that a question needs most.

use tabsegnet::{RankingError, Session};

/// Prints the ten best nodes.
pub fn main() -> Result<(), RankingError> {
    let session = Session::open("checkpoints/general")?;
    let report = session.open_document("tabsegnet/examples/report.json")?;
    let ranking = report.rank("What was long-term deferred revenue on June 30, 2009?")?;
    for node in &ranking.nodes {
        println!("{:>2}. {:8} {:.2}  {}", node.rank, node.id, node.score, node.text);
    }
    Ok(())
}
