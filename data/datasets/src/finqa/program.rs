//! FinQA programs, as far as the gold rule looks into them: `divide(480, 415), add(#0, const_1)`.

use tabsegnet_document::numbers::parse_number;

/// The arguments of a program that point at evidence.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Program {
    /// Absolute values of the numbers among the arguments.
    pub numbers: Vec<f64>,
    /// Rows that a `table_*` operation runs over, by their header.
    pub rows: Vec<String>,
}

impl Program {
    /// Reads `operation(first, second), …`. A row's header may itself hold commas and brackets
    /// (`table_sum(total , net ( a ), none)`), so a step ends at `)` only before the end or before
    /// `, operation(`, and its last `, ` parts the two arguments.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut program = Self::default();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let malformed = || format!("expected operation(first, second), …, found {rest:?}");
            let (operation, after) = rest.split_once('(').ok_or_else(malformed)?;
            if !is_operation(operation) {
                return Err(malformed());
            }
            let end = after
                .match_indices(')')
                .map(|(at, _)| at)
                .find(|&at| starts_next_step(&after[at + 1..]))
                .ok_or_else(malformed)?;
            let (first, second) = after[..end].rsplit_once(',').ok_or_else(malformed)?;
            if operation.starts_with("table_") {
                program.rows.push(first.trim().to_owned());
            } else {
                program.push_number(first);
                program.push_number(second);
            }
            rest = after[end + 1..].trim_start_matches(',').trim_start();
        }
        Ok(program)
    }

    /// Constants (`const_100`), references (`#0`) and words are no numbers.
    fn push_number(&mut self, argument: &str) {
        if let Some(number) = parse_number(argument) {
            self.numbers.push(number.abs());
        }
    }
}

fn is_operation(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

fn starts_next_step(text: &str) -> bool {
    let text = text.trim_start();
    if text.is_empty() {
        return true;
    }
    text.strip_prefix(',')
        .and_then(|next| next.trim_start().split_once('('))
        .is_some_and(|(operation, _)| is_operation(operation))
}

#[cfg(test)]
mod tests {
    use super::Program;

    fn program(numbers: &[f64], rows: &[&str]) -> Program {
        Program { numbers: numbers.to_vec(), rows: rows.iter().map(|&row| row.to_owned()).collect() }
    }

    #[test]
    fn numbers_and_rows_are_found_and_constants_are_not() {
        assert_eq!(
            Program::parse("subtract(2467.1, -2397.8), divide(#0, const_100)").unwrap(),
            program(&[2467.1, 2397.8], &[])
        );
        assert_eq!(
            Program::parse("table_max(total ( a ), net , none), subtract(#0, 5%)").unwrap(),
            program(&[5.0], &["total ( a ), net"])
        );
        assert_eq!(Program::parse("").unwrap(), Program::default());
    }

    #[test]
    fn what_is_no_program_is_refused() {
        for text in ["divide", "divide(1, 2", "divide(1)", "(1, 2)", "divide(1, 2) x"] {
            assert!(Program::parse(text).unwrap_err().contains("expected operation"), "{text}");
        }
    }
}
