#!/usr/bin/env python3
"""Training of a nano T5: tabsegnet beside Python's transformers, alternating rounds, same shape and batches.

    python tools/scripts/bench_t5.py --example target/release/examples/t5_speed [--rounds 3]

Prints tokens/s of each round (the best of its steps) and the ratio of the medians.
"""

import argparse
import re
import statistics
import subprocess
import time

BATCH, READ, WRITTEN, STEPS = 32, 48, 24, 5


def peer() -> float:
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(0)
    model = T5ForConditionalGeneration(
        T5Config(vocab_size=8000, d_model=224, d_kv=32, d_ff=448, num_layers=4, num_decoder_layers=2, num_heads=7,
                 feed_forward_proj="gated-gelu", decoder_start_token_id=0, dropout_rate=0.0))
    model.train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4)
    draw = lambda length: torch.randint(3, 7900, (BATCH, length))
    inputs, labels = draw(READ), draw(WRITTEN)
    best = float("inf")
    for step in range(STEPS + 1):
        started = time.perf_counter()
        optimiser.zero_grad()
        model(input_ids=inputs, labels=labels).loss.backward()
        optimiser.step()
        if step:
            best = min(best, time.perf_counter() - started)
    return BATCH * (READ + WRITTEN) / best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--example", required=True, help="the built example t5_speed")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    own, others = [], []
    for _ in range(arguments.rounds):
        command = [arguments.example, "train", "--batch", str(BATCH), "--steps", str(STEPS), "--lengths", str(READ), str(WRITTEN)]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        own.append(float(re.search(r"(\d+) tokens/s", output)[1]))
        others.append(peer())
        print(f"tabsegnet {own[-1]:8.0f} tokens/s    transformers {others[-1]:8.0f} tokens/s", flush=True)
    print(f"ratio of medians {statistics.median(own) / statistics.median(others):.2f}")


main()
