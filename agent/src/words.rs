//! Candidates that are words of the document, or are found by looking along rows and columns: cells without a number,
//! names of rows and columns, the largest and smallest, counts, lists, and parts of sentences.

use std::collections::HashSet;

use rust_decimal::Decimal;
use tabsegnet::{NodeKind, RankedNode};
use tabsegnet_document::months::MONTHS;
use tabsegnet_store::one_line;

use crate::candidates::{Candidate, words_candidate};
use crate::facts::{Fact, Facts};
use crate::family::Family;
use crate::features::{WordFeatures, flag};
use crate::quantity::{Quantity, Scale, sum_of_others};
use crate::question::{Inquiry, stems, words};
use crate::run::Outcome;
use crate::years::years;

/// Best nodes whose texts and headers are looked at.
const NODES: usize = 12;
/// Best cells whose rows and columns are looked along.
const LINES: usize = 4;
/// Best passages that are cut into spans, and the most spans of one.
const PASSAGES: usize = 4;
/// Bytes of a sentence beyond which it is no answer, and none of its parts.
const LONGEST_SENTENCE: usize = 4000;
const SPANS: usize = 40;
/// The most cells of a line.
const LONGEST: usize = 60;

/// Appends them, in a fixed order, each text once a family.
pub(crate) fn words_candidates(found: &mut Vec<Candidate>, facts: &Facts<'_>, inquiry: &Inquiry) {
    let mut add = Additions { found, seen: HashSet::new(), inquiry };
    let mut passages = 0;
    for (number, node) in facts.nodes.iter().take(NODES).enumerate() {
        let said = facts.of_words(number, inquiry);
        match node.kind {
            NodeKind::Cell => {
                if facts.of_node(number, inquiry).is_empty() {
                    add.texts(
                        Family::Word,
                        vec![said.clone()],
                        vec![one_line(&node.text)],
                        described(&node.text, inquiry),
                    );
                }
                for name in node.headers().map(|header| last(without_units(header))).filter(|name| !name.is_empty()) {
                    add.texts(Family::Header, vec![said.clone()], vec![name.to_owned()], described(name, inquiry));
                }
            }
            NodeKind::RowHeader | NodeKind::ColumnHeader => {
                let name = one_line(&node.text);
                let features = described(&name, inquiry);
                add.texts(Family::Header, vec![said], vec![name], features);
            }
            NodeKind::Passage => {
                passages += 1;
                if passages <= PASSAGES {
                    listed(&mut add, facts, number);
                    spans(&mut add, node, &said, passages);
                }
            }
            NodeKind::Caption | NodeKind::Heading => {}
        }
    }
    lines(&mut add, facts);
}

struct Additions<'c, 'q> {
    found: &'c mut Vec<Candidate>,
    seen: HashSet<(Family, String)>,
    inquiry: &'q Inquiry,
}

impl Additions<'_, '_> {
    fn texts(&mut self, family: Family, facts: Vec<Fact>, texts: Vec<String>, features: WordFeatures) {
        // A formula of a spreadsheet that was not worked out says nothing to people.
        let blank = texts.is_empty() || texts.iter().any(|text| text.is_empty() || text.starts_with('='));
        if !blank && self.seen.insert((family, texts.join("\n").to_lowercase())) {
            self.found.push(words_candidate(family, facts, texts, None, &features, self.inquiry));
        }
    }

    fn number(&mut self, family: Family, facts: Vec<Fact>, number: usize, features: WordFeatures) {
        let outcome = Outcome::Number(Decimal::from(number));
        if self.seen.insert((family, number.to_string())) {
            self.found.push(words_candidate(family, facts, Vec::new(), Some(outcome), &features, self.inquiry));
        }
    }
}

/// The innermost header of a path.
pub(crate) fn last(path: &str) -> &str {
    path.rsplit(" > ").next().unwrap_or(path).trim()
}

/// What a text says of itself.
fn described(text: &str, inquiry: &Inquiry) -> WordFeatures {
    let of_text: Vec<String> = stems(&text.to_lowercase()).collect();
    let shared = of_text.iter().filter(|word| inquiry.words.contains(*word)).count();
    let share = if of_text.is_empty() { 0.0 } else { shared as f32 / of_text.len() as f32 };
    let count = text.split_whitespace().count();
    let capital = |word: &str| word.starts_with(|c: char| c.is_uppercase());
    let capitals = text.split_whitespace().filter(|word| capital(word)).count();
    let named = years(text);
    let by_year = of_text.is_empty() && !named.is_empty() && named.iter().all(|(year, _)| inquiry.years.contains(year));
    WordFeatures {
        length: ((1 + count) as f32).ln() / 3.0,
        all_in_question: flag(by_year || !of_text.is_empty() && shared == of_text.len()),
        share_in_question: share,
        date: flag(is_date(text)),
        capitals: if count == 0 { 0.0 } else { capitals as f32 / count as f32 },
        digits: flag(text.contains(|c: char| c.is_ascii_digit())),
        ..WordFeatures::default()
    }
}

