use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use tabsegnet_document::model::{Block, Document, Heading, Table, TableSource};
use tabsegnet_graph::{CellText, Graph};

use super::*;
use crate::{FeatureRows, TableScorer};

/// Two sentences and two tables of the same rows, one of 2018 and 2017, one of 2012 and 2011.
fn report() -> (Vec<Node>, Vec<String>) {
    let table = |number, years: [&str; 2]| {
        let rows = vec![
            vec!["".into(), years[0].into(), years[1].into()],
            vec!["Net sales".into(), "1234".into(), "11".into()],
            vec!["Cost of sales".into(), "8".into(), "7".into()],
        ];
        Table::new(TableSource { number, header_rows: 1, header_cols: 1, rows, ..TableSource::default() }).unwrap()
    };
    let blocks = vec![
        Block::Passage("Net sales rose to $1,234 in 2018.".into()),
        Block::Table(table(0, ["2018", "2017"])),
        Block::Passage("".into()),
        Block::Table(table(1, ["2012", "2011"])),
    ];
    let nodes: Vec<Node> = Graph::of(&Document { id: "r".into(), blocks }).nodes().to_vec();
    let own = nodes.iter().map(|node| node.ranking_text(CellText::Path)).collect();
    (nodes, own)
}

/// A vector for a text: how often each of eight kinds of letters stands in it.
fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; 8];
    text.bytes().filter(u8::is_ascii_alphanumeric).for_each(|byte| vector[usize::from(byte % 8)] += 1.0);
    vector
}

fn vectors<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Vec<f32> {
    texts.into_iter().flat_map(|text| vector(text.as_ref())).collect()
}

fn open(config: FeaturesConfig, nodes: &[Node], own: &[String]) -> DocumentFeatures {
    let strings = Strings::new(nodes, own);
    let (compared, words) = (vectors(strings.compared()), vectors(strings.words()));
    DocumentFeatures::new(config, nodes, strings, &vectors(own), &compared, &words)
}

/// A question with its segments.
fn query(text: &str, segments: &[&str]) -> Query {
    let query = Query::new(text, segments);
    let words = vectors(query.words());
    query.with_word_vectors(words)
}

/// A row for each node.
fn rows_of(config: FeaturesConfig, nodes: &[Node], own: &[String], text: &str) -> Vec<Vec<f32>> {
    let features = open(config, nodes, own);
    let query_vectors = QueryVectors { q: &vector(text), segments: &vector(text) };
    let values = features.rows(&query(text, &[]), &query_vectors, &vectors(own), &[], None);
    values.chunks(features.count().max(1)).map(<[f32]>::to_vec).collect()
}

/// The inputs of the table scorer by name, for each table.
fn inputs(features: &DocumentFeatures) -> Vec<HashMap<String, f32>> {
    let named = |row: &[f32]| TableScorer::inputs().into_iter().zip(row.iter().copied()).collect();
    features.table_inputs().chunks(TableScorer::INPUTS).map(named).collect()
}

fn named(config: FeaturesConfig, values: &[Vec<f32>], nodes: &[Node], id: &str, name: &str) -> f32 {
    let node = nodes.iter().position(|node| node.id == id).unwrap();
    let names = config.names();
    values[node][names.iter().position(|known| known == name).unwrap_or_else(|| panic!("{name} in {names:?}"))]
}

#[test]
fn parts_of_a_node_are_compared_each_by_itself() {
    let (nodes, own) = report();
    let all = FeaturesConfig::ALL;
    let values = rows_of(all, &nodes, &own, "What were net sales in 2018?");
    let of = |id: &str, name: &str| named(all, &values, &nodes, id, name);
    assert_eq!(of("t0:r1c1", "row.share_of_text"), 1.0);
    assert_eq!(of("t0:r2c1", "row.year"), 0.0);
    assert!(of("t0:r2c1", "row.share_of_text") > 0.0 && of("t0:r2c1", "row.share_of_text") < 1.0);
    assert_eq!((of("t0:r1c1", "column.year"), of("t0:r1c2", "column.year")), (1.0, 0.0));
    assert_eq!((of("t0:r1c1", "column.other_year"), of("t0:r1c2", "column.other_year")), (0.0, 1.0));
    assert_eq!((of("p0", "row.empty"), of("p1", "own.empty")), (1.0, 1.0));
    assert_eq!(of("t0:r1c1", "row.share_of_text.of_document"), 0.0);
    assert!(of("t0:r2c1", "row.share_of_text.of_table") < 0.0);
    assert!((of("p0", "own.cosine") - 0.8).abs() < 0.2, "{}", of("p0", "own.cosine"));
    assert_eq!(
        (of("t0:r1c1", "place.cell"), of("t0:r1c1", "place.row"), of("t0:r2c2", "place.last_row")),
        (1.0, 0.5, 1.0)
    );
}

