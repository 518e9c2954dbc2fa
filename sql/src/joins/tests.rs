use proptest::prelude::*;

use super::*;
use crate::schema::Schema;
use crate::schema_graph::{Semantics, SqlDialect};

fn graph(ddl: &str) -> SchemaGraph {
    let (schema, _) = Schema::from_ddl(ddl, SqlDialect::Generic).unwrap();
    SchemaGraph::new(&schema, &Semantics::default(), SqlDialect::Generic).unwrap()
}

const LEAGUE: &str = "CREATE TABLE team (id INT PRIMARY KEY, coach INT REFERENCES person (id), boss INT REFERENCES team);
    CREATE TABLE person (id INT PRIMARY KEY, age INT);
    CREATE TABLE game (no INT, season INT, home_team INT REFERENCES team, away_team INT REFERENCES team, PRIMARY KEY (no, season));
    CREATE TABLE goal (no INT, season INT, scorer INT REFERENCES person, FOREIGN KEY (no, season) REFERENCES game (no, season));
    CREATE TABLE card (no INT, season INT, FOREIGN KEY (no, season) REFERENCES game (no, season));
    CREATE TABLE island (x INT)";

fn shown(graph: &SchemaGraph, tree: &JoinTree) -> Vec<String> {
    let join = |&number: &usize| {
        let pairs = &graph.joins()[number].pairs;
        let sides = pairs.iter().map(|&(a, b)| format!("{}={}", graph.column_id(a), graph.column_id(b)));
        sides.collect::<Vec<_>>().join(" and ")
    };
    tree.joins.iter().map(join).collect()
}

fn numbers(graph: &SchemaGraph, names: &[&str]) -> Vec<usize> {
    names.iter().map(|name| graph.table(name).unwrap()).collect()
}

#[test]
fn words_choose_among_parallel_keys_and_composite_ones_stay_whole() {
    let graph = graph(LEAGUE);
    let joiner = Joiner::new(&graph);
    let tables = numbers(&graph, &["goal", "team"]);
    let tree = |question: &str| shown(&graph, &joiner.tree(&tables, &joiner.costs(&Words::of(question))));
    let goal = "goal.no=game.no and goal.season=game.season";
    assert_eq!(tree("goals of the away team"), ["game.away_team=team.id", goal]);
    assert_eq!(tree("goals of the team at home"), ["game.home_team=team.id", goal]);
    let words = Words::of("goals of the away team");
    let costs = joiner.costs(&words);
    let tree = joiner.tree(&tables, &costs);
    let reasons: Vec<String> = tree.joins.iter().map(|&join| joiner.reason(join, &tables, &words)).collect();
    assert_eq!(
        reasons,
        [
            "foreign key of game; game stands between; of 2 that join these tables the one told by \"away\"",
            "foreign key of goal, all of its columns; game stands between"
        ]
    );
    let others: Vec<Vec<String>> =
        joiner.alternatives(&tables, &costs, &tree).iter().map(|tree| shown(&graph, tree)).collect();
    assert_eq!(
        others,
        [vec!["team.coach=goal.scorer".to_owned()], vec!["game.home_team=team.id".to_owned(), goal.to_owned()]]
    );
}

#[test]
fn a_key_with_the_name_of_its_own_table_is_not_what_rows_are_counted_by() {
    let graph = graph(
        "CREATE TABLE pupil (id INT PRIMARY KEY, name TEXT);
         CREATE TABLE friend (friend_id INT REFERENCES pupil, student_id INT REFERENCES pupil);
         CREATE TABLE best_friend (friend_id INT REFERENCES pupil, student_id INT REFERENCES pupil)",
    );
    let joiner = Joiner::new(&graph);
    let by = |table: &str, question: &str| {
        shown(&graph, &joiner.tree(&numbers(&graph, &["pupil", table]), &joiner.costs(&Words::of(question))))
    };
    assert_eq!(by("friend", "How many friends does each pupil have?"), ["friend.student_id=pupil.id"]);
    assert_eq!(by("friend", "pupils"), ["friend.student_id=pupil.id"]);
    // A part of the name tells of the key.
    assert_eq!(by("best_friend", "Which pupil is a friend?"), ["best_friend.friend_id=pupil.id"]);
}

