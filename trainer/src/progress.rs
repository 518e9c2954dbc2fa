//! Progress on stderr: a bar on a terminal, plain lines otherwise.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tabsegnet_store::eprintln;

/// How often a plain line is written.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// One stage of the work.
pub struct Progress {
    name: String,
    bar: Option<ProgressBar>,
    started: Instant,
    last_line: Instant,
    length: usize,
    position: usize,
}

impl Progress {
    /// A stage of `length` pieces.
    pub fn new(name: &str, length: usize) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(length as u64), ProgressDrawTarget::stderr());
            let template = "{prefix:>10} [{bar:30}] {pos}/{len} {elapsed} (eta {eta}) {msg}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.set_prefix(name.to_owned());
            bar
        });
        let now = Instant::now();
        Self { name: name.to_owned(), bar, started: now, last_line: now, length, position: 0 }
    }

    /// Sets how far the work is, of how much, and what there is to say.
    pub fn set(&mut self, position: usize, length: usize, message: &str) {
        (self.position, self.length) = (position, length);
        match &self.bar {
            Some(bar) => {
                bar.set_length(length as u64);
                bar.set_position(position as u64);
                bar.set_message(message.to_owned());
            }
            None if self.last_line.elapsed() >= LINE_EVERY => {
                self.last_line = Instant::now();
                // Where it is not known how many there are.
                let of = if length > 0 { format!("/{length}") } else { String::new() };
                eprintln!("{}: {position}{of} {message}", self.name);
            }
            None => {}
        }
    }

    /// Ends the stage with a last line.
    pub fn finish(self, message: &str) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        eprintln!("{}: {message} ({:.1} s)", self.name, self.started.elapsed().as_secs_f64());
    }
}
