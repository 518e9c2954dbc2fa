//! Whether two programs of FinQA's language are the same computation, as FinQA's published script counts program accuracy
//! (Chen et al. 2021, its `evaluate.py`): arguments become symbols by their text, and the two formulas are equal as formulas.

use std::collections::HashMap;

/// A step `operation(first, second)`.
type Step = (String, String, String);

/// Points at which formulas are compared; two that agree on all are equal but for chance.
const POINTS: usize = 4;
/// How far apart the values of equal formulas may be, relatively.
const NEAR: f64 = 1e-9;

/// Whether `program` computes from the same arguments what `gold` does, in whatever order it writes it down.
///
/// Both are steps `operation(first, second)` with a comma between; a step is named `#0`, `#1`, … by later ones. Arguments are
/// compared as texts: those that `gold` has not make another program, whatever their value. What is no program is not the same.
pub fn same_program(program: &str, gold: &str) -> bool {
    let (Some(program), Some(gold)) = (steps(program), steps(gold)) else { return false };
    let mut symbols: HashMap<String, usize> = HashMap::new();
    for step in &gold {
        arguments(step).into_iter().for_each(|name| {
            let next = symbols.len();
            symbols.entry(name).or_insert(next);
        });
    }
    if program.iter().flat_map(arguments).any(|name| !symbols.contains_key(&name)) {
        return false;
    }
    let (Some(one), Some(other)) = (formula(&program, &symbols), formula(&gold, &symbols)) else { return false };
    one.same(&other)
}

/// The steps of a program; `None` for one that is none.
fn steps(text: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (operation, after) = rest.split_once('(')?;
        let operation = operation.trim_matches([',', ' ']).to_owned();
        // The header of a row may hold brackets and commas: a step ends before the next operation.
        let ends = after.match_indices(')').map(|(at, _)| at);
        let (inside, next) = ends.filter_map(|at| after.split_at_checked(at)).find_map(|(inside, next)| {
            let next = next.strip_prefix(')')?.trim_start();
            let begins = next.strip_prefix(',').and_then(|next| next.split_once('('));
            let is_next = next.is_empty() || begins.is_some_and(|(name, _)| is_operation(name.trim()));
            is_next.then_some((inside, next))
        })?;
        let (first, second) = inside.rsplit_once(',')?;
        if !is_operation(&operation) {
            return None;
        }
        steps.push((operation, first.trim().to_owned(), second.trim().to_owned()));
        rest = next;
    }
    (!steps.is_empty()).then_some(steps)
}

fn is_operation(name: &str) -> bool {
    matches!(name, "add" | "subtract" | "multiply" | "divide" | "exp" | "greater") || name.starts_with("table_")
}

/// The symbols of a step: an operation on a row is one as a whole.
fn arguments((operation, first, second): &Step) -> Vec<String> {
    if operation.starts_with("table_") {
        return vec![format!("{operation}({first}, {second})")];
    }
    [first, second].into_iter().filter(|argument| !argument.starts_with('#')).cloned().collect()
}

enum Formula {
    Symbol(usize),
    Of(String, Box<Formula>, Box<Formula>),
}

/// The last step, with the earlier ones put in.
fn formula(steps: &[Step], symbols: &HashMap<String, usize>) -> Option<Formula> {
    fn of(step: usize, steps: &[Step], symbols: &HashMap<String, usize>, depth: usize) -> Option<Formula> {
        let whole = steps.get(step)?;
        let (operation, first, second) = whole;
        if operation.starts_with("table_") {
            return Some(Formula::Symbol(*symbols.get(arguments(whole).first()?)?));
        }
        let argument = |text: &str| match text.strip_prefix('#') {
            Some(earlier) => {
                let earlier = earlier.parse().ok().filter(|earlier| *earlier < step)?;
                // What refers to steps twice at every step doubles each time.
                (depth < 16).then(|| of(earlier, steps, symbols, depth + 1)).flatten()
            }
            None => symbols.get(text).map(|symbol| Formula::Symbol(*symbol)),
        };
        Some(Formula::Of(operation.clone(), Box::new(argument(first)?), Box::new(argument(second)?)))
    }
    of(steps.len().checked_sub(1)?, steps, symbols, 0)
}

impl Formula {
    /// Equality at random points: rational functions that agree there are the same.
    fn same(&self, other: &Self) -> bool {
        if let (Self::Of(one, a, b), Self::Of(two, c, d)) = (self, other)
            && one == "greater"
            && two == "greater"
        {
            return a.same(c) && b.same(d);
        }
        (0..POINTS).all(|point| match (self.value(point), other.value(point)) {
            (Some(a), Some(b)) => (a - b).abs() <= NEAR * a.abs().max(b.abs()),
            _ => false,
        })
    }

    fn value(&self, point: usize) -> Option<f64> {
        let value = match self {
            // Between 1 and 3, without a pattern: multiples of √2 and √3 less their whole parts.
            Self::Symbol(number) => {
                1.0 + 2.0 * (((number + 1) as f64) * 2_f64.sqrt() + ((point + 1) as f64) * 3_f64.sqrt()).fract()
            }
            Self::Of(operation, a, b) => {
                let (a, b) = (a.value(point)?, b.value(point)?);
                match operation.as_str() {
                    "add" => a + b,
                    "subtract" => a - b,
                    "multiply" => a * b,
                    "divide" => a / b,
                    // A negative base has no power.
                    "exp" => a.abs().powf(b),
                    _ => return None,
                }
            }
        };
        value.is_finite().then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::same_program;

    /// Verdicts of the rule as sympy's `simplify` gives them.
    #[test]
    fn the_same_computation_is_the_same_program() {
        for (program, gold, same) in [
            ("subtract(5829, 5735), divide(#0, 5735)", "subtract(5829, 5735), divide(#0, 5735)", true),
            ("add(1, 2), add(#0, 3)", "add(3, 2), add(#0, 1)", true),
            ("divide(10, 4), multiply(#0, const_100)", "multiply(10, const_100), divide(#0, 4)", true),
            ("divide(10, 4), divide(6, 4), subtract(#0, #1)", "subtract(10, 6), divide(#0, 4)", true),
            ("subtract(5735, 5829), divide(#0, 5735)", "subtract(5829, 5735), divide(#0, 5735)", false),
            ("subtract(5829, 5735)", "subtract(5829, 5735), divide(#0, 5735)", false),
            ("divide(94, 5735)", "subtract(5829, 5735), divide(#0, 5735)", false),
            // Another number of the same value is another argument.
            ("divide(10.0, 4)", "divide(10, 4)", false),
            ("multiply(2, const_100)", "multiply(2, 100)", false),
            ("greater(1, 2)", "greater(1, 2)", true),
            ("greater(2, 1)", "greater(1, 2)", false),
            ("exp(2, 3)", "exp(2, 3)", true),
            ("exp(3, 2)", "exp(2, 3)", false),
            ("table_average(net income, none)", "table_average(net income, none)", true),
            ("table_sum(net income, none)", "table_average(net income, none)", false),
            ("table_max(a, b ( c ), none), subtract(#0, 3)", "table_max(a, b ( c ), none), subtract(#0, 3)", true),
            ("add(#0, 1)", "add(1, 1)", false),
            ("add(1", "add(1, 1)", false),
            ("", "add(1, 1)", false),
            ("sum(1, 1)", "add(1, 1)", false),
            // A step that nothing refers to changes nothing.
            ("add(1, 2), multiply(1, 2)", "multiply(1, 2)", true),
        ] {
            assert_eq!(same_program(program, gold), same, "{program} beside {gold}");
        }
    }
}
