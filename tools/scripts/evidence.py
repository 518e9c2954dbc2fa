"""What the ranker of configs/finqa.toml owes to each of its parts, on FinQA's dev part.

    python tools/scripts/evidence.py --data DIR --encoder DIR --work DIR --output docs/finqa.md [--seeds 0 1 2] [--only NAME…]
        [--stable-seeds 0 … 9] [--datasets DIR]

DIR of --data holds FinQA's train.json and dev.json, that of --encoder all-MiniLM-L6-v2, that of --datasets the other data
sets as configs/pretraining.toml names them: with it come the rows of PRETRAINED, each seed with a pretraining of its own.
Every row is trained with every seed: those of ROWS and STABLE from random weights and without the reranker, PRETRAINED's
without and with it, SHIPPED's with it. A figure is that of the last epoch, the mean over the seeds with its standard deviation and each seed behind it. Beside a row stands the p-value of a paired randomisation test against the whole
ranker, by the questions' means over the seeds; the whole ranker is tested against each baseline in the same way. Runs that stand in
--work are taken as they are. The page is written anew after each row, and beside it report.html in --work, the same page with its curves drawn.
Last come the rows of STABLE and the first of SHIPPED with each of --stable-seeds. TABSEGNET_PROGRAMS names a directory of built programs;
without it cargo builds them.
"""

import collections
import statistics

from experiments import ROOT, ROUNDS, finqa_parser, p_value, program, settings, shown_p, trained, write
from web_page import plot, web_page

CUTOFFS = [1, 2, 3, 5, 10, 20, 50]
WORST = 20
UNLIKELY = .05
ALL = "all"
ROWS = {
    ALL: [],
    "all, static encoder": ["encoder.kind=static", "encoder.model="],
    "no segments": ["segmenter.kind=none", "features.segments=false"],
    "segments of the gold nodes (a perfect segmenter)": ["segmenter.kind=given"],
    "no table scorer (features.table_relevance)": ["features.table_relevance=false"],
    "no fit of tables to text (features.tables)": ["features.tables=false"],
    "neither table scorer nor fit of tables": ["features.table_relevance=false", "features.tables=false"],
    "no stems, runs and years of headers (features.phrases)": ["features.phrases=false"],
    "nothing of a node's context (features.context)": ["features.context=false"],
    "no marks of sentences and cells (features.marks)": ["features.marks=false"],
    "no kinds of question (features.question_kind)": ["features.question_kind=false"],
    "no span of years (features.spans)": ["features.spans=false"],
    "no graph at all": ["model.edge_types=none"],
    "no edge types": ["model.edge_types=single"],
    "one layer": ["model.layers=1"],
    "edge strengths as in the paper": ["model.strength=paper"],
    "hinge loss": ["optimisation.loss=hinge"],
    "no dropout, no weight decay": ["optimisation.dropout=0", "optimisation.weight_decay=0"],
    "no similar words": ["features.similar_words=false"],
    "no shared words": ["features.words=false"],
    "no cosines": ["features.cosine=false"],
    "nothing relative to the best": ["features.relative=false"],
    "no BM25": ["features.bm25=false"],
    "no places": ["features.places=false"],
    "pages as they are, without text repair": ["data.text_repair=false"],
    "10 % of the questions": ["data.limit=113"],
    "25 % of the questions": ["data.limit=284"],
    "50 % of the questions": ["data.limit=568"],
}
# Settings of the training and of its pretraining.
PRETRAINED = {
    "all, first trained on other data sets": [],
    "all, first trained on other data sets, static encoder": ROWS["all, static encoder"],
    "no graph at all, first trained on other data sets": ROWS["no graph at all"],
}
# Every seed from one pretraining, that which comes with the project: configs/finqa.toml as it stands, and over the static encoder.
SHIPPED = {
    "all, on the project's pretrained weights": ["optimisation.start_from=checkpoints/pretrained-minilm"],
    "all, on the project's pretrained weights, static encoder":
        [*ROWS["all, static encoder"], "optimisation.start_from=checkpoints/pretrained"],
}
WITH_RERANKER = ", reranker"
NO_RERANKER = "reranker.candidates=0"
LEARNING = {"10": "10 % of the questions", "25": "25 % of the questions", "50": "50 % of the questions", "100": ALL}
# Features that leave something to the graph: words shared, cosines, BM25, places.
PLAIN = [f"features.{group}=false" for group in
         ["similar_words", "tables", "phrases", "context", "marks", "question_kind", "table_relevance", "segments", "spans"]]
