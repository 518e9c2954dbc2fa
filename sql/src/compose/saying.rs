//! Whether a statement is said: what speaks against it, and how likely it has to be.

use super::candidates::Candidate;
use super::sketch::{Function, Item, Operand, Sketch, tables_of};
use super::{Composer, Ran, paths};
use crate::joins::{Trap, traps};
use crate::linking::Words;
use crate::linking::words::stem;
use crate::schema_graph::{ColumnKind, JoinOrigin, SchemaGraph};
use crate::unsaid::{about_another, share_note, words};

/// How likely a statement must be to be proposed: at what is right of four in five of those proposed on the training part.
pub const LEAST: f32 = 0.5;

/// The same of one with something for each word of a question of few words, which is so many times as likely as the next; and of one that
/// leaves words out, or is for a question of many. On the training part those below are right half of the time.
const LEAST_COVERED: f32 = 0.3;
const LEAST_DOUBTED: f32 = 0.55;
const ALONE: f32 = 1.5;
const FEW: usize = 12;

impl Composer<'_, '_> {
    /// What makes a statement wrong for a question, in sentences.
    pub(super) fn objections(&self, question: &str, Ran { candidate, rows, .. }: &Ran) -> Vec<String> {
        let (graph, words) = (self.linker.graph(), Words::of(question));
        let Candidate { sketch, sql, tree, unread, .. } = candidate;
        let (_, mut against) = self.doubts(candidate);
        against.extend(self.linker.joiner().undecided(&words, tree));
        against.extend(paths::undecided(graph, tree, &words));
        against.extend(unlike(question, sketch, graph));
        let unread = unread.iter().filter(|word| !self.model.knows_left(word));
        against.extend(unread.map(|word| format!("the statement leaves \"{word}\" of the question out")));
        against.extend(about_another(question, sql, rows, graph));
        against.extend(share_note(question, sql));
        against
    }

    /// What speaks against a statement that is said, in sentences: aggregates over repeated rows, and joins that nothing declares;
    /// and what makes it wrong: aggregates over rows of two tables, each of which meets each.
    pub(super) fn doubts(&self, Candidate { sketch, tree, counted, .. }: &Candidate) -> (Vec<String>, Vec<String>) {
        let graph = self.linker.graph();
        // The largest of repeated rows is the largest.
        let repeats = |function| matches!(function, Function::Count | Function::Mean | Function::Sum);
        let aggregated: Vec<Item> = sketch.items().filter(|item| item.function.is_some_and(repeats)).copied().collect();
        let (mut doubts, mut wrong) = (Vec::new(), Vec::new());
        if !aggregated.is_empty() {
            let columns = aggregated.iter().filter_map(|item| item.column);
            let counts_rows = aggregated.iter().any(|item| item.column.is_none());
            let counted = counted.iter().filter(|_| counts_rows).copied();
            let tables: Vec<usize> = tables_of(graph, columns).into_iter().chain(counted).collect();
            for trap in traps(graph, tree, &tables) {
                if matches!(trap, Trap::Chasm { .. }) { &mut wrong } else { &mut doubts }.push(trap.to_string());
            }
        }
        for join in tree.joins_in(graph) {
            if join.origin == JoinOrigin::Guessed {
                let pairs = join.pairs.iter().map(|&(a, b)| format!("{} = {}", graph.column_id(a), graph.column_id(b)));
                let pairs: Vec<String> = pairs.collect();
                doubts.push(format!(
                    "nothing declares the join {}; it is taken for one by its names",
                    pairs.join(" AND ")
                ));
            }
        }
        (doubts, wrong)
    }

    /// How likely the likeliest statement has to be: less where it has something for each of a few words and no other is nearly as
    /// likely, more where it leaves words out that say what is wanted, or there are many.
    pub(super) fn least(&self, question: &str, ranked: &[(f32, usize)], ran: &[Ran]) -> f32 {
        let Some((likely, of)) = ranked.first().and_then(|(likely, at)| Some((*likely, &ran.get(*at)?.candidate)))
        else {
            return LEAST;
        };
        let is_uncovered = of.uncovered.iter().any(|word| !self.model.knows_left(word));
        if is_uncovered || Words::of(question).len() > FEW {
            return LEAST_DOUBTED;
        }
        let is_alone = ranked.get(1).is_none_or(|(next, _)| likely >= next * ALONE);
        if of.uncovered.is_empty() && of.is_told && is_alone { LEAST_COVERED } else { LEAST }
    }
}

/// That a statement shows what the question does not want, in a sentence: a number that is no time to "when", how many rows there
/// are to "how many units" where a column has these.
fn unlike(question: &str, sketch: &Sketch, graph: &SchemaGraph) -> Option<String> {
    const QUANTITIES: [&str; 4] = ["quantity", "units", "pieces", "sold"];
    const TIMES: [&str; 8] = ["date", "time", "year", "month", "day", "season", "week", "period"];
    let words = words(&question.to_lowercase());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let named = |column: usize| {
        let column = &graph.columns()[column];
        Words::of_name(&column.name)
            .stems()
            .into_iter()
            .chain(column.names.iter().flat_map(|name| Words::of_name(name).stems()))
    };
    let is_number = |column: usize| graph.columns()[column].kind == ColumnKind::Number;
    match (words.as_slice(), sketch.shown.as_slice()) {
        (["when", ..], &[Item { function: None, column: Some(column) }]) => {
            let is_time = named(column).any(|word| TIMES.iter().any(|time| stem(time) == word));
            let what = || format!("the question asks when, and {} holds no times", graph.column_id(column));
            ((is_number(column) || graph.columns()[column].is_key) && !is_time).then(what)
        }
        (["how", "many", thing, ..], [Item { function: Some(Function::Count), .. }]) => {
            let thing = stem(thing);
            let tables = tables_of(graph, sketch.columns()).into_iter().chain(sketch.tables.iter().copied());
            let tables: Vec<usize> = tables.collect();
            let is_table =
                tables.iter().any(|table| Words::of_name(&graph.tables()[*table].name).stems().contains(&thing));
            let mut columns =
                (0..graph.columns().len()).filter(|column| tables.contains(&graph.columns()[*column].table));
            let refers = |column: usize| {
                graph.joins().iter().any(|join| join.pairs.iter().any(|(from, to)| [*from, *to].contains(&column)))
            };
            // A flag that rows are held to has been said.
            let is_held = |column: usize| sketch.all_conditions().any(|of| of.column == column);
            // "How many croissants", which are a value, are as many as a column of quantities says.
            let is_value = sketch.all_conditions().any(|of| match &of.operand {
                Operand::Text(text) => Words::of(text).words.iter().any(|word| word.stem == thing),
                _ => false,
            });
            let measure = columns.find(|&column| {
                let node = &graph.columns()[column];
                let is_other = node.is_key || node.hidden || refers(column) || is_held(column);
                let is_quantity = |word: &String| QUANTITIES.iter().any(|of| stem(of) == *word);
                let is_of = |word: String| word == thing || is_value && is_quantity(&word);
                is_number(column) && !is_other && named(column).any(is_of)
            });
            measure.filter(|_| !is_table).map(|column| {
                format!(
                    "the statement counts rows, and {} has the numbers that the question asks for",
                    graph.column_id(column)
                )
            })
        }
        _ => None,
    }
}
