//! What kinds of answers there are.

/// What an answer is: a program of one shape, or words of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Family {
    /// Nothing fits: what stands for all programs that are not candidates.
    Nothing,
    Lookup,
    Change,
    PercentChange,
    Ratio,
    Sum,
    Average,
    Greater,
    Product,
    /// Of 100 that were invested.
    Return,
    ReturnDifference,
    /// first / (first + second)
    Share,
    RunSum,
    RunAverage,
    RunMax,
    RunMin,
    /// The words of a cell.
    Word,
    /// The header of a row or column.
    Header,
    /// A sentence.
    Sentence,
    /// A part of one.
    Span,
    /// The name of the largest along a row or column.
    ArgMax,
    ArgMin,
    /// Names of what is beyond a bound.
    Which,
    /// How many are beyond a bound.
    Count,
    /// Cells, one for each name in the question.
    List,
}

impl Family {
    /// The names of groups.
    pub const GROUPS: [&str; 9] = ["single", "change", "ratio", "sum", "other", "run", "name", "span", "line"];

    /// All, with their names.
    pub const ALL: [(Self, &'static str); 25] = [
        (Self::Nothing, "nothing"),
        (Self::Lookup, "lookup"),
        (Self::Change, "change"),
        (Self::PercentChange, "percent_change"),
        (Self::Ratio, "ratio"),
        (Self::Sum, "sum"),
        (Self::Average, "average"),
        (Self::Greater, "greater"),
        (Self::Product, "product"),
        (Self::Return, "return"),
        (Self::ReturnDifference, "return_difference"),
        (Self::Share, "share"),
        (Self::RunSum, "run_sum"),
        (Self::RunAverage, "run_average"),
        (Self::RunMax, "run_max"),
        (Self::RunMin, "run_min"),
        (Self::Word, "word"),
        (Self::Header, "header"),
        (Self::Sentence, "sentence"),
        (Self::Span, "span"),
        (Self::ArgMax, "arg_max"),
        (Self::ArgMin, "arg_min"),
        (Self::Which, "which"),
        (Self::Count, "count"),
        (Self::List, "list"),
    ];

    /// The name of the largest along a row or column, or of the smallest.
    pub fn extreme(largest: bool) -> Self {
        if largest { Self::ArgMax } else { Self::ArgMin }
    }

    /// Its place in [`Family::ALL`].
    pub fn number(self) -> usize {
        Self::ALL.iter().position(|(family, _)| *family == self).unwrap_or(0)
    }

    /// Place in [`Family::GROUPS`]: families whose arguments are alike share what is learnt of these.
    pub fn group(self) -> usize {
        match self {
            Self::Nothing | Self::Lookup => 0,
            Self::Change | Self::PercentChange | Self::Greater => 1,
            Self::Ratio | Self::Share => 2,
            Self::Sum | Self::Average => 3,
            Self::Product | Self::Return | Self::ReturnDifference => 4,
            Self::RunSum | Self::RunAverage | Self::RunMax | Self::RunMin => 5,
            Self::Word | Self::Header => 6,
            Self::Sentence | Self::Span => 7,
            Self::ArgMax | Self::ArgMin | Self::Which | Self::Count | Self::List => 8,
        }
    }
}
