//! Model cards.

use std::fmt::Write as _;

use tabsegnet_datasets::config::{DataConfig, Placement};
use tabsegnet_datasets::prepared::Statistics;
use tabsegnet_evaluation::QuestionMeasures;

use crate::config::{Config, Keep, OptimisationConfig, RerankerConfig};
use crate::state::EpochMetrics;

/// The card of a ranker: what it is, what it was trained on, how it measured, what it is not.
/// `reranker` are the measures on the dev part with the reranker.
pub fn ranker(
    config: &Config,
    metrics: &EpochMetrics,
    reranker: Option<&QuestionMeasures>,
    train: &Statistics,
    dev: &Statistics,
) -> String {
    let mut card = String::from(
        "# Ranker\n\nA TabSegNet scorer: ranks the nodes (cells, headers, sentences) of a document for a question.\n\n",
    );
    let model = match config.encoder.model.as_str() {
        "" => "the static encoder that comes with the project",
        model => model,
    };
    let mut line = |name: &str, value: String| {
        let _ = writeln!(card, "- {name}: {value}");
    };
    line("Encoder", format!("{model}, at most {} tokens a text", config.encoder.max_tokens));
    line("Segmenter", config.segmenter.kind.clone());
    line(
        "Widths",
        format!(
            "d_in {}, d_out {}, d_edge {}, {} layer(s)",
            config.model.d_in, config.model.d_out, config.model.d_edge, config.model.layers
        ),
    );
    line("Seed", config.task.seed.to_string());
    if !config.output.note.is_empty() {
        line("Other seeds", config.output.note.clone());
    }
    let OptimisationConfig { keep, start_from, .. } = &config.optimisation;
    if !start_from.is_empty() {
        line("Starts from", format!("the weights of `{start_from}`, named in `manifest.json` by digest"));
    }
    let (dev_part, limit) = match keep {
        Keep::LeastDevLoss => (
            "Chosen on (dev)",
            "the epoch was chosen on the dev part, so the figures above are a little too good for new documents",
        ),
        Keep::Last => (
            "Measured on (dev)",
            "the last epoch was kept, whatever its figures on the dev part; where settings were chosen on that part, the \
             figures above are still a little too good for new documents",
        ),
    };
    let distractors = distractors(&config.data);
    for (part, statistics) in [("Trained on", train), (dev_part, dev)] {
        line(
            part,
            format!(
                "{} questions, {} documents, {} nodes; distractor tables a document: {distractors}",
                statistics.questions, statistics.documents, statistics.nodes
            ),
        );
    }
    line(
        "Dev, epoch",
        format!(
            "{}: loss {:.4}, recall@10 {:.4}, MAP {:.4}",
            metrics.epoch, metrics.dev_loss, metrics.dev_recall_10, metrics.dev_map
        ),
    );
    if let RerankerConfig { candidates: 1.., .. } = config.reranker {
        let RerankerConfig { candidates, folds, ensemble, boosting } = &config.reranker;
        let together = if *ensemble { ", which score beside this one: a first score is the mean" } else { "" };
        let figures = match reranker {
            Some(measures) => {
                format!("recall@10 {:.4}, MAP {:.4}", measures.recall_at[3], measures.average_precision)
            }
            None => "not trained yet, this ranker is without".into(),
        };
        line(
            "Dev, reranker",
            format!(
                "{figures}; {} trees order the first {candidates} nodes anew, trained on the scores of {folds} rankers out \
                 of fold{together}",
                boosting.count()
            ),
        );
    }
    let _ = writeln!(
        card,
        "\nLimits: {limit}. Scores order the nodes of one document for one question; they are no probabilities and do not \
         compare between questions. `manifest.json` names the encoder and the data by digest, `config.toml` holds \
         every setting."
    );
    card
}

/// How many distractor tables a document has, for each data set: "finqa 3 with lead-in, tatqa 0".
pub fn distractors(data: &DataConfig) -> String {
    let datasets = tabsegnet_generate::registry();
    let of = |part: &DataConfig| {
        let bring = match (part.distractors(&datasets), part.distractor_placement) {
            (1.., Placement::WithLeadIn) => " with lead-in",
            _ => "",
        };
        format!("{} {}{bring}", part.name(), part.distractors(&datasets))
    };
    match data.parts.as_slice() {
        [] => of(data),
        parts => parts.iter().map(of).collect::<Vec<_>>().join(", "),
    }
}
