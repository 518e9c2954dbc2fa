//! Measures of a company that are worked out from two of its numbers, where its report does not state them.

use std::collections::HashSet;

use tabsegnet::ranking::Position;
use tabsegnet::{NodeKind, OpenDocument, Question, RankedNode, Ranking, RankingError};
use tabsegnet_document::numbers::parse_cell_number;

use crate::answer::{Answer, Check, Citation};
use crate::operands::{Form, Operands};
use crate::program::{Operation, Program};
use crate::question::{Inquiry, stems};
use crate::rules::Policy;
use crate::stated::as_stated;
use crate::threshold::Threshold;
use crate::words::last;
use crate::years::named_years;

/// What reports call the same, the usual name first.
type Part = &'static [&'static str];

#[rustfmt::skip]
const REVENUE: Part = &[
    "total revenues", "total net revenues", "total revenue", "total net sales", "net revenues", "net revenue", "net sales", "total sales",
    "revenues", "revenue", "sales",
];
const OPERATING: Part = &[
    "operating income", "income from operations", "operating profit", "operating earnings", "earnings from operations",
];
#[rustfmt::skip]
const PRETAX: Part = &[
    "income before income taxes", "earnings before income taxes", "income before taxes", "pre-tax earnings",
    "income before provision for income taxes", "earnings before provision for income taxes",
];
const EBITDA: Part = &["adjusted ebitda", "adj. ebitda", "ebitda"];
const GROSS: Part = &["gross profit", "total gross profit", "gross margin"];
#[rustfmt::skip]
const DIVIDENDS: Part = &[
    "total dividends declared", "dividends declared", "cash dividends declared", "dividends paid", "cash dividends paid",
    "payments of dividends", "payment of dividends",
];
#[rustfmt::skip]
const OPERATING_CASH: Part = &[
    "net cash provided by operating activities", "cash provided by operating activities", "cash flows from operating activities",
    "cash from operating activities", "net cash from operating activities", "operating cash flow",
];
#[rustfmt::skip]
const CAPEX: Part = &[
    "capital expenditures", "purchases of property and equipment", "purchases of property, plant and equipment",
    "additions to property, plant and equipment", "capital investments", "acquisitions of property and equipment",
    "additions to property and equipment", "purchase of property and equipment", "purchases of property, plant, and equipment",
    "purchase of property, plant and equipment", "purchases related to property and equipment and intangible assets",
];
const NET: Part = &["net income", "net earnings", "net profit"];
const ASSETS: Part = &["total assets"];
#[rustfmt::skip]
const EQUITY: Part = &[
    "total equity", "total stockholders\u{2019} equity", "total stockholders' equity", "total shareholders\u{2019} equity",
    "total shareholders' equity",
];
const CURRENT_ASSETS: Part = &["total current assets"];
const CURRENT_LIABILITIES: Part = &["total current liabilities"];

struct Measure {
    names: &'static [&'static str],
    form: Form,
    parts: [Part; 2],
    /// Whether both are of one part of the company: they stand in one table, or the second is that of all of it.
    of_one_part: bool,
}

const fn margin(names: &'static [&'static str], of: Part) -> Measure {
    Measure { names, form: Form::Share, parts: [of, REVENUE], of_one_part: true }
}

const fn of_two(names: &'static [&'static str], form: Form, parts: [Part; 2]) -> Measure {
    Measure { names, form, parts, of_one_part: false }
}

#[rustfmt::skip]
const MEASURES: [Measure; 11] = [
    margin(&["gross profit margin", "gross margin"], GROSS),
    margin(&["operating profit margin", "operating margin"], OPERATING),
    margin(&["adjusted ebitda margin", "ebitda margin"], EBITDA),
    margin(&["pre-tax profit margin", "pre-tax margin", "pretax margin"], PRETAX),
    margin(&["net profit margin", "net income margin", "net margin", "profit margin"], NET),
    of_two(&["dividend payout ratio", "payout ratio"], Form::Share, [DIVIDENDS, NET]),
    of_two(&["free cash flow"], Form::Difference, [OPERATING_CASH, CAPEX]),
    of_two(&["return on equity"], Form::Share, [NET, EQUITY]),
    of_two(&["return on assets"], Form::Share, [NET, ASSETS]),
    of_two(&["current ratio"], Form::Ratio, [CURRENT_ASSETS, CURRENT_LIABILITIES]),
    of_two(&["working capital"], Form::Difference, [CURRENT_ASSETS, CURRENT_LIABILITIES]),
];

