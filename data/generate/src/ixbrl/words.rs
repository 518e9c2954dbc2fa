//! Names of concepts and members as words.

/// The words of a name in the taxonomies' camel case: `USTreasuryNotes12Months` is `US`,
/// `Treasury`, `Notes`, `12`, `Months`. Whatever is no letter or digit sets words apart. No word is
/// empty; a name without letters and digits has none.
pub(super) fn split(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for (at, &c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| chars.get(before));
        if before.is_some_and(|&before| begins_word(before, c, &chars[at + 1..])) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        word.push(c);
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    let mut words: Vec<String> = words.into_iter().flat_map(unglued).collect();
    // A name cannot begin with a digit: `A2022RestructuringMember` is the restructuring of 2022.
    let is_year = |word: &String| word.len() >= 2 && word.bytes().all(|b| b.is_ascii_digit());
    if words.len() >= 2 && words[0] == "A" && is_year(&words[1]) {
        words.remove(0);
    }
    words
}

/// Small words that filers forget to begin with a capital: `Subscriptionand`, `Lossof`.
fn unglued(word: String) -> Vec<String> {
    const WHOLE: &[&str] =
        &["land", "brand", "demand", "thousand", "island", "expand", "command", "hand", "stand", "understand", "proof"];
    const WHOLE_OF: &[&str] = &["thereof", "whereof", "hereof", "roof"];
    let lower = word.to_lowercase();
    let whole = WHOLE.iter().any(|end| lower.ends_with(end)) || WHOLE_OF.contains(&lower.as_str());
    for small in ["and", "of"] {
        if let Some(rest) = word.strip_suffix(small)
            && rest.chars().count() >= 4
            && !whole
        {
            return vec![rest.to_owned(), small.to_owned()];
        }
    }
    vec![word]
}

/// Whether a word begins at `c`.
fn begins_word(before: char, c: char, after: &[char]) -> bool {
    if before.is_numeric() != c.is_numeric() {
        return true;
    }
    if !c.is_uppercase() {
        return false;
    }
    if !before.is_uppercase() {
        return true;
    }
    // The last capital of a row belongs to the word that follows, unless all that follows is the s
    // of a plural: `USTreasury`, `RSUs`.
    match after {
        [next, rest @ ..] if next.is_lowercase() => {
            !(*next == 's' && rest.first().is_none_or(|c| c.is_uppercase() || !c.is_alphanumeric()))
        }
        _ => false,
    }
}

/// Whether a word is an abbreviation: capitals alone, two or more, with the s of a plural or without.
fn is_abbreviation(word: &str) -> bool {
    let capitals = word.strip_suffix('s').unwrap_or(word);
    capitals.chars().count() >= 2 && capitals.chars().all(char::is_uppercase)
}

/// A word within a sentence: in small letters unless it is an abbreviation.
fn lower(word: &str) -> String {
    if is_abbreviation(word) { word.to_owned() } else { word.to_lowercase() }
}

/// The name after its prefix: `Revenues` of `us-gaap:Revenues`.
pub(super) fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// The longest concept name that people would say.
const MOST_WORDS: usize = 12;
/// A word beyond it is several that were written as one.
const LONGEST_WORD: usize = 17;

/// A concept as people name it: its words without what only matters to taxonomies. `None` for
/// names that nobody would say: too long, or several words written as one.
pub(super) fn concept(name: &str) -> Option<String> {
    let mut words = split(local(name));
    // Another version of a concept that there was before.
    if !words.is_empty() && words.last().is_some_and(|word| matches!(word.as_str(), "1" | "2")) {
        words.pop();
    }
    let words: Vec<String> = words.iter().map(|word| lower(word)).collect();
    let mut text = format!(" {} ", words.join(" "));
    for (long, short) in SHORTER {
        let (long, short) = (format!(" {long} "), if short.is_empty() { " ".into() } else { format!(" {short} ") });
        text = text.replace(&long, &short);
    }
    let mut text = kind_first(text.trim());
    if let Some(rest) = text.strip_prefix("business combination acquired ") {
        text = format!("{rest} acquired in business combinations");
    }
    let text = measure_first(&once(&text));
    let count = text.split_whitespace().count();
    let readable = text.split([' ', '-']).all(|word| word.chars().count() <= LONGEST_WORD);
    (count > 0 && count <= MOST_WORDS && readable).then_some(text)
}

