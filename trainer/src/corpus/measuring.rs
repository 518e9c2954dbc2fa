//! Measuring ways to rank the tables of corpora.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use rayon::prelude::*;
use tabsegnet::corpus::open_retriever;
use tabsegnet_corpus::{Candidates, Fusion, GtrRetriever, Hit, LinkRank, Query, Rerank, Retriever};
use tabsegnet_datasets::tables::TableQuestion;
use tabsegnet_evaluation::table_retrieval::to_html;
use tabsegnet_evaluation::trec::{JudgedQuestion, RankedQuestion, write_qrels, write_run};
use tabsegnet_evaluation::{Resampling, TableGold, TableMethod, TableRanking, compare_tables};
use tabsegnet_store::{eprintln, write_bytes_atomic};

use super::Part;
use crate::config::Config;
use crate::progress::Progress;

/// Tables of a ranking that are measured.
const DEPTH: usize = 50;

pub(super) fn measure(config: &Config, parts: &[Part], rerankers: &[PathBuf], output: &Path) -> Result<String> {
    let trained: Vec<(String, Rerank)> = rerankers
        .iter()
        .map(|directory| {
            let name = if rerankers.len() == 1 { "rerank".to_owned() } else { directory.display().to_string() };
            Ok((name, Rerank::read(directory)?))
        })
        .collect::<Result<_>>()?;
    if let Some(part) = parts.first() {
        for (name, notice) in trained.iter().filter_map(|(name, rerank)| Some((name, rerank.notice(&part.corpus)?))) {
            eprintln!("warning: {name}: {notice}");
        }
    }
    let resampling =
        Resampling { resamples: config.evaluation.resamples, rounds: config.evaluation.rounds, seed: config.task.seed };
    let mut text = String::new();
    let mut json = BTreeMap::new();
    for part in parts.iter().filter(|part| !part.dev.is_empty()) {
        let untrained = ["bm25", "bm25-schema", "dense", "rrf"].map(|name| open_retriever(&part.corpus, name));
        let untrained: Vec<Box<dyn Retriever>> = untrained.into_iter().collect::<Result<_, _>>()?;
        let gtr = GtrRetriever::new(&part.corpus, "gtr", &config.corpus.gtr)?;
        let fusions: Vec<Fusion> =
            trained.iter().map(|(name, rerank)| rerank.fusion(&format!("fusion of {name}"))).collect();
        let walks: Vec<LinkRank> =
            trained.iter().map(|(name, rerank)| rerank.links(&format!("links of {name}"))).collect();
        let mut methods: Vec<(String, &dyn Retriever)> = Vec::new();
        methods.extend(untrained.iter().map(|method| (method.name(), method.as_ref())));
        methods.push((gtr.name(), &gtr));
        for ((fusion, walk), (name, rerank)) in fusions.iter().zip(&walks).zip(&trained) {
            methods.push((fusion.name(), fusion));
            methods.push((walk.name(), walk));
            methods.push((name.clone(), rerank));
        }
        let queries: Vec<Query> =
            part.dev.par_iter().map(|question| part.corpus.query(&question.question)).collect::<Result<_, _>>()?;
        let mut progress = Progress::new(&format!("measures {}", part.name), methods.len());
        let mut ranked: Vec<TableMethod> = Vec::new();
        for (name, method) in &methods {
            let found =
                method.retrieve_all(&part.corpus, &queries, DEPTH).with_context(|| format!("{}: {name}", part.name))?;
            let ranking = |(question, hits): (&TableQuestion, Vec<Hit>)| {
                let ranked = hits.iter().map(|hit| part.corpus.id(hit.table).to_owned()).collect();
                TableRanking { question: question.id.clone(), ranked }
            };
            let rankings: Vec<TableRanking> = part.dev.iter().zip(found).map(ranking).collect();
            // A run has no line for a question without a table.
            let found = rankings.iter().filter(|ranking| !ranking.ranked.is_empty());
            let run: Vec<RankedQuestion> = found.map(RankedQuestion::from).collect();
            let file = output.join("runs").join(format!("{}.{}.trec", part.name, name.replace(['/', ' '], "-")));
            write_run(&file, &name.replace(' ', "-"), &run)?;
            ranked.push(TableMethod { name: name.clone(), rankings });
            progress.set(ranked.len(), methods.len(), "methods");
        }
        progress.finish(&format!("{} questions", part.dev.len()));
        let gold: Vec<TableGold> = part
            .dev
            .iter()
            .map(|question| TableGold {
                question: question.id.clone(),
                gold: question.tables.clone(),
                group: match question.source_table.is_empty() {
                    true => question.tables.first().cloned().unwrap_or_default(),
                    false => question.source_table.clone(),
                },
            })
            .collect();
        let judged: Vec<JudgedQuestion> = gold.iter().map(JudgedQuestion::from).collect();
        write_qrels(&output.join("qrels").join(format!("{}.trec", part.name)), &judged)?;
        let against = trained.first().map(|(name, _)| name.as_str());
        let comparison = compare_tables(&gold, &ranked, against, &resampling)?;
        let _ = writeln!(
            text,
            "## {}\n\n{} tables, {} questions of {} source tables; in % of the questions.\n",
            part.name,
            part.corpus.len(),
            part.dev.len(),
            comparison.groups
        );
        let _ = writeln!(text, "{}", comparison.markdown());
        let _ = writeln!(text, "{}\n", survival(&gtr, part, &queries, trained.first().map(|(_, rerank)| rerank))?);
        json.insert(part.name.clone(), comparison);
    }
    let write = |name: &str, bytes: &[u8]| write_bytes_atomic(&output.join(name), bytes);
    write("corpus.md", text.as_bytes())?;
    write("corpus.json", &serde_json::to_vec_pretty(&json)?)?;
    write("corpus.html", to_html(&json).as_bytes())?;
    Ok(format!("{text}report: {0}.md, drawn: {0}.html", output.join("corpus").display()))
}

/// The share of the questions all of whose gold is left by a stage, and how many tables are left.
fn survival(gtr: &GtrRetriever, part: &Part, queries: &[Query], rerank: Option<&Rerank>) -> Result<String> {
    let kept = |left: &dyn Fn(&Query) -> Result<Vec<String>>| -> Result<(f64, f64)> {
        let (mut whole, mut tables) = (0, 0);
        for (question, query) in part.dev.iter().zip(queries) {
            let left = left(query)?;
            tables += left.len();
            let left: HashSet<String> = left.into_iter().collect();
            whole += usize::from(question.tables.iter().all(|id| left.contains(id)));
        }
        let questions = part.dev.len().max(1) as f64;
        Ok((100.0 * f64::from(whole as u32) / questions, tables as f64 / questions))
    };
    let (whole, tables) =
        kept(&|query| Ok(gtr.coarse(query)?.into_iter().map(|table| part.corpus.id(table).to_owned()).collect()))?;
    let mut text =
        format!("GTR's coarse stage keeps all gold of {whole:.1} % of the questions, in {tables:.0} tables.");
    if let Some(rerank) = rerank {
        let (whole, tables) = kept(&|query| {
            let Candidates { hits, .. } = rerank.candidates(&part.corpus, query)?;
            Ok(hits.iter().map(|hit| part.corpus.id(hit.table).to_owned()).collect())
        })?;
        let _ =
            write!(text, " The reranker's candidates hold all gold of {whole:.1} %, {tables:.0} tables a question.");
    }
    Ok(text)
}
