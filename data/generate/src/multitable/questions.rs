//! Which questions are put to the corpus: filtered, joined and made independent of their table.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::context::{Context, Independent, continued};
use super::source::{SourceQuestion, Sources};
use super::words::{JOINTS, JOINTS_OF_SEQUENCES, asks_for_order, content, is_stop_word, words};
use super::{MultiTableError, Settings, Task};
use crate::dice::Dice;
use tabsegnet_datasets::tables::TableRecord;

/// Words that a question must have.
const FEWEST_WORDS: usize = 5;
/// Different words that are no stop words.
const FEWEST_CONTENT_WORDS: usize = 3;
/// Stop words among its words, in percent, at most.
const STOP_WORDS_PERCENT: usize = 70;
/// Content words that two questions of a table have in common, in percent of all of both: from here on they are one.
const ALIKE_PERCENT: usize = 80;
/// Questions of a sequence that are joined, from its first.
const LONGEST_SEQUENCE: usize = 4;

/// A question that is put to the corpus.
pub(super) struct Chosen {
    pub id: String,
    pub text: String,
    pub source_table: String,
    pub label: Option<bool>,
    pub answers: Vec<String>,
    /// Bytes of its first question, where later ones lean on it; otherwise of all.
    referring: usize,
    /// Content words.
    words: BTreeSet<String>,
}

type Tally = BTreeMap<&'static str, usize>;

fn count(tally: &mut Tally, what: &'static str, by: usize) {
    if by > 0 {
        *tally.entry(what).or_default() += by;
    }
}

/// The questions that a task asks, by source table in the order of the tables, those of a table in the order given.
pub(super) fn choose(
    sources: &Sources,
    questions: &[SourceQuestion],
    settings: &Settings,
    tally: &mut Tally,
) -> Result<Vec<Chosen>, MultiTableError> {
    let given = by_table(sources, questions, tally)?;
    let mut kept = Vec::new();
    for (table, questions) in
        given.into_iter().filter_map(|(place, questions)| Some((sources.table(place)?, questions)))
    {
        let mut dice = settings.dice(settings.task.name(), &table.id);
        let candidates = match settings.task {
            Task::Verification => statements(table, &questions, tally),
            Task::Single => single(table, &questions, tally),
            Task::Multi => joined(table, &questions, &mut dice, tally),
        };
        let candidates = without_repeats(candidates, &mut dice, tally);
        let context = if candidates.is_empty() { continue } else { Context::of(table) };
        for mut question in candidates {
            match context.independent(&question.text, question.referring, &mut dice) {
                Independent::AsItIs => count(tally, "questions kept as they are", 1),
                Independent::Replaced(text) => {
                    count(tally, "questions with a reference to their table replaced", 1);
                    question.text = text;
                }
                Independent::Placed(text) => {
                    count(tally, "questions that named nothing of their table, with its topic added", 1);
                    question.text = text;
                }
                Independent::Impossible => {
                    count(tally, "questions left out: lean on a table without title and caption", 1);
                    continue;
                }
            }
            kept.push(question);
        }
    }
    let kept = without_ambiguous(kept, tally);
    match kept.is_empty() {
        true => Err(no_question(questions.len(), tally)),
        false => Ok(kept),
    }
}

fn no_question(questions: usize, tally: &Tally) -> MultiTableError {
    let why: Vec<String> = tally
        .iter()
        .filter(|(what, _)| what.starts_with("questions left out"))
        .map(|(what, number)| format!("{} {number}", what.trim_start_matches("questions left out: ")))
        .collect();
    MultiTableError::NoQuestion {
        questions,
        why: if why.is_empty() { "none were given".into() } else { why.join(", ") },
    }
}

