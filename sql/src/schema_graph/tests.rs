//! Graphs of good and bad schemas.

use super::*;
use crate::schema::Schema;

fn of(ddl: &str, semantics: &str) -> SchemaGraph {
    let (schema, problems) = Schema::from_ddl(ddl, SqlDialect::Generic).unwrap();
    assert_eq!(problems, []);
    SchemaGraph::new(&schema, &Semantics::parse(semantics).unwrap(), SqlDialect::Generic).unwrap()
}

fn id(graph: &SchemaGraph, column: &str) -> usize {
    let (table, column) = column.split_once('.').unwrap();
    graph.column(graph.table(table).unwrap(), column).unwrap()
}

fn derivations(graph: &SchemaGraph) -> Vec<String> {
    let shown =
        |&(column, source): &(usize, usize)| format!("{} < {}", graph.column_id(column), graph.column_id(source));
    graph.derivations().iter().map(shown).collect()
}

const LEAGUE: &str = "CREATE TABLE team (id INT PRIMARY KEY, name TEXT, parent INT REFERENCES team (id));
    CREATE TABLE game (no INT, season INT, home INT REFERENCES team, away INT REFERENCES team, PRIMARY KEY (no, season));
    CREATE TABLE goal (no INT, season INT, minute INT, FOREIGN KEY (no, season) REFERENCES game (no, season));
    CREATE VIEW scorers AS SELECT t.name AS team, count(g.minute) AS goals FROM goal g
      JOIN game USING (no, season) JOIN team t ON t.id = game.home GROUP BY t.name;
    CREATE VIEW top AS SELECT * FROM scorers ORDER BY goals";

#[test]
fn nodes_and_edges_of_a_schema() {
    let graph = of(LEAGUE, "[tables.goal.columns.minute]\ncontext = ['season']");
    let typed = graph.graph();
    let node = |name: &str| typed.nodes().iter().position(|node| node.id == name).unwrap() as u32;
    let into = |name: &str, kind: &str| -> Vec<&str> {
        let found = typed.neighbours(node(name), &[kind]).unwrap();
        found.iter().map(|&at| typed.nodes()[at as usize].id.as_str()).collect()
    };
    assert_eq!(into("game.no", edge::PRIMARY_KEY), ["game.season", "game.home", "game.away"]);
    assert_eq!(into("game.season", edge::FOREIGN_KEY), ["goal.season"]);
    assert_eq!(into("team.id", edge::FOREIGN_KEY), ["team.parent", "game.home", "game.away"]);
    assert_eq!(into("goal.season", edge::CONTEXT), ["goal.minute"]);
    assert_eq!(into("game", edge::KEY_OF), ["game.primary_key", "goal.foreign_key1"]);
    assert_eq!(into("goal.foreign_key1", edge::PART_OF_KEY), ["goal.no", "goal.season"]);
    assert_eq!(into("team.name", edge::DERIVATION), ["scorers.team"]);
    let path = typed.path(node("goal.minute"), node("team.id"), &[edge::CONTEXT, edge::FOREIGN_KEY, edge::PRIMARY_KEY]);
    assert_eq!(path.unwrap(), None, "the key of team is reached from game.home alone");
    assert_eq!(typed.to_petgraph().edge_count(), typed.adjacency().edges());
    assert!(typed.to_dot().contains("scorers.goals") && typed.to_graphml().contains("foreign_key"));
}

#[test]
fn views_on_views_lead_to_tables() {
    let graph = of(LEAGUE, "");
    assert_eq!(
        derivations(&graph),
        [
            "scorers.team < team.name", "scorers.goals < goal.minute", "top.team < scorers.team",
            "top.goals < scorers.goals"
        ]
    );
    let base: Vec<String> =
        graph.base_columns(id(&graph, "top.goals")).into_iter().map(|c| graph.column_id(c)).collect();
    assert_eq!(base, ["goal.minute"]);
}

