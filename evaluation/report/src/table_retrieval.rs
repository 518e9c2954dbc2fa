//! Measures of rankings of tables over a corpus, several of which may be wanted together.
//!
//! | measure | of a question |
//! |---|---|
//! | Acc@k | 1 if all gold tables are among the first k, else 0 |
//! | Recall@k | share of the gold tables among the first k |
//! | MRR | 1 / rank of the first gold table, 0 if none was ranked |
//!
//! Acc@k and Recall@k are those of MultiTableQA (Zou et al. 2025, arXiv 2504.01346, §4.1). Questions on one source table
//! share its captions and its copies in the corpus: they are resampled, and their signs flip, together.
//!
//! Rankings are written and read as TREC files through [`crate::trec`]: [`TableRanking`] and [`TableGold`] convert.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::measures::{GoldRanks, MeasureError};
use crate::render::table_retrieval;
use crate::significance::{Bootstrap, Estimate, Resampling, SignificanceError, Units, holm, randomisation_p};
use crate::trec::{JudgedQuestion, RankedQuestion};

/// The k of Acc@k and Recall@k.
pub const TABLE_CUTOFFS: [usize; 4] = [1, 10, 20, 50];

/// Number of measures: two a cutoff, and the reciprocal rank.
const MEASURES: usize = 2 * TABLE_CUTOFFS.len() + 1;

/// The tables that a method found for a question, best first. A table that comes twice counts where it comes first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRanking {
    /// Id of the question.
    pub question: String,
    /// Ids of tables; may be cut anywhere, also empty.
    pub ranked: Vec<String>,
}

/// What a question wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableGold {
    /// Id of the question.
    pub question: String,
    /// Ids of its gold tables, at least one; one that comes twice counts once.
    pub gold: Vec<String>,
    /// Questions of one group are resampled together: the id of the source table.
    pub group: String,
}

impl From<&TableRanking> for RankedQuestion {
    /// With scores that fall by one from rank to rank; the last one's is 1.
    fn from(ranking: &TableRanking) -> Self {
        let scores = (1..=ranking.ranked.len()).rev().map(|score| score as f32);
        Self { question: ranking.question.clone(), nodes: ranking.ranked.iter().cloned().zip(scores).collect() }
    }
}

impl From<RankedQuestion> for TableRanking {
    /// Without the scores.
    fn from(ranked: RankedQuestion) -> Self {
        let tables = ranked.nodes.into_iter().map(|(table, _)| table);
        Self { question: ranked.question, ranked: tables.collect() }
    }
}

impl From<&TableGold> for JudgedQuestion {
    fn from(gold: &TableGold) -> Self {
        Self { question: gold.question.clone(), gold: gold.gold.clone() }
    }
}

/// A measure of a ranking of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TableMeasure {
    /// Whether all gold tables are among the first k.
    Acc(usize),
    /// Share of the gold tables among the first k.
    Recall(usize),
    /// Reciprocal rank of the first gold table.
    Mrr,
}

impl TableMeasure {
    /// Every measure at every cutoff, in the order of tables.
    pub fn all() -> impl Iterator<Item = Self> {
        let acc = TABLE_CUTOFFS.into_iter().map(Self::Acc);
        acc.chain(TABLE_CUTOFFS.into_iter().map(Self::Recall)).chain([Self::Mrr])
    }

    /// Its name as printed.
    pub fn name(self) -> String {
        match self {
            Self::Acc(k) => format!("Acc@{k}"),
            Self::Recall(k) => format!("Recall@{k}"),
            Self::Mrr => "MRR".to_owned(),
        }
    }

    /// The measure of one ranking, in [0, 1]. Acc@k is 1 exactly where Recall@k is.
    pub fn of(self, ranks: &GoldRanks) -> f64 {
        match self {
            // Counted, not compared with 1.0: no rounding decides.
            Self::Acc(k) => {
                let found = ranks.ranks().iter().filter(|&&rank| rank as usize <= k).count();
                f64::from(u8::from(found == ranks.gold()))
            }
            Self::Recall(k) => ranks.recall_at(k),
            Self::Mrr => ranks.ranks().first().map_or(0.0, |&rank| 1.0 / f64::from(rank)),
        }
    }
}

