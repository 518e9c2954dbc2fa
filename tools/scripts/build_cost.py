"""What a cold release build of `train` and of `infer` costs, and by which direct dependency.

    python tools/scripts/build_cost.py [BEFORE] > docs/build.md

Builds each program with an empty target directory, with nothing else running and the crates downloaded; with BEFORE, another
checkout of the project, its programs too, for the first table. The second table is of `train` here: a crate that several
direct dependencies need is shared out evenly between them, so the column adds up to all compile seconds (of one core).
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ["train", "infer"]


def main():
    checkouts = {"now": ROOT}
    if len(sys.argv) > 1:
        checkouts = {"before": Path(sys.argv[1]).resolve(), **checkouts}
    built = {name: {program: build(checkout, program) for program in PROGRAMS} for name, checkout in checkouts.items()}
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    print("# What a cold build costs\n")
    print(f"`python tools/scripts/build_cost.py`, {os.cpu_count()} cores ({cpu}), an empty target directory, crates downloaded:\n")
    print("| | " + " | ".join(f"`{program}`, minutes | compile seconds | crates" for program in PROGRAMS) + " |")
    print("|---|" + "---:|" * 3 * len(PROGRAMS))
    for name, programs in built.items():
        print(f"| {name} | " + " | ".join(f"{wall / 60:.1f} | {sum(seconds.values()):.0f} | {len(seconds)}"
                                          for wall, seconds in programs.values()) + " |")
    print("\nWhere the time for `train` goes now:\n")
    print("| direct dependency | its share, s | needed by it alone, s | crates it pulls in |\n|---|---:|---:|---:|")
    for line in shares(built["now"]["train"][1]):
        print(line)


def build(checkout, program):
    """Wall-clock seconds, and the compile seconds of each crate."""
    with tempfile.TemporaryDirectory() as target:
        start = time.monotonic()
        command = ["cargo", "build", "--release", "--locked", "--timings", "--bin", program]
        subprocess.run(command, check=True, cwd=checkout, env=dict(os.environ, CARGO_TARGET_DIR=target), stdout=sys.stderr)
        wall = time.monotonic() - start
        html = (Path(target) / "cargo-timings/cargo-timing.html").read_text()
    seconds = defaultdict(float)
    for unit in json.loads(re.search(r"const UNIT_DATA = (\[.*?\]);\n", html, re.S).group(1)):
        seconds[unit["name"], unit["version"]] += unit["duration"]
    return wall, seconds


def shares(seconds):
    """Lines of the table by direct dependency."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    metadata = json.loads(subprocess.run(command, check=True, cwd=ROOT, capture_output=True).stdout)
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
    for d in sorted(direct, key=lambda d: -cost[d]):
        if crates[d]:
            package = packages[d]
            yield f"| {package['name']} {package['version']} | {cost[d]:.0f} | {alone[d]:.0f} | {crates[d]} |"
    yield f"| tabsegnet's own crates | {rest:.0f} | {rest:.0f} | |"


if __name__ == "__main__":
    main()
