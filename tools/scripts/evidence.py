"""What the ranker of configs/finqa.toml owes to each of its parts, on FinQA's dev part in the paper's protocol (`finqa.py`
writes what it reaches in others, beside what else can be trained).

    python tools/scripts/evidence.py --data DIR --encoder DIR --work DIR --output docs/finqa-parts.md [--seeds 0 1 2] [--only NAME…]
        [--stable-seeds 0 … 9] [--datasets DIR]

DIR of --data holds FinQA's train.json and dev.json, that of --encoder all-MiniLM-L6-v2, that of --datasets the other data
sets as configs/pretraining.toml names them: with it come the rows of PRETRAINED, each seed with a pretraining of its own.
Every row is trained with every seed: those of ROWS and STABLE from random weights and without the reranker, PRETRAINED's
without and with it, SHIPPED's with it. A figure is that of the last epoch, the mean over the seeds with its standard deviation and each seed behind it. Beside a row stands the p-value of a paired randomisation test by document against the whole
ranker, of the questions' means over the seeds, corrected for the rows of its table (Holm); the whole ranker is tested against
each baseline in the same way. Runs that stand in
--work are taken as they are. The page is written anew after each row, and beside it report.html in --work, the same page with its curves drawn.
Last come the rows of STABLE and the first of SHIPPED with each of --stable-seeds. TABSEGNET_PROGRAMS names a directory of built programs;
without it cargo builds them.
"""

import statistics

from experiments import ROOT, ROUNDS, finqa_parser, program, settings, shown_p, trained, write
from measures import average_precision, finqa_page, gold, holm, of_questions, recall, recall_10, run, tested
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


def corrected(rows, whole, judged, measure):
    """The p-value of each row's difference from the whole ranker, corrected for their number."""
    base = of_questions(whole, judged, measure)
    return holm({name: tested(of_questions(runs, judged, measure), base, finqa_page) for name, runs in rows.items()})


def beyond_chance(rows, whole, judged):
    """Which rows differ from the first, and how, by more than chance."""
    lines = [f"Of these {len(rows)} rows that change one setting, those that differ from the first with p < {UNLIKELY}, corrected "
             "for their number; all others may be chance:"]
    for label, measure in (("recall@10", recall_10), ("MAP", average_precision)):
        base = statistics.mean(of_questions(whole, judged, measure).values())
        found = {"lower": [], "higher": []}
        for name, p in corrected(rows, whole, judged, measure).items():
            if p < UNLIKELY:
                mean = statistics.mean(of_questions(rows[name], judged, measure).values())
                found["lower" if mean < base else "higher"].append(name)
        lines += [f"- {label} {way}: {'; '.join(names) or 'none'}." for way, names in found.items()]
    return lines


def tested_rows(rows, whole, judged):
    """Lines of a table whose columns are recall@10 and MAP, each with its p against the whole ranker."""
    others = {name: runs for name, runs in rows.items() if runs is not whole}
    measures = recall_10, average_precision
    ps = [corrected(others, whole, judged, measure) if whole else {} for measure in measures]
    for name, runs in rows.items():
        row = [name]
        for measure, p in zip(measures, ps):
            row += [figure(runs, judged, measure), shown_p(p[name]) if name in p else ""]
        yield f"| {' | '.join(row)} |"


def page(args, judged, rows, methods, stable):
    whole = rows.get(ALL)
    seeds = ", ".join(map(str, args.seeds))
    lines = [
        "# FinQA: what each part of the ranker is worth",
        "",
        f"`configs/finqa.toml` on FinQA's dev part ({len(judged)} questions) in the paper's protocol, and with one addition off at a "
        "time; by `python tools/scripts/evidence.py`. What rankers reach in other protocols, beside what else can be trained: "
        "[finqa.md](finqa.md).",
        "Rows are without pretrained weights (`optimisation.start_from=`) and without the reranker (`reranker.candidates=0`) "
        f'but where a row names them; "{next(iter(SHIPPED))}{WITH_RERANKER}" is the config as it stands.',
        'In the rows "first trained on other data sets" each seed has a pretraining of its own, in those "on the project\'s '
        "pretrained weights\" all have the one that comes with the project: what a user's training begins with.",
        f"Mean ± deviation over seeds {seeds} (each seed), at the last epoch; p by a paired randomisation test by document "
        f"of {ROUNDS} rounds against the first row, corrected for the rows of a table (Holm).",
        "The features were chosen while looking at this dev part: on held-out questions expect somewhat less.",
        "",
        "| | recall@10 | p | MAP | p |",
        "|---|---:|---:|---:|---:|",
    ]
    lines += tested_rows(rows, whole, judged)
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
    lines += tested_rows(methods, whole, judged)
    lines += ["", "## Recall at k", "", f"| | {' | '.join(map(str, CUTOFFS))} |", "|---|" + "---:|" * len(CUTOFFS)]
    for name, runs in {**({ALL: whole} if whole else {}), **methods}.items():
        values = [statistics.mean(of_seeds(runs, judged, recall(k))) for k in CUTOFFS]
        lines.append(f"| {name} | {' | '.join(f'{value:.3f}' for value in values)} |")
    if whole:
        precision = of_questions(whole, judged, average_precision)
        worst = sorted(precision, key=lambda question: (precision[question], question))[:WORST]
        lines += ["", f"## The {WORST} worst questions", "", "| question | AP | ranks of its gold nodes (first seed) |", "|---|---:|---|"]
        lines += [f"| {q} | {precision[q]:.3f} | {', '.join(map(str, whole[0][q]))} |" for q in worst]
    return lines


if __name__ == "__main__":
    main()
