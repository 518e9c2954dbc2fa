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
import subprocess
import sys
from pathlib import Path

from elimination import report_questions
from experiments import PROGRAMS, ROOT, p_value, shown_p, write

MEASURES = ["recall@1", "recall@5", "recall@10", "mrr"]
KINDS = ["overall", "lookup", "multi", "prose", "deep"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("reports", "scorer", "work", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("checkpoints", nargs="+")
    args = parser.parse_args()
    questions = report_questions(args.reports)
    lines = [
        "# Whole annual reports",
        "",
        f"`python tools/scripts/reports.py`: {len(questions)} questions as analysts ask them on {len({q['filing'] for q in questions})} "
        "annual reports as filed (3,000 to 20,000 nodes each), strict: the cell itself with its headers, or the sentence. The "
        "questions were looked at while the glossary and the generated questions were written, and trainings on filings saw "
        "questions generated from the tags of the same reports: these are figures of development. Of several seeds the mean.",
        "",
        "| | recall@1 | recall@5 | recall@10 | MRR | " + " | ".join(f"{kind} recall@10" for kind in KINDS[1:]) + " | p |",
        "|---|" + "---:|" * 9,
    ]
    for checkpoint in args.checkpoints:
        name, _, directories = checkpoint.partition("=")
        runs = {glossary: [scored(args, questions, directory, glossary) for directory in directories.split(",")]
                for glossary in (False, True)}
        p = p_value(*(by_report(questions, runs[glossary]) for glossary in (False, True)))
        for glossary in (False, True):
            mean = lambda kind, measure: statistics.mean(run["measures"]["strict"][kind][measure] for run in runs[glossary])
            figures = [mean("overall", measure) for measure in MEASURES] + [mean(kind, "recall@10") for kind in KINDS[1:]]
            lines.append(f"| {name}{'' if glossary else ', questions as they are'} | " + " | ".join(f"{f:.3f}" for f in figures)
                         + f" | {shown_p(p) if glossary else ''} |")
    write(args.output, lines)


def scored(args, questions, checkpoint, glossary):
    """What score_10k.py says of a checkpoint's rankings."""
    infer = [PROGRAMS / "infer"] if PROGRAMS else ["cargo", "run", "--release", "--quiet", "-p", "tabsegnet-infer", "--"]
    rankings = args.work / f"{checkpoint.strip('/').replace('/', '-')}-{'glossary' if glossary else 'plain'}"
    rankings.mkdir(parents=True, exist_ok=True)
    by_filing = collections.defaultdict(list)
    for question in questions:
        by_filing[question["filing"]].append(json.dumps({"id": question["id"], "question": question["question"]}))
    for filing, lines in by_filing.items():
        (document,) = args.reports.glob(f"{filing}-*.html")
        listed = rankings / f"{filing}.questions"
        listed.write_text("\n".join(lines) + "\n")
        subprocess.run([*infer, "--checkpoint", checkpoint, "--document", document, "--questions", listed, "--format", "jsonl",
                        "--top-k", "50", "--output", rankings / f"{filing}.jsonl", *([] if glossary else ["--no-glossary"])],
                       check=True, cwd=ROOT, stderr=subprocess.DEVNULL)
    # Beside the rankings: the scorer reads every file there.
    scores = rankings.with_name(f"{rankings.name}.json")
    subprocess.run([sys.executable, args.scorer, args.reports / "questions.jsonl", rankings, "--json", scores],
                   check=True, stdout=subprocess.DEVNULL)
    return json.loads(scores.read_text())


def by_report(questions, runs):
    """For each report the sum over its questions of the mean of recall@10 over the seeds."""
    sums = collections.Counter()
    for question in questions:
        sums[question["filing"]] += statistics.mean(run["questions"][question["id"]]["strict"]["recall@10"] for run in runs)
    return [sums[filing] for filing in sorted(sums)]


if __name__ == "__main__":
    main()
