"""The paper's scorer in PyTorch Geometric, or where that is not installed in plain PyTorch: the same products, messages
gathered to [edges, width] and scattered by `scatter_reduce`, `index_add`."""

import time

import torch
import torch.nn as nn
import torch.nn.functional as F

try:
    import torch_geometric
    from torch_geometric.nn import GraphConv
    from torch_geometric.utils import scatter

    NAME = f"PyTorch Geometric {torch_geometric.__version__}"
except ImportError:
    NAME = "plain PyTorch"

    def scatter(messages, destination, dim_size, reduce):
        out = messages.new_zeros(dim_size, messages.shape[1])
        if reduce == "max":
            at = destination[:, None].expand_as(messages)
            return out.scatter_reduce(0, at, messages, "amax", include_self=False)
        out = out.index_add(0, destination, messages)
        if reduce == "mean":
            out = out / torch.bincount(destination, minlength=dim_size).clamp(min=1)[:, None]
        return out

    class GraphConv(nn.Module):
        def __init__(self, d_in, d_out, aggr):
            super().__init__()
            self.lin_rel, self.lin_root = nn.Linear(d_in, d_out), nn.Linear(d_in, d_out, bias=False)
            self.aggr = aggr

        def forward(self, x, edge_index, edge_weight):
            messages = edge_weight[:, None] * x[edge_index[0]]
            return self.lin_rel(scatter(messages, edge_index[1], len(x), self.aggr)) + self.lin_root(x)


PEER = f"{NAME}, torch {torch.__version__}"


class Scorer(nn.Module):
    """`parts`: how many vectors a node is made of: its own, the question's, perhaps its segment's."""

    def __init__(self, types, d_enc, parts, d_edge=128, d_in=128, d_out=256, layers=1, aggr="max"):
        super().__init__()
        self.R = nn.Embedding(types, d_edge)
        self.A = nn.Linear(d_edge, d_in)
        self.Q = nn.Linear(d_enc, d_in, bias=False)
        self.C = nn.Linear(parts * d_enc, d_in)
        self.convs = nn.ModuleList(GraphConv(d_out if layer else d_in, d_out, aggr=aggr) for layer in range(layers))
        self.score = nn.Linear(d_out, 1)

    def forward(self, parts, q, question, edge_index, kinds):
        """`parts` of each node, `[nodes, d_enc]` each, `q` `[questions, d_enc]`, the `question` of each node."""
        x = torch.tanh(self.C(torch.cat([parts[0], q[question], *parts[1:]], 1)))  # [nodes, d_in]
        strength = self.Q(q) @ torch.tanh(self.A(self.R.weight)).T  # [questions, edge_types]
        weight = strength[question[edge_index[1]], kinds]  # [edges]
        for conv in self.convs:
            x = F.relu(conv(x, edge_index, weight))  # [nodes, d_out]
        return self.score(x)[:, 0]  # [nodes]


def median_ms(step, warmup, steps, device):
    """The middle time of a step and the least, in milliseconds, each until the device has done it."""

    def sync():
        if device.type == "cuda":
            torch.cuda.synchronize()

    times = []
    for turn in range(warmup + steps):
        sync()
        start = time.perf_counter()
        step()
        sync()
        if turn >= warmup:
            times.append(1e3 * (time.perf_counter() - start))
    times.sort()
    return {"median_ms": times[len(times) // 2], "min_ms": times[0]}