/// `accounts receivable net current` is said as `current accounts receivable, net`.
fn kind_first(text: &str) -> String {
    let mut text = text.to_owned();
    let mut front = Vec::new();
    for kind in ["current", "noncurrent", "gross"] {
        if let Some(rest) = text.strip_suffix(kind).and_then(|rest| rest.strip_suffix(' ')) {
            // "less current" and the like name something else.
            if !rest.ends_with("and") && !rest.ends_with("or") {
                text = rest.to_owned();
                front.push(kind);
            }
        }
    }
    if let Some(rest) = text.strip_suffix(" net") {
        text = format!("{rest}, net");
    }
    // `other assets noncurrent` are other noncurrent assets.
    let (sort, rest) = text.split_once(' ').filter(|(first, _)| *first == "other").unwrap_or(("", &text));
    let words = Some(sort).filter(|sort| !sort.is_empty()).into_iter().chain(front).chain([rest]);
    words.collect::<Vec<_>>().join(" ")
}

/// Words said twice in a row are said once: `intangible assets intangible assets`.
fn once(text: &str) -> String {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    for length in (1..=3).rev() {
        let mut at = 0;
        while at + 2 * length <= words.len() {
            if words[at..at + length] == words[at + length..at + 2 * length] {
                words.drain(at..at + length);
            } else {
                at += 1;
            }
        }
    }
    words.join(" ")
}

/// What is measured of a thing is said before it: `options granted weighted-average exercise price`
/// is the weighted-average exercise price of options granted.
fn measure_first(text: &str) -> String {
    const MEASURES: &[&str] = &[
        "weighted-average exercise price",
        "weighted-average grant date fair value",
        "weighted-average remaining contractual term",
        "weighted-average intrinsic value",
        "aggregate intrinsic value",
        "total intrinsic value",
        "total fair value",
        "intrinsic value",
        "accumulated loss",
        "accumulated gain",
        "amortized cost basis",
        "amortized cost",
        "valuation allowance",
        "accumulated amortization",
    ];
    for measure in MEASURES {
        if let Some(of) = text.strip_suffix(measure).and_then(|rest| rest.strip_suffix(' ')) {
            return format!("{measure} of {of}");
        }
    }
    for sort in ["deferred tax assets", "deferred tax liabilities"] {
        if let Some(rest) = text.strip_prefix(sort).and_then(|rest| rest.strip_prefix(' '))
            && !["for", "net", "gross", "or", "of", "and", "other"]
                .iter()
                .any(|word| rest.split(' ').next() == Some(word))
        {
            return format!("{sort} for {rest}");
        }
    }
    text.to_owned()
}