/// A year, or a month with a day or year.
fn is_date(text: &str) -> bool {
    let lower = text.to_lowercase();
    let (named, count) = (years(&lower), lower.split_whitespace().count());
    let behind_day = lower.split_once(' ').filter(|(day, _)| is_day(day)).map_or(lower.as_str(), |(_, rest)| rest);
    (count == 1 && !named.is_empty())
        || count <= 4
            && MONTHS.iter().any(|month| behind_day.starts_with(month))
            && lower.contains(|c: char| c.is_ascii_digit())
}

/// `1`, `31st`.
fn is_day(token: &str) -> bool {
    let number = ["st", "nd", "rd", "th"].iter().find_map(|end| token.strip_suffix(end)).unwrap_or(token);
    number.len() <= 2 && number.parse::<u8>().is_ok_and(|day| (1..=31).contains(&day))
}

/// What leads to a part of a sentence.
#[derive(Debug, Clone, Copy)]
enum Trigger {
    /// A verb or preposition.
    Verb,
    Reason,
}

/// What stands before the part of a sentence that answers.
const TRIGGERS: [(&str, Trigger); 34] = [
    (" because ", Trigger::Reason),
    (" due to ", Trigger::Reason),
    (" primarily due to ", Trigger::Reason),
    (" as a result of ", Trigger::Reason),
    (" driven by ", Trigger::Reason),
    (" attributable to ", Trigger::Reason),
    (" resulting from ", Trigger::Reason),
    (" reflecting ", Trigger::Reason),
    (" offset by ", Trigger::Reason),
    (" is ", Trigger::Verb),
    (" are ", Trigger::Verb),
    (" was ", Trigger::Verb),
    (" were ", Trigger::Verb),
    (" to ", Trigger::Verb),
    (" of ", Trigger::Verb),
    (" by ", Trigger::Verb),
    (" at ", Trigger::Verb),
    (" in ", Trigger::Verb),
    (" on ", Trigger::Verb),
    (" from ", Trigger::Verb),
    (" for ", Trigger::Verb),
    (" as ", Trigger::Verb),
    (" using ", Trigger::Verb),
    (" based on ", Trigger::Verb),
    (" under ", Trigger::Verb),
    (" with ", Trigger::Verb),
    (" include ", Trigger::Verb),
    (" includes ", Trigger::Verb),
    (" including ", Trigger::Verb),
    (" consists of ", Trigger::Verb),
    (" consist of ", Trigger::Verb),
    (" comprises ", Trigger::Verb),
    (" represents ", Trigger::Verb),
    (" through ", Trigger::Verb),
];

