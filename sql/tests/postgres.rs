//! A PostgreSQL server behind the fence: a private one, in a temporary folder.
#![cfg(feature = "postgres")]

#[path = "postgres/private.rs"]
mod private;

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use postgres::Client;
use private::{PASSWORD, Private};
use serde_json::Value as Json;
use tabsegnet_sql::postgres::Server;
use tabsegnet_sql::schema_graph::{SchemaGraph, Semantics, SqlDialect};
use tabsegnet_sql::{Origin, QueryError, Rows, Sandbox, Value};
use tabsegnet_test_support::{path_in, say};

const QUERY: &str = env!("CARGO_BIN_EXE_query");

/// The longest that any statement may take with the default deadline.
const LONGEST: Duration = Duration::from_secs(15);

const TABLES: &str = "
    CREATE TABLE t (a int PRIMARY KEY, b int); INSERT INTO t SELECT i, i % 7 FROM generate_series(0, 999) i;
    CREATE TABLE secret (password text); INSERT INTO secret VALUES ('hunter2');
    CREATE VIEW view_on_secret AS SELECT password FROM secret;
    CREATE VIEW view_on_view AS SELECT 1 AS one FROM view_on_secret;
    CREATE TABLE other (x int REFERENCES t, y numeric, z text, w bytea, v bool);
    INSERT INTO other VALUES (1, 1.50, 'ü', '\\x00ff', true), (NULL, NULL, NULL, NULL, NULL);
    CREATE SCHEMA s; CREATE TABLE s.u (n int);
    CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1';
    CREATE SEQUENCE numbers";

fn hiding(hide: &[&str]) -> Sandbox {
    Sandbox { hidden: hide.iter().map(|name| (*name).to_owned()).collect(), ..Sandbox::default() }
}

fn count(client: &mut Client) -> (i64, i64, i64) {
    let row = client
        .query_one(
            "SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM pg_class), (SELECT count(*) FROM pg_largeobject_metadata)",
            &[],
        )
        .unwrap();
    (row.get(0), row.get(1), row.get(2))
}

/// Statements beside the list: what a read-only role of PostgreSQL may do.
const REFUSED: &[&str] = &[
    "SELECT lo_create(0)",
    "SELECT nextval('numbers')",
    "SELECT mine()",
    "SELECT txid_current()",
    "SELECT query_to_xml('delete from t', true, false, '')",
    "SELECT * FROM pg_class",
    "SELECT * FROM pg_catalog.pg_class",
    "SELECT relname FROM information_schema.tables",
    "SELECT * FROM pg_stat_activity",
    "SELECT * FROM view_on_view",
    "SELECT * FROM public.secret",
    "SELECT * FROM \"secret\"",
    "SELECT 'secret'::regclass::oid",
    "WITH secret AS (SELECT * FROM secret) SELECT * FROM secret",
    "SELECT 1 FROM (WITH secret AS (SELECT 1) SELECT 1 FROM secret) x, secret",
    "WITH pg_class AS (SELECT 1) SELECT * FROM pg_class",
    "SELECT $1",
    "SELECT FROM t",
    "SELECT 1 FROM numbers",
    "SELECT t.a FROM t WHERE a = (SELECT pg_backend_pid())",
    "SELECT pg_advisory_lock(1)",
    "SELECT 1/0",
    "SELECT nothing FROM t",
];

const ANSWERED: &[&str] = &[
    "SELECT count(*) FROM t",
    "SELECT b, sum(a) FROM t GROUP BY b HAVING sum(a) > 3 ORDER BY 2 DESC",
    "SELECT * FROM public.t, s.u",
    "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT sum(i) FROM n",
    "SELECT row_number() OVER (ORDER BY a DESC), 'x' || a FROM t LIMIT 3",
    "SELECT date_trunc('month', DATE '2024-05-06'), extract(year FROM now()) > 2000",
    "SELECT generate_series FROM generate_series(1, 3)",
    "SELECT a AS \"A\", a AS \"A\" FROM t ORDER BY a DESC",
    "SELECT a::text LIKE '1%', round(a::numeric / 3, 2) FROM t",
    "WITH secret AS (SELECT 1) SELECT * FROM secret",
    "WITH t AS (SELECT * FROM t WHERE a > 990) SELECT count(*) FROM t, public.t u WHERE u.a = t.a",
    "SELECT T.a, public.t.b, (SELECT max(x.b) FROM t AS x WHERE x.a < t.a) FROM t WHERE a < 9",
];