#[test]
fn rows_and_the_passages_that_they_name_are_seen_together() {
    let row = |texts: [&str; 2]| texts.map(Into::into).to_vec();
    let rows = vec![row(["Athlete", "Town"]), row(["Chi Cheng", "Hsinchu"]), row(["Karin Balzer", "Magdeburg"])];
    let table = Table::new(TableSource { header_rows: 1, rows, ..TableSource::default() }).unwrap();
    let blocks = vec![
        Block::Passage("All of them ran hurdles.".into()),
        Block::Table(table),
        Block::Passage("Chi Cheng jumped too.".into()),
        Block::Passage("Karin Balzer ran hurdles.".into()),
        Block::Passage("Magdeburg lies near Berlin.".into()),
    ];
    let nodes: Vec<Node> = Graph::of(&Document { id: "r".into(), blocks }).nodes().to_vec();
    let own: Vec<String> = nodes.iter().map(|node| node.ranking_text(CellText::Path)).collect();
    let config = FeaturesConfig { naming: true, ..FeaturesConfig::default() };
    let values = rows_of(config, &nodes, &own, "the athlete of hurdles from Magdeburg");
    let of = |id: &str, name: &str| named(config, &values, &nodes, id, &format!("naming.{name}"));
    assert_eq!(of("p0", "count"), 0.0, "no cell names it");
    assert_eq!([of("p1", "count"), of("p2", "count"), of("t0:r2c0", "count")], [2_f32.ln(), 2_f32.ln(), 3_f32.ln()]);
    assert_eq!([of("p1", "row"), of("p1", "with_passage"), of("p1", "gain")], [0.0; 3]);
    // The row has the town, its first passage the hurdles, its second the town again.
    let alone = of("t0:r2c0", "row");
    assert!(alone > 0.0 && alone < 1.0, "{alone}");
    assert_eq!([of("p2", "row"), of("p3", "row"), of("t0:r2c1", "row")], [alone; 3]);
    let both = of("p2", "with_passage");
    assert!(both > alone);
    assert_eq!([of("t0:r2c0", "with_passage"), of("t0:r2c1", "with_passage")], [both, alone]);
    assert_eq!([of("p2", "gain"), of("p3", "gain")], [both - alone, 0.0]);
    assert_eq!([of("p2", "with_others"), of("p3", "with_others")], [alone, both]);
    assert_eq!([of("p2", "rare_row_below_best"), of("t0:r2c1", "rare_row_below_best")], [0.0; 2]);
    assert!(of("t0:r1c0", "rare_row_below_best") < 0.0 && of("p1", "rare_with_passages_below_best") < 0.0);
    assert!(of("p2", "rare_passage") > 0.0);
    assert!(of("p2", "header") > 0.0, "athletes are wanted");
    assert_eq!(of("p3", "header"), 0.0, "towns are not");
    assert_eq!([of("p2", "with_passage.of_document"), of("p3", "with_passage.of_document")], [0.0, alone - both]);
}

#[test]
fn a_table_fits_the_sentences_that_mention_its_numbers_and_years() {
    let (nodes, own) = report();
    let all = FeaturesConfig::ALL;
    let values = rows_of(all, &nodes, &own, "sales?");
    let of = |id: &str, name: &str| named(all, &values, &nodes, id, name);
    assert!(of("t0:r1c1", "fit.numbers") > of("t1:r2c1", "fit.years_after_text"));
    assert_eq!(of("t0:r1c1", "fit.share_of_years"), 0.5);
    assert_eq!((of("t1:r1c1", "fit.share_of_years"), of("t1:r1c1", "fit.share_of_years.below_best")), (0.0, -0.5));
    assert_eq!((of("t0:r1c1", "fit.years_after_tables"), of("t1:r1c1", "fit.years_after_tables")), (0.0, -1.0));
    assert_eq!((of("p0", "fit.numbers"), of("p0", "fit.has_year")), (0.0, 0.0));
}

