"""Speed of the bert encoder (f32 and int8) beside sentence-transformers and onnxruntime, in one alternating run.

    python tools/scripts/bench_encode.py --encoder DIR --texts FILE [--peer st_encode.py] [--onnxruntime] [--python PYTHON]
        [--rounds 3] [--threads N]

FILE holds one text a line. Prints a section of Markdown: medians over rounds of texts a second with spread and ratios,
and the processor time that the texts took, which other work on the machine disturbs less than the wall clock. A peer
is measured where it is wanted; --onnxruntime needs what tools/scripts/peers/onnxruntime_peer.py says.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benching import PEERS, bench

# Texts of the run that is taken off for starting and loading; every program encodes so many to warm up.
FEW = 64


def run(command, environment):
    """What a command printed last."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as child:
        out, err = child.communicate()
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{err}")
    return json.loads(out.splitlines()[-1])


def seconds_of(command, environment):
    """What a command printed last, and the processor seconds it took."""
    before = os.times()
    result = run(command, environment)
    after = os.times()
    return result, after.children_user + after.children_system - before.children_user - before.children_system


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", required=True, help="directory of the sentence encoder")
    parser.add_argument("--texts", required=True, help="a file with one text a line")
    parser.add_argument("--peer", help="sentence-transformers as a script")
    parser.add_argument("--onnxruntime", action="store_true", help="measure onnxruntime too")
    parser.add_argument("--python", default=sys.executable, help="a Python that has the peers' packages")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    args = parser.parse_args()
    program = bench("encode")
    threads = ["--threads", str(args.threads)]
    environment = dict(os.environ, RAYON_NUM_THREADS=str(args.threads))
    with tempfile.TemporaryDirectory() as directory:
        few = Path(directory) / "few.txt"
        few.write_text("\n".join(Path(args.texts).read_text(encoding="utf-8").splitlines()[:FEW]), encoding="utf-8")
        commands = {
            f"tabsegnet, {precision}": lambda texts, precision=precision: [
                *program, args.encoder, texts, "--precision", precision
            ]
            for precision in ["f32", "int8"]
        }
        if args.peer:
            commands["sentence-transformers"] = lambda texts: [args.python, args.peer, args.encoder, texts] + threads
        if args.onnxruntime:
            script, onnx = str(PEERS / "onnxruntime_peer.py"), str(Path(directory) / "model.onnx")
            run([args.python, script, "export", args.encoder, onnx], environment)
            commands["onnxruntime"] = lambda texts: [args.python, script, "encode", args.encoder, onnx, texts] + threads
        rates = {name: [] for name in commands}
        cpu = {name: [] for name in commands}
        for _ in range(args.rounds):
            for name, command in commands.items():
                _, start = seconds_of(command(str(few)), environment)
                result, whole = seconds_of(command(args.texts), environment)
                rates[name].append(result["texts_per_s"])
                cpu[name].append(whole - start)

    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    print("| encoder | texts/s, median | min | max | ratio to f32 | CPU s, median | ratio to f32 |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    base = "tabsegnet, f32"
    rate = {name: statistics.median(values) for name, values in rates.items()}
    time = {name: statistics.median(values) for name, values in cpu.items()}
    for name, values in rates.items():
        print(
            f"| {name} | {rate[name]:.0f} | {min(values):.0f} | {max(values):.0f} | {rate[name] / rate[base]:.2f} "
            f"| {time[name]:.1f} | {time[base] / time[name]:.2f} |"
        )


if __name__ == "__main__":
    main()
