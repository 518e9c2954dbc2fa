//! British and American spelling.

use super::wording::{Use, Wording, words_of};

/// What is spelt in two ways, within words.
const SPELLINGS: [(&str, &str); 15] = [
    ("isation", "ization"),
    ("ising", "izing"),
    ("ise", "ize"),
    ("yse", "yze"),
    ("our", "or"),
    ("tre", "ter"),
    ("ence", "ense"),
    ("elled", "eled"),
    ("elling", "eling"),
    ("ogue", "og"),
    ("amme", "am"),
    ("judgement", "judgment"),
    ("fulfil", "fulfill"),
    ("aluminium", "aluminum"),
    ("grey", "gray"),
];

/// Letters of a word that may be one of two; a shorter one is another word as soon as it has another letter.
const LETTERS: usize = 4;

impl Wording {
    /// A question with the document's spelling of words that it nowhere has as the question spells them: "amortisation" where it
    /// has amortization. `None` where nothing changes.
    pub(super) fn respelt(&self, question: &str) -> Option<String> {
        let mut read = String::with_capacity(question.len());
        let mut rest = 0;
        for (at, word) in words_of(question).filter(|(_, word)| word.len() >= LETTERS) {
            let variants = SPELLINGS.iter().flat_map(|(british, american)| {
                let both = [(british, american), (american, british)];
                both.into_iter()
                    .filter(|(own, _)| word.contains(**own))
                    .map(|(own, other)| word.replacen(own, other, 1))
            });
            let mut variants = variants.peekable();
            if variants.peek().is_none() || self.of(word) > Use::None {
                continue;
            }
            if let Some(spelt) = variants.find(|variant| self.of(variant) > Use::None) {
                read.extend([&question[rest..at], spelt.as_str()]);
                rest = at + word.len();
            }
        }
        (rest > 0).then(|| read + &question[rest..])
    }
}

#[cfg(test)]
mod tests {
    use super::Wording;

    #[test]
    fn words_are_spelt_as_the_document_spells_them() {
        let wording = Wording::new(["Amortization of labor", "Licence", "Unrecognized tax", "Hour"]);
        let read = |question: &str| wording.respelt(question);
        assert_eq!(
            read("What was the amortisation, and labour?").as_deref(),
            Some("What was the amortization, and labor?")
        );
        assert_eq!(
            read("unrecognised license fees").as_deref(),
            Some("unrecognized Licence fees".to_lowercase().as_str())
        );
        assert_eq!(read("Amortization by the hour, organisation"), None);
    }
}
