"""Training steps (forward, pairwise hinge, backward, Adam) and inference passes of torch_scorer.py on random graphs, with
the options of `bench step` and its lines. `--precision bf16` is autocast, `--tf32` products of f32 in TF32."""

import argparse
import json

import torch
import torch.nn.functional as F

from torch_scorer import PEER, Scorer, median_ms


def words(text):
    return text.split(",")


def numbers(text):
    return [int(word) for word in words(text)]


parser = argparse.ArgumentParser()
parser.add_argument("--docs", type=numbers, default=[32])
parser.add_argument("--mode", type=words, default=["train"], help="train, infer")
parser.add_argument("--nodes", type=int, default=128)
parser.add_argument("--edges", type=int, default=896, help="directed edges of a document")
parser.add_argument("--gold", type=int, default=2)
parser.add_argument("--edge-types", type=int, default=28)
parser.add_argument("--d-enc", type=int, default=384)
parser.add_argument("--layers", type=int, default=1)
parser.add_argument("--aggr", default="max", choices=["max", "add", "mean"])
parser.add_argument("--steps", type=int, default=20)
parser.add_argument("--warmup", type=int, default=3)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--device", default="cpu")
parser.add_argument("--precision", type=words, default=["f32"], help="f32, bf16")
parser.add_argument("--tf32", action="store_true")
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
if unknown := {*options.mode} - {"train", "infer"} or {*options.precision} - {"f32", "bf16"}:
    parser.error(f"unknown {', '.join(unknown)}")
torch.set_num_threads(options.threads)
torch.backends.cuda.matmul.allow_tf32 = options.tf32
device = torch.device(options.device)


def measure(docs, mode, precision):
    torch.manual_seed(options.seed)
    nodes, edges = options.nodes, options.edges
    u, s = (F.normalize(torch.randn(docs * nodes, options.d_enc, device=device), dim=1) for _ in range(2))
    q = F.normalize(torch.randn(docs, options.d_enc, device=device), dim=1)
    question = torch.arange(docs, device=device).repeat_interleave(nodes)
    first = torch.arange(docs, device=device).repeat_interleave(edges) * nodes
    edge_index = torch.randint(nodes, (2, docs * edges), device=device) + first
    kinds = torch.randint(options.edge_types, (docs * edges,), device=device)
    model = Scorer(options.edge_types, options.d_enc, 3, layers=options.layers, aggr=options.aggr).to(device)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)

    def scores():
        with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16"):
            return model([u, s], q, question, edge_index, kinds).float().view(docs, nodes)

    def step():
        optimiser.zero_grad(set_to_none=True)
        z = scores()
        # The first nodes are gold.
        positive, negative = z[:, : options.gold, None], z[:, None, options.gold :]
        F.relu(1 + negative - positive).mean((1, 2)).mean().backward()
        optimiser.step()

    @torch.no_grad()
    def infer():
        scores()

    return median_ms(infer if mode == "infer" else step, options.warmup, options.steps, device)


for docs in options.docs:
    for mode in options.mode:
        for precision in options.precision:
            times = measure(docs, mode, precision)
            shape = {"docs": docs, "mode": mode, "precision": precision}
            print(json.dumps({"peer": PEER, **vars(options), **shape, **times}), flush=True)
