"""Which feature groups and model parts a ranker of many data sets needs: one backward elimination.

    python tools/scripts/elimination.py --config FILE --reports DIR --scorer FILE --work DIR --output docs/elimination.md
        [--seeds 0 1 2] [--epochs 6] [--parts NAME…]

--config is configs/general.toml or one like it, with the names that the data sets' files have; DIR of --reports holds whole
annual reports and questions.jsonl on them, which score_10k.py, --scorer, scores. The whole ranker is trained with every
seed, then without one of PARTS after the other, each time also without those that went before. A part goes if recall@10
and MAP (on whole reports: recall@10 and MRR of the strict measure) are lower with p < .05 than those of the ranker it
is taken from neither on one data set nor on the questions of all dev parts together, by a paired randomisation test of
the questions' means over the seeds whose signs change by document; else it stays, and the page says where it helps. What
is left is compared with the whole ranker too, for small losses add up. The parts of SETTINGS are measured last, each
alone, without going. --parts names a few, of which each is measured alone, and no settings. Trainings are without the
reranker. Finished runs that stand in --work are taken as they are. TABSEGNET_PROGRAMS names a directory of built programs;
without it cargo builds them.
"""

import argparse
import collections
import json
import statistics
import subprocess
import sys
import tomllib
from pathlib import Path

from experiments import PROGRAMS, ROOT, p_value, program, settings, shown_p, trained, write
from measures import average_precision, gold, recall_10, run

UNLIKELY = .05
# What costs most code first.
PARTS = ["sections", "naming", "spans", "phrases", "marks", "context", "bm25", "similar_words", "tables", "segments", "relative", "words", "cosine",
         "question_kind", "places", "table_relevance"]
