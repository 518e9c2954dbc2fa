//! Candidate statements for a question.

use super::conditions::{Condition, Relation};
use super::known::{Field, Known, Scope};
use super::question::Question;
use crate::catalogue::literal;

/// At most so many fields are shown, measured, and so many statements made of one scope.
const SHOWN: usize = 12;
const MEASURES: usize = 8;
const CANDIDATES: usize = 1500;

/// What a statement does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Form {
    Select,
    First,
    Last,
    Largest,
    Smallest,
    SecondLargest,
    SecondSmallest,
    Count,
    CountDifferent,
    Max,
    Min,
    Sum,
    Mean,
    Next,
    Previous,
    Difference,
    CountDifference,
    Range,
    Commonest,
    Rarest,
    CountAbove,
    CountBelow,
    Same,
}

impl Form {
    pub fn name(self) -> &'static str {
        match self {
            Self::Select => "select",
            Self::First => "first",
            Self::Last => "last",
            Self::Largest => "largest",
            Self::Smallest => "smallest",
            Self::SecondLargest => "second_largest",
            Self::SecondSmallest => "second_smallest",
            Self::Count => "count",
            Self::CountDifferent => "count_different",
            Self::Max => "max",
            Self::Min => "min",
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Next => "next",
            Self::Previous => "previous",
            Self::Difference => "difference",
            Self::CountDifference => "count_difference",
            Self::Range => "range",
            Self::Commonest => "commonest",
            Self::Rarest => "rarest",
            Self::CountAbove => "count_above",
            Self::CountBelow => "count_below",
            Self::Same => "same",
        }
    }
}

/// A statement with what it is made of.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub sql: String,
    pub form: Form,
    /// The field whose values it shows.
    pub shown: Option<usize>,
    /// The field that it orders by or computes with.
    pub measure: Option<usize>,
    /// Conditions, by their places in the question's.
    pub conditions: Vec<usize>,
    /// How they are joined.
    pub joined: Joined,
}

/// How the conditions of a statement are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joined {
    All,
    Either,
    /// The one does not hold.
    Not,
}

impl Joined {
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "both",
            Self::Either => "either",
            Self::Not => "not",
        }
    }
}

/// A `WHERE` clause.
struct Filter {
    conditions: Vec<usize>,
    joined: Joined,
    /// With the word before it, or empty.
    sql: String,
    /// How many rows it leaves, as far as they were looked at.
    rows: usize,
}

/// What the statements of a scope are made of, the same with each filter.
struct Parts {
    from: String,
    /// What the rows are in the order of, where one table is read.
    order: Option<String>,
    /// The row that sums up the others.
    total: Option<(usize, String)>,
    shown: Vec<Shown>,
    measures: Vec<Measure>,
    cues: Cues,
}

impl Parts {
    /// The measures that hold numbers.
    fn numbers(&self) -> impl Iterator<Item = &Measure> {
        self.measures.iter().filter(|measure| measure.is_number)
    }
}

/// A field whose values may be shown.
struct Shown {
    field: usize,
    /// As SQL names it.
    column: String,
    base: usize,
    is_number: bool,
    /// Whether its values may be what is wanted.
    may_answer: bool,
    /// Whether rows with one value of it count together.
    is_summed: bool,
}

/// A field that may be ordered by or computed with.
struct Measure {
    field: usize,
    /// As SQL names it.
    column: String,
    base: usize,
    is_number: bool,
    is_of_years: bool,
    /// Whether its sum and mean say something.
    is_summable: bool,
    /// Whether the rows with most, and those with least, may be wanted.
    ends: (bool, bool),
}

/// What the question's words say of how rows are counted and ordered.
struct Cues {
    /// What comes second is wanted.
    second: bool,
    /// How many different values there are may be wanted.
    numbered: bool,
    /// What comes most often is wanted.
    is_of_counts: bool,
    /// How many rows there are may be wanted.
    counts_rows: bool,
    /// What most rows have may be wanted.
    most_rows: bool,
    is_when: bool,
    is_who: bool,
    is_age: bool,
}

/// The candidates over a scope.
pub(super) fn candidates(question: &Question, known: &Known, scope: &Scope) -> Vec<Candidate> {
    let mut made = Maker { question, known, scope, candidates: Vec::new() };
    made.make();
    made.candidates.truncate(CANDIDATES);
    made.candidates
}

struct Maker<'a> {
    question: &'a Question,
    known: &'a Known,
    scope: &'a Scope,
    candidates: Vec<Candidate>,
}

