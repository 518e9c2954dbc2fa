//! What a question says and a statement does not: a name that the database has nowhere.

use std::collections::HashSet;

use crate::compose::periods;
use crate::linking::Words;
use crate::linking::words::{compatriots, kin, parted, stem};
use crate::rows::{Rows, Value};
use crate::schema_graph::SchemaGraph;

/// Words of a question that are in no statement for it and in no name of the schema: what names something, in quotes or with a
/// capital that begins no sentence; a thing that the question is about, "a bicycle"; what "how many" counts. A statement that leaves
/// one out answers another question.
fn unsaid(question: &str, sql: &str, graph: &SchemaGraph) -> Vec<String> {
    let stems = |text: &str| words(&text.to_lowercase()).into_iter().map(|word| stem(&word)).collect::<Vec<String>>();
    let mut known: HashSet<String> = stems(sql).into_iter().collect();
    // As they are written, and in full.
    let names = |is: &dyn Fn(usize) -> bool| -> HashSet<String> {
        let tables = graph.tables().iter().enumerate().filter(|(at, _)| is(*at));
        let tables = tables.flat_map(|(_, table)| [&table.name].into_iter().chain(&table.names));
        let columns = graph.columns().iter().filter(|column| is(column.table));
        let columns = columns.flat_map(|column| [&column.name].into_iter().chain(&column.names));
        let of =
            |name: &String| stems(&parted(name)).into_iter().chain(Words::of_name(name).stems()).collect::<Vec<_>>();
        tables.chain(columns).flat_map(of).collect()
    };
    known.extend(names(&|_| true));
    // "March 2024", of which the statement has the days.
    let read = Words::of(question);
    for period in periods(&read).into_iter().filter(|period| sql.contains(&period.from) || sql.contains(&period.to)) {
        known.extend(read.words.get(period.words).into_iter().flatten().map(|word| stem(&word.text)));
    }
    let sql = sql.to_lowercase();
    // Of what is counted only the names of the tables that are read count, with their columns.
    let read_tables: HashSet<usize> = (0..graph.tables().len())
        .filter(|at| sql.contains(&format!("\"{}\"", graph.tables()[*at].own_name().to_lowercase())))
        .collect();
    let of_read = names(&|table| read_tables.contains(&table));
    let is_read = |word: &str| {
        let wanted = stem(&word.to_lowercase());
        let is_same = |known: &String| known.len() >= 4 && wanted.len() >= 4 && common(known, &wanted) >= ROOT;
        of_read.iter().any(|known| *known == wanted || is_same(known)) || sql.contains(&wanted)
    };
    let elsewhere: Vec<String> = if read_tables.is_empty() || !sql.contains("count(") {
        Vec::new()
    } else {
        counted(question).into_iter().filter(|word| !is_read(word)).collect()
    };
    let is_known = |word: &str| {
        let word = word.to_lowercase();
        let wanted = stem(&word);
        let has_kin = known.iter().any(|known| {
            let (short, long) = if known.len() < wanted.len() { (known, &wanted) } else { (&wanted, known) };
            // Words of one root, as "Italian" and "Italy", and words within others, as in names without a break.
            short == long || short.len() >= 4 && long.contains(short.as_str()) || common(short, long) >= ROOT
        });
        let is_kin = || kin(&wanted).iter().any(|kin| known.contains(kin));
        has_kin || is_kin() || compatriots(&word).any(|other| sql.contains(other))
    };
    let mut found: Vec<String> = Vec::new();
    for word in named(question).into_iter().chain(things(question)).chain(counted(question)) {
        if (!is_known(&word) || elsewhere.contains(&word)) && !found.contains(&word) {
            found.push(word);
        }
    }
    let is_named = |span: &String| span.split(' ').all(|word| known.contains(&stem(word)));
    found.extend(relative(question).filter(|span| !is_named(span)));
    found
}