/// The rankings of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableMethod {
    /// Its name, unique among the methods compared.
    pub name: String,
    /// One ranking a question, in any order.
    pub rankings: Vec<TableRanking>,
}

/// Methods on the same questions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableComparison {
    /// Number of questions.
    pub questions: usize,
    /// Number of groups that were resampled.
    pub groups: usize,
    /// How often.
    pub resampling: Resampling,
    /// The methods, in the order given.
    pub methods: Vec<TableFigures>,
    /// The method that the others are tested against.
    pub against: Option<String>,
    /// Every other method minus that one, by every measure; empty without one.
    pub differences: Vec<TableDifference>,
}

/// The measures of a method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableFigures {
    /// Its name.
    pub name: String,
    /// Mean and 95 % interval of each measure, in the order of [`TableMeasure::all`].
    pub figures: Vec<(TableMeasure, Estimate)>,
}

/// How a method differs from the one that it is tested against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableDifference {
    /// The method.
    pub method: String,
    /// The measure.
    pub measure: TableMeasure,
    /// Its mean minus that of the other method, with the paired 95 % interval.
    pub difference: Estimate,
    /// p of the paired randomisation test by groups.
    pub p: f64,
    /// p after Holm's adjustment for all methods tested by this measure.
    pub p_holm: f64,
}

