//! A PostgreSQL server behind the fence: a private one, in a temporary folder.
#![cfg(feature = "postgres")]

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use postgres::{Client, NoTls};
use serde_json::Value as Json;
use tabsegnet_sql::postgres::Server;
use tabsegnet_sql::{QueryError, Rows, Sandbox, Value};
use tabsegnet_test_support::{path_in, say, skipped};

const QUERY: &str = env!("CARGO_BIN_EXE_query");

/// The longest that any statement may take with the default deadline.
const LONGEST: Duration = Duration::from_secs(15);

const PASSWORD: &str = "s3cret-passw0rd";

/// A server of this test's own; it ends when this goes.
struct Private {
    folder: tempfile::TempDir,
    programs: PathBuf,
    port: u16,
    as_user: bool,
}

/// The folder of Debian's newest `initdb` and `pg_ctl`, else that of the `PATH`.
fn programs() -> Option<PathBuf> {
    let mut versions: Vec<PathBuf> =
        std::fs::read_dir("/usr/lib/postgresql").ok()?.flatten().map(|entry| entry.path().join("bin")).collect();
    versions.sort();
    versions.into_iter().rev().find(|folder| folder.join("initdb").is_file())
}

impl Private {
    fn start(test: &str) -> Option<Self> {
        let Some(programs) = programs() else {
            skipped(test, "PostgreSQL is not installed (Debian: apt-get install postgresql)");
            return None;
        };
        let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
        let folder = tempfile::Builder::new().prefix("pg").tempdir().unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Self { folder, programs, port, as_user: root };
        if root {
            // The server does not run as root.
            let owned = Command::new("chown").arg("nobody").arg(server.folder.path()).status();
            assert!(owned.is_ok_and(|status| status.success()));
        }
        std::fs::write(server.folder.path().join("password"), PASSWORD).unwrap();
        let folder = server.folder.path().to_str().unwrap().to_owned();
        server.call(
            "initdb",
            &[
                "-D",
                &format!("{folder}/data"),
                "-U",
                "owner",
                "-A",
                "scram-sha-256",
                "--no-sync",
                "--pwfile",
                &format!("{folder}/password"),
            ],
        );
        server.begin();
        Some(server)
    }

    fn begin(&self) {
        let folder = self.folder.path().to_str().unwrap();
        let options = format!("-p {} -h 127.0.0.1 -k {folder} -F -c shared_buffers=16MB", self.port);
        self.call(
            "pg_ctl",
            &["start", "-w", "-D", &format!("{folder}/data"), "-l", &format!("{folder}/log"), "-o", &options],
        );
    }

    fn stop(&self) {
        let data = self.folder.path().join("data");
        self.call("pg_ctl", &["stop", "-m", "immediate", "-D", data.to_str().unwrap()]);
    }

    fn call(&self, program: &str, arguments: &[&str]) {
        let program = self.programs.join(program);
        let mut command = if self.as_user {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(&program);
            command
        } else {
            Command::new(&program)
        };
        let log = std::fs::File::create(std::env::temp_dir().join(format!("pg-test-{}.log", self.port))).unwrap();
        let status = command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .current_dir("/")
            .status();
        assert!(status.is_ok_and(|status| status.success()), "{} {arguments:?}", program.display());
    }

    fn url(&self, user: &str, password: &str) -> String {
        format!("postgres://{user}:{password}@127.0.0.1:{}/postgres", self.port)
    }

    fn owner(&self) -> Client {
        Client::connect(&self.url("owner", PASSWORD), NoTls).unwrap()
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        let data = self.folder.path().join("data");
        let mut command = Command::new(self.programs.join("pg_ctl"));
        if self.as_user {
            command = Command::new("setpriv");
            command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(self.programs.join("pg_ctl"));
        }
        let _ = command
            .args(["stop", "-m", "immediate", "-D"])
            .arg(data)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let _ = std::fs::remove_file(std::env::temp_dir().join(format!("pg-test-{}.log", self.port)));
    }
}

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
    "WITH secret AS (SELECT 1) SELECT * FROM secret",
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