#[test]
fn what_a_row_refers_to_stands_around_it() {
    let graph = graph(
        "CREATE TABLE department (department_code INT PRIMARY KEY, name TEXT);
         CREATE TABLE subject (id INT PRIMARY KEY, department_code INT REFERENCES department);
         CREATE TABLE course (no INT, offered_by INT REFERENCES department, subject INT REFERENCES subject)",
    );
    let joiner = Joiner::new(&graph);
    let tree =
        joiner.tree(&numbers(&graph, &["department", "subject", "course"]), &joiner.costs(&Words::of("courses")));
    // The chain through the subject has columns of one name.
    assert_eq!(shown(&graph, &tree), ["course.offered_by=department.department_code", "course.subject=subject.id"]);
}

#[test]
fn what_is_not_connected_is_a_forest() {
    let graph = graph(LEAGUE);
    let joiner = Joiner::new(&graph);
    let tree = joiner.tree(&numbers(&graph, &["island", "team", "person"]), &[]);
    assert_eq!(
        (tree.is_connected(), tree.tables.len(), shown(&graph, &tree)),
        (false, 3, vec!["team.coach=person.id".into()])
    );
    assert!(joiner.tree(&[99], &[]).tables.is_empty() && joiner.tree(&[], &[]).is_connected());
    assert_eq!(joiner.alternatives(&[], &[], &joiner.tree(&[], &[])), []);
}

#[test]
fn traps_are_told() {
    let graph = graph(LEAGUE);
    let joiner = Joiner::new(&graph);
    let tree = joiner.tree(&numbers(&graph, &["goal", "card", "game"]), &[]);
    let found: Vec<String> = traps(&graph, &tree, &[]).iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("chasm: a row of game has many rows of goal and many of card"), "{found:?}");
    let tree = joiner.tree(&numbers(&graph, &["team", "person"]), &[]);
    let person = graph.table("person").unwrap();
    assert_eq!(traps(&graph, &tree, &[person]), [Trap::FanOut { one: "person".into(), many: "team".into() }]);
    assert_eq!(traps(&graph, &tree, &[]), []);
}

#[test]
fn traps_of_a_statement_are_read_from_its_sql() {
    let graph = graph(
        "CREATE TABLE orders (id INT PRIMARY KEY, fee INT);
         CREATE TABLE payment (id INT PRIMARY KEY, order_id INT REFERENCES orders, amount INT);
         CREATE TABLE delivery (id INT PRIMARY KEY, order_id INT REFERENCES orders, weight INT);
         CREATE TABLE route (no INT, season INT, price INT, PRIMARY KEY (no, season));
         CREATE TABLE stop (no INT, season INT, place INT, FOREIGN KEY (no, season) REFERENCES route (no, season))",
    );
    let told = |sql: &str| -> Vec<String> {
        let found = traps_of_statement(sql, &graph, SqlDialect::Sqlite);
        found.iter().map(|trap| trap.to_string().split([':', ';']).take(2).collect()).collect()
    };
    let fan = ["fan-out a row of orders appears once for each of its rows of payment"];
    for sql in [
        "SELECT sum(o.fee) FROM orders o JOIN payment p ON p.order_id = o.id",
        "SELECT avg(fee) FROM orders, payment WHERE (orders.id = order_id AND amount > 3)",
        "SELECT x FROM (SELECT total(fee) AS x FROM payment LEFT JOIN \"orders\" o ON o.id = order_id GROUP BY fee)",
        "SELECT 1 FROM main.orders o JOIN payment p ON o.id = p.order_id GROUP BY p.id HAVING count(o.id) > 1",
    ] {
        assert_eq!(told(sql), fan, "{sql}");
    }
    let chasm = told(
        "SELECT count(*), o.id FROM orders o JOIN payment p ON p.order_id = o.id JOIN delivery d ON d.order_id = o.id \
         GROUP BY o.id",
    );
    assert_eq!(chasm.len(), 1);
    assert!(chasm[0].starts_with("chasm a row of orders has many rows of payment and many of delivery"), "{chasm:?}");
    assert_eq!(told("SELECT sum(price) FROM route JOIN stop USING (no, season)").len(), 1);
    assert_eq!(told("SELECT sum(price) FROM route NATURAL JOIN stop").len(), 1);
    for sql in [
        // Each once.
        "SELECT sum(p.amount), max(o.fee), count(DISTINCT o.id) FROM orders o JOIN payment p ON p.order_id = o.id",
        "SELECT o.fee, p.amount FROM orders o JOIN payment p ON p.order_id = o.id",
        "SELECT sum(fee) FROM orders WHERE id IN (SELECT order_id FROM payment)",
        "SELECT sum(fee) OVER (ORDER BY p.id) FROM orders o JOIN payment p ON p.order_id = o.id",
        "SELECT fee, (SELECT sum(o.fee) FROM orders o) FROM orders JOIN payment p ON p.order_id = orders.id",
        // Half of a key, and what is no key.
        "SELECT sum(price) FROM route r JOIN stop s ON r.no = s.no",
        "SELECT sum(fee) FROM orders o JOIN payment p ON p.amount = o.fee OR p.order_id = o.id",
        // Another table of this name.
        "WITH payment AS (SELECT max(order_id) AS order_id FROM payment GROUP BY order_id) \
         SELECT sum(fee) FROM orders o JOIN payment p ON p.order_id = o.id",
        "SELECT sum(",
        "DROP TABLE orders",
        "",
    ] {
        assert_eq!(told(sql), Vec::<String>::new(), "{sql}");
    }
}

