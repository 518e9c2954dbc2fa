#!/usr/bin/env python3
"""The reranker of tables without a part of what it sees: trains one without each, measures all, and puts the table into
docs/corpus.md.

  corpus_ablation.py --root datasets/corpus --work W --page docs/corpus.md [--train 300] [--dev 150]

Needs a page as tools/scripts/corpus.py writes it. What is trained in W already is taken as it is."""

import argparse
import json
import os
import re
import subprocess

PARTS = {
    "all": [],
    "without listwise": ["corpus.candidates.listwise=false"],
    "without adapter": ["corpus.candidates.adapter=false"],
    "without cells": ["corpus.candidates.cells=false"],
    "without links": ["corpus.candidates.links=[]"],
    "without page": ['corpus.candidates.links=["header","first_column","values","column"]'],
    "without unionable": ['corpus.candidates.links=["page","values","column"]'],
    "without joinable": ['corpus.candidates.links=["page","header","first_column"]'],
}
HEADING = "## Without a part"
MEASURES = [("Acc@10", {"Acc": 10}), ("Acc@50", {"Acc": 50}), ("MRR", "Mrr")]


def figures(report, names, measure):
    """Rows of a table: each set's figure with all, and what each other reranker has more, with p."""
    rows, sums = [], {name: 0.0 for name in PARTS}
    for part, found in report.items():
        mean = {method["name"]: dict((json.dumps(m), e["mean"]) for m, e in method["figures"]) for method in found["methods"]}
        key = json.dumps(measure)
        p = {d["method"]: d["p"] for d in found["differences"] if d["measure"] == measure}
        whole = mean[names["all"]][key]
        row = [part, f"{100 * whole:.1f}"]
        for name in list(PARTS)[1:]:
            change = 100 * (mean[names[name]][key] - whole)
            row.append(f"{change:+.1f} ({p[names[name]]:.3f})")
            sums[name] += change / len(report)
        sums["all"] += 100 * whole / len(report)
        rows.append(row)
    rows.append(["**mean**", f"{sums['all']:.1f}", *(f"**{sums[name]:+.1f}**" for name in list(PARTS)[1:])])
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--page", required=True)
    parser.add_argument("--config", default="configs/corpus.toml")
    parser.add_argument("--train", type=int, default=300)
    parser.add_argument("--dev", type=int, default=150)
    parser.add_argument("--programs", default=os.environ.get("TABSEGNET_PROGRAMS", "target/release"))
    arguments = parser.parse_args()
    program = lambda name: os.path.join(arguments.programs, name)
    settings = [f"corpus.root={arguments.root}", f"corpus.train_questions={arguments.train}",
                f"corpus.dev_questions={arguments.dev}", "evaluation.after_training=false",
                f"output.cache={arguments.work}/cache"]
    flags = lambda more: [part for setting in settings + more for part in ("--set", setting)]
    best = {name: f"{arguments.work}/{name.replace(' ', '-')}" for name in PARTS}
    for name, more in PARTS.items():
        if not os.path.exists(f"{best[name]}/best"):
            command = [program("train"), "--config", arguments.config, *flags([*more, f"output.directory={best[name]}"])]
            subprocess.run(command, check=True)
    # The report has graph-table retrieval too, which the table does not show: small clusters make it quick.
    quick = ["corpus.gtr.clusters=60", "corpus.gtr.semantic_only=true"]
    command = [program("evaluate"), "--config", arguments.config, *flags(quick), "--output", f"{arguments.work}/report"]
    names = {name: f"{directory}/best" for name, directory in best.items()}
    subprocess.run(command + [part for path in names.values() for part in ("--checkpoint", path)], check=True,
                   stdout=subprocess.DEVNULL)
    with open(f"{arguments.work}/report/corpus.json", encoding="utf-8") as file:
        report = json.load(file)
    text = [
        HEADING,
        "",
        f"Rerankers that see less, each trained on at most {arguments.train} questions a set and measured on at most "
        f"{arguments.dev}: fewer than the one above, so that the figures are lower. `cells` are rows and cells of the "
        "first candidates; links lead to candidates and are seen in them: `page` is the same title, `unionable` the same "
        "columns or first column, `joinable` columns with common values or a name in common; `listwise` is the order of the first "
        "beside each other. In % of the questions: all, "
        "then what the others have more (p of the paired randomisation test, not adjusted).",
    ]
    for label, measure in MEASURES:
        text += ["", f"| {label} | {' | '.join(PARTS)} |", "|---|" + "---:|" * len(PARTS)]
        text += [f"| {' | '.join(row)} |" for row in figures(report, names, measure)]
    with open(arguments.page, encoding="utf-8") as file:
        page = file.read()
    section = "\n".join(text) + "\n\n"
    without = re.sub(rf"^{HEADING}$.*?(?=^## )", "", page, flags=re.M | re.S)
    page = without.replace("## Speed\n", section + "## Speed\n", 1)
    with open(arguments.page + ".part", "w", encoding="utf-8") as file:
        file.write(page)
    os.replace(arguments.page + ".part", arguments.page)


if __name__ == "__main__":
    main()
