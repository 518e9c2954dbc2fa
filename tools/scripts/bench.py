#!/usr/bin/env python3
"""What the project costs beside what people run today, in one alternating run: peer, project, peer, project, ...

    python tools/scripts/bench.py --python PYTHON --peers DIR [--encoder DIR --texts FILE] [--finqa DIR]
        [--only SECTION,...] [--rounds 5] [--output docs/speed.md]

PYTHON has the packages of tools/scripts/peers/requirements.txt. DIR holds two peers more, with one JSON line of output each:
pyg_tabsegnet.py, the scorer in PyTorch Geometric with the options of the program `step` and `median_ms`, and
st_encode.py ENCODER TEXTS --threads N, sentence-transformers, with `texts_per_s`. Sections:

    step         one training step, one inference pass               (needs --peers)
    aggregation  the aggregation of messages alone, there and back
    growth       how the cost grows with nodes, edges, documents and threads, as a plot   (needs --peers)
    encoder      texts a second of a sentence encoder                (needs --encoder, --texts, --peers)
    lexical      BM25                                                (needs --texts)
    document     ranking a document of 10,000 nodes, cold and warm
    training     a whole training on FinQA, vectors cached           (needs --encoder, --finqa)

A section that lacks what it needs is left out, with a message. Each cell is the median over the rounds of each run's
median, in brackets the least and the greatest; ratios are peer / project, above 1 where the project is faster.
Sections are replaced one by one in the output, so that one can be measured anew. Exit codes: 0 measured, 1 a build or
a run failed, 2 wrong usage.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benching import PEERS, ROOT, alternate, bench, cell, log, machine, programs, ratio, run, markdown_table, values

# One training step, one inference pass.

SHAPES = {
    "32 × 128 nodes, 896 edges": [],
    "32 × 128 nodes, 896 edges, 3 layers": ["--layers", 3],
    "8 × 1,000 nodes, 7,000 edges": ["--docs", 8, "--nodes", 1000, "--edges", 7000],
}


def step(options):
    threads = ["--threads", options.threads]
    pyg = [options.python, options.peers.resolve() / "pyg_tabsegnet.py", *threads]
    ours = [*bench("step"), *threads]
    peaks = alternate(
        "peak",
        {"gemm": [*bench("peak"), options.threads], "torch": [options.python, PEERS / "torch_peak.py", options.threads]},
        options.rounds,
    )
    peak = max(value for results in peaks.values() for value in values(results, "gflop_per_s"))
    rows = []
    for name, shape in SHAPES.items():
        for mode, commands in {
            "training step": {"peer": [*pyg, *shape], "ours": [*ours, *shape]},
            "inference": {"peer": [*pyg, *shape, "--infer"], "ours": [*ours, *shape, "--mode", "infer"]},
            "inference, u·C_u kept": {
                "peer": [*pyg, *shape, "--infer"],
                "ours": [*ours, *shape, "--mode", "projected"],
            },
        }.items():
            results = alternate(f"{mode}, {name}", commands, options.rounds)
            peer, times = values(results["peer"], "median_ms"), values(results["ours"], "median_ms")
            share = results["ours"][0]["gflop"] / statistics.median(times) * 1e3 / peak
            rows.append([f"{mode}, {name}", cell(peer), cell(times), ratio(peer, times), f"{share:.0%}"])
    return "\n\n".join([
        markdown_table(["", "PyTorch Geometric, ms", "tabsegnet, ms", "ratio", "share of peak"], rows),
        f"The share counts the floating point operations of the matrix products alone, against the greatest rate that "
        f"any square product showed in this run, {peak:.0f} GFLOP/s.",
    ])


# The aggregation alone.


def aggregation(options):
    ours = bench("aggregate")
    rows = []
    for aggr in ("max", "add", "mean"):
        arguments = ["--aggr", aggr, "--threads", options.threads]
        commands = {"peer": [options.python, PEERS / "pyg_aggregate.py", *arguments], "ours": [*ours, *arguments]}
        results = alternate(f"aggregation {aggr}", commands, options.rounds)
        peer, times = values(results["peer"], "median_ms"), values(results["ours"], "median_ms")
        rows.append([aggr, cell(peer), cell(times), ratio(peer, times)])
    columns = ["20,000 nodes, 400,000 edges, width 256", "PyTorch Geometric scatter, ms", "tabsegnet, ms", "ratio"]
    return markdown_table(columns, rows)


# How the cost grows.


def growth(options):
    ours = bench("step")
    series = {
        "nodes of one document (7 edges a node)": [
            (nodes, ["--docs", 1, "--nodes", nodes, "--edges", 7 * nodes]) for nodes in (10**2, 10**3, 10**4, 10**5, 10**6)
        ],
        "edges of one document (10,000 nodes)": [
            (edges, ["--docs", 1, "--nodes", 10_000, "--edges", edges]) for edges in (10**3, 10**4, 10**5, 10**6)
        ],
        "documents in a batch (128 nodes)": [(docs, ["--docs", docs]) for docs in (1, 8, 64, 512)],
        "threads (32 documents)": [(n, ["--threads", n]) for n in range(1, (os.cpu_count() or 1) + 1)],
    }
    found, rows = {}, []
    for name, points in series.items():
        for size, shape in points:
            large = size >= 10**6 and "nodes" in name
            steps = ["--steps", 1 if large else 5, "--warmup", 1]
            threads = [] if "--threads" in shape else ["--threads", options.threads]
            for mode in ("train", "infer"):
                commands = {"ours": [*ours, *shape, *steps, *threads, "--mode", mode]}
                # A million nodes in PyTorch Geometric ask for more memory than many machines have.
                if not large:
                    peer = [options.python, options.peers.resolve() / "pyg_tabsegnet.py", *shape, *steps, *threads]
                    peer += ["--infer"] if mode == "infer" else []
                    commands = {"peer": peer} | commands
                results = alternate(f"{name}: {size}", commands, 1 if large else min(options.rounds, 3))
                times = {key: statistics.median(values(value, "median_ms")) for key, value in results.items()}
                memory = max(result["peak_mib"] for result in results["ours"])
                words = "inference" if mode == "infer" else "training"
                found.setdefault(name, {}).setdefault(words, []).append((size, times))
                row = [f"{size:,} {name}, {words}"]
                row += [f"{times['peer']:,.2f}" if "peer" in times else "not run", f"{times['ours']:,.2f}"]
                row += [f"{times['peer'] / times['ours']:.2f}" if "peer" in times else "", f"{memory:,.0f}"]
                rows.append(row)
    image = options.output.parent / "growth.svg"
    with tempfile.NamedTemporaryFile("w", suffix=".json") as data:
        json.dump(found, data)
        data.flush()
        run([options.python, ROOT / "tools/scripts/plot_growth.py", data.name, image])
    columns = ["", "PyTorch Geometric, ms", "tabsegnet, ms", "ratio", "our peak memory, MiB"]
    return f"![how the cost grows]({image.name})\n\n" + markdown_table(columns, rows)


# BM25.


def lexical(options):
    ours = bench("bm25")
    commands = {"peer": [options.python, PEERS / "bm25s_search.py", options.texts], "ours": [*ours, options.texts]}
    results = alternate("BM25", commands, options.rounds)
    texts = results["ours"][0]["texts"]
    rows = []
    for name, key in {f"index of {texts:,} texts, ms": "build_ms", "a question, all texts scored, ms": "ask_ms"}.items():
        peer, times = values(results["peer"], key), values(results["ours"], key)
        rows.append([name, cell(peer, 3), cell(times, 3), ratio(peer, times)])
    return markdown_table(["one thread", "bm25s", "tabsegnet", "ratio"], rows)


# A whole training.


def training(options):
    rows, stages = [], []
    with tempfile.TemporaryDirectory() as directory:
        settings = ["--config", ROOT / "configs/paper/finqa.toml"]
        for setting in (f"data.root={options.finqa.resolve()}", f"encoder.model={options.encoder.resolve()}",
                        "evaluation.after_training=false"):
            settings += ["--set", setting]
        cache = os.environ.get("TABSEGNET_CACHE", str(Path(directory) / "cache"))
        for turn in range(options.rounds + 1):
            output = Path(directory) / str(turn)
            command = [programs()["train"], *settings, "--set", f"output.directory={output}"]
            run(command, TABSEGNET_CACHE=cache)  # the first fills the cache
            epochs = [json.loads(line) for line in (output / "metrics.jsonl").read_text().splitlines()]
            if turn:
                stages.append({"seconds": sum(epoch["seconds"] for epoch in epochs)})
                prepared = prepared_parts(command, cache)
                log(f"training: round {turn}/{options.rounds}")
                arguments = [*prepared, "--epochs", len(epochs), "--threads", options.threads]
                rows.append(run([options.python, PEERS / "pyg_training.py", *arguments]))
    peer, times = values(rows, "seconds"), values(stages, "seconds")
    columns = [f"{rows[0]['epochs']} epochs, {rows[0]['questions']:,} questions", "PyTorch Geometric, s", "tabsegnet, s", "ratio"]
    return markdown_table(columns, [["batches, steps and the dev part each epoch", cell(peer), cell(times), ratio(peer, times)]])


def prepared_parts(command, cache):
    """Where the train and dev parts of prepared data lie, by what `train --prepare` says."""
    result = subprocess.run(
        [str(word) for word in [*command, "--prepare"]],
        capture_output=True, text=True, check=True, env=os.environ | {"TABSEGNET_CACHE": cache},
    )
    return re.findall(r"(/\S+/prepared/[0-9a-f]+)", result.stdout + result.stderr)[:2]


def encoder(options):
    arguments = ["--encoder", options.encoder, "--texts", options.texts, "--peer", options.peers / "st_encode.py"]
    arguments += ["--onnxruntime", "--python", options.python]
    return printed_by("bench_encode.py", [*arguments, "--rounds", options.rounds, "--threads", options.threads])


def document(options):
    bert = ["--bert", options.encoder] if options.encoder else []
    report = json.loads(printed_by("bench_infer.py", ["--runs", max(options.rounds, 10), *bert]))
    rows = []
    for result in report["results"]:
        for name, found in result.items():
            if isinstance(found, dict) and "first_answer_ms" in found:
                times = found["first_answer_ms"]
                shown = f"{times['median']:,.1f} ({times['min']:,.1f}–{times['max']:,.1f})"
                rows.append([f"{result['encoder']}: {name.replace('_', ' ')}, first answer", shown, ""])
        for name, model in {"warm": "", "warm_with_features": ", all features"}.items():
            warm = result[name]
            memory = f"{warm['peak_mib']:,.0f}"
            for share in ("p50", "p99"):
                rows.append([f"{result['encoder']}: a new question{model}, {share}", f"{warm[f'{share}_ms']:.1f}", memory])
    return markdown_table(["", "ms", "peak memory, MiB"], rows)


def printed_by(script, arguments):
    """What another script prints."""
    command = [sys.executable, ROOT / "tools/scripts" / script, *arguments]
    result = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    if result.returncode:
        sys.exit(f"{script} failed with exit code {result.returncode}")
    return result.stdout.strip()


SECTIONS = {
    "step": ("The model: a training step, an inference pass", step, ["peers"]),
    "aggregation": ("Aggregation alone, forward and backward", aggregation, []),
    "growth": ("How the cost grows", growth, ["peers"]),
    "encoder": ("Sentence encoder", encoder, ["encoder", "texts", "peers"]),
    "lexical": ("BM25", lexical, ["texts"]),
    "document": ("Ranking a document of 10,000 nodes", document, []),
    "training": ("FinQA training, vectors cached", training, ["encoder", "finqa"]),
}


def replace_section(text, title, body):
    """The page with a section's body put in its place, or at the end."""
    pattern = re.compile(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", re.M | re.S)
    section = f"## {title}\n\n{body}\n\n"
    return pattern.sub(lambda _: section, text) if pattern.search(text) else text + section


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="a Python with the peers' packages")
    parser.add_argument("--peers", type=Path, help="directory of pyg_tabsegnet.py and st_encode.py")
    parser.add_argument("--encoder", type=Path, help="directory of a sentence encoder")
    parser.add_argument("--texts", type=Path, help="a file with one text a line")
    parser.add_argument("--finqa", type=Path, help="directory of FinQA's train.json and dev.json")
    parser.add_argument("--only", help="sections, by comma")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--output", type=Path, default=ROOT / "docs/speed.md")
    options = parser.parse_args()
    chosen = options.only.split(",") if options.only else list(SECTIONS)
    if unknown := [name for name in chosen if name not in SECTIONS]:
        parser.error(f"unknown section {unknown[0]!r}; expected some of {', '.join(SECTIONS)}")
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    for name in ("peers", "encoder", "texts", "finqa"):
        path = getattr(options, name)
        if path and not path.exists():
            parser.error(f"--{name} {path} is not there")
    page = options.output.read_text() if options.output.exists() else "# Speed\n\n`python tools/scripts/bench.py` wrote this page.\n\n"
    for name in chosen:
        title, measure, needs = SECTIONS[name]
        if missing := [need for need in needs if getattr(options, need) is None]:
            log(f"WARNING: section {name} is LEFT OUT: no --{missing[0]}")
            continue
        words = machine(options)
        body = f"{measure(options)}\n\n{words}, {os.getloadavg()[0]:.1f} after."
        print(f"## {title}\n\n{body}\n")
        page = replace_section(page, title, body)
        options.output.parent.mkdir(parents=True, exist_ok=True)
        temporary = options.output.with_suffix(".part")
        temporary.write_text(page)
        temporary.replace(options.output)


if __name__ == "__main__":
    main()
