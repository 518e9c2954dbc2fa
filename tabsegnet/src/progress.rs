//! How far the encoding of a document is, for people at a program.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between lines where there is no terminal for a bar.
const A_LINE_EACH: Duration = Duration::from_secs(5);
/// Characters of a bar.
const WIDTH: usize = 30;

/// Draws a bar on the standard error while texts are encoded, for [`Opening::with_progress`](crate::Opening::with_progress);
/// where that is no terminal, a line now and then.
pub fn on_stderr() -> impl Fn(usize, usize) + Send + Sync + 'static {
    let terminal = std::io::stderr().is_terminal();
    let said = Mutex::new(Instant::now());
    move |done, all| {
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        let mut stderr = std::io::stderr().lock();
        // Who reads it no more need not hear of it.
        let _ = match terminal {
            true if done >= all => write!(stderr, "\r\u{1b}[K"),
            true => write!(stderr, "\r{}\u{1b}[K", bar(done, all)),
            false if done < all && said.elapsed() >= A_LINE_EACH => {
                *said = Instant::now();
                writeln!(stderr, "{done} of {all} texts encoded")
            }
            false => Ok(()),
        };
        let _ = stderr.flush();
    }
}

fn bar(done: usize, all: usize) -> String {
    let full = (WIDTH * done / all.max(1)).min(WIDTH);
    format!("[{}{}] {done}/{all} texts encoded", "#".repeat(full), "-".repeat(WIDTH - full))
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn a_bar_has_one_width() {
        assert_eq!(bar(0, 9), format!("[{}] 0/9 texts encoded", "-".repeat(30)));
        assert_eq!(bar(3, 9), format!("[{}{}] 3/9 texts encoded", "#".repeat(10), "-".repeat(20)));
        assert_eq!(bar(9, 0), format!("[{}] 9/0 texts encoded", "#".repeat(30)));
    }
}
