"""How rankers find what analysts ask of whole annual reports, with the glossary and without.

    python tools/scripts/reports.py --reports DIR --scorer FILE --work DIR --output docs/reports.md CHECKPOINT...

DIR of --reports holds the reports and questions.jsonl on them, which score_10k.py, --scorer, scores (strict: the cell itself,
with its headers). One CHECKPOINT a ranker: NAME=DIR, or several seeds' directories as NAME=DIR,DIR,DIR, whose mean is shown.
p: paired randomisation test of recall@10 with the glossary and without, signs change by report. TABSEGNET_PROGRAMS names a
directory of built programs; without it cargo builds them.
"""

import argparse
import collections
import json
import statistics
from pathlib import Path

from elimination import report_questions, score_reports
from experiments import p_value, shown_p, write

MEASURES = ["recall@1", "recall@5", "recall@10", "mrr"]
KINDS = ["overall", "lookup", "multi", "prose", "deep"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("reports", "scorer", "work", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("checkpoints", nargs="+")
    args = parser.parse_args()
    questions = report_questions(args.reports)
    rows = []
    for checkpoint in args.checkpoints:
        name, _, directories = checkpoint.partition("=")
        found = {glossary: [scored(args, directory, glossary) for directory in directories.split(",")]
                 for glossary in (False, True)}
        runs = {glossary: [scores for scores, _ in of] for glossary, of in found.items()}
        p = p_value(*(by_report(questions, runs[glossary]) for glossary in (False, True)))
        for glossary in (False, True):
            mean = lambda kind, measure: statistics.mean(run["measures"]["strict"][kind][measure] for run in runs[glossary])
            figures = [mean("overall", measure) for measure in MEASURES] + [mean(kind, "recall@10") for kind in KINDS[1:]]
            rows.append(f"| {name}{'' if glossary else ', questions as they are'} | " + " | ".join(f"{f:.3f}" for f in figures)
                        + f" | {shown_p(p) if glossary else ''} |")
    fewest, most = nodes_in(found[True][0][1])
    write(args.output, [
        "# Whole annual reports",
        "",
        f"`python tools/scripts/reports.py`: {len(questions)} questions as analysts ask them on {len({q['filing'] for q in questions})} "
        f"annual reports as filed ({fewest:,} to {most:,} nodes each), strict: the cell itself with its headers, or the sentence. The "
        "questions were looked at while the glossary and the generated questions were written, and trainings on filings saw "
        "questions generated from the tags of the same reports: these are figures of development. Of several seeds the mean.",
        "",
        "| | recall@1 | recall@5 | recall@10 | MRR | " + " | ".join(f"{kind} recall@10" for kind in KINDS[1:]) + " | p |",
        "|---|" + "---:|" * 9,
        *rows,
    ])


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
