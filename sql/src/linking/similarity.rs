//! Attribute retrieval as SGAM has it, for comparison (eq. 2).

use tabsegnet_lexical::LexicalIndex;

use super::words::Words;
use crate::schema_graph::SchemaGraph;

/// s' of each column for a question: squared cosines between the question and what is known of the column, min–max
/// normalised over the columns (eq. 2). The vectors are TF-IDF's over stems. Negative cosines, which these are not, would
/// count as 0; where all columns are equal, all are 0.
#[derive(Debug, Clone)]
pub struct Similarity {
    index: LexicalIndex,
}

impl Similarity {
    /// What is known of a column: its names, its table's, the description, and `samples` of its values.
    pub fn new(graph: &SchemaGraph, samples: &[Vec<String>]) -> Self {
        let texts = graph.columns().iter().enumerate().map(|(number, column)| {
            let mut parts: Vec<&str> = std::iter::once(&column.name).chain(&column.names).map(String::as_str).collect();
            if let Some(table) = graph.tables().get(column.table) {
                parts.push(&table.name);
                parts.extend(table.names.iter().map(String::as_str));
            }
            parts.extend(column.description.as_deref());
            parts.extend(samples.get(number).into_iter().flatten().map(String::as_str));
            Words::of_name(&parts.join(" ")).stems().join(" ")
        });
        Self { index: LexicalIndex::new(texts.collect::<Vec<_>>()) }
    }

    /// `[columns]`, 0 to 1.
    pub fn scores(&self, question: &Words) -> Vec<f32> {
        // s'_i = (s_i² − min s²) / (max s² − min s²), eq. 2
        let squares: Vec<f32> =
            self.index.tf_idf(&question.stems().join(" ")).into_iter().map(|s| s.max(0.0).powi(2)).collect();
        let least = squares.iter().copied().fold(f32::INFINITY, f32::min);
        let most = squares.iter().copied().fold(0.0, f32::max);
        if most <= least {
            return vec![0.0; squares.len()];
        }
        squares.into_iter().map(|square| (square - least) / (most - least)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;
    use crate::schema_graph::{Semantics, SqlDialect};

    #[test]
    fn equal_scores_are_none() {
        let (schema, _) = Schema::from_ddl("CREATE TABLE a (name INT, age INT)", SqlDialect::Generic).unwrap();
        let graph = SchemaGraph::new(&schema, &Semantics::default(), SqlDialect::Generic).unwrap();
        let similarity = Similarity::new(&graph, &[]);
        assert_eq!(similarity.scores(&Words::of("the ages")), [0.0, 1.0]);
        assert_eq!(similarity.scores(&Words::of("nothing of it")), [0.0, 0.0]);
        assert_eq!(Similarity::new(&graph, &[vec!["x".into()]]).scores(&Words::of("x")), [1.0, 0.0]);
    }
}
