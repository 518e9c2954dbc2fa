//! Prepared documents and questions with their vectors.

use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

use rayon::prelude::*;
use tabsegnet_datasets::prepared::{PreparedDocument, PreparedQuestion};
use tabsegnet_encoder::{EmbeddingCache, Encoder};
use tabsegnet_features::table_scorer::Example;
use tabsegnet_features::{DocumentFeatures, FeatureRows, Query, QueryVectors, Strings, TableScore, TableScorer};
use tabsegnet_graph::{CellText, Node};
use tabsegnet_lexical::glossary::{Glossary, Wording};
use tabsegnet_ranker::reranker::QueryContext;
use tabsegnet_segmenter::Segmenter;

use crate::RankingError;
use crate::features::Featuriser;

/// Questions between two commits of segments: what an interrupted run loses at most.
const KEEP_EVERY: usize = 256;

/// Documents and questions with the vectors of their texts.
#[derive(Debug, Clone)]
pub struct Embedded {
    /// The documents.
    pub documents: Vec<PreparedDocument>,
    /// The questions.
    pub questions: Vec<PreparedQuestion>,
    /// For each question how it is read, where a glossary changes it.
    pub read_as: Vec<Option<String>>,
    /// For each question its segments; empty where it has none, as with the segmenter `none`.
    pub segments: Vec<Vec<String>>,
    d_enc: usize,
    /// For each document `[nodes, d_enc]`.
    node_vectors: Vec<Vec<f32>>,
    /// `[questions, d_enc]`
    question_vectors: Vec<f32>,
    /// For each question `[segments, d_enc]`.
    segment_vectors: Vec<Vec<f32>>,
    /// For each document, where features are wanted.
    features: Vec<DocumentFeatures>,
    /// For each question, where features are wanted.
    query: Vec<Query>,
}

/// What a table scorer says of the tables of each document ([`TableScorer::scores`]); empty without one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableScores(pub Vec<Vec<TableScore>>);

impl TableScores {
    fn of(&self, document: usize) -> &[TableScore] {
        self.0.get(document).map_or(&[], Vec::as_slice)
    }
}

/// What turns texts into what a model sees.
pub struct View<'a> {
    /// How questions are read.
    pub glossary: &'a Glossary,
    /// The ranker's encoder.
    pub encoder: &'a dyn Encoder,
    /// What parts questions.
    pub segmenter: &'a dyn Segmenter,
    /// What makes features.
    pub featuriser: &'a Featuriser,
    /// What stands for a cell.
    pub cell_text: CellText,
}

