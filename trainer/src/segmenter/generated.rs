//! Generated questions, labelled ones as the rules cut them, and questions with other names: what a model that starts from
//! nothing learns from beside the segments of the data.

use anyhow::{Context as _, Result, ensure};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use tabsegnet_datasets::config::Part;
use tabsegnet_generate::headers::Headers;
use tabsegnet_segmenter::data::LabelledQuestion;
use tabsegnet_segmenter::measures::SegmentMeasures;
use tabsegnet_segmenter::rules;
use tabsegnet_store::Digest;

use super::concatenated::concatenated;
use super::renamed::renamed;
use crate::config::Config;

/// What the questions of an epoch are generated from.
pub(super) struct GeneratedQuestions {
    headers: Headers,
    /// Questions an epoch.
    count: usize,
    seed: u64,
    /// Labelled questions with the segments that the rules find.
    by_rules: Vec<LabelledQuestion>,
    renamed: bool,
    concatenate: bool,
}

impl GeneratedQuestions {
    /// From the documents of the training part, and the questions that are trained on later.
    pub(super) fn new(config: &Config, questions: &[LabelledQuestion]) -> Result<Self> {
        let settings = &config.segmenter_training;
        let samples = config.source(Part::Train).and_then(|source| source.read());
        let samples = samples.context(
            "segmenter_training.generated: questions are generated from the tables of [data]'s training part, which cannot be read",
        )?;
        let headers = Headers::of(samples.samples.iter().map(|sample| &sample.document));
        ensure!(
            !headers.is_empty(),
            "segmenter_training.generated: no table of [data]'s training part has a row with a name; set it to 0"
        );
        let by_rules = match settings.generated_by_rules {
            true => questions.iter().map(by_rules).filter(|question| !question.segments.is_empty()).collect(),
            false => Vec::new(),
        };
        Ok(Self {
            headers,
            count: settings.generated,
            seed: config.task.seed,
            by_rules,
            renamed: settings.renamed,
            concatenate: settings.concatenated,
        })
    }

    /// Adds all that the questions depend on beside config and labelled questions.
    pub(super) fn digest(&self, digest: Digest) -> Digest {
        self.headers.digest(digest)
    }

    /// The questions of an epoch, a function of seed and epoch.
    pub(super) fn labelled(&self, epoch: usize) -> Vec<LabelledQuestion> {
        let generated = self.headers.questions(self.count, self.seed, epoch as u64).into_iter();
        let generated = generated.map(|generated| LabelledQuestion {
            id: String::new(),
            question: generated.question,
            segments: generated.segments,
        });
        generated.chain(self.with_renamed(&self.by_rules, epoch)).chain(self.concatenated(epoch)).collect()
    }

    fn concatenated(&self, epoch: usize) -> Vec<LabelledQuestion> {
        if !self.concatenate {
            return Vec::new();
        }
        let questions: Vec<&str> = self.by_rules.iter().map(|question| question.question.as_str()).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream((3 << 32) + epoch as u64);
        let of_rules = |question: String| by_rules(&LabelledQuestion { id: String::new(), question, segments: vec![] });
        concatenated(&questions, &mut rng).into_iter().map(of_rules).collect()
    }

    /// Questions, and where it is wanted each again with other names, a function of seed and epoch.
    pub(super) fn with_renamed(&self, questions: &[LabelledQuestion], epoch: usize) -> Vec<LabelledQuestion> {
        let mut all = questions.to_vec();
        if self.renamed {
            let names: Vec<&str> = self.headers.names().collect();
            let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
            // Apart from the streams of weights and orders.
            rng.set_stream((2 << 32) + epoch as u64);
            all.extend(questions.iter().map(|question| renamed(question, &names, &mut rng)));
        }
        all
    }
}

/// As the rules cut it.
fn by_rules(question: &LabelledQuestion) -> LabelledQuestion {
    LabelledQuestion { segments: rules::segments(&question.question), ..question.clone() }
}

/// The question, as the rules cut it where they come as near to its segments as a token F1 of `least`.
pub(super) fn settled(question: &LabelledQuestion, least: f64) -> LabelledQuestion {
    let cut = by_rules(question);
    let near = SegmentMeasures::of(&cut.segments, &question.segments).token_f1 >= least;
    if near && !cut.segments.is_empty() { cut } else { question.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_settle_what_they_come_near_to() {
        let question = LabelledQuestion {
            id: "q".into(),
            question: "What was net revenue in 2015 and 2016?".into(),
            segments: vec!["Total net revenue 2015".into(), "net revenue 2016".into()],
        };
        assert_eq!(settled(&question, 0.5).segments, ["net revenue 2015", "net revenue 2016"]);
        assert_eq!(settled(&question, 1.0), question);
    }
}
