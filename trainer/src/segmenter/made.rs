//! Made questions, and labelled ones as the rules cut them: what a model that starts from nothing learns to copy
//! from.

use anyhow::{Context as _, Result, ensure};
use tabsegnet_data::config::Part;
use tabsegnet_data::made::Headers;
use tabsegnet_files::Digest;
use tabsegnet_segmenter::data::LabelledQuestion;
use tabsegnet_segmenter::rules;

use crate::config::Config;

/// What the questions of an epoch are made from.
pub(super) struct Made {
    headers: Headers,
    /// Questions an epoch.
    count: usize,
    seed: u64,
    /// Labelled questions with the segments that the rules find.
    by_rules: Vec<LabelledQuestion>,
}

impl Made {
    /// From the documents of the training part, and the questions that are trained on later.
    pub(super) fn new(config: &Config, questions: &[LabelledQuestion]) -> Result<Self> {
        let settings = &config.segmenter_training;
        let samples = config.data.source(Part::Train).and_then(|source| source.read());
        let samples = samples.context(
            "segmenter_training.made: questions are made from the tables of [data]'s training part, which cannot be read",
        )?;
        let headers = Headers::of(samples.samples.iter().map(|sample| &sample.document));
        ensure!(
            !headers.is_empty(),
            "segmenter_training.made: no table of [data]'s training part has a row with a name; set it to 0"
        );
        let by_rules = |question: &LabelledQuestion| LabelledQuestion {
            segments: rules::segments(&question.question),
            ..question.clone()
        };
        let by_rules = match settings.made_rules {
            true => questions.iter().map(by_rules).filter(|question| !question.segments.is_empty()).collect(),
            false => Vec::new(),
        };
        Ok(Self { headers, count: settings.made, seed: config.task.seed, by_rules })
    }

    /// Adds all that the questions depend on beside config and labelled questions.
    pub(super) fn digest(&self, digest: Digest) -> Digest {
        self.headers.digest(digest)
    }

    /// The questions of an epoch, a function of seed and epoch.
    pub(super) fn labelled(&self, epoch: usize) -> Vec<LabelledQuestion> {
        let made = self.headers.questions(self.count, self.seed, epoch as u64).into_iter();
        let made =
            made.map(|made| LabelledQuestion { id: String::new(), question: made.question, segments: made.segments });
        made.chain(self.by_rules.iter().cloned()).collect()
    }
}
