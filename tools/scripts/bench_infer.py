#!/usr/bin/env python3
"""Ranking a document of 10,000 nodes (50 tables): cold starts of `infer`, and question after question.

    tools/scripts/bench_infer.py [--runs 15] [--questions 300] [--bert DIR] [--output FILE]

Builds `infer` and `tools/bench` in release mode. A cold start is the wall time of a whole
process, from its start to its end, with the files in the page cache: for a document never seen (nothing is kept
between runs), for one whose encoded form is kept, and for a small one never seen; all with a new model of preset
large. Warm: that model, and the shipped rankers with features; `first answer` is the time until
its first line stands on stdout. CPU is user and system time of the process: what it would take on an idle core. With
--bert the same with that encoder beside the static one; there the cold start of the unseen document is one run only.
Prints one JSON object; medians, with the least and the greatest.

Exit codes: 0 measured, 1 a build or a run failed, 2 wrong usage.
"""

import argparse
import hashlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benching import ROOT, bench, programs

QUESTION = "What was the net income of Europe in 2009?"


def run(command):
    """Milliseconds to the first line, to the end, and of CPU."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as process:
        process.stdout.readline()
        first = time.perf_counter() - start
        _, errors = process.communicate()
    wall = time.perf_counter() - start
    if process.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed with exit code {process.returncode}:\n{errors.decode()[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return [value * 1e3 for value in (first, wall, cpu)]


def summary(runs):
    def of(values):
        return {"median": round(statistics.median(values), 1), "min": round(min(values), 1), "max": round(max(values), 1)}

    first, wall, cpu = zip(*runs)
    return {"runs": len(runs), "first_answer_ms": of(first), "process_ms": of(wall), "cpu_ms": of(cpu)}


def cold(infer, document, checkpoint, directory, runs, keep):
    """`keep`: whether the encoded document is left from run to run."""
    cache = directory / "cache"
    command = [infer, "--checkpoint", checkpoint, "--document", document, "--question", QUESTION, "--cache", cache]
    measured = []
    # One run more, so that the page cache is warm.
    for turn in range(runs + 1 if runs > 1 or keep else 1):
        if not keep:
            shutil.rmtree(cache, ignore_errors=True)
        measured.append(run(command))
    return summary(measured[1:] or measured)


def measure(infer, example, bert, options):
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        encoder = ["--bert", bert] if bert else []
        large, small = directory / "large.json", directory / "small.json"
        run([*example, "--write", large, *encoder])
        run([*example, "--write", small, "--tables", "1", *encoder])
        checkpoint = directory / "large.checkpoint"
        runs = options.runs
        # In this order: the last run on the large document leaves its encoded form.
        result = {
            "encoder": bert.name if bert else "static",
            "cold_small": cold(infer, small, checkpoint, directory, runs, keep=False),
            "cold_unseen": cold(infer, large, checkpoint, directory, 1 if bert else runs, keep=False),
            "cold_kept": cold(infer, large, checkpoint, directory, runs, keep=True),
        }
        with_features = shipped(directory, bert)
        return result | {"warm": warm(example, checkpoint, directory / "own", options),
                         "warm_with_features": warm(example, with_features, directory / "own-features", options)}


def shipped(directory, bert):
    """The shipped ranker with features, its encoder where --bert says that it is."""
    checkpoint = directory / "features.checkpoint"
    shutil.copytree(ROOT / "checkpoints" / ("finqa-minilm" if bert else "finqa"), checkpoint)
    if bert:
        config, manifest = checkpoint / "config.toml", checkpoint / "manifest.json"
        before = digest(config)
        config.write_text(config.read_text().replace('"encoders/all-MiniLM-L6-v2"', json.dumps(str(bert))))
        manifest.write_text(manifest.read_text().replace(before, digest(config)))
    return checkpoint


def digest(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def warm(example, checkpoint, cache, options):
    command = [*example, "--checkpoint", checkpoint, "--questions", str(options.questions), "--cache", cache]
    subprocess.run(command, capture_output=True, cwd=ROOT, check=False)  # keeps the encoded document
    found = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if found.returncode:
        sys.exit(f"rank_document failed:\n{found.stderr[-2000:]}")
    return json.loads(found.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15, help="cold starts of each kind")
    parser.add_argument("--questions", type=int, default=300, help="different questions, warm")
    parser.add_argument("--bert", type=Path, help="directory of a BERT-family encoder")
    parser.add_argument("--output", type=Path, help="also write the JSON to this file")
    options = parser.parse_args()
    if options.runs < 2 or options.questions < 1:
        parser.error("--runs must be at least 2, --questions at least 1")
    if options.bert and not options.bert.is_dir():
        parser.error(f"--bert {options.bert} is not a directory")
    options.bert = options.bert and options.bert.resolve()

    infer, example = programs()["infer"], bench("rank_document")
    load = os.getloadavg()[0]
    results = [measure(infer, example, None, options)]
    if options.bert:
        results.append(measure(infer, example, options.bert, options))
    report = {"cores": os.cpu_count(), "load_before": load, "load_after": os.getloadavg()[0], "results": results}
    text = json.dumps(report, indent=1)
    print(text)
    if options.output:
        options.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
