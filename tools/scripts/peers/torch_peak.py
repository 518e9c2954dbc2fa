"""The greatest rate of f32 matrix products that PyTorch shows: square ones, the best of many runs."""

import json
import sys
import time

import torch

threads = int(sys.argv[1]) if len(sys.argv) > 1 else 2
torch.set_num_threads(threads)
best = (0.0, 0)
for n in (512, 1024, 2048):
    a, b = torch.rand(2, n, n)
    for _ in range(22):
        start = time.perf_counter()
        a @ b
        best = max(best, (2 * n**3 / (time.perf_counter() - start) / 1e9, n))
print(json.dumps({"peer": "torch", "gflop_per_s": best[0], "size": best[1], "threads": threads}))
