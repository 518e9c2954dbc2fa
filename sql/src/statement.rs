//! What can be said of a statement before SQLite sees it: one statement, and one that only reads.

use crate::error::QueryError;
use crate::sandbox::STATEMENT_BYTES;

/// Statements with more bytes are not looked into.
pub(crate) const LOOKED_INTO: usize = 20_000;

/// Room for the parser, which descends into what is nested.
const STACK: usize = 64 << 20;

/// A token, as far as whoever only looks for words and names needs to tell them apart.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Token<'s> {
    /// A keyword, a bare name or a number.
    Word(&'s str),
    /// What stands between quotes of any kind, still with doubled quotes.
    Quoted(&'s str),
    /// Anything else.
    Sign(char),
}

/// The tokens of SQL, comments left out. A quote or a comment that is not closed goes to the end.
pub(crate) struct Tokens<'s> {
    rest: &'s str,
}

impl<'s> Tokens<'s> {
    pub(crate) fn of(sql: &'s str) -> Self {
        Self { rest: sql }
    }

    fn take(&mut self, bytes: usize) -> &'s str {
        let (token, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.rest = rest;
        token
    }

    fn quoted(&mut self, close: char) -> Token<'s> {
        let body = self.rest.get(1..).unwrap_or("");
        let mut found = body.char_indices().peekable();
        while let Some((at, letter)) = found.next() {
            if letter != close {
                continue;
            }
            if close != ']' && found.peek().is_some_and(|&(_, next)| next == close) {
                found.next();
                continue;
            }
            self.take(at + 2);
            return Token::Quoted(body.get(..at).unwrap_or(""));
        }
        self.rest = "";
        Token::Quoted(body)
    }
}

pub(crate) fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '$' || !letter.is_ascii()
}

impl<'s> Iterator for Tokens<'s> {
    type Item = Token<'s>;

    fn next(&mut self) -> Option<Token<'s>> {
        loop {
            let first = self.rest.chars().next()?;
            if first.is_ascii_whitespace() || first == '\u{feff}' {
                self.take(first.len_utf8());
            } else if self.rest.starts_with("--") {
                let end = self.rest.find('\n').map_or(self.rest.len(), |at| at + 1);
                self.take(end);
            } else if self.rest.starts_with("/*") {
                let end = self.rest.get(2..).and_then(|rest| rest.find("*/")).map_or(self.rest.len(), |at| at + 4);
                self.take(end);
            } else {
                return Some(match first {
                    '\'' | '"' | '`' => self.quoted(first),
                    '[' => self.quoted(']'),
                    _ if is_word(first) => {
                        let end = self.rest.find(|letter| !is_word(letter)).unwrap_or(self.rest.len());
                        Token::Word(self.take(end))
                    }
                    _ => {
                        self.take(first.len_utf8());
                        Token::Sign(first)
                    }
                });
            }
        }
    }
}

/// Looks into a statement where there is room for the parser; nothing of one that is too long.
pub(crate) fn look_into<T: Send>(sql: &str, look: impl FnOnce(&str) -> Option<T> + Send) -> Option<T> {
    if sql.len() > LOOKED_INTO {
        return None;
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        thread.spawn_scoped(scope, move || look(sql)).ok()?.join().ok()?
    })
}

/// Refuses what is not one `SELECT`, `VALUES` or `WITH`. What follows `WITH` is left to the authorizer.
pub(crate) fn check(sql: &str) -> Result<(), QueryError> {
    if sql.len() > STATEMENT_BYTES {
        return Err(QueryError::stopped(format!("statement: more than {STATEMENT_BYTES} bytes")));
    }
    if sql.contains('\0') {
        return Err(QueryError::refused("a NUL character in the statement"));
    }
    let mut tokens = Tokens::of(sql);
    match tokens.next() {
        None => return Err(QueryError::refused("no statement")),
        Some(Token::Word(word)) if ["select", "values", "with"].iter().any(|read| word.eq_ignore_ascii_case(read)) => {}
        Some(token) => {
            let (Token::Word(start) | Token::Quoted(start)) = token else {
                let Token::Sign(sign) = token else { return Err(QueryError::refused("no statement")) };
                return Err(QueryError::refused(format!("a statement that begins with {sign}")));
            };
            let start: String = start.chars().take(30).collect::<String>().to_uppercase();
            return Err(QueryError::refused(format!(
                "{start} is not allowed, only SELECT, VALUES and WITH ... SELECT"
            )));
        }
    }
    if tokens.by_ref().any(|token| token == Token::Sign(';')) && tokens.any(|token| token != Token::Sign(';')) {
        return Err(QueryError::refused("more than one statement"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(sql: &str) -> Vec<Token<'_>> {
        Tokens::of(sql).collect()
    }

    #[test]
    fn quotes_and_comments() {
        assert_eq!(
            tokens("a/* ; */\"b\"\"c\"--;\n[d]`e`'f'';'ü1"),
            [
                Token::Word("a"),
                Token::Quoted("b\"\"c"),
                Token::Quoted("d"),
                Token::Quoted("e"),
                Token::Quoted("f'';"),
                Token::Word("ü1"),
            ]
        );
        assert_eq!(tokens("/* never closed"), []);
        assert_eq!(tokens("'never closed; x"), [Token::Quoted("never closed; x")]);
        assert_eq!(tokens("/*/ still open"), []);
    }

    #[test]
    fn one_statement_that_reads() {
        for sql in ["select 1", "/* c */ SELECT ';';", "values(1) ; ;; -- end", "\u{feff}WITH x AS (SELECT 1) SELECT 1"]
        {
            assert_eq!(check(sql), Ok(()), "{sql}");
        }
        for sql in [
            "", " \n", "--", ";", "select 1; select 2", "explain select 1", "\"select\" 1", "select 1;\0", "(select 1)",
        ] {
            assert!(matches!(check(sql), Err(QueryError::Refused { .. })), "{sql}");
        }
        let long = format!("select '{}'", "x".repeat(STATEMENT_BYTES));
        assert!(matches!(check(&long), Err(QueryError::Stopped { .. })));
    }
}
