//! Tables, once as rows of text and from there as HTML or Markdown.

use tabsegnet_page::kit::escape;

/// A cell: text from anywhere, escaped when the table is rendered.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub text: String,
    /// A second, smaller line (HTML) or words after it (Markdown); none if empty.
    pub detail: String,
    /// Number of the method whose line and marker stand before the text.
    pub method: Option<usize>,
    /// The best of its column.
    pub best: bool,
}

impl Cell {
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    pub fn method(mut self, number: usize) -> Self {
        self.method = Some(number);
        self
    }
}

/// A table whose first `label_columns` columns are words, the others numbers.
pub(super) struct Table {
    pub caption: String,
    pub label_columns: usize,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Marks the cells of the columns `from..` whose text is the largest number of the column.
    /// What is equal as printed is equally best; of a single row nothing is.
    pub fn mark_best(&mut self, from: usize, to: usize) {
        if self.rows.len() < 2 {
            return;
        }
        for column in from..to {
            let number = |row: &Vec<Cell>| row.get(column).and_then(|cell| cell.text.parse::<f64>().ok());
            let Some(best) = self.rows.iter().filter_map(number).max_by(f64::total_cmp) else {
                continue;
            };
            for row in &mut self.rows {
                if let Some(cell) = row.get_mut(column) {
                    cell.best = cell.text.parse::<f64>().is_ok_and(|value| value == best);
                }
            }
        }
    }

    /// As an HTML table in a region that scrolls by itself where the page is too narrow.
    pub fn html(&self) -> String {
        let columns: String = self
            .columns
            .iter()
            .enumerate()
            .map(|(column, text)| {
                let class = if column < self.label_columns { "" } else { r#" class="number""# };
                format!(r#"<th scope="col"{class}>{}</th>"#, escape(text))
            })
            .collect();
        let rows: String = self.rows.iter().map(|row| self.html_row(row)).collect();
        let caption = escape(&self.caption);
        format!(
            "<div class=\"scroll\" role=\"region\" aria-label=\"{caption}\" tabindex=\"0\"><table>\
             <caption><span>{caption}</span></caption>\n<thead><tr>{columns}</tr></thead>\n<tbody>\n{rows}</tbody>\
             </table></div>\n"
        )
    }

    fn html_row(&self, row: &[Cell]) -> String {
        let cells: String = row
            .iter()
            .enumerate()
            .map(|(column, cell)| {
                let swatch = cell.method.map(super::palette::swatch).unwrap_or_default();
                let mut content = format!("{swatch}{}", escape(&cell.text));
                if cell.best {
                    content = format!("<strong>{content}</strong>");
                }
                if !cell.detail.is_empty() {
                    content += &format!("<small>{}</small>", escape(&cell.detail));
                }
                match column {
                    0 => format!(r#"<th scope="row">{content}</th>"#),
                    _ if column < self.label_columns => format!("<td>{content}</td>"),
                    _ => format!(r#"<td class="number">{content}</td>"#),
                }
            })
            .collect();
        format!("<tr>{cells}</tr>\n")
    }
}
