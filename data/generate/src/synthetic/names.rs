//! Names: companies, and the parts of a company that tables distinguish.

use super::dice::Dice;
use super::vocabulary::in_sentence;

/// What a fact is about: the company as a whole or a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scope {
    /// What distinguishes it from other scopes in fact keys; empty for the whole company.
    pub key: String,
    /// Phrases that follow a concept: `of the Beverages segment`. Empty where the concept's own
    /// words say enough.
    pub wordings: Vec<String>,
}

impl Scope {
    /// The whole company.
    pub fn company() -> Self {
        let wordings = ["for the group as a whole", "on a consolidated basis", "company-wide"];
        Self { key: String::new(), wordings: wordings.map(str::to_owned).to_vec() }
    }

    /// A part of the company.
    pub fn part(key: impl Into<String>, wordings: impl IntoIterator<Item = String>) -> Self {
        Self { key: key.into(), wordings: wordings.into_iter().collect() }
    }

    /// Whether this is the whole company.
    pub fn is_company(&self) -> bool {
        self.key.is_empty()
    }

    /// A part that a table names by `label`, and questions by that or by another phrase.
    pub fn named(before: &str, (label, other): (&str, &str)) -> Self {
        let literal = format!("{before} {}", in_sentence(label));
        Self::part(label, [literal.clone(), literal, other.to_owned()])
    }

    /// A segment: its label, or now and then words for what it sells.
    pub fn segment((label, other): (&str, &str)) -> Self {
        Self::part(
            label,
            [format!("of the {label} segment"), format!("in the {label} business"), format!("of {other}")],
        )
    }

    /// A region: its label or words for it.
    pub fn region((label, other): (&str, &str)) -> Self {
        Self::part(label, [format!("in {label}"), format!("in the {label} region"), format!("in {other}")])
    }
}

/// A line of business: segments as (label, words for it).
pub(super) type Industry = [(&'static str, &'static str); 4];

pub(super) const INDUSTRIES: &[Industry] = &[
    [
        ("Beverages", "the drinks division"),
        ("Snacks", "the salty nibbles division"),
        ("Pet Nutrition", "the animal food division"),
        ("Household Care", "the cleaning products division"),
    ],
    [
        ("Hosted Services", "the cloud division"),
        ("Licenses", "the packaged programs division"),
        ("Consulting", "the advisory division"),
        ("Hardware", "the devices division"),
    ],
    [
        ("Oncology", "the cancer medicines division"),
        ("Diagnostics", "the laboratory testing division"),
        ("Vaccines", "the immunization division"),
        ("Medical Devices", "the surgical equipment division"),
    ],
    [
        ("Aerospace", "the aircraft parts division"),
        ("Automotive", "the car components division"),
        ("Power Systems", "the electricity generation division"),
        ("Coatings", "the paints division"),
    ],
    [
        ("Retail Stores", "the shops division"),
        ("E-commerce", "the online sales division"),
        ("Wholesale", "the bulk supply division"),
        ("Franchise", "the licensed outlets division"),
    ],
];

/// Regions as (label, words for it), in the order in which tables list them.
pub(super) const REGIONS: &[(&str, &str)] = &[
    ("United States", "the home market"),
    ("Europe", "the old continent"),
    ("Asia Pacific", "the Far East"),
    ("Latin America", "the countries south of the Rio Grande"),
    ("Middle East and Africa", "the markets from Morocco to the Gulf"),
];

/// First words of company names, of each part its own.
#[rustfmt::skip]
pub(super) const TRAIN_STEMS: &[&str] = &[
    "Alderway", "Brightmoor", "Calloway", "Dunmere", "Eastbrook", "Fenwick", "Glenhaven", "Hallmont",
    "Ironbridge", "Jasperline", "Kestrel", "Larkfield", "Marlowe", "Northgate", "Oakhurst", "Pinecrest",
    "Quarrier", "Redfern", "Silverton", "Thornbury", "Umberline", "Valemont", "Westerly", "Yarrow",
];
#[rustfmt::skip]
pub(super) const DEV_STEMS: &[&str] = &[
    "Ashcombe", "Birchwood", "Crestline", "Driftwood", "Elmstead", "Foxglove", "Greyrock", "Hawthorne",
    "Juniper", "Kingsford", "Lindenau", "Mossbank",
];
const SUFFIXES: &[&str] = &[
    "Industries , Inc .", "Group", "Holdings Corp .", "International", "& Co .", "Technologies , Inc .",
    "Partners Ltd .", "Global Corp .",
];

/// A company's name from the stems of one part.
pub(super) fn company(dice: &mut Dice, stems: &[&str]) -> String {
    format!("{} {}", dice.pick(stems), dice.pick(SUFFIXES))
}

/// Liabilities and allowances with the same movements: (label, phrase of a question).
pub(super) const RESERVES: &[(&str, &str)] = &[
    ("Allowance for doubtful accounts", "in the reserve against bad customer debts"),
    ("Product warranty liability", "in the reserve for repairs under guarantee"),
    ("Restructuring liability", "in the reserve for plant closures and severance"),
    ("Inventory valuation reserve", "in the reserve against obsolete stock"),
];

/// Kinds of share awards: (label, phrase of a question).
pub(super) const AWARDS: &[(&str, &str)] = &[
    ("restricted stock units", "under the plan that vests with time alone"),
    ("performance share units", "under the plan tied to business targets"),
];

/// Pension plans: (label, phrase of a question).
pub(super) const PENSIONS: &[(&str, &str)] =
    &[("U.S. plans", "for the domestic plans"), ("Non-U.S. plans", "for the plans abroad")];

/// Debt instruments: (label, phrase of a question).
pub(super) const LOANS: &[(&str, &str)] = &[
    ("Term loan", "under the bank loan with fixed instalments"),
    ("Senior notes", "on the bonds sold to investors"),
    ("Other debt", "on sundry credit"),
];

/// Kinds of leases: (label, phrase of a question).
pub(super) const LEASES: &[(&str, &str)] = &[
    ("Operating leases", "under rental contracts without transfer of ownership"),
    ("Finance leases", "under hire-purchase contracts"),
];

/// Cost lines that share-based compensation is charged to: (label, phrase of a question).
pub(super) const COST_LINES: &[(&str, &str)] = &[
    ("Cost of revenue", "charged to production"),
    ("Research and development", "charged to new product work"),
    ("Selling , general and administrative", "charged to the sales force and head office"),
];

/// What staff do: (label, phrase of a question).
pub(super) const FUNCTIONS: &[(&str, &str)] = &[
    ("Manufacturing and operations", "in the factories"),
    ("Research and development", "in the laboratories"),
    ("Sales and marketing", "in selling and advertising"),
    ("General and administrative", "in head office duties"),
];
