#!/usr/bin/env python3
"""Makes the sets that configs/corpus.toml learns from and is measured on: the three tasks of MultiTableQA by
build-multitable, and the data sets with one gold table a question, each with the tables of its own questions alone, as
TARGET (arXiv 2505.11545) has them.

  corpus_sets.py --data DIR --output datasets/corpus [--programs target/release]

DIR holds tables/NAME.jsonl.gz and questions/NAME.jsonl.gz, a record a line."""

import argparse
import gzip
import json
import os
import subprocess

from experiments import write_records


def lines(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--programs", default="target/release")
    arguments = parser.parse_args()
    tables = lambda *names: [f"{arguments.data}/tables/{name}.jsonl.gz" for name in names]
    questions = lambda *names: [f"{arguments.data}/questions/{name}.jsonl.gz" for name in names]
    # Sources as the paper's Table 1 tells them apart: parts for a single hop have 7.4 rows and 4.5 columns on average, as
    # HybridQA's tables (OTT-QA's file has them), those for several hops 13.8 and 7.3, as WTQ's. Single questions to WTQ's
    # tables are a set of their own.
    tasks = {
        "verification": ("verification", tables("tabfact", "tabfact_old"), questions("tabfact")),
        "single": ("single", tables("ottqa"), questions("ottqa_dev", "ottqa_train", "hybridqa")),
        "single-wtq": ("single", tables("wtq"), questions("wtq")),
        "multi": ("multi", tables("wtq"), questions("sqa", "wtq")),
    }
    for name, (task, of_tables, of_questions) in tasks.items():
        command = [os.path.join(arguments.programs, "build-multitable"), "--task", task, "--tables", *of_tables]
        command += ["--questions", *of_questions, "--output", f"{arguments.output}/multitable/{name}"]
        subprocess.run(command, check=True)
    # Statements and questions whose tables are searched among the set's own alone.
    single = {
        "ottqa": ("ottqa", "ottqa_dev", lambda question: True),
        "tabfact": ("tabfact", "tabfact", lambda question: question.get("split") == "val"),
        "fetaqa": ("fetaqa", "fetaqa", lambda question: question.get("split", "test") == "test"),
    }
    for name, (of_tables, of_questions, wanted) in single.items():
        chosen = [question for question in lines(questions(of_questions)[0]) if wanted(question)]
        for question in chosen:
            question.pop("split", None)
        gold = {table for question in chosen for table in question["tables"]}
        found = [table for table in lines(tables(of_tables)[0]) if table["id"] in gold]
        write_records(f"{arguments.output}/single-gold/{name}/tables.jsonl", found)
        write_records(f"{arguments.output}/single-gold/{name}/questions.jsonl", chosen)
        print(f"{name}: {len(found)} tables, {len(chosen)} questions")


if __name__ == "__main__":
    main()
