//! The examples, which must run as they stand.

use std::sync::Once;

/// Declares each example as a module and a test that runs it.
macro_rules! examples {
    ($($name:ident: $path:literal),* $(,)?) => {
        $(
            #[path = $path]
            mod $name;
        )*

        const NAMES: &[&str] = &[$(stringify!($name)),*];

        mod runs {
            $(
                #[test]
                fn $name() {
                    super::at_the_root();
                    super::$name::main().unwrap();
                }
            )*
        }
    };
}

examples! {
    rank: "../examples/rank.rs",
    corpus: "../examples/corpus.rs",
    explain: "../examples/explain.rs",
    context: "../examples/context.rs",
    threads: "../examples/threads.rs",
    in_memory: "../examples/in_memory.rs",
    keep: "../examples/keep.rs",
    results: "../examples/results.rs",
}

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