STABLE = {
    ALL: [],
    "words, cosines, BM25 and places alone, two layers, strength 1 + tanh": PLAIN,
    "the same, edge strengths as in the paper": [*PLAIN, "model.strength=paper"],
    "the same, no graph at all": [*PLAIN, "model.edge_types=none"],
}


def main():
    parser = finqa_parser(__doc__)
    parser.add_argument("--only", nargs="+", choices=ROWS, default=list(ROWS))
    parser.add_argument("--datasets")
    parser.add_argument("--stable-seeds", type=int, nargs="*", default=list(range(10)))
    args = parser.parse_args()
    common = ["--config", str(ROOT / "configs/finqa.toml")]
    # Rows start from random weights unless they say otherwise.
    common += settings(f"data.root={args.data}", f"encoder.model={args.encoder}", "optimisation.start_from=")

    baselines = args.work / "baselines"
    if not (baselines / "report.json").is_file():
        program("evaluate", *common, "--baselines", "--output", str(baselines), quiet=True)
    judged = gold(baselines / "qrels.trec")
    methods = {path.stem: [run(path, judged)] for path in sorted((baselines / "runs").glob("*.trec"))}

    def measured(directory, changed, seed):
        measuring = ["evaluation.after_training=true", 'evaluation.baselines=["bm25"]']
        trained(directory, *common, *settings(*changed, f"task.seed={seed}", *measuring), quiet=True)
        return run(directory / "report/runs/tabsegnet-best.trec", judged)

    def started_elsewhere(number, changed, seed, kind="pretrained"):
        before = args.work / f"pretraining-{number}-{seed}"
        same = [setting for setting in changed if setting.startswith(("encoder.", "model."))]
        chosen = [f"data.root={args.datasets}", f"encoder.model={args.encoder}", *same, f"task.seed={seed}"]
        trained(before, "--config", str(ROOT / "configs/pretraining.toml"), *settings(*chosen), quiet=True)
        return measured(args.work / f"{kind}-{number}-{seed}", [*changed, f"optimisation.start_from={before / 'best'}"], seed)

    rows, stable = {}, {}

    def publish():
        lines = page(args, judged, rows, methods, stable)
        write(args.output, lines)
        write(args.work / "report.html", [web_page(lines, plots(rows, methods, judged))])

    def show(name, runs):
        rows[name] = runs
        publish()
        print(name, figure(runs, judged, recall_10), figure(runs, judged, average_precision), flush=True)

    for name in args.only:
        changed = [*ROWS[name], NO_RERANKER]
        show(name, [measured(args.work / f"{list(ROWS).index(name)}-{seed}", changed, seed) for seed in args.seeds])
    for number, (name, changed) in enumerate(PRETRAINED.items() if args.datasets else []):
        show(name, [started_elsewhere(number, [*changed, NO_RERANKER], seed) for seed in args.seeds])
    show(f"{ALL}{WITH_RERANKER}", [measured(args.work / f"reranker-{seed}", [], seed) for seed in args.seeds])
    for number, (name, changed) in enumerate(PRETRAINED.items() if args.datasets else []):
        show(f"{name}{WITH_RERANKER}", [started_elsewhere(number, changed, seed, "reranker-pretrained") for seed in args.seeds])
    for number, (name, changed) in enumerate(SHIPPED.items()):
        show(f"{name}{WITH_RERANKER}", [measured(args.work / f"shipped-{number}-{seed}", changed, seed) for seed in args.seeds])
    # The seeds of the tables above are not trained twice.
    known = {name: ("0" if name == ALL else f"stable-{number}", [*changed, NO_RERANKER])
             for number, (name, changed) in enumerate(STABLE.items())}
    known[f"{ALL}{WITH_RERANKER}"] = "reranker", []
    shipped = next(iter(SHIPPED))
    known[f"{shipped}{WITH_RERANKER}"] = "shipped-0", SHIPPED[shipped]
    for name, (directory, changed) in known.items() if args.stable_seeds else ():
        stable[name] = [measured(args.work / f"{directory}-{seed}", changed, seed) for seed in args.stable_seeds]
        publish()
        print(name, spread(stable[name], judged, average_precision), flush=True)


