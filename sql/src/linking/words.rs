//! Words of questions and of names, as they are compared: in lower case, without their endings.

use std::collections::HashMap;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use tabsegnet_lexical::tokenize;

static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

/// Numbers as words, from 0.
pub(crate) const NUMBERS: [&str; 13] =
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/// Words that say nothing of what a column holds.
const STOP: [&str; 69] = [
    "a", "an", "the", "of", "in", "on", "for", "to", "is", "are", "was", "were", "be", "been", "what", "which", "how",
    "many", "much", "show", "list", "find", "give", "all", "me", "each", "every", "and", "or", "by", "with", "that",
    "have", "has", "had", "do", "does", "did", "who", "whose", "from", "at", "it", "its", "their", "there", "any",
    "as", "than", "more", "most", "least", "return", "please", "i", "we", "you", "s", "t", "this", "those", "these",
    "them", "they", "not", "but", "our", "my", "your",
];

/// What names of tables and columns write short.
#[rustfmt::skip]
pub(super) const SHORT: [(&str, &str); 48] = [
    ("acct", "account"), ("addr", "address"), ("amt", "amount"), ("avg", "average"), ("bal", "balance"), ("cat", "category"),
    ("cd", "code"), ("cnt", "count"), ("ctry", "country"), ("cust", "customer"), ("dept", "department"), ("descr", "description"),
    ("dt", "date"), ("emp", "employee"), ("fname", "first name"), ("ha", "hectare"), ("hrs", "hours"), ("inv", "invoice"), ("lname", "last name"), ("loc", "location"),
    ("lvl", "level"), ("mgr", "manager"), ("mins", "minutes"), ("mo", "month"), ("nbr", "number"), ("nm", "name"), ("no", "number"), ("num", "number"),
    ("ord", "order"), ("org", "organization"), ("pat", "patient"), ("pct", "percent"), ("pmt", "payment"), ("prc", "price"),
    ("prd", "product"), ("prod", "product"), ("qty", "quantity"), ("sal", "salary"), ("stat", "status"), ("std", "standard"), ("subj", "subject"),
    ("tel", "telephone"), ("trn", "transaction"), ("trng", "training"), ("ttl", "title"), ("txn", "transaction"), ("wt", "weight"),
    ("yr", "year"),
];

/// By the stem of a word of questions the stems of its kin in names.
static KIN: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let lines = include_str!("kin.txt").lines().filter_map(|line| line.split_once(':'));
    lines.map(|(word, kin)| (stem(word), kin.split_whitespace().map(stem).collect())).collect()
});

/// The kin of a stem: words of names that mean the same or are about it.
pub(crate) fn kin(stem: &str) -> &'static [String] {
    KIN.get(stem).map(Vec::as_slice).unwrap_or_default()
}

/// What people and things of a country are called.
#[rustfmt::skip]
const NATIONALITIES: [(&str, &str); 64] = [
    ("afghan", "afghanistan"), ("american", "united states"), ("american", "usa"), ("argentine", "argentina"), ("argentinian", "argentina"),
    ("australian", "australia"), ("austrian", "austria"), ("belgian", "belgium"), ("brazilian", "brazil"), ("british", "united kingdom"),
    ("british", "uk"), ("bulgarian", "bulgaria"), ("canadian", "canada"), ("chilean", "chile"), ("chinese", "china"),
    ("colombian", "colombia"), ("croatian", "croatia"), ("cuban", "cuba"), ("czech", "czech republic"), ("danish", "denmark"),
    ("dutch", "netherlands"), ("egyptian", "egypt"), ("english", "england"), ("estonian", "estonia"), ("finnish", "finland"),
    ("french", "france"), ("german", "germany"), ("greek", "greece"), ("hungarian", "hungary"), ("icelandic", "iceland"),
    ("indian", "india"), ("indonesian", "indonesia"), ("iranian", "iran"), ("irish", "ireland"), ("israeli", "israel"),
    ("italian", "italy"), ("japanese", "japan"), ("kenyan", "kenya"), ("korean", "south korea"), ("latvian", "latvia"),
    ("lithuanian", "lithuania"), ("malaysian", "malaysia"), ("mexican", "mexico"), ("moroccan", "morocco"), ("nigerian", "nigeria"),
    ("norwegian", "norway"), ("peruvian", "peru"), ("polish", "poland"), ("portuguese", "portugal"), ("romanian", "romania"),
    ("russian", "russia"), ("scottish", "scotland"), ("serbian", "serbia"), ("slovak", "slovakia"), ("slovenian", "slovenia"),
    ("spanish", "spain"), ("swedish", "sweden"), ("swiss", "switzerland"), ("thai", "thailand"), ("turkish", "turkey"),
    ("ukrainian", "ukraine"), ("uruguayan", "uruguay"), ("vietnamese", "vietnam"), ("welsh", "wales"),
];

