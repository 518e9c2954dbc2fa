//! Names of concepts and members as words.

mod known;

use known::{COUNTRIES, MEMBERS, PLAIN, SHORTER, SHORTER_MEMBERS};

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

/// Other names of common concepts, by the local name. One that two concepts of a filing share is
/// not used.
pub(super) fn plain_names(name: &str) -> &'static [&'static str] {
    let local = local(name);
    PLAIN.iter().find(|(concept, _)| *concept == local).map_or(&[], |(_, names)| names)
}

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

/// The country of a member such as `country:US`; `None` for codes that are not in the list.
pub(super) fn country(name: &str) -> Option<&'static str> {
    let code = name.strip_prefix("country:")?;
    COUNTRIES.iter().find(|(known, _)| *known == code).map(|(_, country)| *country)
}

/// Whether the thing that a name names is several: by the last word before the first preposition.
pub(super) fn is_plural(name: &str) -> bool {
    #[rustfmt::skip]
    const PREPOSITIONS: &[&str] = &[
        "of", "from", "in", "for", "to", "at", "by", "with", "on", "per", "before", "or", "due", "after",
        "other", "including", "excluding", "attributable", "resulting", "net", "recognized", "outstanding",
        "acquired", "paid", "granted", "vested", "forfeited", "issued", "arising", "under", "expected", "held",
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
