"""What rankers and baselines, trained ones too, reach on FinQA's dev part in three protocols.

    python tools/scripts/finqa.py --data DIR --encoder DIR --work DIR --output docs/finqa.md [--seeds 0 1 2]
        [--peer PYTHON [--fine-tuned KIND…]] [--protocols NAME…]

DIR of --data holds FinQA's train.json and dev.json, that of --encoder all-MiniLM-L6-v2. The checkpoints that come with the
project are measured as they are; RANKERS, over the static encoder, are trained with each of --seeds. --peer names a Python
with what `tools/scripts/peers/requirements.txt` lists for it: with it come the rows of a MiniLM trained on the questions
(`peers/minilm_finetuned.py`), with each of --seeds too. Trainings and measurements that stand in --work are taken as they are:
give another --work where the programs or the data are others. TABSEGNET_PROGRAMS names a directory of built programs; without
it cargo builds them.
"""

import json
import statistics
import subprocess
import tomllib

from experiments import ROOT, ROUNDS, evaluated, finqa_parser, program, settings, shown_p, trained, write
from measures import MAIN, RESAMPLES, beside, finqa_page, gold, interval, of_questions, run, tested

# What is set in each, and what it is.
PROTOCOLS = {
    "random": ([], "three foreign tables a page, each alone at a random place: the paper's protocol"),
    "with lead-in": (["data.distractor_placement=with_lead_in"],
                     "the same three tables, each behind the sentence that announces it on its own page; those sentences are never gold"),
    "none": (["data.distractors=0"], "the page as it is, with its own table"),
}
STATIC = ["encoder.kind=static", "encoder.model="]
SHIPPED = {"checkpoints/finqa": STATIC, "checkpoints/finqa-minilm": [], "checkpoints/general": STATIC}
# Trained as checkpoints/finqa was, but for the foreign tables.
RANKERS = {
    "as `checkpoints/finqa`, trained with lead-ins": "with lead-in",
    "as `checkpoints/finqa`, trained without foreign tables": "none",
}
UNTRAINED = ["bm25", "tf-idf", "dense", "maxsim", "rrf"]
# Learn from the training part.
LEARNT = {"bm25+dense": "BM25 + dense, weight tuned", "trees": "boosted trees, no network"}
FINE_TUNED = {"dense": "MiniLM fine-tuned, dense", "maxsim": "MiniLM fine-tuned, MaxSim"}
REFERENCE = "`checkpoints/finqa`"


def main():
    parser = finqa_parser(__doc__)
    parser.add_argument("--peer")
    parser.add_argument("--fine-tuned", nargs="+", choices=FINE_TUNED, default=list(FINE_TUNED), help="half an hour each on a core")
    parser.add_argument("--protocols", nargs="+", choices=PROTOCOLS, default=list(PROTOCOLS))
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    args.work = args.work.resolve()
    config = ["--config", str(ROOT / "configs/finqa.toml")]
    config += settings(f"data.root={args.data}", f"encoder.model={args.encoder}")

    rankers = {}
    for number, (name, protocol) in enumerate(RANKERS.items()):
        chosen = [*STATIC, "optimisation.start_from=checkpoints/pretrained", *PROTOCOLS[protocol][0]]
        rankers[name] = [args.work / f"ranker-{number}-{seed}" for seed in args.seeds]
        for directory, seed in zip(rankers[name], args.seeds):
            trained(directory, *config, *settings(*chosen, f"task.seed={seed}"), quiet=True)

    found, judged = {}, {}
    for protocol in args.protocols:
        found[protocol], judged[protocol] = measured(args, [*config, *settings(*PROTOCOLS[protocol][0])], protocol, rankers)
    learnt = None
    if args.peer:
        encoders, learnt = fine_tuned(args, config)
        for protocol in args.protocols:
            found[protocol] |= measured_encoders(args, [*config, *settings(*PROTOCOLS[protocol][0])], protocol, encoders, judged[protocol])
    write(args.output, page(args, found, judged, learnt))
    print(args.output)


def place(args, protocol):
    return args.work / protocol.replace(" ", "-")