impl Embedded {
    /// Encodes what the cache does not have. `progress` is called with (texts done, texts in all).
    pub fn new(
        documents: Vec<PreparedDocument>,
        questions: Vec<PreparedQuestion>,
        view: &View<'_>,
        cache: &EmbeddingCache,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, RankingError> {
        Self::embed(documents, questions, view, Some(cache), progress)
    }

    pub(crate) fn embed(
        documents: Vec<PreparedDocument>,
        questions: Vec<PreparedQuestion>,
        view: &View<'_>,
        cache: Option<&EmbeddingCache>,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, RankingError> {
        let View { glossary, encoder, segmenter, featuriser, cell_text } = *view;
        let read_as = readings(glossary, &documents, &questions);
        let query = text_of(&questions, &read_as);
        let segments = match segmenter.is_given() {
            true => questions.iter().map(given).collect(),
            false => segments(&query, segmenter, cache.filter(|_| segmenter.is_costly()))?,
        };
        let mut texts: Vec<&str> = Vec::new();
        for document in &documents {
            texts.extend(document.ranking_texts.iter().map(String::as_str));
        }
        texts.extend(query.iter().copied());
        texts.extend(segments.iter().flatten().map(String::as_str));
        let strings: Vec<Strings> = match featuriser.any() {
            true => documents.par_iter().map(|document| Featuriser::strings(document.nodes(), cell_text)).collect(),
            false => Vec::new(),
        };
        let compared = |strings: &Strings| if featuriser.compares() { strings.compared().len() } else { 0 };
        for strings in &strings {
            texts.extend(strings.compared().take(compared(strings)));
        }

        let total = texts.len();
        let mut progress = |done| progress(done, total);
        let vectors = match cache {
            Some(cache) => cache.embed(encoder, &texts, &mut progress)?,
            None => encoder.encode(&texts, &mut progress)?,
        };
        let d_enc = encoder.dim();
        let mut rest = vectors.as_slice();
        let mut take = |texts: usize| {
            let (own, others) = rest.split_at(texts * d_enc);
            rest = others;
            own.to_vec()
        };
        let node_vectors: Vec<Vec<f32>> = documents.iter().map(|document| take(document.nodes().len())).collect();
        let question_vectors = take(questions.len());
        let segment_vectors = segments.iter().map(|segments| take(segments.len())).collect();
        let compared: Vec<Vec<f32>> = strings.iter().map(|strings| take(compared(strings))).collect();
        let features = documents.par_iter().zip(strings).zip(&node_vectors).zip(&compared);
        let features: Result<Vec<_>, RankingError> = features
            .map(|(((document, strings), vectors), compared)| {
                featuriser.document(document.nodes(), strings, vectors, compared)
            })
            .collect();
        let query = match featuriser.any() {
            true => {
                let query = query.iter().zip(&segments);
                query.map(|(text, segments)| featuriser.question(text, segments)).collect::<Result<_, _>>()?
            }
            false => Vec::new(),
        };
        Ok(Self {
            features: features?,
            query,
            documents,
            questions,
            read_as,
            segments,
            d_enc,
            node_vectors,
            question_vectors,
            segment_vectors,
        })
    }

    /// The questions as they are read.
    pub fn texts(&self) -> Vec<&str> {
        text_of(&self.questions, &self.read_as)
    }

    /// Questions that are their own segment, since none was found or given.
    pub fn without_segments(&self) -> usize {
        self.segments.iter().filter(|segments| segments.is_empty()).count()
    }

    /// Width of a vector.
    pub fn d_enc(&self) -> usize {
        self.d_enc
    }

    /// For each document its questions, by their numbers; empty where it has none.
    pub(crate) fn questions_of_documents(&self) -> Vec<Vec<usize>> {
        let mut of_document = vec![Vec::new(); self.documents.len()];
        for (number, question) in self.questions.iter().enumerate() {
            of_document[question.document].push(number);
        }
        of_document
    }

    /// The document of a question.
    pub fn document_of(&self, question: usize) -> &PreparedDocument {
        &self.documents[self.questions[question].document]
    }

    /// `[nodes, d_enc]`: the vectors of the document of a question.
    pub fn nodes_of(&self, question: usize) -> &[f32] {
        &self.node_vectors[self.questions[question].document]
    }

    /// `[d_enc]`: the vector of a question.
    pub fn question(&self, question: usize) -> &[f32] {
        &self.question_vectors[question * self.d_enc..(question + 1) * self.d_enc]
    }

    /// `[segments, d_enc]`: the vectors of a question's segments; empty where it has none.
    pub fn segment_vectors(&self, question: usize) -> &[f32] {
        &self.segment_vectors[question]
    }

    /// What a model with segments takes for a question's: a question without is its own segment.
    pub fn query(&self, question: usize) -> &[f32] {
        let segments = &self.segment_vectors[question];
        if segments.is_empty() { self.question(question) } else { segments }
    }

    /// What a table scorer learns from: each document's tables, and which of them hold gold of a question.
    pub fn table_examples(&self) -> Vec<Example> {
        let mut gold: Vec<Vec<bool>> = Vec::with_capacity(self.features.len());
        for document in &self.features {
            let tables = document.tables().iter().flatten().max().map_or(0, |last| *last as usize + 1);
            gold.push(vec![false; tables]);
        }
        for question in &self.questions {
            let Some(document) = self.features.get(question.document) else { continue };
            let tables = document.tables();
            for table in question.gold.iter().filter_map(|&node| tables[node as usize]) {
                gold[question.document][table as usize] = true;
            }
        }
        let documents = self.features.iter().zip(gold);
        documents.map(|(document, gold)| Example { inputs: document.table_inputs().to_vec(), gold }).collect()
    }

    /// The documents' ids.
    pub fn document_ids(&self) -> Vec<&str> {
        self.documents.iter().map(|document| document.id.as_str()).collect()
    }

    /// The scores of each document's tables.
    pub fn table_scores(&self, scorer: Option<&TableScorer>) -> TableScores {
        let Some(scorer) = scorer else { return TableScores::default() };
        TableScores(self.features.par_iter().map(|document| scorer.scores(document.table_inputs())).collect())
    }

    /// `[nodes, features]` of the document of a question; empty without features.
    pub fn features(&self, question: usize, tables: &TableScores) -> Vec<f32> {
        self.features_of(question, tables, None)
    }

    /// As [`Embedded::features`], of some nodes where wanted.
    pub fn features_of(&self, question: usize, tables: &TableScores, nodes: Option<&[u32]>) -> Vec<f32> {
        let document = self.questions[question].document;
        match (self.features.get(document), self.query.get(question)) {
            (Some(features), Some(query)) => {
                let vectors = QueryVectors { q: self.question(question), segments: self.query(question) };
                features.rows(query, &vectors, self.nodes_of(question), tables.of(document), nodes)
            }
            _ => Vec::new(),
        }
    }

    /// What the reranker knows of a question with its `features` ([`Embedded::features`]); without any that alone.
    pub fn query_context<'a>(&'a self, question: usize, features: &'a dyn FeatureRows) -> QueryContext<'a> {
        let document = self.features.get(self.questions[question].document);
        let query = document.zip(self.query.get(question)).filter(|_| features.numbers() > 0);
        QueryContext { nodes: self.document_of(question).nodes(), features, query }
    }

    /// Mean and 1 / deviation of each feature over the nodes of all questions, of each question those that `nodes` says,
    /// where it does; of one that is the same everywhere 1.
    pub fn feature_scale(
        &self,
        tables: &TableScores,
        nodes: impl Fn(usize) -> Option<Vec<u32>> + Sync,
    ) -> (Vec<f32>, Vec<f32>) {
        let count = self.features.first().map_or(0, DocumentFeatures::count);
        let sums = |question: usize| {
            let features = self.features_of(question, tables, nodes(question).as_deref());
            let mut sums = vec![(0.0_f64, 0.0_f64); count];
            for row in features.chunks_exact(count.max(1)) {
                for ((sum, square), &value) in sums.iter_mut().zip(row) {
                    *sum += f64::from(value);
                    *square += f64::from(value).powi(2);
                }
            }
            (features.len() / count.max(1), sums)
        };
        // Summed up in order, so that the number of threads changes nothing.
        let parts: Vec<_> = (0..self.questions.len()).into_par_iter().map(sums).collect();
        let mut nodes = 0;
        let mut total = vec![(0.0, 0.0); count];
        for (rows, sums) in parts {
            nodes += rows;
            total.iter_mut().zip(sums).for_each(|(total, part)| *total = (total.0 + part.0, total.1 + part.1));
        }
        let of = |(sum, square): (f64, f64)| {
            let mean = sum / f64::from(nodes.max(1) as u32);
            let deviation = (square / f64::from(nodes.max(1) as u32) - mean * mean).max(0.0).sqrt();
            (mean as f32, if deviation > 1e-3 { 1.0 / deviation as f32 } else { 1.0 })
        };
        total.into_iter().map(of).unzip()
    }
}

/// How each question is read, where the glossary changes it.
fn readings(
    glossary: &Glossary,
    documents: &[PreparedDocument],
    questions: &[PreparedQuestion],
) -> Vec<Option<String>> {
    let wordings: Vec<OnceLock<Wording>> = documents.iter().map(|_| OnceLock::new()).collect();
    let wording = |document: usize| wordings[document].get_or_init(|| wording_of(documents[document].nodes()));
    let read = |question: &PreparedQuestion| glossary.reading(&question.text, || wording(question.document));
    questions.par_iter().map(|question| Some(read(question)?.text)).collect()
}

/// What a document's nodes say, and its column headers with those above them: "Quarter Ended > March 31". One alone is a
/// node's text already.
pub(crate) fn wording_of(nodes: &[Node]) -> Wording {
    let paths = nodes.iter().filter_map(|node| Some(node.place.as_ref()?.column_path.as_str()));
    let paths: BTreeSet<&str> = paths.filter(|path| path.contains(" > ")).collect();
    Wording::new(nodes.iter().map(|node| node.text.as_str())).and(paths)
}

fn text_of<'a>(questions: &'a [PreparedQuestion], read_as: &'a [Option<String>]) -> Vec<&'a str> {
    let questions = questions.iter().zip(read_as);
    questions.map(|(question, read_as)| read_as.as_deref().unwrap_or(&question.text)).collect()
}

/// The segments that the data set gives; a question without is its own segment.
fn given(question: &PreparedQuestion) -> Vec<String> {
    question.segments.iter().map(|segment| segment.text.clone()).collect()
}

/// The segments of each question: those that are kept, the others from the segmenter.
fn segments(
    questions: &[&str],
    segmenter: &dyn Segmenter,
    cache: Option<&EmbeddingCache>,
) -> Result<Vec<Vec<String>>, RankingError> {
    let Some(cache) = cache else { return Ok(segmenter.segments_of_all(questions, &mut |_| {})?) };
    // A segment is one line: blanks in it were made one.
    let kept = cache.generated_texts(segmenter.identity(), questions)?;
    let unknown = questions.iter().zip(&kept).filter(|(_, kept)| kept.is_none());
    let mut missing: Vec<&str> = unknown.map(|(question, _)| *question).collect();
    missing.sort_unstable();
    missing.dedup();
    let mut found: HashMap<&str, Vec<String>> = HashMap::new();
    for questions in missing.chunks(KEEP_EVERY) {
        let new = segmenter.segments_of_all(questions, &mut |_| {})?;
        let lines: Vec<(&str, String)> =
            questions.iter().zip(&new).map(|(question, segments)| (*question, segments.join("\n"))).collect();
        cache.keep_generated_texts(segmenter.identity(), &lines)?;
        found.extend(questions.iter().copied().zip(new));
    }
    let of = |(question, kept): (&&str, Option<String>)| match kept {
        Some(lines) => lines.lines().map(str::to_owned).collect(),
        None => found.get(question).cloned().unwrap_or_default(),
    };
    Ok(questions.iter().zip(kept).map(of).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tabsegnet_datasets::prepared::PreparedSegment;
    use tabsegnet_segmenter::SegmenterError;

    use super::*;

    /// Cuts at "and" and counts its questions.
    #[derive(Default)]
    struct AtAnd(AtomicUsize);

    impl Segmenter for AtAnd {
        fn identity(&self) -> &str {
            "at and"
        }

        fn is_costly(&self) -> bool {
            true
        }

        fn segments(&self, question: &str) -> Result<Vec<String>, SegmenterError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(question.split(" and ").map(str::to_owned).collect())
        }
    }

    #[test]
    fn given_segments_are_those_of_the_data_set() {
        let segment = |text: &str| PreparedSegment { text: text.into(), nodes: vec![0] };
        let segments = vec![segment("revenue 2019"), segment("cost 2019")];
        let question = PreparedQuestion { id: "q".into(), document: 0, text: "?".into(), gold: vec![0], segments };
        assert_eq!(given(&question), ["revenue 2019", "cost 2019"]);
        assert!(given(&PreparedQuestion { segments: Vec::new(), ..question }).is_empty());
    }

    #[test]
    fn segments_are_found_once_and_kept() {
        let directory = tempfile::tempdir().unwrap();
        let cache = EmbeddingCache::open(directory.path()).unwrap();
        let questions = ["a and b", "c", "a and b"];
        let expected = [vec!["a", "b"], vec!["c"], vec!["a", "b"]];
        let (first, second) = (AtAnd::default(), AtAnd::default());
        for segmenter in [&first, &second] {
            assert_eq!(segments(&questions, segmenter, Some(&cache)).unwrap(), expected);
        }
        assert_eq!((first.0.into_inner(), second.0.into_inner()), (2, 0));
        assert_eq!(segments(&questions, &AtAnd::default(), None).unwrap(), expected);
    }
}