/// "Last year", which is another one each year.
fn relative(question: &str) -> Option<String> {
    const WHEN: [&str; 6] = ["last", "this", "next", "previous", "current", "past"];
    const SPANS: [&str; 6] = ["year", "quarter", "month", "week", "weekend", "day"];
    let all = words(&question.to_lowercase());
    // "The last year" is one of the rows'.
    let is_one = |at: &usize| {
        let word = |at: usize| all.get(at).map_or("", String::as_str);
        let of_rows = at.checked_sub(1).is_some_and(|before| word(before) == "the");
        !of_rows && WHEN.contains(&word(*at)) && SPANS.contains(&word(at + 1))
    };
    let span = (0..all.len()).find(is_one).and_then(|at| Some(all.get(at..at + 2)?.join(" ")));
    span.or_else(|| all.into_iter().find(|word| ["today", "yesterday", "tomorrow"].contains(&word.as_str())))
}

/// The same as notes on the statement, in sentences.
fn notes(question: &str, sql: &str, graph: &SchemaGraph) -> Vec<String> {
    let span = relative(question);
    let note = |word: String| {
        let why =
            if span.as_ref() == Some(&word) { "; say which one it is" } else { ", which no name of the schema has" };
        format!("the statement leaves \"{word}\" of the question out{why}")
    };
    unsaid(question, sql, graph).into_iter().map(note).collect()
}

/// What says that a statement is about something else than what the question names.
pub(crate) fn about_another(question: &str, sql: &str, rows: &Rows, graph: &SchemaGraph) -> Vec<String> {
    let other = person_note(question, rows).or_else(|| amount_note(question, sql));
    notes(question, sql, graph).into_iter().chain(other).collect()
}

/// That the question wants yes or no, which no rows say, in a sentence.
pub(crate) fn verdict_note(question: &str) -> Option<String> {
    const VERBS: [&str; 10] = ["was", "is", "were", "are", "did", "does", "do", "has", "have", "had"];
    const OTHERS: [&str; 9] = ["or", "how", "what", "which", "why", "when", "who", "where", "you"];
    let words = words(&question.to_lowercase());
    let asks = words.first().is_some_and(|first| VERBS.contains(&first.as_str()));
    let asks = asks && !words.iter().any(|word| OTHERS.contains(&word.as_str()));
    asks.then(|| "the question asks whether it is, and rows say neither yes nor no".to_owned())
}

/// That the question wants a share, which a statement over records neither works out nor has, in a sentence.
pub(crate) fn share_note(question: &str, sql: &str) -> Option<String> {
    let word = share(question, sql)?;
    Some(format!("the question wants a {word}, which the statement neither works out nor has as a column"))
}

/// That the question asks who it is, and the rows are no names, in a sentence.
fn person_note(question: &str, rows: &Rows) -> Option<String> {
    let asks = words(&question.to_lowercase()).first().is_some_and(|first| ["who", "whom"].contains(&first.as_str()));
    let is_code = |value: &Value| match value {
        // "Y" is no name either.
        Value::Text(text) => {
            text.contains(|c: char| c.is_ascii_digit()) && !text.trim().contains(' ') || text.trim().chars().count() < 2
        }
        _ => true,
    };
    let are_codes = !rows.rows.is_empty() && rows.rows.iter().flatten().all(is_code);
    let is_of_keys = rows
        .columns
        .iter()
        .all(|column| column.column.as_ref().is_some_and(|name| name.to_lowercase().ends_with("id")));
    (asks && are_codes && !is_of_keys).then(|| "the question asks who, and these are no names".to_owned())
}

/// That the question wants how much of something there is in all, and the statement counts rows, in a sentence.
fn amount_note(question: &str, sql: &str) -> Option<String> {
    const AMOUNTS: [&str; 7] = ["amount", "cost", "value", "price", "revenue", "income", "weight"];
    let all = words(&question.to_lowercase());
    let wants = all.windows(2).any(|two| two[0] == "total" && AMOUNTS.contains(&two[1].as_str()));
    let counts = sql.to_lowercase().starts_with("select count(");
    (wants && counts).then(|| "the question wants an amount, and the statement counts rows".to_owned())
}

