//! Tables with the same columns, such as those of each year: which of them a question means.

use std::collections::{HashMap, HashSet};

use tabsegnet_corpus::terms;
use tabsegnet_document::model::Table;
use tabsegnet_lexical::names::STOP;
use tabsegnet_lexical::periods::is_year;

/// Tables that a question may mean whose cells are looked through for its words.
const RIVALS: usize = 50;
/// Cells of a table that are looked through for words of a question.
const CELLS: usize = 100_000;

/// What a question means of tables with the same columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meant {
    /// This one, or there is no other.
    This,
    /// Another one: by the year or a name that the question has and the other one's name too, or no table that there is.
    Another,
    /// One of so many, of which the question does not say which.
    OneOf(usize),
}

impl Meant {
    /// The likelihood that what a table says is of the one that is meant.
    pub fn likelihood(self) -> f32 {
        match self {
            Self::This => 1.0,
            Self::Another => 0.0,
            #[allow(clippy::cast_precision_loss, reason = "a count of tables")]
            Self::OneOf(tables) => 1.0 / tables.max(1) as f32,
        }
    }

    /// What there is to say of it.
    pub fn note(self) -> Option<String> {
        let Self::OneOf(tables) = self else { return None };
        Some(format!("{tables} tables have the same columns, and the question does not say which of them it means"))
    }
}

/// The tables of a library in groups of the same columns.
#[derive(Debug, Default)]
pub(crate) struct Siblings {
    /// By the table its group; none of one alone.
    of: Vec<Option<usize>>,
    /// Of each group its tables.
    groups: Vec<Vec<usize>>,
    /// Of each table the words that name it: of its folder, file, headings and caption; in a group those that not all have.
    names: Vec<HashSet<String>>,
}

impl Siblings {
    /// Of tables with their columns and all that names them.
    pub fn new(tables: impl Iterator<Item = (Vec<String>, String)>) -> Self {
        let mut by_columns: HashMap<Vec<String>, Vec<usize>> = HashMap::new();
        let mut names: Vec<HashSet<String>> = Vec::new();
        for (at, (columns, named)) in tables.enumerate() {
            by_columns.entry(columns).or_default().push(at);
            names.push(words(&named));
        }
        let mut groups: Vec<Vec<usize>> = by_columns.into_values().filter(|group| group.len() > 1).collect();
        groups.sort_unstable();
        let mut of = vec![None; names.len()];
        for (number, group) in groups.iter().enumerate() {
            let mut common = names.get(group[0]).cloned().unwrap_or_default();
            group.iter().for_each(|&table| common.retain(|word| names[table].contains(word)));
            for &table in group {
                of[table] = Some(number);
                names[table].retain(|word| !common.contains(word));
            }
        }
        Self { of, groups, names }
    }

    /// The tables with the same columns as one, itself among them; none where it is the only one.
    fn group(&self, table: usize) -> &[usize] {
        let group = self.of.get(table).copied().flatten().and_then(|group| self.groups.get(group));
        group.map_or(&[], Vec::as_slice)
    }

    /// How many words of a question name a table.
    fn named(&self, table: usize, question: &HashSet<String>) -> usize {
        self.names.get(table).map_or(0, |names| names.intersection(question).count())
    }

    /// Whether names tell the tables of a group apart: parts of one table have the same.
    fn are_told_apart(&self, group: &[usize]) -> bool {
        let mut seen: Vec<&HashSet<String>> = Vec::new();
        group.iter().filter_map(|&table| self.names.get(table)).all(|names| {
            let is_new = !seen.contains(&names);
            seen.push(names);
            is_new
        })
    }

    /// Those of the tables with the same columns as one that a question names, where it names any.
    pub fn named_instead(&self, table: usize, question: &str) -> Vec<usize> {
        let (group, question) = (self.group(table), words(question));
        let most = group.iter().map(|&of| self.named(of, &question)).max().unwrap_or(0);
        group.iter().copied().filter(|&of| most > 0 && self.named(of, &question) == most).collect()
    }

