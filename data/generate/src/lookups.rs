//! Questions for one cell each, from the names of its row and column: what data sets of arithmetic do not ask.

use tabsegnet_datasets::sample::Question;
use tabsegnet_datasets::{node_id, silver};
use tabsegnet_document::model::{CellRole, Document};
use tabsegnet_document::numbers::parse_cell_number;
use tabsegnet_store::Digest;

use crate::dice::Dice;

/// `{r}` the row, `{c}` the column.
const OF_YEAR: [&str; 6] = [
    "What was the {r} in {c}?",
    "what was {r} for {c}",
    "How much was the {r} in {c}?",
    "What is the {r} for the year {c}?",
    "in {c}, what was the {r}?",
    "what were the {r} in {c} ?",
];
const OF_COLUMN: [&str; 5] = [
    "What was the {c} of {r}?",
    "what is the {c} for {r}",
    "How much is the {c} of {r}?",
    "for {r}, what was the {c}?",
    "What is {r} in terms of {c}?",
];

/// At most `count` questions of a document, a function of it, its id and the seed. Gold is the cell alone.
pub fn lookups(document: &Document, count: usize, seed: u64) -> Vec<Question> {
    let mut dice = Dice::new(Digest::new().part("lookups").part(&document.id).part(seed.to_le_bytes()));
    let mut cells = Vec::new();
    for table in document.tables() {
        let data = table.cells().iter().filter(|cell| table.role(cell) == CellRole::Data);
        for cell in data.filter(|cell| parse_cell_number(&cell.text).is_some()) {
            let [row, column] = silver::names(table, cell);
            let words = |name: &str| name.contains(char::is_alphabetic) && name.split_whitespace().count() <= 12;
            let is_year = column.len() == 4 && column.bytes().all(|b| b.is_ascii_digit());
            if words(&row) && (is_year || words(&column)) {
                cells.push((node_id::cell(table, cell), row, column, is_year));
            }
        }
    }
    // Cells of one name would each be right.
    let unnamed = cells.clone();
    cells.retain(|(_, row, column, _)| {
        unnamed.iter().filter(|other| other.1 == *row && other.2 == *column).count() == 1
    });
    dice.shuffle(&mut cells);
    cells.truncate(count);
    let question = |(number, (node, row, column, is_year)): (usize, (String, String, String, bool))| {
        let wording = dice.choose(if is_year { &OF_YEAR[..] } else { &OF_COLUMN[..] }).copied().unwrap_or("{r} {c}");
        let text = wording.replace("{r}", &row).replace("{c}", &column);
        Question {
            id: format!("{}-lookup-{number}", document.id),
            text,
            gold: vec![node],
            segments: Vec::new(),
            answer: None,
        }
    };
    cells.into_iter().enumerate().map(question).collect()
}

#[cfg(test)]
mod tests {
    use tabsegnet_document::model::{Block, Document};
    use tabsegnet_document::{KnownTable, table_with};

    use super::lookups;

    #[test]
    fn a_question_names_its_cell_and_no_other() {
        let rows: Vec<Vec<String>> = ["|2019|2018", "Net sales|12|11", "Costs|5|4", "Total|7|7", "Total|8|9"]
            .iter()
            .map(|row| row.split('|').map(ToOwned::to_owned).collect())
            .collect();
        let (table, _) = table_with(&rows, &[], KnownTable::default()).unwrap();
        let document = Document { id: "d".into(), blocks: vec![Block::Table(table)] };
        let found = lookups(&document, 10, 0);
        assert_eq!(found.len(), 4);
        let one = found.iter().find(|question| question.gold == ["t0:r1c2"]).unwrap();
        assert!(one.text.contains("Net sales") && one.text.contains("2018"), "{}", one.text);
        assert!(found.iter().all(|question| !question.text.contains("Total")));
        assert_eq!(found, lookups(&document, 10, 0));
        assert_eq!(lookups(&document, 2, 1).len(), 2);
    }
}
