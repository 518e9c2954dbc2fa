//! Prints generated reports as native JSON lines: `export_synthetic train|dev FIRST COUNT`.

use std::process::ExitCode;

use tabsegnet_datasets::config::{Part, SyntheticConfig};
use tabsegnet_datasets::native::sample_json;
use tabsegnet_generate::synthetic::generate;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Option<Vec<usize>> = arguments.iter().skip(1).map(|number| number.parse().ok()).collect();
    let part = match arguments.first().map(String::as_str) {
        Some("train") => Part::Train,
        Some("dev") => Part::Dev,
        _ => return usage(),
    };
    let Some([first, count]) = numbers.as_deref() else { return usage() };
    let documents = first + count;
    let config = SyntheticConfig { train_documents: documents, dev_documents: documents, ..SyntheticConfig::default() };
    for sample in generate(&config, part).iter().skip(*first) {
        println!("{}", sample_json(sample));
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: export_synthetic train|dev FIRST COUNT");
    ExitCode::from(2)
}