    /// Whether a question means another one of the tables with the same columns as one, or none that there is: by a name or
    /// year that others have and this one has not, or by a year that none has. `cells` gives a table.
    pub fn means_another<'t>(&self, table: usize, question: &str, cells: impl Fn(usize) -> Option<&'t Table>) -> bool {
        let group = self.group(table);
        if group.is_empty() || !self.are_told_apart(group) {
            return false;
        }
        let question = words(question);
        let own = self.named(table, &question);
        if group.iter().any(|&of| self.named(of, &question) > own) {
            return true;
        }
        let years: Vec<&String> = question.iter().filter(|word| is_year(word)).collect();
        let names = self.names.get(table);
        let is_of_years = names.is_some_and(|names| names.iter().any(|name| is_year(name)));
        let is_named = names.is_some_and(|names| years.iter().any(|year| names.contains(*year)));
        is_of_years && !years.is_empty() && !is_named && !cells(table).is_some_and(|table| has_any(table, &years))
    }

    /// What a question means of the tables with the same columns as one. `cells` gives a table.
    pub fn meant<'t>(&self, table: usize, question: &str, cells: impl Fn(usize) -> Option<&'t Table>) -> Meant {
        if self.means_another(table, question, &cells) {
            return Meant::Another;
        }
        let group = self.group(table);
        if !self.are_told_apart(group) {
            return Meant::This;
        }
        let question = words(question);
        let own = self.named(table, &question);
        let mut rivals: Vec<usize> = group.to_vec();
        rivals.retain(|&of| self.named(of, &question) == own);
        if rivals.len() <= RIVALS {
            // What names all is what the cells have: "KG21 RRT" stands in one of them.
            let held = |of: usize| cells(of).map_or(0, |table| held(table, &question));
            let own = held(table);
            rivals.retain(|&of| of == table || held(of) >= own);
        }
        if rivals.len() > 1 { Meant::OneOf(rivals.len()) } else { Meant::This }
    }
}

/// The words of a text that may name a table: neither those that say nothing nor numbers, but years.
fn words(text: &str) -> HashSet<String> {
    let all = terms(text);
    let quarters = all.windows(2).filter(|two| two[0] == "q" && two[1].len() == 1).map(|two| two.concat());
    let quarters: Vec<String> = quarters.collect();
    let is_name = |word: &String| {
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        is_year(word) || !is_number && word.chars().count() > 1 && !STOP.contains(&word.as_str())
    };
    all.into_iter().filter(is_name).chain(quarters).collect()
}

/// How many words of a question stand in a table's cells.
fn held(table: &Table, question: &HashSet<String>) -> usize {
    let mut found: HashSet<String> = HashSet::new();
    for cell in table.cells().iter().take(CELLS) {
        found.extend(terms(&cell.text).into_iter().filter(|word| question.contains(word)));
    }
    found.len()
}

fn has_any(table: &Table, years: &[&String]) -> bool {
    table.cells().iter().take(CELLS).any(|cell| years.iter().any(|year| cell.text.contains(year.as_str())))
}

#[cfg(test)]
mod tests {
    use tabsegnet_document::model::TableSource;

    use super::*;

    fn table(rows: &[&[&str]]) -> Table {
        let rows = rows.iter().map(|row| row.iter().map(|text| (*text).into()).collect()).collect();
        Table::new(TableSource { header_rows: 1, header_cols: 1, rows, ..TableSource::default() }).unwrap()
    }

    fn siblings(names: &[&str]) -> Siblings {
        Siblings::new(names.iter().map(|name| (vec!["region".to_owned(), "q1".to_owned()], (*name).to_owned())))
    }

    #[test]
    fn the_year_and_the_names_of_a_question_say_which_table_is_meant() {
        let cells = table(&[&["Region", "Q1"], &["East", "2"]]);
        let of = |names: &[&str], question: &str| {
            let siblings = siblings(names);
            (0..names.len()).map(|at| siblings.meant(at, question, |_| Some(&cells))).collect::<Vec<_>>()
        };
        use Meant::{Another, OneOf, This};
        let years = ["2022 sales", "2023 sales"];
        assert_eq!(of(&years, "What were sales in Q1 2023?"), [Another, This]);
        assert_eq!(of(&years, "What were sales in Q1?"), [OneOf(2), OneOf(2)]);
        assert_eq!(of(&years, "What were sales in Q1 2019?"), [Another, Another]);
        assert_eq!(of(&years, "How did sales change from 2022 to 2023?"), [OneOf(2), OneOf(2)]);
        assert_eq!(of(&["stock durham", "stock carlisle"], "How many are in stock in Carlisle?"), [Another, This]);
        // Parts of one table.
        assert_eq!(of(&["sales", "sales"], "What were sales in Q1?"), [This, This]);
        assert_eq!(of(&["sales"], "What were sales in Q1 2019?"), [This]);
        assert_eq!(of(&["Q1 sales", "Q2 sales"], "Sales in Q2"), [Another, This]);
        assert_eq!(siblings(&years).named_instead(0, "sales of 2023"), [1]);
        assert!(siblings(&years).named_instead(0, "sales").is_empty());
    }

    #[test]
    fn what_one_table_alone_has_is_asked_of_it() {
        let all = [table(&[&["Van", "Place"], &["KG21", "Hexham"]]), table(&[&["Van", "Place"], &["KG22", "Durham"]])];
        let siblings = siblings(&["small vans", "large vans"]);
        let of = |at: usize| siblings.meant(at, "Where is the Durham one?", |of| all.get(of));
        assert_eq!((of(1), of(0).likelihood()), (Meant::This, 0.5));
    }
}