#[test]
fn headers_are_compared_by_stems_runs_and_years() {
    let (nodes, own) = report();
    let all = FeaturesConfig::ALL;
    let values = rows_of(all, &nodes, &own, "What was the cost of sale in 2018?");
    let of = |id: &str, name: &str| named(all, &values, &nodes, id, name);
    // "Cost of sales" and the question share three stems in a row.
    assert_eq!((of("t0:r2c1", "row.run_of_words"), of("t0:r2c1", "row.stems_of_text")), (0.5, 1.0));
    assert_eq!((of("t0:r1c1", "row.stems"), of("t0:r2c1", "headers.stems")), (0.1, 0.4));
    assert!(of("t0:r2c1", "row.letters_of_text") > of("t0:r1c1", "row.letters_of_text"));
    assert_eq!(
        (of("t0:r2c1", "row.stems_of_text.of_table"), of("t0:r2c1", "row.stems_of_text.of_document")),
        (0.0, 0.0)
    );
    assert!(of("t0:r1c1", "row.stems_of_text.of_table") < 0.0);
    assert_eq!((of("t0:r2c1", "column.year_equal"), of("t0:r2c2", "column.year_equal")), (1.0, 0.0));
    assert_eq!((of("t0:r2c2", "headers.year_year_before"), of("t1:r2c1", "headers.year_other")), (1.0, 1.0));
    assert_eq!((of("t0:r2c1", "table.years"), of("t1:r2c1", "table.years.of_document")), (1.0, -1.0));
    assert_eq!((of("p0", "headers.year_equal"), of("p0", "row.stems")), (1.0, 0.0));
}

#[test]
fn a_node_has_its_context_and_what_it_looks_like() {
    let (nodes, own) = report();
    let all = FeaturesConfig::ALL;
    let values = rows_of(all, &nodes, &own, "By what percentage did net sales rise from 2017 to 2018?");
    let of = |id: &str, name: &str| named(all, &values, &nodes, id, name);
    // The sentence before the first table, an empty one that does not count before the second.
    assert!(of("t0:r1c1", "context.with_sentence") > of("t0:r1c1", "headers.stems_of_question"));
    assert_eq!(of("t0:r1c1", "context.before.cosine"), of("t1:r1c1", "context.before.cosine"));
    assert!(of("t0:r1c1", "context.table") > of("t1:r1c1", "context.table"));
    assert_eq!(of("t0:r1c1", "context.row.cosine"), of("t0:r1c2", "context.row.cosine"));
    assert_eq!(of("p0", "context.table"), 0.0);
    assert_eq!(
        (of("p0", "sentence.before_table"), of("p1", "sentence.after_table"), of("p1", "sentence.blank")),
        (1.0, 1.0, 1.0)
    );
    assert_eq!((of("p0", "sentence.numbers_of_table"), of("p0", "sentence.dollars")), (1.0, 1.0));
    assert_eq!((of("t0:r1c1", "cell.net"), of("t0:r2c1", "cell.net")), (1.0, 0.0));
    assert_eq!((of("t0:r1c1", "cell.years_from_last"), of("t0:r1c2", "cell.years_from_last")), (0.0, 0.2));
    for id in ["p0", "t0", "t1:r1c1"] {
        assert_eq!((of(id, "question.percent"), of(id, "question.range"), of(id, "question.ratio")), (1.0, 1.0, 0.0));
    }
}

#[test]
fn a_table_that_the_sentences_are_about_has_other_inputs_and_its_scores_reach_its_nodes() {
    let (nodes, own) = report();
    let features = open(FeaturesConfig::ALL, &nodes, &own);
    let of_tables = inputs(&features);
    // Its numbers stand in the text, those of the other do too; its years in no other.
    for name in ["numbers", "share_of_numbers"] {
        assert_eq!(of_tables[0][name], of_tables[1][name]);
    }
    assert!(of_tables[0]["share_of_years"] > of_tables[1]["share_of_years"]);
    let scores = [[7.0, 0.5, -0.5, 1.0], [2.0, 0.5, -0.5, 0.0]];
    let scores = scores.map(|[logit, share, log_share, best]| TableScore { logit, share, log_share, best });
    let query = query("sales?", &[]);
    let query_vectors = QueryVectors { q: &vector("sales?"), segments: &[] };
    let values = features.rows(&query, &query_vectors, &vectors(&own), &scores, None);
    let values: Vec<Vec<f32>> = values.chunks(features.count()).map(<[f32]>::to_vec).collect();
    let of = |id: &str| named(FeaturesConfig::ALL, &values, &nodes, id, "table_relevance.logit");
    assert_eq!((of("t0:r1c1"), of("t1"), of("p0")), (7.0, 2.0, 0.0));
    // Every number of a row is written, whichever rows are wanted.
    let products = crate::vectors::products(&vectors(&own), &query_vectors.all());
    for scores in [&scores[..], &[]] {
        let all = features.rows(&query, &query_vectors, &vectors(&own), scores, None);
        let rows = features.features(features.read(&query), &query_vectors, &products, scores);
        let width = features.count();
        assert_eq!(rows.numbers(), all.len());
        for (first, count) in [(0, 1), (3, 4), (all.len() / width - 2, 2)] {
            let mut used = vec![f32::NAN; count * width];
            rows.write(first, width, &mut used);
            assert_eq!(used, all[first * width..(first + count) * width]);
        }
    }
}

