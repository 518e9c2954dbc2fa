"""all-MiniLM-L6-v2 trained on a data set's questions, and the rankings it gives: by the vector of a node's text (dense) or
by the vectors of its tokens (MaxSim).

    python minilm_finetuned.py --encoder DIR --qrels FILE --learn CACHE --rank CACHE RUN [--rank CACHE RUN]… [--kind maxsim]

A CACHE is what `train --prepare --set output.cache=CACHE` wrote: the part whose questions are those of --qrels is ranked, into
a TREC file, the other learnt from. Each question is to find one of its gold nodes among nodes of its own document (by
half those that share the rarest words with it, by half at random) and the nodes of the other questions of a step.
Prints one line of JSON.
"""

import argparse
import collections
import json
import math
import random
import re
import time
from pathlib import Path

import polars
import torch
from tokenizers import Tokenizer
from transformers import AutoModel

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--encoder", type=Path, required=True)
parser.add_argument("--qrels", type=Path, required=True)
parser.add_argument("--learn", type=Path, required=True)
parser.add_argument("--rank", nargs=2, action="append", type=Path, required=True, metavar=("CACHE", "RUN"))
parser.add_argument("--kind", choices=["dense", "maxsim"], default="dense")
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--batch", type=int, default=16)
# Nodes of a question's own document in a step, beside its gold one.
parser.add_argument("--others", type=int, default=4)
parser.add_argument("--rate", type=float, default=5e-5)
parser.add_argument("--tokens", type=int, default=64)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--threads", type=int, default=2)
options = parser.parse_args()

# Of cosines, before the softmax over nodes.
SCALE = {"dense": 20.0, "maxsim": 1.0}[options.kind]
LIKELY = 20
# Texts of like length go through the model together, so that little is padding.
AT_ONCE = 16

torch.set_num_threads(options.threads)
torch.manual_seed(options.seed)
generator = random.Random(options.seed)
tokenizer = Tokenizer.from_file(str(options.encoder / "tokenizer.json"))
tokenizer.enable_truncation(options.tokens)
tokenizer.no_padding()
model = AutoModel.from_pretrained(options.encoder)

Part = collections.namedtuple("Part", "documents ids questions")


def read(directory):
    """The texts and ids of each document's nodes, and (id, document, text, gold) of each question."""
    documents, ids = collections.defaultdict(list), collections.defaultdict(list)
    nodes = polars.read_parquet(directory / "nodes.parquet", columns=["document", "node", "id", "ranking_text"])
    for document, _, name, text in nodes.sort("document", "node").iter_rows():
        documents[document].append(text)
        ids[document].append(name)
    questions = polars.read_parquet(directory / "questions.parquet", columns=["id", "document", "question", "gold"])
    return Part(documents, ids, list(questions.iter_rows()))


def parts(cache):
    """The part that is learnt from and the one that is ranked."""
    wanted = {line.split()[0] for line in options.qrels.read_text().splitlines()}
    found = {}
    for directory in sorted(cache.glob("prepared/*")):
        if (directory / "questions.parquet").is_file():
            part = read(directory)
            found[wanted <= {question[0] for question in part.questions}] = part
    if len(found) != 2:
        raise SystemExit(f"{cache}/prepared: expected a part with the questions of {options.qrels} and another one; prepare them anew")
    return found[False], found[True]


def encode(texts):
    """Token vectors `[texts, tokens, width]`, each of length 1 (0 where there is no token), or with `dense` one vector a text."""
    encoded = [text.ids for text in tokenizer.encode_batch(list(texts))]
    order = sorted(range(len(encoded)), key=lambda at: len(encoded[at]))
    longest = len(encoded[order[-1]])
    groups = []
    for start in range(0, len(order), AT_ONCE):
        group = [torch.tensor(encoded[at]) for at in order[start:start + AT_ONCE]]
        there = torch.nn.utils.rnn.pad_sequence([torch.ones_like(ids) for ids in group], batch_first=True)
        tokens = torch.nn.utils.rnn.pad_sequence(group, batch_first=True)
        states = model(input_ids=tokens, attention_mask=there).last_hidden_state * there[..., None]
        if options.kind == "dense":
            states = states.sum(1, keepdim=True) / there.sum(1)[:, None, None]
        else:
            states = torch.nn.functional.pad(states, (0, 0, 0, longest - states.shape[1]))
        groups.append(torch.nn.functional.normalize(states, dim=-1))
    return torch.cat(groups)[torch.tensor(order).argsort()]


