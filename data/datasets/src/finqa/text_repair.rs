//! Puts back what FinQA's pages lost on their way from the reports (PDF): characters beyond ASCII, of which the digits of
//! the code point are left ("shareholders 2019 equity", "$ 2014" for "$ —"), and blanks where a header went over several
//! lines ("europeancruiseguests"). It sees a document alone: no other page, no question, no gold.

use std::collections::HashSet;

use tabsegnet_document::model::{Block, CellRole, Document, Heading, Table};
use tabsegnet_document::months::MONTHS;

/// Names these rules in digests.
pub const VERSION: &str = "finqa text_repair 1";

/// Repairs all texts of a document.
pub fn repair(document: &mut Document) {
    let year = year_of(&document.id);
    for block in &mut document.blocks {
        match block {
            Block::Heading(Heading { text, .. }) | Block::Passage(text) => *text = characters(text, year),
            Block::Table(table) => table.change_texts(|table, cell| match table.role(cell) {
                CellRole::Data if is_dash(table, cell.row, cell.col) => {
                    ["2013", "2014"].iter().fold(cell.text.clone(), |text, code| text.replace(code, character(code)))
                }
                _ => characters(&cell.text, year),
            }),
        }
    }
    let words = Words::of(document);
    for block in &mut document.blocks {
        if let Block::Table(table) = block {
            table.change_texts(|_, cell| words.separated(&cell.text));
        }
    }
}

/// The year of a page: the second part of `ABC/2018/page_7.pdf`.
fn year_of(page: &str) -> Option<u16> {
    page.split('/').nth(1)?.parse().ok()
}

/// Words that a year may follow.
const BEFORE_YEARS: [&str; 24] = [
    "in", "of", "for", "fiscal", "year", "years", "by", "since", "during", "through", "to", "and", "from", "ended",
    "until", "after", "before", "than", "the", "between", "calendar", "with", "quarter", "months",
];

fn is_word(token: &str) -> bool {
    token.chars().next().is_some_and(char::is_alphabetic)
}

/// Characters whose code points are left: quotes (2018, 2019, 201c, 201d), dashes (2013, 2014), bullets (2022), the euro
/// (20ac). What may be a year stays where a year may stand; `year` is the page's.
fn characters(text: &str, year: Option<u16>) -> String {
    let tokens: Vec<&str> = text.split(' ').collect();
    let mut text_repair: Vec<String> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at];
        let next = tokens.get(at + 1).copied().unwrap_or_default();
        let before = at.checked_sub(1).map_or("", |at| tokens[at]);
        // A year long past the page's is none that its text counts from.
        let no_year =
            || year.zip(token.parse().ok()).is_some_and(|(page, year): (u16, u16)| page.saturating_add(1) < year);
        let mut taken = 1;
        match token {
            "2018" if next.strip_prefix("2018").is_some_and(is_word) => {
                text_repair.push(format!("“{}", &next[4..]));
                taken = 2;
            }
            "2019" if next == "2019" => {
                append(&mut text_repair, "”");
                taken = 2;
            }
            "2019s" => append(&mut text_repair, "’s"),
            "2019" if is_word(before) && before.ends_with('s') && is_word(next) && !BEFORE_YEARS.contains(&before) => {
                append(&mut text_repair, "’");
            }
            "2022" if is_word(next) && matches!(before, "" | "." | ":" | ";") => text_repair.push("•".into()),
            "2013" | "2014" if is_dash_between(before, next) && no_year() => text_repair.push(character(token).into()),
            "201c" | "201d" | "20ac" => text_repair.push(character(token).into()),
            _ => {
                let code = token.get(..4).filter(|_| token.len() > 4).unwrap_or_default();
                let rest = token.get(4..).unwrap_or_default();
                let follows = match code {
                    "201c" | "201d" => true,
                    "20ac" => rest.starts_with(|c: char| c.is_ascii_digit()),
                    "2013" | "2014" | "2018" => is_word(rest) && rest.len() > 1,
                    "2019" => is_word(rest) && rest.len() > 2,
                    _ => false,
                };
                match (follows, code) {
                    (true, "2013" | "2014") => text_repair.extend([character(code).to_owned(), rest.to_owned()]),
                    (true, _) => text_repair.push(format!("{}{rest}", character(code))),
                    (false, _) => text_repair.push(token.to_owned()),
                }
            }
        }
        at += taken;
    }
    text_repair.join(" ")
}

fn append(text_repair: &mut Vec<String>, sign: &str) {
    match text_repair.last_mut() {
        Some(last) => last.push_str(sign),
        None => text_repair.push(sign.to_owned()),
    }
}

fn character(code: &str) -> &'static str {
    match code {
        "2013" => "–",
        "2014" => "—",
        "2018" => "‘",
        "2019" => "’",
        "201c" => "“",
        "201d" => "”",
        _ => "€",
    }
}

/// Whether "2013" or "2014" between these is a dash.
fn is_dash_between(before: &str, next: &str) -> bool {
    let after_number = before.chars().all(|c| c.is_ascii_digit()) && before.len() < 3 && !before.is_empty();
    let after_word = is_word(before) && !BEFORE_YEARS.contains(&before) && !MONTHS.contains(&before);
    (after_number || after_word || before == ")") && (is_word(next) || next == "(")
}