impl Measure {
    /// What it is worked out from, in the words of a document's rows.
    fn definition(&self, ranking: &Ranking) -> String {
        let [of, by] = self.called(ranking);
        match self.form {
            Form::Share => format!("{of} as a percentage of {by}"),
            Form::Ratio => format!("ratio of {of} to {by}"),
            _ => format!("difference between {of} and {by}"),
        }
    }

    /// What the rows of a document call its parts.
    fn called(&self, ranking: &Ranking) -> [&'static str; 2] {
        let rows = rows(ranking);
        self.parts.map(|part| called(part, &rows))
    }

    /// Whether a document states it: a cell of that name, or a sentence with a number.
    fn is_stated(&self, ranking: &Ranking) -> bool {
        let has = |text: &str| {
            let text = text.to_lowercase();
            self.names.iter().any(|name| text.contains(name)) && !text.contains("change")
        };
        ranking.nodes.iter().any(|node: &RankedNode| match node.kind {
            NodeKind::Cell => node.headers().any(has),
            NodeKind::Passage => node.text.contains(|c: char| c.is_ascii_digit()) && has(&node.text),
            _ => false,
        })
    }

    /// Whether an answer is worked out from its parts, in their order. `nodes` are those of the document.
    fn is_of_parts(&self, answer: &Answer, nodes: &[RankedNode]) -> bool {
        let operation = if self.form == Form::Difference { Operation::Subtract } else { Operation::Divide };
        let program = answer.program.as_deref().and_then(|program| program.parse::<Program>().ok());
        let by_one = program.is_some_and(|program| {
            // What is worked out may be held against a number of the question.
            let mut steps = program.steps().iter().map(|step| step.operation);
            steps.next() == Some(operation) && steps.all(|step| step == Operation::Greater)
        });
        let [of, by] = answer.citations.as_slice() else { return false };
        let is = |cited: &Citation, part: Part| {
            cited.headers().map(plain).any(|path| part.iter().any(|name| path.contains(name)))
        };
        let table = |cited: &Citation| match cited.position {
            Position::Cell { table, .. } => Some(table),
            _ => None,
        };
        let in_one_table = || table(of).is_some() && table(of) == table(by);
        let together = !self.of_one_part || in_one_table() || is_largest(by, self.parts[1], nodes);
        by_one && together && is(of, self.parts[0]) && is(by, self.parts[1])
    }
}

/// What the rows of a document are called.
fn rows(ranking: &Ranking) -> HashSet<String> {
    ranking.nodes.iter().filter_map(|node| node.row_headers.as_deref()).map(|path| plain(last(path))).collect()
}

/// What rows call a part, else its usual name.
fn called(part: Part, rows: &HashSet<String>) -> &'static str {
    part.iter().find(|name| rows.contains(**name)).or(part.first()).copied().unwrap_or("")
}

/// What a document calls the sales of the whole company, where a text names sales and no more.
pub(crate) fn all_sales(name: &str, ranking: &Ranking) -> Option<&'static str> {
    const SALES: [&str; 7] = ["sales", "revenue", "revenues", "net sales", "net revenue", "net revenues", "turnover"];
    SALES.contains(&name.to_lowercase().as_str()).then(|| called(REVENUE, &rows(ranking)))
}

/// Whether a number is of the sales of a whole company: none of its years is larger.
pub(crate) fn is_of_all_sales(cited: &Citation, ranking: &Ranking) -> bool {
    is_largest(cited, REVENUE, &ranking.nodes)
}

/// What pro forma sales may be of the reported ones.
const NEARLY: f64 = 1.1;

