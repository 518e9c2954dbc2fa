//! The models on data sets that they did not learn from, beside the one that they did.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use tabsegnet_sql::linking::Model;

use crate::linkers;
use crate::linking::{Sums, is, rank, recall_of_tables};
use crate::spider::{Databases, Gold, Joins, Question, of_beaver, of_bird};

/// Spider, BIRD and BEAVER in one table.
pub fn figures(data: &Path, part: &str, spider: &(Vec<Question>, Databases), model: &Model) -> Result<()> {
    println!(
        "Other data sets, by the same weights from Spider's training part. BIRD's and BEAVER's databases are there without \
         rows, so that no values are found in them. BEAVER says no columns of its statements: taken are those that its \
         annotators map phrases of the question to, and those that are joined by. Columns are counted of questions that \
         need any; an exact set is of those that are likelier needed than not:\n"
    );
    println!(
        "| | questions | databases | tables, columns of one, mean | columns: recall@5 | @10 | exact set | tables: recall@5 | \
         @10 | exact set | among the first ten |"
    );
    println!("|---|{}", "---:|".repeat(10));
    let plain = |question: &Question| question.question.clone();
    let with_evidence = |question: &Question| match &question.evidence {
        Some(evidence) => format!("{} {evidence}", question.question),
        None => question.question.clone(),
    };
    line(&format!("Spider ({part})"), spider, model, true, plain);
    line(&format!("Spider ({part}), without values"), spider, model, false, plain);
    let bird = of_bird(data, Joins::ALL)?;
    line("BIRD (dev)", &bird, model, true, plain);
    line("BIRD (dev), with its evidence", &bird, model, true, with_evidence);
    line("BEAVER dw (visible)", &of_beaver(data, Joins::ALL)?, model, true, plain);
    println!();
    Ok(())
}

fn line(
    name: &str,
    (questions, databases): &(Vec<Question>, Databases),
    model: &Model,
    with_values: bool,
    query: impl Fn(&Question) -> String,
) {
    let linkers = linkers(databases, model, with_values);
    let (mut columns, mut tables) = (Sums::default(), Sums::default());
    for question in questions {
        let Some(linker) = databases.names.binary_search(&question.db).ok().and_then(|at| linkers.get(at)) else {
            continue;
        };
        let gold = Gold::of(question, linker.graph());
        let linked = linker.link(&query(question));
        let order: Vec<(usize, f32)> = linked.columns.iter().map(|c| (c.column, c.probability)).collect();
        rank(&mut columns, &order, &gold.columns);
        if !gold.columns.is_empty() {
            let likely = order.iter().filter(|(_, probability)| *probability >= 0.5).map(|(column, _)| *column);
            columns.add("exact", is(likely.collect::<BTreeSet<_>>() == gold.columns));
        }
        if !gold.tables.is_empty() {
            recall_of_tables(&mut tables, linked.tables.iter().map(|table| table.table), &gold.tables);
            let sets = linked.sets.iter().map(|set| set.tree.tables.iter().copied().collect::<BTreeSet<_>>());
            let sets: Vec<BTreeSet<usize>> = sets.collect();
            tables.add("exact", is(sets.first() == Some(&gold.tables)));
            tables.add("in ten", is(sets.contains(&gold.tables)));
        }
    }
    let count = databases.graphs.len();
    let mean = |of: usize| of as f64 / count.max(1) as f64;
    let cells: Vec<String> = ["recall@5", "recall@10", "exact"].iter().map(|of| cell(&columns, of)).collect();
    let more: Vec<String> = ["recall@5", "recall@10", "exact", "in ten"].iter().map(|of| cell(&tables, of)).collect();
    println!(
        "| {name} | {} | {count} | {:.1}, {:.0} | {} | {} |",
        questions.len(),
        mean(databases.graphs.iter().map(|graph| graph.tables().len()).sum()),
        mean(databases.graphs.iter().map(|graph| graph.columns().len()).sum()),
        cells.join(" | "),
        more.join(" | ")
    );
}

fn cell(sums: &Sums, name: &str) -> String {
    format!("{:.3}", sums.mean(name))
}
