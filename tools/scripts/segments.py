"""Writes what segments do to rankings on FinQA's dev part: none, by rules, by the shipped T5, and those of the gold.

    python tools/scripts/segments.py --data DIR --encoder DIR --work DIR --output docs/segments.md [--seeds 0 1 2] [--t5 DIR]

DIR of --data holds FinQA's train.json and dev.json, that of --encoder all-MiniLM-L6-v2. Trains configs/finqa.toml and
the paper's model (configs/paper/finqa-segments-large.toml) once for each kind of segments and seed. Runs that stand in --work are
taken as they are; the page is written anew after each row. TABSEGNET_PROGRAMS names a directory of built programs;
without it cargo builds them.
"""

import json
import statistics
from pathlib import Path

from experiments import ROOT, finqa_parser, settings, trained, write

# What is set for all kinds of segments, and beside it for none.
CONFIGS = {
    "finqa": (["optimisation.start_from="], ["features.segments=false"]),
    "paper/finqa-segments-large": ([], ["model.segments=false"]),
}
KINDS = {
    "none": ["segmenter.kind=none"],
    "rules": ["segmenter.kind=rules"],
    "the shipped T5": ["segmenter.kind=t5"],
    "of the gold nodes": ["segmenter.kind=given"],
}


def main():
    parser = finqa_parser(__doc__)
    parser.add_argument("--t5", default="", help="another T5 than the shipped one")
    args = parser.parse_args()
    lines = [
        "# What segments do to rankings",
        "",
        "FinQA's dev part, all-MiniLM-L6-v2, by `python tools/scripts/segments.py`: mean over seeds "
        f"{', '.join(map(str, args.seeds))} (each seed). Segments of the gold nodes are those "
        "that a perfect segmenter would find: a ceiling, not a method. `configs/finqa.toml` without pretrained "
        "weights (`optimisation.start_from=`).",
    ]
    common = settings(f"data.root={args.data}", f"encoder.model={args.encoder}")
    for config, (always, without) in CONFIGS.items():
        lines += ["", f"## `configs/{config}.toml`", "", "| segments | recall@10 | MAP |", "|---|---:|---:|"]
        means = {}
        for kind, changed in KINDS.items():
            found = []
            for seed in args.seeds:
                directory = args.work / f"{Path(config).name}-{kind.replace(' ', '-')}-{seed}"
                chosen = [*always, *changed, *(without if kind == "none" else []), f"task.seed={seed}"]
                chosen += [f"segmenter.model={args.t5}"] if args.t5 and kind.endswith("T5") else []
                config_file = str(ROOT / f"configs/{config}.toml")
                trained(directory, "--config", config_file, *common, *settings(*chosen), quiet=True)
                kept = json.loads((directory / "best/manifest.json").read_text())["dev"]
                found.append((kept["recall@10"], kept["MAP"]))
            recall, average = zip(*found)
            means[kind] = statistics.mean(recall), statistics.mean(average)
            lines.append(f"| {kind} | {cell(recall)} | {cell(average)} |")
            print(config, lines[-1], flush=True)
            write(args.output, lines)
        lines += ["", brought(means)]
        write(args.output, lines)


def brought(means):
    """What each kind of segments brings over none, in words."""
    none = means.pop("none")
    gains = [f"{kind} {recall - none[0]:+.3f} and {average - none[1]:+.3f}" for kind, (recall, average) in means.items()]
    return f"Beside no segments, recall@10 and MAP: {'; '.join(gains)}."


def cell(values):
    return f"{statistics.mean(values):.3f} ({', '.join(f'{value:.3f}' for value in values)})"


if __name__ == "__main__":
    main()