/// Sentences of a passage and what stands behind their verbs and prepositions.
fn spans(add: &mut Additions<'_, '_>, node: &RankedNode, fact: &Fact, nth: usize) {
    let inquiry = add.inquiry;
    let passage = one_line(&node.text);
    let mut made = 0;
    for (number, sentence) in
        sentences(&passage).into_iter().enumerate().filter(|(_, text)| text.len() <= LONGEST_SENTENCE)
    {
        let of_sentence = described(sentence, inquiry);
        let of_sentence_words: HashSet<String> = words(&sentence.to_lowercase()).into_iter().map(|(w, _)| w).collect();
        let covers = inquiry.words.intersection(&of_sentence_words).count() as f32 / inquiry.words.len().max(1) as f32;
        // Where the last of the question's words stands.
        let said: Vec<usize> = words(&sentence.to_lowercase())
            .into_iter()
            .filter(|(word, _)| inquiry.words.contains(word))
            .map(|(_, at)| at)
            .collect();
        let mut put = |text: &str, trigger: Option<Trigger>, whole: bool, at: usize| {
            let text = text.trim_end_matches(['.', ',', ';', ':', ' ']).trim();
            if made >= SPANS || text.is_empty() {
                return;
            }
            made += 1;
            let mut features = described(text, inquiry);
            features.covers = covers;
            match trigger {
                Some(Trigger::Verb) => features.behind_verb = 1.0,
                Some(Trigger::Reason) => features.reason_or_below = 1.0,
                None => {}
            }
            features.whole_sentence = flag(whole);
            features.first_sentence = flag(number == 0);
            features.place = nth as f32 / 4.0;
            features.named_or_near = flag(said.iter().any(|word| (at.saturating_sub(40)..at).contains(word)));
            features.group_or_behind = flag(said.iter().all(|word| *word < at));
            let family = if whole { Family::Sentence } else { Family::Span };
            add.texts(family, vec![fact.clone()], vec![text.to_owned()], features);
        };
        put(sentence, None, true, 0);
        if covers == 0.0 && of_sentence.share_in_question == 0.0 {
            continue;
        }
        for (at, date) in dates(sentence) {
            put(date, None, false, at);
        }
        let lower = sentence.to_lowercase();
        // Lower case may be of another length.
        if lower.len() != sentence.len() {
            continue;
        }
        for (trigger, kind) in TRIGGERS {
            for (from, _) in lower.match_indices(trigger) {
                let at = from + trigger.len();
                let Some(rest) = sentence.get(at..) else { continue };
                put(rest, Some(kind), false, at);
                let ends = [", ", " and ", "; ", " for the ", " in ", " as of ", " at ", " which ", " during "];
                let shorter: Vec<usize> = ends.iter().filter_map(|end| rest.find(end)).filter(|end| *end > 0).collect();
                let mut cuts: Vec<usize> = shorter;
                cuts.sort_unstable();
                cuts.dedup();
                for cut in cuts.into_iter().take(2) {
                    put(rest.get(..cut).unwrap_or(""), Some(kind), false, at);
                }
            }
        }
    }
}

/// Cut behind full stops that end a sentence.
fn sentences(passage: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    for (at, _) in passage.match_indices(". ") {
        let next = passage.get(at + 2..).and_then(|rest| rest.chars().next());
        let short = passage.get(from..at).is_some_and(|before| before.len() < 20);
        if next.is_some_and(|c| c.is_uppercase() || c.is_ascii_digit()) && !short {
            found.extend(passage.get(from..=at));
            from = at + 2;
        }
    }
    found.extend(passage.get(from..).filter(|rest| !rest.trim().is_empty()));
    found
}

/// `December 31, 2019`, `May 2014`, `1 April 2022`, with the byte where each begins.
fn dates(sentence: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    let tokens: Vec<(usize, &str)> = sentence
        .split(' ')
        .map(|token| {
            let start = at;
            at += token.len() + 1;
            (start, token)
        })
        .collect();
    for (number, (start, token)) in tokens.iter().enumerate() {
        if !MONTHS.iter().any(|month| token.eq_ignore_ascii_case(month)) {
            continue;
        }
        let day = number.checked_sub(1).and_then(|before| tokens.get(before)).filter(|(_, token)| is_day(token));
        let start = day.map_or(*start, |(start, _)| *start);
        // Behind a day the year alone.
        let more = tokens.iter().skip(number + 1).take(if day.is_some() { 1 } else { 2 });
        let numeric = more.take_while(|(_, next)| next.starts_with(|c: char| c.is_ascii_digit())).last();
        if let Some((of, last)) = numeric
            && let Some(date) = sentence.get(start..of + last.len())
        {
            found.push((start, date.trim_end_matches([',', '.', ';', ')'])));
        }
    }
    found
}

/// A name along a line, with what stands there.
struct Member {
    fact: Fact,
    name: String,
    named: bool,
    outer: Option<String>,
}