def scores(query, nodes):
    """`[questions, nodes]`: for each token of the question its largest cosine with one of the node, summed up."""
    cosines = torch.einsum("qix,njx->qnij", query, nodes)
    return SCALE * cosines.amax(-1).sum(-1)


def words(text):
    return set(re.findall(r"[^\W_]+", text.lower()))


def likely(part):
    """For each question the nodes that share the rarest words with it, gold ones left out, and all others."""
    found = []
    by_document = {document: [words(text) for text in texts] for document, texts in part.documents.items()}
    for _, document, text, gold in part.questions:
        nodes = by_document[document]
        frequency = collections.Counter(word for node in nodes for word in node)
        wanted = words(text)
        weight = [sum(math.log(1 + len(nodes) / frequency[word]) for word in node & wanted) for node in nodes]
        texts = part.documents[document]
        known = {texts[node] for node in gold}
        order = sorted((node for node in range(len(nodes)) if texts[node] not in known), key=lambda node: -weight[node])
        found.append((order[:LIKELY], order))
    return found


def learn(part):
    near = likely(part)
    order = list(range(len(part.questions)))
    steps = options.epochs * math.ceil(len(order) / options.batch)
    optimiser = torch.optim.AdamW(model.parameters(), lr=options.rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: min(1.0, 10 * (step + 1) / steps, (steps - step) / steps))
    model.train()
    for _ in range(options.epochs):
        generator.shuffle(order)
        for start in range(0, len(order), options.batch):
            chosen = [question for question in order[start:start + options.batch] if part.questions[question][3]]
            texts, right = [], []
            for question in chosen:
                _, document, _, gold = part.questions[question]
                close, all_others = near[question]
                half = options.others // 2
                others = generator.sample(close, min(half, len(close)))
                others += generator.sample(all_others, min(options.others - half, len(all_others)))
                right.append(len(texts))
                texts += [part.documents[document][node] for node in [generator.choice(gold), *others]]
            found = scores(encode([part.questions[question][2] for question in chosen]), encode(texts))
            for row, question in enumerate(chosen):
                # Another text of its gold is no wrong one.
                _, document, _, gold = part.questions[question]
                known = {part.documents[document][node] for node in gold}
                for at, text in enumerate(texts):
                    if text in known and at != right[row]:
                        found[row, at] = -1e9
            loss = torch.nn.functional.cross_entropy(found, torch.tensor(right))
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()


def rank(part, path):
    lines = []
    of_document = collections.defaultdict(list)
    for question in part.questions:
        of_document[question[1]].append(question)
    for document, questions in of_document.items():
        texts = part.documents[document]
        found = scores(encode([text for _, _, text, _ in questions]), encode(texts))
        for (name, *_), row in zip(questions, found.tolist()):
            ranking = sorted(range(len(texts)), key=lambda node: -row[node])
            # Scores strictly fall, as equal ones are in document order.
            lines += [f"{name} Q0 {part.ids[document][node]} {place} {-place} minilm-{options.kind}"
                      for place, node in enumerate(ranking, 1)]
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".part")
    temporary.write_text("\n".join(lines) + "\n")
    temporary.replace(path)


started = time.perf_counter()
learn(parts(options.learn)[0])
learnt = time.perf_counter()
model.eval()
with torch.inference_mode():
    for cache, path in options.rank:
        rank(parts(cache)[1], path)
print(json.dumps({"peer": "minilm-finetuned", "kind": options.kind, "seed": options.seed, "epochs": options.epochs,
                  "train_s": round(learnt - started, 1), "rank_s": round(time.perf_counter() - learnt, 1)}))
