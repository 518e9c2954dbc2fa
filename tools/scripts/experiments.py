"""What the scripts that train and measure share: the programs, and pages written whole."""

import argparse
import functools
import json
import os
import random
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Of a randomisation test.
ROUNDS = 10_000
# A directory of built programs; without it cargo builds them.
PROGRAMS = os.environ.get("TABSEGNET_PROGRAMS") and Path(os.environ["TABSEGNET_PROGRAMS"])


def program(name, *arguments, quiet=False):
    """Runs `train`, `evaluate` or an example of the trainer (`examples/NAME`) and returns what it prints; `quiet` leaves out
    its progress."""
    kind = "--example" if name.startswith("examples/") else "--bin"
    command = ["cargo", "run", "--release", "--quiet", "-p", "tabsegnet-trainer", kind, Path(name).name, "--"]
    command = [str(PROGRAMS / name)] if PROGRAMS else command
    errors = subprocess.DEVNULL if quiet else None
    return subprocess.run([*command, *arguments], check=True, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True).stdout


def trained(directory, *arguments, quiet=False):
    """Trains into a directory, unless a training of the same settings has ended there; what one left that was cut off, or
    of other settings, is begun anew. Without the report at the end unless a setting turns it on."""
    arguments = [*settings("evaluation.after_training=false", "evaluation.examples=0"), *arguments]
    directory = directory.resolve()
    done, config = directory / ".done", program("train", *arguments, "--print-config", quiet=True)
    if not done.is_file() or done.read_text() != config:
        shutil.rmtree(directory, ignore_errors=True)
        program("train", *arguments, "--set", f"output.directory={directory}", quiet=quiet)
        done.write_text(config)


def evaluated(output, checkpoints, *arguments):
    """Measures checkpoints and baselines into a directory, unless the same were measured there."""
    done = output / ".done"
    given = [part for directory in checkpoints for part in ("--checkpoint", str(directory))] or ["--baselines"]
    manifests = [(directory / "manifest.json").read_text() for directory in checkpoints]
    wanted = json.dumps([program("train", *arguments, "--print-config", quiet=True), given, manifests])
    if not done.is_file() or done.read_text() != wanted:
        shutil.rmtree(output, ignore_errors=True)
        program("evaluate", *arguments, *given, "--output", str(output), quiet=True)
        done.write_text(wanted)


def settings(*chosen):
    """KEY=VALUE as arguments of the programs."""
    return [part for setting in chosen for part in ("--set", setting)]


def finqa_parser(description):
    """The arguments of what trains on FinQA with all-MiniLM-L6-v2."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--output", type=Path, required=True)
    return parser


def p_value(a, b):
    """Two-sided paired randomisation test of the means."""
    return randomised(tuple(x - y for x, y in zip(a, b) if x != y))


@functools.cache
def randomised(differences):
    observed = abs(sum(differences))
    if not differences:
        return 1.0
    generator = random.Random(0)
    hits = 0
    for _ in range(ROUNDS):
        signs = generator.getrandbits(len(differences))
        hits += abs(sum(d if signs >> at & 1 else -d for at, d in enumerate(differences))) >= observed - 1e-12
    return (hits + 1) / (ROUNDS + 1)


def shown_p(p):
    return "< .001" if p < 0.001 else f"{p:.3f}"


def write(output, lines):
    temporary = output.with_suffix(".part")
    temporary.write_text("\n".join(lines) + "\n")
    temporary.replace(output)


def write_records(output, records):
    """JSON lines, in a folder that is made."""
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    write(Path(output), [json.dumps(record, ensure_ascii=False) for record in records])