impl Maker<'_> {
    fn overlap(&self, field: usize) -> f32 {
        self.question.overlaps.get(field).copied().unwrap_or(0.0)
    }

    /// Fields of the scope, those that the question names first.
    fn fields(&self, most: usize, wanted: impl Fn(usize) -> bool) -> Vec<usize> {
        let in_scope = |field: &usize| {
            self.known.fields.get(*field).is_some_and(|found| self.scope.tables.contains(&found.table) && !found.key)
        };
        let mut fields: Vec<usize> =
            (0..self.known.fields.len()).filter(in_scope).filter(|field| wanted(*field)).collect();
        fields.sort_by(|a, b| self.overlap(*b).total_cmp(&self.overlap(*a)).then(a.cmp(b)));
        fields.truncate(most);
        fields.sort_unstable();
        fields
    }

    /// Whether it wants things by what all their rows have together.
    fn wants_sums(&self) -> bool {
        let of_sums = |stem: &str| ["total", "altogether", "overall", "combined"].contains(&stem);
        let mut words = self.question.tokens.iter().zip(&self.question.in_label);
        words.any(|(token, in_label)| of_sums(&token.stem) && !in_label)
    }

    /// Whether the rows with most, and those with least, of a field may be wanted: a word for one end leaves the other out, but
    /// not of places, of which the lowest number is the highest place.
    fn ends(&self, measure: Option<usize>) -> (bool, bool) {
        const TURNED: [&str; 7] = ["rank", "position", "place", "order", "number", "no", "priority"];
        let has = |words: &[&str]| words.iter().any(|word| self.question.has(word));
        let field = measure.and_then(|measure| self.known.fields.get(measure));
        let turned = field.is_some_and(|field| {
            field.is_date()
                || field.is_of_years()
                || field.label_words.iter().any(|word| TURNED.contains(&word.as_str()))
        });
        let low = has(&["smallest", "lowest", "minimum", "fewest"]);
        let high = has(&["largest", "highest", "maximum", "biggest", "greatest"]);
        let one_end = low != high && (!turned || measure.is_none());
        (!(one_end && low), !(one_end && high))
    }

    /// The row that sums up the others, where one table is read: a field, and what SQL has for the value that it has there.
    fn total(&self) -> Option<(usize, String)> {
        match self.scope.tables.as_slice() {
            [table] => {
                let (field, value) = self.known.tables.get(*table)?.total.as_ref()?;
                Some((*field, literal(value)))
            }
            _ => None,
        }
    }

    fn shown(&self) -> Vec<usize> {
        self.fields(SHOWN, |field| {
            let part = self.known.fields.get(field).and_then(|field| field.reading_of.as_ref());
            part.is_none_or(|(_, part)| ["first", "second", "home", "result", "address"].contains(&part.as_str()))
        })
    }

    fn measures(&self) -> Vec<usize> {
        self.fields(MEASURES, |field| self.known.fields.get(field).is_some_and(|field| field.number || field.is_date()))
    }

    fn filters(&self) -> Vec<Filter> {
        let conditions: Vec<(usize, &Condition)> = self
            .question
            .conditions
            .iter()
            .enumerate()
            .filter(|(_, found)| {
                self.known.fields.get(found.field).is_some_and(|field| self.scope.tables.contains(&field.table))
            })
            .collect();
        let all = self.known.fields.iter().find(|field| self.scope.tables.contains(&field.table));
        let all = all.map_or(0, |field| field.values.len());
        let mut filters = vec![Filter { conditions: Vec::new(), joined: Joined::All, sql: String::new(), rows: all }];
        let sql = |found: &Condition| found.sql(&self.known.sql(found.field, self.scope));
        for (at, found) in &conditions {
            let sql = format!(" WHERE {}", sql(found));
            filters.push(Filter { conditions: vec![*at], joined: Joined::All, sql, rows: found.rows.len() });
        }
        if ["other", "besides", "except", "not", "excluding", "another", "without"]
            .iter()
            .any(|cue| self.question.has(cue))
        {
            for (at, found) in conditions.iter().filter(|(_, found)| found.names_value()) {
                let sql = format!(" WHERE NOT ({})", sql(found));
                let rows = all.saturating_sub(found.rows.len());
                filters.push(Filter { conditions: vec![*at], joined: Joined::Not, sql, rows });
            }
        }
        let (mut both, mut either) = (Vec::new(), Vec::new());
        for (place, (at, one)) in conditions.iter().enumerate() {
            for (other_at, other) in conditions.iter().skip(place + 1) {
                if one.span.start < other.span.end && other.span.start < one.span.end {
                    continue;
                }
                let same = self.known.base(one.field) == self.known.base(other.field);
                let one_table = self.known.fields.get(one.field).map(|field| field.table)
                    == self.known.fields.get(other.field).map(|field| field.table);
                let common = one.rows.iter().filter(|row| other.rows.binary_search(row).is_ok()).count();
                let (a, b) = (sql(one), sql(other));
                let between = one.field == other.field
                    && matches!(
                        (one.relation, other.relation),
                        (Relation::AtLeast, Relation::AtMost) | (Relation::AtMost, Relation::AtLeast)
                    );
                let compatible = !same || between || one.relation == Relation::Has && other.relation == Relation::Has;
                if compatible && (common > 0 || !one_table) {
                    let sql = format!(" WHERE {a} AND {b}");
                    both.push(Filter {
                        conditions: vec![*at, *other_at],
                        joined: Joined::All,
                        sql,
                        rows: common.max(1),
                    });
                }
                if one.field == other.field
                    && one.relation == other.relation
                    && !matches!(one.relation, Relation::Above | Relation::Below | Relation::AtLeast | Relation::AtMost)
                    && common < one.rows.len()
                {
                    let rows = one.rows.len() + other.rows.len() - common;
                    let sql = format!(" WHERE ({a} OR {b})");
                    either.push(Filter { conditions: vec![*at, *other_at], joined: Joined::Either, sql, rows });
                }
            }
        }
        filters.extend(both.into_iter().take(12));
        filters.extend(either.into_iter().take(5));
        filters
    }

    fn push(&mut self, sql: String, form: Form, shown: Option<usize>, measure: Option<usize>, filter: &Filter) {
        let Filter { conditions, joined, .. } = filter;
        self.candidates.push(Candidate { sql, form, shown, measure, conditions: conditions.clone(), joined: *joined });
    }

    fn cues(&self) -> Cues {
        let has = |words: &[&str]| words.iter().any(|word| self.question.has(word));
        let begins = |words: &str| {
            let tokens = self.question.tokens.iter().map(|token| token.stem.as_str());
            words.split(' ').eq(tokens.take(words.split(' ').count()))
        };
        let (is_who, is_age) = (begins("who"), begins("how old"));
        // Of "how many units" a column has the number, unless it numbers the rows.
        let counted_elsewhere = self.question.opening == "how many"
            && self.measures().into_iter().filter_map(|measure| self.known.fields.get(measure)).any(|field| {
                field.number && field.label_words.last() == Some(&self.question.head) && field.repeats_or_jumps()
            });
        Cues {
            second: has(&["second", "2nd"]),
            numbered: has(&["different", "distinct", "unique", "various"]),
            is_of_counts: has(&["often", "frequently", "commonly"]),
            // Nobody and no age is how many rows there are.
            counts_rows: !counted_elsewhere && !is_who && !is_age,
            most_rows: self.ends(None).0,
            is_when: self.question.opening == "when",
            is_who,
            is_age,
        }
    }

    fn parts(&self) -> Parts {
        let cues = self.cues();
        let order = match self.scope.tables.as_slice() {
            [table] => self.known.tables.get(*table).and_then(|table| table.order.clone()),
            _ => None,
        };
        let sums = self.wants_sums();
        let is = |field: usize, is: fn(&Field) -> bool| self.known.fields.get(field).is_some_and(is);
        let shown = |field: usize| {
            let is_number = is(field, |field| field.number);
            Shown {
                field,
                column: self.known.sql(field, self.scope),
                base: self.known.base(field),
                is_number,
                may_answer: match is_number {
                    true => !cues.is_who && (!cues.is_when || is(field, Field::is_time)),
                    false => !cues.is_age,
                },
                is_summed: sums && is(field, Field::repeats),
            }
        };
        let measure = |field: usize| {
            let is_of_years = is(field, Field::is_of_years);
            Measure {
                field,
                column: self.known.sql(field, self.scope),
                base: self.known.base(field),
                is_number: is(field, |field| field.number),
                is_of_years,
                is_summable: !is_of_years && is(field, |field| !field.is_number_of_row()),
                ends: self.ends(Some(field)),
            }
        };
        Parts {
            from: self.scope.from.clone(),
            order,
            total: self.total(),
            shown: self.shown().into_iter().map(shown).collect(),
            measures: self.measures().into_iter().map(measure).collect(),
            cues,
        }
    }

    fn make(&mut self) {
        let parts = self.parts();
        for filter in &self.filters() {
            let sql = self.without_total(filter, parts.total.as_ref());
            if parts.cues.counts_rows {
                self.push(format!("SELECT count(*) FROM {}{sql}", parts.from), Form::Count, None, None, filter);
            }
            let fixed = self.fixed(filter);
            for shown in parts.shown.iter().filter(|shown| !fixed.contains(&shown.base)) {
                self.showing(shown, &parts, filter, &sql);
            }
            if filter.rows >= 2 {
                for measure in parts.numbers() {
                    self.computing(measure, &parts.from, filter, &sql);
                }
            }
            match filter.conditions.as_slice() {
                [one] if filter.joined == Joined::All => self.beside(*one, filter, &parts),
                [one, other] if filter.joined == Joined::Either => self.between(*one, *other, filter, &parts),
                _ => {}
            }
        }
    }

    /// The clause of a filter without the row that sums the others up: it is none of them, unless it is named.
    fn without_total(&self, filter: &Filter, total: Option<&(usize, String)>) -> String {
        let plain = &filter.sql;
        let Some((field, value)) = total else { return plain.clone() };
        let mut conditions = filter.conditions.iter().filter_map(|at| self.question.conditions.get(*at));
        if conditions
            .any(|found| found.field == *field && found.names_value() && found.value.eq_ignore_ascii_case(value))
        {
            return plain.clone();
        }
        let and = if plain.is_empty() { " WHERE" } else { " AND" };
        format!("{plain}{and} coalesce({}, '') <> {value}", self.known.sql(*field, self.scope))
    }

    /// The fields that have one value in all rows that a filter leaves.
    fn fixed(&self, filter: &Filter) -> Vec<usize> {
        filter
            .conditions
            .iter()
            .filter_map(|at| self.question.conditions.get(*at))
            .filter(|found| filter.joined == Joined::All && found.relation != Relation::Has)
            .map(|found| self.known.base(found.field))
            .collect()
    }

    /// The values of a field, how many there are, and those at the ends of an order; `sql` is the filter's clause without the
    /// row that sums the others up.
    fn showing(&mut self, shown: &Shown, parts: &Parts, filter: &Filter, sql: &str) {
        let Shown { field, column, .. } = shown;
        let Parts { from, cues, .. } = parts;
        let (field, plain) = (Some(*field), &filter.sql);
        let select = format!("SELECT {column} FROM {from}{sql}");
        if !plain.is_empty() && shown.may_answer {
            self.push(format!("SELECT {column} FROM {from}{plain}"), Form::Select, field, None, filter);
        }
        // "How many units" adds them up.
        if self.overlap(shown.field) > 0.0 && (cues.numbered || !shown.is_number) {
            let different = format!("SELECT count(DISTINCT {column}) FROM {from}{sql}");
            self.push(different, Form::CountDifferent, field, None, filter);
        }
        if filter.rows < 2 {
            return;
        }
        // What comes most often is not what comes first.
        if let Some(order) = parts.order.as_ref().filter(|_| !cues.is_of_counts) {
            self.push(format!("{select} ORDER BY {order} LIMIT 1"), Form::First, field, None, filter);
            self.push(format!("{select} ORDER BY {order} DESC LIMIT 1"), Form::Last, field, None, filter);
        }
        let and = if sql.is_empty() { " WHERE" } else { " AND" };
        for measure in parts.measures.iter().filter(|measure| measure.base != shown.base) {
            let by = &measure.column;
            // "Which plant had the most hours in total", where each has several rows.
            let ordered = if shown.is_summed && measure.is_number && !measure.is_of_years {
                format!("{select} GROUP BY {column} ORDER BY sum({by})")
            } else {
                format!("{select}{and} {by} IS NOT NULL ORDER BY {by}")
            };
            self.at_ends(&ordered, shown.field, measure, cues.second, filter);
        }
        if filter.conditions.len() < 2 {
            let group = format!("{select} GROUP BY {column} ORDER BY count(*)");
            if cues.most_rows {
                self.push(format!("{group} DESC LIMIT 1"), Form::Commonest, field, None, filter);
            }
            self.push(format!("{group} LIMIT 1"), Form::Rarest, field, None, filter);
        }
    }

    /// What a field has where a measure is largest or smallest; `ordered` lists it, the smallest first.
    fn at_ends(&mut self, ordered: &str, field: usize, measure: &Measure, second: bool, filter: &Filter) {
        let (field, (largest, smallest), measure) = (Some(field), measure.ends, Some(measure.field));
        if largest {
            self.push(format!("{ordered} DESC LIMIT 1"), Form::Largest, field, measure, filter);
        }
        if smallest {
            self.push(format!("{ordered} LIMIT 1"), Form::Smallest, field, measure, filter);
        }
        if second {
            self.push(format!("{ordered} DESC LIMIT 1 OFFSET 1"), Form::SecondLargest, field, measure, filter);
            self.push(format!("{ordered} LIMIT 1 OFFSET 1"), Form::SecondSmallest, field, measure, filter);
        }
    }

    /// What is computed of all numbers of a measure.
    fn computing(&mut self, measure: &Measure, from: &str, filter: &Filter, sql: &str) {
        let Measure { field, column, is_summable, .. } = measure;
        for (form, function) in [(Form::Max, "max"), (Form::Min, "min"), (Form::Sum, "sum"), (Form::Mean, "avg")] {
            if *is_summable || !matches!(form, Form::Sum | Form::Mean) {
                self.push(format!("SELECT {function}({column}) FROM {from}{sql}"), form, None, Some(*field), filter);
            }
        }
        let range = format!("SELECT max({column}) - min({column}) FROM {from}{sql}");
        self.push(range, Form::Range, None, Some(*field), filter);
    }

    /// What stands before, after, over and under the row that a condition names, or is as it is.
    fn beside(&mut self, at: usize, filter: &Filter, parts: &Parts) {
        let Some(condition) = self.question.conditions.get(at).filter(|found| found.rows.len() <= 3) else { return };
        let (sql, from) = (&filter.sql, &parts.from);
        let is_value = condition.names_value();
        let base = self.known.base(condition.field);
        if let Some(order) = &parts.order {
            for Shown { field, column, .. } in &parts.shown {
                let next = format!(
                    "SELECT {column} FROM {from} WHERE {order} > (SELECT max({order}) FROM {from}{sql}) ORDER BY {order} LIMIT 1"
                );
                self.push(next, Form::Next, Some(*field), None, filter);
                let previous = format!(
                    "SELECT {column} FROM {from} WHERE {order} < (SELECT min({order}) FROM {from}{sql}) ORDER BY {order} DESC LIMIT 1"
                );
                self.push(previous, Form::Previous, Some(*field), None, filter);
            }
        }
        if !is_value {
            return;
        }
        for Measure { field: measure, column, .. } in parts.numbers() {
            for (form, sign) in [(Form::CountAbove, '>'), (Form::CountBelow, '<')] {
                let count = format!(
                    "SELECT count(*) FROM {from} WHERE {column} {sign} (SELECT {column} FROM {from}{sql} LIMIT 1)"
                );
                self.push(count, form, None, Some(*measure), filter);
            }
        }
        let own = condition.sql(&self.known.sql(condition.field, self.scope));
        let Some(own_shown) = parts.shown.iter().find(|shown| shown.base == base) else { return };
        let own_column = &own_shown.column;
        for Shown { field, column, .. } in parts.shown.iter().filter(|shown| shown.base != base) {
            if self.overlap(*field) > 0.0 {
                let same = format!(
                    "SELECT {own_column} FROM {from} WHERE {column} = (SELECT {column} FROM {from}{sql} LIMIT 1) AND NOT ({own})"
                );
                self.push(same, Form::Same, Some(own_shown.field), Some(*field), filter);
            }
        }
    }

    /// How far two rows, or two sets of rows, are apart.
    fn between(&mut self, one: usize, other: usize, filter: &Filter, parts: &Parts) {
        let from = &parts.from;
        let sql = |at: usize| {
            let found = self.question.conditions.get(at)?;
            Some(found.sql(&self.known.sql(found.field, self.scope)))
        };
        let (Some(a), Some(b)) = (sql(one), sql(other)) else { return };
        for Measure { field: measure, column, .. } in parts.numbers() {
            let difference = format!(
                "SELECT abs((SELECT {column} FROM {from} WHERE {a} LIMIT 1) - (SELECT {column} FROM {from} WHERE {b} LIMIT 1))"
            );
            self.push(difference, Form::Difference, None, Some(*measure), filter);
        }
        let difference =
            format!("SELECT abs((SELECT count(*) FROM {from} WHERE {a}) - (SELECT count(*) FROM {from} WHERE {b}))");
        self.push(difference, Form::CountDifference, None, None, filter);
    }
}
