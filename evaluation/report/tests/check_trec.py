#!/usr/bin/env python3
"""Figures of trec_eval (through pytrec_eval) for a run file and a qrels file.

    check_trec.py figures RUN QRELS    print the figures of every question as JSON
    check_trec.py reference DIRECTORY  write a seeded run.trec and qrels.trec, with equal scores and
                                       gold nodes that were not ranked, and their figures.json

The tests compare the crate's own figures with these. Needs pytrec_eval (or pytrec_eval-terrier).
"""

import json
import random
import sys
from pathlib import Path

import pytrec_eval

MEASURES = {"recall.1,3,5,10,20", "map", "recip_rank", "ndcg_cut.10"}


def read(path, node_field, value_field, convert):
    """{question: {node: value}} of a file with fields separated by white space."""
    questions = {}
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        fields = line.split()
        if fields:
            questions.setdefault(fields[0], {})[fields[node_field]] = convert(fields[value_field])
    return questions


def figures(run, qrels):
    """{question: {measure: figure}}, questions and measures in alphabetical order."""
    evaluator = pytrec_eval.RelevanceEvaluator(read(qrels, 2, 3, int), MEASURES)
    return evaluator.evaluate(read(run, 2, 4, float))


def reference(directory):
    """A small sample of what makes implementations differ."""
    draw = random.Random(20_260_101)
    run, qrels = [], []
    for question in range(24):
        nodes = [f"t{n // 9}:r{n % 9}c{draw.randrange(6)}n{n}" for n in range(draw.randrange(1, 70))]
        # Few distinct scores, so most nodes share theirs with others; in even questions a grid finer
        # than 32-bit floats, so that some scores are equal only when read as such.
        step = 0.25 if question % 2 else 1e-9
        ranked = nodes[: max(1, len(nodes) * draw.randrange(3, 11) // 10)]
        scores = [1 + step * draw.randrange(-8, 8) for _ in ranked]
        for rank, (node, score) in enumerate(zip(ranked, scores)):
            run.append(f"q{question} Q0 {node} {rank} {score!r} reference")
        gold = draw.sample(nodes, draw.randrange(1, 1 + min(14, len(nodes))))
        qrels += [f"q{question} 0 {node} {int(node in gold)}" for node in nodes]
    draw.shuffle(run)
    directory = Path(directory)
    (directory / "run.trec").write_text("\n".join(run) + "\n", encoding="utf-8")
    (directory / "qrels.trec").write_text("\n".join(qrels) + "\n", encoding="utf-8")
    found = figures(directory / "run.trec", directory / "qrels.trec")
    text = json.dumps(found, indent=1, sort_keys=True) + "\n"
    (directory / "figures.json").write_text(text, encoding="utf-8")


def main(arguments):
    match arguments:
        case ["figures", run, qrels]:
            json.dump(figures(run, qrels), sys.stdout, sort_keys=True)
        case ["reference", directory]:
            reference(directory)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
