"""Writes what model/encoder/tests/tokens.rs compares with: the states of single tokens of the models that
make_reference.py made, and small masked language models with their sparse vectors.

    python model/encoder/tests/reference/make_token_reference.py

Needs torch, transformers, tokenizers and safetensors. The states are transformers' last hidden ones
without those of special tokens, of length 1, a text after the other; the sparse vectors max over the
tokens of log(1 + relu(logit)), `[texts, vocabulary]`. Run it again only to change the models.
"""

import shutil

import torch
from safetensors.torch import save_file
from transformers import AutoModel, BertConfig, BertForMaskedLM, DistilBertConfig, DistilBertForMaskedLM

from make_reference import COMMON, HERE, LIMIT, MODELS, SIZES, TEXTS, tokenizer

MASKED = {
    "masked-bert": (BertForMaskedLM, BertConfig(**COMMON, **SIZES, initializer_range=0.3)),
    "masked-distilbert": (
        DistilBertForMaskedLM,
        DistilBertConfig(**COMMON, dim=16, n_layers=2, n_heads=2, hidden_dim=32, initializer_range=0.3),
    ),
}


def states(name):
    model = AutoModel.from_pretrained(HERE / name).eval()
    split = tokenizer()
    rows = []
    for text in TEXTS:
        tokens = split(text, truncation=True, max_length=LIMIT, return_tensors="pt", return_special_tokens_mask=True)
        own = tokens.pop("special_tokens_mask")[0] == 0
        tokens.pop("token_type_ids", None)
        with torch.no_grad():
            rows.append(model(**tokens).last_hidden_state[0][own])
    return torch.nn.functional.normalize(torch.cat(rows), dim=1)


def masked(name, kind, config):
    directory = HERE / name
    shutil.rmtree(directory, ignore_errors=True)
    model = kind(config).eval()
    with torch.no_grad():
        for weight_name, weight in model.named_parameters():
            if weight_name.endswith("bias"):
                weight.normal_(0.0, 0.2)
            elif "norm" in weight_name.lower():
                weight.normal_(1.0, 0.2)
    model.save_pretrained(directory)
    split = tokenizer()
    split.save_pretrained(directory)
    for path in directory.iterdir():
        if path.name not in ("config.json", "model.safetensors", "tokenizer.json"):
            path.unlink()
    vectors = []
    for text in TEXTS:
        tokens = split(text, truncation=True, max_length=config.max_position_embeddings, return_tensors="pt")
        tokens.pop("token_type_ids", None)
        with torch.no_grad():
            vectors.append(torch.log1p(torch.relu(model(**tokens).logits[0])).amax(0))
    save_file({"vectors": torch.stack(vectors).contiguous()}, directory / "expected.safetensors")
    (directory / "expected.safetensors").chmod(0o644)


def main():
    for name in MODELS:
        save_file({"states": states(name).contiguous()}, HERE / name / "tokens.safetensors")
        (HERE / name / "tokens.safetensors").chmod(0o644)
    for seed, (name, (kind, config)) in enumerate(MASKED.items()):
        torch.manual_seed(seed)
        masked(name, kind, config)


if __name__ == "__main__":
    main()
