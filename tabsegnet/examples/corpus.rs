//! A corpus of tables: `index` made it, here it is made in place; the right table, then the right cell.

use tabsegnet::corpus::index::{IndexConfig, Writer};
use tabsegnet::encoder::{EncoderConfig, load};
use tabsegnet::{Corpus, Question, RankingError, Session};

/// Makes a corpus of a file, and prints the best table for a question with its best cells.
pub fn main() -> Result<(), RankingError> {
    let directory = std::env::temp_dir().join(format!("tabsegnet-example-{}", std::process::id()));
    let config = EncoderConfig::default();
    let encoder = load(&config)?;

    // As `index --output DIR tabsegnet/examples` does. What a file changes counts when `commit` returns, or not at all.
    let mut writer = Writer::open(&directory, encoder.as_ref(), &config, &IndexConfig::default())?;
    let taken = writer.add_file("tabsegnet/examples/report.json".as_ref(), &mut |_| ())?;
    println!("{} tables, problems: {:?}", taken.tables, taken.problems);
    writer.commit(&mut |_| ())?;

    let corpus = Corpus::open(&directory)?;
    let mut ranking = corpus.search(Question::new("What was long-term deferred revenue in 2009?").top(3))?;
    for table in &ranking.tables {
        println!("{}. {} {:?}", table.rank, table.id, table.column_headers);
    }

    // On from the tables to their cells, with a ranker of nodes.
    let session = Session::open("checkpoints/general")?;
    corpus.rank_nodes(&session, &mut ranking, 3)?;
    for found in &ranking.nodes {
        println!("{} {} {}", found.table, found.node.id, found.node.text);
    }
    assert_eq!(ranking.nodes.len(), 3);
    std::fs::remove_dir_all(&directory).ok();
    Ok(())
}
