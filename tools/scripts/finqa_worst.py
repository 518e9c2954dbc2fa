"""Where a ranker goes wrong on FinQA: the questions of the lowest average precision, and what kinds of gold nodes stand
behind the tenth. The causes in docs/finqa-worst.md were assigned by hand to what this prints.

    python tools/scripts/finqa_worst.py --input FILE --qrels FILE --run FILE [--questions 20]

FILE of --input is FinQA's dev.json, of --qrels `evaluate`'s qrels.trec, of --run a ranking of the same questions, as
`infer --dataset finqa … --format trec` writes it.
"""

import argparse
import collections
import json
import re
from pathlib import Path

from measures import average_precision, gold


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ["input", "qrels", "run"]:
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=20)
    args = parser.parse_args()
    records = {record["id"]: record["qa"] for record in json.loads(args.input.read_text())}
    ranks = {question: dict.fromkeys(nodes) for question, nodes in gold(args.qrels).items()}
    for line in args.run.read_text().splitlines():
        question, _, node, rank, _, _ = line.split()
        if node in ranks[question]:
            ranks[question][node] = int(rank)

    def measured(question):
        return average_precision(sorted(ranks[question].values()), len(ranks[question]))

    for question in sorted(ranks, key=measured)[:args.questions]:
        found = ", ".join(f"{node} {rank}" for node, rank in sorted(ranks[question].items()))
        print(f"{measured(question):.3f} {question}: {records[question]['question']} | {found}")

    missed = collections.Counter()
    for question, found in ranks.items():
        for node, rank in found.items():
            if rank > 10:
                missed[kind(node, records[question])] += 1 / len(found) / len(ranks)
    print(f"recall@10 that is missed: {sum(missed.values()):.3f}")
    for name, share in missed.most_common():
        print(f"{share:.3f} {name}")
    strays = sum(kind(node, records[question]) == STRAY for question, found in ranks.items() for node in found)
    print(f"{strays} of {sum(map(len, ranks.values()))} gold nodes are {STRAY}")


STRAY = "sentences that hold no number of the program while the other gold nodes hold all of them"


def kind(node, record):
    """What a gold node is."""
    if node.startswith("p"):
        found_in = {name: numbers(text) for name, text in record["gold_inds"].items()}
        own = found_in.pop(f"text_{node[1:]}", set())
        needed = numbers(re.sub(r"const_m?[0-9.]+|#[0-9]+", "", record["program"]))
        return STRAY if not own & needed and needed <= set().union(*found_in.values()) else "other sentences"
    place = node.partition(":")[2]
    return "captions" if not place else "cells" if re.fullmatch(r"r\d+c\d+", place) else "headers where no cell equals an argument"


def numbers(text):
    return {float(number) for number in re.findall(r"(?<![#\d.a-z_])\d+(?:\.\d+)?", text.replace(",", ""))}


if __name__ == "__main__":
    main()
