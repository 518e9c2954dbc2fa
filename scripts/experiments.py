"""What the scripts that train and measure share: the programs, and pages written whole."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# A directory of built programs; without it cargo builds them.
PROGRAMS = os.environ.get("TABSEGNET_PROGRAMS") and Path(os.environ["TABSEGNET_PROGRAMS"])


def program(name, *arguments, quiet=False):
    """Runs `train` or `evaluate` and returns what it prints; `quiet` leaves out its progress."""
    command = [str(PROGRAMS / name)] if PROGRAMS else ["cargo", "run", "--release", "--quiet", "--bin", name, "--"]
    errors = subprocess.DEVNULL if quiet else None
    return subprocess.run([*command, *arguments], check=True, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True).stdout


def write(output, lines):
    temporary = output.with_suffix(".part")
    temporary.write_text("\n".join(lines) + "\n")
    temporary.replace(output)
