"""Writes what each data set holds and what the methods reach on its dev part.

    python tools/scripts/datasets.py --work DIR --output docs/datasets.md [--data KIND=DIR]… [--set KIND:KEY=VALUE]…
        [--kinds KIND…] [--train KIND…] [--seeds N…] [--folds KIND=N] [--beside KIND]
        [--paper] [--also NAME=DIR…]

Runs `train --prepare` and `evaluate` with configs/KIND.toml of each kind, with the shipped static encoder. --data says
where a kind's files are, --set overrides a key of its config, for files of other names. BM25, TF-IDF and dense
retrieval are always measured, the ranker of the config for the kinds of --train, once for each of --seeds, with --paper
also the paper's model (configs/paper/finqa-segments-large.toml), and the checkpoints --also named. MultiHierTT without a training
part is cut into --folds by documents: the questions of a fold are ranked by rankers trained on those of the other folds
and on the training part of the kind --beside it, whose dev part is measured meanwhile. Finished runs that stand in --work
are taken as they are.
"""

import argparse
import json
import re
import statistics
import tomllib
from pathlib import Path

from experiments import ROOT, program, settings, trained
from measures import shown_interval

KINDS = ["finqa", "multihiertt", "tatqa", "hybridqa", "hitab", "ixbrl", "mix"]
NAMES = {"finqa": "FinQA", "multihiertt": "MultiHierTT", "tatqa": "TAT-QA", "hybridqa": "HybridQA", "hitab": "HiTab",
         "ixbrl": "Inline XBRL"}
BASELINES = ["bm25", "tf-idf", "dense", "rrf", "bm25+dense", "maxsim"]
# Those whose intervals are shown.
MAIN = ["recall@10", "MAP"]
# A config's section [data].
DATA = re.compile(r"\[data\]\n.*?\n\n(?=\[)", re.DOTALL)
RANKERS = {"seed": "ranker", "paper": "the paper's model"}
MEASURES = ["recall@1", "recall@5", "recall@10", "recall@20", "MAP", "MRR", "nDCG@10"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--data", action="append", default=[], metavar="KIND=DIR")
    parser.add_argument("--set", action="append", default=[], metavar="KIND:KEY=VALUE")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--train", nargs="+", choices=KINDS, default=[])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--folds", action="append", default=[], metavar="KIND=N")
    parser.add_argument("--beside", choices=KINDS, default="tatqa")
    parser.add_argument("--paper", action="store_true")
    parser.add_argument("--also", action="append", default=[], metavar="NAME=DIR")
    args = parser.parse_args()
    # Each data set's ranker learns from that data set alone.
    overrides = {kind: ["encoder.kind=static", "encoder.model=", "optimisation.start_from="] for kind in KINDS}
    for given in args.data:
        kind, directory = given.split("=", 1)
        overrides[kind].append(f"data.root={directory}")
    for given in args.set:
        kind, override = given.split(":", 1)
        overrides[kind].append(override)

    folds = {kind: int(count) for kind, count in (given.split("=", 1) for given in args.folds)}
    if not folds.keys() <= {"multihiertt"}:
        parser.error("--folds: expected multihiertt=N, whose files it knows how to cut")
    if args.paper and "mix" in args.train:
        parser.error("--paper: expected no mix in --train, whose parts the paper's config has no place for")
    also = [tuple(given.split("=", 1)) for given in args.also]
    pages, found = [], {}
    for kind in args.kinds:
        run = args.work / kind
        common = arguments(config_of(kind), run, overrides[kind])
        prepared = program("train", *common, "--prepare")
        checkpoints, note = also, None
        if kind in args.train:
            checkpoints = [*rankers(kind, run, overrides[kind], args), *also]
            common += ["--set", f"evaluation.baselines={json.dumps(BASELINES)}"]
        chosen = [part for _, directory in checkpoints for part in ("--checkpoint", str(directory))]
        program("evaluate", *common, *(chosen or ["--baselines"]))
        report = json.loads((run / "report/report.json").read_text())
        # The checkpoints come first, in their order.
        called = dict(zip((method["name"] for method in report["methods"]), (label for label, _ in checkpoints)))
        methods = [(called.get(method["name"], method["name"]), values(method)) for method in report["methods"]]
        if kind in folds:
            methods = in_folds(kind, folds[kind], run, overrides, args) + methods
            note = (f"No training file was at hand: below, both parts are the dev file. Cut into {folds[kind]} folds by documents; "
                    f"the questions of each are ranked by rankers trained on those of the others and on {NAMES[args.beside]}'s "
                    "training part.")
        found[kind] = with_means(methods)
        pages.append(section(kind, prepared, report, found[kind], note, called))
    args.output.write_text("\n".join([INTRODUCTION, *glance(found), *pages]).rstrip() + "\n")
    print(args.output)


