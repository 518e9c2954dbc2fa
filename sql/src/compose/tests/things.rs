//! The things that a question is about: they are counted and shown, and what is said of them is not left out.

use super::open;

const FREIGHT: &str = "CREATE TABLE ports (port_id INTEGER PRIMARY KEY, port_name TEXT);
    CREATE TABLE vessels (vessel_id INTEGER PRIMARY KEY, vessel_name TEXT, tonnage INTEGER, is_active INTEGER);
    CREATE TABLE voyages (voyage_id INTEGER PRIMARY KEY, vessel_id INTEGER REFERENCES vessels,
        origin_port_id INTEGER REFERENCES ports, destination_port_id INTEGER REFERENCES ports);
    CREATE TABLE crew (crew_id INTEGER PRIMARY KEY, full_name TEXT, rank TEXT, salary INTEGER, vessel_id INTEGER REFERENCES vessels);
    INSERT INTO ports VALUES (1, 'Rotterdam'), (2, 'Vigo'), (3, 'Gdansk');
    INSERT INTO vessels VALUES (1, 'Ondine', 900, 1), (2, 'Iron Duke', 800, 1), (3, 'Petrel', 700, 0), (4, 'Skua', 600, 0);
    INSERT INTO voyages VALUES (1, 1, 1, 2), (2, 1, 2, 1), (3, 2, 3, 1);
    INSERT INTO crew VALUES (1, 'Ann Lund', 'captain', 90, 1), (2, 'Bo Ek', 'captain', 80, 2), (3, 'Cy Dahl', 'cook', 50, NULL);";

#[test]
fn regression_one_of_two_keys_is_taken_only_where_the_question_tells_which() {
    let opened = open(FREIGHT);
    opened.answers("How many voyages went to Rotterdam?", &["2"]);
    opened.answers("How many voyages left from Rotterdam?", &["1"]);
    let found = opened.compose("How many voyages had Rotterdam?");
    assert!(found.abstained && found.notes.iter().any(|note| note.contains("does not tell")), "{found:?}");
}

#[test]
fn regression_what_rows_are_said_to_be_is_not_left_out() {
    let opened = open(FREIGHT);
    for question in ["Which vessels are in debt?", "Average tonnage of tugboats", "Which crew are on vacation?"] {
        assert!(opened.compose(question).abstained, "{question}: {:?}", opened.compose(question).chosen());
    }
    assert!(!opened.compose("What is the average tonnage of all vessels?").abstained);
}

#[test]
fn regression_the_things_that_are_asked_for_are_counted_and_shown() {
    let opened = open(FREIGHT);
    let none = |question: &str, is: &dyn Fn(&str) -> bool| {
        let found = opened.compose(question);
        // What is left of the likelihood is no one's.
        let mut likely = found.proposals.iter().filter(|of| of.confidence > 0.01);
        assert!(likely.all(|of| !is(&of.sql)), "{question}: {:?}", found.proposals);
    };
    opened.answers("How many crew are not on any vessel?", &["1"]);
    none("Top 3 vessels by tonnage", &|sql| sql.starts_with("SELECT \"tonnage\" FROM"));
    none("The 3 most heavy vessels", &|sql| sql.starts_with("SELECT \"tonnage\" FROM \"vessels\" ORDER BY"));
    none("Names of captains on active vessels", &|sql| {
        sql.starts_with("SELECT DISTINCT \"vessels\".\"vessel_name\" FROM") && sql.contains("'captain'")
    });
    none("When was the Iron Duke built?", &|sql| sql.starts_with("SELECT count("));
    none("Vessels without any voyages", &|sql| sql.starts_with("SELECT count("));
    none("What is the highest salary?", &|sql| sql.starts_with("SELECT \"crew_id\" FROM"));
    none("3 longest vessels", &|sql| sql.contains("ORDER BY \"vessel_id\""));
}

#[test]
fn regression_a_flag_that_rows_are_held_to_is_not_what_is_counted() {
    open(FREIGHT).answers("How many active vessels are there?", &["2"]);
}

#[test]
fn regression_several_numbers_that_are_wanted_are_all_shown() {
    let found = open(FREIGHT).compose("Average salary and number of crew per rank");
    let has_both = |sql: &str| sql.contains("avg(") && sql.contains("count(");
    assert!(found.chosen().is_none_or(|chosen| has_both(&chosen.sql)), "{:?}", found.chosen());
}

#[test]
fn regression_what_comes_most_often_leaves_no_word_out() {
    let found = open(FREIGHT).compose("Which rank comes most often?");
    assert!(found.notes.iter().all(|note| !note.contains("often")), "{found:?}");
}

#[test]
fn regression_goods_are_as_many_as_their_quantities() {
    let opened = open(
        "CREATE TABLE sales (sale_id INTEGER PRIMARY KEY, product TEXT, quantity INTEGER);
         INSERT INTO sales VALUES (1, 'Croissant', 30), (2, 'Croissant', 20), (3, 'Baguette', 7);",
    );
    let found = opened.compose("How many croissants were sold?");
    assert!(found.chosen().is_none_or(|chosen| !chosen.sql.contains("count(*)")), "{:?}", found.chosen());
}