/// The country of a nationality in lower case, and the nationality of a country.
pub(crate) fn compatriots(words: &str) -> impl Iterator<Item = &'static str> {
    let plain = words.strip_suffix('s').unwrap_or(words).to_owned();
    let words = words.to_owned();
    NATIONALITIES.iter().filter_map(move |&(people, country)| match () {
        () if people == words || people == plain => Some(country),
        () if country == words => Some(people),
        () => None,
    })
}

/// The words of a text, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Words {
    pub(crate) words: Vec<Word>,
}

/// A word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// In lower case.
    pub(crate) text: String,
    /// Without its ending.
    pub(crate) stem: String,
    /// Whether it says nothing of what a column holds.
    pub(crate) is_stop: bool,
}

impl Words {
    /// The words of a question or a cell: runs of letters, and numbers.
    pub fn of(text: &str) -> Self {
        let word = |text: String| {
            let stem = stem(&text);
            Word { is_stop: STOP.contains(&text.as_str()), text, stem }
        };
        Self { words: tokenize(text).into_iter().map(word).collect() }
    }

    /// The same with "for each" in the place of some words.
    pub(super) fn for_each(mut self, places: &[usize]) -> Self {
        for &at in places.iter().rev() {
            // "By each course" has it already.
            let has_each = self.words.get(at + 1).is_some_and(|word| word.text == "each");
            self.words.splice(at..=at, Self::of(if has_each { "for" } else { "for each" }).words);
        }
        self
    }

    /// The words of a name of a table or column, which parts at `_` and at capitals after small letters.
    /// What is usually written short in one is written out.
    pub fn of_name(name: &str) -> Self {
        let words = tokenize(&parted(name)).into_iter();
        let long = words.map(|word| match SHORT.iter().find(|(short, _)| *short == word) {
            Some((_, long)) => (*long).to_owned(),
            None => word,
        });
        Self::of(&long.collect::<Vec<String>>().join(" "))
    }

    /// How many words there are.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The words without their endings.
    pub fn stems(&self) -> Vec<String> {
        self.words.iter().map(|word| word.stem.clone()).collect()
    }

    /// Whether one of them has this stem.
    pub fn has(&self, stem: &str) -> bool {
        self.words.iter().any(|word| word.stem == stem)
    }
}

/// A name of a table or column with a space before capitals that begin a word: `SingerID` as `Singer ID`.
pub(crate) fn parted(name: &str) -> String {
    let mut parted = String::with_capacity(name.len() + 8);
    let letters: Vec<char> = name.chars().collect();
    for (place, &letter) in letters.iter().enumerate() {
        let before = place.checked_sub(1).and_then(|at| letters.get(at));
        let after = letters.get(place + 1);
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase() || before.is_uppercase() && after.is_some_and(|after| after.is_lowercase())
            });
        if begins {
            parted.push(' ');
        }
        parted.push(letter);
    }
    parted
}

/// A word in lower case without its ending.
pub(crate) fn stem(word: &str) -> String {
    STEMMER.stem(word).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_part_and_endings_go() {
        let stems = |name: &str| Words::of_name(name).stems().join(" ");
        assert_eq!(stems("SingerID"), "singer id");
        assert_eq!(stems("HTTPServerNames"), "http server name");
        assert_eq!(stems("home_team2"), "home team 2");
        assert_eq!(stems("Free Meal Count (K-12)"), "free meal count k 12");
        assert_eq!(stems("Größe"), "größe");
        assert_eq!(stems("employees"), stems("employee"));
        assert_eq!(stems("movies"), stems("Movie"));
        assert!(Words::of(" – ").is_empty());
    }
}