#[test]
fn regression_a_chasm_past_the_table_that_both_refer_to_is_told() {
    let (schema, _) = Schema::from_ddl(
        "CREATE TABLE orders (id INT PRIMARY KEY);
         CREATE TABLE payment (id INT PRIMARY KEY, order_id INT REFERENCES orders, amount INT);
         CREATE TABLE delivery (id INT PRIMARY KEY, order_id INT REFERENCES orders, weight INT)",
        SqlDialect::Generic,
    )
    .unwrap();
    let graph = SchemaGraph::new(&schema, &Semantics::default(), SqlDialect::Generic).unwrap().with_guessed_joins();
    let joiner = Joiner::new(&graph);
    let tree = joiner.tree(&numbers(&graph, &["payment", "delivery"]), &[]);
    assert_eq!(shown(&graph, &tree), ["payment.order_id=delivery.order_id"]);
    // Nothing guesses what the two keys say.
    assert!(tree.joins_in(&graph).all(|join| join.origin == JoinOrigin::Implied));
    let found: Vec<String> = traps(&graph, &tree, &[]).iter().map(ToString::to_string).collect();
    assert!(found[0].starts_with("chasm: a row of orders has many rows of payment and many of delivery"), "{found:?}");
    assert_eq!(found.len(), 1);
}

/// The cost of the cheapest tree by trying all sets of tables.
fn brute(joiner: &Joiner<'_>, count: usize, terminals: &[usize]) -> Option<usize> {
    let connected = |set: usize| {
        let Some(first) = (0..count).find(|table| set & (1 << table) != 0) else { return true };
        let (mut seen, mut open) = (1 << first, vec![first]);
        while let Some(table) = open.pop() {
            for (_, other) in joiner.joins_of(table).filter(|(_, other)| set & (1 << other) != 0) {
                if seen & (1 << other) == 0 {
                    seen |= 1 << other;
                    open.push(other);
                }
            }
        }
        seen == set
    };
    let wanted: usize = terminals.iter().fold(0, |set, table| set | 1 << table);
    (0..1 << count)
        .filter(|set| set & wanted == wanted && connected(*set))
        .map(|set: usize| set.count_ones() as usize)
        .min()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn trees_are_the_cheapest(links in proptest::collection::vec((0..8_usize, 0..8_usize), 4..14), chosen in 1..255_usize) {
        let ddl: String = (0..8).map(|table| {
            let keys: String = links.iter().enumerate().filter(|(_, link)| link.0 == table)
                .map(|(at, link)| format!(", k{at} INT REFERENCES t{} (id)", link.1)).collect();
            format!("CREATE TABLE t{table} (id INT PRIMARY KEY{keys});")
        }).collect();
        let graph = graph(&ddl);
        let joiner = Joiner::new(&graph);
        let terminals: Vec<usize> = (0..8).filter(|table| chosen & (1 << table) != 0).collect();
        let tree = joiner.tree(&terminals, &[]);
        prop_assert!(terminals.iter().all(|table| tree.tables.contains(table)));
        match brute(&joiner, 8, &terminals) {
            // Before tables in between are left out.
            Some(best) => {
                prop_assert_eq!(Local::new(&joiner, &terminals, &[], None).cheapest(&terminals).len(), best - 1);
                prop_assert!(tree.is_connected() && tree.tables.len() <= best);
            }
            None => prop_assert!(!tree.is_connected()),
        }
    }
}
