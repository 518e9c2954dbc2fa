use proptest::prelude::*;

use super::super::{Form, Operands};

fn read(question: &str) -> Option<(Form, Vec<String>)> {
    Operands::of(question).map(|of| (of.form, of.questions))
}

#[test]
fn two_things_at_one_time_are_read() {
    for (question, form, things) in [
        ("What did R&D come to as a share of sales in 2023?", Form::Share, ["R&D", "sales"]),
        (
            "What share of freight revenue came from intermodal in 2023?",
            Form::Share,
            ["freight revenue from intermodal", "freight revenue"],
        ),
        ("What portion of group costs did rents make up in 2023?", Form::Share, ["rents", "group costs"]),
        ("What's the ratio of assets to debt in 2023?", Form::Ratio, ["assets", "debt"]),
        (
            "What was interest income minus interest expense in 2023?",
            Form::Difference,
            ["interest income", "interest expense"],
        ),
        ("How much higher was revenue than cost in 2023?", Form::Difference, ["revenue", "cost"]),
        ("By how much did income exceed costs in 2023?", Form::Difference, ["income", "costs"]),
        ("How much did dividends and buybacks add up to in 2023?", Form::Sum, ["dividends", "buybacks"]),
        ("What did repurchases and dividends total in 2023?", Form::Sum, ["repurchases", "dividends"]),
        ("What percent of earnings was paid out as dividends in 2023?", Form::Share, ["dividends", "earnings"]),
        (
            "Out of every 100 dollars of sales, how many did it keep as gross profit in 2023?",
            Form::Share,
            ["it gross profit", "sales"],
        ),
        (
            "How many dollars of current assets for each dollar of current liabilities in 2023?",
            Form::Ratio,
            ["current assets", "current liabilities"],
        ),
        ("Décor plus Hardlines, what did the two lines sell in 2023?", Form::Sum, ["Décor", "Hardlines"]),
        (
            "Europe and Asia combined: what revenue did it get in 2023?",
            Form::Sum,
            ["revenue from Europe", "revenue from Asia"],
        ),
        ("Add up selling and marketing and rent in 2023.", Form::Sum, ["selling and marketing", "rent"]),
        ("Was R&D above selling expense in 2023?", Form::Greater { less: false }, ["R&D", "selling expense"]),
        ("Was debt less than equity in 2023?", Form::Greater { less: true }, ["debt", "equity"]),
        ("Which sold more in 2023, Vraylar or Botox?", Form::Larger { less: false }, ["Vraylar sales", "Botox sales"]),
    ] {
        let questions = things.map(|thing| format!("What was {thing} in 2023?"));
        assert_eq!(read(question), Some((form, questions.into())), "{question}");
    }
}

