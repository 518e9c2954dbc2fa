"""How well questions are linked to schemas, tables joined, views read, and statements over several tables made, what the
fence holds and how long a large table takes, with one command.

    python tools/scripts/schema.py --datasets DIR --output docs/sql.md [--minilm MODEL] [--fit linking|statements]

DIR has the folder `sql` with Spider, BIRD, BEAVER, derive and the list of hostile SQL, which is run on SQLite and, where
Debian's PostgreSQL is installed, on a server of its own. The figures replace those between the marks of --output.
Beside the models that `query` links with stand the project's graph network, trained here on the same part
(`configs/spider.toml`, three seeds), and dense retrieval, with --minilm also by that encoder.
--fit first fits sql/src/linking/weights.json or sql/src/compose/weights.json on Spider's training part, the first before
the second; a build has to follow, then a run without it. TABSEGNET_PROGRAMS names a directory of built programs
(query, train, evaluate, examples/schema_figures, examples/schema_documents, examples/fit_linking, examples/compose);
without it target/release.
"""

import argparse
import contextlib
import gzip
import json
import os
import shutil
import socket
import sqlite3
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

PROGRAMS = Path(os.environ.get("TABSEGNET_PROGRAMS", "target/release"))
MARKS = ("<!-- figures of schemas -->", "<!-- end of figures of schemas -->")


SEEDS = 3


def ranked(args, work):
    """Names and TREC files of other rankings of Spider's development part."""
    subprocess.run([PROGRAMS / "examples/schema_documents", args.datasets, work], check=True)

    def run(program, output, *settings):
        settings = [f"--set={setting}" for setting in (f"data.root={work}", f"output.directory={output}", *settings)]
        more = ["--baselines"] if program == "evaluate" else []
        command = [PROGRAMS / program, "--config", "configs/spider.toml", *more, *settings]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return output / "report/runs"

    found = []
    for seed in range(SEEDS):
        runs = run("train", work / f"seed{seed}", f"task.seed={seed}")
        found.append((f"graph network, mean of {SEEDS} seeds", runs / "tabsegnet-best.trec"))
    found.append(("dense, static encoder", runs / "dense.trec"))
    if args.minilm:
        minilm = ("encoder.kind=bert", f"encoder.model={args.minilm.resolve()}")
        found.append(("dense, MiniLM", run("evaluate", work / "minilm", *minilm) / "dense.trec"))
    return found


def run_query(*arguments, sql=""):
    """What `query` gives: exit code, output, seconds, megabytes of the larger of its processes."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output:
        given.write(sql.encode())
        given.seek(0)
        start = time.monotonic()
        process = subprocess.Popen([PROGRAMS / "query", *arguments], stdin=given, stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        return process.returncode, output.read(), seconds, usage.ru_maxrss / 1024


HELD = """CREATE TABLE t(a int, b int); INSERT INTO t SELECT i, i % 7 FROM numbers;
    CREATE TABLE secret(password text); INSERT INTO secret VALUES ('hunter2');
    CREATE VIEW view_on_secret AS SELECT password FROM secret; DROP TABLE numbers;"""


@contextlib.contextmanager
def postgres():
    """The URL of a PostgreSQL server that ends with this, and what runs a statement on it; none where there is none."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    if not versions:
        yield None, None
        return
    # The server does not run as root.
    root = os.getuid() == 0
    user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if root else []
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/"}
    call = lambda program, *more: subprocess.run([*user, versions[-1] / program, *more], check=True, **quiet)
    with tempfile.TemporaryDirectory(prefix="pg") as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        password, data = Path(folder) / "password", Path(folder) / "data"
        password.write_text("owner")
        if root:
            shutil.chown(folder, "nobody")
        call("initdb", "-D", data, "-U", "owner", "-A", "scram-sha-256", "--no-sync", "--pwfile", password)
        call("pg_ctl", "start", "-w", "-D", data, "-l", f"{folder}/log", "-o", f"-p {port} -h 127.0.0.1 -k {folder} -F")
        url = f"postgres://owner:owner@127.0.0.1:{port}/postgres"
        psql = [versions[-1] / "psql", url, "-qAt", "-v", "ON_ERROR_STOP=1", "-c"]
        try:
            yield url, lambda sql: subprocess.run([*psql, sql], capture_output=True)
        finally:
            call("pg_ctl", "stop", "-m", "immediate", "-D", data)


def held(name, database, cases, contents, understood):
    """A line of what became of the hostile list; `contents` tells whether anything was written, `understood` whether a
    statement is of the database's own SQL."""
    arguments = ("--database", database, "--hide", "secret", "--format", "json", "--sql", "-")
    before, through, harmless, answered, slowest, largest = contents(), 0, 0, 0, 0.0, 0.0
    for case in cases:
        code, output, seconds, megabytes = run_query(*arguments, sql=case["sql"])
        if seconds > 1.5:
            # A busy machine can hold up any process.
            code, output, again, megabytes = run_query(*arguments, sql=case["sql"])
            seconds = min(seconds, again)
        slowest, largest = max(slowest, seconds), max(largest, megabytes)
        if case["want"] == "answer":
            harmless += understood(case["sql"])
            answered += code == 0
        broken = code not in (0, 3, 4) or b"hunter2" in output or contents() != before
        through += broken or (case["want"] == "deny" and code == 0)
    hostile = sum(case["want"] != "answer" for case in cases)
    return f"| {name} | {hostile} | {through} | {harmless} | {answered} | {slowest:.2f} | {largest:.0f} |"


