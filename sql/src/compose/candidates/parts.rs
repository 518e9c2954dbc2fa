//! The parts that are put together: lists of what is shown, and filters.

use super::{Choice, FILTERS, Filter, ITEMS, LISTS, Maker, STATED, best, log_logistic};
use crate::compose::reading::{Role, Stated};
use crate::compose::sketch::{Condition, Function, Item};

impl Maker<'_, '_> {
    /// Lists of what is shown, the empty one too.
    pub(super) fn lists(&self) -> Vec<Choice<Vec<Item>>> {
        let mut items: Vec<(Item, f32)> = Vec::new();
        for (column, roles) in &self.roles {
            for (role, odds) in roles {
                match role {
                    Role::Shown => items.push((Item::plain(*column), *odds)),
                    Role::ShownOf(Function::Mean | Function::Sum) if !self.has_sum(*column) => {}
                    Role::ShownOf(Function::CountDifferent) if self.is_quantity(*column) => {}
                    Role::ShownOf(function) => {
                        items.push((Item { function: Some(*function), column: Some(*column) }, *odds));
                    }
                    _ => {}
                }
            }
        }
        items.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        items.truncate(ITEMS);
        let mut lists = Vec::new();
        for chosen in 0_u32..1 << items.len() {
            if chosen.count_ones() > 4 {
                continue;
            }
            let has = |at: usize| chosen & (1 << at) != 0;
            let score = items
                .iter()
                .enumerate()
                .map(|(at, (_, odds))| if has(at) { log_logistic(*odds) } else { log_logistic(-odds) })
                .sum();
            let mut list: Vec<Item> =
                items.iter().enumerate().filter(|(at, _)| has(*at)).map(|(_, (item, _))| *item).collect();
            list.sort_by_key(|item| {
                let mention = item.column.and_then(|column| self.reading.columns.get(column));
                let at = mention.and_then(|m| m.spans.first().map(|s| s.0).or_else(|| m.words.first().copied()));
                (at.unwrap_or_default(), item.column, item.function)
            });
            let odds = |chosen: bool| {
                let of = items.iter().enumerate().filter(move |(at, _)| has(*at) == chosen);
                of.map(|(_, (_, odds))| if chosen { *odds } else { -odds }).fold(f32::INFINITY, f32::min)
            };
            let (weakest, strongest_left) = (log_logistic(odds(true)), log_logistic(odds(false)));
            lists.push(Choice { of: list, score, weakest, strongest_left });
        }
        let mut lists = best(lists, LISTS);
        let told: Vec<_> = lists.iter().filter_map(|list| self.told_by_label(list)).collect();
        lists.extend(told);
        if self.reading.asks_who() {
            // People are told by their names, which two columns may have.
            let named = |list: &Choice<Vec<Item>>| {
                let at = list
                    .of
                    .iter()
                    .position(|item| item.function.is_none() && item.column.is_some_and(|of| self.is_key(of)))?;
                let halves = self.halves_of(list.of.get(at)?.column?)?;
                let is_half = |item: &Item| item.column.is_some_and(|column| halves.contains(&column));
                let mut of = list.of.clone();
                if of.iter().any(is_half) {
                    return None;
                }
                of.splice(at..=at, halves.into_iter().map(Item::plain));
                Some(Choice { of, ..*list })
            };
            let named: Vec<_> = lists.iter().filter_map(named).collect();
            lists.extend(named);
        }
        lists
    }

    /// Filters, the empty one too.
    pub(super) fn filters(&self, stated: &[Stated]) -> Vec<Choice<Filter>> {
        let mut odds: Vec<(&Stated, f32)> =
            stated.iter().map(|stated| (stated, self.model.condition(&stated.features))).collect();
        odds.sort_by(|a, b| b.1.total_cmp(&a.1));
        odds.truncate(STATED);
        let mut spans: Vec<(std::ops::Range<usize>, f32)> = Vec::new();
        for (stated, odds) in &odds {
            match spans.iter_mut().find(|(words, _)| *words == stated.words) {
                Some((_, best)) => *best = best.max(*odds),
                None => spans.push((stated.words.clone(), *odds)),
            }
        }
        let overlap = |a: &std::ops::Range<usize>, b: &std::ops::Range<usize>| a.start < b.end && b.start < a.end;
        let mut chosen: Vec<Vec<usize>> = vec![Vec::new()];
        for at in 0..odds.len() {
            let mut more = Vec::new();
            for list in chosen.iter().filter(|list| list.len() < 3) {
                let free = list.iter().all(|other| {
                    odds.get(*other).zip(odds.get(at)).is_some_and(|((a, _), (b, _))| !overlap(&a.words, &b.words))
                });
                if free {
                    more.push(list.iter().copied().chain([at]).collect());
                }
            }
            chosen.extend(more);
        }
        let filters = chosen.into_iter().map(|list| {
            let picked: Vec<&(&Stated, f32)> = list.iter().filter_map(|at| odds.get(*at)).collect();
            let words: Vec<_> = picked.iter().map(|(stated, _)| stated.words.clone()).collect();
            let taken: f32 = picked.iter().map(|(_, odds)| log_logistic(*odds)).sum();
            let left = spans.iter().filter(|(span, _)| !words.iter().any(|words| overlap(words, span)));
            let left: Vec<f32> = left.map(|(_, odds)| log_logistic(-odds)).collect();
            let weakest = picked.iter().map(|(_, odds)| log_logistic(*odds)).fold(0.0, f32::min);
            let strongest_left = left.iter().copied().fold(0.0, f32::min);
            let score = taken + left.iter().sum::<f32>();
            let mut conditions: Vec<(usize, Condition)> =
                picked.iter().map(|(stated, _)| (stated.words.start, stated.condition.clone())).collect();
            conditions.sort_by_key(|(at, _)| *at);
            Choice {
                of: Filter { conditions: conditions.into_iter().map(|(_, of)| of).collect(), words },
                score,
                weakest,
                strongest_left,
            }
        });
        best(filters.collect(), FILTERS)
    }
}