/// Whether no number of another row that is called so is larger in the same years: revenue of the company, and not of a segment.
fn is_largest(cited: &Citation, part: Part, nodes: &[RankedNode]) -> bool {
    let years_of = |path: &Option<String>| named_years(path.as_deref().unwrap_or_default());
    let own_years = years_of(&cited.column_headers);
    let Some(own) = parse_cell_number(&cited.text) else { return false };
    let is_larger = |node: &RankedNode| {
        let is_called = || node.row_headers.as_deref().is_some_and(|path| part.contains(&plain(last(path)).as_str()));
        let same_year = || {
            let years = years_of(&node.column_headers);
            !years.is_empty() && years.iter().all(|year| own_years.contains(year))
        };
        parse_cell_number(&node.text).is_some_and(|number| number > NEARLY * own) && is_called() && same_year()
    };
    !own_years.is_empty() && !nodes.iter().any(|node| node.kind == NodeKind::Cell && is_larger(node))
}

/// In lower case, without what stands in brackets: "income (loss) from operations".
fn plain(path: &str) -> String {
    let mut words = path.to_lowercase();
    while let Some((start, end)) = words.find('(').and_then(|start| Some((start, start + words[start..].find(')')?))) {
        words.replace_range(start..=end, "");
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The measure that a question names and a document does not state, with its name there and the question for what it is worked out from.
fn measure(ranking: &Ranking) -> Option<(&'static Measure, &'static str, String)> {
    let text = &ranking.question;
    let lower = text.to_lowercase();
    let named = |of: &'static Measure| of.names.iter().find_map(|name| Some((of, lower.find(name)?, *name)));
    let (of, at, name) = MEASURES.iter().find_map(named)?;
    // Of "which segment had the best margin" it is to be worked out for each, of "how far did it rise from 2023 to 2024" twice.
    let is_one = !lower.trim_start().starts_with("which ") && named_years(text).len() < 2;
    if lower.len() != text.len() || !is_one || of.is_stated(ranking) {
        return None;
    }
    let question = format!("{}{}{}", text.get(..at)?, of.definition(ranking), text.get(at + name.len()..)?);
    Some((of, name, question))
}

/// Words of a question beside the name of a measure that the document has in headers: those of a part of the company, or of a
/// kind.
fn named_beside(name: &str, ranking: &Ranking) -> HashSet<String> {
    const OF_ALL: [&str; 8] = ["fiscal", "year", "quarter", "company", "total", "consolidated", "percentage", "end"];
    // The company's name is no part of it.
    let read_as = ranking.read_as.as_deref().map(str::to_lowercase).filter(|text| text.contains(name));
    let rest = read_as.unwrap_or_else(|| ranking.question.to_lowercase()).replacen(name, " ", 1);
    let of_all: HashSet<String> = OF_ALL.iter().flat_map(|word| stems(word)).collect();
    let of_parts: HashSet<String> = MEASURES.iter().flat_map(|of| of.parts.concat()).flat_map(stems).collect();
    let words: HashSet<String> =
        stems(&rest).filter(|word| !of_all.contains(word) && !of_parts.contains(word)).collect();
    let cells = ranking.nodes.iter().filter(|node| node.kind == NodeKind::Cell);
    let headers: HashSet<String> =
        cells.flat_map(RankedNode::headers).flat_map(|path| stems(&path.to_lowercase())).collect();
    words.intersection(&headers).cloned().collect()
}

/// The answer of a policy to the question of a ranking of all nodes of a document. Where the question names a measure that the
/// document does not state, it is put as the question for what the measure is worked out from, which is in
/// [`Answer::read_as`]: "net margin" as "net income as a percentage of total revenues". Where it names two things, and what the
/// policy says of them does not do with them what is wanted, each is looked up by itself.
///
/// # Errors
/// What [`OpenDocument::rank`] says of these questions.
pub fn answer_with(document: &OpenDocument, ranking: &Ranking, policy: &dyn Policy) -> Result<Answer, RankingError> {
    Ok(as_stated(worked_out(document, ranking, policy)?, ranking))
}

fn worked_out(document: &OpenDocument, ranking: &Ranking, policy: &dyn Policy) -> Result<Answer, RankingError> {
    let from_parts = |operands: Option<Operands>, answer: Answer| match operands {
        Some(operands) => operands.or_from_parts(document, ranking, policy, answer),
        None => Ok(answer),
    };
    let Some((measure, name, question)) = measure(ranking) else {
        return from_parts(Operands::of(&ranking.question), policy.answer(ranking));
    };
    let query = Question::new(&question).id(&ranking.question_id).top(usize::MAX).each_place();
    let defined = document.rank(query)?;
    // A question for yes or no, or for how a measure changed, is for more than the measure.
    let is_plain = Threshold::of(&ranking.question).is_none() && !Inquiry::new(&ranking.question, None).wants_verdict();
    let names = Some(measure.called(ranking)).filter(|_| is_plain);
    let operands = names.and_then(|names| Operands::of_names(measure.form, names, &ranking.question, name));
    let named = named_beside(name, ranking);
    let of_parts = |answer: Answer| {
        let of_cited: HashSet<String> =
            answer.citations.iter().flat_map(Citation::headers).flat_map(|path| stems(&path.to_lowercase())).collect();
        let is_of_named = named.is_empty() || named.iter().any(|word| of_cited.contains(word));
        if answer.abstained || is_of_named && measure.is_of_parts(&answer, &defined.nodes) {
            return answer;
        }
        let [of, by] = measure.parts.map(|part| part.first().copied().unwrap_or_default());
        let what = format!("{} is worked out from {of} and {by} of what the question names", answer.said());
        answer.withheld(what)
    };
    let answer = of_parts(from_parts(operands, of_parts(policy.answer(&defined)))?);
    Ok(Answer { question: ranking.question.clone(), read_as: Some(question), ..answer })
}

/// A policy over an open document: [`answer_with`] as a [`Policy`], where one is needed. A document that cannot be ranked anew gives
/// an abstention that says why.
pub struct WithDocument<'a> {
    /// Of the rankings.
    pub document: &'a OpenDocument,
    /// Who answers.
    pub policy: &'a dyn Policy,
}

impl Policy for WithDocument<'_> {
    fn name(&self) -> &'static str {
        self.policy.name()
    }

    fn answer(&self, ranking: &Ranking) -> Answer {
        answer_with(self.document, ranking, self.policy).unwrap_or_else(|error| {
            let what = format!("the document can be ranked for the parts of the question: {error}");
            Answer::abstention(0.0, vec![Check { what, passed: false }]).of(ranking, self.name())
        })
    }
}