/// What concepts' names say at length, in the order in which it is shortened. Blank: left out.
const SHORTER: &[(&str, &str)] = &[
    // What only distinguishes a concept from its neighbours in the taxonomy.
    ("extraordinary items noncontrolling interest", ""),
    ("minority interest and income loss from equity method investments", ""),
    ("available for sale securities debt securities", "available for sale debt securities"),
    ("available for sale securities debt", "available for sale debt securities"),
    ("debt securities available for sale", "available for sale debt securities"),
    ("share based compensation arrangement by share based payment award", ""),
    ("share based compensation arrangements by share based payment award", ""),
    ("equity instruments other than options", "awards"),
    ("non option equity instruments", "awards"),
    ("including portion attributable to noncontrolling interest", "including noncontrolling interests"),
    ("portion attributable to parent", "attributable to the parent"),
    ("portion attributable to noncontrolling interest", "attributable to noncontrolling interests"),
    ("attributable to parent", "attributable to the parent"),
    ("recognized identifiable assets acquired and liabilities assumed", "acquired"),
    ("finite lived intangible assets amortization expense", "expected amortization of intangible assets"),
    ("lessee operating lease liability payments", "operating lease payments"),
    ("lessee operating lease liability to be paid", "operating lease payments"),
    ("lessee operating lease liability", "operating lease liability"),
    ("effective income tax rate reconciliation", "effective tax rate effect of"),
    ("income tax reconciliation", "income tax effect of"),
    ("at federal statutory income tax rate", "the federal statutory rate"),
    ("tax rate effect of percent", "effective tax rate"),
    ("continuous unrealized loss position", "in an unrealized loss position"),
    ("fair value disclosure", "at fair value"),
    ("fair value of derivative", "fair value"),
    ("at carrying value", ""),
    // The question says which.
    ("in period", ""),
    ("during period", ""),
    ("intangible assets net excluding goodwill", "net intangible assets other than goodwill"),
    ("intangible assets gross excluding goodwill", "gross intangible assets other than goodwill"),
    ("excluding goodwill", "other than goodwill"),
    ("debt instrument carrying amount", "carrying amount of debt"),
    ("debt instrument face amount", "face amount of debt"),
    ("debt instrument interest rate effective percentage", "effective interest rate of debt"),
    ("debt instrument unamortized discount", "unamortized discount on debt"),
    ("due year", "due in year"),
    ("paid year", "paid in year"),
    ("intangible assets year", "intangible assets in year"),
    ("due next twelve months", "due in the next twelve months"),
    ("paid due", "due"),
    ("securities unrealized loss position", "securities in an unrealized loss position"),
    ("goodwill and intangible assets intangible assets", "intangible assets"),
    ("goodwill and intangible assets goodwill", "goodwill"),
    ("deferred tax assets tax deferred expense", "deferred tax assets for"),
    ("compensation and benefits share based compensation cost", "share based compensation"),
    // Amounts of either sign.
    ("income loss", "income"),
    ("profit loss", "profit"),
    ("earnings loss", "earnings"),
    ("gain loss", "gain or loss"),
    ("gains losses", "gains and losses"),
    ("loss gain", "loss or gain"),
    ("income expense", "income or expense"),
    ("expense benefit", "expense"),
    ("expense income", "expense"),
    ("cost benefit", "cost"),
    ("cost credit", "cost"),
    ("benefit expense", "benefit"),
    ("provided by used in", "from"),
    ("payments for proceeds from", "net payments for"),
    ("proceeds from payments for", "net proceeds from"),
    ("proceeds from repayments of", "net proceeds from"),
    ("payments to acquire", "payments for"),
    ("retained earnings accumulated deficit", "retained earnings"),
    ("period increase decrease", "change"),
    ("increase decrease in", "change in"),
    ("increase decrease", "change"),
    ("assets liabilities net", "assets or liabilities, net"),
    ("assets liabilities", "assets or liabilities"),
    ("tax assets net", "tax assets, net"),
    ("asset liability", "asset or liability"),
    // Words that belong together.
    ("property plant and equipment", "property, plant and equipment"),
    ("selling general and administrative", "selling, general and administrative"),
    ("depreciation depletion and amortization", "depreciation, depletion and amortization"),
    ("depreciation amortization and", "depreciation, amortization and"),
    (
        "cash cash equivalents restricted cash and restricted cash equivalents",
        "cash, cash equivalents and restricted cash",
    ),
    ("including exchange rate effect", ""),
    ("excluding exchange rate effect", "before exchange rate effects"),
    ("allocated share based", "share based"),
    ("employee related", "employee-related"),
    ("available for sale", "available-for-sale"),
    ("held to maturity", "held-to-maturity"),
    ("right of use", "right-of-use"),
    ("share based", "share-based"),
    ("stock based", "stock-based"),
    ("long term", "long-term"),
    ("longterm", "long-term"),
    ("short term", "short-term"),
    ("long lived", "long-lived"),
    ("finite lived", "finite-lived"),
    ("indefinite lived", "indefinite-lived"),
    ("non us", "non-US"),
    ("u s", "US"),
    ("us", "US"),
    ("stockholders equity", "stockholders' equity"),
    ("earnings per share basic and diluted", "basic and diluted earnings per share"),
    ("earnings per share basic", "basic earnings per share"),
    ("earnings per share diluted", "diluted earnings per share"),
    ("weighted average number of shares outstanding basic", "weighted average basic shares outstanding"),
    ("weighted average number of diluted shares outstanding", "weighted average diluted shares outstanding"),
    ("weighted average", "weighted-average"),
];

/// Other names of common concepts, by the local name. One that two concepts of a filing share is
/// not used.
pub(super) fn plain_names(name: &str) -> &'static [&'static str] {
    let local = local(name);
    PLAIN.iter().find(|(concept, _)| *concept == local).map_or(&[], |(_, names)| names)
}

