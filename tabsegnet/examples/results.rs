//! Rankings as JSON and back: what one program finds another can read.

use std::error::Error;

use tabsegnet::{Ranking, Session, table};

/// Prints a ranking as JSON and as a table.
pub fn main() -> Result<(), Box<dyn Error>> {
    let session = Session::open("checkpoints/general")?;
    let report = session.open_document("tabsegnet/examples/report.json")?;
    let ranking = report.rank("What was long-term deferred revenue on June 30, 2009?")?;

    let json = serde_json::to_string_pretty(&ranking)?;
    println!("{json}");
    // Every number comes back as it was.
    let read: Ranking = serde_json::from_str(&json)?;
    assert_eq!(read, ranking);

    // As lines for a terminal, with a star for the nodes that are known to be right.
    println!("{}", table::render(&read, &[read.nodes[0].id.as_str()], table::columns()));
    Ok(())
}
