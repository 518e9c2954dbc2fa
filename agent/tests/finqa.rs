//! FinQA's gold programs, run: `TABSEGNET_FINQA` names the folder that holds its train.json and dev.json.

use std::path::Path;

use rust_decimal::prelude::ToPrimitive as _;
use serde_json::Value;
use tabsegnet_agent::run::TextTable;
use tabsegnet_agent::{Outcome, Program};
use tabsegnet_test_support::{path_in, say};

#[test]
fn gold_programs_run_to_the_published_answers() {
    let name = "gold_programs_run_to_the_published_answers";
    let Some(folder) = path_in("TABSEGNET_FINQA", name, "the folder that holds FinQA's train.json and dev.json") else {
        return;
    };
    for part in ["train.json", "dev.json"] {
        let (right, all) = share(&folder.join(part));
        say(&format!("FinQA {part}: {right} of {all} gold programs run to exe_ans"));
        assert!(right * 100 >= all * 98, "{part}: {right} of {all}");
    }
}

fn share(file: &Path) -> (usize, usize) {
    let records: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let (mut right, mut all) = (0, 0);
    for record in &records {
        let qa = &record["qa"];
        if qa["exe_ans"].is_null() {
            continue;
        }
        all += 1;
        let table: Vec<Vec<String>> = serde_json::from_value(record["table"].clone()).unwrap();
        let text = qa["program"].as_str().unwrap();
        let outcome = text.parse::<Program>().map_err(|error| error.to_string());
        let outcome = outcome.and_then(|program| program.run(&TextTable(&table)).map_err(|error| error.to_string()));
        let fits = match (&outcome, &qa["exe_ans"]) {
            (Ok(Outcome::Number(number)), Value::Number(expected)) => {
                // Some are published rounded to five places, some in binary.
                let (found, expected) = (number.to_f64().unwrap(), expected.as_f64().unwrap());
                (found - expected).abs() <= 1e-5 + 1e-9 * expected.abs()
            }
            (Ok(outcome), Value::String(expected)) => outcome.to_string() == *expected,
            _ => false,
        };
        if !fits {
            say(&format!("{}: {text} gives {outcome:?}, published {}", record["id"], qa["exe_ans"]));
        }
        right += usize::from(fits);
    }
    (right, all)
}
