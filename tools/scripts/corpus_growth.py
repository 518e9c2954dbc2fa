#!/usr/bin/env python3
"""How a corpus of tables grows: makes corpora of 1,000 to 1,000,000 tables, and draws what making, opening and searching them
costs.

  corpus_growth.py --root datasets/corpus --work W --image docs/corpus-growth.svg [--tables N …] [--programs DIR]
  corpus_growth.py --figures W/growth.json --image docs/corpus-growth.svg

Tables are windows of rows of the real ones, as in tools/scripts/corpus.py. Figures are kept in W/growth.json and printed.
Needs matplotlib."""

import argparse
import glob
import json
import os
import shutil
import subprocess

from corpus import timed, windows

WAYS = ["bm25", "dense", "fusion", "rerank"]


def measured(arguments, count):
    program = lambda name: os.path.join(arguments.programs, name)
    corpus, tables = f"{arguments.work}/growth-{count}", f"{arguments.work}/growth-{count}.jsonl"
    shutil.rmtree(corpus, ignore_errors=True)
    windows(sorted(glob.glob(f"{arguments.root}/tables/*.jsonl.gz")), count, tables)
    seconds, memory = timed([program("index"), "--output", corpus, tables])
    os.remove(tables)
    size = sum(os.path.getsize(path) for path in glob.glob(f"{corpus}/*")) / 2**20
    command = [program("bench"), "corpus_speed", "--corpus", corpus, "--questions", f"{arguments.root}/questions/wtq.jsonl.gz"]
    command += [part for way in WAYS for part in ("--retriever", way)]
    speeds = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    shutil.rmtree(corpus)
    return {"tables": count, "index_s": seconds, "memory_mb": memory, "disk_mb": size, "ways": speeds}


def draw(figures, image):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "tabsegnet"
    import matplotlib.pyplot as plt

    tables = [found["tables"] for found in figures]
    figure, (making, searching) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for key, label in (("index_s", "index, s"), ("memory_mb", "peak memory of index, MB"), ("disk_mb", "on the disk, MB")):
        making.plot(tables, [found[key] for found in figures], marker="o", markersize=4, label=label)
    for number, way in enumerate(WAYS):
        times = [found["ways"][number]["p50_ms"] for found in figures]
        searching.plot(tables, times, marker="o", markersize=4, label=f"{way}, ms a question")
    opened = [found["ways"][0]["open_ms"] for found in figures]
    searching.plot(tables, opened, "--", marker="o", markersize=4, label="open, ms")
    for axis in (making, searching):
        axis.set(xscale="log", yscale="log", xlabel="tables")
        axis.grid(alpha=0.3)
        axis.legend(frameon=False, fontsize="small")
    figure.savefig(image, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root")
    parser.add_argument("--work")
    parser.add_argument("--image", required=True)
    parser.add_argument("--figures")
    parser.add_argument("--tables", type=int, nargs="*", default=[1000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--programs", default=os.environ.get("TABSEGNET_PROGRAMS", "target/release"))
    arguments = parser.parse_args()
    if arguments.figures:
        with open(arguments.figures, encoding="utf-8") as file:
            figures = json.load(file)
    else:
        os.makedirs(arguments.work, exist_ok=True)
        figures = []
        for count in arguments.tables:
            figures.append(measured(arguments, count))
            print(json.dumps(figures[-1]), flush=True)
            with open(f"{arguments.work}/growth.json", "w", encoding="utf-8") as file:
                json.dump(figures, file, indent=1)
    draw(figures, arguments.image)


if __name__ == "__main__":
    main()
