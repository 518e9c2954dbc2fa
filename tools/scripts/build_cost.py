"""What a cold release build of the programs costs, by direct dependency.

    python tools/scripts/build_cost.py [TARGET] > docs/build.md

Builds with cargo's --timings into a new directory, kept where TARGET names it. A crate that several direct dependencies need is shared
out evenly between them, so the column adds up to all compile seconds (of one core).
"""

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

PROGRAMS = ["--bin", "train", "--bin", "evaluate", "--bin", "infer"]


def main():
    root = Path(__file__).resolve().parents[2]
    kept = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if kept and kept.exists():
        sys.exit(f"{kept} is there already; a cold build needs a new directory")
    with contextlib.nullcontext(kept) if kept else tempfile.TemporaryDirectory() as target:
        start = time.monotonic()
        command = ["cargo", "build", "--release", "--locked", "--timings", *PROGRAMS]
        subprocess.run(command, check=True, cwd=root, env=dict(os.environ, CARGO_TARGET_DIR=str(target)), stdout=sys.stderr)
        wall = time.monotonic() - start
        html = (Path(target) / "cargo-timings/cargo-timing.html").read_text()
    units = json.loads(re.search(r"const UNIT_DATA = (\[.*?\]);\n", html, re.S).group(1))
    seconds = defaultdict(float)
    for unit in units:
        seconds[unit["name"], unit["version"]] += unit["duration"]

    metadata = json.loads(
        subprocess.run(
            ["cargo", "metadata", "--format-version", "1", "--locked"], check=True, cwd=root, capture_output=True
        ).stdout
    )
    packages = {p["id"]: p for p in metadata["packages"]}
    nodes = {n["id"]: [d["pkg"] for d in n["deps"] if any(k["kind"] != "dev" for k in d["dep_kinds"])]
             for n in metadata["resolve"]["nodes"]}
    own = [i for i in metadata["workspace_members"] if packages[i]["name"] != "tabsegnet-tests"]
    direct = sorted({d for i in own for d in nodes[i] if d not in metadata["workspace_members"]})

    def below(package, seen):
        if package not in seen:
            seen.add(package)
            for d in nodes[package]:
                below(d, seen)
        return seen

    users = defaultdict(list)
    for d in direct:
        for package in below(d, set()):
            users[package].append(d)
    cost, alone, crates = defaultdict(float), defaultdict(float), defaultdict(int)
    rest = 0.0
    for (name, version), value in seconds.items():
        ids = [i for i, p in packages.items() if p["name"] == name and p["version"] == version]
        wanted = users.get(ids[0], []) if ids else []
        if not wanted:
            rest += value
        for d in wanted:
            cost[d] += value / len(wanted)
            crates[d] += 1
            if len(wanted) == 1:
                alone[d] += value

    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    print("# What a cold build costs\n")
    print(f"`python tools/scripts/build_cost.py`: {wall / 60:.1f} minutes for `train`, `evaluate` and `infer` on "
          f"{os.cpu_count()} cores ({cpu}), {sum(seconds.values()):.0f} compile seconds, {len(seconds)} crates.\n")
    print("| direct dependency | its share, s | needed by it alone, s | crates it pulls in |\n|---|---:|---:|---:|")
    for d in sorted(direct, key=lambda d: -cost[d]):
        if crates[d]:
            package = packages[d]
            print(f"| {package['name']} {package['version']} | {cost[d]:.0f} | {alone[d]:.0f} | {crates[d]} |")
    print(f"| tabsegnet's own crates | {rest:.0f} | {rest:.0f} | |")


if __name__ == "__main__":
    main()
