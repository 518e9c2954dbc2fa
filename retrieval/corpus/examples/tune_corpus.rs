//! Makes a corpus of files of tables, and measures ways to rank on files of questions.
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rayon::prelude::*;
use tabsegnet_corpus::*;
use tabsegnet_datasets::tables::{read_questions, read_tables};
use tabsegnet_encoder::{EncoderConfig, EncoderKind, load};
use tabsegnet_ranker::boosting::bins::Bins;
use tabsegnet_ranker::boosting::training::{BoostingConfig, Lists, grow};

fn measure(name: &str, rankings: &[Vec<String>], gold: &[Vec<String>]) {
    let n = gold.len() as f64;
    let mut line = format!("{name:24}");
    for k in [1, 10, 50] {
        let (mut acc, mut recall) = (0.0, 0.0);
        for (ranked, gold) in rankings.iter().zip(gold) {
            let found = gold.iter().filter(|id| ranked.iter().take(k).any(|r| r == *id)).count();
            acc += f64::from(found == gold.len());
            recall += found as f64 / gold.len() as f64;
        }
        line += &format!("  Acc@{k} {:.1} R@{k} {:.1}", 100.0 * acc / n, 100.0 * recall / n);
    }
    println!("{line}");
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (mut tables, mut questions, mut train, mut limit, mut dir, mut bert, mut model, mut out) =
        (vec![], vec![], vec![], 500, String::new(), String::new(), String::new(), String::new());
    let mut it = args.iter().skip(1);
    while let Some(a) = it.next() {
        let v = it.next().cloned().unwrap_or_default();
        match a.as_str() {
            "--tables" => tables.push(PathBuf::from(v)),
            "--questions" => questions.push(PathBuf::from(v)),
            "--train" => train.push(PathBuf::from(v)),
            "--limit" => limit = v.parse().unwrap(),
            "--dir" => dir = v,
            "--bert" => bert = v,
            "--model" => model = v,
            "--out" => out = v,
            _ => panic!("{a}"),
        }
    }
    let config = match bert.is_empty() {
        true => EncoderConfig::default(),
        false => EncoderConfig { kind: EncoderKind::Bert, model: bert, precision: tabsegnet_encoder::Precision::Int8, ..Default::default() },
    };
    let encoder = load(&config).unwrap();
    let dir = Path::new(&dir);
    if !tables.is_empty() {
        let start = Instant::now();
        let mut writer = Writer::open(dir, encoder.as_ref(), &config, &IndexConfig::default()).unwrap();
        for file in &tables {
            writer.begin(&file.display().to_string(), "");
            for table in read_tables(file).unwrap() {
                if let Err(first) = writer.add(table.unwrap(), &mut |_| ()).unwrap() {
                    println!("duplicate of {first}");
                }
            }
        }
        println!("{:?} in {:?}", writer.commit(&mut |_| ()).unwrap(), start.elapsed());
    }
    let start = Instant::now();
    let corpus = Corpus::open_with(dir, encoder.into()).unwrap();
    println!("open {:?}, {} tables", start.elapsed(), corpus.len());
    let read = |files: &[PathBuf], limit: usize| -> Vec<_> {
        files
            .iter()
            .flat_map(|file| {
                let all: Vec<_> = read_questions(file).unwrap().map(Result::unwrap).filter(|q| !q.tables.is_empty()).collect();
                let step = all.len().div_ceil(limit).max(1);
                all.into_iter().step_by(step)
            })
            .collect()
    };
    let test = read(&questions, limit);
    let gold: Vec<Vec<String>> = test.iter().map(|q| q.tables.clone()).collect();
    let run = |retriever: &dyn Retriever| {
        let mut times = Vec::new();
        let rankings: Vec<Vec<String>> = test
            .iter()
            .map(|q| {
                let start = Instant::now();
                let query = corpus.query(&q.question).unwrap();
                let hits = retriever.retrieve(&corpus, &query, 50).unwrap();
                times.push(start.elapsed());
                hits.iter().map(|hit| corpus.id(hit.table).to_owned()).collect()
            })
            .collect();
        times.sort();
        measure(&retriever.name(), &rankings, &gold);
        println!("    p50 {:?}", times.get(times.len() / 2));
    };
    let any = Weights { any: 1.0, cells: 0.2, first_column: 0.2, ..Weights::ZERO };
    let weights = Weights::default();
    if train.is_empty() || model.is_empty() {
        run(&Fusion::new("schema", Weights::SCHEMA));
        run(&Fusion::new("fields", Weights::FIELDS));
        run(&Fusion::new("any", any));
        run(&Fusion::new("dense", Weights::DENSE));
        run(&Fusion::new("fusion", weights));
    }
    let n = test.len() as f64;
    let all: Vec<Candidates> = test.par_iter().map(|q| Candidates::new(&corpus, &corpus.query(&q.question).unwrap(), &weights).unwrap()).collect();
    let mut survive = 0;
    let mut size = 0;
    for (c, gold) in all.iter().zip(&gold) {
        survive += usize::from(gold.iter().all(|id| c.hits.iter().any(|hit| corpus.id(hit.table) == id)));
        size += c.hits.len();
    }
    println!("candidates hold all gold {:.1}, {:.0} a question", 100.0 * survive as f64 / n, size as f64 / n);
    if !train.is_empty() {
        let train = read(&train, 3000);
        let start = Instant::now();
        let lists: Vec<(Vec<f32>, Vec<bool>)> = train
            .par_iter()
            .map(|q| {
                let c = Candidates::new(&corpus, &corpus.query(&q.question).unwrap(), &weights).unwrap();
                let gold = c.hits.iter().map(|hit| q.tables.iter().any(|id| id == corpus.id(hit.table))).collect();
                (c.rows, gold)
            })
            .collect();
        let w = Candidates::width();
        if !out.is_empty() {
            let mut bytes = Vec::new();
            for (rows, gold) in &lists {
                bytes.extend((gold.len() as u32).to_le_bytes());
                rows.iter().for_each(|v| bytes.extend(v.to_le_bytes()));
                bytes.extend(gold.iter().map(|g| u8::from(*g)));
            }
            std::fs::write(&out, bytes).unwrap();
            println!("{} {:?}", w, Candidates::names());
        }
        let sample: Vec<f32> = lists.iter().step_by(lists.len().div_ceil(500)).flat_map(|(rows, _)| rows.iter().copied()).collect();
        let mut into = Lists::new(Bins::new(&sample, w));
        for (rows, gold) in &lists {
            into.push(rows, gold);
        }
        println!("{} lists with gold of {} in {:?}", into.len(), lists.len(), start.elapsed());
        let trees = grow(&into, &BoostingConfig { num_iterations: 300, bagged_models: 1, ..Default::default() }, 0, &mut |_| ());
        println!("grown {:?}", start.elapsed());
        let rerank = Rerank::new(weights, trees);
        if !model.is_empty() {
            std::fs::create_dir_all(&model).unwrap();
            rerank.write(Path::new(&model)).unwrap();
        }
        run(&rerank);
    } else if !model.is_empty() {
        run(&Rerank::read(Path::new(&model)).unwrap());
    }
    let _: HashMap<(), ()> = HashMap::new();
}
