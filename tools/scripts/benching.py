"""What the benchmark scripts share: programs, alternating runs, tables."""

import json
import os
import platform
import re
import statistics
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / "tools/scripts/peers"


def log(words):
    print(words, file=sys.stderr, flush=True)


def attempt(command, limit=None, **environment):
    """What a command prints on stdout within `limit` seconds, and in words what failed, or None."""
    command = [str(word) for word in command]
    environment = os.environ | environment
    try:
        result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=limit)
    except subprocess.TimeoutExpired as ended:
        said = (ended.stdout or b"").decode(errors="replace")
        return said, f"{' '.join(command)} was not done after {limit:.0f} s"
    failure = f"{' '.join(command)} failed with exit code {result.returncode}:\n{result.stderr[-2000:]}"
    return result.stdout, failure if result.returncode else None


def output_of(command, limit=None, **environment):
    """What a command prints on stdout; it may take `limit` seconds."""
    printed, failure = attempt(command, limit, **environment)
    if failure:
        sys.exit(failure)
    return printed


def run(command, limit=None, **environment):
    """The last line that a command prints, as JSON; it may take `limit` seconds."""
    lines = output_of(command, limit, **environment).strip().splitlines()
    return json.loads(lines[-1]) if lines and lines[-1].startswith("{") else {}


@cache
def programs():
    """Paths of all programs and examples by name, wherever the target directory is. All at once: another selection of
    packages would build what they depend on anew."""
    command = ["cargo", "build", "--release", "--locked", "--workspace", "--bins", "--examples", "--message-format=json"]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    if result.returncode:
        sys.exit(f"{' '.join(command)} failed")
    messages = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    return {m["target"]["name"]: m["executable"] for m in messages if m.get("executable")}


def bench(name):
    """The command of a measurement of tools/bench."""
    return [programs()["bench"], name]


def alternate(what, commands, rounds, limit=None):
    """The results of each command, all of them in turn in each round; a run may take `limit` seconds."""
    results = {name: [] for name in commands}
    for turn in range(1, rounds + 1):
        log(f"{what}: round {turn}/{rounds}")
        for name, command in commands.items():
            results[name].append(run(command, limit))
    return results


def values(results, key):
    return [result[key] for result in results]


def cell(numbers, digits=1):
    shown = [f"{number:,.{digits}f}" for number in (statistics.median(numbers), min(numbers), max(numbers))]
    return f"{shown[0]} ({shown[1]}–{shown[2]})"


def ratio(peer, project):
    return f"{statistics.median(peer) / statistics.median(project):.2f}"


def markdown_table(columns, rows):
    rule = "|".join("---" if i == 0 else "---:" for i in range(len(columns)))
    return "\n".join([f"| {' | '.join(columns)} |", f"|{rule}|", *(f"| {' | '.join(row)} |" for row in rows)])


def machine(options):
    """The machine in words."""
    try:
        names = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        names = []
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores, {memory:.0f} GiB; "
        f"{options.threads} threads, {options.rounds} rounds; load average {os.getloadavg()[0]:.1f} before"
    )
