//! Columns of yes and no that a question names: "active drivers", "unexcused absences".

use std::ops::Range;

use crate::linking::Words;
use crate::linking::words::stem;

/// Words of a column's name that only say that it is one of yes and no.
const EMPTY: [&str; 9] = ["is", "has", "was", "are", "flag", "flg", "yn", "indic", "bool"];
/// What makes the contrary of a word.
const CONTRARY: [&str; 4] = ["un", "in", "non", "dis"];
const NOT: [&str; 6] = ["not", "non", "never", "no", "without", "t"];
/// What may stand between the two: "no longer active", "not yet approved".
const FILLERS: [&str; 7] = ["longer", "yet", "currently", "been", "more", "an", "any"];

/// What says that somebody may be so.
const WILLING: [&str; 11] =
    ["to", "work", "working", "happy", "willing", "able", "ready", "wants", "want", "like", "likes"];

/// Where a question says that a column of yes and no holds, and where that it does not. `is_its_own` says of a word of its name that no
/// other name has it: "remotely" is enough for `open_to_remote`.
pub(super) fn flag(question: &Words, name: &Words, is_its_own: impl Fn(&str) -> bool) -> Option<(Range<usize>, bool)> {
    let stems: Vec<String> = name.stems().into_iter().filter(|s| !EMPTY.contains(&s.as_str())).collect();
    let words = &question.words;
    // The word that says so, "no longer" two of them.
    let not = |at: usize| {
        let text = |at: Option<usize>| at.and_then(|at| words.get(at)).map_or("", |word| word.text.as_str());
        let back = if FILLERS.contains(&text(at.checked_sub(1))) { 2 } else { 1 };
        at.checked_sub(back).filter(|at| NOT.contains(&text(Some(*at))))
    };
    if stems.is_empty() {
        return None;
    }
    let said = words.windows(stems.len()).position(|window| window.iter().map(|word| &word.stem).eq(&stems));
    if let Some(at) = said {
        return Some(not(at).map_or((at..at + stems.len(), true), |not| (not..at + stems.len(), false)));
    }
    let [stem_of] = stems.as_slice() else {
        // "The genders of staff" hold no `staff_gender` to one of both.
        const KINDS: [&str; 6] = ["gender", "sex", "type", "status", "code", "level"];
        let last = stems.last().filter(|last| is_its_own(last) && !KINDS.contains(&last.as_str()))?;
        let at = words.iter().position(|word| word.stem == *last && !word.is_stop && word.text.len() > 3)?;
        // "Happy to work remotely".
        let is_willing = |at: &usize| words.get(*at).is_some_and(|word| WILLING.contains(&word.text.as_str()));
        let start = (0..at).rev().take_while(is_willing).last().unwrap_or(at);
        return Some(not(start).map_or((start..at + 1, true), |not| (not..at + 1, false)));
    };
    let is_contrary = |text: &str| {
        CONTRARY
            .iter()
            .filter_map(|prefix| text.strip_prefix(prefix))
            .any(|rest| rest.len() > 3 && stem(rest) == *stem_of)
    };
    words.iter().position(|word| is_contrary(&word.text)).map(|at| (at..at + 1, false))
}

/// What a question calls those of one sex, with its letter.
#[rustfmt::skip]
const SEXES: [(&str, [&str; 8]); 2] = [
    ("f", ["female", "females", "woman", "women", "girl", "girls", "lady", "ladies"]),
    ("m", ["male", "males", "man", "men", "boy", "boys", "gentleman", "gentlemen"]),
];

/// Where a question names those of one sex, and the letter that a column of sexes has for it.
pub(super) fn sex(question: &Words, name: &Words) -> Option<(Range<usize>, &'static str)> {
    let is_sex = |stem: &String| matches!(stem.as_str(), "sex" | "gender");
    let letter = |text: &str| SEXES.iter().find(|(_, names)| names.contains(&text)).map(|(letter, _)| *letter);
    let mut said = question.words.iter().enumerate().filter_map(|(at, word)| Some((at..at + 1, letter(&word.text)?)));
    let first = said.next().filter(|_| name.stems().iter().any(is_sex))?;
    said.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_and_what_does_not_is_found() {
        let of = |question: &str, name: &str| flag(&Words::of(question), &Words::of_name(name), |word| word == "remot");
        assert_eq!(of("How many active drivers?", "is_active"), Some((2..3, true)));
        assert_eq!(of("How many inactive drivers?", "active"), Some((2..3, false)));
        assert_eq!(of("unexcused absences", "EXCUSED"), Some((0..1, false)));
        assert_eq!(of("products that are not discontinued", "Discontinued"), Some((3..5, false)));
        assert_eq!(of("donors who have gift aid", "gift_aid"), Some((3..5, true)));
        assert_eq!(of("doctors no longer active", "is_active"), Some((1..4, false)));
        assert_eq!(of("returns not yet approved", "IsApproved"), Some((1..4, false)));
        assert_eq!(of("a longer active part", "is_active"), Some((2..3, true)));
        assert_eq!(of("donors in town", "is_flag"), None);
        assert_eq!(of("drivers", "active"), None);
        assert_eq!(of("candidates who like to work remotely", "openToRemote"), Some((2..6, true)));
        assert_eq!(of("members who like sport", "is_sport_member"), None);
        let of = |question: &str, name: &str| sex(&Words::of(question), &Words::of_name(name));
        assert_eq!(of("How many women are members?", "sex_cd"), Some((2..3, "f")));
        assert_eq!(of("How many men and women?", "sex_cd"), None);
        assert_eq!(of("How many men?", "title"), None);
    }
}
