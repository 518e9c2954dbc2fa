"""onnxruntime as a peer of the bert encoder, for tools/scripts/bench_encode.py.

    python tools/scripts/peers/onnxruntime_peer.py export ENCODER FILE.onnx
    python tools/scripts/peers/onnxruntime_peer.py encode ENCODER FILE.onnx TEXTS [--threads N] [--tokens N] [--out vectors.npy]

`export` needs torch, transformers and onnx: the model by torch.onnx, then onnxruntime's own optimiser for BERT (fused
attention, embedding, layer norm and GELU). `encode` needs onnxruntime, tokenizers and numpy: equal texts once, texts
sorted by length in padded batches of at most so many tokens, mean pooling, vectors of length 1. Prints a line of JSON.
"""

import argparse
import json
import time
from pathlib import Path


def export(args):
    import torch
    from onnxruntime.transformers.optimizer import optimize_model
    from transformers import AutoModel

    model = AutoModel.from_pretrained(args.encoder, attn_implementation="eager").eval()

    class States(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, ids, mask):
            return self.model(input_ids=ids, attention_mask=mask).last_hidden_state

    ids = torch.ones(2, 7, dtype=torch.long)
    axes = {name: {0: "batch", 1: "length"} for name in ["ids", "mask", "states"]}
    names = {"input_names": ["ids", "mask"], "output_names": ["states"], "dynamic_axes": axes}
    torch.onnx.export(States(), (ids, torch.ones_like(ids)), args.onnx, opset_version=17, dynamo=False, **names)
    sizes = {"num_heads": model.config.num_attention_heads, "hidden_size": model.config.hidden_size}
    fused = optimize_model(args.onnx, model_type="bert", opt_level=1, **sizes)
    fused.save_model_to_file(args.onnx)
    print(json.dumps(fused.get_fused_operator_statistics()))


def encode(args):
    import numpy as np
    import onnxruntime
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.intra_op_num_threads = args.threads
    session = onnxruntime.InferenceSession(args.onnx, options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(Path(args.encoder) / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(args.max_tokens)

    def vectors(texts):
        unique = list(dict.fromkeys(texts))
        ids = [encoding.ids for encoding in tokenizer.encode_batch_fast(unique)]
        order = sorted(range(len(ids)), key=lambda i: -len(ids[i]))
        rows = {}
        at = 0
        while at < len(order):
            longest = len(ids[order[at]])
            batch = order[at : at + max(1, args.tokens // longest)]
            at += len(batch)
            padded = np.zeros((len(batch), longest), np.int64)
            mask = np.zeros_like(padded)
            for row, text in enumerate(batch):
                padded[row, : len(ids[text])] = ids[text]
                mask[row, : len(ids[text])] = 1
            states = session.run(None, {"ids": padded, "mask": mask})[0]
            pooled = np.einsum("btd,bt->bd", states, mask.astype(np.float32)) / mask.sum(1, keepdims=True)
            pooled /= np.linalg.norm(pooled, axis=1, keepdims=True)
            rows.update((unique[text], vector) for text, vector in zip(batch, pooled))
        return np.stack([rows[text] for text in texts]).astype(np.float32)

    texts = Path(args.texts).read_text(encoding="utf-8").splitlines()
    vectors(texts[:64])
    if args.alone:
        times = []
        for at in range(args.alone):
            start = time.perf_counter()
            vectors([texts[at % len(texts)]])
            times.append((time.perf_counter() - start) * 1e3)
        times.sort()
        print(json.dumps({"min_ms": times[0], "p50_ms": times[len(times) // 2]}))
        return
    start = time.perf_counter()
    result = vectors(texts)
    seconds = time.perf_counter() - start
    if args.out:
        np.save(args.out, result)
    print(json.dumps({"peer": "onnxruntime", "texts": len(texts), "seconds": seconds, "texts_per_s": len(texts) / seconds}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["export", "encode"])
    parser.add_argument("encoder")
    parser.add_argument("onnx")
    parser.add_argument("texts", nargs="?")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=2048)
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument("--alone", type=int, default=0, help="texts one at a time instead: milliseconds")
    parser.add_argument("--out")
    args = parser.parse_args()
    {"export": export, "encode": encode}[args.task](args)


if __name__ == "__main__":
    main()