#[test]
fn a_cell_is_compared_with_the_segment_that_it_answers_best() {
    let (nodes, own) = report();
    let features = open(FeaturesConfig::ALL, &nodes, &own);
    let texts = ["net sales 2017", "cost of sales 2018"];
    let query = query("What were net sales in 2017 and cost of sales in 2018?", &texts);
    let query_vectors = QueryVectors { q: &vector("sales"), segments: &vectors(texts) };
    let values = features.rows(&query, &query_vectors, &vectors(&own), &[], None);
    let values: Vec<Vec<f32>> = values.chunks(features.count()).map(<[f32]>::to_vec).collect();
    let of = |id: &str, name: &str| named(FeaturesConfig::ALL, &values, &nodes, id, &format!("segment.{name}"));
    for (id, whole) in [("t0:r1c2", true), ("t0:r2c1", true), ("t0:r1c1", false), ("t0:r2c2", false)] {
        assert_eq!(of(id, "both_shares") > 0.999, whole, "{id}");
        assert_eq!(of(id, "both_shares.of_document") > -0.001, whole, "{id}");
        assert_eq!(of(id, "year"), f32::from(u8::from(whole)), "{id}");
    }
}

#[test]
fn sentences_mention_the_days_that_a_table_begins_and_ends_with_however_they_are_written() {
    let table = |number, days: [&str; 2]| {
        let rows =
            vec![vec!["".into(), days[0].into(), days[1].into()], vec!["S&P 500".into(), "100".into(), "120".into()]];
        Block::Table(
            Table::new(TableSource { number, header_rows: 1, header_cols: 1, rows, ..TableSource::default() }).unwrap(),
        )
    };
    let blocks = vec![
        Block::Passage("It tracks $ 100 from december 29 , 2007 through december 28 , 2013 .".into()),
        table(0, ["12/29/07", "12/28/13"]),
        table(1, ["12/29/2006", "12/28/2013"]),
    ];
    let nodes: Vec<Node> = Graph::of(&Document { id: "r".into(), blocks }).nodes().to_vec();
    let own: Vec<String> = nodes.iter().map(|node| node.ranking_text(CellText::Path)).collect();
    let features = open(FeaturesConfig::ALL, &nodes, &own);
    let of_tables = inputs(&features);
    for (name, expected) in [
        ("days", [2.0_f32.ln_1p(), 1.0_f32.ln_1p()]),
        ("share_of_days", [1.0, 0.5]),
        ("days_of_its_own", [1.0_f32.ln_1p(), 0.0]),
        ("first_day", [1.0, 0.0]),
        ("last_day", [1.0, 1.0]),
        ("share_of_days_of_the_year", [1.0, 1.0]),
        ("first_year", [1.0, 0.0]),
        ("latest_year", [1.0, 1.0]),
    ] {
        assert_eq!([&of_tables[0], &of_tables[1]].map(|table| table[name]), expected, "{name}");
    }
}

#[test]
fn each_group_can_be_switched_off_and_takes_its_names_with_it() {
    let (nodes, own) = report();
    let all = rows_of(FeaturesConfig::ALL, &nodes, &own, "Net sales in 2017?");
    let names = FeaturesConfig::ALL.names();
    for (group, alone) in FeaturesConfig::GROUPS {
        let config = FeaturesConfig::ALL.without(*alone);
        let values = rows_of(config, &nodes, &own, "Net sales in 2017?");
        let kept = config.names();
        assert!(kept.len() < names.len() && kept.iter().all(|name| names.contains(name)), "{group}");
        for (values, all) in values.iter().zip(&all) {
            for (name, value) in kept.iter().zip(values) {
                let same = all[names.iter().position(|known| known == name).unwrap()];
                assert_eq!(value, &same, "{name}");
            }
        }
    }
    assert!(rows_of(FeaturesConfig::default(), &nodes, &own, "a").iter().all(Vec::is_empty));
}

