"""Trains configs/finqa-plus.toml with each addition switched off, alone, and writes what that costs on FinQA's dev part.

    python scripts/ablations.py --data DIR --encoder DIR --work DIR --output docs/finqa-plus.md [--seeds 0 1 2] [--only NAME…]

DIR of --data holds FinQA's train.json and dev.json, that of --encoder all-MiniLM-L6-v2. Every row is trained with every
seed; a figure is that of the epoch of least dev loss, the mean over the seeds with each seed behind it. Baselines are
those of `evaluate`. TABSEGNET_PROGRAMS names a directory of built programs; without it cargo builds them.
"""

import argparse
import json
import os
import statistics
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = os.environ.get("TABSEGNET_PROGRAMS") and Path(os.environ["TABSEGNET_PROGRAMS"])
STATIC = ["encoder.kind=static", "encoder.model="]
ROWS = {
    "all": [],
    "all, static encoder": STATIC,
    "no fit of tables to text (features.tables)": ["features.tables=false"],
    "no years": ["features.years=false"],
    "no similar words": ["features.similar_words=false"],
    "no shared words": ["features.words=false"],
    "no cosines": ["features.cosine=false"],
    "nothing relative to the best": ["features.relative=false"],
    "no BM25": ["features.bm25=false"],
    "no places": ["features.places=false"],
    "no u ⊙ q": ["model.interaction=false"],
    "one layer": ["model.layers=1"],
    "no edge types": ["model.edge_types=single"],
    "edge strengths as in the paper": ["model.strength=paper"],
    "hinge loss": ["optimisation.loss=hinge"],
    "no dropout, no weight decay": ["optimisation.dropout=0", "optimisation.weight_decay=0"],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--only", nargs="+", choices=ROWS, default=list(ROWS))
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    common = ["--config", str(ROOT / "configs/finqa-plus.toml"), "--set", f"data.root={args.data}"]
    common += ["--set", f"encoder.model={args.encoder}"]
    lines = [
        "# FinQA: the ranker with additions",
        "",
        "`configs/finqa-plus.toml` on FinQA's dev part, and with each addition off, alone; by "
        "`python scripts/ablations.py`.",
        f"Mean over seeds {', '.join(map(str, args.seeds))} (each seed), at the epoch of least dev loss. The features were "
        "chosen while looking at this dev part, so that held-out questions may tell another story.",
        "",
        "| | recall@10 | MAP | training, s |",
        "|---|---:|---:|---:|",
    ]
    for number, name in enumerate(args.only):
        found = []
        for seed in args.seeds:
            directory = args.work / f"{list(ROWS).index(name)}-{seed}"
            settings = [*ROWS[name], f"task.seed={seed}", f"output.directory={directory}"]
            program("train", *common, *(part for setting in settings for part in ("--set", setting)))
            epochs = [json.loads(line) for line in (directory / "metrics.jsonl").read_text().splitlines()]
            best = min(epochs, key=lambda epoch: epoch["dev_loss"])
            found.append((best["dev_recall_10"], best["dev_map"], sum(epoch["seconds"] for epoch in epochs)))
        recall, average, seconds = zip(*found)
        lines.append(f"| {name} | {cell(recall)} | {cell(average)} | {statistics.median(seconds):.0f} |")
        print(lines[-1], flush=True)
        write(args.output, lines)
    report = args.work / "report"
    program("evaluate", *common, "--baselines", "--output", str(report))
    for method in json.loads((report / "report.json").read_text())["methods"]:
        values = {measure["measure"]: measure["mean"] for measure in method["measures"]}
        lines.append(f"| {method['name']} | {values['recall@10']:.3f} | {values['MAP']:.3f} | |")
    write(args.output, lines)


def cell(values):
    return f"{statistics.mean(values):.3f} ({', '.join(f'{value:.3f}' for value in values)})"


def write(output, lines):
    temporary = output.with_suffix(".part")
    temporary.write_text("\n".join(lines) + "\n")
    temporary.replace(output)


def program(name, *arguments):
    command = [str(PROGRAMS / name)] if PROGRAMS else ["cargo", "run", "--release", "--quiet", "--bin", name, "--"]
    subprocess.run([*command, *arguments], check=True, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