const PLAIN: &[(&str, &[&str])] = &[
    ("RevenueFromContractWithCustomerExcludingAssessedTax", &["revenue", "sales", "net sales"]),
    ("RevenueFromContractWithCustomerIncludingAssessedTax", &["revenue", "sales"]),
    ("Revenues", &["total revenue", "revenue"]),
    ("CostOfRevenue", &["cost of sales"]),
    ("CostOfGoodsAndServicesSold", &["cost of sales", "cost of goods sold"]),
    ("NetIncomeLoss", &["net income", "net earnings", "profit after tax"]),
    ("ProfitLoss", &["net income including noncontrolling interests"]),
    ("OperatingIncomeLoss", &["operating income", "operating profit", "income from operations"]),
    (
        "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest",
        &["income before income taxes", "pre-tax income", "earnings before taxes"],
    ),
    ("IncomeTaxExpenseBenefit", &["income tax expense", "the provision for income taxes"]),
    ("EffectiveIncomeTaxRateContinuingOperations", &["the effective tax rate"]),
    ("ResearchAndDevelopmentExpense", &["research and development expense", "R&D expense"]),
    ("SellingGeneralAndAdministrativeExpense", &["SG&A expense"]),
    ("AllocatedShareBasedCompensationExpense", &["stock-based compensation expense"]),
    ("ShareBasedCompensation", &["stock-based compensation in the cash flow statement"]),
    ("NetCashProvidedByUsedInOperatingActivities", &["operating cash flow", "cash flow from operations"]),
    ("NetCashProvidedByUsedInInvestingActivities", &["cash flow from investing activities"]),
    ("NetCashProvidedByUsedInFinancingActivities", &["cash flow from financing activities"]),
    ("PaymentsToAcquirePropertyPlantAndEquipment", &["capital expenditures", "purchases of property and equipment"]),
    ("PaymentsForRepurchaseOfCommonStock", &["share repurchases", "cash spent on buying back stock"]),
    ("PaymentsOfDividends", &["dividends paid"]),
    ("PaymentsOfDividendsCommonStock", &["dividends paid on common stock"]),
    ("CommonStockDividendsPerShareDeclared", &["dividends declared per share"]),
    ("CashAndCashEquivalentsAtCarryingValue", &["cash and cash equivalents"]),
    ("AccountsReceivableNetCurrent", &["accounts receivable", "trade receivables"]),
    ("InventoryNet", &["inventories", "inventory"]),
    ("Assets", &["total assets"]),
    ("AssetsCurrent", &["total current assets", "current assets"]),
    ("Liabilities", &["total liabilities"]),
    ("LiabilitiesCurrent", &["total current liabilities", "current liabilities"]),
    ("LiabilitiesAndStockholdersEquity", &["total liabilities and equity"]),
    ("StockholdersEquity", &["shareholders' equity", "total equity of the shareholders"]),
    ("PropertyPlantAndEquipmentNet", &["net property and equipment"]),
    ("AccountsPayableCurrent", &["accounts payable"]),
    ("AccumulatedOtherComprehensiveIncomeLossNetOfTax", &["accumulated other comprehensive income or loss"]),
    ("OtherAssetsNoncurrent", &["other long-term assets"]),
    ("OtherLiabilitiesNoncurrent", &["other long-term liabilities"]),
    ("LongTermDebtNoncurrent", &["long-term debt, excluding the current part"]),
    ("OperatingLeaseRightOfUseAsset", &["operating lease right-of-use assets"]),
    ("EarningsPerShareBasic", &["basic EPS"]),
    ("EarningsPerShareDiluted", &["diluted EPS"]),
    ("CostsAndExpenses", &["total costs and expenses"]),
    ("OperatingExpenses", &["total operating expenses"]),
    ("InterestPaidNet", &["cash paid for interest"]),
    ("IncomeTaxesPaidNet", &["cash paid for income taxes"]),
    ("ComprehensiveIncomeNetOfTax", &["comprehensive income"]),
    ("UnrecognizedTaxBenefits", &["gross unrecognized tax benefits"]),
    ("DeferredTaxAssetsValuationAllowance", &["the valuation allowance on deferred tax assets"]),
    ("DepreciationDepletionAndAmortization", &["depreciation and amortization"]),
    ("NonoperatingIncomeExpense", &["non-operating income or expense"]),
    ("AmortizationOfIntangibleAssets", &["amortization of intangibles"]),
];

