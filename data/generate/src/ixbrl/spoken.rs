//! How analysts ask for an amount: by what is done with it. One spends on research, owes debt, holds inventory, earns income.

use super::templates::Named;

/// What is done with an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Done {
    Spent,
    Paid,
    Earned,
    Sold,
    Owed,
    Held,
    Lost,
}

/// Words at a name's end, or at its head before a preposition, and what is done with such an amount.
const ENDS: &[(&str, Done)] = &[
    ("expense", Done::Spent),
    ("expenses", Done::Spent),
    ("cost", Done::Spent),
    ("costs", Done::Spent),
    ("expenditures", Done::Paid),
    ("repurchases", Done::Paid),
    ("payments", Done::Paid),
    ("paid", Done::Paid),
    ("income", Done::Earned),
    ("profit", Done::Earned),
    ("earnings", Done::Earned),
    ("gain", Done::Earned),
    ("revenue", Done::Sold),
    ("revenues", Done::Sold),
    ("sales", Done::Sold),
    ("debt", Done::Owed),
    ("payable", Done::Owed),
    ("liability", Done::Owed),
    ("liabilities", Done::Owed),
    ("borrowings", Done::Owed),
    ("obligation", Done::Owed),
    ("asset", Done::Held),
    ("assets", Done::Held),
    ("cash", Done::Held),
    ("equivalents", Done::Held),
    ("securities", Done::Held),
    ("inventory", Done::Held),
    ("inventories", Done::Held),
    ("receivable", Done::Held),
    ("goodwill", Done::Held),
    ("equipment", Done::Held),
    ("loss", Done::Lost),
    ("losses", Done::Lost),
    ("impairment", Done::Lost),
];

/// Words after which a name tells something else of what it begins with.
const PREPOSITIONS: &[&str] = &["of", "from", "in", "for", "to", "at", "by", "with", "on", "before", "per", "after"];

/// The ways; none where the name does not tell what is done with it.
pub(super) fn amount(a: &Named) -> Vec<String> {
    let (owner, name) = match a.name.split_once("'s ") {
        Some((owner, name)) if owner.split(' ').count() <= 4 && !owner.is_empty() => (owner, name),
        _ => ("the company", a.name.as_str()),
    };
    let name = name.trim_start_matches("the ");
    let head: Vec<&str> = name.split(' ').take_while(|word| !PREPOSITIONS.contains(word)).collect();
    let Some((last, before)) = head.split_last() else { return Vec::new() };
    let Some((_, done)) = ENDS.iter().find(|(end, _)| end == last) else { return Vec::new() };
    let time = a.time();
    let thing = if a.members.is_empty() { name.to_owned() } else { format!("{name} {}", a.members) };
    // Without the word that says the same as the verb: `research and development`.
    let rest = name.get(head.join(" ").len()..).unwrap_or_default();
    let bare = format!("{}{rest} {}", before.join(" "), a.members);
    let bare = bare.trim();
    let mut ways = match done {
        Done::Spent => vec![
            format!("What {thing} did {owner} run up {time}?"),
            format!("How big was {owner}'s {thing} bill {time}?"),
        ],
        Done::Paid => vec![
            format!("How much went into {thing} at {owner} {time}?"),
            format!("How much cash did {owner} put into {thing} {time}?"),
            format!("What was spent on {thing} by {owner} {time}?"),
        ],
        Done::Earned => vec![
            format!("How much {thing} did {owner} make {time}?"),
            format!("What {thing} did {owner} post {time}?"),
            format!("How much {thing} did {owner} turn in {time}?"),
        ],
        Done::Sold => vec![
            format!("How much {thing} did {owner} take in {time}?"),
            format!("What {thing} did {owner} bring in {time}?"),
            format!("How much {thing} did {owner} book {time}?"),
        ],
        Done::Owed => vec![
            format!("How much did {owner} owe in {thing} {time}?"),
            format!("What {thing} stood on {owner}'s books {time}?"),
            format!("How large was the {thing} that {owner} carried {time}?"),
        ],
        Done::Held => vec![
            format!("How much {thing} did {owner} hold {time}?"),
            format!("What was {owner}'s {thing} carried at {time}?"),
            format!("How much {thing} was on {owner}'s balance sheet {time}?"),
        ],
        Done::Lost => vec![
            format!("What {thing} did {owner} take {time}?"),
            format!("How big was the {thing} that {owner} booked {time}?"),
        ],
    };
    // `accrued expenses` are not spent on something accrued, and one adjective is no thing.
    if *done == Done::Spent && bare.split(' ').count() >= 2 && before.first() != Some(&"accrued") {
        ways.push(format!("How much did {owner} spend on {bare} {time}?"));
        ways.push(format!("What did {owner} spend on {bare} {time}?"));
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ways(name: &str, members: &str) -> Vec<String> {
        let named = Named { name: name.into(), members: members.into(), preposition: "in", when: "fiscal 2024".into() };
        amount(&named)
    }

    #[test]
    fn the_verb_takes_the_place_of_the_word_that_says_the_same() {
        let spent = ways("research and development expense", "");
        assert!(spent.contains(&"How much did the company spend on research and development in fiscal 2024?".into()));
        let owned = ways("Acme's inventory", "of the Paint segment");
        assert!(owned.contains(&"How much inventory of the Paint segment did Acme hold in fiscal 2024?".into()));
    }

    #[test]
    fn what_the_name_does_not_tell_is_asked_in_no_such_way() {
        assert_eq!(ways("effective tax rate", ""), Vec::<String>::new());
        assert_eq!(ways("", ""), Vec::<String>::new());
        // What counts is the head: these are assets, not income.
        assert!(ways("assets from deferred income", "").iter().any(|way| way.contains(" hold ")));
        assert!(!ways("accrued expense", "").iter().any(|way| way.contains(" spend on ")));
    }
}