#[test]
fn one_thing_at_several_times_is_read() {
    for (question, form, questions) in [
        (
            "By what percentage did the top line grow in 2023?",
            Form::PercentChange,
            &["What was top line in 2023?", "What was top line in 2022?"][..],
        ),
        (
            "How fast did revenue grow in Asia in fiscal 2023?",
            Form::PercentChange,
            &["What was revenue in Asia in fiscal 2023?", "What was revenue in Asia in fiscal 2022?"],
        ),
        (
            "What was the year-on-year growth of Rinvoq in 2024?",
            Form::PercentChange,
            &["What was Rinvoq in 2024?", "What was Rinvoq in 2023?"],
        ),
        (
            "How much bigger was cash at the end of 2023 than at the end of 2024?",
            Form::Difference,
            &["What was cash at the end of 2023?", "What was cash at the end of 2024?"],
        ),
        (
            "How much more did Meta pay for taxes in 2024 than in 2023?",
            Form::Difference,
            &["How much did Meta pay for taxes in 2024?", "How much did Meta pay for taxes in 2023?"],
        ),
        (
            "By how many million dollars did lease cost rise between 2022 and 2023?",
            Form::Difference,
            &["What was lease cost in 2023?", "What was lease cost in 2022?"],
        ),
        (
            "Did debt go up in 2024?",
            Form::Greater { less: false },
            &["What was debt in 2024?", "What was debt in 2023?"],
        ),
        (
            "Was capital lower in 2024 than the year before?",
            Form::Greater { less: true },
            &["What was capital in 2024?", "What was capital in 2023?"],
        ),
        (
            "Did the operating ratio improve in 2024?",
            Form::Greater { less: true },
            &["What was operating ratio in 2024?", "What was operating ratio in 2023?"],
        ),
        (
            "What were average restructuring charges per year over fiscal 2022 to 2024?",
            Form::Average,
            &[
                "What were restructuring charges in fiscal 2022?",
                "What were restructuring charges in fiscal 2023?",
                "What were restructuring charges in fiscal 2024?",
            ],
        ),
        (
            "How many percent did Network sales lose in 2024?",
            Form::PercentChange,
            &["What was Network sales in 2024?", "What was Network sales in 2023?"],
        ),
        (
            "What was sales and marketing on average over fiscal 2023 to 2024?",
            Form::Average,
            &["What was sales and marketing in fiscal 2023?", "What was sales and marketing in fiscal 2024?"],
        ),
        (
            "How much did it lose over 2022, 2023 and 2024?",
            Form::Sum,
            &["How much did it lose in 2022?", "How much did it lose in 2023?", "How much did it lose in 2024?"],
        ),
        (
            "How much was spent on capex in 2023 and 2024 taken together?",
            Form::Sum,
            &["How much was spent on capex in 2023?", "How much was spent on capex in 2024?"],
        ),
    ] {
        let questions = questions.iter().map(|question| (*question).to_owned()).collect();
        assert_eq!(read(question), Some((form, questions)), "{question}");
    }
}

#[test]
fn what_names_one_number_is_left_alone() {
    for question in [
        "What was total revenue and other income in 2024?",
        "What was the total cost in 2024?",
        "What was the average price in 2024?",
        "Did sales exceed $5 million in 2024?",
        "Did net income rise by more than 5% in 2024?",
        "How many people work there, more or less?",
        "Which segment grew most in 2024?",
        "Why did sales fall by less than costs in 2024?",
        "What is the difference between 2023 and 2024?",
        "How much debt is there at the end of 2024, short and long term together?",
        "",
    ] {
        assert_eq!(read(question), None, "{question}");
    }
}

proptest! {
    #[test]
    fn any_text_can_be_read(text in "\\PC{0,20}(how much did|what share of|which)?\\PC{0,20}(2024|and|or|than|, )?\\PC{0,9}") {
        Operands::of(&text);
    }
}

#[test]
fn pay_per_head_is_pay_by_people() {
    let questions = ["What was Pay in 2023?".to_owned(), "How many employees are there in 2023?".to_owned()];
    assert_eq!(read("Pay per head in 2023?"), Some((Form::Each, questions.into())));
}

#[test]
fn a_measure_of_a_part_is_of_numbers_of_that_part() {
    let of = |question: &str| {
        let of = Operands::of_names(Form::Share, ["operating income", "sales"], question, "operating margin");
        of.map(|of| of.questions)
    };
    let of_each = |things: [&str; 2]| Some(things.map(|thing| format!("What was {thing} in 2023?")).to_vec());
    assert_eq!(of("What was the operating margin in 2023?"), of_each(["operating income", "sales"]));
    assert_eq!(of("Cloud's operating margin in 2023"), of_each(["Cloud's operating income", "Cloud's sales"]));
    assert_eq!(of("Operating margin of Cloud in 2023"), of_each(["operating income of Cloud", "sales of Cloud"]));
    assert_eq!(of("Operating margin (income by sales) in 2023"), of_each(["operating income", "sales"]));
    assert_eq!(of("Which part has the best operating margin in 2023?"), None);
}
