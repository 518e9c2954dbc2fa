#!/usr/bin/env python3
"""One training step and one inference pass of the scorer, side by side with PyTorch Geometric.

    scripts/bench_step.py --peer PYG_SCRIPT [--python PYTHON] [--rounds 5] [--threads 2] [--output FILE]

Builds `model/examples/step.rs` in release mode, then runs peer, project, peer, project, ... for each setting, so that
both meet the same machine at the same time. Prints one Markdown table: the median over the rounds of each run's median
step, in brackets the least and the greatest of them, and the ratio peer / project (above 1: the project is faster).
The peer is a script with the options of the example that prints one JSON line with `median_ms`. Without --peer only
the project is measured.

Exit codes: 0 measured, 1 a build or a run failed, 2 wrong usage.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = [
    ("training, 32 × 128 nodes, 896 edges", []),
    ("inference, 32 × 128 nodes, 896 edges", ["--infer"]),
    ("training, 3 layers", ["--layers", "3"]),
    ("training, 8 × 1,000 nodes, 7,000 edges", ["--docs", "8", "--nodes", "1000", "--edges", "7000"]),
]


def run(command):
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed with exit code {result.returncode}:\n{result.stderr[-2000:]}")
    return result.stdout


def build():
    """Path of the built example, wherever the target directory is."""
    command = ["cargo", "build", "--release", "-p", "tabsegnet-model", "--example", "step", "--message-format=json"]
    for line in run(command).splitlines():
        message = json.loads(line)
        if message.get("target", {}).get("name") == "step" and message.get("executable"):
            return message["executable"]
    sys.exit("cargo built no example named step")


def median_ms(command):
    return json.loads(run(command).strip().splitlines()[-1])["median_ms"]


def cpu_model():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def cell(times):
    return f"{statistics.median(times):.1f} ({min(times):.1f}–{max(times):.1f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", type=Path, help="the peer's script")
    parser.add_argument("--python", default=sys.executable, help="what runs it; needs torch and torch-geometric")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2, help="threads of both")
    parser.add_argument("--output", type=Path, help="also write the table to this file")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    if options.peer and not options.peer.is_file():
        parser.error(f"--peer {options.peer} is not a file")
    if not options.peer:
        print("WARNING: no --peer given; NOTHING IS COMPARED, these are the project's times alone", file=sys.stderr)

    project = [build()]
    peer = [options.python, str(options.peer.resolve())] if options.peer else None
    load = os.getloadavg()[0]
    lines = ["| setting | PyTorch Geometric, ms | TabSegNet, ms | ratio |", "|---|---|---|---|"]
    for name, setting in SETTINGS:
        arguments = [*setting, "--threads", str(options.threads)]
        peer_times, times = [], []
        for turn in range(1, options.rounds + 1):
            print(f"{name}: round {turn}/{options.rounds}", file=sys.stderr)
            if peer:
                peer_times.append(median_ms(peer + arguments))
            times.append(median_ms(project + arguments))
        ratio = f"{statistics.median(peer_times) / statistics.median(times):.2f}" if peer else "not compared"
        lines.append(f"| {name} | {cell(peer_times) if peer else 'not run'} | {cell(times)} | {ratio} |")
    lines += [
        "",
        f"{cpu_model()}, {os.cpu_count()} cores, {options.threads} threads, {options.rounds} rounds; "
        f"load average {load:.1f} at the start, {os.getloadavg()[0]:.1f} at the end. Median (least–greatest).",
    ]
    if not peer:
        lines.insert(0, "**No peer was run: nothing is compared here.**\n")
    table = "\n".join(lines) + "\n"
    print(table, end="")
    if options.output:
        options.output.write_text(table)


if __name__ == "__main__":
    main()
