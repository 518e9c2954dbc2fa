//! How much of something there is in all, by the units and verbs that people say it with.

use super::phrase::{NEAR, Phrase};

/// Units as people say them, and as names have them, as stems.
#[rustfmt::skip]
const UNITS: [(&[&str], &[&str]); 10] = [
    (&["kilo", "kilogram", "kg"], &["kg", "kilo", "kilogram"]),
    (&["gram"], &["gram", "g"]),
    (&["tonn", "ton"], &["tonn", "ton"]),
    (&["minut", "min"], &["minut", "min"]),
    (&["hour"], &["hour", "hr"]),
    (&["kilometr", "kilomet", "km"], &["km", "kilometr", "kilomet"]),
    (&["mile"], &["mile", "mi"]),
    (&["litr", "liter"], &["litr", "liter"]),
    (&["hectar"], &["hectar", "ha"]),
    (&["seat"], &["seat", "capac"]),
];

const MONEY: &[&str] = &["amount", "cost", "price", "fee", "payment", "revenu", "bill", "total", "valu", "paid"];

/// Verbs that say nothing but that there is so much: "how many kilos did they take".
#[rustfmt::skip]
const TAKE: [&str; 24] = [
    "take", "took", "taken", "log", "logged", "record", "recorded", "spend", "spent", "make", "made", "do", "done", "use", "used", "get",
    "got", "have", "had", "receive", "received", "put", "there", "were",
];

/// "How many kilos did they take" as the total weight.
pub(super) fn units(phrase: &Phrase<'_, '_>) -> Option<String> {
    if !(phrase.word(0) == "how" && phrase.word(1) == "many") {
        return None;
    }
    // An adjective may stand before it: "non-billable hours".
    let unit = (2..phrase.len().min(6)).find(|at| UNITS.iter().any(|(said, _)| said.contains(&phrase.stem(*at))))?;
    let is_free = (2..unit).all(|at| !phrase.is_value(at) && !phrase.words.words[at].is_stop);
    if !is_free || phrase.table_at(unit).is_some() || phrase.value_at(unit).is_some() {
        return None;
    }
    let (_, names) = UNITS.iter().find(|(said, _)| said.contains(&phrase.stem(unit)))?;
    total(phrase, phrase.measure(names)?, unit + 1, phrase.written(2..unit).to_owned())
}

/// "How much did we spend on monitors" as the total cost of monitors, "how much have we earned in fees" as the total fee.
pub(super) fn much(phrase: &Phrase<'_, '_>) -> Option<String> {
    const DID: [&str; 10] = ["did", "do", "does", "have", "has", "had", "was", "were", "is", "are"];
    const WE: [&str; 6] = ["we", "they", "i", "you", "been", "people"];
    #[rustfmt::skip]
    const VERBS: [&str; 18] = [
        "spend", "spent", "pay", "paid", "earn", "earned", "make", "made", "take", "taken", "invoice", "invoiced", "bill", "billed", "charge",
        "charged", "raise", "raised",
    ];
    if !(phrase.word(0) == "how" && phrase.word(1) == "much") {
        return None;
    }
    let at = if phrase.word(2) == "money" { 3 } else { 2 };
    let verb = (at..phrase.len().min(at + 4)).find(|at| VERBS.contains(&phrase.word(*at)))?;
    if !(at..verb).all(|at| DID.contains(&phrase.word(at)) || WE.contains(&phrase.word(at))) {
        return None;
    }
    let named = (verb + 1..phrase.len()).find_map(|at| {
        let measures = |column: &usize| phrase.is_measure(*column) && phrase.column_stems(*column) == [phrase.stem(at)];
        let found: Vec<usize> = (0..phrase.graph().columns().len()).filter(measures).collect();
        if let [column] = found[..] { Some((at, column)) } else { None }
    });
    match named {
        Some((at, column)) => total(phrase, column, at + 1, String::new()),
        None => {
            // Invoices that were invoiced are near.
            let mut near = phrase.named_tables();
            near.extend(phrase.table_at(verb).map(|(_, table)| vec![table]));
            let all: Vec<usize> = (0..phrase.graph().tables().len()).collect();
            let with: Vec<usize> = all.into_iter().filter(|of| !phrase.measures(&[*of], MONEY).is_empty()).collect();
            let table = phrase.table_at(verb).map(|(_, table)| table).filter(|table| with.contains(table));
            let table = table.or_else(|| phrase.nearest(&with, &near, NEAR))?;
            let found = phrase.measures(&[table], MONEY);
            let of = phrase.table_at(verb).map(|(_, table)| phrase.table_name(table));
            match (&found[..], of) {
                ([column], Some(of)) => {
                    let name = format!("What is the total {} of {of} for", phrase.column_name(*column));
                    said(phrase, &name, verb + 1)
                }
                ([column], None) => total(phrase, *column, verb + 1, String::new()),
                _ => None,
            }
        }
    }
}

