#!/usr/bin/env python3
"""Makes model/segmenter/tests/reference: small random T5s of Python's transformers with what they compute.

    python tools/scripts/t5_reference.py model/segmenter/tests/reference

Each directory is a model in Hugging Face layout with expected.safetensors beside it: logits, loss and
gradient norms of one batch, tokens of greedy and beam search. buckets.json has the buckets of positions.
With --check DIR FILE it compares logits.json, which the Rust test wrote for the model in DIR.
"""

import argparse
import json
import pathlib

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import T5Config, T5ForConditionalGeneration
from transformers.models.t5.modeling_t5 import T5Attention

WORDS = "what was the revenue of in and cost SEP total 20 19 18 17 ? , a change between net income".split()


def tokenizer() -> Tokenizer:
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    pieces += [("▁" + word, -2.0 - number * 0.1) for number, word in enumerate(WORDS)]
    pieces += [(letter, -9.0) for letter in "▁abcdefghijklmnopqrstuvwxyz0123456789?,"]
    made = Tokenizer(models.Unigram(pieces, unk_id=2, byte_fallback=False))
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    made.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)])
    made.add_special_tokens(["<pad>", "</s>", "<unk>"])
    return made


def model(name: str, vocabulary: int) -> T5ForConditionalGeneration:
    torch.manual_seed(7)
    gated = name == "gated"
    config = T5Config(
        vocab_size=vocabulary, d_model=16, d_kv=6, d_ff=24, num_layers=2, num_decoder_layers=2, num_heads=3,
        feed_forward_proj="gated-gelu" if gated else "relu", tie_word_embeddings=gated, dropout_rate=0.1,
        initializer_factor=1.0, decoder_start_token_id=0, pad_token_id=0, eos_token_id=1)
    made = T5ForConditionalGeneration(config)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
        if not gated:
            made.lm_head.weight = torch.nn.Parameter(torch.randn(vocabulary, 16) * 0.5)
            made.config.tie_word_embeddings = False
    return made.eval()


def expected(made: T5ForConditionalGeneration, vocabulary: int) -> dict:
    generator = torch.Generator().manual_seed(11)
    draw = lambda length: torch.randint(3, vocabulary, (length,), generator=generator).tolist() + [1]
    inputs, targets = [draw(39), draw(25)], [draw(27), draw(18)]
    pad = lambda rows, filler: torch.tensor([row + [filler] * (max(map(len, rows)) - len(row)) for row in rows])
    labels = pad(targets, -100)
    result = made(input_ids=pad(inputs, 0), attention_mask=pad([[1] * len(row) for row in inputs], 0), labels=labels)
    result.loss.backward()
    out = {
        "input.0": torch.tensor(inputs[0]), "input.1": torch.tensor(inputs[1]),
        "target.0": torch.tensor(targets[0]), "target.1": torch.tensor(targets[1]),
        "logits": result.logits[labels != -100].detach(), "loss": result.loss.detach().reshape(1),
    }
    squares = 0.0
    for name, parameter in made.named_parameters():
        out["norm." + name] = parameter.grad.norm().reshape(1)
        squares += float(parameter.grad.double().pow(2).sum())
    out["norm"] = torch.tensor([squares**0.5], dtype=torch.float32)
    for name, beams in [("greedy", 1), ("beam", 4)]:
        for length in [24]:
            with torch.no_grad():
                tokens = made.generate(
                    input_ids=torch.tensor([inputs[0]]), num_beams=beams, do_sample=False, max_new_tokens=length)
            out[name] = tokens[0][1:].contiguous()
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--check", type=pathlib.Path, help="compare this file of logits instead")
    arguments = parser.parse_args()
    if arguments.check:
        check(arguments.directory, arguments.check)
        return
    made_tokenizer = tokenizer()
    vocabulary = 72
    assert made_tokenizer.get_vocab_size() <= vocabulary
    for name in ["gated", "untied"]:
        directory = arguments.directory / name
        directory.mkdir(parents=True, exist_ok=True)
        made = model(name, vocabulary)
        out = expected(made, vocabulary)
        made.save_pretrained(directory)
        made_tokenizer.save(str(directory / "tokenizer.json"))
        again = T5ForConditionalGeneration.from_pretrained(directory).eval()
        first = out["input.0"][None]
        assert torch.equal(again(input_ids=first, decoder_input_ids=first).logits, made(input_ids=first, decoder_input_ids=first).logits), name
        save_file(out, directory / "expected.safetensors")
        print(name, "loss", float(out["loss"]), "norm", float(out["norm"]), "beam", out["beam"].tolist(), "greedy", out["greedy"].tolist())
    offsets = torch.arange(-600, 601)
    buckets = {
        side: T5Attention._relative_position_bucket(offsets, bidirectional=side == "both", num_buckets=32, max_distance=128).tolist()
        for side in ["both", "back"]
    }
    (arguments.directory / "buckets.json").write_text(json.dumps(buckets))


def check(directory: pathlib.Path, file: pathlib.Path) -> None:
    made = T5ForConditionalGeneration.from_pretrained(directory, torch_dtype=torch.float32).eval()
    given = json.loads(file.read_text())
    with torch.no_grad():
        logits = made(input_ids=torch.tensor([given["input"]]), decoder_input_ids=torch.tensor([given["output"]])).logits[0]
    difference = float((logits - torch.tensor(given["logits"])).abs().max())
    print(f"largest difference of {logits.numel()} logits: {difference:.2e}; largest logit {float(logits.abs().max()):.2f}")
    assert difference <= 1e-4


main()
