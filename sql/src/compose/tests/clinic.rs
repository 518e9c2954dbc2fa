//! Words that turn what is said round, and words of values and names that no statement may leave out.

use super::{Opened, open};

/// Thirteen patients, of whom two share a name and had two visits each; Ivo Lark had three.
fn clinic() -> Opened {
    let names = ["Ann Lund", "Ann Lund", "Ivo Lark", "Bo Ek", "Cy Dahl", "Di Moss", "Ed Vale", "Fay Rud", "Gus Wren"];
    let more = ["Hal Fox", "Ida Bly", "Jon Pike", "Kit Orr"];
    let patients = names.iter().chain(&more).zip(1..).map(|(name, id)| format!("({id}, '{name}', {})", id % 2));
    let patients = patients.collect::<Vec<String>>().join(", ");
    open(&format!(
        "CREATE TABLE doctors (doctor_id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, is_active INTEGER, salary INTEGER);
         CREATE TABLE patients (patient_id INTEGER PRIMARY KEY, full_name TEXT, newsletter_opt_in INTEGER);
         CREATE TABLE visits (visit_id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patients, visit_date TEXT,
             delay_minutes INTEGER, head_doctor_id INTEGER REFERENCES doctors);
         CREATE TABLE diagnoses (diagnosis_id INTEGER PRIMARY KEY, visit_id INTEGER REFERENCES visits, description TEXT);
         INSERT INTO doctors VALUES (1, 'Lea', 'Hart', 1, 90), (2, 'Max', 'Berg', 0, 80), (3, 'Nia', 'Cole', 1, 70);
         INSERT INTO patients VALUES {patients};
         INSERT INTO visits VALUES (1, 1, '2024-05-01', 5, 1), (2, 1, '2024-05-02', 130, 1), (3, 2, '2024-05-03', 3, 2),
             (4, 2, '2024-05-04', 0, 2), (5, 3, '2024-05-05', 200, 3), (6, 3, '2024-05-06', 1, 3), (7, 3, '2024-05-07', 2, 1);
         INSERT INTO diagnoses VALUES (1, 1, 'Asthma'), (2, 3, 'Asthma'), (3, 5, 'Migraine');"
    ))
}

#[test]
fn regression_no_longer_and_on_or_after_are_not_the_contrary() {
    let opened = clinic();
    opened.answers("How many doctors are no longer active?", &["1"]);
    opened.answers("How many doctors are active?", &["2"]);
    opened.answers("How many visits were on or after 3 May 2024?", &["5"]);
    opened.answers("How many visits were after 3 May 2024?", &["4"]);
    opened.answers("How many visits were on or before 3 May 2024?", &["3"]);
}

#[test]
fn numbers_are_read_in_the_units_of_their_columns() {
    clinic().answers("How many visits have a delay of more than two hours?", &["2"]);
}

#[test]
fn regression_people_who_share_a_name_are_not_taken_together() {
    let found = clinic().compose("Which patient had the most visits?");
    let of_rows =
        found.proposals.iter().find(|of| of.sql.contains("count(*)") && of.sql.contains("full_name")).unwrap();
    assert_eq!(super::lines(&of_rows.rows)[0].split(',').next(), Some("Ivo Lark"), "{}", of_rows.sql);
}

#[test]
fn regression_values_and_names_of_columns_are_not_left_out() {
    let opened = clinic();
    for (question, word) in [
        ("How many patients have asthma?", "Asthma"),
        ("How many patients are subscribed to the newsletter?", "newsletter"),
    ] {
        let found = opened.compose(question);
        assert!(found.chosen().is_none_or(|chosen| chosen.sql.contains(word)), "{question}: {:?}", found.chosen());
    }
}

#[test]
fn regression_who_is_no_key_and_an_average_is_not_by_flags() {
    let opened = clinic();
    let found = opened.compose("Who is the head of visit 3?");
    assert!(found.proposals.iter().all(|of| !of.sql.starts_with("SELECT \"head_doctor_id\"")), "{found:?}");
    let found = opened.compose("What is the average salary of doctors?");
    assert!(found.proposals.iter().all(|of| !of.sql.contains("GROUP BY \"is_active\"")), "{found:?}");
    let found = opened.compose("What is the lowest doctor salary?");
    assert!(found.proposals[0].sql.starts_with("SELECT \"salary\" FROM"), "{found:?}");
}

#[test]
fn words_that_a_schema_writes_short_are_read() {
    let opened = open(
        "CREATE TABLE stud (stud_id INTEGER PRIMARY KEY, home_cntry TEXT);
         CREATE TABLE rm (rm_id INTEGER PRIMARY KEY, seat_cap INTEGER);
         INSERT INTO stud VALUES (1, 'Peru'), (2, 'Peru'), (3, 'Chad'); INSERT INTO rm VALUES (1, 30), (2, 40);",
    );
    opened.answers("How many students are from Peru?", &["2"]);
    opened.answers("How many rooms are there?", &["2"]);
}

#[test]
fn regression_or_later_is_no_single_year_and_a_decade_none() {
    let opened = open(
        "CREATE TABLE film (film_id INTEGER PRIMARY KEY, title TEXT, release_year INTEGER, rating TEXT);
         INSERT INTO film VALUES (1, 'Alba', 1989, 'PG'), (2, 'Brim', 1990, 'R'), (3, 'Cove', 1995, 'PG'), (4, 'Dune', 2011, 'R');",
    );
    opened.answers("How many films were released in 1990 or later?", &["3"]);
    opened.answers("How many films were released in 1990 or earlier?", &["2"]);
    for question in ["How many films were released in the 1990s?", "How many R films were released in 1990 or later?"] {
        let found = opened.compose(question);
        let is_wrong = |sql: &str| sql.contains("= 1990") && !sql.contains(">= 1990") || sql.contains(" OR ");
        assert!(found.chosen().is_none_or(|chosen| !is_wrong(&chosen.sql)), "{question}: {:?}", found.chosen());
    }
}

#[test]
fn regression_who_does_something_is_not_what_is_done() {
    let opened = open(
        "CREATE TABLE emp (emp_id INTEGER PRIMARY KEY, emp_nm TEXT, job_ttl TEXT, mgr_id INTEGER REFERENCES emp);
         INSERT INTO emp VALUES (1, 'Viola Stanton', 'manager', NULL), (2, 'Ian Poe', 'driver', 1), (3, 'Uma Lee', 'driver', 1);",
    );
    let found = opened.compose("How many employees does Viola Stanton manage?");
    assert!(found.chosen().is_none_or(|chosen| !chosen.sql.contains("'manager'")), "{:?}", found.chosen());
    opened.answers("How many managers are there?", &["1"]);
}
