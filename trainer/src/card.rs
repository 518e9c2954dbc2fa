//! Model cards.

use std::fmt::Write as _;

use tabsegnet_data::prepared::Statistics;

use crate::config::Config;
use crate::state::EpochMetrics;

/// The card of a ranker: what it is, what it was trained on, how it measured, what it is not.
pub fn ranker(config: &Config, metrics: &EpochMetrics, train: &Statistics, dev: &Statistics) -> String {
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
    for (part, statistics) in [("Trained on", train), ("Chosen on (dev)", dev)] {
        line(
            part,
            format!(
                "{} questions, {} documents, {} nodes, {} distractor table(s) a document",
                statistics.questions,
                statistics.documents,
                statistics.nodes,
                config.data.distractors()
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
    card.push_str(
        "\nLimits: the epoch was chosen on the dev part, so the figures above are a little too good for new \
         documents. Scores order the nodes of one document for one question; they are no probabilities and do not \
         compare between questions. `manifest.json` names the encoder and the data by digest, `config.toml` holds \
         every setting.\n",
    );
    card
}
