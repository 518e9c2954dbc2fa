use std::collections::HashSet;
use std::time::Duration;

use proptest::prelude::*;
use rusqlite::Connection;

use super::shape::Shape;
use super::*;
use crate::joins::Joiner;
use crate::linking::{Model as LinkingModel, ValueIndex, ValueLimits};
use crate::schema::Schema;
use crate::schema_graph::{SchemaGraph, Semantics, SqlDialect};
use crate::{Database, Rows, Sandbox};

const CLUBS: &str = "CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT, country TEXT);
    CREATE TABLE club (id INTEGER PRIMARY KEY, title TEXT, city_id INTEGER REFERENCES city, founded INTEGER);
    CREATE TABLE \"odd \"\"name\" (club_id INTEGER REFERENCES club, \"group\" TEXT);
    INSERT INTO city VALUES (1, 'Rome', 'Italy'), (2, 'Oslo', 'Norway'), (3, 'Turin', 'Italy');
    INSERT INTO club VALUES (1, 'Lazio', 1, 1900), (2, 'Roma', 1, 1927), (3, 'Juventus', 3, 1897);
    INSERT INTO \"odd \"\"name\" VALUES (1, 'it''s'), (3, NULL);";

struct Opened {
    _folder: tempfile::TempDir,
    database: Database,
    graph: SchemaGraph,
}

fn open(sql: &str) -> Opened {
    open_with(sql, "")
}

fn open_with(sql: &str, semantics: &str) -> Opened {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(sql).unwrap();
    connection.close().unwrap();
    let database = Database::open(&path, &Sandbox::default()).unwrap();
    let semantics = Semantics::parse(semantics).unwrap();
    let graph = SchemaGraph::new(&database.schema().unwrap(), &semantics, SqlDialect::Sqlite).unwrap();
    Opened { _folder: folder, database, graph }
}

/// A line for each row.
fn lines(rows: &Rows) -> Vec<String> {
    rows.rows.iter().map(|row| row.iter().map(text).collect::<Vec<_>>().join(",")).collect()
}

impl Opened {
    fn column(&self, table: &str, name: &str) -> usize {
        self.graph.column(self.graph.table(table).unwrap(), name).unwrap()
    }

    /// The rows of a sketch, a line each.
    fn rows(&self, sketch: &Sketch) -> Vec<String> {
        let (sql, _) = sketch.sql(&self.graph, &Joiner::new(&self.graph), &[]).unwrap();
        let rows = self.database.query(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        lines(&rows)
    }

    /// That the likeliest statement for a question gives these rows, in any order.
    fn answers(&self, question: &str, rows: &[&str]) {
        let found = self.compose(question);
        let best = found.proposals.first().unwrap_or_else(|| panic!("{question}"));
        let mut lines = lines(&best.rows);
        lines.sort();
        assert_eq!(lines, rows, "{question}: {}", best.sql);
    }

    fn compose(&self, question: &str) -> Generation {
        let linker = self.linker();
        let composer = Composer::new(&linker, Model::shipped());
        composer.compose(question, Duration::from_secs(60), &mut |sql| self.database.query(sql))
    }

    fn linker(&self) -> Linker<'_> {
        let limits = ValueLimits::default();
        let values = ValueIndex::read(&self.graph, limits, &mut |sql| self.database.query(sql)).unwrap();
        Linker::new(&self.graph, values, LinkingModel::shipped())
    }
}

#[test]
fn tables_of_a_servers_other_schemas_are_named_with_them() {
    let ddl = "CREATE TABLE singer (id INT PRIMARY KEY, name TEXT);
        CREATE TABLE concert (id INT PRIMARY KEY, singer_id INT REFERENCES singer, year INT)";
    let schema = Schema::from_ddl(ddl, SqlDialect::Postgres).unwrap().0.in_schema("music");
    let graph = SchemaGraph::new(&schema, &Semantics::default(), SqlDialect::Postgres).unwrap();
    let column = |table: &str, name: &str| graph.column(graph.table(table).unwrap(), name).unwrap();
    let year = column("music.concert", "year");
    let sketch = Sketch {
        shown: vec![Item::plain(column("music.singer", "name"))],
        conditions: vec![Condition { column: year, relation: Relation::Above, operand: Operand::Of(Function::Mean) }],
        ..Sketch::default()
    };
    let (sql, _) = sketch.sql(&graph, &Joiner::new(&graph), &[]).unwrap();
    assert_eq!(
        sql.replace('"', ""),
        "SELECT DISTINCT music.singer.name FROM music.singer JOIN music.concert ON music.concert.singer_id = music.singer.id \
         WHERE music.concert.year > (SELECT avg(music.concert.year) FROM music.concert)"
    );
    assert!(sql.contains("\"music\".\"concert\"") && !sql.contains("music."), "{sql}");
}

