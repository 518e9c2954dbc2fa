#!/usr/bin/env python3
"""Divides AIT-QA's questions, which are published in one part, into one to learn from and one to measure on.

  aitqa_parts.py --data DIR --output datasets/aitqa

DIR holds aitqa_questions.jsonl and aitqa_tables.jsonl. Tables that share three numbers or more and 30 % of those of the smaller
one (the same statement in another year's report) and tables of one group of paraphrases are on one side; the side is a hash's, of
the first table's id. Writes train_questions.jsonl and dev_questions.jsonl, and the tables beside them."""

import argparse
import hashlib
import json
import re
from itertools import combinations

from experiments import write_records


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def numbers(table):
    """The numbers of a table's cells; years and those of fewer than three digits stand in any two."""
    found = set()
    for row in table["data"]:
        for cell in row:
            for number in re.findall(r"\d[\d,]*(?:\.\d+)?", cell):
                plain = number.replace(",", "")
                if len(plain.replace(".", "")) >= 3 and not re.fullmatch(r"(19|20)\d\d", plain):
                    found.add(plain)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--output", required=True)
    arguments = parser.parse_args()
    questions = lines(f"{arguments.data}/aitqa_questions.jsonl")
    tables = lines(f"{arguments.data}/aitqa_tables.jsonl")
    cluster = {table["id"]: table["id"] for table in tables}

    def first(table):
        while cluster[table] != table:
            table = cluster[table]
        return table

    def join(a, b):
        a, b = sorted((first(a), first(b)))
        cluster[b] = a

    for (a, of_a), (b, of_b) in combinations([(table["id"], numbers(table)) for table in tables], 2):
        if len(of_a & of_b) >= max(3, 0.3 * min(len(of_a), len(of_b))):
            join(a, b)
    groups = {}
    for question in questions:
        group = question["paraphrase_group"]
        if group:
            join(groups.setdefault(group, question["table_id"]), question["table_id"])
    side = lambda table: "train" if hashlib.sha256(first(table).encode()).digest()[0] % 2 == 0 else "dev"
    for part in ("train", "dev"):
        chosen = [question for question in questions if side(question["table_id"]) == part]
        write_records(f"{arguments.output}/{part}_questions.jsonl", chosen)
        print(f"{part}: {len(chosen)} questions on {len({question['table_id'] for question in chosen})} tables")
    write_records(f"{arguments.output}/aitqa_tables.jsonl", tables)


if __name__ == "__main__":
    main()
