"""Texts per second of the bert encoder beside sentence-transformers, in one alternating run.

    python scripts/bench_encode.py --encoder DIR --texts FILE [--peer st_encode.py --python PYTHON] [--rounds 3]

FILE holds one text a line. Prints a Markdown table with medians over rounds, spread and ratio; without --peer ours
alone, which it says.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", required=True, help="directory of the sentence encoder")
    parser.add_argument("--texts", required=True, help="a file with one text a line")
    parser.add_argument("--peer", help="the peer's script (sentence-transformers)")
    parser.add_argument("--python", default=sys.executable, help="a Python that has the peer's packages")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    args = parser.parse_args()
    root = Path(__file__).resolve().parent.parent
    build = ["cargo", "build", "--release", "--quiet", "-p", "tabsegnet-encoder", "--example", "encode"]
    subprocess.run(build, check=True, cwd=root)
    target = Path(os.environ.get("CARGO_TARGET_DIR", root / "target"))
    commands = {"tabsegnet": [str(target / "release/examples/encode"), args.encoder, args.texts]}
    if args.peer:
        commands["sentence-transformers"] = [
            args.python, args.peer, args.encoder, args.texts, "--threads", str(args.threads)
        ]
    else:
        print("no --peer given: tabsegnet alone is measured", file=sys.stderr)

    environment = dict(os.environ, RAYON_NUM_THREADS=str(args.threads))
    rates = {name: [] for name in commands}
    for _ in range(args.rounds):
        for name, command in commands.items():
            out = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
            rates[name].append(json.loads(out.splitlines()[-1])["texts_per_s"])

    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    print(f"{cpu}, {args.threads} threads, {args.rounds} rounds, load {os.getloadavg()[0]:.1f}\n")
    print("| encoder | texts/s, median | min | max | ratio |\n|---|---:|---:|---:|---:|")
    base = statistics.median(rates.get("sentence-transformers", rates["tabsegnet"]))
    for name, values in rates.items():
        median = statistics.median(values)
        print(f"| {name} | {median:.0f} | {min(values):.0f} | {max(values):.0f} | {median / base:.2f} |")


if __name__ == "__main__":
    main()