/// Questions of one table that is cut, by its place.
fn by_table<'q>(
    sources: &Sources,
    questions: &'q [SourceQuestion],
    tally: &mut Tally,
) -> Result<BTreeMap<usize, Vec<&'q SourceQuestion>>, MultiTableError> {
    let mut ids: HashMap<&str, &[String]> = HashMap::new();
    let mut of_table: BTreeMap<usize, Vec<&SourceQuestion>> = BTreeMap::new();
    for question in questions {
        let record = &question.record;
        match ids.insert(&record.id, &record.tables) {
            None => {}
            // OTT-QA has some of HybridQA's questions, with their ids.
            Some(tables) if *tables == record.tables => {
                count(tally, "questions left out: of the same id and table as an earlier one", 1);
                continue;
            }
            Some(_) => return Err(MultiTableError::Duplicate { what: "question", id: record.id.clone() }),
        }
        let mut place = None;
        for table in &record.tables {
            let unknown = || MultiTableError::UnknownTable { question: record.id.clone(), table: table.clone() };
            place = sources.place(table).ok_or_else(unknown)?;
        }
        match (record.tables.as_slice(), place) {
            ([_], Some(place)) => of_table.entry(place).or_default().push(question),
            ([_], None) => count(tally, "questions left out: of a table that is too small", 1),
            _ => count(tally, "questions left out: not of one table", 1),
        }
    }
    Ok(of_table)
}

fn unchanged(table: &TableRecord, question: &SourceQuestion) -> Chosen {
    let text = question.record.question.split_whitespace().collect::<Vec<_>>().join(" ");
    Chosen {
        id: question.record.id.clone(),
        words: content(&text),
        text,
        source_table: table.id.clone(),
        label: None,
        answers: question.answers(),
        referring: usize::MAX,
    }
}

/// Whether a question says enough; counted where it does not.
fn says_enough(question: &Chosen, tally: &mut Tally) -> bool {
    let words = words(&question.text);
    let stop_words = words.iter().filter(|(_, word)| is_stop_word(word)).count();
    let because = if words.len() < FEWEST_WORDS || question.words.len() < FEWEST_CONTENT_WORDS {
        "questions left out: too short"
    } else if stop_words * 100 > words.len() * STOP_WORDS_PERCENT {
        "questions left out: too many stop words"
    } else if asks_for_order(&question.text) {
        "questions left out: ask for the order of rows"
    } else {
        return true;
    };
    count(tally, because, 1);
    false
}

fn statements(table: &TableRecord, questions: &[&SourceQuestion], tally: &mut Tally) -> Vec<Chosen> {
    let mut chosen = Vec::new();
    for question in questions {
        match question.supported() {
            None => count(tally, "questions left out: no label", 1),
            Some(_) if question.form.as_deref() == Some("lemmatised") => {
                count(tally, "questions left out: lemmatised", 1);
            }
            label => chosen.push(Chosen { label, answers: Vec::new(), ..unchanged(table, question) }),
        }
    }
    chosen.retain(|question| says_enough(question, tally));
    chosen
}

fn single(table: &TableRecord, questions: &[&SourceQuestion], tally: &mut Tally) -> Vec<Chosen> {
    let cells: HashSet<String> = table.rows.iter().flatten().map(|cell| cell.trim().to_lowercase()).collect();
    // A number that stands in no cell was counted, or computed from several, or is of a text that the table links to.
    let computed = |answer: &str| {
        let answer = answer.trim().to_lowercase();
        !answer.contains(char::is_alphabetic)
            && answer.contains(|c: char| c.is_ascii_digit())
            && !cells.contains(&answer)
    };
    let mut chosen = Vec::new();
    for source in questions {
        let question = unchanged(table, source);
        match question.answers.as_slice() {
            _ if source.position.is_some_and(|position| position > 0) => {
                count(tally, "questions left out: lean on an earlier one of their sequence", 1);
            }
            [_, _, ..] => count(tally, "questions left out: several answers", 1),
            [answer] if computed(answer) => count(tally, "questions left out: the answer is a number in no cell", 1),
            _ => chosen.push(question),
        }
    }
    chosen.retain(|question| says_enough(question, tally));
    chosen
}

