//! A document that is no file: HTML from a database, a crawler, another program.

use tabsegnet::{NodeKind, RankingError, ReadOptions, Session};

const PAGE: &str = "<h1>Annual report</h1>
    <p>Revenue rose in all regions. The tax rate was 21 %.</p>
    <table>
        <caption>Revenue by region, in millions</caption>
        <tr><th></th><th>2024</th><th>2023</th></tr>
        <tr><th>United States</th><td>1,203</td><td>1,150</td></tr>
        <tr><th>Europe</th><td>640</td><td>655</td></tr>
    </table>";

/// Prints the best cell with its headers.
pub fn main() -> Result<(), RankingError> {
    let session = Session::open("checkpoints/general")?;
    // The name is what its file would be called: it gives the document's id and says that this is HTML.
    let report = session.open_bytes("annual.html", PAGE, &ReadOptions::default())?;
    for warning in report.warnings() {
        eprintln!("warning: {warning}");
    }

    // The graph: a node for every sentence, caption, header and cell.
    let cells = report.nodes().iter().filter(|node| node.kind == NodeKind::Cell).count();
    println!("{}: {} nodes, {cells} of them cells", report.id(), report.nodes().len());

    let best = &report.rank("What was revenue in the United States in 2024?")?.nodes[0];
    // A cell comes with the headers that it stands under.
    println!("{} ({:?}, {:?})", best.text, best.row_headers, best.column_headers);
    assert_eq!(best.text, "1,203");
    Ok(())
}