/// Extremes, counts, what passes a bound, and lists, along the rows and columns of the best cells.
fn lines(add: &mut Additions<'_, '_>, facts: &Facts<'_>) {
    let inquiry = add.inquiry;
    let mut seen = HashSet::new();
    let cells = facts.nodes.iter().enumerate().filter(|(_, node)| node.kind == NodeKind::Cell).take(LINES);
    for (nth, (number, node)) in cells.enumerate() {
        let place = facts.of_words(number, inquiry);
        for (line, is_row) in [(place.row(), true), (place.column(), false)] {
            let Some(line) = line.filter(|line| seen.insert((*line, is_row))) else { continue };
            // "Which city", where cities name the rows, is none of the columns.
            if is_row && inquiry.wants_one_of(facts.headings(line.0)) {
                continue;
            }
            let numbers = if is_row { facts.row(line, inquiry) } else { facts.column(line, inquiry) };
            if numbers.len() < 2 || numbers.len() > LONGEST {
                continue;
            }
            let members: Vec<Member> =
                numbers.into_iter().filter_map(|fact| member(facts, fact, is_row, inquiry)).collect();
            let own = if is_row { &node.column_headers } else { &node.row_headers };
            let outer = own.as_deref().and_then(outer);
            let total = |member: &&Member| !member.name.to_lowercase().contains("total");
            // "Operating expenses" name their total too.
            let wants_total = inquiry.has("total");
            let is_named = |member: &&Member| member.named && (wants_total || total(member));
            let named: Vec<&Member> = members.iter().filter(is_named).collect();
            let grouped: Vec<&Member> = members.iter().filter(|member| member.outer == outer).filter(total).collect();
            let all: Vec<&Member> = members.iter().filter(total).collect();
            let whole = all.len();
            for (subset, among_named, group) in [(all, 0.0, 0.0), (named, 1.0, 0.0), (grouped, 0.0, 1.0)] {
                if subset.len() < 2 || (group == 1.0 && subset.len() == whole) {
                    continue;
                }
                let features = WordFeatures {
                    members: (subset.len() as f32).ln() / 3.0,
                    named_or_near: among_named,
                    group_or_behind: group,
                    along_row: flag(is_row),
                    place: nth as f32 / 4.0,
                    covers: place.covers,
                    ..WordFeatures::default()
                };
                of_line(add, &subset, &inquiry.quantities, features);
                if among_named == 1.0 {
                    list(add, &subset, features);
                }
            }
        }
    }
}

fn outer(path: &str) -> Option<String> {
    path.rsplit_once(" > ").map(|(outer, _)| outer.to_owned())
}

fn member(facts: &Facts<'_>, fact: Fact, is_row: bool, inquiry: &Inquiry) -> Option<Member> {
    let node = facts.nodes.get(fact.node)?;
    let path = if is_row { node.column_headers.as_deref() } else { node.row_headers.as_deref() }?;
    let path = without_units(path);
    let of_year = if is_row && inquiry.has("year") { years(path) } else { Vec::new() };
    let name = match of_year.as_slice() {
        [(year, _)] => year.to_string(),
        _ => last(path).to_owned(),
    };
    let of_name: Vec<String> = stems(&last(path).to_lowercase()).collect();
    let shared = of_name.iter().filter(|word| inquiry.words.contains(*word)).count();
    let by_words = shared > 0 && 2 * shared >= of_name.len();
    let by_year = years(path).iter().any(|(year, _)| inquiry.names_year(*year));
    let outer = outer(path);
    (!name.is_empty()).then_some(Member { fact, name, named: by_words || by_year, outer })
}

/// A path of headers without what its innermost ones say in brackets of the scale alone: `2024 > ($ in millions)`.
fn without_units(mut path: &str) -> &str {
    let is_unit = |name: &str| {
        let name = name.trim();
        name.starts_with('(') && name.ends_with(')') && Scale::of_heading(name).is_some()
    };
    loop {
        match path.rsplit_once(" > ") {
            Some((outer, name)) if is_unit(name) => path = outer,
            None if is_unit(path) => return "",
            _ => return path,
        }
    }
}

/// Without one that is the sum of all others.
fn without_sum<'m>(members: &[&'m Member]) -> Vec<&'m Member> {
    let is_sum = sum_of_others(members.iter().map(|member| member.fact.quantity.value));
    let is_kept = |member: &&&Member| members.len() <= 3 || !is_sum(member.fact.quantity.value);
    members.iter().filter(is_kept).copied().collect()
}

/// What questions have that want all names along a line: `In which years was ... provided?`, `What are the components of ...?`
const WANTS_NAMES: [&str; 6] = ["which", "what years", "what are", "what were", "components", "name the"];

