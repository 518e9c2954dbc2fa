"""Texts a second of sentence-transformers on a file with one text a line, the second of two times; `--out` writes the
vectors as little-endian f32. `--random DIR` first makes DIR an encoder: the files of ENCODER with weights at random."""

import argparse
import json
import shutil
import time
from pathlib import Path

import torch

parser = argparse.ArgumentParser()
parser.add_argument("encoder", type=Path)
parser.add_argument("texts", type=Path)
parser.add_argument("--batch", type=int, default=256)
parser.add_argument("--max-tokens", type=int, default=128)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--device", default="cpu")
parser.add_argument("--tf32", action="store_true")
parser.add_argument("--random", type=Path)
parser.add_argument("--out", type=Path)
options = parser.parse_args()
torch.set_num_threads(options.threads)
torch.manual_seed(0)
torch.backends.cuda.matmul.allow_tf32 = options.tf32
if options.random:
    from transformers import AutoConfig, AutoModel

    shutil.copytree(options.encoder, options.random)
    AutoModel.from_config(AutoConfig.from_pretrained(options.encoder)).save_pretrained(options.random)
    print(json.dumps({"encoder": str(options.random)}))
    raise SystemExit

import sentence_transformers

model = sentence_transformers.SentenceTransformer(str(options.encoder), device=options.device)
model.max_seq_length = options.max_tokens
texts = options.texts.read_text(encoding="utf-8").splitlines()
for _ in range(2):
    start = time.perf_counter()
    vectors = model.encode(texts, batch_size=options.batch, normalize_embeddings=True, show_progress_bar=False)
    seconds = time.perf_counter() - start
if options.out:
    options.out.write_bytes(vectors.astype("<f4").tobytes())
name = f"sentence-transformers {sentence_transformers.__version__}, torch {torch.__version__}"
print(json.dumps({"peer": name, "texts": len(texts), "seconds": seconds, "texts_per_s": len(texts) / seconds}))
