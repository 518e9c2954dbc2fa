"""How rankers find what analysts ask of whole annual reports, with the glossary and without, beside baselines.

    python tools/scripts/reports.py --reports DIR --scorer FILE --work DIR --output docs/reports.md [--encoder DIR] CHECKPOINT...

DIR of --reports holds the reports and questions.jsonl on them, which score_10k.py, --scorer, scores (strict: the cell itself,
with its headers). One CHECKPOINT a ranker: NAME=DIR, or several seeds' directories as NAME=DIR,DIR,DIR, whose mean is shown.
The baselines rank the same nodes for the same questions as they are read (peers/report_baselines.py); with --encoder, a
directory of all-MiniLM-L6-v2, by its vectors too, which needs PyTorch and transformers. p: paired randomisation tests of
recall@10, signs change by report. TABSEGNET_PROGRAMS names a directory of built programs; without it cargo builds them.
"""

import argparse
import collections
import json
import statistics
import subprocess
import sys
from pathlib import Path

from elimination import report_questions, score_reports
from experiments import p_value, shown_p, write

MEASURES = ["recall@1", "recall@5", "recall@10", "mrr"]
KINDS = ["overall", "lookup", "multi", "prose", "deep"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("reports", "scorer", "work", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--encoder", type=Path)
    parser.add_argument("checkpoints", nargs="+")
    args = parser.parse_args()
    questions = report_questions(args.reports)
    rows = []
    baselines = scored_baselines(args, args.checkpoints[0].partition("=")[2].split(",")[0])
    best = max(baselines, key=lambda name: baselines[name]["measures"]["strict"]["overall"]["recall@10"])
    for checkpoint in args.checkpoints:
        name, _, directories = checkpoint.partition("=")
        found = {glossary: [scored(args, directory, glossary) for directory in directories.split(",")]
                 for glossary in (False, True)}
        runs = {glossary: [scores for scores, _ in of] for glossary, of in found.items()}
        p = p_value(*(by_report(questions, runs[glossary]) for glossary in (False, True)))
        above = p_value(by_report(questions, [baselines[best]]), by_report(questions, runs[True]))
        rows.append(row(f"{name}, questions as they are", runs[False], ["", ""]))
        rows.append(row(name, runs[True], [shown_p(p), shown_p(above)]))
    rows += [row(name, [scores], ["", ""]) for name, scores in baselines.items()]
    fewest, most = nodes_in(found[True][0][1])
    write(args.output, [
        "# Whole annual reports",
        "",
        f"`python tools/scripts/reports.py`: {len(questions)} questions as analysts ask them on {len({q['filing'] for q in questions})} "
        f"annual reports as filed ({fewest:,} to {most:,} nodes each), strict: the cell itself with its headers, or the sentence. The "
        "questions were looked at while the glossary and the generated questions were written, and trainings on filings saw "
        "questions generated from the tags of the same reports: these are figures of development. Of several seeds the mean.",
        "",
        "Rankings have each fact once ([usage.md](usage.md)). `general` and `reports-minilm` have also learnt from questions in other "
        "words, to other reports than these ([data/filings](../data/filings/README.md)). [The worst](reports-worst.md) are of before. "
        "What other questions show, written without a look at any ranking: [experiments.md](experiments.md).",
        "",
        f"Baselines rank the same nodes, each with its headers, for the questions as they are read. p: against the questions as "
        f"they are, and against {best}, the best baseline.",
        "",
        "| | recall@1 | recall@5 | recall@10 | MRR | " + " | ".join(f"{kind} recall@10" for kind in KINDS[1:])
        + f" | p, glossary | p, {best} |",
        "|---|" + "---:|" * 10,
        *rows,
    ])


def row(name, runs, p):
    """A line of the table: means over the runs."""
    mean = lambda kind, measure: statistics.mean(run["measures"]["strict"][kind][measure] for run in runs)
    figures = [mean("overall", measure) for measure in MEASURES] + [mean(kind, "recall@10") for kind in KINDS[1:]]
    return f"| {name} | " + " | ".join(f"{figure:.3f}" for figure in figures) + f" | {p[0]} | {p[1]} |"


def scored_baselines(args, checkpoint):
    """What the scorer says of each baseline; the nodes come from a ranking of all by the checkpoint."""
    nodes, rankings = args.work / "all-nodes", args.work / "baselines"
    score_reports(args, checkpoint, nodes, args.work / "all-nodes.json", nodes=1_000_000)
    script = Path(__file__).parent / "peers/report_baselines.py"
    encoder = ["--encoder", args.encoder] if args.encoder else []
    subprocess.run([sys.executable, script, "--nodes", nodes, "--output", rankings, *encoder], check=True)
    found = {}
    for directory in sorted(rankings.iterdir()):
        if directory.is_dir():
            scores = rankings / f"{directory.name}.json"
            subprocess.run([sys.executable, args.scorer, args.reports / "questions.jsonl", directory, "--json", scores],
                           check=True, stdout=subprocess.DEVNULL)
            found[directory.name] = json.loads(scores.read_text())
    return found


def scored(args, checkpoint, glossary):
    """What score_10k.py says of a checkpoint's rankings, and the directory of these."""
    rankings = args.work / f"{checkpoint.strip('/').replace('/', '-')}-{'glossary' if glossary else 'plain'}"
    # Beside the rankings: the scorer reads every file there.
    scores = rankings.with_name(f"{rankings.name}.json")
    score_reports(args, checkpoint, rankings, scores, *([] if glossary else ["--no-glossary"]))
    return json.loads(scores.read_text()), rankings


def nodes_in(rankings):
    """Fewest and most nodes of a report."""
    nodes = [json.loads(line)["nodes_in_document"] for file in rankings.glob("*.jsonl") for line in file.open()]
    return min(nodes), max(nodes)


def by_report(questions, runs):
    """For each report the sum over its questions of the mean of recall@10 over the seeds."""
    sums = collections.Counter()
    for question in questions:
        sums[question["filing"]] += statistics.mean(run["questions"][question["id"]]["strict"]["recall@10"] for run in runs)
    return [sums[filing] for filing in sorted(sums)]


if __name__ == "__main__":
    main()
