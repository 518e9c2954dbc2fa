//! Questions made independent of their table: what they leave to it is said in the words of its title and caption.

use std::collections::BTreeSet;

use tabsegnet_datasets::tables::TableRecord;

use super::captions::Topic;
use super::words::{AFTER, BEFORE, content, is_referent, is_stop_word, is_table_noun, words};
use crate::dice::Dice;

/// Words of cells that a question must have to be of this table, where it has none of its title.
const CELL_WORDS: usize = 2;

/// What of a table a question can name.
pub(super) struct Context {
    topic: Option<Topic>,
    topic_words: BTreeSet<String>,
    cell_words: BTreeSet<String>,
}

/// A question as it is put to a corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Independent {
    /// It names what it is about.
    AsItIs,
    /// "this team" or "the list" now says whose.
    Replaced(String),
    /// It named nothing of its table; now it says where it looks.
    Placed(String),
    /// It leans on its table, and that says nothing.
    Impossible,
}

impl Context {
    /// Of a table.
    pub fn of(table: &TableRecord) -> Self {
        let topic = Topic::of(table);
        let naming = |word: &String| !is_table_noun(word) && !is_referent(word) && word.contains(char::is_alphabetic);
        let said = [&table.title, &table.section, &table.caption].into_iter().flat_map(|text| content(text));
        let header: BTreeSet<String> = table.column_headers.iter().flat_map(|cell| content(cell)).collect();
        let cells = table.rows.iter().flatten().flat_map(|cell| content(cell));
        Self {
            topic,
            topic_words: said.filter(|word| naming(word) && !header.contains(word)).collect(),
            cell_words: cells.filter(|word| naming(word) && !header.contains(word)).collect(),
        }
    }

    /// A text as it can be put without the table. What comes behind the byte `referring` may lean on what stands
    /// before it: there "these players" are not the table's.
    pub fn independent(&self, text: &str, referring: usize, dice: &mut Dice) -> Independent {
        let marks = references(text, referring);
        let named = content(text);
        let names_it = named.iter().any(|word| self.topic_words.contains(word))
            || named.iter().filter(|word| self.cell_words.contains(*word)).count() >= CELL_WORDS;
        if marks.is_empty() && names_it {
            return Independent::AsItIs;
        }
        let Some(topic) = &self.topic else {
            return Independent::Impossible;
        };
        let phrase = topic.phrase(dice.chance(50));
        if marks.is_empty() {
            return Independent::Placed(placed(text, &phrase, dice));
        }
        let mut replaced = String::new();
        let mut end = 0;
        for (number, (range, noun)) in marks.into_iter().enumerate() {
            replaced.push_str(text.get(end..range.start).unwrap_or_default());
            replaced.push_str(if range.start == 0 { "The " } else { "the " });
            replaced.push_str(&noun);
            if number == 0 {
                replaced.push_str(" of ");
                replaced.push_str(&phrase);
            }
            end = range.end;
        }
        replaced.push_str(text.get(end..).unwrap_or_default());
        Independent::Replaced(replaced)
    }
}

/// Where a text points at its table ("this list", "the table above") or at what that is about ("this team"), each with
/// its noun. "the list of …" says itself which.
fn references(text: &str, referring: usize) -> Vec<(std::ops::Range<usize>, String)> {
    let words = words(text);
    let mut found: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    for (at, pair) in words.windows(2).enumerate() {
        let [(first, determiner), (second, noun)] = pair else { continue };
        let apart = text.get(first.end..second.start).is_none_or(|gap| gap.chars().any(|c| !c.is_whitespace()));
        let next = words.get(at + 2).map_or("", |(_, word)| word.as_str());
        let table = matches!(determiner.as_str(), "the" | "this" | "that" | "these") && is_table_noun(noun);
        let subject = matches!(determiner.as_str(), "this" | "these") && is_referent(noun) && first.start < referring;
        if apart || !(table || subject) || matches!(next, "of" | "for") {
            continue;
        }
        let pointing = matches!(next, "above" | "below" | "provided" | "shown" | "given" | "here");
        let end = match words.get(at + 2) {
            Some((range, _)) if table && pointing => range.end,
            _ => second.end,
        };
        found.push((first.start..end, noun.clone()));
    }
    found
}

/// A text with where it looks before or after it.
fn placed(text: &str, phrase: &str, dice: &mut Dice) -> String {
    let text = text.trim();
    if dice.chance(50) {
        return format!("{} {phrase}, {}", dice.pick(BEFORE), continued(text));
    }
    let bare = text.trim_end_matches(['?', '.', ' ', '!']);
    let end = text.get(bare.len()..).unwrap_or_default();
    format!("{bare} {} {phrase}{end}", dice.pick(AFTER))
}

/// A text within a sentence: a capital that is no name's becomes small.
pub(super) fn continued(text: &str) -> String {
    let first = words(text).into_iter().next();
    match first {
        Some((range, word)) if range.start == 0 && is_stop_word(&word) && word != "i" => {
            word + text.get(range.end..).unwrap_or_default()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> TableRecord {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        TableRecord {
            title: "List of Charlotte Eagles".into(),
            section: "Years -- By season".into(),
            column_headers: row(["Year", "League"]),
            rows: vec![row(["2004", "Premier Alpha"])],
            ..TableRecord::default()
        }
    }

    fn of(text: &str, referring: usize, table: &TableRecord) -> Independent {
        let mut dice = Dice::new(tabsegnet_store::Digest::new());
        Context::of(table).independent(text, referring, &mut dice)
    }

    #[test]
    fn what_points_at_the_table_says_whose_it_is_once() {
        let text = "how often was this team in this table above, and when did the team win?";
        let Independent::Replaced(text) = of(text, usize::MAX, &table()) else { panic!("not replaced") };
        assert!(text.starts_with("how often was the team of Charlotte Eagles"), "{text}");
        assert!(text.ends_with(" in the table, and when did the team win?"), "{text}");
        // Behind `referring` a subject is not the table's; the table itself still is.
        let later = "who won the cup, and where did this team play?";
        assert!(matches!(of(later, 10, &table()), Independent::Placed(_)));
        assert!(matches!(of("what comes after Charlotte on the list of stations?", 0, &table()), Independent::AsItIs));
    }

    #[test]
    fn what_names_nothing_of_the_table_says_where_it_looks() {
        let Independent::Placed(text) = of("What was the last year?", 0, &table()) else { panic!("not placed") };
        assert!(text.contains("Charlotte Eagles") && text.contains("hat was the last year"), "{text}");
        // Two words of cells are enough, one is not; those of the header are none.
        assert_eq!(of("was premier alpha before 2004?", 0, &table()), Independent::AsItIs);
        assert!(matches!(of("was alpha before 2004?", 0, &table()), Independent::Placed(_)));
        assert!(matches!(of("which league in which year?", 0, &table()), Independent::Placed(_)));
        let bare = TableRecord { title: String::new(), section: String::new(), ..table() };
        assert_eq!(of("was this team there?", usize::MAX, &bare), Independent::Impossible);
        assert_eq!(of("was premier alpha there?", usize::MAX, &bare), Independent::AsItIs);
    }
}
