"""How well questions are linked to schemas, tables joined, views read, and statements over several tables made, with one
command.

    python tools/scripts/schema.py --datasets DIR --output docs/sql.md [--minilm MODEL] [--fit linking|statements]

DIR has the folder `sql` with Spider, BIRD, BEAVER and derive. The figures replace those between the marks of --output.
Beside the models that `query` links with stand the project's graph network, trained here on the same part
(`configs/spider.toml`, three seeds), and dense retrieval, with --minilm also by that encoder.
--fit first fits sql/src/linking/weights.json or sql/src/compose/weights.json on Spider's training part, the first before
the second; a build has to follow, then a run without it. TABSEGNET_PROGRAMS names a directory of built programs
(train, evaluate, examples/schema_figures, examples/schema_documents, examples/fit_linking, examples/compose);
without it target/release.
"""

import argparse
import os
import subprocess
import tempfile
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
        figures = printed([PROGRAMS / "examples/schema_figures", args.datasets, *rankings]) + "\n\n" + statements
    print(figures)
    before, rest = args.output.read_text().split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    args.output.write_text(f"{before}{MARKS[0]}\n{figures}\n{MARKS[1]}{after}")


if __name__ == "__main__":
    main()
