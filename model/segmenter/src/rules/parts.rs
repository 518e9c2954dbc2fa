//! Where a question asks for two things.

use super::periods::Item;
use super::words::{Token, names};

/// Cuts between two things wherever they stand.
const CUTS: &[&[&str]] = &[
    &["as", "a", "percentage", "of"],
    &["as", "a", "percent", "of"],
    &["as", "a", "%", "of"],
    &["as", "percentage", "of"],
    &["as", "a", "portion", "of"],
    &["as", "a", "proportion", "of"],
    &["as", "a", "share", "of"],
    &["as", "a", "part", "of"],
    &["as", "part", "of"],
    &["compared", "to"],
    &["compared", "with"],
    &["in", "comparison", "to"],
    &["in", "comparison", "with"],
    &["in", "relation", "to"],
    &["relative", "to"],
    &["versus"],
    &["vs"],
    &["divided", "by"],
    &["concerning"],
];

/// Cuts between the whole and its part in "what percentage of X is Y".
const LINKS: &[&[&str]] = &[
    &["is"],
    &["are"],
    &["was"],
    &["were"],
    &["related", "to"],
    &["due", "to"],
    &["attributable", "to"],
    &["attributed", "to"],
    &["does"],
    &["did"],
    &["do"],
    &["consisted", "of"],
    &["comprised", "of"],
    &["represented", "by"],
];

/// What stands before "of" where a part of a whole is wanted.
const SHARES: [&str; 8] = ["percentage", "percent", "portion", "proportion", "fraction", "share", "part", "%"];

/// Says that what is joined by "and" are several things.
const SEVERAL: [&str; 8] = ["both", "respectively", "respective", "sum", "difference", "combined", "ratio", "differ"];

/// Words before and after an "and" inside one name.
const FIXED: [(&str, &str); 16] = [
    ("research", "development"),
    ("cash", "cash"),
    ("plant", "equipment"),
    ("depreciation", "amortization"),
    ("general", "administrative"),
    ("property", "equipment"),
    ("capital", "surplus"),
    ("sales", "marketing"),
    ("selling", "administrative"),
    ("prepaid", "other"),
    ("profit", "loss"),
    ("oil", "gas"),
    ("interest", "penalties"),
    ("store", "other"),
    ("goodwill", "intangible"),
    ("land", "buildings"),
];

/// The items of each thing that is wanted, in order. Never empty, though a part may be.
pub(super) fn parts<'i>(items: &'i [Item<'i>]) -> Vec<Vec<&'i Item<'i>>> {
    let whole: Vec<&Item<'_>> = items.iter().collect();
    let several = items.iter().any(|item| word(item).is_some_and(|token| token.is(&SEVERAL)));
    let mut parts = Vec::new();
    for part in cut_everywhere(whole).into_iter().flat_map(at_question_word) {
        for part in share_of(part) {
            for part in ratio(part) {
                parts.extend(between(part, several));
            }
        }
    }
    parts
}

type Items<'i> = Vec<&'i Item<'i>>;

fn word<'i>(item: &'i Item<'i>) -> Option<&'i Token<'i>> {
    if let Item::Word(token) = item { Some(token) } else { None }
}

fn is(item: Option<&&Item<'_>>, words: &[&str]) -> bool {
    item.and_then(|item| word(item)).is_some_and(|token| token.is(words))
}

/// Whether the items name a thing.
fn is_thing(items: &[&Item<'_>]) -> bool {
    names(items.iter().filter_map(|item| word(item)))
}

/// Where one of the phrases stands, from a place on, and how long it is.
fn find(items: &[&Item<'_>], from: usize, phrases: &[&[&str]]) -> Option<(usize, usize)> {
    (from..items.len()).find_map(|at| {
        let here = |phrase: &&&[&str]| phrase.iter().enumerate().all(|(i, part)| is(items.get(at + i), &[part]));
        phrases.iter().find(here).map(|phrase| (at, phrase.len()))
    })
}

/// In two at a place, if both sides name a thing.
fn in_two<'i>(items: &[&'i Item<'i>], at: usize, length: usize) -> Option<[Items<'i>; 2]> {
    let (left, right) = (items.get(..at)?, items.get(at + length..)?);
    (is_thing(left) && is_thing(right)).then(|| [left.to_vec(), right.to_vec()])
}

fn cut_everywhere<'i>(mut items: Items<'i>) -> Vec<Items<'i>> {
    let mut parts = Vec::new();
    let mut from = 0;
    while let Some((at, length)) = find(&items, from, CUTS) {
        match in_two(&items, at, length) {
            Some([left, right]) => {
                parts.push(left);
                (items, from) = (right, 0);
            }
            None => from = at + 1,
        }
    }
    parts.push(items);
    parts
}

