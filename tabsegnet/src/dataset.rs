//! Every question of a data set's files.

use tabsegnet_datasets::prepared::prepare_in_memory;
use tabsegnet_datasets::sample::Labels;
use tabsegnet_datasets::source::Source;
use tabsegnet_datasets::{Dataset, Inputs};
use tabsegnet_encoder::EmbeddingCache;
use tabsegnet_ranker::device::guard;

use crate::ranking::{Ranking, ranking};
use crate::session::Session;
use crate::{Embedded, RankingError};

/// The ranking of a question of a data set.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedRanking {
    /// The ranking.
    pub ranking: Ranking,
    /// Ids of the gold nodes, as far as the files name them.
    pub gold: Vec<String>,
}

impl Session {
    /// Ranks the `top_k` best nodes for every question of the files of a data set, in their order. Each document is
    /// opened once. `say` hears what was read and how far it is.
    ///
    /// # Errors
    /// Files that are not of the data set; whatever encoder, segmenter and device say.
    pub fn rank_dataset(
        &self,
        dataset: &'static dyn Dataset,
        inputs: Inputs,
        top_k: usize,
        say: &mut dyn FnMut(String),
    ) -> Result<Vec<JudgedRanking>, RankingError> {
        let config = self.settings().data.of_kind(dataset.name());
        let source = Source::new(dataset, inputs, config, Labels::Optional);
        let prepared = prepare_in_memory(&source, &self.settings().prepare())?;
        let (questions, documents) = (prepared.questions.len(), prepared.documents.len());
        say(format!("{questions} questions, {documents} documents, {} nodes", prepared.statistics.nodes));
        let vectors = self.vectors()?;
        vectors.iter().filter_map(EmbeddingCache::notice).for_each(&mut *say);
        let mut last = std::time::Instant::now();
        let mut progress = |done, of| {
            if last.elapsed().as_secs() >= 10 {
                last = std::time::Instant::now();
                say(format!("encode: {done}/{of} texts"));
            }
        };
        let embed =
            || Embedded::embed(prepared.documents, prepared.questions, &self.view(), vectors.as_ref(), &mut progress);
        let embedded = guard(self.raw_device(), embed)??;
        if self.segmenter().is_given() {
            say(format!(
                "segments: those that the data set gives, an upper bound; {} of {questions} questions have none and are \
                 their own",
                embedded.without_segments()
            ));
        }
        let scores = guard(self.raw_device(), || self.scorer().scores(&embedded))??;
        let judged = |(index, scores): (usize, &Vec<f32>)| {
            let nodes = embedded.document_of(index).nodes();
            let gold = embedded.questions[index].gold.iter().map(|&node| nodes[node as usize].id.clone()).collect();
            JudgedRanking { ranking: ranking(&embedded, index, scores, top_k), gold }
        };
        Ok(scores.iter().enumerate().map(judged).collect())
    }
}
