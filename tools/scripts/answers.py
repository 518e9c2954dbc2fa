"""What `ask` answers: the data sets' development parts, and whole annual reports.

    python tools/scripts/answers.py --data DIR --reports DIR --work DIR --output docs/answers.md [--speed]

Data sets: `evaluate --config configs/answers.toml --checkpoint checkpoints/answers` with DIR as data.root. Reports: `ask` itself on
questions.jsonl; right is a question all of whose pieces of evidence are among the cited nodes, or a lookup or multi question whose
answer states the expected number. Speed: the examples answer_speed and walk_rounds of the crate tabsegnet-agent. The figures replace
those between the marks of --output. TABSEGNET_PROGRAMS names a directory of built programs, with examples/ below it; without it
target/release.
"""

import argparse
import collections
import json
import os
import re
import subprocess
from pathlib import Path

PROGRAMS = Path(os.environ.get("TABSEGNET_PROGRAMS", "target/release"))
MARKS = ("<!-- figures -->", "<!-- end of figures -->")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("data", "reports", "work", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--checkpoint", default="checkpoints/answers")
    parser.add_argument("--speed", action="store_true", help="also what a question costs; for a machine that does nothing else")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    lines = [*data_sets(args), "", *reports(args)]
    if args.speed:
        lines += ["", *speed()]
    print("\n".join(lines))
    if args.output.exists():
        before, rest = args.output.read_text().split(MARKS[0])
        after = rest.split(MARKS[1])[1]
        args.output.write_text(before + "\n".join([MARKS[0], *lines, MARKS[1]]) + after)


def data_sets(args):
    subprocess.run([PROGRAMS / "evaluate", "--config", "configs/answers.toml", "--checkpoint", args.checkpoint, "--set",
                    f"data.root={args.data}", "--output", args.work / "report"], check=True, stdout=subprocess.DEVNULL)
    return (args.work / "report/answers.md").read_text().replace("## ", "### ").splitlines()


def speed():
    """What a question costs on an open document, and what an agent adds to a model's own time."""
    lines = ["### speed", "", f"On {os.cpu_count()} cores.", ""]
    for example in ("answer_speed", "walk_rounds"):
        printed = subprocess.run([PROGRAMS / "examples" / example], check=True, stdout=subprocess.PIPE, text=True).stdout
        lines += [f"    {line}" for line in printed.splitlines()]
    return lines


def reports(args):
    questions = [json.loads(line) for line in (args.reports / "questions.jsonl").open()]
    filings = collections.defaultdict(list)
    for question in questions:
        filings[question["filing"]].append(question)
    counts = collections.defaultdict(collections.Counter)
    for filing, of in sorted(filings.items()):
        put = args.work / f"{filing}.questions"
        put.write_text("".join(json.dumps({"id": q["id"], "question": q["question"]}) + "\n" for q in of))
        document = next(args.reports.glob(f"{filing}-*"))
        found = subprocess.run([PROGRAMS / "ask", "--answers", args.checkpoint, "--document", document, "--questions", put, "--format", "jsonl"], check=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for question, line in zip(of, found.stdout.splitlines()):
            answer = json.loads(line)
            is_right = cited(question, answer) or stated(question, answer)
            for kind in (question["kind"], "lookup and multi" if question["kind"] in ("lookup", "multi") else "prose and deep"):
                count = counts[kind]
                count["all"] += 1
                count["given"] += not answer["abstained"]
                count["right"] += is_right
                count["wrong, sure"] += not answer["abstained"] and not is_right and answer["confidence"] >= .8
    lines = ["### whole annual reports", "", f"{len(questions)} questions on {len(filings)} reports.", "",
             "| questions | | answered | right | wrong with confidence ≥ .8 |", "|---|---:|---:|---:|---:|"]
    for kind in ("lookup", "multi", "prose", "deep", "lookup and multi"):
        count = counts[kind]
        lines.append(f"| {kind} | {count['all']} | {count['given']} | {count['right'] / count['all']:.3f} | "
                     f"{count['wrong, sure'] / count['all']:.3f} |")
    return lines


def flat(text):
    return re.sub(r"[\s$€£%(),\u200b]", "", str(text)).replace("’", "'").lower().lstrip("-−")


def cited(question, answer):
    """Whether each piece of evidence, or an alternative to it, is among the cited nodes."""
    def fits(item, node):
        rows, columns = (node.get("row_headers") or "").lower(), (node.get("column_headers") or "").lower()
        if item["sentence_contains"]:
            return flat(item["sentence_contains"]) in flat(node["text"])
        named = lambda wanted, headers: not wanted or any(word.lower() in headers for word in wanted)
        values = [flat(value) for value in item["values"]]
        return flat(node["text"]) in values and named(item["row_contains"], rows) and named(item["column_contains"], columns)
    found = lambda item: any(fits(form, node) for form in [item, *item.get("alternatives", [])] for node in answer["citations"])
    return bool(answer["citations"]) and all(map(found, question["evidence"]))


def stated(question, answer):
    """Whether the answer states the number that the expected answer begins with; of a multi question, by its value."""
    expected = re.search(r"\d[\d,]*\.?\d*", question["answer"])
    if answer["abstained"] or not expected or question["kind"] not in ("lookup", "multi", "deep"):
        return False
    wanted = expected.group().replace(",", "").rstrip(".")
    places = len(wanted.partition(".")[2])
    numbers = [float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*\.?\d*", answer["answer"]) if n.strip(",")]
    return any(round(number, places) == float(wanted) for number in numbers)


if __name__ == "__main__":
    main()