/// Rankings that cannot be measured or compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableRetrievalError {
    /// A question without gold, or with ranks that are none.
    #[error("question {question:?}: {reason}")]
    Question {
        /// Id of the question.
        question: String,
        /// What is wrong.
        reason: MeasureError,
    },
    /// Two questions of one id, or two rankings for one.
    #[error("{whose}: question {question:?} comes twice, make ids unique")]
    Twice {
        /// "the gold", or a method.
        whose: String,
        /// Id of the question.
        question: String,
    },
    /// A method says nothing to a question; an empty ranking would be an answer.
    #[error("{method}: question {question:?} has no ranking; give an empty one where nothing was found")]
    NoRanking {
        /// The method.
        method: String,
        /// Id of the question.
        question: String,
    },
    /// A ranking for a question that is not among them.
    #[error("{method}: has a ranking for {question:?}, which is none of the questions")]
    NoQuestion {
        /// The method.
        method: String,
        /// Id of the ranking's question.
        question: String,
    },
    /// Two methods of one name.
    #[error("two methods are called {0:?}")]
    SameName(String),
    /// The method to test against is not there.
    #[error("no method is called {name:?} to test against; there are {known}")]
    NoMethod {
        /// The name.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// No questions, or no resamples.
    #[error(transparent)]
    Significance(#[from] SignificanceError),
}

/// Every measure of every method, and, where a method is named, how the others differ from it.
///
/// The same for the same input with any number of threads.
///
/// # Errors
/// Questions without gold, ids or names that come twice, and a method without a ranking for a question or with one for
/// another; a name to test against that no method has.
pub fn compare_tables(
    questions: &[TableGold],
    methods: &[TableMethod],
    against: Option<&str>,
    resampling: &Resampling,
) -> Result<TableComparison, TableRetrievalError> {
    let mut names = HashSet::new();
    if let Some(twice) = methods.iter().find(|method| !names.insert(method.name.as_str())) {
        return Err(TableRetrievalError::SameName(twice.name.clone()));
    }
    let mut ids = HashSet::new();
    if let Some(twice) = questions.iter().find(|question| !ids.insert(question.question.as_str())) {
        return Err(TableRetrievalError::Twice { whose: "the gold".into(), question: twice.question.clone() });
    }
    let reference = match against {
        None => None,
        Some(name) => Some(methods.iter().position(|method| method.name == name).ok_or_else(|| {
            let known = methods.iter().map(|method| format!("{:?}", method.name)).collect::<Vec<_>>().join(", ");
            TableRetrievalError::NoMethod { name: name.to_owned(), known }
        })?),
    };
    let units = Units::grouped(questions.iter().map(|question| question.group.as_str()));
    // [methods × measures][questions]
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for method in methods {
        let ranks = ranks(questions, method)?;
        columns.extend(TableMeasure::all().map(|measure| ranks.iter().map(|ranks| measure.of(ranks)).collect()));
    }
    let bootstrap = Bootstrap::new(&columns, &units, resampling)?;
    let column = |method: usize, measure: usize| method * MEASURES + measure;
    let figures = methods.iter().enumerate().map(|(number, method)| {
        let estimate = |(place, measure)| Some((measure, bootstrap.estimate(column(number, place))?));
        TableFigures {
            name: method.name.clone(),
            figures: TableMeasure::all().enumerate().filter_map(estimate).collect(),
        }
    });
    let mut differences = Vec::new();
    for (place, measure) in TableMeasure::all().enumerate() {
        let Some(reference) = reference else { break };
        let mut tested = Vec::new();
        for (number, method) in methods.iter().enumerate().filter(|(number, _)| *number != reference) {
            let (a, b) = (column(number, place), column(reference, place));
            if let (Some(x), Some(y), Some(difference)) = (columns.get(a), columns.get(b), bootstrap.difference(a, b)) {
                let p = randomisation_p(x, y, &units, resampling)?;
                tested.push(TableDifference { method: method.name.clone(), measure, difference, p, p_holm: p });
            }
        }
        let adjusted = holm(&tested.iter().map(|tested| tested.p).collect::<Vec<f64>>());
        tested.iter_mut().zip(adjusted).for_each(|(tested, p)| tested.p_holm = p);
        differences.extend(tested);
    }
    Ok(TableComparison {
        questions: questions.len(),
        groups: units.count(),
        resampling: *resampling,
        methods: figures.collect(),
        against: against.map(str::to_owned),
        differences,
    })
}

/// Comparisons with their names as one HTML page that loads nothing: Acc@10 and Acc@50 drawn, every mean, and the tests.
pub fn to_html(comparisons: &BTreeMap<String, TableComparison>) -> String {
    table_retrieval::html(comparisons)
}

/// Where the gold of each question stands, in the order of the questions.
fn ranks(questions: &[TableGold], method: &TableMethod) -> Result<Vec<GoldRanks>, TableRetrievalError> {
    let mut ranked: HashMap<&str, &[String]> = HashMap::new();
    for ranking in &method.rankings {
        if ranked.insert(&ranking.question, &ranking.ranked).is_some() {
            let (whose, question) = (method.name.clone(), ranking.question.clone());
            return Err(TableRetrievalError::Twice { whose, question });
        }
    }
    let mut ranks = Vec::with_capacity(questions.len());
    for question in questions {
        let Some(ranking) = ranked.remove(question.question.as_str()) else {
            let (method, question) = (method.name.clone(), question.question.clone());
            return Err(TableRetrievalError::NoRanking { method, question });
        };
        let found = GoldRanks::in_ranking(distinct(ranking), question.gold.iter().map(String::as_str));
        let at = |reason| TableRetrievalError::Question { question: question.question.clone(), reason };
        ranks.push(found.map_err(at)?);
    }
    match method.rankings.iter().find(|ranking| ranked.contains_key(ranking.question.as_str())) {
        None => Ok(ranks),
        Some(other) => {
            Err(TableRetrievalError::NoQuestion { method: method.name.clone(), question: other.question.clone() })
        }
    }
}

/// A table that comes again takes no rank.
fn distinct(ranking: &[String]) -> impl Iterator<Item = &str> {
    let mut seen = HashSet::new();
    ranking.iter().map(String::as_str).filter(move |table| seen.insert(*table))
}

impl TableComparison {
    /// A measure of a method; none where no such method was compared.
    pub fn estimate(&self, method: &str, measure: TableMeasure) -> Option<Estimate> {
        let figures = &self.methods.iter().find(|figures| figures.name == method)?.figures;
        figures.iter().find(|(known, _)| *known == measure).map(|(_, estimate)| *estimate)
    }

    /// As Markdown: means in percent, the 95 % intervals of Acc@10 and Acc@50, and, where they were tested, the
    /// differences in the same two with p and p after Holm's adjustment.
    pub fn markdown(&self) -> String {
        table_retrieval::markdown(self)
    }
}

#[cfg(test)]
mod tests;