const ORDERS: &str = "CREATE TABLE orders (order_id INTEGER PRIMARY KEY, product TEXT, order_date TEXT, amount REAL);
    CREATE TABLE payment (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders, paid REAL);
    CREATE TABLE delivery (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders, weight REAL);
    INSERT INTO orders VALUES (1, 'Mug', '2018-05-01', 10), (2, 'Mug', '2020-05-01', 20), (3, 'Pan', '2018-07-01', 30);
    INSERT INTO payment VALUES (1, 1, 5), (2, 1, 5); INSERT INTO delivery VALUES (1, 1, 2.5), (2, 1, 3);";

#[test]
fn regression_a_year_is_not_left_out_nor_compared_with_an_amount() {
    let opened = open(ORDERS);
    opened.answers("How many orders of Mug were placed before 2019?", &["1"]);
    for question in ["How many orders of Mug were placed before 2019?", "How many Mug orders were there in 2018?"] {
        let found = opened.compose(question);
        assert!(found.proposals.iter().all(|each| each.sql.contains("order_date")), "{:?}", found.proposals);
    }
}

#[test]
fn regression_what_is_wanted_per_group_is_a_row_for_each() {
    let opened = open(ORDERS);
    for question in ["number of orders per product", "number of orders by product", "How many orders for each product?"]
    {
        opened.answers(question, &["Mug,2", "Pan,1"]);
    }
    let found = opened.compose("average amount by product");
    assert!(found.proposals.iter().all(|each| each.sql.contains("avg(")), "{:?}", found.proposals);
}

#[test]
fn regression_no_employees_is_no_missing_reference_to_one() {
    let opened = open(
        "CREATE TABLE department (dept_no INTEGER PRIMARY KEY, name TEXT);
         CREATE TABLE employee (emp_no INTEGER PRIMARY KEY, name TEXT, dept_no INTEGER REFERENCES department, manager INTEGER REFERENCES employee);
         INSERT INTO department VALUES (1, 'Sales'), (2, 'Research');
         INSERT INTO employee VALUES (1, 'Ann', 1, NULL), (2, 'Bo', 1, 1);",
    );
    let found = opened.compose("Which departments have no employees?");
    assert!(found.proposals.iter().all(|each| !each.sql.contains("\"manager\" IS NULL")), "{:?}", found.proposals);
    opened.answers("Which departments have no employees?", &["Research"]);
}

#[test]
fn what_is_out_of_stock_has_none() {
    let opened = open(
        "CREATE TABLE products (product_id INTEGER PRIMARY KEY, prod_name TEXT, stock_qty INTEGER);
         INSERT INTO products VALUES (1, 'Shelf', 0), (2, 'Desk', 12), (3, 'Lamp', 7);",
    );
    opened.answers("Which products are out of stock?", &["Shelf"]);
}

#[test]
fn regression_a_list_is_not_one_row() {
    let opened = open(ORDERS);
    let found = opened.compose("List the products of orders");
    assert!(found.proposals.iter().all(|each| !each.sql.contains("LIMIT 1")), "{:?}", found.proposals);
}

#[test]
fn regression_what_a_chasm_makes_wrong_is_not_said() {
    let opened = open(ORDERS);
    let found = opened.compose("Number of payments and number of deliveries of each order");
    let counts_pairs = |sql: &str| sql.contains("count(*)") && sql.contains("\"payment\" JOIN \"delivery\"");
    assert!(found.chosen().is_none_or(|chosen| !counts_pairs(&chosen.sql)), "{:?}", found.chosen());
}

#[test]
fn regression_a_number_of_the_question_is_not_left_out() {
    let opened = open(CLUBS);
    let found = opened.compose("How many clubs have 40000 seats?");
    assert!(found.chosen().is_none_or(|chosen| chosen.sql.contains("40000")), "{:?}", found.chosen());
}

