"""What the scripts that train and measure share: the programs, and pages written whole."""

import argparse
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
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
    """Trains into a directory, unless a training has ended there; what one left that was cut off is begun anew."""
    done = directory / ".done"
    if not done.is_file():
        shutil.rmtree(directory, ignore_errors=True)
        program("train", *arguments, "--set", f"output.directory={directory}", quiet=quiet)
        done.touch()


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


def write(output, lines):
    temporary = output.with_suffix(".part")
    temporary.write_text("\n".join(lines) + "\n")
    temporary.replace(output)