# Beside what the paper's model needs.
SETTINGS = {
    "one layer": ["model.layers=1"],
    "edge strengths as in the paper": ["model.strength=paper"],
    "no graph at all": ["model.edge_types=none"],
    "constant learning rate": ["optimisation.schedule=constant"],
}
REPORTS, ALL = "whole reports", "all dev parts"
Outcome = collections.namedtuple("Outcome", "recall precision")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("config", "reports", "scorer", "work", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--parts", nargs="+", choices=PARTS)
    args = parser.parse_args()
    common = ["--config", str(args.config), *settings(f"optimisation.epochs={args.epochs}", "reranker.candidates=0")]
    documents = documents_of(tomllib.loads(program("train", *common, "--print-config"))["data"])
    documents |= {question["id"]: question["filing"] for question in report_questions(args.reports)}

    def measured(changed):
        return [outcome(args, common, changed, seed) for seed in args.seeds]

    left, gone = measured([]), []
    rows = [("whole", left, [])]

    def row(name, changed):
        runs = measured(changed)
        rows.append((name, runs, lower(left, runs, documents)))
        write(args.output, page(args, rows, gone))
        print(name, rows[-1][2] or "nowhere lower", flush=True)
        return runs, bool(rows[-1][2])

    def without(parts):
        return [f"features.{name}=false" for name in parts]

    for part in args.parts or []:
        row(f"without {part}", without([part]))
    if args.parts:
        return
    for part in PARTS:
        runs, helps = row(f"without {', '.join([*gone, part])}", without([*gone, part]))
        if not helps:
            left = runs
            gone.append(part)
    if len(gone) > 1:
        # Small losses add up.
        rows.append((f"without {', '.join(gone)}, beside the whole", left, lower(rows[0][1], left, documents)))
    for name, changed in SETTINGS.items():
        row(", ".join([name, *(f"without {part}" for part in gone)]), [*without(gone), *changed])


def report_questions(reports):
    return [json.loads(line) for line in (reports / "questions.jsonl").read_text().splitlines()]


def outcome(args, common, changed, seed):
    """By data set, by question: recall@10 and average precision (whole reports: recall@10 and reciprocal rank)."""
    name = "-".join(setting.partition(".")[2] for setting in changed) or "whole"
    directory = args.work / f"{name}-{seed}"
    measuring = ["evaluation.after_training=true", 'evaluation.baselines=["bm25"]', "evaluation.resamples=100", "evaluation.rounds=100"]
    trained(directory, *common, *settings(*changed, f"task.seed={seed}", *measuring), quiet=True)
    judged = gold(directory / "report/qrels.trec")
    found = collections.defaultdict(dict)
    for question, ranks in run(directory / "report/runs/tabsegnet-best.trec", judged).items():
        count = len(judged[question])
        found[question.partition("/")[0]][question] = Outcome(recall_10(ranks, count), average_precision(ranks, count))
    scores = directory / "whole-reports.json"
    if not scores.is_file():
        score_reports(args, directory / "best", directory / "rankings", scores)
    dev = {question: figures for dataset in found.values() for question, figures in dataset.items()}
    for question, score in json.loads(scores.read_text())["questions"].items():
        found[REPORTS][question] = Outcome(score["strict"]["recall@10"], score["strict"]["mrr"])
    return {**found, ALL: dev}


def score_reports(args, checkpoint, rankings, scores, *options, nodes=50):
    """Ranks the whole reports of --reports into the directory `rankings`, so many nodes a question, and writes into `scores` what
    --scorer says."""
    infer = [PROGRAMS / "infer"] if PROGRAMS else ["cargo", "run", "--release", "--quiet", "-p", "tabsegnet-infer", "--"]
    rankings.mkdir(parents=True, exist_ok=True)
    by_filing = collections.defaultdict(list)
    for question in report_questions(args.reports):
        by_filing[question["filing"]].append(json.dumps({"id": question["id"], "question": question["question"]}))
    for filing, questions in by_filing.items():
        (document,) = args.reports.glob(f"{filing}-*.html")
        listed = rankings / f"{filing}.questions"
        listed.write_text("\n".join(questions) + "\n")
        subprocess.run([*infer, "--checkpoint", checkpoint, "--document", document, "--questions", listed, "--format", "jsonl",
                        "--top-k", str(nodes), "--output", rankings / f"{filing}.jsonl", *options], check=True, cwd=ROOT,
                       stderr=subprocess.DEVNULL)
    subprocess.run([sys.executable, args.scorer, args.reports / "questions.jsonl", rankings, "--json", scores],
                   check=True, stdout=subprocess.DEVNULL)


def documents_of(data):
    """The document of each dev question."""
    found = {}
    for part in data["parts"]:
        root, kind = ROOT / data["root"] / part["root"], part["name"] or part["kind"]
        for file in part["dev"]:
            text = (root / file).read_text()
            if kind == "finqa":
                known = {record["id"]: record["id"].rpartition("-")[0] for record in json.loads(text)}
            elif kind == "tatqa":
                known = {q["uid"]: document["table"]["uid"] for document in json.loads(text) for q in document["questions"]}
            elif kind == "hitab":
                known = {record["id"]: record["table_id"] for record in map(json.loads, text.splitlines())}
            elif kind == "hybridqa":
                known = {record["question_id"]: record["table_id"] for record in json.loads(text)}
            else:
                sys.exit(f"{kind}: it is not known which document a question is on")
            found |= {f"{kind}/{question}": document for question, document in known.items()}
    return found


def by_document(runs, dataset, measure, documents):
    """For each document the sum over its questions of the mean over the seeds."""
    sums = collections.Counter()
    for question in runs[0][dataset]:
        # Of filings with inline XBRL, whose questions are generated, the document stands in the id.
        document = documents.get(question) or question.rpartition("-")[0]
        sums[document] += statistics.mean(getattr(found[dataset][question], measure) for found in runs)
    return [sums[document] for document in sorted(sums)]


def lower(left, runs, documents):
    """Where a measure is lower than that of the ranker that is left by more than chance: (data set, measure, p)."""
    found = []
    for dataset in left[0]:
        for measure in Outcome._fields:
            before, after = (by_document(given, dataset, measure, documents) for given in (left, runs))
            p = p_value(before, after)
            if sum(after) < sum(before) and p < UNLIKELY:
                found.append((dataset, measure, p))
    return found


def page(args, rows, gone):
    datasets = list(rows[0][1][0])

    def mean(runs, dataset, measure):
        return statistics.mean(getattr(figures, measure) for found in runs for figures in found[dataset].values())

    def lost(dataset, measure, p):
        name = {"recall": "recall@10", "precision": "MRR" if dataset == REPORTS else "MAP"}[measure]
        return f"{dataset} {name} (p {shown_p(p)})"

    lines = [
        "# What the ranker needs",
        "",
        f"{'Some parts' if args.parts else 'One backward elimination'} with `{args.config}`, by `python tools/scripts/elimination.py`: seeds "
        f"{', '.join(map(str, args.seeds))}, {args.epochs} epochs, without the reranker. recall@10 / MAP on the dev parts, on whole "
        f"annual reports recall@10 / MRR of {len(rows[0][1][0][REPORTS])} questions (strict; training saw questions generated from the "
        "tags of the same reports).",
        "A row's features are switched off together. What is lower with p < .05 than in the ranker that its last part is taken from (paired "
        "randomisation test by document, on each data set and on all dev parts together; not corrected for the number of rows, so "
        "that rather too much stays than too little) stands in the last column; then that part stays. "
        f"Taken away one after the other: {', '.join(gone) or 'nothing'}. The dev parts were looked at once a row.",
        "",
        f"| | {' | '.join(datasets)} | lower |",
        "|---|" + "---:|" * len(datasets) + "---|",
    ]
    for name, runs, where in rows:
        figures = [f"{mean(runs, dataset, 'recall'):.3f} / {mean(runs, dataset, 'precision'):.3f}" for dataset in datasets]
        lines.append(f"| {name} | {' | '.join(figures)} | {'; '.join(lost(*found) for found in where)} |")
    return lines


if __name__ == "__main__":
    main()
