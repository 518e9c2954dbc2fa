"""BM25, the vectors of all-MiniLM-L6-v2 and both together over the nodes of whole reports.

    python report_baselines.py --nodes DIR --output DIR [--encoder DIR]

FILE.jsonl of --nodes has the rankings of a report's questions as `infer --format jsonl` prints them; its first line holds
all nodes (--top-k above their number). Questions are read as there (`read_as`), a node by its headers and its text. Writes
BASELINE/FILE.jsonl below --output, the best fifty nodes of each question. Without --encoder BM25 alone.
"""

import argparse
import collections
import json
import math
import re
from pathlib import Path

K1, B, BEST = 1.5, 0.75, 50


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--encoder", type=Path)
    options = parser.parse_args()
    for file in sorted(options.nodes.glob("*.jsonl")):
        with file.open() as lines:
            rankings = [json.loads(line) for line in lines]
        # Document order, which equal scores keep.
        nodes = sorted(rankings[0]["nodes"], key=lambda node: place(node["id"]))
        texts = [" | ".join(filter(None, (node.get("row_headers"), node.get("column_headers"), node["text"]))) for node in nodes]
        read = [ranking.get("read_as", ranking["question"]) for ranking in rankings]
        found = {"bm25": bm25(texts, read)}
        if options.encoder:
            found["dense"] = dense(options.encoder, texts, read)
            found["bm25+dense"] = [[x + y for x, y in zip(scaled(a), scaled(b))] for a, b in zip(found["bm25"], found["dense"])]
        for name, scores in found.items():
            directory = options.output / name
            directory.mkdir(parents=True, exist_ok=True)
            with (directory / file.name).open("w") as out:
                for ranking, of_nodes in zip(rankings, scores):
                    best = sorted(range(len(nodes)), key=lambda node: -of_nodes[node])[:BEST]
                    out.write(json.dumps({"id": ranking["question_id"], "nodes": [nodes[node] for node in best]}) + "\n")


def place(node):
    return [int(number) for number in re.findall(r"\d+", node)], node


def tokens(text):
    return re.findall(r"[a-z]+|\d+(?:\.\d+)?", text.lower().replace(",", ""))


def bm25(texts, questions):
    documents = [tokens(text) for text in texts]
    mean = sum(map(len, documents)) / max(len(documents), 1)
    postings = collections.defaultdict(list)
    for number, words in enumerate(documents):
        for word, count in collections.Counter(words).items():
            postings[word].append((number, count))
    scores = []
    for question in questions:
        of_nodes = [0.0] * len(documents)
        for word in tokens(question):
            holding = postings.get(word, [])
            idf = math.log(1 + (len(documents) - len(holding) + 0.5) / (len(holding) + 0.5))
            for number, count in holding:
                of_nodes[number] += idf * count * (K1 + 1) / (count + K1 * (1 - B + B * len(documents[number]) / mean))
        scores.append(of_nodes)
    return scores


def dense(encoder, texts, questions):
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(encoder), AutoModel.from_pretrained(encoder).eval()

    def vectors(texts):
        order = sorted(range(len(texts)), key=lambda text: len(texts[text]))
        rows = [None] * len(texts)
        for first in range(0, len(order), 64):
            group = order[first:first + 64]
            batch = tokenizer([texts[text] for text in group], padding=True, truncation=True, max_length=128, return_tensors="pt")
            with torch.inference_mode():
                hidden = model(**batch).last_hidden_state
            mask = batch["attention_mask"].unsqueeze(-1)
            mean = torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=1)
            for text, row in zip(group, mean):
                rows[text] = row
        return torch.stack(rows)

    distinct = sorted(set(texts))
    number = {text: row for row, text in enumerate(distinct)}
    of_texts = vectors(distinct)
    rows = torch.tensor([number[text] for text in texts])
    return (vectors(questions) @ of_texts.T)[:, rows].tolist()


def scaled(scores):
    """From 0 to 1."""
    low, high = min(scores), max(scores)
    return [(score - low) / (high - low) if high > low else 0.0 for score in scores]


if __name__ == "__main__":
    main()
