"""Trains configs/paper/finqa.toml with several seeds and writes what they reach beside the baselines.

    python tools/scripts/finqa_seeds.py --data DIR --encoder DIR --work DIR --output docs/finqa-paper.md

DIR of --data holds FinQA's train.json and dev.json, that of --encoder all-MiniLM-L6-v2. Trains each seed into --work,
where runs that have ended are taken as they are, measures all checkpoints with BM25, TF-IDF and dense retrieval in one
`evaluate`, and writes the table with the mean and standard deviation over seeds.
"""

import json
import statistics

from experiments import ROOT, finqa_parser, program, settings, trained

MEASURES = ["recall@1", "recall@5", "recall@10", "recall@20", "MAP", "MRR", "nDCG@10"]


def main():
    parser = finqa_parser(__doc__)
    args = parser.parse_args()
    common = ["--config", str(ROOT / "configs/paper/finqa.toml")]
    common += settings(f"data.root={args.data}", f"encoder.model={args.encoder}")
    checkpoints = []
    for seed in args.seeds:
        run = args.work / f"seed-{seed}"
        trained(run, *common, *settings(f"task.seed={seed}"))
        checkpoints += ["--checkpoint", str(run / "best")]
    report_dir = args.work / "report"
    program("evaluate", *common, *checkpoints, "--output", str(report_dir))
    report = json.loads((report_dir / "report.json").read_text())
    args.output.write_text(page(report, len(args.seeds)))
    print(args.output)


def page(report, seeds):
    def values(method):
        return {m["measure"]: m["mean"] for m in method["measures"]}

    models, baselines = report["methods"][:seeds], report["methods"][seeds:]
    rows = [(f"tabsegnet, {m['description'].removeprefix('checkpoint, ')}", values(m)) for m in models]
    lines = [
        "# FinQA: the paper's model",
        "",
        "The paper's model without segments (`configs/paper/finqa.toml`, preset large, all-MiniLM-L6-v2) on the dev part, by "
        "`python tools/scripts/finqa_seeds.py`. Pages are read as they are; docs/finqa.md measures its baselines on repaired ones.",
        "",
        f"{report['dataset']['questions']} questions on {report['dataset']['documents']} documents, "
        f"{report['dataset']['gold_per_question']:.2f} gold nodes a question, "
        f"{report['dataset']['mean_nodes_per_document']:.0f} nodes a document; the best epoch by dev loss of each seed.",
        "",
        "| method | " + " | ".join(MEASURES) + " |",
        "|---|" + "---:|" * len(MEASURES),
    ]
    for name, row in rows:
        lines.append(f"| {name} | " + " | ".join(f"{row[m]:.3f}" for m in MEASURES) + " |")
    spread = [[row[m] for _, row in rows] for m in MEASURES]
    deviation = statistics.stdev if len(rows) > 1 else lambda _: 0.0
    cells = " | ".join(f"{statistics.mean(v):.3f} ± {deviation(v):.3f}" for v in spread)
    lines.append(f"| tabsegnet, mean ± s.d. of {len(rows)} seeds | {cells} |")
    for method in baselines:
        row = values(method)
        lines.append(f"| {method['name']} | " + " | ".join(f"{row[m]:.3f}" for m in MEASURES) + " |")
    lines += [
        "",
        "The paper-exact model overfits within a few epochs on these questions and stays below BM25 and dense "
        "retrieval: its node input only concatenates node and question, and nothing in it compares the two."
        if max(row["recall@10"] for _, row in rows) < min(values(m)["recall@10"] for m in baselines)
        else "",
        "",
    ]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    main()
