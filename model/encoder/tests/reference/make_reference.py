"""Writes the reference models and vectors that model/encoder/tests/reference.rs compares with.

    python model/encoder/tests/reference/make_reference.py

Needs torch, transformers, tokenizers, safetensors and sentence-transformers. Small models with
seeded random weights, one for each architecture and pooling; the vectors are those that
sentence-transformers computes, a text at a time. Run it again only to change the models.
"""

import json
import pathlib
import shutil
import tempfile

import torch
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaModel,
)

HERE = pathlib.Path(__file__).parent
LIMIT = 24
WORDS = (
    "[UNK] [PAD] [CLS] [SEP] [MASK] a e i o u s t r n 0 1 2 3 4 5 6 7 8 9 . , $ % | ( ) - "
    "##a ##e ##i ##o ##u ##s ##t ##r ##n ##0 ##1 ##2 ##3 ##4 ##5 ##6 ##7 ##8 ##9 "
    "net income total revenue tax rate share year was the of in and operating cash flow ##ing ##ed"
).split()
TEXTS = [
    "net income",
    "Net Income",
    "total revenue | 2019 | $ 1,234.5",
    "the tax rate of 2018 was 21 %",
    "",
    "   ",
    "operating cash flow | year | ( 12 )",
    "unknown wörds and 日本語",
    "e",
    " ".join(["the total revenue of the year was 1 2 3 and"] * 20),
    "income, net of tax: 5-7 % (2017)",
    "net income",
]


def tokenizer():
    tok = Tokenizer(models.WordPiece({w: i for i, w in enumerate(WORDS)}, unk_token="[UNK]"))
    tok.normalizer = normalizers.BertNormalizer(lowercase=True)
    tok.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tok.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", WORDS.index("[CLS]")), ("[SEP]", WORDS.index("[SEP]"))],
    )
    special = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]"}
    special |= {"sep_token": "[SEP]", "mask_token": "[MASK]"}
    return PreTrainedTokenizerFast(tokenizer_object=tok, **special)


COMMON = {"vocab_size": len(WORDS), "max_position_embeddings": 40, "pad_token_id": 1}
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
MODELS = {
    "bert": (BertModel, BertConfig(**COMMON, **SIZES, initializer_range=0.3), "mean", True),
    "roberta": (
        RobertaModel,
        RobertaConfig(**COMMON, **SIZES, initializer_range=0.3, type_vocab_size=1, hidden_act="gelu_new"),
        "cls",
        False,
    ),
    "distilbert": (
        DistilBertModel,
        DistilBertConfig(
            **COMMON, dim=16, n_layers=2, n_heads=2, hidden_dim=32, initializer_range=0.3, activation="relu"
        ),
        "max",
        True,
    ),
}
MODULES = "sentence_transformers.models."


def write(directory, kind, config, pooling, normalise, legacy):
    model = kind(config).eval()
    # Initial biases are 0 and norms 1; as good as absent, so that a mistake in them would not show.
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("bias"):
                weight.normal_(0.0, 0.2)
            elif "norm" in name.lower():
                weight.normal_(1.0, 0.2)
    model.save_pretrained(directory)
    tokenizer().save_pretrained(directory)
    names = ["Transformer", "Pooling"] + ["Normalize"] * normalise
    paths = ["", "1_Pooling", "2_Normalize"]
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": MODULES + name}
        for i, (name, path) in enumerate(zip(names, paths))
    ]
    (directory / "modules.json").write_text(json.dumps(modules, indent=2) + "\n")
    (directory / "1_Pooling").mkdir()
    if legacy:
        keys = {"cls": "cls_token", "mean": "mean_tokens", "max": "max_tokens"}
        pool = {"word_embedding_dimension": 16}
        pool |= {f"pooling_mode_{key}": mode == pooling for mode, key in keys.items()}
    else:
        pool = {"embedding_dimension": 16, "pooling_mode": pooling, "include_prompt": True}
    (directory / "1_Pooling/config.json").write_text(json.dumps(pool, indent=2) + "\n")
    limits = {"max_seq_length": LIMIT, "do_lower_case": False}
    (directory / "sentence_bert_config.json").write_text(json.dumps(limits) + "\n")


def main():
    (HERE / "texts.json").write_text(json.dumps(TEXTS, indent=1, ensure_ascii=False) + "\n")
    for seed, (name, (kind, config, pooling, normalise)) in enumerate(MODELS.items()):
        torch.manual_seed(seed)
        with tempfile.TemporaryDirectory() as temporary:
            directory = pathlib.Path(temporary)
            write(directory, kind, config, pooling, normalise, legacy=name != "roberta")
            model = SentenceTransformer(str(directory), device="cpu")
            assert model.max_seq_length == LIMIT
            vectors = torch.stack([model.encode(text, convert_to_tensor=True) for text in TEXTS])
            target = HERE / name
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir()
            for file in ["config.json", "model.safetensors", "tokenizer.json", "modules.json", "1_Pooling/config.json"]:
                (target / file).parent.mkdir(exist_ok=True)
                shutil.copyfile(directory / file, target / file)
            shutil.copyfile(directory / "sentence_bert_config.json", target / "sentence_bert_config.json")
            save_file({"vectors": vectors.contiguous()}, target / "expected.safetensors")
            (target / "expected.safetensors").chmod(0o644)


if __name__ == "__main__":
    main()
