//! What an answers checkpoint says of itself.

use tabsegnet_agent::choice::{Chooser, Content};

use super::posed::FOLDS;
use super::{Data, Learnt};
use crate::config::Config;

/// The model card of an answers checkpoint.
pub(super) fn card(config: &Config, data: &[Data], reached: usize, learnt: [(Content, &Learnt); 2]) -> String {
    let mut parts = String::new();
    for data in data {
        let questions: usize = data.samples.iter().map(|sample| sample.questions.len()).sum();
        parts.push_str(&format!("- {}: {questions} questions on {} documents\n", data.name, data.samples.len()));
    }
    let mut contents = String::new();
    for (content, Learnt { chooser: Chooser { trees, calibration }, right }) in learnt {
        let of = match content {
            Content::Texts => "with sentences",
            Content::Tables => "of tables alone",
        };
        contents.push_str(&format!(
            "- documents {of} (`{}`, {} trees): the first choice is right for {:.1} % of all. A confidence is \
             1 / (1 + exp(−({:.3} · logit + {:.3}))) of the trees' likelihood, and nothing is said below {:.3}, which loses \
             {:.0} % of the right answers.\n",
            content.file(),
            trees.count(),
            right * 100.0,
            calibration.slope,
            calibration.intercept,
            calibration.threshold,
            config.answers.lost * 100.0,
        ));
    }
    let rankings = match config.answers.fold_rankers.is_empty() {
        false => "Their rankings come from rankers that have not learnt from them.",
        true => {
            "The rankings of these documents come from a ranker that has learnt from them, so that confidences are a little \
             too high elsewhere."
        }
    };
    format!(
        "# Answers from ranked nodes\n\nWhat `ask` chooses answers with: log-linear models that tell kinds of answers by the \
         question's words and propose candidates (`proposer.safetensors`), and boosted trees that choose one, or none. Nodes \
         come from `{}`. Trained with `train --config configs/answers.toml`, seed {}, on\n\n\
         {parts}\nof which {reached} have a right candidate; {:.0} % were also put to a document that has no answer, and those \
         whose gold stands in tables to these alone. {rankings}\n\nIn {FOLDS} folds by document, of\n\n{contents}\n\
         English, reports and statistics alone.\n",
        config.answers.checkpoint,
        config.task.seed,
        config.answers.foreign * 100.0,
    )
}
