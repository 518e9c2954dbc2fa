//! What a question wants: things or numbers, a row of each, the most of something, so many rows.

use super::Reading;
use crate::linking::{Words, grouped_by};

impl Reading<'_> {
    fn word(&self, at: usize) -> &str {
        self.words.words.get(at).map_or("", |word| word.text.as_str())
    }

    fn word_before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |at| self.word(at))
    }

    /// Whether it asks which or who, and not how many.
    pub fn asks_which(&self) -> bool {
        let opening =
            self.words.words.iter().map(|word| word.text.as_str()).find(|word| *word != "in" && *word != "for");
        let counts = ["many", "number", "count", "total", "much"];
        opening.is_some_and(|word| ["which", "who", "whom", "list"].contains(&word))
            && !self.words.words.iter().any(|word| counts.contains(&word.text.as_str()))
    }

    /// The words for each thing that it asks for: of "how many free lockers has" free and lockers, of "the area of the cheapest gym"
    /// area, of "the most units" units.
    pub fn things(&self) -> Vec<Vec<usize>> {
        #[rustfmt::skip]
        const ENDS: [&str; 50] = [
            "do", "does", "did", "has", "have", "had", "is", "are", "was", "were", "will", "would", "can", "could", "of", "in", "on",
            "at", "for", "from", "by", "with", "without", "per", "to", "that", "which", "who", "whose", "where", "there", "and", "or",
            "than", "got", "get", "gets", "made", "took", "received", "won", "sold",
            "held", "given", "bought", "paid", "sent", "lost", "built", "taken",
        ];
        // Of these it asks how many there are, whatever they are called; or how often.
        #[rustfmt::skip]
        const ANY: [&str; 18] = [
            "times", "kinds", "types", "sorts", "kind", "type", "sort", "people", "persons", "rows", "records", "entries", "money",
            "often", "frequently", "frequent", "common", "popular",
        ];
        let all = self.words.words.len();
        // "Products returned by", but "how many used cars".
        let ends =
            |at: &usize, start: usize| ENDS.contains(&self.word(*at)) || *at > start && self.word(*at).ends_with("ed");
        let end = |start: usize| (start..all).find(|at| ends(at, start)).unwrap_or(all);
        let begins = |at: usize| match (self.word(at), self.word(at + 1), self.word(at + 2)) {
            ("how", "many", _) | ("number" | "name" | "names", "of", _) => Some(at + 2),
            ("most" | "fewest" | "least", ..) => Some(at + 1),
            // "In which rooms".
            ("which", ..) if at < 2 => Some(at + 1),
            ("what", "is" | "are" | "was" | "were", "the")
                if at == 0 && ["of", "on", "for", "in", "at"].contains(&self.word(end(3))) =>
            {
                Some(3)
            }
            _ => None,
        };
        let says = |at: &usize| {
            let word = self.words.words.get(*at);
            word.is_some_and(|word| !word.is_stop && !ANY.contains(&word.text.as_str())) && !self.is_cue(*at)
        };
        let thing = |start: usize| (start..end(start)).filter(says).collect::<Vec<usize>>();
        (0..all).filter_map(begins).map(thing).filter(|thing| !thing.is_empty()).collect()
    }

    /// The tables that have the name of one of these things: of "meter readings" that of readings, where there is one.
    pub fn tables_of(&self, things: &[Vec<usize>]) -> Vec<usize> {
        let named = |at: &usize| -> Vec<usize> {
            let mentions = self.tables.iter().enumerate();
            mentions.filter(|(_, of)| of.coverage > 0.99 && of.words.contains(at)).map(|(table, _)| table).collect()
        };
        let of = |thing: &Vec<usize>| {
            let is_one = thing.iter().all(|at| self.is_table(*at));
            let of_last = thing.last().filter(|_| is_one).map(named).filter(|tables| !tables.is_empty());
            of_last.unwrap_or_else(|| thing.iter().flat_map(named).collect())
        };
        things.iter().flat_map(of).collect()
    }

    /// Two that it wants together, by the columns that each is for: "names and emails of"; things and something of theirs,
    /// "suppliers and their ratings", have none for the first.
    pub fn pair(&self) -> Option<(Option<Vec<usize>>, Vec<usize>)> {
        const OPENING: [&str; 9] = ["show", "list", "give", "find", "me", "the", "what", "are", "all"];
        const BEFORE: [&str; 9] = ["of", "for", "with", "where", "who", "that", "in", "by", "whose"];
        let texts: Vec<&str> = self.words.words.iter().map(|word| word.text.as_str()).collect();
        let and = texts.iter().position(|word| *word == "and")?;
        let is_early = !texts.get(..and)?.iter().any(|word| BEFORE.contains(word));
        let is_theirs = ["their", "its"].contains(&self.word(and + 1));
        let second = if is_theirs || self.word(and + 1) == "the" { and + 2 } else { and + 1 };
        let first = (0..and).find(|at| !OPENING.contains(&texts[*at]))?;
        let spans = |from: &dyn Fn(usize, usize) -> bool| -> Vec<usize> {
            let all = self.columns.iter().enumerate().filter(|(column, of)| {
                let is_whole = of.coverage > 0.99 || self.mentioned(*column) > 0.5;
                is_whole && of.spans.iter().any(|(start, end)| from(*start, *end))
            });
            all.map(|(column, _)| column).collect()
        };
        let (mut of_first, of_second) = (spans(&|_, end| end == and), spans(&|start, _| start == second));
        if of_first.is_empty() && ["name", "names"].contains(&self.word(first)) && first + 1 == and {
            let table = |column: &usize| self.graph.columns().get(*column).map(|node| node.table);
            let second = of_second.first().and_then(table);
            of_first = (0..self.graph.columns().len()).filter(|of| table(of) == second).collect();
            of_first.retain(|column| self.has_stem(*column, &["name"]));
        }
        match (is_early && !of_second.is_empty(), of_first.is_empty()) {
            (true, false) => Some((Some(of_first), of_second)),
            (true, true) if is_theirs && (first..and).any(|at| self.is_table(at)) => Some((None, of_second)),
            _ => None,
        }
    }

    /// Whether one of two may hold: it has an "or" that is not of "or later".
    pub fn may_want_either(&self) -> bool {
        let mut ors = (0..self.words.words.len()).filter(|at| self.word(*at) == "or").peekable();
        ors.peek().is_none() || ors.any(|or| self.beyond(or).is_none())
    }

    /// Whether it may want what is so in one row and what is so in another: a word puts two together.
    pub fn may_want_both(&self) -> bool {
        const BOTH: [&str; 7] = ["and", "both", "but", "also", "well", "while", "plus"];
        self.words.words.iter().any(|word| BOTH.contains(&word.text.as_str()))
    }

    /// Whether it asks for the number that something has, "the phone number of", and not how many there are.
    pub fn wants_a_number(&self) -> bool {
        const COUNTED: [&str; 9] = ["the", "total", "a", "what", "is", "highest", "lowest", "largest", "smallest"];
        let is_at = |at: usize| {
            let before = self.words.words.get(at);
            let is_name = before.is_some_and(|word| !word.is_stop && !COUNTED.contains(&word.text.as_str()));
            is_name && !self.is_cue(at) && self.word(at + 1) == "number" && self.word(at + 2) == "of"
        };
        (0..self.words.words.len()).any(is_at)
    }

    /// Whether it begins with "how much".
    pub fn asks_how_much(&self) -> bool {
        matches!(self.words.words.as_slice(), [how, much, ..] if how.text == "how" && much.text == "much")
    }

    /// Whether it wants things, and says nothing of what is to be shown of them: "which members", "members without".
    pub fn wants_things(&self) -> bool {
        self.asks_which() || self.is_table(0)
    }

    /// Whether a word stands where what is said says which things are meant: "in debt", "of laptops", "are injured", "have pets", but
    /// "have performed".
    pub fn says_which(&self, at: usize) -> bool {
        const BEFORE: [&str; 12] = ["of", "for", "in", "on", "with", "about", "by", "from", "are", "is", "were", "was"];
        const HAVE: [&str; 3] = ["have", "has", "had"];
        const BETWEEN: [&str; 9] = ["a", "an", "the", "any", "still", "currently", "all", "on", "in"];
        let before = (0..at).rev().map(|at| self.word(at)).find(|word| !BETWEEN.contains(word)).unwrap_or("");
        let is_done = self.word(at).ends_with("ed") || self.word(at).ends_with("ne");
        BEFORE.contains(&before) || BEFORE.contains(&self.word_before(at)) || HAVE.contains(&before) && !is_done
    }

    /// Whether it asks when or where.
    pub fn asks_when_or_where(&self) -> bool {
        ["when", "where"].contains(&self.word(0))
    }

    /// Whether it is the name of things, with what is said of them: "members without a loan".
    pub fn lists_things(&self) -> bool {
        const NUMBERS: [&str; 12] =
            ["many", "number", "count", "total", "much", "average", "mean", "sum", "maximum", "minimum", "max", "min"];
        let has_number = self.words.words.iter().any(|word| NUMBERS.contains(&word.text.as_str()));
        // "Show all patients".
        const SHOWN: [&str; 6] = ["show", "list", "display", "all", "the", "me"];
        let first = (0..self.words.words.len()).find(|at| !SHOWN.contains(&self.word(*at)));
        first.is_some_and(|first| self.is_table(first)) && !has_number
    }

    /// Whether it wants the most or least that a column has: "what is the highest salary", "lowest doctor salary".
    pub fn wants_end_of(&self, column: usize) -> bool {
        const OPENING: [&str; 8] = ["what", "is", "was", "s", "the", "show", "find", "give"];
        let end = (0..self.words.words.len()).find(|at| !OPENING.contains(&self.word(*at))).unwrap_or_default();
        let has_name = |at: usize| {
            self.columns.get(column).is_some_and(|mention| mention.spans.iter().any(|(start, _)| *start == at))
        };
        is_superlative(self.word(end)) && (has_name(end + 1) || self.is_table(end + 1) && has_name(end + 2))
    }

    /// Whether the first that it names are things, behind how many of them, and which: "the 5 largest ships".
    pub fn begins_with_things(&self) -> bool {
        const BEFORE: [&str; 10] = ["the", "top", "bottom", "first", "last", "most", "what", "which", "are", "list"];
        let is_before = |at: &usize| {
            let word = self.word(*at);
            let is_number = self.numbers.iter().any(|(number, _)| number == at);
            // "The 5 most valuable".
            let is_most = self.word_before(*at) == "most" && !self.is_table(*at);
            is_number || is_most || BEFORE.contains(&word) || is_superlative(word)
        };
        let first = (0..self.words.words.len()).find(|at| !is_before(at));
        first.is_some_and(|first| first > 0 && self.is_table(first))
    }

    /// The words for whom or what it is about: for each thing that it asks for, at its beginning, or behind "who are".
    pub fn heads(&self, things: &[Vec<usize>]) -> Vec<usize> {
        let people = (1..self.words.words.len()).find(|at| !self.words.words.get(*at).is_some_and(|word| word.is_stop));
        let people = people.filter(|_| self.asks_who());
        things.iter().filter_map(|thing| thing.last().copied()).chain([0]).chain(people).collect()
    }

    /// Whether a word is in the whole name of a table.
    fn is_table(&self, at: usize) -> bool {
        self.tables.iter().any(|table| table.coverage > 0.99 && table.words.contains(&at))
    }

    /// The word for what it wants a row for each of: "for each course", "how many does each course have".
    pub fn wants_groups(&self) -> Option<usize> {
        let counts = self.word(0) == "how" && self.word(1) == "many";
        (0..self.words.words.len())
            .filter(|&at| match self.word_before(at) {
                "for" => true,
                "do" | "does" | "did" => counts,
                _ => false,
            })
            .filter(|&at| self.word(at) == "each")
            .find_map(|at| grouped_by(at, &self.words, &self.columns, &self.tables))
    }

    /// Whether a word of the question is for a column, or for its table.
    pub fn is_for(&self, at: usize, column: usize) -> bool {
        let table = self.graph.columns().get(column).and_then(|node| self.tables.get(node.table));
        self.columns.get(column).into_iter().chain(table).any(|mention| mention.words.contains(&at))
    }

    /// Whether it wants what is the most or the least of something.
    pub fn has_superlative(&self) -> bool {
        const MOST: [&str; 8] = ["most", "least", "top", "first", "last", "best", "worst", "maximum"];
        self.words.words.iter().any(|word| MOST.contains(&word.text.as_str()) || is_superlative(&word.text))
    }

    /// Whether it wants one total: "what was the total amount" is not answered with the amounts, though a column is called total.
    pub fn wants_one_total(&self) -> bool {
        let opening: Vec<&str> = self.words.words.iter().take(4).map(|word| word.text.as_str()).collect();
        let opens = matches!(opening.as_slice(), ["what", "is" | "was" | "s", "the", "total" | "sum"]);
        opens
            && self.per.is_none()
            && !self.words.words.iter().any(|word| ["each", "every"].contains(&word.text.as_str()))
    }

    /// Whether it may want one row of many, the first in some order: the most, or the one of two that has more.
    pub fn may_want_first(&self) -> bool {
        #[rustfmt::skip]
        const FIRST: [&str; 14] = [
            "minimum", "max", "min", "one", "single", "more", "less", "major", "higher", "lower", "better", "older", "younger",
            "later",
        ];
        // "More than 200" is no more of two.
        let is_first = |(at, mark): (usize, &String)| FIRST.contains(&mark.as_str()) && self.word(at + 1) != "than";
        self.has_superlative() || self.marks.iter().enumerate().any(is_first)
    }

    /// Whether rows in this order of a column begin with the other end: the oldest have the first dates and years, and the
    /// highest ages.
    pub fn is_other_way(&self, column: usize, descending: bool, limited: bool) -> bool {
        const FIRST: [&str; 3] = ["oldest", "earliest", "eldest"];
        const LAST: [&str; 4] = ["newest", "latest", "youngest", "recent"];
        let has = |of: &[&str]| self.words.words.iter().any(|word| of.contains(&word.text.as_str()));
        let is_read = |of: &[&str]| self.marks.iter().any(|mark| of.contains(&mark.as_str()));
        // "Top 5 by sales" are those with most, but not "top 5 by rank".
        const TURNED: [&str; 6] = ["rank", "posit", "place", "order", "prioriti", "number"];
        let (high, low) = (
            is_read(&["highest", "top", "most"]),
            is_read(&["lowest", "least", "fewest", "bottom", "worst", "ascend", "descend"]),
        );
        let is_plain = !self.dates.contains(&column) && !self.has_stem(column, &TURNED) && !has(&FIRST) && !has(&LAST);
        if is_plain && limited && high != low && high != descending {
            return true;
        }
        let from_first = match (has(&FIRST), has(&LAST)) {
            (true, false) => true,
            (false, true) => false,
            _ => return false,
        };
        const OF_TIME: [&str; 8] = ["date", "year", "birth", "birthday", "dob", "found", "open", "built"];
        if self.dates.contains(&column) || self.has_stem(column, &OF_TIME) {
            return descending == from_first;
        }
        self.has_stem(column, &["age"]) && descending != from_first
    }

    /// Whether a number says how many rows are wanted: "top 5", "the 3 largest".
    pub fn is_limit(&self, at: usize) -> bool {
        let before = self.word_before(at);
        let next = self.word(at + 1);
        // "The 3 passengers who spent most".
        let opens = at == 0 || at == 1 && before == "the";
        let is_counted = || self.tables.iter().any(|table| table.coverage > 0.4 && table.words.contains(&(at + 1)));
        const ENDS: [&str; 3] = ["most", "fewest", "least"];
        let is_end = |at: usize| ENDS.contains(&self.word(at)) || is_superlative(self.word(at));
        let is_held = ["than", "least", "most", "exactly"].contains(&before);
        // "That last 45 minutes".
        matches!(before, "top" | "bottom" | "first")
            || before == "last" && !self.is_measure(at)
            || next == "most"
            || is_superlative(next)
            || opens && is_counted()
            || !is_held && is_counted() && (at + 2..at + 7).any(is_end)
    }

    /// How many numbers it wants of each group or of all; 0 where one will do.
    pub fn functions(&self) -> usize {
        let is_name = |at| self.columns.iter().any(|of| of.coverage > 0.99 && of.words.contains(&at));
        functions(&self.words, is_name)
    }

    /// How many rows are wanted, where a number says so.
    pub fn limit(&self) -> Option<usize> {
        let is_count = |number: f64| (2.0..=1000.0).contains(&number) && number.fract() == 0.0;
        let mut limits = self.numbers.iter().filter(|(at, number)| is_count(*number) && self.is_limit(*at));
        limits.next().map(|(_, number)| *number as usize)
    }

    /// Whether a number is what something is held against: "more than two", "over 5".
    pub fn is_compared(&self, at: usize) -> bool {
        let before = self.word_before(at);
        ["than", "over", "under", "above", "below", "exceeding"].contains(&before)
    }

    /// Whether a number is a year in which, or since which, something is.
    pub fn is_in_year(&self, at: usize) -> bool {
        let before = self.word_before(at);
        self.is_year(at) && ["in", "since", "during", "until", "for", "of"].contains(&before)
    }

    /// Whether it has a word for what is not so.
    pub fn negates(&self) -> bool {
        #[rustfmt::skip]
        const NOT: [&str; 24] = [
            "not", "no", "never", "without", "except", "excluding", "exclude", "excluded", "excludes", "other", "others", "different",
            "differ", "neither", "nor", "none", "non", "unless", "besides", "but", "outside", "apart", "t", "rather",
        ];
        // "No-shows" are a value.
        let is_value = |at: usize| self.marks.get(at).is_some_and(|mark| mark == "@");
        let mut words = self.words.words.iter().enumerate();
        words.any(|(at, word)| NOT.contains(&word.text.as_str()) && !is_value(at))
    }

    /// Whether it says of what it wants that it is not, has not or never did something, but not of a number: "no more than".
    pub fn has_hard_not(&self) -> bool {
        const NOT: [&str; 4] = ["no", "not", "never", "without"];
        const OF_NUMBERS: [&str; 8] = ["more", "less", "fewer", "later", "earlier", "longer", "only", "just"];
        let is_value = |at: usize| self.marks.get(at).is_some_and(|mark| mark == "@");
        let words = self.words.words.iter().enumerate();
        words.into_iter().any(|(at, word)| {
            let or = self.word_before(at) == "or";
            NOT.contains(&word.text.as_str()) && !or && !is_value(at) && !OF_NUMBERS.contains(&self.word(at + 1))
        })
    }

    /// Where it says that all rows of each thing are added up: "in total", but not "total amount" of a column of that name.
    pub fn wants_totals(&self) -> bool {
        const TOTALS: [&str; 5] = ["total", "altogether", "overall", "combined", "summed"];
        let is_name = |at: usize| {
            let of_columns = self.columns.iter().filter(|mention| mention.coverage > 0.4);
            of_columns.into_iter().any(|mention| mention.words.contains(&at))
        };
        let counts = |at: usize| ["number", "count"].contains(&self.word(at + 1));
        let words = self.words.words.iter().enumerate();
        words.into_iter().any(|(at, word)| TOTALS.contains(&word.text.as_str()) && !is_name(at) && !counts(at))
    }

    /// Whether it begins with "what is the".
    pub fn asks_what_is(&self) -> bool {
        self.word(0) == "what" && ["is", "are", "was", "were"].contains(&self.word(1)) && self.word(2) == "the"
    }

    /// Whether it asks for people.
    pub fn asks_who(&self) -> bool {
        ["who", "whom"].contains(&self.word(0))
    }

    /// Whether rows are wanted in an order of words.
    pub fn sorts_words(&self) -> bool {
        const SORTED: [&str; 9] =
            ["alphabet", "order", "sort", "first", "last", "rank", "ascend", "descend", "lexicograph"];
        self.words.words.iter().any(|word| SORTED.iter().any(|sorted| word.stem.starts_with(sorted)))
    }

    /// Whether a number is written as a year.
    pub fn is_year(&self, at: usize) -> bool {
        let word = self.word(at);
        word.len() == 4 && (word.starts_with("19") || word.starts_with("20"))
    }

    /// Whether a number is of something measured, "60 minutes", and not of rows.
    pub fn is_measure(&self, at: usize) -> bool {
        const UNITS: [&str; 30] = [
            "second", "minut", "hour", "day", "week", "month", "year", "dollar", "euro", "pound", "usd", "eur", "cent",
            "percent", "km", "kilomet", "mile", "meter", "metr", "feet", "foot", "inch", "cm", "kg", "kilogram", "ton",
            "gram", "liter", "degre", "kwh",
        ];
        self.words.words.get(at + 1).is_some_and(|word| UNITS.contains(&word.stem.as_str()))
    }
}