/// A member's words: those of the standard taxonomies in small letters, a company's own with its
/// capitals, for they are mostly names. `None` where it has none.
pub(super) fn member(name: &str) -> Option<String> {
    let own = !["us-gaap:", "srt:", "dei:", "ifrs-full:"].iter().any(|prefix| name.starts_with(prefix));
    let local = local(name);
    let local = ["Member", "Domain"].iter().find_map(|suffix| local.strip_suffix(suffix)).unwrap_or(local);
    if let Some((_, known)) = MEMBERS.iter().find(|(member, _)| *member == local) {
        return Some((*known).to_owned());
    }
    let words: Vec<String> = split(local)
        .iter()
        .map(|word| if own && !SMALL.contains(&word.to_lowercase().as_str()) { word.clone() } else { lower(word) })
        .collect();
    let readable = words.iter().all(|word| word.chars().count() <= LONGEST_WORD);
    let mut text = format!(" {} ", words.join(" "));
    for (long, short) in SHORTER_MEMBERS {
        text = text.replace(&format!(" {long} "), &format!(" {short} "));
    }
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let count = text.split(' ').count();
    (!text.is_empty() && count <= MOST_WORDS && readable).then_some(text)
}

/// Words that names keep small, and those that only say what sort of thing has the name.
const SMALL: &[&str] =
    &["and", "of", "the", "in", "for", "to", "by", "on", "with", "or", "due", "segment", "notes", "products", "plan"];

const SHORTER_MEMBERS: &[(&str, &str)] = &[
    ("RSU", ""),
    ("segment segment", "segment"),
    ("selling general and administrative", "selling, general and administrative"),
    ("us", "US"),
    ("non US", "non-US"),
    ("long term", "long-term"),
    ("short term", "short-term"),
    ("available for sale", "available-for-sale"),
    ("held to maturity", "held-to-maturity"),
    ("in process", "in-process"),
    ("non recourse", "non-recourse"),
    ("asset backed", "asset-backed"),
    ("mortgage backed", "mortgage-backed"),
    ("US states and political subdivisions", "US states and municipalities"),
    ("including portion attributable to noncontrolling interest", ""),
    ("parent", ""),
    ("defined benefit plan", ""),
    ("defined benefit plans", ""),
];

const MEMBERS: &[(&str, &str)] = &[
    ("PensionPlansDefinedBenefit", "defined benefit pension plans"),
    ("OtherPostretirementBenefitPlansDefinedBenefit", "other postretirement benefit plans"),
    ("FairValueInputsLevel1", "level 1"),
    ("FairValueInputsLevel2", "level 2"),
    ("FairValueInputsLevel3", "level 3"),
    ("FairValueInputsLevel12And3", "levels 1, 2 and 3"),
    ("CommonClassA", "class A common stock"),
    ("CommonClassB", "class B common stock"),
    ("CommonClassC", "class C common stock"),
    ("CorporateNonSegment", "corporate"),
    ("MaterialReconcilingItems", "reconciling items"),
    ("IntersegmentElimination", "intersegment eliminations"),
    ("AllOtherSegments", "all other segments"),
    ("OperatingSegments", "the operating segments"),
    ("ReportableSegmentAggregationBeforeOtherOperatingSegment", "the reportable segments"),
    ("ReportableSegment", "the reportable segments"),
    ("ParentCompany", "the parent company"),
    ("ForeignExchangeContract", "foreign exchange contracts"),
    ("ForeignExchangeForward", "foreign exchange forwards"),
    ("InterestRateContract", "interest rate contracts"),
    ("InterestRateSwap", "interest rate swaps"),
    ("CrossCurrencyInterestRateContract", "cross-currency interest rate contracts"),
    ("CashFlowHedging", "cash flow hedges"),
    ("FairValueHedging", "fair value hedges"),
    ("NetInvestmentHedging", "net investment hedges"),
    ("Product", "products"),
    ("Service", "services"),
    ("Nondesignated", "derivatives not designated as hedges"),
    ("DesignatedAsHedgingInstrument", "derivatives designated as hedges"),
    ("EmployeeStockOption", "stock options"),
    ("EmployeeStock", "employee stock purchases"),
    ("PerformanceShares", "performance shares"),
    ("EMEA", "Europe, the Middle East and Africa"),
    ("AsiaPacific", "Asia Pacific"),
    ("Europe", "Europe"),
    ("Asia", "Asia"),
    ("Americas", "the Americas"),
    ("NorthAmerica", "North America"),
    ("SouthAmerica", "South America"),
    ("LatinAmerica", "Latin America"),
    ("NonUs", "countries other than the United States"),
    ("USGovernmentAgenciesDebtSecurities", "US government agency securities"),
    ("USTreasuryAndGovernment", "US government securities"),
    ("CommonStockIncludingAdditionalPaidInCapital", "common stock and additional paid-in capital"),
    ("TreasuryStockCommon", "treasury stock"),
    ("AccumulatedTranslationAdjustment", "accumulated foreign currency translation adjustments"),
];

