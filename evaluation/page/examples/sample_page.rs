//! A page over a made-up document and made-up rankings, to see what pages look like:
//!
//! ```sh
//! cargo run --release -p tabsegnet-page --example sample_page -- FILE [--nodes 10000] [--rows 24] [--top 10] [--seed 1]
//! ```

use std::error::Error;
use std::path::Path;

use tabsegnet_page::Page;

mod sample;

fn main() -> Result<(), Box<dyn Error>> {
    const USAGE: &str = "usage: sample_page FILE [--nodes N] [--rows N] [--top N] [--seed N]";
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or(USAGE)?;
    let (mut nodes, mut rows, mut top, mut seed) = (None, 24, 10, 1);
    while let Some(option) = arguments.next() {
        let value = arguments.next().ok_or(USAGE)?;
        match option.as_str() {
            "--nodes" => nodes = Some(value.parse()?),
            "--rows" => rows = value.parse()?,
            "--top" => top = value.parse()?,
            "--seed" => seed = value.parse()?,
            _ => return Err(USAGE.into()),
        }
    }
    let read = sample::document(nodes.map(|nodes| (nodes, rows)), seed)?;
    let answers = sample::answers(&read.document, top, seed);
    let about = [("ranked with", "made-up scores"), ("device", "none")];
    let about = about.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let page = Page {
        title: &read.document.id,
        about: &about,
        document: &read.document,
        layout: Some(&read.layout),
        answers: &answers,
    };
    let html = page.html()?;
    std::fs::write(Path::new(&file), &html)?;
    println!("{file}: {} nodes, {} bytes", answers.first().map_or(0, |answer| answer.scores.len()), html.len());
    Ok(())
}