def gold(path):
    judged = collections.defaultdict(set)
    for line in path.read_text().splitlines():
        question, _, node, _ = line.split()
        judged[question].add(node)
    return dict(judged)


def run(path, judged):
    """For each question the ranks, from 1, of its gold nodes, rising."""
    ranks = {question: [] for question in judged}
    for line in path.read_text().splitlines():
        question, _, node, rank, _, _ = line.split()
        if node in judged[question]:
            ranks[question].append(int(rank))
    return {question: sorted(found) for question, found in ranks.items()}


def recall(cutoff):
    return lambda ranks, count: sum(rank <= cutoff for rank in ranks) / count


recall_10 = recall(10)


def average_precision(ranks, count):
    return sum(found / rank for found, rank in enumerate(ranks, 1)) / count


def of_questions(runs, judged, measure):
    """For each question the mean over the seeds."""
    return [statistics.mean(measure(run[q], len(judged[q])) for run in runs) for q in sorted(judged)]


def of_seeds(runs, judged, measure):
    return [statistics.mean(measure(run[q], len(judged[q])) for q in judged) for run in runs]


def figure(runs, judged, measure):
    values = of_seeds(runs, judged, measure)
    if len(values) == 1:
        return f"{values[0]:.3f}"
    return f"{statistics.mean(values):.3f} ± {statistics.stdev(values):.3f} ({', '.join(f'{v:.3f}' for v in values)})"


def spread(runs, judged, measure):
    values = of_seeds(runs, judged, measure)
    deviation = f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.3f}{deviation}", f"{min(values):.3f} to {max(values):.3f}"


def plots(rows, methods, judged):
    """The curves, by the headings that they stand under."""
    whole = rows.get(ALL)
    shown = {name: runs for name, runs in {ALL: whole, **methods}.items() if runs and name in (ALL, "bm25+dense", "dense", "bm25")}
    curves = {name: [statistics.mean(of_seeds(runs, judged, recall(k))) for k in CUTOFFS] for name, runs in shown.items()}
    found = {"Recall at k": plot(curves, CUTOFFS, "k", "recall@k")}
    learnt = {share: rows[name] for share, name in LEARNING.items() if name in rows}
    if len(learnt) > 1:
        measures = {"recall@10": recall_10, "MAP": average_precision}
        lines = {name: [statistics.mean(of_seeds(runs, judged, measure)) for runs in learnt.values()]
                 for name, measure in measures.items()}
        found["What more questions bring"] = plot(lines, list(learnt), "% of the training questions", "learning curve")
    return found


def tested(runs, others, judged, measure):
    return shown_p(p_value(of_questions(runs, judged, measure), of_questions(others, judged, measure)))


def beyond_chance(rows, whole, judged):
    """Which rows differ from the first, and how, by more than chance alone would make one row in twenty differ."""
    lines = [f"Of these {len(rows)} rows that change one setting, those that differ from the first with p < {UNLIKELY} (not corrected "
             "for so many tests); all others may be chance:"]
    for label, measure in (("recall@10", recall_10), ("MAP", average_precision)):
        base = of_questions(whole, judged, measure)
        found = {"lower": [], "higher": []}
        for name, runs in rows.items():
            values = of_questions(runs, judged, measure)
            if p_value(values, base) < UNLIKELY:
                found["lower" if statistics.mean(values) < statistics.mean(base) else "higher"].append(name)
        lines += [f"- {label} {way}: {'; '.join(names) or 'none'}." for way, names in found.items()]
    return lines


