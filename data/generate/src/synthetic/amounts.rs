//! Figures as filings write them.

use tabsegnet_document::numbers::grouped;

/// What a figure counts, and so how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// The report's unit of money.
    Money,
    /// Pieces: people, shares, shops.
    Count,
    /// Tenths of a percent.
    Rate,
    /// Cents a share.
    PerShare,
}

/// Whether amounts of a report are in millions or in thousands of dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Millions,
    Thousands,
}

impl Unit {
    /// The unit as tables state it.
    pub fn note(self) -> &'static str {
        match self {
            Self::Millions => "( in millions )",
            Self::Thousands => "( in thousands )",
        }
    }
}

/// A table cell: `$ 1,234`, `( 56 )`, `12.5 %`, `—` for nothing.
pub(super) fn cell(value: i64, measure: Measure, dollar: bool) -> String {
    if value == 0 {
        return "—".into();
    }
    let digits = match measure {
        Measure::Money | Measure::Count => grouped(value.unsigned_abs()),
        Measure::Rate => format!("{}.{}", value.abs() / 10, value.abs() % 10),
        Measure::PerShare => format!("{}.{:02}", value.abs() / 100, value.abs() % 100),
    };
    let signed = if value < 0 { format!("( {digits} )") } else { digits };
    match measure {
        Measure::Rate => format!("{signed} %"),
        Measure::Money | Measure::PerShare if dollar => format!("$ {signed}"),
        _ => signed,
    }
}

/// A figure inside a sentence: `$ 1,234 million`, `12.5 %`.
pub(super) fn words(value: i64, measure: Measure, unit: Unit) -> String {
    let plain = cell(value, measure, true);
    match (measure, unit) {
        (Measure::Money, Unit::Millions) => format!("{plain} million"),
        (Measure::Money, Unit::Thousands) => {
            let tenths = (value.abs() + 50) / 100;
            let sign = if value < 0 { "( " } else { "" };
            let end = if value < 0 { " )" } else { "" };
            format!("$ {sign}{}.{}{end} million", grouped((tenths / 10).unsigned_abs()), tenths % 10)
        }
        _ => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_as_in_filings() {
        assert_eq!(cell(1_234_567, Measure::Money, true), "$ 1,234,567");
        assert_eq!(cell(-56, Measure::Money, false), "( 56 )");
        assert_eq!(cell(125, Measure::Rate, false), "12.5 %");
        assert_eq!(cell(305, Measure::PerShare, true), "$ 3.05");
        assert_eq!(cell(0, Measure::Money, true), "—");
        assert_eq!(words(-48_260, Measure::Money, Unit::Thousands), "$ ( 48.3 ) million");
        assert_eq!(words(1_250, Measure::Money, Unit::Millions), "$ 1,250 million");
    }
}
