"""How tables are read into SQL, what questions are answered by SQL, and what hostile statements do: the figures of docs/sql.md.

    python tools/scripts/sql_tables.py --sql DIR [--fit] [--train] [--hostile] [--output docs/sql.md]

DIR holds wtq/ (questions.jsonl, squall_tables.tar.xz, csv.tar.xz) and hostile.json.gz. Column types: SQUALL's, by the example
`column_types`. Questions: WikiTableQuestions on SQUALL's SQLite files, a table in five as dev part (the example `questions`), judged
here as the published evaluator does, from the answers as they are written (its tagged files are not at hand: a number may have commas,
a date is a text). --train also answers the part that the weights are fitted on. --hostile: what the crate's tests print of
hostile statements. Both ways over one table: the example `one_table`, on WikiTableQuestions and Spider (DIR/spider).
--fit first fits sql/src/generate/weights.json on the training
part, and has to be followed by a build. The figures replace those between the marks of --output. TABSEGNET_PROGRAMS names a directory
of built programs (examples/); without it target/release.
"""

import argparse
import json
import os
import re
import subprocess
import tarfile
import tempfile
import unicodedata
from pathlib import Path

PROGRAMS = Path(os.environ.get("TABSEGNET_PROGRAMS", "target/release"))
MARKS = ("<!-- figures -->", "<!-- end of figures -->")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sql", type=Path, required=True)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--every", default="1", help="one question in so many")
    for name in ("fit", "train", "hostile"):
        parser.add_argument(f"--{name}", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name in ("squall_tables", "csv"):
            with tarfile.open(args.sql / f"wtq/{name}.tar.xz") as packed:
                packed.extractall(folder, filter="data")
        for name in ("db", "json"):
            (folder / "tables" / name).rename(folder / name)
        questions = ["--tables", folder, "--questions", args.sql / "wtq/questions.jsonl"]
        if args.fit:
            subprocess.run([PROGRAMS / "examples/questions", *questions, "fit", "sql/src/generate/weights.json", args.every], check=True)
            return
        lines = columns(folder) + [""] + answers(folder, questions, ["dev", "train"] if args.train else ["dev"], args.every)
        lines += [""] + both_ways(folder, args.sql, args.every)
    if args.hostile:
        lines += [""] + hostile(args.sql)
    print("\n".join(lines))
    if args.output:
        before, rest = args.output.read_text().split(MARKS[0])
        args.output.write_text(before + "\n".join([MARKS[0], *lines, MARKS[1]]) + rest.split(MARKS[1])[1])


def columns(folder):
    found = subprocess.run([PROGRAMS / "examples/column_types", folder], check=True, capture_output=True, text=True).stdout
    of = dict(line.rsplit(" ", 1) for line in found.splitlines())
    return [f"Number columns of SQUALL's {of['tables']} tables ({of['columns']} columns, {of['number columns']} of numbers):", "",
            "| | recall | precision |", "|---|---:|---:|", f"| columns of numbers | {of['recall']} | {of['precision']} |"]


def answers(folder, questions, parts, every):
    path = folder / "answers.jsonl"
    lines = ["Questions of WikiTableQuestions, one table each, an answer right as the published evaluator judges:", "",
             "| | questions | answered | right of all, nothing held back | right of all | right of answered | a candidate is right | "
             "median ms |", "|---|---:|---:|---:|---:|---:|---:|---:|"]
    shares = []
    for part in parts:
        subprocess.run([PROGRAMS / "examples/questions", *questions, "answer", part, path, every], check=True, capture_output=True)
        records = [json.loads(line) for line in path.open()]
        for record in records:
            record["judged"] = judge(record["gold"], record["answer"])
        given = [record for record in records if not record["abstained"]]
        share = lambda of, field, all_: f"{sum(record[field] for record in of) / max(1, len(all_)):.3f}"
        times = sorted(record["milliseconds"] for record in records)
        lines.append(f"| {part} | {len(records)} | {len(given)} | {share(records, 'judged', records)} | {share(given, 'judged', records)} | "
                     f"{share(given, 'judged', given)} | {share(records, 'reached', records)} | {times[len(times) // 2]} |")
        if part == "dev":
            for low, high in ((.8, 1.01), (.6, .8), (.4, .6), (.25, .4), (0, .25)):
                of = [record for record in records if low <= record["confidence"] < high]
                shares.append(f"| {low} to {min(high, 1)} | {len(of)} | {share(of, 'judged', of)} |")
    return lines + ["", "| confidence (dev) | questions | right |", "|---|---:|---:|", *shares]


def both_ways(folder, sql, every):
    """What each way from a question over one table to SQL reaches on each data set, and the one that is taken."""
    runs = [["wikitq", folder, sql / "wtq/questions.jsonl", "dev", folder / "w.jsonl", "--every", every],
            ["spider", sql.parent, "dev", folder / "s.jsonl"]]
    printed = [subprocess.run([PROGRAMS / "examples/one_table", *run], check=True, stdout=subprocess.PIPE, text=True).stdout for run in runs]
    return ["Both ways over one table: right of all with nothing held back by `compose` (records), `generate` (tables that people read) and "
            "the one taken; then what is said:", "",
            "| | questions | compose | generate | taken | answered | right of all | right of answered |", "|---|---:|---:|---:|---:|---:|---:|---:|",
            *[line for text in printed for line in text.splitlines() if line.startswith("|")]]


def hostile(folder):
    """The lines that the tests print."""
    environment = {**os.environ, "TABSEGNET_DATASETS": str(folder.parent)}
    lines = []
    for test in ("hostile", "postgres"):
        run = subprocess.run(["cargo", "test", "--release", "-p", "tabsegnet-sql", "--test", test], env=environment, text=True,
                             capture_output=True)
        lines += [f"- {line}" for line in run.stderr.splitlines() if re.match(r"hostile|PostgreSQL:|SKIPPED", line)]
        lines += [f"- `--test {test}`: {line}" for line in run.stdout.splitlines() if line.startswith("test result")]
    return lines


# What follows judges as WikiTableQuestions' evaluator 1.0.2 does.
def normal(text):
    text = "".join(c for c in unicodedata.normalize("NFKD", text) if unicodedata.category(c) != "Mn")
    for found, put in (("[‘’´`]", "'"), ("[“”]", '"'), ("[‐‑‒–—−]", "-")):
        text = re.sub(found, put, text)
    while True:
        before = text
        text = re.sub(r"((?<!^)\[[^\]]*\]|\[\d+\]|[•♦†‡*#+])*$", "", text.strip())
        text = re.sub(r"(?<!^)( \([^)]*\))*$", "", text.strip())
        text = re.sub(r'^"([^"]*)"$', r"\1", text.strip())
        if text == before:
            break
    text = text.removesuffix(".")
    return re.sub(r"\s+", " ", text).lower().strip()


def number(text):
    if not re.fullmatch(r"[-+]?(\d{1,3}(,\d{3})+|\d+)?(\.\d+)?", text.strip()) or not any(c.isdigit() for c in text):
        return None
    return float(text.replace(",", ""))


def judge(gold, found):
    targets, values = ({normal(text): number(text) for text in texts} for texts in (gold, found))
    same = lambda one, other: one[0] == other[0] or None not in (one[1], other[1]) and abs(one[1] - other[1]) < 1e-6
    return len(targets) == len(values) and all(any(same(t, v) for v in values.items()) for t in targets.items())


if __name__ == "__main__":
    main()