#[test]
fn composite_parallel_and_self_keys_stay_whole() {
    let graph = of(LEAGUE, "");
    let joins: Vec<String> = graph
        .joins()
        .iter()
        .map(|join| {
            let shown = |&(a, b): &(usize, usize)| format!("{}={}", graph.column_id(a), graph.column_id(b));
            join.pairs.iter().map(shown).collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(
        joins,
        ["team.parent=team.id", "game.home=team.id", "game.away=team.id", "goal.no=game.no goal.season=game.season"]
    );
}

#[test]
fn keys_to_one_column_imply_a_join_and_names_are_guessed_where_wanted() {
    let ddl = "CREATE TABLE school (code TEXT PRIMARY KEY, zip TEXT);
        CREATE TABLE score (cds TEXT REFERENCES school, math INT); CREATE TABLE meal (cds TEXT REFERENCES school);
        CREATE TABLE station (id INT PRIMARY KEY, city TEXT);
        CREATE TABLE trip (id INT PRIMARY KEY, start_station_id INT, code TEXT)";
    let graph = of(ddl, "");
    let shown = |graph: &SchemaGraph, origin: JoinOrigin| -> Vec<String> {
        let joins = graph.joins().iter().filter(|join| join.origin == origin);
        joins.map(|join| format!("{}={}", graph.column_id(join.pairs[0].0), graph.column_id(join.pairs[0].1))).collect()
    };
    assert_eq!(shown(&graph, JoinOrigin::Implied), ["score.cds=meal.cds"]);
    assert_eq!(shown(&graph, JoinOrigin::Guessed), [""; 0]);
    let guessed = graph.with_guessed_joins();
    assert_eq!(shown(&guessed, JoinOrigin::Guessed), ["trip.start_station_id=station.id"]);
    // The login of a third table joins what the login of another is declared to join; an id might be any.
    let ddl = "CREATE TABLE staff (login TEXT, id INT); CREATE TABLE person (login TEXT, id INT);
        CREATE TABLE member (of_list INT, who TEXT REFERENCES staff (login), number INT REFERENCES staff (id))";
    assert_eq!(shown(&of(ddl, "").with_guessed_joins(), JoinOrigin::Guessed), ["member.who=person.login"]);
}

#[test]
fn bad_schemas_are_used_as_far_as_they_go() {
    let graph = of(
        "CREATE TABLE a (x INT REFERENCES b (y), z INT REFERENCES gone (y), w INT REFERENCES b (gone));
         CREATE TABLE b (y INT REFERENCES a (x));
         CREATE TABLE \"A\" (\"select\" INT);
         CREATE TABLE none ();
         CREATE VIEW one AS SELECT * FROM two; CREATE VIEW two AS SELECT * FROM one;
         CREATE VIEW broken AS SELECT m.x, a.x FROM missing m, a;
         CREATE TABLE b (other INT)",
        "",
    );
    let names: Vec<&str> = graph.tables().iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "A", "none", "one", "two", "broken"]);
    let problems: Vec<String> = graph.problems().iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "b is there twice; the second one is left out",
            "the view one reads itself",
            "the view two reads itself",
            "a foreign key of a (z) leads nowhere: to gone",
            "a foreign key of a (w) leads nowhere: to b",
        ]
    );
    // Tables that refer to each other in a circle are joined both ways.
    assert_eq!(graph.joins().len(), 2);
    assert_eq!(derivations(&graph), ["broken.x < a.x"]);
    let own =
        of("CREATE TABLE t (x INT); CREATE VIEW age AS WITH age AS (SELECT x AS age FROM t) SELECT age FROM age", "");
    assert_eq!((own.problems(), derivations(&own).as_slice()), (&[][..], &["age.age < t.x".to_owned()][..]));
    assert_eq!((graph.table("A"), graph.table("a"), graph.table("NONE")), (Some(2), Some(0), Some(3)));
}

#[test]
fn semantics_fit_the_schema_or_say_what_does_not() {
    let (schema, _) = Schema::from_ddl(LEAGUE, SqlDialect::Generic).unwrap();
    let message = |text: &str| {
        let semantics = Semantics::parse(text).unwrap();
        SchemaGraph::new(&schema, &semantics, SqlDialect::Generic).unwrap_err().to_string()
    };
    assert_eq!(
        message("[tables.gaol]"),
        "the semantic file: tables names \"gaol\", which is not there; the nearest is \"goal\""
    );
    assert!(message("[tables.goal.columns.minutes]").ends_with("the nearest is \"minute\""));
    assert!(message("[[relations]]\nfrom='game'\nto='team'\nfrom_columns=['home']").contains("1 and 0 columns"));
    let graph = of(
        LEAGUE,
        "[tables.team]\nname='club'\nsynonyms=['side']\n[tables.TEAM2]\nhidden=true\n"
            .replace("[tables.TEAM2]\nhidden=true\n", "")
            .as_str(),
    );
    assert_eq!(graph.tables()[0].names, ["club", "side"]);
    let derived = of(
        "CREATE TABLE person (id INT, mail TEXT); CREATE VIEW contact AS SELECT id, lower(mail) AS address FROM person",
        "[tables.person.columns.mail]\nhidden = true",
    );
    let is_hidden = |name: &str| derived.columns()[id(&derived, name)].hidden;
    assert!(is_hidden("contact.address") && !is_hidden("contact.id"), "what a view makes of a hidden field is hidden");
    let hidden = of(LEAGUE, "[tables.team]\nhidden = true");
    assert!(hidden.table("team").is_none());
    assert_eq!(hidden.joins().len(), 1, "keys to a hidden table go with it");
    assert_eq!(hidden.problems(), []);
    let relation = "[[relations]]\nfrom='game'\nfrom_columns=['home']\nto='team'\nto_columns=['id']\nrole='host'";
    let graph = of(LEAGUE, relation);
    assert_eq!((graph.joins().len(), graph.joins()[1].role.as_deref()), (4, Some("host")));
}