/// "X is what percentage of Y".
fn at_question_word<'i>(items: Items<'i>) -> Vec<Items<'i>> {
    let asks = |&at: &usize| is(items.get(at), &["what", "which"]) && is(items.get(at + 1), &SHARES) && at > 0;
    let at = (0..items.len()).find(asks);
    match at.and_then(|at| in_two(&items, at, 0)) {
        Some(parts) => parts.into(),
        None => vec![items],
    }
}

/// "what percentage of X is Y", "what portion of X is related to Y".
fn share_of<'i>(items: Items<'i>) -> Vec<Items<'i>> {
    let share = (0..items.len()).find(|&at| is(items.get(at), &SHARES) && is(items.get(at + 1), &["of"]));
    let mut from = match share {
        Some(share) => share + 2,
        None => return vec![items],
    };
    while let Some((at, length)) = find(&items, from, LINKS) {
        if let Some([left, right]) = in_two(&items, at, length) {
            return vec![left, right];
        }
        from = at + 1;
    }
    vec![items]
}

/// "ratio of X to Y".
fn ratio<'i>(items: Items<'i>) -> Vec<Items<'i>> {
    let Some(ratio) = (0..items.len()).find(|&at| is(items.get(at), &["ratio"])) else { return vec![items] };
    let mut from = ratio + 1;
    while let Some((at, length)) = find(&items, from, &[&["to"]]) {
        let of_link = at > 0 && is(items.get(at - 1), &["due", "related", "attributable", "attributed"]);
        let parts = if of_link { None } else { in_two(&items, at, length) };
        if let (Some(parts), true) = (parts, items.get(ratio..at).is_some_and(is_thing)) {
            return parts.into();
        }
        from = at + 1;
    }
    vec![items]
}

/// "X between A and B": X of each. Without such, the things that are joined by "and".
fn between<'i>(items: Items<'i>, several: bool) -> Vec<Items<'i>> {
    let Some((at, length)) = find(&items, 0, &[&["between"]]) else { return joined(items, several) };
    let (before, after) = (items.get(..at).unwrap_or_default(), items.get(at + length..).unwrap_or_default());
    let sides = joined(after.to_vec(), true);
    match (sides.len(), is_thing(before)) {
        (0 | 1, _) => joined(items, several),
        (_, false) => sides,
        (_, true) => sides.into_iter().map(|side| [before.to_vec(), side].concat()).collect(),
    }
}

/// Parts joined by "and", and by commas before it, where each is whole in itself.
fn joined<'i>(items: Items<'i>, several: bool) -> Vec<Items<'i>> {
    let Some(at) = parting(&items, several) else { return vec![items] };
    let Some([left, right]) = in_two(&items, at, 1) else { return vec![items] };
    let mut parts = Vec::new();
    let mut rest = left.as_slice();
    // A list: commas part things as well, where the words after each name one.
    while let Some(comma) = rest.iter().position(|item| is(Some(item), &[","])) {
        let (first, others) = (rest.get(..comma).unwrap_or_default(), rest.get(comma + 1..).unwrap_or_default());
        if !is_thing(first) || !is_thing(others) {
            break;
        }
        parts.push(first.to_vec());
        rest = others;
    }
    parts.push(rest.to_vec());
    parts.extend(joined(right, several));
    parts
}

/// Where the first "and" stands between two things rather than inside the name of one. The things, and the times, are looked for
/// from both ends once: of a long text every word may be an "and".
fn parting(items: &[&Item<'_>], several: bool) -> Option<usize> {
    let ends = |is: &dyn Fn(&&Item<'_>) -> bool| Some((items.iter().position(is)?, items.iter().rposition(is)?));
    let things = ends(&|item| is_thing(&[*item]))?;
    let parted = if several { things } else { ends(&|item| matches!(item, Item::Time(_)))? };
    let between = |at: usize, (first, last): (usize, usize)| first < at && at < last;
    (0..items.len()).find(|&at| {
        is(items.get(at), &["and", "&"]) && between(at, things) && between(at, parted) && !is_fixed(items, at)
    })
}

/// Whether the words around a place are of one name.
fn is_fixed(items: &[&Item<'_>], at: usize) -> bool {
    let near = |at: Option<usize>| word(items.get(at?)?).map(|token| &token.lower);
    let neighbours = near(at.checked_sub(1)).zip(near(at.checked_add(1)));
    neighbours.is_some_and(|(left, right)| FIXED.iter().any(|&(a, b)| left == a && right == b))
}