def measured(args, config, protocol, rankers):
    """For each method its runs in one protocol, and the gold nodes there."""
    given = {f"`{name}`": [(ROOT / name, encoder)] for name, encoder in SHIPPED.items()}
    given |= {name: [(directory / "best", STATIC) for directory in directories] for name, directories in rankers.items()}
    # What is measured at once: checkpoints of one encoder and the same features, with the baselines over that encoder.
    baselines = {"static": {"trees": f"{LEARNT['trees']}, static features"},
                 "minilm": {**{name: name for name in UNTRAINED}, **LEARNT, "trees": f"{LEARNT['trees']}, MiniLM features"}}
    groups = {"static": (STATIC, []), "minilm": ([], [])}
    for name, all_seeds in given.items():
        for directory, encoder in all_seeds:
            own = own_features(directory, config)
            group = "-".join(["static" if encoder == STATIC else "minilm", *(setting.removeprefix("features.") for setting in own)])
            groups.setdefault(group, ([*encoder, *own], []))[1].append((name, directory))
    found, judged = {name: [] for name in given}, None
    for group, (chosen, checkpoints) in groups.items():
        output, beside_them = place(args, protocol) / group, baselines.get(group, {})
        named = f"evaluation.baselines={json.dumps(list(beside_them))}"
        evaluated(output, [directory for _, directory in checkpoints], *config, *settings(*chosen, named))
        # Features change neither pages nor gold nodes: questions pair up.
        judged = judged or gold(output / "qrels.trec")
        if gold(output / "qrels.trec") != judged:
            raise SystemExit(f"{output}: other questions or gold nodes than in {place(args, protocol)}/static")
        methods = json.loads((output / "report.json").read_text())["methods"]
        # Checkpoints come first, in their order.
        names = [name for name, _ in checkpoints] + list(beside_them.values())
        for name, method in zip(names, methods, strict=True):
            found.setdefault(name, []).append(run(output / "runs" / f"{method['name']}.trec", judged))
    return found, judged


def own_features(checkpoint, config):
    """The settings of the features that a checkpoint has learnt from and `config` has not, or the other way round."""
    common = tomllib.loads(program("train", *config, "--print-config", quiet=True))["features"]
    own = tomllib.loads((checkpoint / "config.toml").read_text())["features"]
    # A feature that came after the checkpoint is none of its own.
    own = {name: own.get(name, False) for name in common}
    return [f"features.{name}={json.dumps(own[name])}" for name in common if own[name] != common[name]]


def fine_tuned(args, config):
    """For each way of comparing the encoders that a MiniLM became, one a seed, and what a training says of itself. Learnt in the
    paper's protocol."""
    output = args.work / "minilm-finetuned"
    encoders = {kind: [output / f"{kind}-{seed}" for seed in args.seeds] for kind in args.fine_tuned}
    if not all(directory.is_dir() for directories in encoders.values() for directory in directories):
        cache = place(args, "random") / "cache"
        program("train", *config, *settings(f"output.cache={cache}"), "--prepare", quiet=True)
        # Which questions are measured; the same in all protocols.
        qrels = place(args, args.protocols[0]) / "minilm/qrels.trec"
        subprocess.run([args.peer, ROOT / "tools/scripts/peers/minilm_finetuned.py", "--encoder", args.encoder, "--learn", cache,
                        "--without", qrels, "--output", output, "--kinds", *args.fine_tuned, "--seeds", *map(str, args.seeds)],
                       check=True, cwd=ROOT)
    return encoders, json.loads((next(iter(encoders.values()))[0] / "learnt.json").read_text())


def measured_encoders(args, config, protocol, encoders, judged):
    """For each way of comparing its runs in one protocol, which the baseline of its name ranks over each encoder."""
    found = {}
    for kind, directories in encoders.items():
        for directory in directories:
            output = place(args, protocol) / directory.name
            evaluated(output, [], *config, *settings(f"encoder.model={directory}", f"evaluation.baselines={json.dumps([kind])}"))
            found.setdefault(FINE_TUNED[kind], []).append(run(output / f"runs/{kind}.trec", judged))
    return found


def page(args, found, judged, learnt):
    values = {protocol: {name: {measure: of_questions(runs, judged[protocol], of) for measure, of in MAIN.items()}
                         for name, runs in methods.items()} for protocol, methods in found.items()}
    names = list(next(iter(found.values())))

    def mean(protocol, name, measure):
        return statistics.mean(values[protocol][name][measure].values())

    def both(protocol, name):
        return " / ".join(f"{mean(protocol, name, measure):.3f}" for measure in MAIN)

    questions = next(iter(judged.values()))
    documents = {finqa_page(question) for question in questions}
    seeds = f"seed{'s' * (len(args.seeds) > 1)} {', '.join(map(str, args.seeds))}"
    lines = [
        "# FinQA in three protocols",
        "",
        f"Dev part, {len(questions)} questions on {len(documents)} pages, recall@10 / MAP; by `python tools/scripts/finqa.py`.",
        "A foreign table stands at a random place, while a page's own table follows the sentence that announces it, which a ranker "
        "can learn to look for. So all figures are told in three protocols:",
        "",
        *(f"- **{protocol}**: {about}{'' if protocol in found else '; not measured yet'}." for protocol, (_, about) in PROTOCOLS.items()),
        "",
        f"| | {' | '.join(found)} |",
        "|---|" + "---:|" * len(found),
        *(f"| {name} | {' | '.join(both(protocol, name) for protocol in found)} |" for name in names),
        "",
        "The checkpoints come with the project, one seed each; `finqa` and `finqa-minilm` were trained in the paper's protocol, "
        f"`general` on it and other data sets. What was trained for this page is the mean of {seeds}.",
        "Untrained baselines and BM25 + dense are over all-MiniLM-L6-v2; `finqa`, `general` and the rankers trained here over the static "
        "encoder. BM25 + dense and the trees learn from the training part anew in each protocol, which favours them. The trees see the "
        "ranker's features, the table scorer's among them, but no graph, no network and no first ranking. All read repaired texts.",
        *([told(learnt)] if learnt else []),
    ]
    if {"random", "with lead-in"} <= found.keys():
        lines += cost(values)
    for protocol in found:
        lines += ["", f"## Protocol: {protocol}", ""]
        if protocol == next(iter(found)):
            lines += [
                f"Means with 95 % intervals of {RESAMPLES} bootstrap resamples of pages; p by a paired randomisation test of "
                f"{ROUNDS} rounds that swaps the methods on whole pages, against {REFERENCE}, corrected for the {len(names) - 1} methods "
                "that each column of a table compares with it (Holm).",
                "",
            ]
        lines += beside("", values[protocol], REFERENCE, finqa_page)
    return [*lines, *REST.splitlines()]


