"""HybridQA's gold passages and tables among the chunks that are recalled and kept, with one command.

    python tools/scripts/tablerag.py --datasets DIR --output docs/tablerag.md [--fit] [--part dev] [--every 1]

DIR has the folder `hybridqa`. The figures replace those between the marks of --output. --fit instead fits the weights and
trees in retrieval/tablerag/src on the training part; a build has to follow, then a run without it. --every 5 takes one
question in five. TABSEGNET_PROGRAMS names a directory of built programs (examples/fit_chunks); without it target/release.
"""

import argparse
import os
import subprocess
from pathlib import Path

PROGRAMS = Path(os.environ.get("TABSEGNET_PROGRAMS", "target/release"))
MARKS = ("<!-- figures -->", "<!-- end of figures -->")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("datasets", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--part", default="dev")
    parser.add_argument("--every", default="1")
    args = parser.parse_args()
    command = [PROGRAMS / "examples/fit_chunks", args.datasets / "hybridqa"]
    if args.fit:
        subprocess.run([*command, "fit", "retrieval/tablerag/src"], check=True)
        return
    figures = subprocess.run([*command, "measure", args.part, args.every], check=True, stdout=subprocess.PIPE, text=True)
    figures = figures.stdout.strip()
    print(figures)
    before, rest = args.output.read_text().split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    args.output.write_text(f"{before}{MARKS[0]}\n{figures}\n{MARKS[1]}{after}")


if __name__ == "__main__":
    main()
