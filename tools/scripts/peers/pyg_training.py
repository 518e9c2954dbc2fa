"""The paper's scorer trained in PyTorch Geometric on the project's prepared data, for its time alone.

    pyg_training.py TRAIN_DIR DEV_DIR [--epochs 20] [--batch-size N]

The directories hold the Parquet files that `train --prepare` writes. Graphs, questions and gold nodes are theirs; the
vectors are random ones of the encoder's width, since no value of theirs changes what a step costs. Batches are put
together as PyTorch Geometric's users do, by its DataLoader, and the dev part is scored after each epoch, as `train`
does. Prints one line of JSON.
"""

import argparse
import json
import time
from pathlib import Path

import polars
import torch
import torch.nn.functional as F
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from torch_scorer import Scorer

parser = argparse.ArgumentParser()
parser.add_argument("train", type=Path)
parser.add_argument("dev", type=Path)
parser.add_argument("--epochs", type=int, default=20)
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--d-enc", type=int, default=384)
parser.add_argument("--threads", type=int, default=2)
options = parser.parse_args()
torch.set_num_threads(options.threads)
torch.manual_seed(0)


def read(directory, types):
    nodes = dict(polars.read_parquet(directory / "nodes.parquet").group_by("document").len().iter_rows())
    edges = {}
    for (document,), part in polars.read_parquet(directory / "edges.parquet").group_by("document"):
        ends = torch.from_numpy(part.select("source", "destination").to_numpy().astype("int64")).T.contiguous()
        kinds = torch.tensor([types.setdefault(name, len(types)) for name in part["type"]])
        edges[document] = (ends, kinds)
    vectors = {document: F.normalize(torch.randn(count, options.d_enc), dim=1) for document, count in nodes.items()}
    examples = []
    for row in polars.read_parquet(directory / "questions.parquet").iter_rows(named=True):
        document = row["document"]
        ends, kinds = edges[document]
        gold = torch.zeros(nodes[document], dtype=torch.bool)
        gold[row["gold"]] = True
        q = F.normalize(torch.randn(1, options.d_enc), dim=1)
        examples.append(Data(u=vectors[document], edge_index=ends, kinds=kinds, q=q, gold=gold, num_nodes=len(gold)))
    return examples


def hinge(data):
    score, losses = model([data.u], data.q, data.batch, data.edge_index, data.kinds), []
    for start, end in zip(data.ptr[:-1].tolist(), data.ptr[1:].tolist()):
        z, gold = score[start:end], data.gold[start:end]
        losses.append(F.relu(1 + z[~gold][None, :] - z[gold][:, None]).mean())
    return torch.stack(losses).mean()


types = {}
train, dev = read(options.train, types), read(options.dev, types)
model = Scorer(len(types), options.d_enc, 2)
optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
start = time.perf_counter()
for _ in range(options.epochs):
    for data in DataLoader(train, batch_size=options.batch_size, shuffle=True):
        optimiser.zero_grad(set_to_none=True)
        hinge(data).backward()
        optimiser.step()
    with torch.no_grad():
        for data in DataLoader(dev, batch_size=options.batch_size):
            hinge(data)
seconds = time.perf_counter() - start
print(json.dumps({"peer": "pyg", "questions": len(train), "epochs": options.epochs, "batch_size": options.batch_size,
                  "threads": options.threads, "seconds": seconds}))