def page(args, judged, rows, methods, stable):
    whole = rows.get(ALL)
    seeds = ", ".join(map(str, args.seeds))
    lines = [
        "# FinQA: the ranker of configs/finqa.toml",
        "",
        f"`configs/finqa.toml` on FinQA's dev part ({len(judged)} questions), and with one addition off at a time; by "
        "`python tools/scripts/evidence.py`.",
        "Rows are without pretrained weights (`optimisation.start_from=`) and without the reranker (`reranker.candidates=0`) "
        f'but where a row names them; "{next(iter(SHIPPED))}{WITH_RERANKER}" is the config as it stands.',
        'In the rows "first trained on other data sets" each seed has a pretraining of its own, in those "on the project\'s '
        "pretrained weights\" all have the one that comes with the project: what a user's training begins with.",
        f"Mean ± deviation over seeds {seeds} (each seed), at the last epoch; p by a paired randomisation test "
        f"of {ROUNDS} rounds against the first row.",
        "The features were chosen while looking at this dev part: on held-out questions expect somewhat less.",
        "",
        "| | recall@10 | p | MAP | p |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, runs in rows.items():
        row = [name]
        for measure in (recall_10, average_precision):
            row += [figure(runs, judged, measure)]
            row += ["" if name == ALL or not whole else tested(runs, whole, judged, measure)]
        lines.append(f"| {' | '.join(row)} |")
    changed = {name: rows[name] for name in ROWS if name in rows and name not in LEARNING.values()}
    if whole and changed:
        lines += ["", *beyond_chance(changed, whole, judged)]
    learnt = {share: rows[name] for share, name in LEARNING.items() if name in rows}
    if len(learnt) > 1:
        lines += ["", "## What more questions bring", "", "| % of the training questions | recall@10 | MAP |", "|---|---:|---:|"]
        lines += [f"| {share} | {figure(runs, judged, recall_10)} | {figure(runs, judged, average_precision)} |"
                  for share, runs in learnt.items()]
    if stable:
        lines += ["", "## Many seeds", "", f"Seeds {', '.join(map(str, args.stable_seeds))}.", "",
                  "| | recall@10 | least to greatest | MAP | least to greatest |", "|---|---:|---:|---:|---:|"]
        lines += [f"| {' | '.join([name, *spread(runs, judged, recall_10), *spread(runs, judged, average_precision)])} |"
                  for name, runs in stable.items()]
    lines += ["", "## Baselines", "", "| | recall@10 | p | MAP | p |", "|---|---:|---:|---:|---:|"]
    for name, runs in methods.items():
        row = [name]
        for measure in (recall_10, average_precision):
            row += [figure(runs, judged, measure), tested(runs, whole, judged, measure) if whole else ""]
        lines.append(f"| {' | '.join(row)} |")
    lines += ["", "## Recall at k", "", f"| | {' | '.join(map(str, CUTOFFS))} |", "|---|" + "---:|" * len(CUTOFFS)]
    for name, runs in {**({ALL: whole} if whole else {}), **methods}.items():
        values = [statistics.mean(of_seeds(runs, judged, recall(k))) for k in CUTOFFS]
        lines.append(f"| {name} | {' | '.join(f'{value:.3f}' for value in values)} |")
    if whole:
        precision = dict(zip(sorted(judged), of_questions(whole, judged, average_precision)))
        worst = sorted(precision, key=lambda question: (precision[question], question))[:WORST]
        lines += ["", f"## The {WORST} worst questions", "", "| question | AP | ranks of its gold nodes (first seed) |", "|---|---:|---|"]
        lines += [f"| {q} | {precision[q]:.3f} | {', '.join(map(str, whole[0][q]))} |" for q in worst]
    return lines


if __name__ == "__main__":
    main()