def rankers(kind, run, overrides, args):
    """The rankers of the kind's config and, if wanted, of the paper's with the kind's data: what each is called and where."""
    configs = {"seed": config_of(kind)}
    if args.paper:
        configs["paper"] = run / "paper.toml"
        run.mkdir(parents=True, exist_ok=True)
        configs["paper"].write_text(DATA.sub(lambda _: DATA.search(config_of(kind).read_text())[0],
                                             (ROOT / "configs/paper/finqa-segments-large.toml").read_text()))
    directories = []
    for name, config in configs.items():
        for seed in args.seeds:
            directory = run / f"{name}-{seed}"
            trained(directory, "--config", str(config), *settings(*overrides, f"task.seed={seed}"))
            directories.append((f"{RANKERS[name]}, seed {seed}", directory / "best"))
    return directories


def config_of(kind):
    return ROOT / f"configs/{kind}.toml"


def arguments(config, output, overrides):
    return ["--config", str(config), *settings(f"output.directory={output}", *overrides)]


def in_folds(kind, count, run, overrides, args):
    """A method for each seed, each question ranked by the rankers of its fold: means over all questions."""
    data, beside = (tomllib.loads(program("train", "--config", str(config_of(name)), *settings(*overrides[name]), "--print-config"))["data"]
                    for name in (kind, args.beside))
    (file,) = data["dev"]
    records = json.loads((ROOT / data["root"] / file).read_text())
    documents = list(dict.fromkeys(json.dumps(record["tables"]) for record in records))
    fold_of = [documents.index(json.dumps(record["tables"])) % count for record in records]
    sums, questions = {seed: {} for seed in args.seeds}, {seed: 0 for seed in args.seeds}
    for fold in range(count):
        directory = run / f"fold-{fold}"
        directory.mkdir(parents=True, exist_ok=True)
        parts = {"train": [r for r, f in zip(records, fold_of) if f != fold],
                 "dev": [r for r, f in zip(records, fold_of) if f == fold]}
        for part, held in parts.items():
            (directory / f"{part}.json").write_text(json.dumps(held))
        config = directory / "config.toml"
        config.write_text(mixed(kind, directory, args.beside, beside))
        encoder = [override for override in overrides[kind] if override.startswith("encoder.")]
        for seed in args.seeds:
            ranker = directory / f"seed-{seed}"
            trained(ranker, "--config", str(config), *settings(*encoder, f"task.seed={seed}"))
            on_fold = [*encoder, f"data.root={directory}", 'data.dev=["dev.json"]']
            program("evaluate", *arguments(config_of(kind), ranker / "on-fold", on_fold), "--checkpoint", str(ranker / "best"))
            report = json.loads((ranker / "on-fold/report/report.json").read_text())
            (method,) = [method for method in report["methods"] if method["name"].startswith("tabsegnet")]
            count = report["dataset"]["questions"]
            questions[seed] += count
            for measure, (value, *_) in values(method).items():
                sums[seed][measure] = sums[seed].get(measure, 0.0) + value * count
    return [(f"ranker, seed {seed}", {measure: [value / questions[seed]] for measure, value in sums[seed].items()}) for seed in args.seeds]


def mixed(kind, directory, beside, files):
    """The kind's config, with the training parts of its fold and of the kind beside it."""
    text = config_of(kind).read_text().replace('extends = ["', f'extends = ["{ROOT}/configs/')
    lists = "".join(f"{part} = {json.dumps(files[part])}\n" for part in ("train", "dev"))
    data = (f'[data]\nkind = "mix"\nroot = "{directory}"\n\n'
            f'[[data.parts]]\nkind = "{kind}"\nroot = "{directory}"\ntrain = ["train.json"]\n\n'
            f'[[data.parts]]\nkind = "{beside}"\nroot = "{ROOT / files["root"]}"\n{lists}\n')
    return DATA.sub(lambda _: data, text)


