"""What gpu.py measures: cases, each of which gives one row of its table."""

import array
import hashlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Callable

from benching import PEERS, ROOT, alternate, attempt, cell, log, output_of, ratio, run, values

PROGRAMS = ROOT / "programs"


class NotMeasured(Exception):
    """Something that a case needs is not here."""


@dataclass
class Case:
    """`measure` takes a Bench and gives a row: `beside` whom, `its` figure, `ours`, the `ratio`, `failed` where the
    project did something wrong."""

    step: str
    what: str
    device: str
    measure: Callable


def program(name):
    return PROGRAMS / name


class Bench:
    """The machine, and what the cases share."""

    def __init__(self, options, work):
        self.options, self.work = options, work
        # Caches, also of kernels, stay below: nothing is taken from an earlier run.
        self.kept = {}

    @cached_property
    def torch(self):
        """The PyTorch of --python; None where there is none."""
        code = (
            "import json, torch; gpu = torch.cuda.is_available(); print(json.dumps({'version': torch.__version__,"
            "'gpu': torch.cuda.get_device_name() if gpu else None}))"
        )
        try:
            return run([self.options.python, "-c", code], self.options.limit)
        except (SystemExit, OSError):
            return None

    @cached_property
    def gpu(self):
        """What nvidia-smi says of the first GPU; None where there is none."""
        try:
            query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader,nounits"]
            name, driver, memory = output_of(query, 60).splitlines()[0].split(", ")
            return {"name": name, "driver": driver, "memory": int(memory) << 20}
        except (SystemExit, OSError, ValueError, IndexError):
            return None

    def device(self, name):
        """What `step` says of a device.

        Raises NotMeasured where it does not work, or is of software and nobody wants it."""
        if name not in self.kept:
            shape = ["--docs", 1, "--nodes", 16, "--edges", 32, "--steps", 1, "--warmup", 0]
            try:
                self.kept[name] = run([program("bench"), "step", "--device", name, *shape], self.options.limit)
            except SystemExit as failure:
                if "panicked" in str(failure.code):
                    raise
                said = [line for line in str(failure.code).splitlines() if line.strip()]
                self.kept[name] = " ".join(said[1:] or said).removeprefix("Error: ")
        found = self.kept[name]
        if isinstance(found, str):
            raise NotMeasured(found)
        if "software" in found["device"] and not self.options.small:
            raise NotMeasured(f"only a software GPU is here: {found['device']}")
        return found

    def on_gpu(self, device):
        return device != "cpu" and "software" not in self.device(device)["device"]

    def peer(self, device, script, arguments, tf32):
        """The command of a peer's script, and where it runs; else why it does not. TF32 is as the device has it."""
        place = "cuda" if self.on_gpu(device) else "cpu"
        if self.torch is None:
            return None, "no PyTorch here"
        if place == "cuda" and self.torch["gpu"] is None:
            return None, "its PyTorch sees no GPU"
        command = [self.options.python, PEERS / script, *arguments, "--device", place]
        return command + (["--tf32"] if tf32 and self.device(device)["tf32"] else []), place

    def lines(self, what, device, script, arguments, ours, tf32=False):
        """The lines of JSON that a peer's script and a program print in turn, for each a list of its rounds, and what
        failed; run once for all rows that are made of them. One that fails is not begun again."""
        if what not in self.kept:
            peer, place = self.peer(device, script, arguments, tf32)
            commands = {"peer": peer, "ours": ours} if peer else {"ours": ours}
            found, failures = {name: [] for name in ("peer", "ours")}, {} if peer else {"peer": place}
            for turn in range(1, self.options.rounds + 1):
                log(f"{what}: round {turn}/{self.options.rounds}")
                for name in [name for name in commands if name not in failures]:
                    printed, failure = attempt(commands[name], self.options.limit)
                    found[name].append([json.loads(line) for line in printed.splitlines() if line.startswith("{")])
                    if failure:
                        log(failure)
                        failures[name] = failure
            self.kept[what] = found, failures, place
        return self.kept[what]

    def row(self, lines, key="median_ms", **wanted):
        """A row of the lines that have what is wanted."""
        found, failures, place = lines

        def numbers(name):
            chosen = [[line for line in lines if wanted.items() <= line.items()][-1:] for lines in found[name]]
            return [line[key] for lines in chosen for line in lines]

        its, own = numbers("peer"), numbers("ours")
        if not own:
            return {"error": failures.get("ours", "its line is missing"), "failed": True}
        ours = cell(own)
        if not its:
            said = failures.get("peer", "its line is missing")
            return {"its": said if len(said) < 30 else "failed", "ours": ours, "own": own}
        rate = ratio(own, its) if key == "texts_per_s" else ratio(its, own)
        peer = found["peer"][0][0]["peer"] + ("" if place == "cuda" else ", on the CPU")
        return {"beside": peer, "its": cell(its), "ours": ours, "ratio": rate, "own": own, "theirs": its}

    @cached_property
    def large(self):
        """A document of 10,000 nodes (200 of them for a trial) as a file, beside it a checkpoint of a new model."""
        file = self.work / "large.json"
        tables = 1 if self.options.small else 50
        output_of([program("bench"), "rank_document", "--write", file, "--tables", tables], self.options.limit)
        return file

    def train(self, name, device, settings, config="quickstart", limit=None):
        """Trains into a directory of that name, which is returned, with the seconds it took."""
        output = self.work / name
        start = time.perf_counter()
        output_of(self.train_command(output, device, settings, config), limit or self.options.limit)
        return output, time.perf_counter() - start

    def train_command(self, output, device, settings, config="quickstart"):
        places = [f"output.directory={output}", f"output.cache={self.work / 'cache'}"]
        command = [program("train"), "--config", ROOT / f"configs/{config}.toml", "--device", device]
        settings = ["evaluation.after_training=false", *places, *settings]
        return command + [word for setting in settings for word in ("--set", setting)]


