use std::error::Error;
use std::io::{self, Write};
use std::iter;
use std::process::ExitCode;

/// Exit code for wrong usage.
const USAGE: u8 = 2;

/// Prints a line to standard error as `std::eprintln` does, except that a reader who has gone, or
/// a full disk, does not end the program: its work goes on.
#[macro_export]
macro_rules! eprintln {
    ($($line:tt)*) => {{
        use ::std::io::Write as _;
        // Nobody is left to be told.
        let _ = ::std::writeln!(::std::io::stderr().lock(), $($line)*);
    }};
}

/// Whether an error comes from a reader of standard output who has gone, as in `infer … | head`.
fn is_closed_pipe(error: &(dyn Error + 'static)) -> bool {
    let is = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.downcast_ref().is_some_and(is) || error.source().is_some_and(is_closed_pipe)
}

/// How a program ends: an error is told on standard error, with what caused it. That nobody reads standard output any more
/// is no error. Exit code 2 where the error or a cause of it `is_usage`, else 1.
pub fn exit<E: AsRef<dyn Error>>(result: Result<(), E>, is_usage: impl Fn(&(dyn Error + 'static)) -> bool) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    let error: &(dyn Error + 'static) = error.as_ref();
    if is_closed_pipe(error) {
        return ExitCode::SUCCESS;
    }
    let causes: Vec<&(dyn Error + 'static)> = iter::successors(Some(error), |&error| error.source()).collect();
    eprintln!("error: {}", causes.iter().map(ToString::to_string).collect::<Vec<_>>().join(": "));
    ExitCode::from(if causes.into_iter().any(is_usage) { USAGE } else { 1 })
}

/// As [`print`], where that nobody reads it any more is no error: what counts is in files.
///
/// # Errors
/// Standard output cannot be written.
pub fn print_if_read(text: &str) -> io::Result<()> {
    match print(text) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// A text with blanks for its control characters: what stands in a cell, a reply or a message is not to steer a terminal.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Prints to standard output, at once.
///
/// # Errors
/// Standard output cannot be written; [`io::ErrorKind::BrokenPipe`] where nobody reads it any more.
pub fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
}
