"""Writes what each data set holds and what the methods reach on its dev part.

    python scripts/datasets.py --work DIR --output docs/datasets.md [--data KIND=DIR]… [--set KIND:KEY=VALUE]…
        [--kinds KIND…] [--train KIND…] [--seeds N…] [--borrow KIND=OTHER…]

Runs `train --prepare` and `evaluate` with configs/KIND.toml of each kind, with the shipped static encoder. --data says
where a kind's files are, --set overrides a key of its config, for files of other names. BM25, TF-IDF and dense
retrieval are always measured, the ranker of the config for the kinds of --train, once for each of --seeds. A kind without
a training part may borrow the rankers of another kind that stands before it. Finished runs that stand in --work are taken as
they are.
"""

import argparse
import json
import re
from pathlib import Path

from experiments import ROOT, program

KINDS = ["finqa", "multihiertt", "tatqa", "hybridqa", "hitab", "ixbrl", "mix"]
CONFIGS = {"finqa": "finqa-plus"}
NAMES = {"finqa": "FinQA", "multihiertt": "MultiHierTT", "tatqa": "TAT-QA", "hybridqa": "HybridQA", "hitab": "HiTab",
         "ixbrl": "Inline XBRL"}
MEASURES = ["recall@1", "recall@5", "recall@10", "recall@20", "MAP", "MRR", "nDCG@10"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--data", action="append", default=[], metavar="KIND=DIR")
    parser.add_argument("--set", action="append", default=[], metavar="KIND:KEY=VALUE")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--train", nargs="+", choices=KINDS, default=[])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--borrow", action="append", default=[], metavar="KIND=OTHER")
    args = parser.parse_args()
    overrides = {kind: ["encoder.kind=static", "encoder.model="] for kind in KINDS}
    for given in args.data:
        kind, directory = given.split("=", 1)
        overrides[kind].append(f"data.root={directory}")
    for given in args.set:
        kind, override = given.split(":", 1)
        overrides[kind].append(override)

    borrowed = dict(given.split("=", 1) for given in args.borrow)
    pages = []
    for kind in args.kinds:
        run = args.work / kind
        common = ["--config", str(ROOT / f"configs/{CONFIGS.get(kind, kind)}.toml"), "--set", f"output.directory={run}"]
        common += [part for override in overrides[kind] for part in ("--set", override)]
        statistics = program("train", *common, "--prepare")
        rankers = kind if kind in args.train else borrowed.get(kind)
        if kind in args.train:
            directories = [run / f"seed-{seed}" for seed in args.seeds]
            for seed, directory in zip(args.seeds, directories):
                # A run of hours that was cut off goes on where it stood.
                done = directory / ".done"
                if not done.is_file():
                    program("train", *common, "--set", f"output.directory={directory}", "--set", f"task.seed={seed}")
                    done.touch()
        chosen = ["--baselines"]
        if rankers:
            directories = [args.work / rankers / f"seed-{seed}" for seed in args.seeds]
            chosen = [part for d in directories for part in ("--checkpoint", str(d / "best"))]
        program("evaluate", *common, *chosen)
        report = json.loads((run / "report/report.json").read_text())
        pages.append(section(kind, statistics, report, borrowed.get(kind)))
    args.output.write_text("\n".join([INTRODUCTION, *pages]).rstrip() + "\n")
    print(args.output)


INTRODUCTION = """# Data sets

What the readers make of each data set, and what the methods reach on its dev part with the shipped static encoder,
written by `python scripts/datasets.py`. Where each comes from and which files are expected: [README](../README.md).
How a record becomes a document and which nodes are gold is said at the head of each reader in `data/src`.
The figures hold for the files at hand, whose numbers of questions stand in each section, not for the whole of the
published data sets.
"""


def section(kind, statistics, report, borrowed=None):
    dataset = report["dataset"]
    lines = [
        f"## {NAMES.get(kind, 'A mix of them')}",
        "",
        f"dev: {dataset['questions']} questions on {dataset['documents']} documents, "
        f"{dataset['gold_per_question']:.2f} gold nodes a question, "
        f"{dataset['mean_nodes_per_document']:.0f} nodes a document.",
        *([f"There is no training part: the rankers are those trained on {NAMES[borrowed]}."] if borrowed else []),
        "",
        *table("method", rows(report["methods"])),
        "",
    ]
    slices = [part for part in report["slices"] if part["group"] == "data set"]
    for part in slices:
        shown = [(name_of(m), {"recall@10": m["recall_10"]["mean"], "MAP": m["map"]["mean"]}) for m in part["methods"]]
        lines += [f"{NAMES.get(part['name'], part['name'])}, {part['questions']} questions:", "", *table("method", shown), ""]
    lines += ["What was prepared:", "", "```", statistics.rstrip(), "```", ""]
    return "\n".join(lines)


def rows(methods):
    """A row a method, and one for the mean of the seeds of the ranker."""
    found = [(name_of(method), values(method)) for method in methods]
    seeds = [row for name, row in found if name.startswith("ranker")]
    if len(seeds) > 1:
        mean = {measure: sum(row[measure] for row in seeds) / len(seeds) for measure in seeds[0]}
        found.insert(0, (f"**ranker, mean of {len(seeds)} seeds**", mean))
    return found


def name_of(method):
    seed = re.search(r"seed-(\d+)-best$", method["name"])
    return f"ranker, seed {seed[1]}" if seed else method["name"]


def values(method):
    return {measure["measure"]: measure["mean"] for measure in method["measures"]}


def table(first, rows):
    measures = [measure for measure in MEASURES if all(measure in row for _, row in rows)]
    lines = [f"| {first} | " + " | ".join(measures) + " |", "|---|" + "---:|" * len(measures)]
    return lines + [f"| {name} | " + " | ".join(f"{row[m]:.3f}" for m in measures) + " |" for name, row in rows]


if __name__ == "__main__":
    main()
