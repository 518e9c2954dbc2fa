"""Ships a trained segmenter and writes how near it comes to the segments of the data sets.

    python tools/scripts/segmenter.py --config configs/segmenter-finqa.toml --output docs/segmenter.md [--model DIR]
        [--trained DIR] [--data KIND=DIR]… [--set KIND:KEY=VALUE]…

--trained copies a trained segmenter (`runs/segmenter-finqa/best`) to --model, checkpoints/segmenter unless said, first.
Then the example segment_quality measures it on the dev part of each kind of --data with configs/KIND.toml, and of made
reports; --set overrides a key of that config, for files of other names. The tables go into --output and into the card.
"""

import argparse
import hashlib
import json
import shutil
import statistics
import tempfile
import textwrap
import tomllib
from pathlib import Path

from experiments import ROOT, ROUNDS, p_value, program, told

NAMES = {"finqa": "FinQA", "tatqa": "TAT-QA", "hitab": "HiTab", "hybridqa": "HybridQA", "multihiertt": "MultiHierTT",
         "ixbrl": "Inline XBRL", "synthetic": "generated reports"}
CONFIGS = {"synthetic": "quickstart"}
LICENCES = {"finqa": "MIT", "tatqa": "MIT", "hitab": "C-UDA 1.0", "hybridqa": "MIT", "synthetic": "made by the project"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--model", type=Path, default=ROOT / "checkpoints/segmenter")
    parser.add_argument("--trained", type=Path)
    parser.add_argument("--data", action="append", default=[], metavar="KIND=DIR")
    parser.add_argument("--set", action="append", default=[], metavar="KIND:KEY=VALUE")
    args = parser.parse_args()
    if args.trained:
        ship(args.trained, args.model, args.config)
    training = tomllib.loads((args.model / "training.toml").read_text())
    manifest = json.loads((args.model / "manifest.json").read_text())

    overrides = {"synthetic": []}
    for given in args.data:
        kind, directory = given.split("=", 1)
        overrides.setdefault(kind, []).append(f"data.root={directory}")
    for given in args.set:
        kind, override = given.split(":", 1)
        overrides.setdefault(kind, []).append(override)
    kinds = [kind for kind in NAMES if kind in overrides]
    found = {kind: quality(kind, overrides[kind], args.model, training["segmenter"]) for kind in kinds}
    tables = {kind: table for kind, (table, _) in found.items()}
    stands = standing({kind: values for kind, (_, values) in found.items()})

    args.output.write_text(page(args.config, tables, stands))
    (args.model / "README.md").write_text(card(args.model, training, manifest, tables, stands))
    digests(args.model, manifest)
    print(args.output)


def ship(trained, model, config):
    """Copies it, with the settings of the config as it stands: where it was trained is none that it depends on."""
    shutil.rmtree(model, ignore_errors=True)
    shutil.copytree(trained, model)
    (model / "training.toml").write_text(program("train", "--config", str(config), "--print-config"))


def quality(kind, overrides, model, limits):
    """The table of a data set with the line before it, and of each question the token F1 of the rules and of the T5."""
    command = ["--config", str(ROOT / f"configs/{CONFIGS.get(kind, kind)}.toml"), "--t5", str(model)]
    overrides += [f"segmenter.{key}={limits[key]}" for key in ("max_input_tokens", "max_output_tokens", "beams")]
    command += [part for override in overrides for part in ("--set", override)]
    with tempfile.TemporaryDirectory() as directory:
        values = Path(directory) / "values.jsonl"
        printed = program("examples/segment_quality", *command, "--values", str(values))
        read = [json.loads(line) for line in values.read_text().splitlines()]
    of = lambda method: {value["id"]: value["token_f1"] for value in read if value["method"] == method}
    rules, t5 = of("rules"), of(str(model))
    lines = printed.replace(f"| {model} |", "| the shipped T5 |").strip().splitlines()
    assert lines[0].startswith("### "), f"{kind}: expected a heading, got {lines[0]!r}"
    return "\n".join(lines[1:]).strip(), [(rules[question], t5[question]) for question in rules]


def standing(values):
    """Where the T5 comes nearer than the rules, where not, and both over all questions."""
    def compared(pairs):
        rules, t5 = zip(*pairs)
        return f"{statistics.mean(t5):.3f} / {statistics.mean(rules):.3f} (p {told(p_value(rules, t5))})"

    everything = [pair for pairs in values.values() for pair in pairs]
    of_kinds = [f"{NAMES[kind]} {compared(pairs)}" for kind, pairs in values.items()]
    said = f"Over all {len(everything):,} questions T5 / rules have a token F1 of {compared(everything)}, two-sided, by a " \
        f"paired randomisation test of {ROUNDS:,} rounds; by data set: {', '.join(of_kinds)}."
    return textwrap.fill(said, 120)


def page(config, tables, stands):
    sections = "\n".join(f"## {NAMES[kind]}\n\n{table}\n" for kind, table in tables.items())
    return f"""# Segmenters

How near the question itself, the rules and the shipped T5 (`checkpoints/segmenter`) come to the segments of the dev
parts, written by `python tools/scripts/segmenter.py`. Those of inline XBRL and generated reports are known, the others are silver,
made from the gold nodes (`data/datasets/src/silver.rs`): they have words of the tables that a question does not have, so that
nothing that sees the question alone reaches 1. The T5 was trained with
`{config}`, its epoch chosen on the dev parts of FinQA and TAT-QA. Exact set: the share of questions
with exactly those segments; token F1: of the words, under the best one-to-one matching of segments, over the larger
number of them; p50: the median time of a question, one after the other, greedy, on a CPU that did other work.

{stands}

{sections}"""


def card(model, training, manifest, tables, stands):
    new, stages = training["segmenter_training"]["new"], training["segmenter_training"]
    parts = [f"{NAMES[part['kind']]} ({LICENCES[part['kind']]})" for part in training["data"]["parts"]]
    size = sum(file.stat().st_size for file in model.iterdir()) / 2**20
    known = "\n".join(f"### {NAMES[kind]}, dev\n\n{table}\n" for kind, table in tables.items())
    by_loss = f"loss ({manifest['dev']['loss']:.4f})"
    chosen = by_loss if stages["choose"] == "loss" else f"token F1 ({manifest['dev']['segments']['token_f1']:.3f})"
    vocabulary = json.loads((model / "config.json").read_text())["vocab_size"]
    return f"""---
license: mit
language: en
---

# Segmenter

A T5 that writes the segments of a question: the parts that each ask for one thing. It knows reports in English.

- Started from: random weights and a tokenizer of the training texts; no pretrained model
- Shape: d_model {new['d_model']}, {new['heads']} heads of {new['d_kv']}, d_ff {new['d_ff']}, {new['layers']} + {new['decoder_layers']} layers, \
{vocabulary} tokens, lower case; {size:.1f} MiB with {stages['store']} weights
- Trained on: the training parts of {', '.join(parts)}, as far as they were at hand; seed {training['task']['seed']}. \
{stages_of(stages, manifest['epoch'])}
- Chosen: epoch {manifest['epoch']}, by {chosen} on the dev parts of FinQA and TAT-QA
- Reads: the question, each word behind a marker, and what the rules propose (`segmenter_training.new.proposals`)
- Prompt: none before the question, {new['separator']!r} between segments (`segmenter.json`)

Nothing of the data sets' documents is in it but words and word pieces of its tokenizer. Figures on dev parts:

{known}
{stands}

Limits: the epoch was chosen on the dev parts of FinQA and TAT-QA, so their figures are a little too good for new
questions; silver segments are made by a rule, not by people. It writes no word that the question does not have but
years, and may leave out words or segments. It reads and writes with markers, `<extra_id_0>` before the first word and on,
years that the question means after it (`model/segmenter/src/pointing.rs`): what it writes are markers, not texts. `training.toml` holds every setting,
`manifest.json` the digests of all files. Made again by `train --config configs/segmenter-finqa.toml`.
"""


def stages_of(stages, epoch):
    """What the chosen epoch had seen."""
    made = stages["made_epochs"]
    again = ", each also with other names and years" if stages["renamed"] else ""
    again += ", and of such as begin as one and go on as another" if stages["concatenated"] else ""
    text = f"{min(epoch, made)} epochs of {stages['made']:,} generated questions and the training questions as the rules cut " \
        f"them{again}"
    silver = f", then {epoch - made} epochs of their silver segments, or as the rules cut them where these come near " \
        f"(token F1 from {stages['rules_from']})" if epoch > made else \
        f"; the {stages['epochs']} epochs of silver segments after them did not come nearer and are not in it"
    return text + silver


def digests(model, manifest):
    for name in manifest["files"]:
        manifest["files"][name] = hashlib.sha256((model / name).read_bytes()).hexdigest()
    (model / "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