/// The word for a share of something that the question wants, where the statement has no name and no quotient for one.
fn share(question: &str, sql: &str) -> Option<&'static str> {
    const SHARES: [&str; 5] = ["percentage", "percent", "proportion", "fraction", "ratio"];
    const NAMES: [&str; 8] = ["percent", "pct", "share", "ratio", "rate", "proportion", "fraction", "/"];
    let all = words(&question.to_lowercase());
    // "Which pupils share a room" wants none.
    let of = all
        .windows(3)
        .any(|three| matches!([&*three[0], &*three[1], &*three[2]], ["what" | "the" | "which", "share", "of"]));
    // "A discount of 10 percent" is an amount.
    let is_wanted = |share: &&str| {
        let after_number =
            |at: usize| at.checked_sub(1).and_then(|at| all.get(at)).is_some_and(|word| word.parse::<f64>().is_ok());
        all.iter().enumerate().any(|(at, word)| word == share && !after_number(at))
    };
    let word = SHARES.into_iter().find(is_wanted).or(of.then_some("share"))?;
    let sql = sql.to_lowercase();
    (!NAMES.iter().any(|name| sql.contains(name))).then_some(word)
}

/// Letters at the beginning that words of one root share.
const ROOT: usize = 4;

fn common(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

pub(crate) fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn is_word(word: &str) -> bool {
    word.chars().all(char::is_alphabetic) && word.chars().count() >= 3
}

/// The words of a question that name something.
fn named(question: &str) -> Vec<String> {
    let mut found = Vec::new();
    let quoted = question.split(['"', '\u{201c}', '\u{201d}']).enumerate().filter(|(part, _)| part % 2 == 1);
    quoted.for_each(|(_, text)| found.extend(words(text)));
    let all = words(question);
    let capital = |word: &&String| word.starts_with(char::is_uppercase) && word.chars().any(char::is_lowercase);
    // In a question in capitals they say nothing.
    let many = all.iter().filter(capital).count() * 2 > all.len();
    if !many {
        let of_sentence = |sentence: &str| words(sentence).into_iter().skip(1).collect::<Vec<String>>();
        let all = question.split_inclusive(['.', '?', '!', ':']).flat_map(of_sentence);
        // "Grade A" is one of grades.
        let letter = |word: &str| word.len() == 1 && word.starts_with(char::is_uppercase) && word != "I";
        found.extend(all.filter(|word| capital(&word) && is_word(word) || letter(word)));
    }
    found
}

/// What stands behind "a" and "an" and is a thing: "bought a bicycle".
fn things(question: &str) -> Vec<String> {
    #[rustfmt::skip]
    const NONE: [&str; 34] = [
        "average", "maximum", "minimum", "high", "low", "large", "small", "good", "bad", "long", "short", "different",
        "single", "certain", "given", "particular", "specific", "new", "lot", "few", "total", "list", "row", "table",
        "record", "count", "number", "time", "month", "year", "week", "day", "quarter", "pair",
    ];
    // "Class A are" has no article.
    let all = words(question);
    let behind = all.windows(2).filter(|two| matches!(two[0].as_str(), "a" | "an")).map(|two| two[1].to_lowercase());
    let compares = |word: &String| word.ends_with("er") || word.ends_with("est");
    behind.filter(|word| is_word(word) && !compares(word) && !NONE.contains(&word.as_str())).collect()
}

/// What "how many" counts. "How many different dogs": the word after it need not be it.
fn counted(question: &str) -> Vec<String> {
    let all = words(question);
    let all: Vec<String> = all
        .into_iter()
        .filter(|word| !["different", "distinct", "unique"].contains(&word.to_lowercase().as_str()))
        .collect();
    let counted = all.windows(3).filter(|three| {
        three[0].eq_ignore_ascii_case("how") && three[1].eq_ignore_ascii_case("many") && is_word(&three[2])
    });
    let is_thing = |word: &String| word.to_lowercase().ends_with('s') && !["times", "does"].contains(&word.as_str());
    counted.map(|three| three[2].clone()).filter(is_thing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Column;
    use crate::schema::Schema;
    use crate::schema_graph::{Semantics, SqlDialect};

    #[test]
    fn rows_say_neither_yes_nor_no() {
        for question in ["Did the fire department stay within its budget?", "Is Vigo larger than Bergen?"] {
            assert!(verdict_note(question).is_some(), "{question}");
        }
        for question in ["Which town is larger?", "Is Vigo or Bergen larger?", "Do you know who sold most?", ""] {
            assert!(verdict_note(question).is_none(), "{question}");
        }
    }
    #[test]
    fn regression_who_is_no_code_and_an_amount_no_count() {
        let rows = |name: &str, text: &str| Rows {
            columns: vec![Column { name: name.into(), table: Some("t".into()), column: Some(name.into()) }],
            rows: vec![vec![Value::Text(text.into())]],
            truncated: false,
        };
        assert!(person_note("Who holds the grant Glial markers?", &rows("grant", "G-28")).is_some());
        assert!(person_note("Who holds the grant Glial markers?", &rows("holder", "Ann Ek")).is_none());
        assert!(person_note("Who leads the grant Glial markers?", &rows("lead_flg", "Y")).is_some());
        assert!(person_note("Which grant is it?", &rows("grant", "G-28")).is_none());
        let count = "SELECT count(*) FROM \"grants\"";
        assert!(amount_note("What is the total amount awarded by Wellcome?", count).is_some());
        assert!(amount_note("What is the total number of grants?", count).is_none());
        assert!(amount_note("What is the total amount?", "SELECT sum(\"amount\") FROM \"grants\"").is_none());
    }

    #[test]
    fn a_share_is_no_count() {
        let count = "SELECT count(*) FROM \"Flight\" WHERE \"Status\" = 'Cancelled'";
        assert_eq!(share("What share of flights was cancelled?", count), Some("share"));
        assert_eq!(share("percentage of flights that were cancelled", count), Some("percentage"));
        assert_eq!(share("Which pupils share a room?", count), None);
        assert_eq!(share("orders with a discount of 10 percent", count), None);
        assert_eq!(share("lowest oppose percentage", "SELECT min(\"oppose_rate\") FROM \"c\""), None);
    }

    #[test]
    fn what_a_statement_leaves_out_is_told() {
        let text = "CREATE TABLE Dogs (dog_id INT PRIMARY KEY, name TEXT, breedCode TEXT); CREATE TABLE flight (city TEXT, price INT)";
        let (schema, _) = Schema::from_ddl(text, SqlDialect::Generic).unwrap();
        let graph = SchemaGraph::new(&schema, &Semantics::default(), SqlDialect::Generic).unwrap();
        let of = |question: &str, sql: &str| unsaid(question, sql, &graph);
        let count = "SELECT count(*) FROM \"Dogs\"";
        assert_eq!(of("How many dogs of class A are there?", count), ["A"]);
        assert_eq!(of("How many unicorns are there?", count), ["unicorns"]);
        for known in
            ["How many dogs are there?", "How many breeds are there?", "How many different dogs?", "HOW MANY DOGS?"]
        {
            assert_eq!(of(known, count), Vec::<String>::new(), "{known}");
        }
        let price = "SELECT avg(price) FROM flight";
        assert_eq!(of("What is the average price for Zanzibar?", price), ["Zanzibar"]);
        assert_eq!(of("What is the price of \"zoe\"?", price), ["zoe"]);
        assert_eq!(of("What is the highest price? List the city. Give it.", price), Vec::<String>::new());
        let dutch = "SELECT * FROM flight WHERE city = 'Netherlands'";
        assert_eq!(of("flights of Dutch people", dutch), Vec::<String>::new());
        assert!(!of("What is the average price for Zanzibar?", price).is_empty());
        assert!(!of("How many dogs own a bicycle?", count).is_empty());
        assert!(of("Dogs of a single breed", count).is_empty());
        assert!(of("Which dogs have a fare?", count).is_empty());
        assert!(!of("How many unicorns are there?", count).is_empty());
        assert!(of("How many times was it so?", count).is_empty());
        // What another table has is not counted here.
        assert_eq!(of("How many flights are there?", count), ["flights"]);
        let there = "SELECT avg(price) FROM flight WHERE city = 'Zanzibar'";
        assert_eq!(of("What is the average Price for Zanzibar?", there), Vec::<String>::new());
        let month = "SELECT count(*) FROM flight WHERE day >= '2024-03-01' AND day < '2024-04-01'";
        assert_eq!(of("How much was paid for flights in March 2024?", month), Vec::<String>::new());
        assert_eq!(of("What is the average price in March 2024?", price), ["March"]);
        assert_eq!(of("What was the average price last year?", price), ["last year"]);
        assert_eq!(of("What was the average price in the last year?", price), Vec::<String>::new());
        assert_eq!(of("Flights of Italians?", "SELECT * FROM flight WHERE city = 'Italy'"), Vec::<String>::new());
    }
}
