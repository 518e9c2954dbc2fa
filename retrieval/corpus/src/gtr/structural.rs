//! What a text looks like: how long it is, of which parts of speech, how much punctuation.
//!
//! The paper takes parts of speech from spaCy, a trained tagger. Here closed classes are looked up in short lists and the
//! rest is told by its ending and its capitals: plain rules for English, often wrong about a single word, the same for
//! tables and questions. Schema texts are mostly nouns and numbers, for which the rules do.

/// How many numbers describe a text.
pub(super) const FEATURES: usize = 3 + TAGS;
/// How many parts of speech are told apart.
const TAGS: usize = 13;

/// Parts of speech, by the names of Universal Dependencies.
#[derive(Clone, Copy)]
enum Tag {
    Noun,
    ProperNoun,
    Verb,
    Auxiliary,
    Adjective,
    Adverb,
    Pronoun,
    Determiner,
    Adposition,
    Conjunction,
    Particle,
    Numeral,
    Symbol,
}

const CLOSED: [(Tag, &str); 8] = [
    (
        Tag::Determiner,
        "the a an this that these those each every some any no all both either neither another which what whose",
    ),
    (
        Tag::Pronoun,
        "i me my mine we us our ours you your yours he him his she her hers it its they them their theirs who whom \
         himself herself itself themselves something anything nothing someone anyone everyone",
    ),
    (
        Tag::Adposition,
        "of in on at by for from with without within into onto over under between among through during before after \
         above below against about per via across behind beyond near since until till toward towards upon as than",
    ),
    (Tag::Conjunction, "and or but nor yet if while because although though whereas unless whether"),
    (
        Tag::Auxiliary,
        "am is are was were be been being do does did has have had having will would shall should can could may might \
         must",
    ),
    (Tag::Particle, "not to n't 's"),
    (
        Tag::Adverb,
        "how when where why very too also only just more most less least ever never always often again then there here \
         now almost together twice once",
    ),
    (Tag::Numeral, "one two three four five six seven eight nine ten eleven twelve hundred thousand million billion"),
];

/// Endings that tell an open class; none ends in another.
const ENDINGS: [(Tag, &str); 3] = [
    (Tag::Adverb, "ly"),
    (Tag::Verb, "ing ed ify ize ise"),
    (Tag::Adjective, "ous ful less able ible ive ical ial onal ish est ic ary"),
];

/// Shortest word whose ending is looked at: "bed" is no verb.
const LEAST_FOR_ENDING: usize = 5;

/// The features of a text: how many tokens it has, the mean length of its words in characters, the share of punctuation
/// in its tokens, and the shares of the parts of speech. All 0 for a text without tokens.
pub(super) fn features(text: &str) -> [f32; FEATURES] {
    let mut tags = [0_u32; TAGS];
    let (mut tokens, mut words, mut letters, mut punctuation) = (0_u32, 0_u32, 0_usize, 0_u32);
    let mut first = true;
    for token in Tokens(text) {
        tokens += 1;
        match token {
            Token::Word(word) => {
                words += 1;
                letters += word.chars().count();
                tags[tag(word, first) as usize] += 1;
                first = false;
            }
            Token::Mark(mark) if mark.is_ascii_punctuation() && !"$%+<=>^|~&#*".contains(mark) => punctuation += 1,
            Token::Mark(mark) if "–—’‘“”…·".contains(mark) => punctuation += 1,
            Token::Mark(_) => tags[Tag::Symbol as usize] += 1,
        }
    }
    let mut features = [0.0; FEATURES];
    if tokens > 0 {
        let [length, letters_of_word, marks, of_tags @ ..] = &mut features;
        *length = tokens as f32;
        *letters_of_word = letters as f32 / words.max(1) as f32;
        *marks = punctuation as f32 / tokens as f32;
        of_tags.iter_mut().zip(tags).for_each(|(share, tag)| *share = tag as f32 / tokens as f32);
    }
    features
}

fn tag(word: &str, first: bool) -> Tag {
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        return Tag::Numeral;
    }
    let lower = word.to_lowercase();
    let listed = |words: &str| words.split_ascii_whitespace().any(|listed| listed == lower);
    if let Some((tag, _)) = CLOSED.iter().find(|(_, words)| listed(words)) {
        return *tag;
    }
    // A capital says nothing at the start.
    if !first && word.starts_with(char::is_uppercase) {
        return Tag::ProperNoun;
    }
    if lower.chars().count() >= LEAST_FOR_ENDING
        && let Some((tag, _)) =
            ENDINGS.iter().find(|(_, endings)| endings.split_ascii_whitespace().any(|ending| lower.ends_with(ending)))
    {
        return *tag;
    }
    Tag::Noun
}

enum Token<'t> {
    /// A run of letters and digits, with points, commas and apostrophes between two of them.
    Word(&'t str),
    /// Any other character that is not space.
    Mark(char),
}

struct Tokens<'t>(&'t str);

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        let text = self.0.trim_start();
        let first = text.chars().next()?;
        if !first.is_alphanumeric() {
            self.0 = &text[first.len_utf8()..];
            return Some(Token::Mark(first));
        }
        let mut chars = text.char_indices().peekable();
        let mut end = text.len();
        while let Some((at, c)) = chars.next() {
            let inner = matches!(c, '.' | ',' | '\'') && chars.peek().is_some_and(|(_, next)| next.is_alphanumeric());
            if !c.is_alphanumeric() && !inner {
                end = at;
                break;
            }
        }
        self.0 = &text[end..];
        Some(Token::Word(&text[..end]))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shares_of_a_question() {
        let features = features("What is the highest attendance of the Lakers in 2004?");
        let share = |tag: Tag| (features[3 + tag as usize] * 11.0).round() as u32;
        assert_eq!(features[0], 11.0);
        assert_eq!((features[2] * 11.0).round(), 1.0);
        assert_eq!(
            [share(Tag::Determiner), share(Tag::Auxiliary), share(Tag::Adjective), share(Tag::Noun)],
            [3, 1, 1, 1]
        );
        assert_eq!([share(Tag::Adposition), share(Tag::ProperNoun), share(Tag::Numeral)], [2, 1, 1]);
    }

    #[test]
    fn words_keep_what_stands_within() {
        let words: Vec<&str> = Tokens("1,234.5 don't U.S. a-b")
            .filter_map(|token| match token {
                Token::Word(word) => Some(word),
                Token::Mark(_) => None,
            })
            .collect();
        assert_eq!(words, ["1,234.5", "don't", "U.S", "a", "b"]);
    }

    #[test]
    fn a_text_without_tokens_is_zero() {
        assert_eq!(features("  \t"), [0.0; FEATURES]);
    }

    proptest! {
        #[test]
        fn shares_sum_to_one(text in "\\PC{0,60}") {
            let features = features(&text);
            let sum: f32 = features[2..].iter().sum();
            prop_assert!(features[0] == 0.0 || (sum - 1.0).abs() < 1e-4, "{text:?} {features:?}");
        }
    }
}
