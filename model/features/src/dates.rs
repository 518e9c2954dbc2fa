//! Years as reports write them: "2019", "12/31/08", "dec-04", "FY21", and what conversions made of
//! them: "december 312012".

use tabsegnet_document::months::MONTHS;

/// Words that a year may follow. After others "2013" and "2014" between two words are what some
/// conversions make of dashes (U+2013, U+2014).
const BEFORE: [&str; 26] = [
    "in", "of", "for", "fiscal", "year", "years", "by", "since", "during", "through", "to", "and", "from", "ended",
    "until", "after", "before", "than", "the", "between", "calendar", "with", "quarter", "late", "early", "mid",
];

/// A piece of a text: a run of letters, a run of digits, or another sign.
struct Piece<'a> {
    text: &'a str,
    start: usize,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letters,
    Digits,
    Sign,
}

/// The distinct years of a text, rising.
pub(crate) fn years(text: &str) -> Vec<u16> {
    let lower = text.to_lowercase();
    let pieces = pieces(&lower);
    let mut years = Vec::new();
    for (at, piece) in pieces.iter().enumerate().filter(|(_, piece)| piece.kind == Kind::Digits) {
        years.extend(whole(&lower, &pieces, at).or_else(|| glued(&pieces, at)));
        if piece.text.len() == 2 {
            years.extend(short(&lower, &pieces, at));
        }
    }
    years.sort_unstable();
    years.dedup();
    years
}

/// A day as one number: 20121229.
pub(crate) type Day = u32;

/// The rest of a [`Day`] by this is the same in every year.
pub(crate) const DAYS_OF_A_YEAR: Day = 10_000;

/// The distinct days of a text, rising: "december 29, 2012", "december 292012", "29 dec 2012", "12/29/2012", "12/29/12".
pub(crate) fn days(text: &str) -> Vec<Day> {
    let lower = text.to_lowercase();
    let pieces = pieces(&lower);
    let at = |at: usize| in_words(&pieces, at).or_else(|| slashed(&pieces, at));
    let mut days: Vec<Day> = (0..pieces.len()).filter_map(at).collect();
    days.sort_unstable();
    days.dedup();
    days
}

fn day_of(year: u16, month: Day, day: Day) -> Option<Day> {
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then(|| Day::from(year) * DAYS_OF_A_YEAR + month * 100 + day)
}

/// A number of one or two digits.
fn small(piece: Option<&Piece<'_>>) -> Option<Day> {
    piece.filter(|piece| piece.kind == Kind::Digits && piece.text.len() <= 2)?.text.parse().ok()
}

/// The number of a month by its name or the beginning of it.
fn month(word: &str) -> Option<Day> {
    let is_named = |name: &str| word.len() >= 3 && name.starts_with(word) && (word.len() <= 4 || name == word);
    (1..).zip(MONTHS).find(|(_, name)| is_named(name)).map(|(number, _)| number)
}

