//! Documents kept between runs: the second time a report opens without being read and encoded.

use std::time::Instant;

use tabsegnet::{DeviceChoice, RankingError, Session, SessionOptions};

/// Prints how long a report takes to open, twice.
pub fn main() -> Result<(), RankingError> {
    // A session keeps nothing unless it is told where. The device is the best there is, unless one is named; a device
    // that is not there is an error, and nothing falls back to another.
    let cache = std::env::temp_dir().join(format!("tabsegnet-example-{}", std::process::id()));
    let options = SessionOptions { cache: Some(cache.clone()), device: DeviceChoice::Cpu, ..SessionOptions::default() };
    let session = Session::open_with("checkpoints/general", &options)?;
    println!("device: {}", session.device());

    for turn in ["first", "second"] {
        let start = Instant::now();
        let report = session.open_document("tabsegnet/examples/report.json")?;
        println!("the {turn} time: {:?}", start.elapsed());
        // What the user may want to know, such as a damaged file in the cache.
        report.notices().iter().for_each(|notice| eprintln!("{notice}"));
        // Kept once it has been opened, and when it suits: after the first answer, or in another thread.
        report.keep()?;
    }
    // Only the owner can read what is kept. Whoever wants it gone removes the directory.
    let _ = std::fs::remove_dir_all(cache);
    Ok(())
}