proptest! {
    #[test]
    fn any_texts_give_finite_features_whatever_the_threads(
        passages in prop::collection::vec("\\PC{0,30}", 0..4), cells in prop::collection::vec("\\PC{0,12}", 4), text in "\\PC{0,400}",
    ) {
        let mut blocks: Vec<Block> = passages.into_iter().map(Block::Passage).collect();
        let rows = cells.chunks(2).map(|row| row.iter().map(|cell| cell.as_str().into()).collect()).collect();
        let source = TableSource { header_rows: 1, header_cols: 1, rows, ..TableSource::default() };
        blocks.push(Block::Table(Table::new(source).unwrap()));
        let nodes: Vec<Node> = Graph::of(&Document { id: "r".into(), blocks }).nodes().to_vec();
        let own: Vec<String> = nodes.iter().map(|node| node.ranking_text(CellText::Path)).collect();
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| rows_of(FeaturesConfig::ALL, &nodes, &own, &text))
        };
        let one = with(1);
        prop_assert_eq!(one.len(), nodes.len());
        prop_assert!(one.iter().flatten().all(|value| value.is_finite() && value.abs() < 100.0));
        prop_assert_eq!(one, with(3));
    }
}

#[test]
fn names_are_distinct_and_what_is_of_the_document_is_the_same_for_every_question() {
    let (nodes, own) = report();
    let features = FeaturesConfig::ALL.features();
    let names: HashSet<&str> = features.iter().map(|feature| feature.name.as_str()).collect();
    assert_eq!(names.len(), features.len());
    let of = |text: &str| rows_of(FeaturesConfig::ALL, &nodes, &own, text);
    let (a, b) = (of("By what percentage did net sales rise from 2017 to 2018?"), of("costs"));
    let mut differ = HashSet::new();
    for (a, b) in a.iter().zip(&b) {
        let other = features.iter().zip(a.iter().zip(b)).filter(|(_, (a, b))| a != b).map(|(feature, _)| feature);
        differ.extend(other.map(|feature| (feature.group, feature.of_question)));
    }
    assert!(differ.iter().all(|(_, of_question)| *of_question), "{differ:?}");
    assert!(differ.len() > 7, "{differ:?}");
}

#[test]
fn a_question_of_hundreds_of_words_is_one_of_its_first() {
    let (nodes, own) = report();
    let word = |n: u8| format!("k{}{}k ", char::from(b'a' + n / 26), char::from(b'a' + n % 26));
    let question = (0..64).map(word).collect::<String>() + "net sales 2018 ";
    let long = question.clone() + &(64..255).map(word).collect::<String>() + "and more";
    let [few, many] = [&question, &long].map(|text| rows_of(FeaturesConfig::ALL, &nodes, &own, text));
    let of = |values: &[Vec<f32>], name: &str| named(FeaturesConfig::ALL, values, &nodes, "t0:r1c1", name);
    // Runs of words come from its first 128 words, shares of stems from the first 64 distinct ones.
    assert_eq!((of(&few, "headers.run_of_words"), of(&many, "headers.run_of_words")), (2.0 / 6.0, 2.0 / 6.0));
    assert_eq!((of(&few, "headers.stems"), of(&many, "headers.stems")), (0.0, 0.0));
}

#[test]
fn a_section_is_its_headings_and_what_stands_under_them() {
    let heading = |level, text: &str| Block::Heading(Heading { level, text: text.into() });
    let blocks = vec![
        heading(1, "Notes"),
        heading(2, "Income taxes"),
        Block::Passage("The rate was lower.".into()),
        heading(2, "Leases"),
        Block::Passage("The rate was higher.".into()),
    ];
    let nodes: Vec<Node> = Graph::of(&Document { id: "r".into(), blocks }).nodes().to_vec();
    let own: Vec<String> = nodes.iter().map(|node| node.ranking_text(CellText::Path)).collect();
    let all = FeaturesConfig::ALL;
    let values = rows_of(all, &nodes, &own, "Why was the rate of income taxes lower?");
    let of = |id: &str, name: &str| named(all, &values, &nodes, id, name);
    assert_eq!([of("s0", "section.heading"), of("p0", "section.heading"), of("p0", "section.depth")], [1.0, 0.0, 0.25]);
    assert!(of("p0", "section.headings") > 0.0 && of("p1", "section.headings") == 0.0);
    assert!(of("p0", "section.added") > 0.0 && of("p1", "section.added") == 0.0);
    assert_eq!((of("p0", "section.nearest"), of("p0", "section.with_headers.of_document")), (1.0, 0.0));
    assert!(of("p1", "section.with_headers.of_document") < 0.0);
    // What stands in no section has none.
    assert_eq!((of("s0", "section.headings"), of("s0", "section.cosine")), (0.0, 0.0));
}
