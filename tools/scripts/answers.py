"""What the rules of `ask` answer, on FinQA's development part and on whole annual reports.

    python tools/scripts/answers.py --finqa DIR --reports DIR --work DIR [--fit --tatqa DIR] --output docs/answers.md

FinQA: rankings of all nodes by checkpoints/finqa, answers by rules (`--example answer_rankings`), execution accuracy as
FinQA's script counts: the value rounded to five places, or yes or no. Reports: `ask` itself, by checkpoints/general, on
questions.jsonl; right is a lookup or multi question whose answer states the expected number or all of whose pieces of evidence are among
the cited nodes. --fit first fits agent/src/weights.json on the training parts of FinQA and TAT-QA, and has to be followed by a
build. The figures replace those between the marks of --output. TABSEGNET_PROGRAMS names a directory of built programs (infer,
ask, examples/); without it target/release.
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
    for name in ("finqa", "reports", "work", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--tatqa", type=Path)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--part", default="dev")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    if args.fit:
        return fit(args)
    lines = finqa(args) + [""] + reports(args)
    print("\n".join(lines))
    if args.output.exists():
        before, rest = args.output.read_text().split(MARKS[0])
        after = rest.split(MARKS[1])[1]
        args.output.write_text(before + "\n".join([MARKS[0], *lines, MARKS[1]]) + after)


def rankings(args, kind, file, checkpoint):
    """The file of rankings; made where it is missing."""
    path = args.work / f"{kind}-{file.stem}.jsonl"
    if not path.exists():
        subprocess.run([PROGRAMS / "infer", "--checkpoint", checkpoint, "--dataset", kind, "--input", file, "--format", "jsonl",
                        "--top-k", "400", "--output", path], check=True)
    return path


def fit(args):
    train, tables = args.finqa / "train.json", args.tatqa / "train.json"
    parts = [f"finqa:{rankings(args, 'finqa', train, 'checkpoints/finqa')}:{train}",
             f"tatqa:{rankings(args, 'tatqa', tables, 'checkpoints/general')}:{tables}"]
    subprocess.run([PROGRAMS / "examples/fit_answers", "--output", "agent/src/weights.json", *parts], check=True)


def finqa(args):
    file = args.finqa / f"{args.part}.json"
    gold = {record["id"]: record["qa"]["exe_ans"] for record in json.loads(file.read_text()) if "exe_ans" in record["qa"]}
    path = rankings(args, "finqa", file, "checkpoints/finqa")
    found = subprocess.run([PROGRAMS / "examples/answer_rankings", path], check=True, capture_output=True, text=True)
    answers = [json.loads(line) for line in found.stdout.splitlines()]
    judged = [(answer["confidence"], not answer["abstained"], right(answer, gold[answer["id"]]))
              for answer in answers if answer["id"] in gold]
    judged.sort(key=lambda judgement: -judgement[0])
    given = [of for of in judged if of[1]]
    quarter = judged[:len(judged) // 4]
    share = lambda of: f"{sum(r for *_, r in of) / max(1, len(of)):.3f}"
    lines = [f"FinQA, {args.part} part ({len(gold)} questions with a published answer), from the nodes that checkpoints/finqa ranks:", "",
             "| | questions | right |", "|---|---:|---:|",
             f"| all (an abstention is wrong) | {len(gold)} | {sum(r for *_, r in judged) / len(gold):.3f} |",
             f"| answered | {len(given)} | {share(given)} |", f"| the most confident quarter | {len(quarter)} | {share(quarter)} |"]
    for low, high in ((.8, 1.01), (.6, .8), (.4, .6), (.2, .4), (0, .2)):
        of = [judgement for judgement in given if low <= judgement[0] < high]
        lines.append(f"| confidence {low} to {min(high, 1)} | {len(of)} | {share(of)} |")
    return lines


def right(answer, expected):
    value = answer.get("value")
    if answer["abstained"] or value is None:
        return False
    if isinstance(expected, str):
        return value == expected
    try:
        return round(float(value), 5) == round(float(expected), 5)
    except ValueError:
        return False


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
        found = subprocess.run([PROGRAMS / "ask", "--document", document, "--questions", put, "--format", "jsonl"], check=True,
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
    lines = [f"{len(filings)} annual reports, nodes that checkpoints/general ranks:", "",
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
