#!/usr/bin/env python3
"""BM25 over a corpus of tables beside bm25s and tantivy, alternating in one run: milliseconds of a question, top ten, medians.

  bench_corpus.py --tables FILES.jsonl.gz… --questions FILE.jsonl.gz [--count 200] [--rounds 5] [--programs target/release]

Needs the packages bm25s and tantivy. All three search the same texts (title, section, caption, header, cells); ours keeps six
fields apart, which they do not."""

import argparse
import gzip
import json
import os
import statistics
import subprocess
import tempfile
import time


def lines(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def text(table):
    cells = (cell for row in table["rows"] for cell in row)
    return " ".join([table["title"], table["section"], table["caption"], *table["header"], *cells])


def median_ms(search, questions):
    times = []
    for question in questions:
        begun = time.perf_counter()
        search(question)
        times.append(1000 * (time.perf_counter() - begun))
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", required=True)
    parser.add_argument("--questions", required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--programs", default=os.environ.get("TABSEGNET_PROGRAMS", "target/release"))
    arguments = parser.parse_args()
    import bm25s
    import tantivy

    tables = [table for file in arguments.tables for table in lines(file)]
    all_questions = lines(arguments.questions)
    step = -(-len(all_questions) // arguments.count)
    questions = [question["question"] for question in all_questions[::step]]

    bm25 = bm25s.BM25()
    bm25.index(bm25s.tokenize([text(table) for table in tables], stopwords=None, show_progress=False), show_progress=False)

    schema = tantivy.SchemaBuilder()
    schema.add_text_field("body", stored=False)
    schema.add_integer_field("number", stored=True)
    index = tantivy.Index(schema.build())
    writer = index.writer(heap_size=200_000_000)
    for number, table in enumerate(tables):
        writer.add_document(tantivy.Document(body=text(table), number=number))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def by_bm25s(question):
        tokens = bm25s.tokenize([question], stopwords=None, show_progress=False)
        bm25.retrieve(tokens, k=10, show_progress=False, n_threads=1)

    def by_tantivy(question):
        words = "".join(c if c.isalnum() else " " for c in question)
        searcher.search(index.parse_query(words, ["body"]), 10)

    with tempfile.TemporaryDirectory() as directory:
        corpus = os.path.join(directory, "corpus")
        program = lambda name: os.path.join(arguments.programs, name)
        subprocess.run([program("index"), "--output", corpus, *arguments.tables], check=True, stderr=subprocess.DEVNULL)
        command = [program("corpus_speed"), "--corpus", corpus, "--questions", arguments.questions]
        command += ["--count", str(arguments.count), "--retriever", "bm25"]
        times = {"ours": [], "bm25s": [], "tantivy": []}
        for _ in range(arguments.rounds):
            times["ours"].append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout)[0]["p50_ms"])
            times["bm25s"].append(median_ms(by_bm25s, questions))
            times["tantivy"].append(median_ms(by_tantivy, questions))
    ours = statistics.median(times["ours"])
    print(f"{len(tables)} tables, {len(questions)} questions, medians of {arguments.rounds} rounds, ms a question")
    for name, values in times.items():
        print(f"{name:8} {statistics.median(values):8.3f}   {statistics.median(values) / ours:5.2f} x ours")


if __name__ == "__main__":
    main()
