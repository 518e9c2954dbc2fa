//! all-MiniLM-L6-v2 itself, where `TABSEGNET_MINILM` names its directory
//! (`tools/scripts/fetch_encoder.sh`).

mod common;

use std::io::Write;
use std::path::PathBuf;

use common::*;
use tabsegnet_encoder::{EncoderConfig, Precision};

fn minilm() -> Option<PathBuf> {
    let dir = std::env::var_os("TABSEGNET_MINILM");
    if dir.is_none() {
        // Past the test harness, which keeps what a passing test prints to itself.
        let mut stderr = std::io::stderr();
        writeln!(stderr, "SKIPPED: set TABSEGNET_MINILM to the directory that tools/scripts/fetch_encoder.sh wrote")
            .unwrap();
    }
    dir.map(PathBuf::from)
}

/// First components of the vectors as sentence-transformers 6.2 gives them (torch 2.15, CPU, limit
/// 128).
const EXPECTED: [(&str, [f32; 4]); 3] = [
    ("net income", [-0.009_488_3, -0.035_110_2, 0.006_085_6, 0.004_094_03]),
    ("total revenue | 2019 | $ 1,234.5", [0.015_478_93, -0.005_534_69, -0.008_703_68, -0.032_707_54]),
    ("", [-0.118_838_4, 0.048_298_76, -0.002_548_16, -0.011_011_23]),
];

#[test]
fn vectors_equal_those_of_sentence_transformers() {
    let Some(dir) = minilm() else { return };
    let encoder = open(&bert(&dir));
    assert_eq!(encoder.dim(), 384);
    for (text, expected) in EXPECTED {
        let vector = encode(encoder.as_ref(), &[text]);
        assert!(largest_difference(&vector[..4], &expected) < 1e-5, "{text:?}: {:?}", &vector[..4]);
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        assert!((length - 1.0).abs() < 1e-5);
    }
}

#[test]
fn company_and_threads_do_not_change_a_vector() {
    let Some(dir) = minilm() else { return };
    let encoder = open(&bert(&dir));
    let texts: Vec<String> = (0..120).map(|n| vec!["net income of 2019 |"; 1 + n % 40].join(" ")).collect();
    let texts = strs(&texts);
    let one = with_threads(1, || encode(encoder.as_ref(), &texts));
    let two = with_threads(2, || encode(encoder.as_ref(), &texts));
    assert!(one.iter().zip(&two).all(|(a, b)| a.to_bits() == b.to_bits()));
    for (text, vector) in texts.iter().zip(one.chunks(384)).take(40) {
        assert_eq!(encode(encoder.as_ref(), &[text]), vector);
    }
}

/// Texts in the form that a report's nodes have; or those of the file that `TABSEGNET_TEXTS` names, one a
/// line.
fn texts() -> Vec<String> {
    if let Some(path) = std::env::var_os("TABSEGNET_TEXTS") {
        return std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect();
    }
    let rows =
        ["net income", "total revenue", "income tax rate ( % )", "cash paid for interest", "shares in thousands"];
    let columns = ["2017", "december 31 , 2019", "( in millions )", "change", "pro forma | unaudited"];
    let values = ["12.5", "$ 1,234 ( 7 )", "-", "( 0.3 % )", "40000"];
    let cells = rows.iter().zip(columns.iter().cycle().skip(1)).flat_map(|(row, column)| {
        values.iter().flat_map(move |value| [format!("{row} | {column} | {value}"), format!("{column} | {value}")])
    });
    let sentences = rows.iter().flat_map(|row| {
        columns.iter().map(move |column| {
            format!(
                "the increase of {row} in {column} was due to higher sales of the segment , partly offset by the \
                 cost of {row} and by the sale of two sites in the year before ."
            )
        })
    });
    cells.chain(sentences).collect()
}

#[test]
fn int8_vectors_have_a_cosine_of_at_least_995_to_those_of_f32() {
    let Some(dir) = minilm() else { return };
    let texts = texts();
    let f32 = encode(open(&bert(&dir)).as_ref(), &strs(&texts));
    let int8 = encode(open(&EncoderConfig { precision: Precision::Int8, ..bert(&dir) }).as_ref(), &strs(&texts));
    let mut cosines: Vec<f64> = f32.chunks(384).zip(int8.chunks(384)).map(|(a, b)| cosine(a, b)).collect();
    cosines.sort_by(f64::total_cmp);
    let (least, median) = (cosines[0], cosines[cosines.len() / 2]);
    let mut stderr = std::io::stderr();
    writeln!(stderr, "int8 to f32, {} texts: cosine min {least:.5}, median {median:.5}", texts.len()).unwrap();
    assert!(least >= 0.995, "{least}");
}

#[test]
fn tensors_give_the_same_vectors() {
    let Some(dir) = minilm() else { return };
    let texts: Vec<String> = texts().into_iter().take(60).collect();
    let native = encode(open(&bert(&dir)).as_ref(), &strs(&texts));
    let tensors = encode(open_in_tensors(&bert(&dir)).as_ref(), &strs(&texts));
    let difference = largest_difference(&native, &tensors);
    assert!(difference < 1e-5, "{difference}");
}
