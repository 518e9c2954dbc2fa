#!/usr/bin/env python3
"""What a corpus of tables is searched with beside libraries that do the same, in turn in one run: BM25 beside tantivy and bm25s,
k-means beside faiss and scikit-learn, PageRank beside scipy and igraph. Prints a table in Markdown and puts it into a page.

  pip install numpy scipy scikit-learn faiss-cpu igraph tantivy bm25s
  cargo build --release --workspace --bins --examples
  bench_corpus.py --tables FILES.jsonl.gz… --questions FILE.jsonl.gz [--page docs/corpus.md] [--count 200] [--rounds 5]
                  [--threads 2] [--programs target/release]

BM25: milliseconds of a question, top ten, one after the other; of each round the median. All three search the same texts
(title, section, caption, header, cells); ours keeps six fields apart, which they do not. The rest is bench_gtr.py."""

import argparse
import gzip
import json
import os
import pathlib
import re
import statistics
import tempfile
import time

import bench_gtr
from benching import log, machine, markdown_table, output_of

HEADING = "## Beside libraries"


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


def bm25_rows(arguments):
    """Rows of bench_gtr.COLUMNS, and what was measured on."""
    import bm25s
    import tantivy

    tables = [table for file in arguments.tables for table in lines(file)]
    all_questions = lines(arguments.questions)
    step = -(-len(all_questions) // arguments.count)
    questions = [question["question"] for question in all_questions[::step]]
    log(f"BM25: {len(tables)} tables")

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

    program = lambda name: arguments.programs.resolve() / name
    with tempfile.TemporaryDirectory() as directory:
        corpus = os.path.join(directory, "corpus")
        output_of([program("index"), "--output", corpus, *arguments.tables])
        command = [program("bench"), "corpus_speed", "--corpus", corpus, "--questions", arguments.questions]
        command += ["--count", arguments.count, "--retriever", "bm25"]
        ours, peers = [], {"tantivy": [], "bm25s": []}
        for _ in range(arguments.rounds):
            ours.append(json.loads(output_of(command))[0]["p50_ms"])
            peers["tantivy"].append(median_ms(by_tantivy, questions))
            peers["bm25s"].append(median_ms(by_bm25s, questions))
    about = f"{len(tables):,} tables, {len(questions)} questions for BM25, top ten; the libraries are called from Python."
    return bench_gtr.rows("BM25, a question", ours, peers), about


def put_into(page, section):
    """Puts the section at the end of a page, in place of the one that is there."""
    old = page.read_text(encoding="utf-8")
    without = re.sub(rf"^{HEADING}\n.*?(?=^## |\Z)", "", old, flags=re.M | re.S)
    part = page.with_name(page.name + ".part")
    part.write_text(f"{without.rstrip()}\n\n{section}", encoding="utf-8")
    os.replace(part, page)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", type=os.path.abspath, required=True)
    parser.add_argument("--questions", type=os.path.abspath, required=True)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--programs", type=pathlib.Path, default=os.environ.get("TABSEGNET_PROGRAMS", "target/release"))
    bench_gtr.add_options(parser)
    arguments = parser.parse_args()
    bench_gtr.limit_threads(arguments.threads)
    about_machine = machine(arguments)
    rows, of_bm25 = bm25_rows(arguments)
    of_gtr, about = bench_gtr.measured(arguments.programs.resolve() / "examples/bench_gtr", arguments)
    section = (
        f"{HEADING}\n\nBy `tools/scripts/bench_corpus.py`: medians (least–most) of {arguments.rounds} rounds, ours and theirs in "
        f"turn; above 1 ours is faster. {of_bm25} {about}\n\n{markdown_table(bench_gtr.COLUMNS, rows + of_gtr)}\n\n"
        f"{about_machine}\n"
    )
    print(section)
    if arguments.page:
        put_into(arguments.page, section)


if __name__ == "__main__":
    main()
