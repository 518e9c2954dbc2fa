//! The dimensions of a fact as words.

use tabsegnet_document::facts::Dimension;

use super::words::{self, local};

/// What a fact is broken down by, as words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct MemberWords {
    /// Each with its preposition: `of the Google Cloud segment`, `in China`.
    pub parts: Vec<String>,
    /// What the fact is called instead of its concept's name.
    pub name: Option<&'static str>,
}

/// Most dimensions that a question can name and still be read.
const MOST_PARTS: usize = 2;

/// Axes whose members do not name a thing that anybody would call by name, or whose concepts
/// mean something else with them.
const LEFT_OUT: &[&str] = &[
    "RangeAxis",
    "LitigationCaseAxis",
    "LossContingenciesByNatureOfContingencyAxis",
    "SubsequentEventTypeAxis",
    "CumulativeEffectPeriodOfAdoptionAxis",
    "ConcentrationRiskByTypeAxis",
    "ConcentrationRiskByBenchmarkAxis",
    "MajorCustomersAxis",
    "MeasurementInputTypeAxis",
    "ValuationTechniqueAxis",
    "IndividualAxis",
    "TradingArrAxis",
    "TitleOfIndividualAxis",
    "CounterpartyNameAxis",
    "TypeOfArrangementAxis",
    "ReclassificationOutOfAccumulatedOtherComprehensiveIncomeAxis",
    "ShareBasedCompensationSharesAuthorizedUnderStockOptionPlansByExercisePriceRangeAxis",
    "RevisionOfPriorPeriodAxis",
    "StatementScenarioAxis",
];

const SEGMENTS: &[&str] = &["StatementBusinessSegmentsAxis", "SubsegmentsAxis"];
const EQUITY: &str = "StatementEquityComponentsAxis";

/// A concept's dimensions as words. `None` where a question could not name them.
pub(super) fn words_of(concept: &str, dimensions: &[Dimension]) -> Option<MemberWords> {
    let mut found = MemberWords::default();
    let mut parts = Vec::new();
    for dimension in dimensions {
        let axis = local(&dimension.axis);
        if LEFT_OUT.contains(&axis) {
            return None;
        }
        if axis == EQUITY {
            // The statement of equity repeats each movement in its columns; balances are wanted.
            if !local(concept).starts_with("StockholdersEquity") {
                return None;
            }
            found.name = Some("the balance");
        }
        if goes_without_saying(&dimension.member, axis, dimensions) {
            continue;
        }
        parts.push(part(concept, axis, &dimension.member)?);
    }
    parts.sort();
    found.parts = parts.into_iter().map(|(_, part)| part).collect();
    (found.parts.len() <= MOST_PARTS).then_some(found)
}

fn goes_without_saying(member: &str, axis: &str, dimensions: &[Dimension]) -> bool {
    let beside = |axes: &[&str]| dimensions.iter().any(|other| axes.contains(&local(&other.axis)));
    match (axis, local(member)) {
        ("ConsolidationItemsAxis", "OperatingSegmentsMember") => beside(SEGMENTS),
        ("FairValueByMeasurementFrequencyAxis", "FairValueMeasurementsRecurringMember") => true,
        // A bond is named by its own name.
        ("LongtermDebtTypeAxis", _) => beside(&["DebtInstrumentAxis"]),
        _ => false,
    }
}

/// The part and its rank: what is sold, by whom, where, all else.
fn part(concept: &str, axis: &str, member: &str) -> Option<(u8, String)> {
    if let Some(country) = words::country(member) {
        return Some((2, format!("in {country}")));
    }
    // Codes of other lists: states, currencies, exchanges.
    let prefix = member.split(':').next().unwrap_or_default();
    if ["country", "stpr", "currency", "exch", "naics", "sic"].contains(&prefix) {
        return None;
    }
    let words = words::member(member)?;
    Some(match axis {
        _ if SEGMENTS.contains(&axis) => (1, segment(&words)),
        "StatementGeographicalAxis" => (2, format!("in {words}")),
        "ProductOrServiceAxis" | "KeyProductPortfolioAxis" | "ContractWithCustomerSalesChannelAxis"
            if local(concept).starts_with("Revenue") =>
        {
            (0, format!("from {words}"))
        }
        "FairValueByFairValueHierarchyLevelAxis" => (4, format!("at {words} of the fair value hierarchy")),
        "IncomeStatementLocationAxis" | "BalanceSheetLocationAxis" => (3, format!("in {words}")),
        "FairValueByMeasurementFrequencyAxis" | "FairValueByMeasurementBasisAxis" => return None,
        "ConsolidatedEntitiesAxis" => (3, format!("of {words} alone")),
        EQUITY => (0, format!("of {words}")),
        _ => (3, format!("for {words}")),
    })
}

fn segment(words: &str) -> String {
    let named = ["segment", "segments", "businesses"].iter().any(|kind| words.ends_with(kind));
    match words {
        _ if words.starts_with("all ") || words.starts_with("the ") => format!("of {words}"),
        _ if words.starts_with("total ") || words.starts_with("Total ") => {
            format!("of {}{} as a whole", words[..1].to_lowercase(), &words[1..])
        }
        _ if named => format!("of the {words}"),
        _ => format!("of the {words} segment"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(concept: &str, dimensions: &[(&str, &str)]) -> Option<String> {
        let dimension = |&(axis, member): &(&str, &str)| Dimension { axis: axis.into(), member: member.into() };
        let dimensions: Vec<Dimension> = dimensions.iter().map(dimension).collect();
        words_of(concept, &dimensions).map(|found| found.parts.join(" "))
    }

    const SEGMENT: &str = "us-gaap:StatementBusinessSegmentsAxis";
    const GEOGRAPHY: &str = "srt:StatementGeographicalAxis";

    #[test]
    fn members_get_the_prepositions_of_their_axes() {
        let revenue = "us-gaap:Revenues";
        let of_revenue = |dimensions: &[(&str, &str)]| joined(revenue, dimensions).unwrap();
        assert_eq!(of_revenue(&[(SEGMENT, "goog:GoogleCloudMember")]), "of the Google Cloud segment");
        assert_eq!(
            of_revenue(&[(GEOGRAPHY, "country:US"), ("srt:ProductOrServiceAxis", "us-gaap:ProductMember")]),
            "from products in the United States"
        );
        assert_eq!(
            of_revenue(&[
                ("srt:ConsolidationItemsAxis", "us-gaap:OperatingSegmentsMember"),
                (SEGMENT, "nke:ConverseSegmentMember")
            ]),
            "of the Converse segment"
        );
        assert_eq!(joined("us-gaap:Assets", &[(GEOGRAPHY, "srt:EuropeMember")]).unwrap(), "in Europe");
    }

    #[test]
    fn what_cannot_be_named_is_left_out() {
        assert_eq!(joined("us-gaap:Revenues", &[("srt:RangeAxis", "srt:MaximumMember")]), None);
        assert_eq!(joined("us-gaap:Revenues", &[(GEOGRAPHY, "stpr:CA")]), None);
        let equity = ("us-gaap:StatementEquityComponentsAxis", "us-gaap:RetainedEarningsMember");
        assert_eq!(joined("us-gaap:NetIncomeLoss", &[equity]), None);
        assert_eq!(joined("us-gaap:StockholdersEquity", &[equity]).unwrap(), "of retained earnings");
    }
}
