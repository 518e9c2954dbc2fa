"""How well questions are linked to schemas, tables joined, views read, and statements over several tables made, with one
command.

    python tools/scripts/schema.py --datasets DIR --output docs/sql.md [--fit linking|statements]

DIR has the folder `sql` with Spider, BIRD, BEAVER and derive. The figures replace those between the marks of --output.
--fit first fits sql/src/linking/weights.json or sql/src/compose/weights.json on Spider's training part, the first before
the second; a build has to follow, then a run without it. TABSEGNET_PROGRAMS names a directory of built programs
(examples/schema_figures, examples/fit_linking, examples/compose); without it target/release.
"""

import argparse
import os
import subprocess
import tempfile
from pathlib import Path

PROGRAMS = Path(os.environ.get("TABSEGNET_PROGRAMS", "target/release"))
MARKS = ("<!-- figures of schemas -->", "<!-- end of figures of schemas -->")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("datasets", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
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
    figures = printed([PROGRAMS / "examples/schema_figures", args.datasets]) + "\n\n" + statements
    print(figures)
    before, rest = args.output.read_text().split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    args.output.write_text(f"{before}{MARKS[0]}\n{figures}\n{MARKS[1]}{after}")


if __name__ == "__main__":
    main()
