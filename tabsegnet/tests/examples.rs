//! The examples, which must run as they stand.

use std::sync::Once;

macro_rules! examples {
    ($($name:ident),* $(,)?) => {$(
        mod $name {
            #![allow(dead_code)]
            include!(concat!("../examples/", stringify!($name), ".rs"));

            #[test]
            fn runs() {
                super::at_the_root();
                main().unwrap();
            }
        }
    )*

        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

examples!(rank, explain, context, threads, in_memory, keep, results);

/// Examples are run from the root of the repository.
fn at_the_root() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).unwrap());
}

#[test]
fn every_example_is_run_here_and_the_first_is_short() {
    at_the_root();
    let mut found: Vec<String> = std::fs::read_dir("tabsegnet/examples")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str().unwrap().strip_suffix(".rs").map(str::to_owned))
        .collect();
    found.sort();
    let mut names = NAMES.to_vec();
    names.sort_unstable();
    assert_eq!(found, names);
    let first = std::fs::read_to_string("tabsegnet/examples/rank.rs").unwrap();
    let lines = first.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("//")).count();
    assert!(lines <= 10, "{lines} lines");
}
