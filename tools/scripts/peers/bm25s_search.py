"""bm25s: an index over texts, one a line, and every text scored for each of some of them as questions. One thread."""

import argparse
import json
import time

import bm25s

parser = argparse.ArgumentParser()
parser.add_argument("texts")
parser.add_argument("--questions", type=int, default=200)
parser.add_argument("--steps", type=int, default=5)
options = parser.parse_args()
texts = open(options.texts, encoding="utf-8").read().splitlines()
questions = texts[:: max(1, len(texts) // max(1, options.questions))]


def build():
    index = bm25s.BM25(k1=1.5, b=0.75)
    index.index(bm25s.tokenize(texts, stopwords=None, show_progress=False), show_progress=False)
    return index


def ask(index):
    for question in questions:
        tokens = bm25s.tokenize([question], stopwords=None, return_ids=False, show_progress=False)[0]
        # It refuses a question without words.
        if tokens:
            index.get_scores(tokens)


def median_ms(run):
    run()
    times = []
    for _ in range(options.steps):
        start = time.perf_counter()
        run()
        times.append(1e3 * (time.perf_counter() - start))
    return sorted(times)[len(times) // 2]


index = build()
print(json.dumps({"peer": "bm25s", "texts": len(texts), "questions": len(questions), "build_ms": median_ms(build),
                  "ask_ms": median_ms(lambda: ask(index)) / len(questions)}))