/// Sequences as one question each, and the other questions of a table in twos and threes.
fn joined(table: &TableRecord, questions: &[&SourceQuestion], dice: &mut Dice, tally: &mut Tally) -> Vec<Chosen> {
    let mut sequences: BTreeMap<&str, Vec<&SourceQuestion>> = BTreeMap::new();
    let mut others = Vec::new();
    for question in questions {
        match &question.sequence {
            Some(sequence) => sequences.entry(sequence).or_default().push(question),
            None => others.push(unchanged(table, question)),
        }
    }
    let mut chosen = Vec::new();
    for mut sequence in sequences.into_values() {
        sequence.sort_by_key(|question| question.position);
        count(
            tally,
            "questions of sequences behind the fourth, not joined",
            sequence.len().saturating_sub(LONGEST_SEQUENCE),
        );
        let sequence = sequence.into_iter().take(LONGEST_SEQUENCE).map(|question| unchanged(table, question)).collect();
        match join(sequence, JOINTS_OF_SEQUENCES, dice) {
            Some(whole) => chosen.push(whole),
            None => count(tally, "questions left out: nothing to join with", 1),
        }
    }
    others.retain(|question| says_enough(question, tally));
    let mut others = without_repeats(others, dice, tally);
    dice.shuffle(&mut others);
    while !others.is_empty() {
        let size = (2 + dice.below(2)).min(others.len());
        match join(others.split_off(others.len() - size), JOINTS, dice) {
            Some(whole) => chosen.push(Chosen { referring: usize::MAX, ..whole }),
            None => count(tally, "questions left out: nothing to join with", 1),
        }
    }
    chosen.retain(|question| says_enough(question, tally));
    chosen
}

/// Several questions as one; none where there are fewer than two.
fn join(questions: Vec<Chosen>, joints: &[&str], dice: &mut Dice) -> Option<Chosen> {
    if questions.len() < 2 {
        return None;
    }
    let last = questions.len() - 1;
    let mut questions = questions.into_iter().enumerate();
    let bare = |text: &str| text.trim_end_matches(['?', '.', ' ', '!']).to_owned();
    let (_, mut whole) = questions.next()?;
    whole.text = bare(&whole.text);
    whole.referring = whole.text.len();
    for (number, question) in questions {
        let text = if number == last { question.text } else { bare(&question.text) };
        let text = continued(&text);
        let text = text.strip_prefix("and ").map_or(text.as_str(), |rest| rest.trim_start_matches([',', ' ']));
        whole.text.push_str(dice.choose(joints).copied().unwrap_or(", and "));
        whole.text.push_str(text);
        whole.id = format!("{}+{}", whole.id, question.id);
        whole.answers.extend(question.answers);
        whole.words.extend(question.words);
    }
    Some(whole)
}

/// Without questions that say nearly the same as another of the table; which of them stays is drawn, so that of a true
/// and a false statement neither has the better chance. The order stays.
fn without_repeats(questions: Vec<Chosen>, dice: &mut Dice, tally: &mut Tally) -> Vec<Chosen> {
    let mut order: Vec<usize> = (0..questions.len()).collect();
    dice.shuffle(&mut order);
    let mut kept: Vec<(usize, &Chosen)> = Vec::new();
    for place in order {
        let Some(question) = questions.get(place) else { continue };
        let alike = |(_, other): &(usize, &Chosen)| {
            let common = question.words.intersection(&other.words).count();
            common * 100 >= (question.words.len() + other.words.len() - common) * ALIKE_PERCENT
        };
        match kept.iter().any(alike) {
            true => count(tally, "questions left out: nearly the same as another of the table", 1),
            false => kept.push((place, question)),
        }
    }
    let kept: HashSet<usize> = kept.into_iter().map(|(place, _)| place).collect();
    let places = questions.into_iter().enumerate().filter(|(place, _)| kept.contains(place));
    places.map(|(_, question)| question).collect()
}

/// Without questions whose very words are put to another table: no one could tell which is meant.
fn without_ambiguous(mut questions: Vec<Chosen>, tally: &mut Tally) -> Vec<Chosen> {
    let key = |question: &Chosen| words(&question.text).into_iter().map(|(_, word)| word + " ").collect::<String>();
    let mut tables: HashMap<String, Option<String>> = HashMap::new();
    for question in &questions {
        let table = tables.entry(key(question)).or_insert_with(|| Some(question.source_table.clone()));
        if table.as_ref().is_some_and(|table| *table != question.source_table) {
            *table = None;
        }
    }
    questions.retain(|question| {
        let clear = tables.get(&key(question)).is_some_and(Option::is_some);
        count(tally, "questions left out: put to several tables in the same words", usize::from(!clear));
        clear
    });
    questions
}