INTRODUCTION = """# Data sets

What the readers make of each data set, and what the methods reach on its dev part with the shipped static encoder,
written by `python tools/scripts/datasets.py`. Where each comes from and which files are expected: [data.md](data.md).
How a record becomes a document and which nodes are gold is documented at the head of each reader in `data/datasets/src`.
The figures hold for the files at hand, whose numbers of questions stand in each section, not for the whole of the
published data sets, and the parts are the project's own, not the published ones ([checkpoints](../checkpoints/README.md)).
Trees order the first nodes anew (`[reranker]`) for every ranker but the paper's, which is `configs/paper/finqa-segments-large.toml`,
with segments by rules. FinQA's texts are repaired for both (`data.text_repair`), and its ranker
learns from FinQA alone (`optimisation.start_from=`). FinQA stands here in the paper's protocol; in two more, and beside trained
baselines: [finqa.md](finqa.md).

In brackets: 95 % of the means of 2,000 bootstrap resamples of documents; of a mean over seeds the mean of the seeds' bounds.
"""


def section(kind, prepared, report, methods, note, called):
    dataset = report["dataset"]
    lines = [
        f"## {NAMES.get(kind, 'A mix of them')}",
        "",
        f"dev: {dataset['questions']} questions on {dataset['documents']} documents, "
        f"{dataset['gold_per_question']:.2f} gold nodes a question, "
        f"{dataset['mean_nodes_per_document']:.0f} nodes a document.",
        *([note] if note else []),
        "",
        *table("method", methods),
        "",
    ]
    slices = [part for part in report["slices"] if part["group"] == "data set"]
    for part in slices:
        shown = [(called.get(m["name"], m["name"]), {"recall@10": bounds(m["recall_10"]), "MAP": bounds(m["map"])}) for m in part["methods"]]
        lines += [f"{NAMES.get(part['name'], part['name'])}, {part['questions']} questions:", "", *table("method", shown), ""]
    lines += ["What was prepared:", "", "```", prepared.rstrip(), "```", ""]
    return "\n".join(lines)


def with_means(methods):
    """Before the seeds of a ranker their mean."""
    found = []
    for ranker in RANKERS.values():
        seeds = [(name, row) for name, row in methods if name.startswith(f"{ranker}, seed")]
        if seeds:
            mean = {measure: [statistics.mean(of) for of in zip(*(row[measure] for _, row in seeds))] for measure in seeds[0][1]}
            found.append((f"**{ranker}, mean of {len(seeds)} seed{'s' * (len(seeds) > 1)}**", mean))
        found += seeds
    return found + [(name, row) for name, row in methods if ", seed " not in name]


def glance(found):
    """recall@10 / MAP of every method on every data set, seeds aside."""
    shown = {kind: {name.strip("*"): row for name, row in methods if ", seed " not in name} for kind, methods in found.items()}
    names = list(dict.fromkeys(name for methods in shown.values() for name in methods))
    lines = ["recall@10 / MAP:", "", "| | " + " | ".join(NAMES.get(kind, kind) for kind in shown) + " |"]
    lines.append("|---|" + "---:|" * len(shown))
    for name in names:
        row = [" / ".join(f"{m[name][measure][0]:.3f}" for measure in MAIN) if name in m else "" for m in shown.values()]
        lines.append(f"| {name} | " + " | ".join(row) + " |")
    return [*lines, ""]


def values(method):
    """Of each measure the mean over questions and the bounds of its interval."""
    return {measure["measure"]: bounds(measure) for measure in method["measures"]}


def bounds(estimate):
    return [estimate["mean"], estimate["low"], estimate["high"]]


def table(first, rows):
    measures = [measure for measure in MEASURES if all(measure in row for _, row in rows)]
    lines = [f"| {first} | " + " | ".join(measures) + " |", "|---|" + "---:|" * len(measures)]

    def cell(measure, mean, *interval):
        return f"{mean:.3f}" + (f" {shown_interval(*interval)}" if interval and measure in MAIN else "")

    return lines + [f"| {name} | " + " | ".join(cell(m, *row[m]) for m in measures) + " |" for name, row in rows]


if __name__ == "__main__":
    main()
