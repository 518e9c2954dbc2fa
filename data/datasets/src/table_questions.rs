//! Data sets whose questions name one table each, which stand in files of their own.

use serde::de::DeserializeOwned;
use tabsegnet_document::model::{Block, Document, Table};

use crate::config::DataConfig;
use crate::dataset::{AnswerRule, Dataset, Extra, Inputs};
use crate::error::DataError;
use crate::record::{Ids, Place, no_such_table, read_all, read_lines, read_named};
use crate::sample::{GoldAnswer, Labels, Places, Question, Samples};
use crate::silver::{self, Rows};

/// Gold nodes, and the answer where it is known.
pub(crate) type Gold = (Vec<String>, Option<GoldAnswer>);

/// Such a data set, with one record `R` a question and one record `T` a table. A table is a document, in the order of the
/// first question to it.
pub(crate) struct TableQuestions<R, T> {
    pub name: &'static str,
    pub about: &'static str,
    /// What messages call a question's record.
    pub what: &'static str,
    /// Why a question without gold is left out of every measure.
    pub no_gold: &'static str,
    /// Takes `id`, `question` and `table_id` out of a record.
    pub fields: fn(&mut R) -> [Option<String>; 3],
    /// The field of a table's record that questions name it by.
    pub table_id: &'static str,
    /// What stands there.
    pub table_name: fn(&T) -> Option<&str>,
    /// The table of a record.
    pub table: fn(&Place<'_>, T) -> Result<Table, DataError>,
    /// Of what is left of a question's record.
    pub gold: fn(&Place<'_>, &Table, R, Labels) -> Result<Gold, DataError>,
}

impl<R: DeserializeOwned, T: DeserializeOwned> Dataset for TableQuestions<R, T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn answers(&self) -> AnswerRule {
        AnswerRule::Match
    }

    fn takes(&self) -> &'static [Extra] {
        &[Extra::Tables]
    }

    fn read(&self, inputs: &Inputs, _config: &DataConfig, labels: Labels) -> Result<Samples, DataError> {
        let mut records = read_all(&inputs.files, |file| read_lines::<R>(file, self.what))?;
        let fields: Vec<[Option<String>; 3]> = records.iter_mut().map(|(_, record)| (self.fields)(record)).collect();
        let wanted = fields.iter().filter_map(|[.., table]| table.clone()).collect();
        let mut tables = read_named::<T>(&inputs.tables, &wanted, self.table_name, self.table_id)?;
        let (mut samples, mut pages, mut ids) = (Samples::default(), Places::default(), Ids::default());
        for ((mut place, record), [id, text, table_id]) in records.into_iter().zip(fields) {
            let id = ids.take(&mut place, id, "id")?;
            let text = place.question(text, "question")?;
            let table_id = place.require(table_id, "table_id", "the table's name")?;
            let document = pages.of(&mut samples, table_id.clone(), || {
                let (file, table) = tables.remove(&table_id).ok_or_else(|| no_such_table(&place, &table_id))?;
                let table = (self.table)(&Place { file: &file, record: table_id.clone() }, table)?;
                Ok(Document { id: table_id, blocks: vec![Block::Table(table)] })
            })?;
            let Some(table) = samples.samples[document].document.tables().next() else { continue };
            let (gold, answer) = (self.gold)(&place, table, record, labels)?;
            samples.add_question(document, Question { answer, ..Question::new(id, text, gold) }, labels, self.no_gold);
        }
        silver::label(&mut samples, Rows::Measures);
        Ok(samples)
    }
}
