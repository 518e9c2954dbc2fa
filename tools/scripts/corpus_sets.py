#!/usr/bin/env python3
"""Makes the sets that configs/corpus.toml learns from and is measured on: the three tasks of MultiTableQA by
build-multitable, and the data sets with one gold table a question, each with the tables of its own questions alone, as
TARGET (arXiv 2505.11545) has them. Spider, BIRD, BEAVER and MMQA are read as they are.

  corpus_sets.py --data DIR --output datasets/corpus [--programs target/release]

DIR holds tables/NAME.jsonl.gz and questions/NAME.jsonl.gz, a record a line."""

import argparse
import gzip
import json
import os
import subprocess

from experiments import write_records


def lines(path):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as file:
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
    is_val = lambda question: question.get("split") == "val"
    single = {
        "ottqa": (["ottqa"], "ottqa_dev", lambda question: True),
        "tabfact": (["tabfact"], "tabfact", is_val),
        "fetaqa": (["fetaqa"], "fetaqa", lambda question: question.get("split", "test") == "test"),
    }
    chosen = {name: [q for q in lines(questions(of)[0]) if wanted(q)] for name, (_, of, wanted) in single.items()}
    gold = {name: {table for question in found for table in question["tables"]} for name, found in chosen.items()}
    # WikiSQL's tables are TabFact's. Of its questions those are measured whose tables other sets are measured on, and no
    # set learns from: what is trained is the same with WikiSQL and without.
    verification = lines(f"{arguments.output}/multitable/verification/questions.jsonl")
    unseen = gold["tabfact"] | {question["source_table"] for question in verification if question["split"] == "test"}
    published = list(lines(questions("wikisql")[0]))
    single["wikisql"] = (["tabfact", "tabfact_old"], "wikisql", None)
    chosen["wikisql"] = [question for question in published if unseen.issuperset(question["tables"])]
    gold["wikisql"] = {table for question in published for table in question["tables"]}
    # WTQ's as well: questions about tables that neither of its two tasks learns from.
    tasks_of_wtq = [f"{arguments.output}/multitable/{name}/questions.jsonl" for name in ("single-wtq", "multi")]
    learnt = {question["source_table"] for file in tasks_of_wtq for question in lines(file) if question["split"] != "test"}
    published = list(lines(questions("wtq")[0]))
    single["wtq"] = (["wtq"], "wtq", None)
    chosen["wtq"] = [question for question in published if learnt.isdisjoint(question["tables"])]
    gold["wtq"] = {table for question in published for table in question["tables"]}
    for name, (of_tables, _, _) in single.items():
        for question in chosen[name]:
            question.pop("split", None)
        found = [table for file in tables(*of_tables) for table in lines(file) if table["id"] in gold[name]]
        write_records(f"{arguments.output}/single-gold/{name}/tables.jsonl", found)
        write_records(f"{arguments.output}/single-gold/{name}/questions.jsonl", chosen[name])
        print(f"{name}: {len(found)} tables, {len(chosen[name])} questions")


if __name__ == "__main__":
    main()
