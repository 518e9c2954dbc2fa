"""The scatter of PyTorch Geometric (torch_scorer.py): messages s(e) x(v) gathered to [edges, width], aggregated by
destination, and back."""

import argparse
import json

import torch

from torch_scorer import PEER, median_ms, scatter

parser = argparse.ArgumentParser()
parser.add_argument("--nodes", type=int, default=20_000)
parser.add_argument("--edges", type=int, default=400_000)
parser.add_argument("--width", type=int, default=256)
parser.add_argument("--edge-types", type=int, default=28)
parser.add_argument("--aggr", type=lambda text: text.split(","), default=["max"], help="max, add, mean")
parser.add_argument("--steps", type=int, default=10)
parser.add_argument("--warmup", type=int, default=2)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--device", default="cpu")
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.set_num_threads(options.threads)
torch.manual_seed(options.seed)

device = torch.device(options.device)
source, destination = torch.randint(options.nodes, (2, options.edges), device=device)
edge_type = torch.randint(options.edge_types, (options.edges,), device=device)
x = torch.rand(options.nodes, options.width, device=device).mul_(2).sub_(1).requires_grad_()
strength = torch.rand(options.edge_types, device=device).mul_(2).sub_(1).requires_grad_()


def step(aggr):
    x.grad = strength.grad = None
    messages = strength[edge_type][:, None] * x[source]  # [edges, width]
    scatter(messages, destination, dim_size=options.nodes, reduce=aggr).sum().backward()


for aggr in options.aggr:
    times = median_ms(lambda: step(aggr), options.warmup, options.steps, device)
    print(json.dumps({"peer": PEER, **vars(options), "aggr": aggr, **times}), flush=True)