def hostile(datasets, work):
    """What the fence holds of the list, as a table."""
    cases = json.loads(gzip.open(datasets / "sql/hostile.json.gz", "rt").read())
    numbers = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)"
    file = work / "held.db"
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.executescript(f"CREATE TABLE numbers AS {numbers} SELECT i FROM n; {HELD}")
    lines = [held("SQLite", file, cases, file.read_bytes, lambda _: True)]
    with postgres() as (url, run):
        if url:
            run(f"CREATE TABLE numbers AS {numbers} SELECT i FROM n; {HELD}")
            contents = lambda: run("SELECT count(*), sum(a), (SELECT count(*) FROM pg_class) FROM t").stdout
            lines.append(held("PostgreSQL", url, cases, contents, lambda sql: run(sql).returncode == 0))
    return "\n".join([
        "The list of hostile SQL, each statement by `query` with a deadline of 1 s. Through got what was answered and is "
        "to be refused, showed the hidden table, changed the database or ended otherwise than with an answer, refused or "
        "stopped. Of the harmless ones those count that the database itself runs; the memory is that of `query`, not of "
        "a server:\n",
        "| | hostile | got through | harmless | answered | slowest, s | most memory, MB |",
        "|---|---:|---:|---:|---:|---:|---:|",
        *lines,
    ])


ROWS = 10_000_000


def large(work):
    """How long a table of ten million rows takes, as a table."""
    file = work / "large.db"
    counted = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {})"
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as database:
        database.executescript(f"""PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;
            CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
            CREATE TABLE sale (id INTEGER PRIMARY KEY, shop_id INTEGER REFERENCES shop, kind TEXT, paid INTEGER,
                amount REAL, day TEXT);
            {counted.format(100)} INSERT INTO shop SELECT i, 'shop ' || i, 'city ' || (i % 10) FROM n;
            {counted.format(ROWS)} INSERT INTO sale SELECT i, i % 100 + 1, 'kind ' || (i % 7), i % 2, i % 1000 * 0.5,
                date('2020-01-01', '+' || (i % 1500) || ' days') FROM n;""")

    def seconds(code, *arguments):
        found = [run_query("--database", file, *arguments) for _ in range(3)]
        for given, output, *_ in found:
            assert given == code, f"exit code {given}, expected {code}: {output.decode()}"
        return statistics.median(seconds for _, _, seconds, _ in found)

    total = "SELECT sum(amount) FROM sale WHERE kind = 'kind 3'"
    question = ("--question", "What is the total amount of sales of each kind?")
    endless = "SELECT count(*) FROM sale a, sale b WHERE a.amount < b.amount"
    lines = [
        ("`--explain`", seconds(0, *question, "--explain")),
        (f"`{total}`, with 60 s for it", seconds(0, "--sql", total, "--deadline", "60")),
        ("a statement without an end, stopped at a deadline of 1 s", seconds(4, "--sql", endless)),
        ("the same at 0.2 s", seconds(4, "--sql", endless, "--deadline", "0.2")),
    ]
    return "\n".join([
        f"A SQLite table of {ROWS // 1_000_000} million rows and six columns beside one of 100, "
        f"{file.stat().st_size / 1e6:.0f} MB; median of three:\n",
        "| | seconds |",
        "|---|---:|",
        *(f"| {what} | {took:.2f} |" for what, took in lines),
    ])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("datasets", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--minilm", type=Path)
    parser.add_argument("--fit", choices=["linking", "statements"])
    args = parser.parse_args()
    if args.fit == "linking":
        subprocess.run([PROGRAMS / "examples/fit_linking", args.datasets, "sql/src/linking/weights.json"], check=True)
        return
    if args.fit == "statements":
        subprocess.run([PROGRAMS / "examples/compose", args.datasets, "fit", "sql/src/compose/weights.json"], check=True)
        return
    printed = lambda command: subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.rstrip()
    with tempfile.TemporaryDirectory() as work:
        statements = printed([PROGRAMS / "examples/compose", args.datasets, "answer", "dev", f"{work}/dev.jsonl"])
        rankings = [part for name, file in ranked(args, Path(work)) for part in ("--ranking", f"{name}={file}")]
        joins = printed([PROGRAMS / "examples/compose", args.datasets, "joins", "dev"])
        figures = printed([PROGRAMS / "examples/schema_figures", args.datasets, *rankings])
        figures = "\n\n".join([figures, joins, statements, hostile(args.datasets, Path(work)), large(Path(work))])
    print(figures)
    before, rest = args.output.read_text().split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    args.output.write_text(f"{before}{MARKS[0]}\n{figures}\n{MARKS[1]}{after}")


if __name__ == "__main__":
    main()