#[test]
fn five_thousand_tables_and_two_hundred_columns() {
    let mut ddl = String::new();
    for table in 0..5000 {
        let width = if table == 0 { 200 } else { 4 };
        let columns: Vec<String> = (0..width).map(|c| format!("c{c} INT")).collect();
        let key = if table > 0 { format!(", FOREIGN KEY (c1) REFERENCES t{} (c0)", table / 2) } else { String::new() };
        ddl += &format!("CREATE TABLE t{table} ({}, PRIMARY KEY (c0){key});", columns.join(", "));
    }
    let graph = of(&ddl, "");
    let declared = graph.joins().iter().filter(|join| join.origin == JoinOrigin::Declared).count();
    assert_eq!((graph.tables().len(), graph.columns().len(), declared), (5000, 200 + 4 * 4999, 4999));
    assert!(html(&graph, "<large>").contains("&lt;large&gt;"));
}

#[test]
fn lineage_looks_through_subqueries_and_set_operations() {
    let columns = |name: &str| match name {
        "a" => Some(vec!["x".to_owned(), "y".to_owned()]),
        "b" => Some(vec!["x".to_owned(), "z".to_owned()]),
        _ => None,
    };
    let read = |sql: &str| -> Vec<String> {
        let derived = lineage(sql, SqlDialect::Postgres, &columns).unwrap();
        let shown = |of: Derived| {
            let sources: Vec<String> =
                of.sources.into_iter().map(|(table, column)| format!("{table}.{column}")).collect();
            format!("{}:{}", of.name, sources.join(","))
        };
        derived.into_iter().map(shown).collect()
    };
    assert_eq!(read("SELECT * FROM a JOIN b USING (x)"), ["x:a.x", "y:a.y", "z:b.z"]);
    assert_eq!(read("SELECT x, y FROM a UNION ALL SELECT z, x FROM b"), ["x:a.x,b.z", "y:a.y,b.x"]);
    assert_eq!(read("WITH c (p) AS (SELECT y FROM a WHERE x > 1) SELECT p + 1 AS q FROM c"), ["q:a.y"]);
    assert_eq!(read("SELECT (SELECT max(z) FROM b WHERE b.x = a.x) AS m FROM a"), ["m:b.z"]);
    assert_eq!(read("SELECT row_number() OVER (PARTITION BY x ORDER BY y) AS n FROM a"), ["n:a.x,a.y"]);
    assert_eq!(read("SELECT y AS p, p * 2 AS q FROM a"), ["p:a.y", "q:a.y"]);
    assert_eq!(
        read("WITH RECURSIVE r AS (SELECT x, y FROM a UNION SELECT b.z, r.y FROM b JOIN r ON true) SELECT * FROM r"),
        ["x:a.x,b.z", "y:a.y"]
    );
    assert_eq!(read("SELECT t.x, u FROM unknown t"), ["x:unknown.x", "u:unknown.u"]);
    assert_eq!(read("CREATE VIEW v (m) AS SELECT y FROM a"), ["m:a.y"]);
    assert!(matches!(lineage("SELEC", SqlDialect::Generic, &columns), Err(LineageError::Syntax(_))));
    assert_eq!(lineage("", SqlDialect::Generic, &columns), Err(LineageError::NoQuery));
}