#[test]
fn regression_a_likelier_statement_that_is_stopped_is_told_and_no_other_is_said() {
    let opened = open(CLUBS);
    let linker = opened.linker();
    let mut run = |sql: &str| match sql.starts_with("SELECT count(*)") {
        true => Err(QueryError::stopped("time: 1 s")),
        false => opened.database.query(sql),
    };
    let found = Composer::new(&linker, Model::shipped()).compose(
        "How many clubs are there?",
        Duration::from_secs(60),
        &mut run,
    );
    assert!(found.chosen().is_none());
    let told = found.notes.iter().find(|note| note.contains("was stopped")).unwrap();
    assert!(told.starts_with("SELECT count(*) FROM \"club\" was stopped before it ended (time: 1 s)"), "{told}");
}

#[test]
fn tables_are_linked_without_statements_where_time_has_run_out() {
    let opened = open(CLUBS);
    let linker = opened.linker();
    let link = |time| {
        let composer = Composer::new(&linker, Model::shipped());
        composer.link("clubs in each city", time, &mut |sql| opened.database.query(sql))
    };
    let ((late, note), (_, none)) = (link(Duration::ZERO), link(Duration::from_secs(60)));
    assert!(note.is_some_and(|note| note.contains("time ran out")), "{note:?}");
    assert_eq!(none, None);
    assert_eq!(late.sets.len(), linker.link("clubs in each city").sets.len());
}

#[test]
fn sketches_are_written_as_what_they_say() {
    let opened = open(CLUBS);
    let (city, country) = (opened.column("city", "name"), opened.column("city", "country"));
    let (title, founded) = (opened.column("club", "title"), opened.column("club", "founded"));
    let is = |column: usize, text: &str| Condition {
        column,
        relation: Relation::Equal,
        operand: Operand::Text(text.to_owned()),
    };
    let shown =
        |columns: &[usize]| Sketch { shown: columns.iter().copied().map(Item::plain).collect(), ..Sketch::default() };
    let joined = Sketch { conditions: vec![is(city, "Rome")], ..shown(&[title]) };
    assert_eq!(opened.rows(&joined), ["Lazio", "Roma"]);
    let either = Sketch {
        conditions: vec![is(city, "Turin"), is(city, "Oslo")],
        joined: Joined::Or,
        distinct: true,
        ..shown(&[country])
    };
    assert_eq!(opened.rows(&either), ["Norway", "Italy"]);
    let both = Sketch {
        conditions: vec![is(city, "Turin"), is(city, "Rome")],
        joined: Joined::Intersect,
        ..shown(&[country])
    };
    assert_eq!(opened.rows(&both), ["Italy"]);
    let grouped = Sketch {
        shown: vec![Item::plain(city), Item::ROWS],
        tables: vec![opened.graph.table("club").unwrap()],
        group: vec![opened.column("city", "id")],
        having: Some((Item::ROWS, Relation::AtLeast, 2.0)),
        ..Sketch::default()
    };
    assert_eq!(opened.rows(&grouped), ["Rome,2"]);
    let oldest = Sketch {
        order: Some(Order { item: Item::plain(founded), descending: false }),
        limit: Some(1),
        ..shown(&[title, city])
    };
    assert_eq!(opened.rows(&oldest), ["Juventus,Turin"]);
    let above = Sketch {
        conditions: vec![Condition {
            column: founded,
            relation: Relation::Above,
            operand: Operand::Of(Function::Mean),
        }],
        ..shown(&[title])
    };
    assert_eq!(opened.rows(&above), ["Roma"]);
    let without = Sketch {
        without: Some(Without {
            outer: opened.column("city", "id"),
            inner: opened.column("club", "city_id"),
            tables: Vec::new(),
            conditions: Vec::new(),
        }),
        ..shown(&[city])
    };
    assert_eq!(opened.rows(&without), ["Oslo"]);
    // Names and values with quotes.
    let odd = Sketch { conditions: vec![is(opened.column("odd \"name", "group"), "it's")], ..shown(&[title]) };
    assert_eq!(opened.rows(&odd), ["Lazio"]);
    assert!(Sketch::default().sql(&opened.graph, &Joiner::new(&opened.graph), &[]).is_none());
}

#[test]
fn unconnected_tables_make_no_statement() {
    let opened = open("CREATE TABLE a (x TEXT); CREATE TABLE b (y TEXT);");
    let sketch = Sketch {
        shown: vec![Item::plain(opened.column("a", "x")), Item::plain(opened.column("b", "y"))],
        ..Sketch::default()
    };
    assert!(sketch.sql(&opened.graph, &Joiner::new(&opened.graph), &[]).is_none());
}