# Tests.


def tests(bench, device):
    """The tests of kernels and model against the CPU and against PyTorch Geometric's numbers."""
    environment = {"TABSEGNET_TEST_DEVICE": device, "CARGO_MANIFEST_DIR": str(ROOT / "model/ranker")}
    passed, failed = 0, []
    for name, chosen in {
        "ranker_tests": ["aggregate::", "activation::", "scorer::", "batch::", "precision::"],
        "ranker_gpu_tests": [],
    }.items():
        result = subprocess.run(
            [program(name), "--test-threads", "1", *chosen], capture_output=True, text=True, cwd=bench.work,
            env=os.environ | environment, timeout=bench.options.limit,
        )
        counts = re.search(r"test result: .*?(\d+) passed; (\d+) failed", result.stdout)
        if counts is None:
            sys.exit(f"{name} did not end:\n{(result.stdout + result.stderr)[-2000:]}")
        if int(counts[1]) + int(counts[2]) == 0:
            sys.exit(f"{name} ran no test")
        passed += int(counts[1])
        failed += re.findall(r"^test (\S+) \.\.\. FAILED", result.stdout, re.M)
        log(result.stdout[-6000:] if int(counts[2]) else counts[0])
    if failed:
        return {"ours": f"{len(failed)} of {passed + len(failed)} FAILED: {', '.join(failed)}", "failed": True}
    return {"ours": f"{passed} passed"}


# Scores beside the CPU's.

QUESTIONS = [
    "What was the net income of Europe in 2009?",
    "net sales cloud 2005",
    "By how much did operating income in the Hardware segment change from 2004 to 2005?",
    "What was the goodwill of Products in 2010?",
    "Interest expense in the Americas",
    "What were deferred revenue and accounts receivable of Licensing in 2008?",
    "Why did cost of revenue rise?",
    "research and development retail 2003",
]