fn of_line(add: &mut Additions<'_, '_>, members: &[&Member], bounds: &[Quantity], mut features: WordFeatures) {
    let all = || members.iter().map(|member| member.fact.clone()).collect::<Vec<_>>();
    let of_parts = without_sum(members);
    let values = || of_parts.iter().map(|member| member.fact.quantity.value);
    for (family, wanted) in [(Family::ArgMax, values().max()), (Family::ArgMin, values().min())] {
        let mut best = of_parts.iter().filter(|member| Some(member.fact.quantity.value) == wanted);
        if let (Some(member), None) = (best.next(), best.next()) {
            let of_name = described(&member.name, add.inquiry);
            let of_name = WordFeatures {
                covers: features.covers,
                members: features.members,
                named_or_near: features.named_or_near,
                group_or_behind: features.group_or_behind,
                along_row: features.along_row,
                place: features.place,
                ..of_name
            };
            // The one that is named first, the rest as evidence.
            let mut cited = vec![member.fact.clone()];
            cited.extend(all().into_iter().filter(|fact| fact.node != member.fact.node));
            add.texts(family, cited, vec![member.name.clone()], of_name);
        }
    }
    if bounds.is_empty() {
        let features = WordFeatures { whole_line: 1.0, ..features };
        if add.inquiry.has("how many") || add.inquiry.has("number of") {
            add.number(Family::Count, all(), members.len(), features);
        }
        if WANTS_NAMES.iter().any(|words| add.inquiry.has(words)) {
            let date = flag(members.iter().all(|member| is_date(&member.name)));
            let names = members.iter().map(|member| member.name.clone()).collect();
            add.texts(Family::Which, all(), names, WordFeatures { date, ..features });
        }
        return;
    }
    let amount =
        |of: Quantity| of.value.checked_mul(Decimal::from(10_i64.pow(of.scale.map_or(0, |scale| scale.power()))));
    for bound in bounds.iter().take(2) {
        for (over, over_flag) in [(true, 0.0), (false, 1.0)] {
            let passes = |member: &&&Member| {
                let of = member.fact.quantity;
                // A bound without a scale is in the table's.
                let (a, b) = match bound.scale {
                    Some(_) => (amount(of), amount(*bound)),
                    None => (Some(of.value), Some(bound.value)),
                };
                a.zip(b).is_some_and(|(a, b)| if over { a > b } else { a < b })
            };
            let passed: Vec<&&Member> = members.iter().filter(passes).collect();
            features.reason_or_below = over_flag;
            add.number(Family::Count, all(), passed.len(), features);
            let names: Vec<String> = passed.iter().map(|member| member.name.clone()).collect();
            if !names.is_empty() && names.len() < members.len() {
                let cited = passed.iter().map(|member| member.fact.clone()).collect();
                add.texts(Family::Which, cited, names, features);
            }
        }
    }
}

/// The numbers of a sentence that are of the question's years, in its order.
fn listed(add: &mut Additions<'_, '_>, facts: &Facts<'_>, number: usize) {
    let inquiry = add.inquiry;
    let numbers = facts.of_node(number, inquiry);
    let of_years: Vec<Fact> =
        inquiry.years.iter().filter_map(|year| numbers.iter().find(|fact| fact.years == [*year]).cloned()).collect();
    if of_years.len() >= 2 && of_years.len() == inquiry.years.len() {
        let features = WordFeatures { whole_sentence: 1.0, ..WordFeatures::default() };
        let texts = of_years.iter().map(|fact| fact.text.clone()).collect();
        add.texts(Family::List, of_years, texts, features);
    }
}

/// What stands beside each name that the question has, in its order; `2017 to 2019` names 2018 too.
fn list(add: &mut Additions<'_, '_>, members: &[&Member], features: WordFeatures) {
    let mut named: Vec<&&Member> = members.iter().collect();
    if named.len() > 6 {
        return;
    }
    let falling = matches!(add.inquiry.years.as_slice(), [first, .., last] if first > last);
    // Years between two that are named stand between them.
    let place = |member: &Member| match member.fact.latest() {
        Some(year) if !add.inquiry.years.is_empty() => usize::from(if falling { u16::MAX - year } else { year }),
        _ => add.inquiry.text.find(&member.name.to_lowercase()).unwrap_or(usize::MAX),
    };
    named.sort_by_key(|member| place(member));
    let facts: Vec<Fact> = named.iter().map(|member| member.fact.clone()).collect();
    let texts: Vec<String> = facts.iter().map(|fact| fact.text.clone()).collect();
    add.texts(Family::List, facts, texts, features);
}

#[cfg(test)]
mod tests {
    use super::{dates, is_date};

    #[test]
    fn regression_dates_have_their_days() {
        let found = |text| dates(text).into_iter().map(|(_, date)| date).collect::<Vec<_>>();
        assert_eq!(found("as of December 31, 2019 and in May 2014."), ["December 31, 2019", "May 2014"]);
        assert_eq!(found("opened on 1 April 2022, and closed the 31st May 2023"), ["1 April 2022", "31st May 2023"]);
        assert_eq!(found("of 45 May 2023"), ["May 2023"]);
        for date in ["2019", "May 2014", "1 April 2022", "December 31, 2019"] {
            assert!(is_date(date), "{date}");
        }
        for other in ["April", "12 stores"] {
            assert!(!is_date(other), "{other}");
        }
    }
}
