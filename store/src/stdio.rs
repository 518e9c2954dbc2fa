use std::error::Error;
use std::io::{self, Write};
use std::iter;
use std::process::{ExitCode, Termination};

use crate::UsageError;

/// Exit code for wrong usage.
pub const USAGE: u8 = 2;

/// An error, or what caused one.
pub type Cause<'a> = &'a (dyn Error + 'static);

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
fn is_closed_pipe(error: Cause<'_>) -> bool {
    let is = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.downcast_ref().is_some_and(is) || error.source().is_some_and(is_closed_pipe)
}

/// How a program ends: an error is told on standard error, with what caused it. That nobody reads standard output any more
/// is no error. The exit code is what `code` has for the error, or for the first of its causes that it has one for, else 1;
/// for a [`UsageError`] it is [`USAGE`].
pub fn exit<T: Termination, E: AsRef<dyn Error>>(
    result: Result<T, E>,
    code: impl Fn(Cause<'_>) -> Option<u8>,
) -> ExitCode {
    exit_saying(result, code, |_, message| format!("error: {message}"))
}

/// The same, where an error is told in the words that `say` has for its exit code and its message.
pub fn exit_saying<T: Termination, E: AsRef<dyn Error>>(
    result: Result<T, E>,
    code: impl Fn(Cause<'_>) -> Option<u8>,
    say: impl FnOnce(u8, &str) -> String,
) -> ExitCode {
    let error = match result {
        Ok(done) => return done.report(),
        Err(error) => error,
    };
    let error: Cause<'_> = error.as_ref();
    if is_closed_pipe(error) {
        return ExitCode::SUCCESS;
    }
    let causes: Vec<Cause<'_>> = iter::successors(Some(error), |&error| error.source()).collect();
    let message = causes.iter().map(ToString::to_string).collect::<Vec<_>>().join(": ");
    let code = causes.into_iter().find_map(|cause| cause.is::<UsageError>().then_some(USAGE).or_else(|| code(cause)));
    let code = code.unwrap_or(1);
    eprintln!("{}", say(code, &message));
    ExitCode::from(code)
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

/// A text in one line, its words parted by single blanks.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Prints to standard output, at once.
///
/// # Errors
/// Standard output cannot be written; [`io::ErrorKind::BrokenPipe`] where nobody reads it any more.
pub fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
}