def ranked(bench, device, checkpoint):
    """For each question the nodes with their scores, best first."""
    questions = bench.work / "questions.txt"
    questions.write_text("\n".join(QUESTIONS) + "\n")
    command = [program("infer"), "--checkpoint", checkpoint, "--document", bench.large, "--questions", questions]
    command += ["--format", "jsonl", "--top-k", 10**6, "--device", device, "--cache", bench.work / f"cache-{device}"]
    lines = output_of(command, bench.options.limit).splitlines()
    return [{node["id"]: node["score"] for node in json.loads(line)["nodes"]} for line in lines]


def differences(bench, device):
    checkpoint = bench.large.with_suffix(".checkpoint")
    largest = 0.0
    for found, expected in zip(ranked(bench, device, checkpoint), ranked(bench, "cpu", checkpoint), strict=True):
        if found.keys() != expected.keys():
            return {"ours": "other nodes than the CPU's", "failed": True}
        apart = (abs(found[node] - score) / max(1, abs(score)) for node, score in expected.items())
        largest = max(largest, *apart)
    failed = largest > (2e-2 if bench.device(device)["tf32"] else 1e-4)
    return {"beside": "the CPU", "ours": f"{largest:.1e}{', TOO FAR' if failed else ''}", "failed": failed}


def same_nodes(bench, device):
    rankings = [ranked(bench, name, ROOT / "checkpoints/general") for name in (device, "cpu")]
    best = [[list(scores)[:10] for scores in pair] for pair in zip(*rankings, strict=True)]
    order = sum(found == expected for found, expected in best)
    nodes = statistics.mean(len(set(found) & set(expected)) for found, expected in best)
    words = f"{nodes:.1f} of 10 nodes; the same order for {order} of {len(best)} questions"
    return {"beside": "the CPU", "ours": words}


# Training.


def small_settings(bench):
    documents = (12, 6) if bench.options.small else (60, 20)
    settings = [f"data.synthetic.train_documents={documents[0]}", f"data.synthetic.dev_documents={documents[1]}"]
    return [*settings, "segmenter.kind=rules", "optimisation.epochs=2"]


def repeated(bench, device):
    outputs = [bench.train(f"repeat-{device}-{turn}", device, small_settings(bench))[0] for turn in range(2)]
    digests = {hashlib.sha256((output / "best/model.safetensors").read_bytes()).hexdigest() for output in outputs}
    return {"ours": "the same bytes" if len(digests) == 1 else "OTHER BYTES", "failed": len(digests) > 1}


def whole_training(bench, device):
    small = bench.options.small
    finqa = None if small else bench.options.finqa
    config, settings = "quickstart", small_settings(bench) if small else ["segmenter.kind=rules"]
    if finqa:
        # The recipe over the static encoder, as checkpoints/README.md has it.
        config = "finqa"
        settings = ["encoder.kind=static", "encoder.model=", "optimisation.start_from=checkpoints/pretrained"]
        settings.append(f"data.root={finqa.resolve()}")
    words, seconds = {}, {}
    # Neither pays for what both read.
    prepare = [*bench.train_command(bench.work / "prepared", "cpu", settings, config), "--prepare"]
    output_of(prepare, bench.options.limit)
    for name in dict.fromkeys((device, "cpu")):
        limit = bench.options.training_limit if name == device else bench.options.cpu_limit
        try:
            output, whole = bench.train(f"training-{device}-{name}", name, settings, config, limit)
        except SystemExit as failure:
            if name == device:
                raise
            log(failure.code)
            words[name] = f"not done in {limit:,.0f} s"
            break
        epochs = [json.loads(line) for line in (output / "metrics.jsonl").read_text().splitlines()]
        dev = json.loads((output / "best/manifest.json").read_text())["dev"]
        seconds[name] = whole
        words[name] = (
            f"{whole:,.1f} s, epochs {sum(epoch['seconds'] for epoch in epochs):,.1f} s; "
            f"recall@10 {dev['recall@10']:.3f}, MAP {dev['MAP']:.3f}"
        )
    row = {"beside": "the CPU", "its": words["cpu"], "ours": words[device], "data": "FinQA" if finqa else "generated reports"}
    return row | ({"ratio": f"{seconds['cpu'] / seconds[device]:.2f}"} if "cpu" in seconds else {})