/// "Total takings by restaurant" as the total of what was paid there.
pub(super) fn takings(phrase: &Phrase<'_, '_>) -> Option<String> {
    const TAKINGS: [&str; 7] = ["takings", "proceeds", "turnover", "revenue", "income", "earnings", "sales"];
    let at = phrase.find(|at| TAKINGS.contains(&phrase.word(at)) && !phrase.is_name(at) && !phrase.is_value(at))?;
    let column = phrase.measure(&["revenu", "amount", "bill", "total", "fee", "price"])?;
    let name = phrase.column_name(column);
    let total = if (0..at).any(|at| matches!(phrase.word(at), "total" | "average")) { "" } else { "total " };
    phrase.with(&[(at..at + 1, &format!("{total}{name}"))])
}

/// The question for the total of a column, of what is said from a word on.
fn total(phrase: &Phrase<'_, '_>, column: usize, from: usize, which: String) -> Option<String> {
    let name = phrase.column_name(column);
    // "Minutes watched" are all of its name.
    let is_more = |at: &usize| name.split(' ').all(|word| word != phrase.word(*at));
    let from = (from..phrase.len()).find(is_more).unwrap_or(phrase.len());
    let opening = if which.is_empty() {
        format!("What is the total {name}")
    } else {
        format!("What is the total {which} {name}")
    };
    said(phrase, &opening, from)
}

/// An opening with what is said from a word on, without verbs that only say that there is so much; whom or what it is of stands behind
/// "of", and each of them behind "for".
fn said(phrase: &Phrase<'_, '_>, opening: &str, from: usize) -> Option<String> {
    const DID: [&str; 6] = ["did", "do", "does", "have", "has", "had"];
    const OF: [&str; 8] = ["of", "on", "for", "in", "from", "by", "per", "to"];
    let mut edits: Vec<(std::ops::Range<usize>, String)> = vec![(0..from, opening.to_owned())];
    for at in from..phrase.len() {
        // "Delivered on" is no name of "on".
        let is_stop = phrase.words.words.get(at).is_some_and(|word| word.is_stop);
        let is_name = phrase.is_name(at) && !is_stop || phrase.is_value(at);
        let next = phrase.word(at + 1);
        let is_first = at == from;
        if is_first && (DID.contains(&phrase.word(at)) || phrase.word(at) == "on") && !is_name {
            let of = if next == "each" || opening.ends_with(" for") { "for" } else { "of" };
            let of = if opening.ends_with(" for") { "" } else { of };
            edits.push((at..at + 1, of.to_owned()));
        } else if (TAKE.contains(&phrase.word(at)) || matches!(phrase.word(at), "we" | "they")) && !is_name {
            edits.push((at..at + 1, String::new()));
        } else if matches!(phrase.word(at), "in" | "on") && matches!(next, "total" | "all") {
            edits.push((at..at + 2, String::new()));
        } else if is_first
            && !OF.contains(&phrase.word(at))
            && !opening.ends_with(" for")
            && is_name
            && phrase.value_at(at).is_some()
        {
            edits.push((at..at, "of ".to_owned()));
        }
    }
    let edits: Vec<(std::ops::Range<usize>, &str)> =
        edits.iter().map(|(words, text)| (words.clone(), text.as_str())).collect();
    let text = phrase.with(&edits)?;
    Some(text.trim_end_matches([' ', '?']).to_owned() + "?")
}