/// The country of a member such as `country:US`; `None` for codes that are not in the list.
pub(super) fn country(name: &str) -> Option<&'static str> {
    let code = name.strip_prefix("country:")?;
    COUNTRIES.iter().find(|(known, _)| *known == code).map(|(_, country)| *country)
}

const COUNTRIES: &[(&str, &str)] = &[
    ("US", "the United States"),
    ("CN", "China"),
    ("GB", "the United Kingdom"),
    ("DE", "Germany"),
    ("FR", "France"),
    ("JP", "Japan"),
    ("CA", "Canada"),
    ("MX", "Mexico"),
    ("BR", "Brazil"),
    ("IN", "India"),
    ("IE", "Ireland"),
    ("IL", "Israel"),
    ("IT", "Italy"),
    ("ES", "Spain"),
    ("NL", "the Netherlands"),
    ("CH", "Switzerland"),
    ("SE", "Sweden"),
    ("AU", "Australia"),
    ("KR", "South Korea"),
    ("TW", "Taiwan"),
    ("SG", "Singapore"),
    ("HK", "Hong Kong"),
    ("PR", "Puerto Rico"),
    ("BE", "Belgium"),
    ("AT", "Austria"),
    ("DK", "Denmark"),
    ("NO", "Norway"),
    ("FI", "Finland"),
    ("PL", "Poland"),
    ("RU", "Russia"),
    ("TR", "Turkey"),
    ("ZA", "South Africa"),
    ("AR", "Argentina"),
    ("CL", "Chile"),
    ("CO", "Colombia"),
    ("ID", "Indonesia"),
    ("MY", "Malaysia"),
    ("TH", "Thailand"),
    ("VN", "Vietnam"),
    ("PH", "the Philippines"),
    ("SA", "Saudi Arabia"),
    ("AE", "the United Arab Emirates"),
    ("NZ", "New Zealand"),
    ("LU", "Luxembourg"),
    ("BM", "Bermuda"),
];