# Steps.


def precisions(device):
    """bf16 is CUDA's alone."""
    return ("f32", "bf16") if device == "cuda" else ("f32",)


def step(bench, device, docs, mode, precision):
    trial = ["--steps", 2, "--warmup", 1] if bench.options.small else ["--steps", 20, "--warmup", 5]
    sizes = ",".join(str(size) for size in documents(bench.options.small))
    shape = ["--docs", sizes, "--mode", "train,infer", "--precision", ",".join(precisions(device))]
    shape += ["--threads", bench.options.threads, *trial]
    ours = [program("bench"), "step", *shape, "--device", device]
    lines = bench.lines(f"steps, {device}", device, "torch_step.py", shape, ours, tf32=True)
    return bench.row(lines, docs=docs, mode=mode, precision=precision)


AGGREGATIONS = ("max", "add", "mean")


def aggregation(bench, device, aggr):
    size = ["--nodes", 500, "--edges", 5000, "--steps", 2] if bench.options.small else []
    arguments = ["--aggr", ",".join(AGGREGATIONS), "--threads", bench.options.threads, *size]
    ours = [program("bench"), "aggregate", *arguments, "--device", device]
    return bench.row(bench.lines(f"aggregation, {device}", device, "pyg_aggregate.py", arguments, ours), aggr=aggr)


def question(bench, device):
    small = bench.options.small
    command = [program("bench"), "rank_document", "--questions", 5 if small else 100, "--tables", 1 if small else 50, "--device"]
    commands = {"cpu": [*command, "cpu"], "ours": [*command, device]}
    results = alternate("a question", commands, bench.options.rounds, bench.options.limit)
    cpu, own = values(results["cpu"], "p50_ms"), values(results["ours"], "p50_ms")
    return {"beside": "the CPU", "its": cell(cpu), "ours": cell(own), "ratio": ratio(cpu, own), "results": results}


# The sentence encoder.


def texts(bench):
    """A file with the sentences and cells of the large document, one a line, each cell with where it stands."""
    file = bench.work / "texts.txt"
    if not file.exists():
        found = []
        for block in json.loads(bench.large.read_text())["blocks"]:
            if "passage" in block:
                found.append(block["passage"])
                continue
            rows = block["table"]["rows"]
            cells = [[value if isinstance(value, str) else value["text"] for value in row] for row in rows]
            for row in cells[1:]:
                found += [f"{row[0]} | {head} | {value}" for head, value in zip(cells[0][1:], row[1:])]
        found = found[:20] if bench.options.small else found
        file.write_text("\n".join(" ".join(text.split()) for text in found) + "\n", encoding="utf-8")
    return file


def encoder(bench):
    """The encoder's directory, and words for it. Weights at random take as long as learnt ones."""
    given, packed, made = bench.options.encoder, ROOT / "encoder", bench.work / "encoder"
    if given and (given / "model.safetensors").exists():
        return given.resolve(), ""
    if not packed.is_dir():
        raise NotMeasured("no encoder: name its directory with --encoder")
    if not made.exists():
        script = [bench.options.python, PEERS / "sentence_transformers_peer.py", packed, os.devnull, "--random", made]
        try:
            run(script, bench.options.limit)
        except SystemExit as failure:
            shutil.rmtree(made, ignore_errors=True)
            raise NotMeasured("the encoder has no weights here, nor transformers to make some") from failure
    return made, ", random weights"


def encoded(bench, device):
    model, words = encoder(bench)
    file = texts(bench)
    ours = [program("bench"), "encode", model, file, "--repeat", 2, "--device", device]
    lines = bench.lines(f"encode, {device}", device, "sentence_transformers_peer.py", [model, file], ours, tf32=True)
    row = bench.row(lines, "texts_per_s")
    return row | {"beside": row["beside"] + words if row.get("beside") else words.removeprefix(", ")}