#[test]
fn shapes_have_names() {
    assert!(Model::shipped().shapes.len() > 20);
    let mut seen = HashSet::new();
    for name in Model::shipped().shapes.keys() {
        let shape = Shape::named(name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(&shape.name(), name);
        assert!(seen.insert(shape));
    }
    assert_eq!(Shape::named("sideways"), None);
}

#[test]
fn questions_over_joined_tables_are_answered() {
    let opened = open(CLUBS);
    for (question, rows) in [
        ("What are the titles of clubs in the city named Rome?", vec!["Lazio", "Roma"]),
        ("How many clubs are there in each country?", vec!["Italy,3"]),
        ("What are the names of cities that do not have any club?", vec!["Oslo"]),
        ("Show the title of the club founded most recently.", vec!["Roma"]),
    ] {
        opened.answers(question, &rows);
    }
    assert!(opened.compose("").chosen().is_none());
    assert!(opened.compose("quelle heure est-il").chosen().is_none());
}

#[test]
fn calculated_fields_are_asked_like_columns() {
    let sales = "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE item (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer, price REAL, quantity INTEGER);
        INSERT INTO customer VALUES (1, 'Ada'), (2, 'Bob');
        INSERT INTO item VALUES (1, 1, 2.5, 4), (2, 1, 1.0, 10), (3, 2, 9.0, 1);";
    let opened = open_with(sales, "[tables.item.columns.revenue]\nexpression = 'price * quantity'");
    for (question, rows) in [
        ("What is the total revenue?", vec!["29"]),
        ("What is the total revenue for each customer name?", vec!["20,Ada", "9,Bob"]),
        ("Show the name of the customer of the item with the highest revenue.", vec!["Ada"]),
    ] {
        opened.answers(question, &rows);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever is put to a database: no panic, statements that run, likelihoods from 0 to 1, the same twice.
    #[test]
    fn any_question(
        question in "[a-z0-9 '\"%_,?üé\u{0}]{0,60}|(how many|which|top|3|clubs?|city|rome|'|not|or|and|each|average|founded|than|1900| ){0,12}",
        value in "[a-z'\"%;é\\-]{0,8}",
    ) {
        let sql = format!("{CLUBS} INSERT INTO city VALUES (9, '{}', 'x')", value.replace('\'', "''"));
        let opened = open(&sql);
        let found = opened.compose(&format!("{question} {value}"));
        let sum: f32 = found.proposals.iter().map(|each| each.confidence).sum();
        prop_assert!(sum <= 1.001 && found.proposals.iter().all(|each| (0.0..=1.0).contains(&each.confidence)));
        for proposal in &found.proposals {
            prop_assert!(opened.database.query(&proposal.sql).is_ok());
        }
        prop_assert_eq!(&found, &opened.compose(&format!("{question} {value}")));
    }
}

#[test]
fn dates_are_spans_and_all_rows_no_answer_to_more_than_how_many() {
    let shop = "CREATE TABLE customers (cust_id INTEGER PRIMARY KEY, full_nm TEXT);
        CREATE TABLE orders (order_id INTEGER PRIMARY KEY, cust_id INTEGER, order_dt TEXT, channel TEXT, ship_amt REAL);
        INSERT INTO customers VALUES (1, 'Ada Low'), (2, 'Bob Ray'), (3, 'Cy Poe');
        INSERT INTO orders VALUES (1, 1, '2023-12-31', 'web', 5.0), (2, 1, '2024-03-01', 'web', 7.0),
            (3, 2, '2024-03-31 23:59:00', 'shop', 1.0), (4, 3, '2024-04-01', 'shop', 3.0);";
    let opened = open(shop);
    for (question, rows) in [
        ("How many orders were placed in March 2024?", vec!["2"]),
        ("How many orders were placed in 2023?", vec!["1"]),
        ("How many customers are there?", vec!["3"]),
    ] {
        opened.answers(question, &rows);
    }
    assert!(opened.compose("How many customers bought a bicycle?").chosen().is_none());
    assert!(opened.compose("xyzzy 😀").proposals.is_empty());
    // No sum of dates, and a mean for each.
    let sums = opened.compose("What is the total order date?");
    assert!(sums.proposals.iter().all(|of| !of.sql.contains("sum(\"order_dt\")")), "{sums:?}");
    let means = opened.compose("What is the average shipping amount per channel?");
    assert!(means.proposals.iter().all(|of| !of.sql.contains("avg") || of.sql.contains("GROUP BY")), "{means:?}");
}

#[test]
fn regression_answers_of_one_meaning_are_counted_once() {
    let ranked = vec![(0.5, 0), (0.25, 1), (0.125, 2), (0.0625, 3)];
    let meaning = |at: usize| ["name of a", "b", "name of a", "b"][at];
    let found = by_meaning(ranked.clone(), meaning, |_| false);
    assert_eq!(found, [(0.625, 0), (0.3125, 1), (0.0, 2), (0.0, 3)]);
    // By its name where that is not far less likely than by its key.
    assert_eq!(by_meaning(ranked, meaning, |at| at == 0)[..2], [(0.625, 2), (0.3125, 1)]);
    let far = vec![(0.5, 0), (0.01, 2)];
    assert_eq!(by_meaning(far, meaning, |at| at == 0)[0].1, 0);
    // Its likelihoods were more than 1 together.
    let together = open(CLUBS).compose("how many ").proposals.iter().map(|of| of.confidence).sum::<f32>();
    assert!(together <= 1.001, "{together}");
}

#[test]
fn parts_of_dates_missing_values_and_flags_are_written_and_found() {
    let opened = open(
        "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, email TEXT);
        CREATE TABLE sale (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer(id), sold_on TEXT, paid INTEGER);
        INSERT INTO customer VALUES (1, 'Ada', 'a@x.org'), (2, 'Bob', NULL), (3, 'Cy', NULL);
        INSERT INTO sale VALUES (1, 1, '2023-12-31', 1), (2, 1, '2024-03-01', 0), (3, 2, '2024-03-31', 0), (4, 3, '2024-05-02', 0);",
    );
    let sold = opened.column("sale", "sold_on");
    let per = |part| Sketch { shown: vec![Item::ROWS], per: Some((part, sold)), ..Sketch::default() };
    assert_eq!(opened.rows(&per(DatePart::Year)), ["2023,1", "2024,3"]);
    assert_eq!(opened.rows(&per(DatePart::Quarter)), ["2023-Q4,1", "2024-Q1,2", "2024-Q2,1"]);
    assert_eq!(opened.rows(&per(DatePart::Month)), ["2023-12,1", "2024-03,2", "2024-05,1"]);
    let email = opened.column("customer", "email");
    let held = |relation| Sketch {
        shown: vec![Item::ROWS],
        conditions: vec![Condition { column: email, relation, operand: Operand::Nothing }],
        ..Sketch::default()
    };
    assert_eq!(
        (opened.rows(&held(Relation::Equal)), opened.rows(&held(Relation::Unequal))),
        (vec!["2".to_owned()], vec!["1".to_owned()])
    );
    for (question, rows) in [("How many customers without an email?", "2"), ("How many unpaid sales are there?", "3")] {
        let found = opened.compose(question);
        assert_eq!(lines(&found.proposals[0].rows), [rows], "{question} {found:?}");
    }
}

/// A brewery with orders of its beers: enough rows that names are told from what repeats.
fn brewery() -> Opened {
    let beers: Vec<String> = (1..=14).map(|id| format!("({id}, 'Beer {id}', {})", 4 + id % 5)).collect();
    let orders: Vec<String> = (1..=28)
        .map(|id| {
            let (beer, town) = (1 + id % 14, ["York", "Leeds", "Hull"][id % 3]);
            format!("({id}, {beer}, '{town}', '{}', {})", ["paid", "late"][id % 2], id * 1000)
        })
        .collect();
    open(&format!(
        "CREATE TABLE beer (beer_id INTEGER PRIMARY KEY, beer_name TEXT, bitterness INTEGER);
        CREATE TABLE brewer (brewer_id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, birth_date TEXT);
        CREATE TABLE orders (order_id INTEGER PRIMARY KEY, beer_id INTEGER REFERENCES beer, town TEXT, status TEXT, kegs INTEGER);
        INSERT INTO beer VALUES {}; INSERT INTO orders VALUES {};
        INSERT INTO brewer VALUES (1, 'Ada', 'Low', '1970-02-01'), (2, 'Bob', 'Ray', '1961-05-09');",
        beers.join(","),
        orders.join(",")
    ))
}

#[test]
fn what_one_column_may_be_stands_together_and_joins_repeat_nothing() {
    let opened = brewery();
    let (town, status, name) =
        (opened.column("orders", "town"), opened.column("orders", "status"), opened.column("beer", "beer_name"));
    let is =
        |column, value: &str| Condition { column, relation: Relation::Equal, operand: Operand::Text(value.to_owned()) };
    let kegs = Sketch {
        shown: vec![Item::plain(opened.column("orders", "kegs"))],
        conditions: vec![is(town, "York"), is(town, "Hull"), is(status, "late")],
        joined: Joined::Or,
        ..Sketch::default()
    };
    assert_eq!(opened.rows(&kegs).len(), 9);
    let beers = Sketch { shown: vec![Item::plain(name)], conditions: vec![is(status, "late")], ..Sketch::default() };
    let sql = |sketch: &Sketch| sketch.sql(&opened.graph, &Joiner::new(&opened.graph), &[]).unwrap().0;
    assert!(sql(&beers).starts_with("SELECT DISTINCT") && !sql(&kegs).contains("DISTINCT"), "{}", sql(&beers));
    assert_eq!(opened.rows(&beers).len(), 7);
}

#[test]
fn questions_are_read_in_full() {
    let opened = brewery();
    let none = |question: &str, part: &str| {
        let found = opened.compose(question);
        assert!(found.proposals.iter().all(|of| !of.sql.contains(part)), "{question}: {found:?}");
    };
    let first = |question: &str, parts: &[&str]| {
        let found = opened.compose(question);
        let sql = found.proposals.first().map_or("", |of| of.sql.as_str());
        assert!(parts.iter().all(|part| sql.contains(part)), "{question}: {sql}");
    };
    first("How many orders have more than 20 thousand kegs?", &["> 20000"]);
    first("How many orders have more than 20k kegs?", &["> 20000"]);
    none("How many kegs were ordered in 2025?", "2025");
    none("How many paid orders are there?", "!=");
    none("Which beers have more than two kegs?", "LIMIT 2");
    none("Which beers are the most bitter?", "GROUP BY \"beer_name\"");
    first(
        "Who is the oldest brewer?",
        &["SELECT \"first_name\", \"last_name\" FROM \"brewer\" ORDER BY \"birth_date\" LIMIT 1"],
    );
    // What no statement has is said, and no answer.
    let found = opened.compose("What is the average bitterness of frozen beers?");
    assert!(found.chosen().is_none() && found.notes.iter().any(|note| note.contains("frozen")), "{found:?}");
}

const CLINIC: &str = "CREATE TABLE doctor (doctor_id INTEGER PRIMARY KEY, name TEXT, city TEXT);
    CREATE TABLE prescription (prescription_id INTEGER PRIMARY KEY, doctor_id INTEGER REFERENCES doctor, drug TEXT, repeated TEXT);
    INSERT INTO doctor VALUES (1, 'Ann', 'Rome'), (2, 'Bo', 'Oslo'), (3, 'Cy', 'Rome');
    INSERT INTO prescription VALUES (1, 1, 'Warfarin', 'no'), (2, 1, 'Warfarin', 'no'), (3, 2, 'Warfarin', 'yes'), (4, 2, 'Iodine', 'no');";

#[test]
fn regression_a_thing_that_nothing_is_called_is_not_counted_as_another() {
    let opened = open(CLINIC);
    for question in [
        "How many parking spaces does Ann have?",
        "What is the colour of the first doctor?",
        "What is the name of the nurse of Ann?",
    ] {
        let found = opened.compose(question);
        assert!(found.abstained, "{question}: {:?}", found.chosen());
    }
    assert!(!opened.compose("How many doctors are there?").abstained);
}

#[test]
fn regression_what_joins_repeat_is_counted_once() {
    let opened = open(CLINIC);
    opened.answers("How many doctors prescribed Warfarin?", &["2"]);
    opened.answers("How many prescriptions of Warfarin are there?", &["3"]);
}

#[test]
fn regression_no_before_a_thing_is_no_value() {
    let found = open(CLINIC).compose("Which doctors have no prescriptions?");
    let says_no = |sql: &str| sql.contains("= 'no'");
    assert!(found.proposals.iter().all(|of| !says_no(&of.sql)), "{:?}", found.proposals);
    open(CLINIC).answers("How many prescriptions where repeated is no?", &["3"]);
}

mod clinic;
mod implied;
mod things;
mod wording;
