//! Words and wordings.

use std::collections::BTreeSet;

/// Captions of a title `{t}` with a section or caption `{d}`.
pub(super) const WORDINGS_WITH_DETAIL: &[&str] = &[
    "{t}: {d}", "{d} of {t}", "{t} – {d}", "{t}, {d}", "{d} ({t})", "{d} for {t}", "Table of {d}, {t}",
    "Overview of {d}: {t}", "Data on {t}, {d}", "{t} | {d}", "{t} and its {d}", "Details on {d} from {t}",
    "{d}, as found under {t}", "Figures on {d} in {t}",
];

/// Captions of a title alone.
pub(super) const WORDINGS_WITHOUT_DETAIL: &[&str] = &[
    "{t}", "{t}: overview", "Overview of {t}", "Data on {t}", "{t} (table)", "Table of {t}", "{t}: details",
    "Details of {t}", "Figures for {t}", "{t} in detail", "Summary of {t}", "{t} – entries", "Entries on {t}",
    "Facts about {t}",
];

/// Between two questions of a table.
pub(super) const JOINTS: &[&str] =
    &[", and furthermore, ", ", and furthermore ", ", and ", ", and also, ", "; furthermore, ", ", and in addition, "];

/// Between two questions of a sequence, where the later leans on the earlier.
pub(super) const JOINTS_OF_SEQUENCES: &[&str] =
    &[", and furthermore, ", ", and ", "; based on that, ", ", and based on this, ", ", and then "];

/// Before a question: where it looks.
pub(super) const BEFORE: &[&str] =
    &["In", "For", "Regarding", "According to the data on", "Concerning", "With regard to"];

/// After a question.
pub(super) const AFTER: &[&str] = &["in", "for", "according to the data on", "with regard to"];

/// Names of tables themselves.
const TABLE_NOUNS: &str = " table tables list chart graph listing spreadsheet data dataset ";

/// What a page may be about: "this team" is the page's.
const REFERENTS: &str = " actor actress aircraft album area artist athlete author award band battle building category champion \
    championship character city club coach college company competition competitor conference contest country county \
    cyclist director district division driver election episode event fighter film franchise game group highway \
    institution island league line list man manager match medalist minister mission model movie museum musician nation network \
    organization page party performer period person place player premiership president production program province race racer railway region \
    river road role route runner school season section series show singer site song sport sprinter squad stadium \
    standings star state station street style swimmer system team tour tournament town track train type university \
    venue woman wrestler writer year ";

const STOP_WORDS: &str = " a about after all also although am among an and any are as at be because been before being \
    between both but by can could did do does doing done during each either else ever every few for from get had has \
    have having he her here hers him his how i if in into is it its itself just less many may me more most much my no \
    nor not of off on once one only or other our out over own per s same she should since so some such t than that the \
    their theirs them then there these they this those through to too total under until up us very was we were what \
    when where which while who whom whose why will with without would you your number name names ";

/// Which of a table's rows: where one of these comes shortly before "on the list", rows are counted.
const PLACES: &str = " first second third last next final top bottom previous ";

/// Other phrases that ask for the order of rows.
const ORDER: &[&str] = &[
    "listed after", "listed before", "listed above", "listed below", "listed directly", "listed first", "listed last",
    "listed next", "listed right", "directly above", "directly below", "right above", "right below", "just above",
    "just below", "immediately above", "immediately below", "comes above", "comes below", "row above", "row below",
];

fn among(list: &str, word: &str) -> bool {
    // A word has no space, so that one surrounded by them is found whole.
    list.contains(&format!(" {word} "))
}

pub(super) fn is_stop_word(word: &str) -> bool {
    among(STOP_WORDS, word)
}

pub(super) fn is_table_noun(word: &str) -> bool {
    among(TABLE_NOUNS, word)
}

/// One of the words, or more of them ("these players", "these cities", "these matches").
pub(super) fn is_referent(word: &str) -> bool {
    let one = |end: &str, instead: &str| {
        word.strip_suffix(end).is_some_and(|stem| among(REFERENTS, &format!("{stem}{instead}")))
    };
    among(REFERENTS, word) || one("s", "") || one("es", "") || one("ies", "y")
}

/// Words in lower case, each with where it stands in the text, in bytes.
pub(super) fn words(text: &str) -> Vec<(std::ops::Range<usize>, String)> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, letter) in text.char_indices().chain([(text.len(), ' ')]) {
        match (letter.is_alphanumeric(), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.extend(text.get(from..at).map(|word| (from..at, word.to_lowercase())));
                start = None;
            }
            _ => {}
        }
    }
    words
}

/// The words that are no stop words.
pub(super) fn content(text: &str) -> BTreeSet<String> {
    words(text).into_iter().map(|(_, word)| word).filter(|word| !is_stop_word(word)).collect()
}

/// Whether a text asks for the order of rows, which the parts do not keep: "the last title on the chart", "listed
/// above", "the next row".
pub(super) fn asks_for_order(text: &str) -> bool {
    let words: Vec<String> = words(text).into_iter().map(|(_, word)| word).collect();
    let joined = format!(" {} ", words.join(" "));
    if ORDER.iter().any(|phrase| joined.contains(&format!(" {phrase} "))) {
        return true;
    }
    // What follows a place, with a word or two between: "last (title) on the chart", "first (team) listed", "last row".
    let follows = |at: usize, place: &[String]| match place {
        [row, ..] if at == 0 && matches!(row.as_str(), "row" | "entry") => true,
        [listed, ..] if listed == "listed" => true,
        [on, the, noun, ..] => {
            matches!(on.as_str(), "on" | "in" | "of")
                && matches!(the.as_str(), "the" | "this" | "that")
                && is_table_noun(noun)
        }
        _ => false,
    };
    let mut places = words.iter().enumerate().filter(|(_, word)| among(PLACES, word));
    places.any(|(at, _)| (0..3).any(|gap| words.get(at + 1 + gap..).is_some_and(|rest| follows(gap, rest))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_rows_is_asked_for() {
        for text in [
            "what is the last title on the chart?", "who is listed above Ann?", "What is the first team listed?",
            "which city stands in the next row?", "who is at the top of the list?",
            "what was the last long track listed?",
        ] {
            assert!(asks_for_order(text), "{text}");
        }
        for text in
            ["who came first in the race?", "how many are listed?", "last year's list", "the third of the tablets"]
        {
            assert!(!asks_for_order(text), "{text}");
        }
    }

    #[test]
    fn one_or_several_of_what_a_page_is_about() {
        assert!(["team", "teams", "cities", "matches", "series"].into_iter().all(is_referent));
        assert!(!["number", "teamster", "s", ""].into_iter().any(is_referent));
    }
}