def vectors(bench, device):
    model, _ = encoder(bench)
    floats = {}
    for name in (device, "cpu"):
        out = bench.work / f"vectors-{name}.f32"
        output_of([program("bench"), "encode", model, texts(bench), "--device", name, "--out", out], bench.options.limit)
        floats[name] = array.array("f", out.read_bytes())
    largest = max(abs(a - b) for a, b in zip(floats[device], floats["cpu"], strict=True))
    return {"beside": "the CPU", "ours": f"{largest:.1e}"}


# Out of memory.


def out_of_memory(bench, device):
    """A training whose first step no GPU has room for, then another in the same place."""
    output, settings = bench.work / f"memory-{device}", small_settings(bench)
    # A step has more than 2,000 nodes. In graphics APIs an array ends at 4 GiB, less than one of this width; past 2³²
    # numbers wgpu's kernels do not compile.
    limit, width = [], 300_000
    if device == "cuda":
        if bench.gpu is None:
            raise NotMeasured("nvidia-smi does not say how much memory there is")
        width = bench.gpu["memory"] // 4 // 2000
    if not bench.on_gpu(device):
        # A software GPU takes the computer's memory; 16 GB of it, beside the 64 GiB that the cache of vectors maps.
        limit = ["bash", "-c", 'ulimit -v 83000000 && exec "$0" "$@"']
    # Without dropout, whose masks are made in the computer's memory.
    wide = ["model.d_in=16", "model.layers=1", f"model.d_out={width}", "optimisation.dropout=0"]
    wide += ["optimisation.batch_size=64"]
    command = [*limit, *bench.train_command(output, device, [*settings, *wide])]
    result = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, cwd=ROOT, timeout=bench.options.limit
    )
    log(result.stderr[-1500:])
    message = result.stderr[result.stderr.rfind("error: ") :]
    right = result.returncode == 1 and "out of memory" in message and "optimisation.batch_size is 64" in message
    left = [name for name in ("best", "last", "state") if (output / name).exists()]
    if not right or left or "panicked" in result.stderr:
        said = message[:300] or result.stderr[-300:]
        return {"ours": f"exit code {result.returncode}, left {left}: {said}", "failed": True}
    bench.train(output.name, device, settings)
    return {"ours": "an error in words; the next training in the same place is whole"}


def documents(small):
    return (2, 4) if small else (32, 256, 2048)


def cases(devices, small):
    """All cases, of one device after the other."""
    found = []

    def case(step, what, device, function, *arguments):
        found.append(Case(step, f"{what}, {device}", device, lambda bench: function(bench, device, *arguments)))

    for device in devices:
        if device != "cpu":
            case("tests", "tests of kernels and model", device, tests)
        for precision in precisions(device):
            for docs in documents(small):
                for mode, words in {"train": "training step", "infer": "inference"}.items():
                    name = f"{words}, {docs:,} × 128 nodes, {precision}, ms"
                    case("step", name, device, step, docs, mode, precision)
        if device != "cpu":
            case("memory", "a step too large for the memory", device, out_of_memory)
        case("scores", "the network's scores, largest difference", device, differences)
        case("scores", "checkpoints/general, ten best nodes", device, same_nodes)
        case("repeat", "two trainings with one seed", device, repeated)
        case("training", "a whole training", device, whole_training)
        case("encode", "MiniLM, texts a second", device, encoded)
        case("encode", "MiniLM's vectors, largest difference", device, vectors)
        for aggr in AGGREGATIONS:
            name = f"aggregation {aggr}, 20,000 nodes, 400,000 edges, width 256, ms"
            case("aggregation", name, device, aggregation, aggr)
        case("question", "a question on 10,000 nodes, p50, ms", device, question)
    return found