/// The day whose month is the piece.
fn in_words(pieces: &[Piece<'_>], at: usize) -> Option<Day> {
    let month = month(pieces.get(at).filter(|piece| piece.kind == Kind::Letters)?.text)?;
    let mut after = pieces.get(at + 1..)?.iter().filter(|piece| !matches!(piece.text, "." | ","));
    let (next, then) = (after.next(), after.next());
    let year = |piece: Option<&Piece<'_>>| piece.and_then(|piece| four_digits(piece.text));
    if let Some(year) = year(next) {
        return day_of(year, month, small(pieces.get(at.checked_sub(1)?))?);
    }
    if let Some(year) = year(then) {
        return day_of(year, month, small(next)?);
    }
    let glued = next.filter(|piece| piece.kind == Kind::Digits)?.text;
    let (day, year) = glued.split_at_checked(glued.len().checked_sub(4)?)?;
    day_of(four_digits(year)?, month, day.parse().ok()?)
}

/// The day whose month is the piece before two slashes.
fn slashed(pieces: &[Piece<'_>], at: usize) -> Option<Day> {
    let slash = |at: usize| pieces.get(at).is_some_and(|piece| piece.text == "/");
    if !slash(at + 1) || !slash(at + 3) {
        return None;
    }
    let written = pieces.get(at + 4)?.text;
    let year = match written.len() {
        2 => century(written.parse().ok()?),
        _ => four_digits(written)?,
    };
    day_of(year, small(pieces.get(at))?, small(pieces.get(at + 2))?)
}

/// The year of two digits.
fn century(two: u16) -> u16 {
    if two < 30 { 2000 + two } else { 1900 + two }
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let kind = |c: char| match c {
        c if c.is_alphabetic() => Kind::Letters,
        c if c.is_ascii_digit() => Kind::Digits,
        _ => Kind::Sign,
    };
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    for (start, c) in text.char_indices().filter(|(_, c)| !c.is_whitespace()) {
        let end = start + c.len_utf8();
        match pieces.last_mut() {
            Some(last) if last.kind == kind(c) && last.kind != Kind::Sign && last.start + last.text.len() == start => {
                last.text = text.get(last.start..end).unwrap_or_default();
            }
            _ => pieces.push(Piece { text: text.get(start..end).unwrap_or_default(), start, kind: kind(c) }),
        }
    }
    pieces
}

fn four_digits(digits: &str) -> Option<u16> {
    let century = digits.starts_with("19") || digits.starts_with("20");
    if digits.len() == 4 && century { digits.parse().ok() } else { None }
}

fn is_month(word: &str) -> bool {
    word.get(..3).is_some_and(|start| MONTHS.iter().any(|name| name.starts_with(start)))
}

/// A year in four digits that is no amount, no part of a number and no broken dash.
fn whole(text: &str, pieces: &[Piece<'_>], at: usize) -> Option<u16> {
    let piece = pieces.get(at)?;
    let year = four_digits(piece.text)?;
    let end = piece.start + piece.text.len();
    let before = text.get(..piece.start)?.chars().next_back();
    let mut after = text.get(end..)?.chars();
    let (next, second) = (after.next(), after.next());
    let decimal = matches!(next, Some('.' | ',')) && second.is_some_and(|c| c.is_ascii_digit());
    let amount = at.checked_sub(1).and_then(|at| pieces.get(at)).is_some_and(|piece| piece.text == "$");
    if amount || matches!(before, Some('.' | ',')) || next.is_some_and(char::is_alphabetic) || decimal {
        return None;
    }
    let word = |at: usize| pieces.get(at).filter(|piece| piece.kind == Kind::Letters).map(|piece| piece.text);
    let (left, right) = (at.checked_sub(1).and_then(word), word(at + 1));
    let dash = matches!(year, 2013 | 2014)
        && right.is_some()
        && left.is_some_and(|left| !BEFORE.contains(&left) && !is_month(left));
    (!dash).then_some(year)
}

/// A day and a year that run together after a month: "december 312012".
fn glued(pieces: &[Piece<'_>], at: usize) -> Option<u16> {
    let digits = pieces.get(at)?.text;
    let day = digits.len().checked_sub(4).filter(|day| (1..=2).contains(day))?;
    let year = four_digits(digits.get(day..)?)?;
    let mut before = pieces.get(..at)?.iter().rev().skip_while(|piece| piece.text == ".");
    before.next().filter(|piece| is_month(piece.text)).map(|_| year)
}

/// A year in two digits: after slashes, after a month at the end, after "FY" or an apostrophe.
fn short(text: &str, pieces: &[Piece<'_>], at: usize) -> Option<u16> {
    let year = century(pieces.get(at)?.text.parse().ok()?);
    let back = |steps: usize| at.checked_sub(steps).and_then(|at| pieces.get(at));
    let sign = |steps: usize, sign: &str| back(steps).is_some_and(|piece| piece.text == sign);
    let digits = |steps: usize| back(steps).is_some_and(|piece| piece.kind == Kind::Digits && piece.text.len() <= 2);
    let next = pieces.get(at + 1);
    let in_date = sign(1, "/") && digits(2) && next.is_none_or(|next| next.text != "/");
    let month = |steps: usize| back(steps).is_some_and(|piece| piece.kind == Kind::Letters && is_month(piece.text));
    let hyphen = ["-", "'", "’"].iter().any(|mark| sign(1, mark));
    let after_month = next.is_none() && ((hyphen && month(2)) || month(1));
    let start = pieces.get(at)?.start;
    let fiscal = sign(1, "'") || back(1).is_some_and(|piece| piece.text == "fy");
    let apart = text.get(..start).is_some_and(|before| !before.ends_with("''"));
    ((in_date || after_month || (fiscal && apart)) && year > 1970).then_some(year)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn years_are_read_as_reports_write_them() {
        let cases: [(&str, &[u16]); 17] = [
            ("in 2019 and 2018 , 2,019 units at $ 2000", &[2018, 2019]),
            ("december 312012", &[2012]),
            ("dec . 31 , 2008", &[2008]),
            ("12/31/08", &[2008]),
            ("12/04", &[2004]),
            ("1/2/3", &[]),
            ("dec-98", &[1998]),
            ("mar 05", &[2005]),
            ("march 05 meeting", &[]),
            ("FY21 and fy 20", &[2020, 2021]),
            ("the company 2014 which", &[]),
            ("in 2014 which", &[2014]),
            ("2014", &[2014]),
            ("december 2013 through", &[2013]),
            ("company2019s", &[]),
            ("2016-2018", &[2016, 2018]),
            ("20190 2019.5", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(years(text), expected, "{text}");
        }
    }

    #[test]
    fn days_are_the_same_however_they_are_written() {
        for text in
            ["december 29 , 2012", "dec. 29, 2012", "December 292012", "29 dec 2012", "12/29/2012", "ended 12/29/12"]
        {
            assert_eq!(days(text), [20_121_229], "{text}");
        }
        assert_eq!(days("from january 1 , 2009 to 12/31/10"), [20_090_101, 20_101_231]);
        for text in ["december 2012", "12/2012", "13/40/2012", "1/2/3", "december 1234", "december", "may 45, 2012"] {
            assert!(days(text).is_empty(), "{text}");
        }
        assert!(days("the decrease 12, 2012 and mays 3, 2012").is_empty());
    }

    proptest! {
        #[test]
        fn any_text_has_days(text in "\\PC{0,40}|(dec|may|[0-9]{1,6}|[/, .-]){0,9}") {
            prop_assert!(days(&text).iter().all(|day| (19_000_101..=20_991_231).contains(day)));
        }

        #[test]
        fn any_text_has_years(text in "\\PC{0,40}") {
            prop_assert!(years(&text).iter().all(|year| (1900..2100).contains(year)));
        }
    }
}
