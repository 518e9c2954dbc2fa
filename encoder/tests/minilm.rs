//! all-MiniLM-L6-v2 itself, where `TABSEGNET_MINILM` names its directory
//! (`scripts/fetch_encoder.sh`).

mod common;

use std::io::Write;
use std::path::PathBuf;

use common::*;

fn minilm() -> Option<PathBuf> {
    let dir = std::env::var_os("TABSEGNET_MINILM");
    if dir.is_none() {
        // Past the test harness, which keeps what a passing test prints to itself.
        let mut stderr = std::io::stderr();
        writeln!(stderr, "SKIPPED: set TABSEGNET_MINILM to the directory that scripts/fetch_encoder.sh made").unwrap();
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
        assert!(largest_difference(&encode(encoder.as_ref(), &[text]), vector) < 1e-5);
    }
}