/// "Largest", but not "best" and "test".
fn is_superlative(word: &str) -> bool {
    word.len() > 4 && word.ends_with("est")
}

/// How many numbers are wanted together, "the average height and the average width"; 0 where not several are. A word in the name of a
/// column, `mean_humidity`, wants none.
fn functions(question: &Words, is_name: impl Fn(usize) -> bool) -> usize {
    #[rustfmt::skip]
    const FUNCTIONS: [&str; 18] = [
        "average", "mean", "avg", "maximum", "max", "minimum", "min", "total", "sum", "number", "count", "highest", "lowest",
        "largest", "smallest", "oldest", "youngest", "median",
    ];
    const BETWEEN: [&str; 6] = ["the", "their", "its", "a", "also", "both"];
    let word = |at: usize| question.words.get(at).map_or("", |word| word.text.as_str());
    // The total number is one.
    let is_function = |at: &usize| {
        FUNCTIONS.contains(&word(*at)) && !(word(*at) == "total" && word(*at + 1) == "number") && !is_name(*at)
    };
    let mut wanted = 0;
    for at in (0..question.len()).filter(is_function) {
        let before = (0..at).rev().map(word).find(|word| !BETWEEN.contains(word));
        let is_beside = before == Some("and");
        if !is_beside && wanted < 2 {
            wanted = 0;
        }
        if is_beside == (wanted > 0) {
            wanted += 1;
        }
    }
    if wanted > 1 { wanted } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regression_each_of_several_numbers_is_wanted() {
        for (question, numbers) in [
            ("Average salary and number of employees per department", 2),
            ("What are the minimum, the average and the maximum age?", 2),
            ("What is the average height and the average width?", 2),
            ("What is the total number of singers?", 0),
            ("Name and total number of concerts of each stadium", 0),
            ("number of gifts to the school with the highest score and the town", 0),
        ] {
            assert_eq!(functions(&Words::of(question), |_| false), numbers, "{question}");
        }
        let days = Words::of("Days with both mean humidity and mean visibility");
        assert_eq!((functions(&days, |_| false), functions(&days, |at| at > 2)), (2, 0));
    }
}