/// Whether the thing that a name names is several: by the last word before the first preposition.
pub(super) fn is_plural(name: &str) -> bool {
    const PREPOSITIONS: &[&str] = &[
        "of",
        "from",
        "in",
        "for",
        "to",
        "at",
        "by",
        "with",
        "on",
        "per",
        "before",
        "or",
        "due",
        "after",
        "other",
        "including",
        "excluding",
        "attributable",
        "resulting",
        "net",
        "recognized",
        "outstanding",
        "acquired",
        "paid",
        "granted",
        "vested",
        "forfeited",
        "issued",
        "arising",
        "under",
        "expected",
        "held",
    ];
    // A preposition that begins a name ends nothing: `other assets`, `net sales`.
    let mut words = name.split_whitespace().skip_while(|word| PREPOSITIONS.contains(word));
    let first = words.next().unwrap_or(name);
    let head = words.take_while(|word| !PREPOSITIONS.contains(word)).last().unwrap_or(first);
    let head = head.trim_end_matches([',', ':']);
    head.ends_with('s') && !head.ends_with("ss")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_split_at_capitals_digits_and_abbreviations() {
        let words = |name: &str| split(name).join(" ");
        assert_eq!(words("USTreasuryNotes12MonthsOrLonger"), "US Treasury Notes 12 Months Or Longer");
        assert_eq!(words("RSUsGranted"), "RSUs Granted");
        assert_eq!(words("A2022RestructuringMember"), "2022 Restructuring Member");
        assert_eq!(words("OwnDataCompanyLtd.Member"), "Own Data Company Ltd Member");
        assert_eq!(words("FairValueInputsLevel2"), "Fair Value Inputs Level 2");
        assert_eq!(words("SubscriptionandSupport"), "Subscription and Support");
        assert_eq!(words("DemandThereof"), "Demand Thereof");
        assert_eq!(words("_"), "");
    }

    #[test]
    fn concepts_are_named_as_people_say() {
        for (name, words) in [
            (
                "us-gaap:RevenueFromContractWithCustomerExcludingAssessedTax",
                "revenue from contract with customer excluding assessed tax",
            ),
            (
                "us-gaap:IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest",
                "income from continuing operations before income taxes",
            ),
            ("us-gaap:AccountsReceivableNetCurrent", "current accounts receivable, net"),
            ("us-gaap:NetCashProvidedByUsedInOperatingActivities", "net cash from operating activities"),
            ("us-gaap:IncreaseDecreaseInInventories", "change in inventories"),
            ("us-gaap:PropertyPlantAndEquipmentGross", "gross property, plant and equipment"),
            ("us-gaap:EffectiveIncomeTaxRateReconciliationFdiiPercent", "effective tax rate effect of fdii percent"),
            ("us-gaap:StockRepurchaseProgramAuthorizedAmount1", "stock repurchase program authorized amount"),
            ("us-gaap:EarningsPerShareDiluted", "diluted earnings per share"),
            (
                "us-gaap:DeferredTaxLiabilitiesGoodwillAndIntangibleAssetsIntangibleAssets",
                "deferred tax liabilities for intangible assets",
            ),
            (
                "us-gaap:ShareBasedCompensationArrangementByShareBasedPaymentAwardOptionsExercisesInPeriodTotalIntrinsicValue",
                "total intrinsic value of options exercises",
            ),
            ("us-gaap:OtherAssetsNoncurrent", "other noncurrent assets"),
        ] {
            assert_eq!(concept(name).as_deref(), Some(words));
        }
        assert_eq!(concept("adbe:Changeintreasurystockvalueduetodeferredcompensationplan"), None);
    }

    #[test]
    fn members_keep_a_companys_names() {
        let words = |name: &str| member(name).unwrap_or_default();
        assert_eq!(words("us-gaap:ProductMember"), "products");
        assert_eq!(words("us-gaap:LandMember"), "land");
        assert_eq!(words("us-gaap:USTreasurySecuritiesMember"), "US treasury securities");
        assert_eq!(words("goog:GoogleCloudMember"), "Google Cloud");
        assert_eq!(words("nke:NorthAmericaSegmentMember"), "North America segment");
        assert_eq!(words("abbv:HUMIRAMember"), "HUMIRA");
        assert_eq!(country("country:US"), Some("the United States"));
        assert_eq!(country("country:XX"), None);
    }

    #[test]
    fn heads_tell_the_number() {
        for (name, plural) in [
            ("revenues", true),
            ("net income", false),
            ("cost of goods sold", false),
            ("payments for property", true),
            ("accounts receivable, net", false),
            ("other assets", true),
            ("operating lease payments due in year two", true),
            ("loss", false),
        ] {
            assert_eq!(is_plural(name), plural, "{name}");
        }
    }

    proptest! {
        #[test]
        fn any_name_has_words_and_none_is_empty(name in ".{0,80}") {
            let words = split(&name);
            prop_assert!(words.iter().all(|word| !word.is_empty() && word.chars().all(char::is_alphanumeric)));
            prop_assert_eq!(words.is_empty(), !name.contains(char::is_alphanumeric));
            for text in [concept(&name), member(&name)].into_iter().flatten() {
                prop_assert!(!text.trim().is_empty() && !text.contains("  "), "{:?}", text);
            }
            is_plural(&name);
        }

        /// No letter gets lost or moves.
        #[test]
        fn words_are_the_name(name in "([A-Z]{1,4}[a-z]{0,9}|[0-9]{1,3}){0,9}") {
            let joined = split(&name).concat();
            let with_a = String::from("A") + &joined;
            prop_assert!(joined == name || with_a == name);
        }
    }
}