#[test]
fn calculated_fields_are_columns_made_of_others() {
    let ddl = r#"CREATE TABLE "order item" (id INT PRIMARY KEY, price REAL, quantity INT, note TEXT);
        CREATE TABLE other (price REAL);
        CREATE VIEW v AS SELECT price AS p FROM other"#;
    let field = |expression: &str| {
        let quoted = toml::Value::from(expression);
        format!("[tables.'Order Item'.columns.revenue]\nsynonyms = ['turnover']\nexpression = {quoted}")
    };
    let graph = of(ddl, &field("Price * quantity - coalesce(max(price, 1), 0)"));
    let revenue = id(&graph, "order item.revenue");
    let node = &graph.columns()[revenue];
    assert_eq!((node.kind, node.names.as_slice()), (ColumnKind::Number, &["turnover".to_owned()][..]));
    assert_eq!(
        graph.column_sql(revenue, false),
        r#"("order item"."price" * "order item"."quantity" - coalesce(max("order item"."price", 1), 0))"#
    );
    assert_eq!(
        derivations(&graph),
        ["order item.revenue < order item.price", "order item.revenue < order item.quantity", "v.p < other.price"]
    );
    let base: Vec<String> = graph.base_columns(revenue).into_iter().map(|c| graph.column_id(c)).collect();
    assert_eq!(base, ["order item.price", "order item.quantity"]);
    assert_eq!(graph.tables()[1].columns.len(), 1);

    let (schema, _) = Schema::from_ddl(ddl, SqlDialect::Generic).unwrap();
    let refused = |expression: &str| {
        let semantics = Semantics::parse(&field(expression)).unwrap();
        SchemaGraph::new(&schema, &semantics, SqlDialect::Sqlite).unwrap_err().to_string()
    };
    for (expression, message) in [
        ("prize * 2", r#"names "prize", which is not there; the nearest is "price""#),
        ("other.price", "which is not there"),
        ("revenue + price", "which is not there"),
        ("sum(price)", "sum reads several rows"),
        ("row_number() OVER (ORDER BY price)", "row_number reads several rows"),
        ("(SELECT price FROM other)", "has a SELECT"),
        ("price IN (SELECT 1)", "has a SELECT"),
        ("price); DROP TABLE other; --", "Expected"),
        ("price, quantity", "Expected"),
        ("1 + 1", "reads no column"),
        ("", "Expected"),
    ] {
        let error = refused(expression);
        assert!(
            error.contains(message) && error.contains("tables.Order Item.columns.revenue"),
            "{expression}: {error}"
        );
    }
    assert!(refused(&"(".repeat(10_000)).contains("recursion"));
    let there = "[tables.other.columns.price]\nexpression = 'price'";
    let error = SchemaGraph::new(&schema, &Semantics::parse(there).unwrap(), SqlDialect::Sqlite).unwrap_err();
    assert!(error.to_string().contains("has a column of this name"), "{error}");
}

#[test]
fn tables_are_named_with_the_schemas_that_they_need() {
    let ddl = r#"CREATE TABLE singer (id INT PRIMARY KEY, name TEXT); CREATE TABLE "c.d" (id INT);
        CREATE TABLE concert (id INT PRIMARY KEY, singer_id INT REFERENCES singer, year INT);"#;
    let schema = Schema::from_ddl(ddl, SqlDialect::Postgres).unwrap().0;
    let semantics = |name: &str| {
        let expressions = ["2024 - concert.year", "2024 - \"a.b\".Concert.year", "2024 - year"];
        expressions.map(|expression| {
            let text = format!("[tables.'{name}'.columns.age]\nexpression = '{expression}'");
            Semantics::parse(&text).unwrap()
        })
    };
    for semantics in semantics("a.b.concert") {
        let graph = SchemaGraph::new(&schema.clone().in_schema("a.b"), &semantics, SqlDialect::Postgres).unwrap();
        let column = |table: &str, name: &str| graph.column(graph.table(table).unwrap(), name).unwrap();
        let name = column("a.b.singer", "name");
        assert_eq!(graph.column_id(name), "a.b.singer.name");
        assert_eq!(graph.column_sql(name, true), r#""a.b"."singer"."name""#);
        assert_eq!(graph.column_sql(name, false), r#""name""#);
        assert_eq!(graph.column_sql(column("a.b.concert", "age"), false), r#"(2024 - "a.b"."concert"."year")"#);
        let names: Vec<(String, &str)> = graph.tables().iter().map(|t| (t.quoted(), t.own_name())).collect();
        let wanted = [(r#""a.b"."singer""#, "singer"), (r#""a.b"."c.d""#, "c.d"), (r#""a.b"."concert""#, "concert")];
        assert_eq!(names, wanted.map(|(quoted, own)| (quoted.to_owned(), own)));
        assert_eq!(graph.joins().len(), 1);
    }
    let graph = SchemaGraph::new(&schema, &semantics("concert")[0], SqlDialect::Postgres).unwrap();
    let names: Vec<String> = graph.tables().iter().map(TableNode::quoted).collect();
    assert_eq!(names, [r#""singer""#, r#""c.d""#, r#""concert""#]);
    let other = SchemaGraph::new(&schema, &semantics("concert")[1], SqlDialect::Postgres).unwrap_err();
    assert!(other.to_string().contains("which is not there"), "{other}");
}
