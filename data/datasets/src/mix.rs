//! Several data sets as one, and some questions of one.

use std::collections::HashSet;

use tabsegnet_store::Digest;

use crate::sample::Samples;

/// What stands between a data set's name and an id of it.
pub const SEPARATOR: char = '/';

/// Adds a data set whose ids get its name before them, so that they stay unique.
pub(crate) fn add(all: &mut Samples, name: &str, samples: Samples) {
    let named = |id: &str| format!("{name}{SEPARATOR}{id}");
    for mut sample in samples.samples {
        sample.document.id = named(&sample.document.id);
        for question in &mut sample.questions {
            question.id = named(&question.id);
        }
        all.samples.push(sample);
    }
    for mut left_out in samples.left_out {
        left_out.question = named(&left_out.question);
        all.left_out.push(left_out);
    }
}

/// The name of the data set that an id of a mix is from.
pub fn dataset_of(id: &str) -> &str {
    id.split_once(SEPARATOR).map_or("", |(name, _)| name)
}

/// What the data set itself calls what has an id of a mix: one page may stand in several parts of it.
pub fn own_id(id: &str) -> &str {
    id.split_once(SEPARATOR).map_or(id, |(_, own)| own)
}

/// At most `questions` questions, and the documents they are put to. The choice depends on the
/// seed and the questions' ids alone, so that a larger number takes the same ones and more.
pub(crate) fn limited(mut samples: Samples, questions: usize, seed: u64) -> Samples {
    let order = |id: &str| Digest::new().part(b"limit").part(seed.to_le_bytes()).part(id).bytes();
    let all = samples.samples.iter().flat_map(|sample| &sample.questions);
    let mut ids: Vec<([u8; 32], String)> = all.map(|question| (order(&question.id), question.id.clone())).collect();
    if ids.len() <= questions {
        return samples;
    }
    ids.sort_unstable();
    ids.truncate(questions);
    let kept: HashSet<String> = ids.into_iter().map(|(_, id)| id).collect();
    for sample in &mut samples.samples {
        sample.questions.retain(|question| kept.contains(&question.id));
    }
    samples.samples.retain(|sample| !sample.questions.is_empty());
    samples
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{LeftOut, Question, Sample};
    use tabsegnet_document::model::{Block, Document};

    fn samples(documents: usize, questions: usize) -> Samples {
        let question =
            |id: String| Question { id, text: "?".into(), gold: vec!["p0".into()], segments: Vec::new(), answer: None };
        let sample = |document: usize| Sample {
            document: Document { id: format!("d{document}"), blocks: vec![Block::Passage("x".into())] },
            questions: (0..questions).map(|q| question(format!("d{document}q{q}"))).collect(),
        };
        let left_out = vec![LeftOut { question: "lost".into(), reason: "none" }];
        Samples { samples: (0..documents).map(sample).collect(), left_out }
    }

    fn ids(samples: &Samples) -> HashSet<String> {
        samples.samples.iter().flat_map(|sample| sample.questions.iter().map(|q| q.id.clone())).collect()
    }

    #[test]
    fn ids_of_equal_names_stay_apart() {
        let mut all = Samples::default();
        add(&mut all, "a", samples(1, 1));
        add(&mut all, "b", samples(1, 1));
        assert_eq!(ids(&all), ["a/d0q0", "b/d0q0"].map(str::to_owned).into());
        assert_eq!((all.samples[1].document.id.as_str(), all.left_out[1].question.as_str()), ("b/d0", "b/lost"));
        assert_eq!(dataset_of("b/d0/q0"), "b");
        assert_eq!([own_id("b/d0/q0"), own_id("d0")], ["d0/q0", "d0"]);
    }

    #[test]
    fn more_questions_hold_the_fewer() {
        let few = limited(samples(9, 3), 5, 1);
        let more = limited(samples(9, 3), 12, 1);
        assert_eq!((ids(&few).len(), ids(&more).len()), (5, 12));
        assert!(ids(&few).is_subset(&ids(&more)));
        assert!(few.samples.iter().all(|sample| !sample.questions.is_empty()));
        assert_ne!(ids(&few), ids(&limited(samples(9, 3), 5, 2)));
        assert_eq!(limited(samples(2, 2), 4, 1), samples(2, 2));
    }
}
