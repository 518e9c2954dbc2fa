//! Which questions belong to which slice.

use std::collections::BTreeSet;

use super::{Evidence, QuestionInfo};

/// A slice before anything is measured on it.
pub(super) struct Group {
    pub group: &'static str,
    pub name: String,
    /// One entry a question: whether it belongs.
    pub members: Vec<bool>,
}

/// The slices that hold a question, group by group. Within a group each question is in one slice.
///
/// - "data set", where there are several
/// - "evidence": tables, text, both
/// - "gold nodes": 1, 2, 3–4, 5 and more
/// - "document size": the terciles of the questions by their document's nodes, named by the sizes
///   they hold. Fixed bounds would leave most slices of most data sets empty; these depend on the
///   questions alone, so reports on the same questions have the same slices. Questions with
///   documents of one size stay together, which may leave fewer than three.
pub(super) fn groups(questions: &[QuestionInfo]) -> Vec<Group> {
    let group = |group, name: String, belongs: &dyn Fn(&QuestionInfo) -> bool| Group {
        group,
        name,
        members: questions.iter().map(belongs).collect(),
    };
    let mut groups: Vec<Group> = Vec::new();
    let datasets: BTreeSet<&str> = questions.iter().map(|question| question.dataset.as_str()).collect();
    if datasets.len() > 1 {
        for name in datasets {
            groups.push(group("data set", name.to_owned(), &|q| q.dataset == name));
        }
    }
    for evidence in Evidence::ALL {
        let name = match evidence {
            Evidence::Table => "tables only",
            Evidence::Text => "text only",
            Evidence::Both => "tables and text",
        };
        groups.push(group("evidence", name.to_owned(), &|q| q.evidence == evidence));
    }
    for (name, bounds) in [("1", 1..=1), ("2", 2..=2), ("3–4", 3..=4), ("5 or more", 5..=usize::MAX)] {
        groups.push(group("gold nodes", name.to_owned(), &|q| bounds.contains(&q.gold)));
    }
    for (low, high) in terciles(questions.iter().map(|question| question.nodes).collect()) {
        let name = if low == high { format!("{low} nodes") } else { format!("{low}–{high} nodes") };
        groups.push(group("document size", name, &|q| (low..=high).contains(&q.nodes)));
    }
    groups.retain(|group| group.members.contains(&true));
    groups
}

/// Smallest and largest value of each third; thirds that would share a value are cut after it.
fn terciles(mut values: Vec<usize>) -> Vec<(usize, usize)> {
    values.sort_unstable();
    let mut thirds = Vec::new();
    let mut rest = values.as_slice();
    for third in 1..=3 {
        let end = (values.len() * third).div_ceil(3);
        let taken = values.len() - rest.len();
        let Some(&high) = values.get(end.saturating_sub(1)) else {
            break;
        };
        if end <= taken {
            // The slice before took these, for they are as large as its largest.
            continue;
        }
        let (slice, after) = rest.split_at(rest.partition_point(|&value| value <= high));
        if let (Some(&low), Some(&high)) = (slice.first(), slice.last()) {
            thirds.push((low, high));
        }
        rest = after;
    }
    thirds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terciles_are_thirds_and_keep_equal_values_together() {
        assert_eq!(terciles((1..=9).collect()), [(1, 3), (4, 6), (7, 9)]);
        assert_eq!(terciles(vec![8, 8, 8, 8, 9, 10]), [(8, 8), (9, 10)]);
        assert_eq!(terciles(vec![1, 2, 2, 2, 2, 2]), [(1, 2)]);
        assert_eq!(terciles(vec![5; 4]), [(5, 5)]);
        assert_eq!(terciles(vec![7]), [(7, 7)]);
        assert_eq!(terciles(vec![]), []);
        assert_eq!(terciles(vec![1, 2]), [(1, 1), (2, 2)]);
    }

    #[test]
    fn every_question_is_in_one_slice_of_each_group() {
        let questions: Vec<QuestionInfo> = (0..40)
            .map(|i| QuestionInfo {
                id: i.to_string(),
                dataset: ["a", "b"][i % 2].to_owned(),
                document: i.to_string(),
                evidence: Evidence::ALL[i % 3],
                gold: 1 + i % 7,
                nodes: 50 + i * i % 23,
            })
            .collect();
        let groups = groups(&questions);
        for name in ["data set", "evidence", "gold nodes", "document size"] {
            for question in 0..questions.len() {
                let slices = groups.iter().filter(|g| g.group == name && g.members[question]).count();
                assert_eq!(slices, 1, "question {question}, group {name}");
            }
        }
        assert_eq!(groups.len(), 12);
    }
}