#[test]
fn statements_are_held() {
    let Some(private) = Private::start("statements_are_held") else { return };
    let mut owner = private.owner();
    owner.batch_execute(TABLES).unwrap();
    let before = count(&mut owner);
    let mut server = Server::connect(&private.url("owner", PASSWORD), &hiding(&["Secret", "nothing"])).unwrap();
    let mut wrong = Vec::new();
    for sql in REFUSED {
        match server.query(sql) {
            Err(QueryError::Refused { .. }) => {}
            other => wrong.push(format!("{sql}: {other:?}")),
        }
    }
    for sql in ANSWERED {
        if let Err(error) = server.query(sql) {
            wrong.push(format!("{sql}: {error}"));
        }
    }
    let mut listed = String::new();
    if let Some(folder) =
        path_in("TABSEGNET_DATASETS", "the list of hostile statements on PostgreSQL", "the folder of the shared data")
    {
        let mut list = String::new();
        let file = std::fs::File::open(folder.join("sql/hostile.json.gz")).unwrap();
        flate2::read::GzDecoder::new(file).read_to_string(&mut list).unwrap();
        let (mut through, mut unanswered, mut not_postgres, mut slowest) = (0, 0, 0, Duration::ZERO);
        let cases: Vec<Json> = serde_json::from_str(&list).unwrap();
        for case in &cases {
            let (sql, want) = (case["sql"].as_str().unwrap(), case["want"].as_str().unwrap());
            let mut timed = || {
                let start = Instant::now();
                (server.query(sql), start.elapsed())
            };
            let (mut outcome, mut took) = timed();
            // A busy machine can hold up any process.
            if took > LONGEST {
                (outcome, took) = timed();
            }
            slowest = slowest.max(took);
            let shown: String = sql.chars().take(90).collect();
            let failed = matches!(outcome, Err(QueryError::Failed { .. }));
            if want == "deny" && outcome.is_ok() || failed {
                through += 1;
                wrong.push(format!("{want}: {shown}: {:?}", outcome.map(|rows| rows.rows.len())));
            } else if want == "answer" && outcome.is_err() {
                // Quotes and functions of other databases.
                if owner.query(sql, &[]).is_err() {
                    not_postgres += 1;
                } else {
                    unanswered += 1;
                    wrong.push(format!("{want}: {shown}: {outcome:?}"));
                }
            }
        }
        if slowest > LONGEST {
            wrong.push(format!("the slowest took {slowest:?}"));
        }
        listed = format!(
            "; of the list's {} statements {through} got through, {unanswered} harmless ones were not answered \
             ({not_postgres} are not PostgreSQL's), the slowest took {slowest:?}",
            cases.len()
        );
    }
    say(&format!(
        "PostgreSQL: {} refused and {} answered wanted, {} went wrong{listed}",
        REFUSED.len(),
        ANSWERED.len(),
        wrong.len()
    ));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(count(&mut owner), before);
}

/// Functions, an operator and casts that only fail where they are called.
const OWN: &str = "
    CREATE TABLE p (id int, name text, height float8, path int[], mine int);
    INSERT INTO p VALUES (1, 'Ann', 1.5, '{4,5}', 3);
    CREATE TABLE secret (password text); INSERT INTO secret VALUES ('hunter2');
    CREATE FUNCTION snooze(p) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE 'CALLED'; END$$;
    CREATE FUNCTION peek(record) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE 'CALLED'; END$$;
    CREATE FUNCTION abs(text) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE 'CALLED'; END$$;
    CREATE FUNCTION lower(p) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE 'CALLED'; END$$;
    CREATE FUNCTION plus(int, text) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE 'CALLED'; END$$;
    CREATE OPERATOR + (LEFTARG = int, RIGHTARG = text, FUNCTION = plus);
    CREATE TYPE mood AS ENUM ('good', 'bad');
    CREATE TABLE m (id int, x mood); INSERT INTO m VALUES (1, 'good');
    CREATE VIEW of_m AS SELECT ARRAY[x] AS x FROM m; CREATE VIEW ids AS SELECT id FROM m;
    CREATE FUNCTION mood_text(mood) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE 'CALLED'; END$$;
    CREATE CAST (mood AS text) WITH FUNCTION mood_text(mood) AS IMPLICIT;
    CREATE TABLE q (id int); INSERT INTO q VALUES (1);
    CREATE FUNCTION q_text(q) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE 'CALLED'; END$$;
    CREATE CAST (q AS text) WITH FUNCTION q_text(q);
    CREATE FUNCTION odd(text) RETURNS bool LANGUAGE plpgsql AS $$BEGIN RAISE 'CALLED'; END$$;
    CREATE DOMAIN checked AS text CHECK (odd(VALUE)); CREATE TABLE d (v checked);
    CREATE DOMAIN plain AS text CHECK (VALUE <> ''); CREATE TABLE e (v plain); INSERT INTO e VALUES ('x');";

