//! What can be put as a question.

/// Characters of the longest question that is put, some pages of text: much of what looks at one costs more than its length.
pub const LONGEST: usize = 10_000;

/// What cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnfitQuestion {
    /// It has neither a letter nor a digit.
    #[error("the question is blank; expected a question in words")]
    Blank,
    /// It has so many characters.
    #[error(
        "the question has {0} characters; expected at most {LONGEST}: ask for one thing at a time, and put texts into documents"
    )]
    TooLong(usize),
}

/// Refuses what cannot be put.
///
/// # Errors
/// A blank text, one that is too long.
pub fn check(question: &str) -> Result<(), UnfitQuestion> {
    if !question.contains(char::is_alphanumeric) {
        return Err(UnfitQuestion::Blank);
    }
    match question.chars().count() {
        length if length > LONGEST => Err(UnfitQuestion::TooLong(length)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_has_words_and_an_end() {
        assert_eq!((check("Who won?"), check(" ?! ")), (Ok(()), Err(UnfitQuestion::Blank)));
        assert_eq!(check(&"é".repeat(LONGEST)), Ok(()));
        let said = check(&"é".repeat(LONGEST + 1)).unwrap_err().to_string();
        assert!(said.contains("10001 characters") && said.contains("at most 10000"), "{said}");
    }
}
