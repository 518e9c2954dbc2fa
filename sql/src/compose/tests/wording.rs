//! Everyday words: what they are put as, and what is answered.

use super::*;
use crate::compose::wording::plain;

const FARM: &str = "CREATE TABLE farmer (farmer_id INTEGER PRIMARY KEY, full_name TEXT, job_title TEXT, hired_on TEXT, salary INTEGER,
        manager_id INTEGER REFERENCES farmer);
    CREATE TABLE barn (barn_id INTEGER PRIMARY KEY, barn_name TEXT, town TEXT, area_sqm INTEGER);
    CREATE TABLE status (cd TEXT PRIMARY KEY, descr TEXT);
    CREATE TABLE delivery (delivery_id INTEGER PRIMARY KEY, barn_id INTEGER REFERENCES barn, farmer_id INTEGER REFERENCES farmer,
        delivered_on TEXT, paid_on TEXT, weight_kg INTEGER, cost INTEGER, status_cd TEXT REFERENCES status);
    INSERT INTO farmer VALUES (1, 'Ann Lund', 'Owner', '2010-01-01', 90, NULL), (2, 'Bo Ek', 'Hand', '2015-05-05', 40, 1),
        (3, 'Cy Dahl', 'Hand', '2019-03-03', 50, 1), (4, 'Di Falk', 'Hand', '2021-03-03', 45, 2);
    INSERT INTO barn VALUES (1, 'Red Barn', 'Vigo', 300), (2, 'Old Barn', 'Lund', 500), (3, 'Far Barn', 'Lund', 100);
    INSERT INTO status VALUES ('N', 'New'), ('L', 'Late'), ('D', 'Done');
    INSERT INTO delivery VALUES (1, 1, 2, '2024-03-01', NULL, 100, 5, 'N'), (2, 1, 2, '2024-03-09', '2024-04-01', 250, 7, 'D'),
        (3, 2, NULL, '2024-05-01', NULL, 40, 2, 'L'), (4, 2, 3, '2023-05-01', '2023-06-01', 60, 9, 'D');";

#[test]
fn everyday_words_are_put_as_published_questions_have_them() {
    let opened = open(FARM);
    let linker = opened.linker();
    for (said, put) in [
        ("What's our biggest barn?", "What is the barn with the highest area sqm?"),
        ("How big is Red Barn?", "What is the area sqm of Red Barn?"),
        ("How many kilos did Red Barn take?", "What is the total weight kg of Red Barn?"),
        ("How much did we spend on deliveries?", "What is the total cost of deliveries?"),
        ("Barns that haven't had anything", "Barns that haven't had anything"),
        ("Barns nobody delivered to", "Barns without delivery"),
        ("How many March 2024 deliveries got cancelled?", "How many deliveries in March 2024 were cancelled?"),
        ("How many deliveries in each barn?", "How many deliveries for each barn?"),
        ("Who earns the most?", "Which farmer has the highest salary?"),
        ("How many people are there?", "How many farmer are there?"),
        ("Which barns are in Lund?", "Which barns are in Lund?"),
        ("Barns larger than half a million", "Barns larger than 500000"),
        ("Deliveries later than planned", "Deliveries late"),
        ("What does Bo Ek earn?", "What is the salary of Bo Ek?"),
        ("", ""),
    ] {
        assert_eq!(plain(said, &linker), put, "{said}");
    }
}

#[test]
fn everyday_words_are_answered() {
    let opened = open(FARM);
    opened.answers("How many kilos did Red Barn take?", &["350"]);
    opened.answers("How big is Red Barn?", &["300"]);
    opened.answers("Who earns the most?", &["Ann Lund"]);
    opened.answers("Unpaid deliveries", &["1", "3"]);
    opened.answers("Barns nobody delivered to", &["Far Barn"]);
    opened.answers("How many deliveries in each status?", &["Done,2", "Late,1", "New,1"]);
    opened.answers("What percentage of deliveries were late?", &["25"]);
}

#[test]
fn rows_that_refer_to_others_of_their_table_are_told() {
    let opened = open(FARM);
    opened.answers("Who reports to Ann Lund?", &["Bo Ek", "Cy Dahl"]);
    opened.answers("Who is Di Falk's manager?", &["Bo Ek"]);
    opened.answers("Who earns more than Di Falk?", &["Ann Lund", "Cy Dahl"]);
    let found = opened.compose("Who reports to Ann Lund in Vigo?");
    assert!(found.chosen().is_none_or(|chosen| !chosen.sql.contains("IN (SELECT")), "{:?}", found.chosen());
}

#[test]
fn regression_people_are_told_by_their_names() {
    let opened = open(FARM);
    opened.answers("Farmers hired before 2016", &["Ann Lund", "Bo Ek"]);
}

#[test]
fn regression_one_number_is_none_where_rows_are_wanted() {
    let found = open(FARM).compose("Late deliveries");
    let counts = |sql: &str| sql.starts_with("SELECT count(") || sql.starts_with("SELECT sum(");
    assert!(found.proposals.iter().all(|each| !counts(&each.sql)), "{:?}", found.proposals);
}

#[test]
fn regression_how_much_is_no_name() {
    let found = open(FARM).compose("How much do we pay the farmers?");
    assert!(found.proposals.iter().all(|each| !each.sql.starts_with("SELECT \"full_name\"")), "{:?}", found.proposals);
}

#[test]
fn regression_a_reference_that_says_more_is_not_taken_for_the_link() {
    let opened = open(
        "CREATE TABLE lawyers (id INTEGER PRIMARY KEY, full_name TEXT);
         CREATE TABLE matters (id INTEGER PRIMARY KEY, matter_name TEXT, lead_lawyer_id INTEGER REFERENCES lawyers);
         CREATE TABLE matter_lawyers (matter_id INTEGER REFERENCES matters, lawyer_id INTEGER REFERENCES lawyers);
         INSERT INTO lawyers VALUES (1, 'Ann Lund'), (2, 'Bo Ek');
         INSERT INTO matters VALUES (1, 'Merger', 1), (2, 'Lease', 2);
         INSERT INTO matter_lawyers VALUES (1, 1), (1, 2), (2, 2);",
    );
    let found = opened.compose("Which lawyers work on the matter Merger?");
    assert!(found.chosen().is_none_or(|chosen| !chosen.sql.contains("lead_lawyer_id")), "{:?}", found.chosen());
}

#[test]
fn regression_how_many_are_wanted_is_no_bound() {
    let opened = open(
        "CREATE TABLE machines (id INTEGER PRIMARY KEY, machine_name TEXT, purchase_price REAL);
         INSERT INTO machines VALUES (1, 'Press', 400.0), (2, 'Lathe', 250.0), (3, 'Saw', 90.0);",
    );
    let found = opened.compose("Show the two most expensive machines");
    assert!(found.proposals.iter().all(|each| !each.sql.contains(" 2 ORDER")), "{:?}", found.proposals);
}