/// What calls one of them, or a function of the server that is not on the list, in ways other than `f(x)`.
const CALLS: &[&str] = &[
    "SELECT p.snooze FROM p",
    "SELECT (p).snooze FROM p",
    "SELECT x.snooze FROM p AS x",
    "SELECT public.p.snooze FROM p",
    "SELECT id FROM p ORDER BY p.snooze",
    "SELECT x.peek FROM (SELECT 1 AS a) x",
    "SELECT abs('1'::text)",
    "SELECT lower(p) FROM p",
    "SELECT 1 + 'a'::text",
    "SELECT x FROM m",
    "SELECT x::text FROM m",
    "SELECT count(*) FROM m",
    "SELECT x FROM of_m",
    "SELECT q::text FROM q",
    "SELECT lag(v, 1, 'x') OVER () FROM d",
    "SELECT g.pg_sleep FROM generate_series(1, 2) g",
    "SELECT 1 AS pg_sleep, g.pg_sleep FROM generate_series(1, 2) g",
    "WITH x AS (SELECT 1 AS pg_sleep) SELECT (SELECT x.pg_sleep FROM generate_series(1, 2) x) FROM x",
    "WITH x AS (SELECT 1 AS pg_sleep) SELECT 1 FROM (WITH x AS (SELECT 1) SELECT x.pg_sleep FROM x) y",
    "SELECT generate_series.pg_sleep FROM generate_series(1, 2)",
    "SELECT x.height FROM generate_series(1, 2) x",
    "SELECT (1::float8).pg_sleep",
    "SELECT (ARRAY[1.5])[1].pg_sleep",
    "SELECT ('secret').regclass",
];