#[cfg(test)]
mod tests {
    use tabsegnet::ranking::Position;

    use super::{MEASURES, plain};
    use crate::answer::{Answer, Citation};

    #[test]
    fn measures_are_worked_out_from_their_parts_alone() {
        assert_eq!(plain("Income (loss) from  operations (a)"), "income from operations");
        assert_eq!(plain("Sales ("), "sales (");
        let cited = |row: &str, table| Citation {
            node: "n".into(),
            text: "1".into(),
            row_headers: Some(row.into()),
            column_headers: Some("2024".into()),
            position: Position::Cell { table, row: 1, col: 1, rowspan: 1, colspan: 1 },
            location: None,
            table: None,
            file: None,
            id_in_file: None,
        };
        let is = |name: &str, program: &str, parts: [(&str, usize); 2]| {
            let citations = parts.map(|(row, table)| cited(row, table)).into();
            let answer = Answer { program: Some(program.into()), citations, ..Answer::default() };
            MEASURES.iter().find(|measure| measure.names.contains(&name)).unwrap().is_of_parts(&answer, &[])
        };
        assert!(is("net margin", "divide(1, 2)", [("Net income (loss)", 0), ("Revenues > Total revenues", 0)]));
        // In another table no larger one is known.
        assert!(is("net margin", "divide(1, 2)", [("Net income", 0), ("Total revenues", 1)]));
        assert!(!is("net margin", "divide(1, 2)", [("Net income", 0), ("Total assets", 0)]));
        assert!(!is("operating margin", "divide(1, 2)", [("Operating income", 0), ("Operating income", 0)]));
        let [assets, liabilities] = [("Total current assets", 0), ("Total current liabilities", 0)];
        assert!(is("current ratio", "divide(1, 2)", [assets, liabilities]));
        assert!(!is("current ratio", "divide(1, 2)", [liabilities, assets]));
        assert!(!is("working capital", "divide(1, 2)", [assets, liabilities]));
        assert!(is("working capital", "subtract(1, 2)", [assets, liabilities]));
    }
}
