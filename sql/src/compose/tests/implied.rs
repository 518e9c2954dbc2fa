//! What a question implies: how many rows, which day, whom, and what is so without being named.

use super::open;

const LIBRARY: &str = "CREATE TABLE branch (branch_id INTEGER PRIMARY KEY, branch_name TEXT);
    CREATE TABLE member (member_id INTEGER PRIMARY KEY, name TEXT, sex_cd TEXT, born TEXT, is_active INTEGER, cancelled_on TEXT,
        branch_id INTEGER REFERENCES branch);
    CREATE TABLE book (book_id INTEGER PRIMARY KEY, title TEXT, page_count INTEGER, minutes_to_read INTEGER);
    CREATE TABLE loan (loan_id INTEGER PRIMARY KEY, member_id INTEGER REFERENCES member, loaned_on TEXT, due_on TEXT);
    CREATE TABLE lect (lect_id INTEGER PRIMARY KEY, lect_nm TEXT, rank TEXT, salary INTEGER);
    INSERT INTO branch VALUES (1, 'North'), (2, 'South'), (3, 'East');
    INSERT INTO member VALUES (1, 'Ann', 'F', '1970-01-01', 1, NULL, 1), (2, 'Bo', 'M', '1980-01-01', 1, '2024-02-02', 1),
        (3, 'Cy', 'M', '1990-01-01', 0, NULL, NULL), (4, 'Di', 'F', '1960-01-01', 0, '2024-03-03', 2);
    INSERT INTO book VALUES (1, 'Emma', 400, 600), (2, 'Snow', 200, 150), (3, 'Dune', 700, 900), (4, 'Walden', 100, 90);
    INSERT INTO loan VALUES (1, 1, '2024-01-05', '2024-02-05'), (2, 1, '2024-01-25', '2024-02-25'), (3, 2, '2024-02-15', '2024-03-15');
    INSERT INTO lect VALUES (1, 'Ek', 'lecturer', 50), (2, 'Lund', 'professor', 90);";

#[test]
fn regression_so_many_rows_are_wanted_as_a_number_says() {
    let opened = open(LIBRARY);
    opened.answers("2 longest books by page count", &["Dune", "Emma"]);
    opened.answers("Which 2 books have the highest page count?", &["Dune", "Emma"]);
    let found = opened.compose("Which three books have the most pages?");
    assert!(found.proposals.iter().all(|of| of.sql.ends_with("LIMIT 3")), "{:?}", found.proposals);
}

#[test]
fn regression_of_two_days_that_are_not_named_the_first_counts() {
    let opened = open(LIBRARY);
    opened.answers("How many loans in February 2024?", &["1"]);
    opened.answers("Number of loans per month in 2024", &["2024-01,2", "2024-02,1"]);
    opened.answers("How many loans are due in February 2024?", &["2"]);
}

#[test]
fn regression_the_first_are_counted_once_with_what_they_are_first_by_or_without() {
    let found = open(LIBRARY).compose("Which book has the highest page count?");
    let shows = |sql: &str| sql.starts_with("SELECT \"title\", \"page_count\" FROM \"book\" ORDER");
    assert!(!found.proposals.iter().any(|of| shows(&of.sql) && of.confidence > 0.0), "{:?}", found.proposals);
}

#[test]
fn regression_what_goes_without_saying_is_read() {
    let opened = open(LIBRARY);
    opened.answers("How many women are members?", &["2"]);
    opened.answers("How many male members are there?", &["2"]);
    opened.answers("How many members have cancelled?", &["2"]);
    opened.answers("How many members are not in any branch?", &["1"]);
    opened.answers("How many books take longer than two and a half hours to read?", &["2"]);
    for question in ["How many members are still active?", "How many new loans were there in January 2024?"] {
        let found = opened.compose(question);
        assert!(!found.abstained, "{question}: {found:?}");
    }
}