def told(learnt):
    """How the MiniLM was trained."""
    return ("MiniLM fine-tuned learns, like `checkpoints/finqa`, in the paper's protocol alone: all its weights, from "
            f"{learnt['questions']:,} questions, each to find a gold node among those of its page that the untrained encoder finds "
            f"likest and the nodes of other questions, for {learnt['epochs']} epochs, as a tenth of the training pages tells with the "
            f"vectors of whole texts (at most {learnt['most_epochs']}). Its other settings stand in "
            "`tools/scripts/peers/minilm_finetuned.py`; none of them was chosen on the dev part.")


def cost(values):
    """How the figures with lead-in differ from those of the paper's protocol."""
    lines = [
        "",
        "## What the announcing sentences cost",
        "",
        "recall@10 and MAP with lead-in less those of the paper's protocol, same questions, with 95 % intervals and p by page; not "
        "corrected, as each row is a question of its own.",
        "",
        f"| | {' | '.join(f'{measure} | p' for measure in MAIN)} |",
        "|---|" + "---:|" * (2 * len(MAIN)),
    ]
    for name, before in values["random"].items():
        row = [name]
        for measure in MAIN:
            pair = before[measure], values["with lead-in"][name][measure]
            differences = {question: pair[1][question] - pair[0][question] for question in pair[0]}
            low, high = interval(differences, finqa_page)
            row += [f"{statistics.mean(differences.values()):+.3f} [{low:+.3f}, {high:+.3f}]", shown_p(tested(*pair, finqa_page))]
        lines.append(f"| {' | '.join(row)} |")
    return lines


REST = """
## The paper's own figures

Of Kumar, Sen, Chelani and Chakrabarti, on the whole of FinQA; they are not comparable with those above beyond their order.

| | recall@10 | MAP |
|---|---:|---:|
| BM25 | 0.610 | 0.47 |
| TF-IDF | 0.700 | 0.56 |
| DPR | 0.640 | 0.52 |
| ColBERT | 0.714 | 0.60 |
| SPLADE | 0.732 | 0.61 |
| TabNet, one edge type | 0.745 | 0.42 |
| TabNet | 0.798 | 0.46 |
| TabSegNet | 0.836 | 0.54 |

- They learn from FinQA's full training part, 6,251 questions; here 1,135 were at hand, 529 of them from the published dev part.
  What the paper's exact model reaches on these, by number of questions: [finqa-paper.md](finqa-paper.md).
- Which nodes are gold is our reading of the paper's words (`data/datasets/src/finqa/gold.rs`): gold sentences, and those cells of
  gold rows whose numbers the program uses. Another reading gives other figures to every method: compare the BM25 rows.
- They leave out questions whose program they judge wrong and 235 that a single sentence answers; here every question with gold stays.
- Their dev part is the published one, 883 questions; here it is 333 of those, on pages that no training question is on.

## How often the dev part was looked at

Often. Features and settings were chosen on it: each row of [finqa-parts.md](finqa-parts.md), about 40, and of
[elimination.md](elimination.md), about 20, is a look, as are those experiments of [experiments.md](experiments.md) that name no
folds, and many that were not written down: a few hundred in all, in the paper's protocol. p-values know nothing of that, and the
baselines were given no such attention: the rankers' lead is somewhat smaller on new pages, and figures somewhat lower. The inputs of the
table scorer, the reranker's features and the number of its trees were compared by cross-validation on the training questions. The
other two protocols came after all of that.
"""


if __name__ == "__main__":
    main()