#[test]
fn functions_are_called_by_no_other_way() {
    let Some(private) = Private::start("functions_are_called_by_no_other_way") else { return };
    let mut owner = private.owner();
    owner.batch_execute(OWN).unwrap();
    let mut server = Server::connect(&private.url("owner", PASSWORD), &Sandbox::default()).unwrap();
    for sql in CALLS {
        let found = server.query(sql);
        assert!(
            matches!(&found, Err(QueryError::Refused { reason }) if !reason.contains("CALLED")),
            "{sql}: {found:?}"
        );
    }
    for (sql, wanted) in [
        ("SELECT p.id, P.Name, p.height, public.p.height, p.mine, p.path[2] FROM p", "1 Ann 1.5 1.5 3 5"),
        ("SELECT x.height FROM (SELECT * FROM p) x", "1.5"),
        ("WITH x AS (SELECT p.* FROM p), y AS (SELECT height FROM x UNION SELECT 2) SELECT max(y.height) FROM y", "2"),
        ("SELECT x.height FROM (SELECT 7 AS height) x", "7"),
        ("SELECT max(x.height) FROM generate_series(1, 2) AS x(height)", "2"),
        ("SELECT a.height FROM p a JOIN p b USING (id) JOIN e ON true", "1.5"),
        ("SELECT abs(-1), lower('A'), 1 + 1, id, v FROM ids, e", "1 a 2 1 x"),
    ] {
        let found = server.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let values: Vec<String> = found.rows[0]
            .iter()
            .map(|value| match value {
                Value::Integer(value) => value.to_string(),
                Value::Real(value) => value.to_string(),
                Value::Text(text) => text.clone(),
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(values.join(" "), wanted, "{sql}");
    }
    // A cast from one of the server's own types to another is open to all statements.
    let cast = "CREATE FUNCTION as_point(text) RETURNS point LANGUAGE sql AS 'SELECT point(1, 2)';
        CREATE CAST (text AS point) WITH FUNCTION as_point(text) AS IMPLICIT";
    owner.batch_execute(cast).unwrap();
    let found = server.query("SELECT 1");
    assert!(matches!(&found, Err(QueryError::Refused { reason }) if reason.contains("text to point")), "{found:?}");
}

/// Quotes behind backslashes, and quotes in a row, end no text early: it would be the rest of the statement that runs.
#[test]
fn texts_are_sent_as_they_were_understood() {
    let Some(private) = Private::start("texts_are_sent_as_they_were_understood") else { return };
    private.owner().batch_execute(TABLES).unwrap();
    let mut server = Server::connect(&private.url("owner", PASSWORD), &hiding(&["secret"])).unwrap();
    for (sql, wanted) in [
        (
            "SELECT '\\'' || (SELECT password FROM secret) || pg_sleep(9)::text --' || $a$\n || $b$ $a$ || $b$ x$b$",
            "\\' || (SELECT password FROM secret) || pg_sleep(9)::text --\n || $b$  x",
        ),
        ("SELECT 'a''''b\\'''", "a''b\\'"),
        ("SELECT E'it\\'s' || U&'\\0041' || N'''' || $x$'$x$", "it'sA''"),
        ("SELECT \"\\\"\"x\" FROM (SELECT 'y') AS z(\"\\\"\"x\")", "y"),
    ] {
        assert_eq!(rows(&mut server, sql).rows, [[Value::Text(wanted.to_owned())]], "{sql}");
    }
}

/// What a statement gets is what it gets from a database without the table, and views that may read it are not there.
#[test]
fn hidden_tables_are_as_if_they_were_not_there() {
    let Some(private) = Private::start("hidden_tables_are_as_if_they_were_not_there") else { return };
    let tables = "CREATE TABLE p (id int, name text); INSERT INTO p VALUES (1, 'Ann');
        CREATE TABLE secret (password text); INSERT INTO secret VALUES ('hunter2');
        CREATE FUNCTION reads() RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT password FROM public.secret';
        CREATE FUNCTION plus(int, int) RETURNS text LANGUAGE sql AS 'SELECT public.reads()';
        CREATE OPERATOR ### (LEFTARG = int, RIGHTARG = int, FUNCTION = plus);
        CREATE VIEW by_function AS SELECT reads() AS a; CREATE VIEW over_it AS SELECT a FROM by_function;
        CREATE VIEW by_operator AS SELECT 1 ### 2 AS a;
        CREATE VIEW by_xml AS SELECT query_to_xml('SELECT * FROM public.secret', true, false, '')::text AS a;
        CREATE VIEW by_catalogue AS SELECT relname::text AS a FROM pg_class;
        CREATE VIEW plain AS SELECT id + 1 AS next, upper(name) AS name FROM p;";
    private.owner().batch_execute(tables).unwrap();
    let connect = |hide: &[&str]| Server::connect(&private.url("owner", PASSWORD), &hiding(hide)).unwrap();
    let views = ["by_function", "over_it", "by_operator", "by_xml", "by_catalogue"];
    for hide in [&["secret"][..], &["absent"]] {
        let mut server = connect(hide);
        let schema = server.schema().unwrap();
        let names: Vec<&str> = schema.views.iter().map(|view| view.name.as_str()).collect();
        assert_eq!(names, ["plain"], "{hide:?}");
        assert_eq!(rows(&mut server, "SELECT * FROM plain").rows.len(), 1);
        for view in views {
            let refused = QueryError::Refused { reason: format!("no such table: {view}") };
            assert_eq!(server.query(&format!("SELECT a FROM {view}")), Err(refused));
        }
    }
    let mut all = connect(&[]);
    for view in views {
        assert!(!rows(&mut all, &format!("SELECT a FROM {view}")).rows.is_empty(), "{view}");
    }
    let mut with = connect(&["secret"]);
    let mut without = connect(&["absent"]);
    for sql in [
        "SELECT * FROM secret",
        "SELECT * FROM public.secret",
        "WITH secret AS (SELECT 1 AS a) SELECT a FROM secret",
        "WITH secret AS (SELECT 1 AS a) SELECT secret.a, secret.password FROM secret",
        "WITH secret AS (SELECT * FROM secret) SELECT * FROM secret",
        "WITH RECURSIVE secret AS (SELECT 1 AS a UNION SELECT a FROM secret) SELECT * FROM secret",
        "SELECT 1 FROM (WITH secret AS (SELECT 1) SELECT 1 FROM secret) x, secret",
        "SELECT secret.password FROM p",
        "SELECT secret.name FROM p AS secret",
        "SELECT 'secret'::regclass",
        "SELECT ('secret').regclass",
    ] {
        let found = format!("{:?}", with.query(sql)).replace("secret", "absent");
        assert_eq!(found, format!("{:?}", without.query(&sql.replace("secret", "absent"))), "{sql}");
    }
}

fn rows(server: &mut Server, sql: &str) -> Rows {
    server.query(sql).unwrap()
}

#[test]
fn values_schema_and_limits() {
    let Some(private) = Private::start("values_schema_and_limits") else { return };
    private.owner().batch_execute(TABLES).unwrap();
    let sandbox = Sandbox { rows: 150, deadline: Duration::from_millis(400), ..hiding(&["secret"]) };
    let mut server = Server::connect(&private.url("owner", PASSWORD), &sandbox).unwrap();
    let found = rows(&mut server, "SELECT o.*, o.x + 1 AS x FROM other o ORDER BY o.x");
    assert_eq!(
        found.rows[0],
        [
            Value::Integer(1),
            Value::Real(1.5),
            Value::Text("ü".to_owned()),
            Value::Blob(vec![0, 255]),
            Value::Text("true".to_owned()),
            Value::Integer(2)
        ]
    );
    assert!(found.rows[1].iter().all(|value| *value == Value::Null));
    assert_eq!((found.columns[0].table.as_deref(), found.columns[5].table.as_deref()), (Some("other"), None));
    let many = rows(&mut server, "SELECT a FROM t ORDER BY a DESC");
    assert_eq!((many.rows.len(), many.truncated, &many.rows[0][0]), (150, true, &Value::Integer(999)));
    let start = Instant::now();
    let stopped = server.query("SELECT count(*) FROM t a, t b, t c, t d");
    assert_eq!(stopped, Err(QueryError::Stopped { limit: "time: 0.4 s".to_owned() }));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert!(server.query("SELECT 1").is_ok());
    let schema = server.schema().unwrap();
    let names: Vec<&str> = schema.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["t", "other", "s.u"]);
    assert_eq!((schema.tables[0].primary_key.as_slice(), schema.views.len()), (&["a".to_owned()][..], 0));
    assert_eq!(schema.tables[1].foreign_keys[0].table, "t");
}

#[test]
fn rows_are_known_by_their_primary_keys() {
    let Some(private) = Private::start("rows_are_known_by_their_primary_keys") else { return };
    let tables = "CREATE SCHEMA s;
        CREATE TABLE city (id int PRIMARY KEY, name text, land text);
        INSERT INTO city VALUES (7, 'Rome', 'it'), (9, 'Oslo', 'no');
        CREATE TABLE land (code text PRIMARY KEY, name text); INSERT INTO land VALUES ('it', 'Italy');
        CREATE TABLE s.part (line int, \"Order\" text, count int, PRIMARY KEY (\"Order\", line));
        INSERT INTO s.part VALUES (1, 'a', 5);
        CREATE TABLE loose (n int); INSERT INTO loose VALUES (1);
        CREATE TABLE above (id int PRIMARY KEY); CREATE TABLE below () INHERITS (above);
        INSERT INTO above VALUES (1); INSERT INTO below VALUES (1);
        CREATE VIEW names AS SELECT name FROM city;";
    private.owner().batch_execute(tables).unwrap();
    let mut server = Server::connect(&private.url("owner", PASSWORD), &Sandbox::default()).unwrap();
    let mut shown = |sql: &str| {
        let (rows, origins, _) = server.query_with_origins(sql).unwrap();
        assert_eq!(rows, server.query(sql).unwrap(), "{sql}");
        let cell = |origin: &Option<Origin>| {
            let key = |origin: &Origin| serde_json::to_string(&origin.key).unwrap();
            origin.as_ref().map_or("-".to_owned(), |of| format!("{}{}.{}", of.table, key(of), of.column))
        };
        origins.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join(";")
    };
    assert_eq!(shown("SELECT name, 1 FROM city ORDER BY 1"), "city{\"id\":9}.name -;city{\"id\":7}.name -");
    assert_eq!(
        shown("SELECT C.name, l.name FROM city AS C LEFT JOIN public.land l ON l.code = c.land ORDER BY c.id"),
        "city{\"id\":7}.name land{\"code\":\"it\"}.name;city{\"id\":9}.name -"
    );
    assert_eq!(shown("SELECT count FROM s.part LIMIT 1"), "s.part{\"Order\":\"a\",\"line\":1}.count");
    for sql in [
        "SELECT count(*) FROM city",
        "SELECT array_agg(name) FROM city",
        "SELECT DISTINCT land FROM city WHERE id = 7",
        "SELECT name FROM names",
        "SELECT n FROM loose",
        "SELECT id FROM above",
        "SELECT x.b FROM city AS x(a, b)",
        "SELECT a.name FROM city a, city b",
        "SELECT name FROM city UNION SELECT 'Rome' ORDER BY 1",
        "WITH city AS (SELECT 'x' AS name) SELECT name FROM city",
        "SELECT c.name FROM (SELECT name FROM city) c",
    ] {
        assert_eq!(shown(sql), "", "{sql}");
    }
    assert!(server.query_with_origins("DELETE FROM city").is_err());
}

const SCHEMAS: &str = "CREATE SCHEMA music; CREATE SCHEMA \"Odd.One\";
    CREATE TABLE music.singer (id int PRIMARY KEY, name text, age int, mood text);
    INSERT INTO music.singer VALUES (1, 'Ann', 30, 'good'), (2, 'Bo', 41, 'bad'), (3, 'Cy', 22, 'good');
    CREATE TABLE music.concert (id int PRIMARY KEY, singer_id int REFERENCES music.singer, year int);
    INSERT INTO music.concert VALUES (1, 1, 2019), (2, 3, 2020);
    CREATE TABLE \"Odd.One\".\"a.b\" (\"x.y\" text); CREATE TABLE \"c.d\" (z text);
    CREATE TABLE secret (code text); INSERT INTO secret VALUES ('of public');
    CREATE TABLE music.secret (code text); INSERT INTO music.secret VALUES ('of music');
    CREATE VIEW music.codes AS SELECT code FROM music.secret;";

/// Tables and views as they are told.
fn told(server: &mut Server) -> Vec<String> {
    let schema = server.schema().unwrap();
    let tables = schema.tables.into_iter().map(|table| table.name);
    tables.chain(schema.views.into_iter().map(|view| view.name)).collect()
}

#[test]
fn tables_of_other_schemas_are_asked() {
    let Some(private) = Private::start("tables_of_other_schemas_are_asked") else { return };
    let role = format!(
        "CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}'; GRANT USAGE ON SCHEMA music TO reader;
         GRANT SELECT ON music.singer, music.concert TO reader;"
    );
    private.owner().batch_execute(&format!("{SCHEMAS}{role}")).unwrap();
    // Of all schemas what the role may see.
    let url = private.url("reader", PASSWORD);
    let mut reader = Server::connect(&url, &Sandbox::default()).unwrap();
    assert_eq!(told(&mut reader), ["music.singer", "music.concert"]);
    for (question, wanted) in [("What is the age of Ann?", "30"), ("How many concerts are there?", "2")] {
        let arguments = ["--database", &url, "--question", question, "--policy", "learnt", "--format", "csv"];
        let output = Command::new(QUERY).args(arguments).output().unwrap();
        let [rows, said] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!((output.status.code(), rows.lines().nth(1)), (Some(0), Some(wanted)), "{question}: {rows}{said}");
        assert!(said.contains("FROM \"music\".\""), "{said}");
    }
    let joined = "SELECT \"music\".\"singer\".\"name\" FROM \"music\".\"singer\" JOIN \"music\".\"concert\" \
        ON \"music\".\"concert\".\"singer_id\" = \"music\".\"singer\".\"id\" WHERE \"music\".\"concert\".\"year\" = 2020";
    assert_eq!(rows(&mut reader, joined).rows, [[Value::Text("Cy".to_owned())]]);
    let mut owner = Server::connect(&private.url("owner", PASSWORD), &Sandbox::default()).unwrap();
    let all = ["music.singer", "music.concert", "Odd.One.a.b", "c.d", "secret", "music.secret", "music.codes"];
    assert_eq!(told(&mut owner), all);
    let graph = SchemaGraph::new(&owner.schema().unwrap(), &Semantics::default(), SqlDialect::Postgres).unwrap();
    for table in graph.tables() {
        for column in table.columns.clone() {
            let sql = format!("SELECT {} FROM {}", graph.column_sql(column, true), table.quoted());
            let found = owner.query(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
            assert_eq!(found.columns[0].table.as_deref(), Some(table.name.as_str()), "{sql}");
        }
    }
    // What is on the search path is named without its schema, what is no longer on it with it.
    private.owner().batch_execute("ALTER ROLE owner SET search_path = music").unwrap();
    let mut owner = Server::connect(&private.url("owner", PASSWORD), &Sandbox::default()).unwrap();
    let all = ["singer", "concert", "Odd.One.a.b", "public.c.d", "public.secret", "secret", "codes"];
    assert_eq!(told(&mut owner), all);
    for (sql, wanted) in [("SELECT code FROM secret", "of music"), ("SELECT code FROM public.secret", "of public")] {
        assert_eq!(rows(&mut owner, sql).rows, [[Value::Text(wanted.to_owned())]]);
    }
}

#[test]
fn tables_of_other_schemas_are_hidden_by_both_names() {
    let Some(private) = Private::start("tables_of_other_schemas_are_hidden_by_both_names") else { return };
    private.owner().batch_execute(SCHEMAS).unwrap();
    let connect = |hide: &str| Server::connect(&private.url("owner", PASSWORD), &hiding(&[hide])).unwrap();
    let no_such = |name: &str| Err(QueryError::Refused { reason: format!("no such table: {name}") });
    let mut one = connect("Music.Secret");
    assert_eq!(told(&mut one), ["music.singer", "music.concert", "Odd.One.a.b", "c.d", "secret"]);
    for (name, said) in [
        ("music.secret", "music.secret"),
        ("\"music\".\"secret\"", "music.secret"),
        ("\"music.secret\"", "music.secret"),
        ("music.codes", "music.codes"),
    ] {
        assert_eq!(one.query(&format!("SELECT code FROM {name}")), no_such(said), "{name}");
        assert_eq!(
            one.query(&format!("SELECT 1 FROM music.singer WHERE EXISTS (SELECT 1 FROM {name})")),
            no_such(said)
        );
    }
    assert_eq!(rows(&mut one, "SELECT secret.code FROM public.secret").rows, [[Value::Text("of public".to_owned())]]);
    // Without a schema it is any of this name.
    let mut any = connect("secret");
    assert_eq!(told(&mut any), ["music.singer", "music.concert", "Odd.One.a.b", "c.d"]);
    assert_eq!(any.query("SELECT code FROM music.secret"), no_such("music.secret"));
    assert_eq!(any.query("SELECT code FROM secret"), no_such("secret"));
    // As if there were no schema of it.
    let same = |sql: &str| format!("{:?}", connect("music.secret").query(sql));
    assert_eq!(same("SELECT * FROM music.secret"), same("SELECT * FROM music.absent").replace("absent", "secret"));
    let (_, not_there) = connect("other.secret").schema_and_not_there().unwrap();
    assert_eq!(not_there, ["other.secret"]);
}

#[test]
fn a_schema_is_explained_and_drawn() {
    let Some(private) = Private::start("a_schema_is_explained_and_drawn") else { return };
    let tables = "CREATE SCHEMA s;
        CREATE TABLE team (id int PRIMARY KEY, name text, city text);
        CREATE TABLE s.game (id int PRIMARY KEY, home_team int REFERENCES team, away_team int REFERENCES team, goals int);
        CREATE TABLE secret (code text);
        CREATE VIEW hosts AS SELECT t.name AS host, g.goals FROM s.game g JOIN team t ON t.id = g.home_team;
        CREATE VIEW told AS SELECT 'secret' AS word, id FROM team;
        INSERT INTO team VALUES (1, 'Ajax', 'Amsterdam'), (2, 'Bayern', 'Munich');
        INSERT INTO s.game VALUES (1, 1, 2, 3);";
    private.owner().batch_execute(tables).unwrap();
    let url = private.url("owner", PASSWORD);
    let run = |more: &[&str]| {
        let output = Command::new(QUERY).args(["--database", &url, "--hide", "secret"]).args(more).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, text, error) = run(&["--schema", "json"]);
    assert_eq!(code, Some(0), "{error}");
    let found: Json = serde_json::from_str(&text).unwrap();
    let names: Vec<&str> = found["tables"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["team", "s.game", "hosts", "told"]);
    // team: 0 to 2; s.game: 3 to 6; hosts: 7 and 8. What names a hidden table is not read.
    assert_eq!(found["derivations"], serde_json::json!([[7, 1], [8, 6]]));
    assert_eq!(found["joins"][0]["pairs"], serde_json::json!([[4, 0]]));
    assert!(!text.contains("secret"), "{text}");
    let question = "What is the total number of goals in games with the away team from Munich?";
    let (code, text, error) = run(&["--question", question, "--explain"]);
    assert_eq!(code, Some(0), "{error}");
    for part in ["team.city  value \"Munich\"", "s.game.away_team = team.id"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (_, html, _) = run(&["--schema", "html"]);
    assert!(html.contains("<h2>team</h2>") && !html.contains(PASSWORD) && html.contains("postgres"), "{html}");
    let (code, _, error) = run(&["--schema", "dot", "--hide", "nothing"]);
    assert!(code == Some(0) && error.contains("--hide nothing"), "{error}");
}

fn query(url: &str, sql: &str) -> Output {
    Command::new(QUERY).args(["--database", url, "--sql", sql, "--format", "csv"]).output().unwrap()
}

#[test]
fn the_program_the_password_and_a_server_that_goes_away() {
    let Some(private) = Private::start("the_program_the_password_and_a_server_that_goes_away") else { return };
    private.owner().batch_execute(TABLES).unwrap();
    let url = private.url("owner", PASSWORD);
    let output = query(&url, "SELECT a, b FROM t WHERE a = 8");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b"a,b\r\n8,1\r\n"[..]));
    let apart = url.replace(&format!(":{PASSWORD}@"), "@");
    let mut with_variable = Command::new(QUERY);
    with_variable.args(["--database", &apart, "--sql", "SELECT a, b FROM t WHERE a = 8", "--format", "csv"]);
    assert_eq!(with_variable.env("PGPASSWORD", PASSWORD).output().unwrap().stdout, output.stdout);
    let other_case = url.replace("postgres://", "PostGreSQL://");
    assert_eq!(query(&other_case, "SELECT a, b FROM t WHERE a = 8").stdout, output.stdout);
    let sourced = |sql: &str| {
        let arguments = ["--database", &url, "--sql", sql, "--provenance", "--format", "csv"];
        let output = Command::new(QUERY).args(arguments).output().unwrap();
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap())
    };
    assert_eq!(sourced("SELECT b FROM t WHERE a = 8"), ["b,source\r\n1,t:a=8\r\n", ""]);
    assert!(sourced("SELECT 1")[1].contains("--provenance: it is not known which rows"));
    assert_eq!(query(&url, "DELETE FROM t").status.code(), Some(3));
    assert_eq!(query(&url, "SELECT count(*) FROM t a, t b, t c, t d").status.code(), Some(4));
    let error = |url: &str| {
        let output = query(url, "SELECT 1");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(!text.contains(PASSWORD) && !text.contains("wrong-one"), "{text}");
        text
    };
    assert!(error(&private.url("owner", "wrong-one")).contains("password authentication failed"));
    assert!(error(&private.url("nobody", "wrong-one")).contains("authentication failed"));
    assert!(error(&format!("{url}?no_such_option={PASSWORD}")).contains("URL cannot be read"));
    let mut server = Server::connect(&url, &Sandbox::default()).unwrap();
    assert!(server.query("SELECT 1").is_ok());
    private.stop();
    let gone = server.query("SELECT 1");
    assert!(
        matches!(&gone, Err(QueryError::Failed { message }) if message.contains("away") || message.contains("server")),
        "{gone:?}"
    );
    assert!(matches!(server.query("SELECT 1"), Err(QueryError::Failed { .. })));
    assert!(error(&url).contains("cannot be used"));
    private.begin();
    assert!(server.query("SELECT 1").is_ok(), "connects anew");
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://a:{PASSWORD}@127.0.0.1:{}/x?connect_timeout=1", silent.local_addr().unwrap().port());
    assert!(error(&url).contains("does not answer"));
    assert!(!Path::new(&url).exists());
}
