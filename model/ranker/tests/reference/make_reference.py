"""Reference numbers for the scorer, from PyTorch Geometric: python make_reference.py

Writes one safetensors file for each aggregation and number of layers: inputs, weights, scores, loss and the gradients
of every weight for one step of TabSegNet's scorer (the paper's equations 5 and 7 to 10) on small random graphs. The
same quantities come from `pyg_tabsegnet.py --dump` of a full size; this script is self-contained so that the files can
be made again anywhere. Needs torch, torch-geometric and safetensors.
"""
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import save_file
from torch_geometric.nn import GraphConv

DOCS, NODES, EDGES, GOLD, TYPES = 3, 9, 40, 2, 22
D_ENC, D_EDGE, D_IN, D_OUT = 10, 4, 6, 7


class Scorer(nn.Module):
    def __init__(self, layers, aggr):
        super().__init__()
        self.R = nn.Embedding(TYPES, D_EDGE)
        self.A = nn.Linear(D_EDGE, D_IN)
        self.Q = nn.Linear(D_ENC, D_IN, bias=False)
        self.C = nn.Linear(3 * D_ENC, D_IN)
        dims = [D_IN] + [D_OUT] * layers
        self.convs = nn.ModuleList(GraphConv(i, o, aggr=aggr) for i, o in zip(dims, dims[1:]))
        self.mlp = nn.Linear(D_OUT, 1)

    def forward(self, u, q, s, doc, src, dst, etype):
        x = torch.tanh(self.C(torch.cat([u, q[doc], s], 1)))
        strength = (self.Q(q) @ torch.tanh(self.A(self.R.weight)).T)[doc[dst], etype]
        for conv in self.convs:
            x = F.relu(conv(x, torch.stack([src, dst]), strength))
        return self.mlp(x)[:, 0]


def hinge(score, gold, margin=1.0):
    z, g = score.view(DOCS, NODES), gold.view(DOCS, NODES)
    pos, neg = z[g].view(DOCS, GOLD, 1), z[~g].view(DOCS, 1, NODES - GOLD)
    return F.relu(margin + neg - pos).mean((1, 2)).mean()


def main():
    n = DOCS * NODES
    doc = torch.arange(DOCS).repeat_interleave(NODES)
    offset = torch.arange(DOCS).repeat_interleave(EDGES) * NODES
    for aggr, name in [("max", "max"), ("add", "sum"), ("mean", "mean")]:
        for layers in [1, 2, 3]:
            torch.manual_seed(layers)
            u, s = (F.normalize(torch.randn(n, D_ENC), dim=1) for _ in range(2))
            q = F.normalize(torch.randn(DOCS, D_ENC), dim=1)
            src = torch.randint(NODES, (DOCS * EDGES,)) + offset
            dst = torch.randint(NODES - 1, (DOCS * EDGES,)) + offset  # the last node of each has no in-edge
            etype = torch.randint(TYPES, (DOCS * EDGES,))
            gold = torch.zeros(DOCS, NODES, dtype=torch.bool)
            gold[:, :GOLD] = True
            model = Scorer(layers, aggr)
            score = model(u, q, s, doc, src, dst, etype)
            loss = hinge(score, gold.view(-1))
            loss.backward()
            out = dict(u=u, q=q, s=s, src=src, dst=dst, etype=etype, score=score, loss=loss.view(1))
            out = {k: v.float() for k, v in out.items()}  # indices below 2^24 are exact
            out |= {f"weight.{k}": v for k, v in model.named_parameters()}
            out |= {f"grad.{k}": v.grad for k, v in model.named_parameters()}
            path = Path(__file__).parent / f"scorer_{name}_{layers}.safetensors"
            save_file({k: v.detach().contiguous() for k, v in out.items()}, path)


if __name__ == "__main__":
    main()
