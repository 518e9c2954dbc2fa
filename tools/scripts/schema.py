"""How well questions are linked to schemas, tables joined, and views read, with one command.

    python tools/scripts/schema.py --datasets DIR --output docs/sql.md [--fit]

DIR has the folder `sql` with Spider, BIRD, BEAVER and derive. The figures replace those between the marks of --output.
--fit first fits sql/src/linking/weights.json on Spider's training part; a build has to follow, then a run without it.
TABSEGNET_PROGRAMS names a directory of built programs (examples/schema_figures, examples/fit_linking); without it
target/release.
"""

import argparse
import os
import subprocess
from pathlib import Path

PROGRAMS = Path(os.environ.get("TABSEGNET_PROGRAMS", "target/release"))
MARKS = ("<!-- figures of schemas -->", "<!-- end of figures of schemas -->")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("datasets", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--fit", action="store_true")
    args = parser.parse_args()
    if args.fit:
        subprocess.run([PROGRAMS / "examples/fit_linking", args.datasets, "sql/src/linking/weights.json"], check=True)
        return
    figures = subprocess.run([PROGRAMS / "examples/schema_figures", args.datasets], check=True, stdout=subprocess.PIPE,
                             text=True).stdout.rstrip()
    print(figures)
    before, rest = args.output.read_text().split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    args.output.write_text(f"{before}{MARKS[0]}\n{figures}\n{MARKS[1]}{after}")


if __name__ == "__main__":
    main()