/// Whether the cell holds "2013" or "2014" for a dash: where a currency sign goes before it, or where its row or column
/// holds amounts and no other year.
fn is_dash(table: &Table, row: usize, col: usize) -> bool {
    let bare = |row: usize, col: usize| -> Option<String> {
        let cell = table.cell_at(row, col).filter(|cell| table.role(cell) == CellRole::Data)?;
        Some(cell.text.chars().filter(|c| !c.is_whitespace()).collect())
    };
    let is_code = |text: &str| matches!(text, "2013" | "2014" | "2013%" | "2014%");
    let Some(text) = bare(row, col) else { return false };
    if let Some(amount) = text.strip_prefix('$') {
        return is_code(amount);
    }
    if !is_code(&text) {
        return false;
    }
    let others = (0..table.cols()).map(|other| (row, other)).chain((0..table.rows()).map(|other| (other, col)));
    let mut amounts = false;
    for text in others.filter_map(|(row, col)| bare(row, col)) {
        let is_year = text.len() == 4 && text.parse::<u16>().is_ok_and(|year| (1950..2050).contains(&year));
        if is_year && !is_code(&text) {
            return false;
        }
        amounts |= !is_year && text.contains(|c: char| c.is_ascii_digit()) && !is_code(text.trim_start_matches('$'));
    }
    amounts
}

/// The words of a document, to separate those that run together.
struct Words {
    /// Those that may be parts of others.
    parts: HashSet<String>,
    /// Those of sentences, which rarely lose blanks.
    whole: HashSet<String>,
}

/// The least letters of a word that is taken apart.
const LEAST_LETTERS: usize = 8;

/// Parts that need not stand in the document.
const SMALL: [&str; 8] = ["of", "for", "the", "and", "or", "by", "to", "at"];

/// What is written together with what follows or goes before, and so is no part of its own.
const ENDINGS: [&str; 34] = [
    "non", "pre", "sub", "multi", "inter", "under", "over", "out", "there", "where", "here", "some", "any", "every",
    "ment", "ments", "tion", "tions", "sion", "ing", "able", "ible", "ness", "ward", "wide", "ever", "after", "holder",
    "holders", "owner", "owners", "self", "time", "line",
];

impl Words {
    fn of(document: &Document) -> Self {
        let apart = |text: &str| letters(text).into_iter().filter(|(_, joined)| !joined).map(|(word, _)| word);
        let whole: HashSet<String> = document.passages().flat_map(apart).collect();
        let in_tables = document.tables().flat_map(Table::cells).flat_map(|cell| apart(&cell.text));
        let parts = whole.iter().cloned().chain(in_tables);
        let parts = parts.filter(|word| word.len() > 2 && !ENDINGS.contains(&word.as_str())).collect();
        let mut words = Self { parts, whole };
        // Such words as "sharespurchased" are no parts of longer ones.
        let together: Vec<String> = words.parts.iter().filter(|word| words.split(word).is_some()).cloned().collect();
        together.iter().for_each(|word| {
            words.parts.remove(word);
        });
        words
    }

    /// The fewest parts that a word consists of, where it runs together.
    fn split<'a>(&self, word: &'a str) -> Option<Vec<&'a str>> {
        if word.len() < LEAST_LETTERS || !word.is_ascii() || self.whole.contains(word) {
            return None;
        }
        let part = |from: usize, to: usize| {
            let part = &word[from..to];
            to - from < word.len() && (SMALL.contains(&part) || (part.len() > 2 && self.parts.contains(part)))
        };
        // The fewest parts up to each letter, and where the last of them begins.
        let mut fewest: Vec<Option<(usize, usize)>> = vec![None; word.len() + 1];
        fewest[0] = Some((0, 0));
        for to in 1..=word.len() {
            for from in 0..to {
                let Some((parts, _)) = fewest[from] else { continue };
                if part(from, to) && fewest[to].is_none_or(|(least, _)| parts + 1 < least) {
                    fewest[to] = Some((parts + 1, from));
                }
            }
        }
        let mut parts = Vec::new();
        let mut to = word.len();
        while to > 0 {
            let (_, from) = fewest[to]?;
            parts.push(&word[from..to]);
            to = from;
        }
        parts.reverse();
        // Small words alone, or with one that is not much longer, are a chance.
        let long = parts.iter().filter(|part| part.len() > 3).map(|part| part.len()).sum::<usize>();
        (parts.iter().any(|part| part.len() > 4) && 2 * long > word.len()).then_some(parts)
    }

    /// The text with blanks between words that run together.
    fn separated(&self, text: &str) -> String {
        let mut separated = String::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let start = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest.len());
            let (before, from) = rest.split_at(start);
            let end = from.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(from.len());
            let (word, after) = from.split_at(end);
            separated.push_str(before);
            let lower = word.to_ascii_lowercase();
            match self.split(&lower) {
                Some(parts) => {
                    let mut at = 0;
                    for (number, part) in parts.iter().enumerate() {
                        separated.push_str(if number > 0 { " " } else { "" });
                        separated.push_str(&word[at..at + part.len()]);
                        at += part.len();
                    }
                }
                None => separated.push_str(word),
            }
            rest = after;
        }
        separated
    }
}

/// The runs of letters of a text in small letters, each with whether a hyphen touches it, as where a line broke.
fn letters(text: &str) -> Vec<(String, bool)> {
    let tokens: Vec<&str> = text.split_whitespace().collect();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let beside =
            |other: Option<usize>| other.and_then(|other| tokens.get(other)).is_some_and(|token| *token == "-");
        let joined = token.contains('-')
            || beside(at.checked_sub(1))
            || beside(Some(at + 1))
            || at.checked_sub(1).is_some_and(|at| tokens[at].ends_with('-'));
        let words = token.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
        found.extend(words.map(|word| (word.to_ascii_lowercase(), joined)));
    }
    found
}

#[cfg(test)]
mod tests;
