"""Measures the project on a GPU: `build` packs programs and data where Rust is, `run` measures on the machine with the
GPU, `page` puts the results into docs/gpu.md. tools/scripts/gpu.sh says how they are called.

`run` measures each case with a time limit, goes on after one that fails and writes the results after each: OUTPUT.json,
and the same as a table in OUTPUT.md. `--resume` measures what OUTPUT.json lacks. Where there is no CUDA toolkit, NVRTC
and headers are taken from pip's packages. Ratios are peer / project of alternating runs, above 1 where the project is
faster. Exit codes: 0 all was measured or its need is not here, 1 something failed, 2 wrong usage.
"""

import argparse
import ctypes
import json
import lzma
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

from bench import replace_section
from benching import ROOT, log, machine, markdown_table, run
from gpu_cases import PROGRAMS, Bench, NotMeasured, cases

PACK = ROOT / "gpu.local"
ARCHIVE = "large.tar.xz"
MANIFEST = "pack.json"
# What fits into one piece of luggage.
LIMIT = 64 << 20

# Programs, by the name of their target, and tests of the ranker's package, by what they are called in the pack.
BINARIES = ["train", "infer", "bench"]
TESTS = {"tabsegnet_ranker": "ranker_tests", "gpu": "ranker_gpu_tests"}
FILES = [
    "configs",
    "checkpoints/general",
    "checkpoints/pretrained",
    "checkpoints/static-encoder",
    "model/ranker/tests/reference",
    "tools/scripts/gpu.sh",
    "tools/scripts/gpu.py",
    "tools/scripts/gpu_cases.py",
    "tools/scripts/bench.py",
    "tools/scripts/benching.py",
    "tools/scripts/peers",
]

# The pack.


def executables(arguments):
    """What cargo says it built: the target, its package's folder, the program."""
    command = ["cargo", *arguments, "--message-format=json"]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    if result.returncode:
        sys.exit(f"{' '.join(command)} failed")
    messages = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    built = [m for m in messages if m.get("executable")]
    return [(m["target"], Path(m["manifest_path"]).parent, Path(m["executable"])) for m in built]


def build(options):
    # All of the workspace and with a test, as the tests are built: another selection would build what is shared anew.
    common = ["--release", "--locked", "--workspace", "--features", options.features, "--test", "gpu"]
    built = {target["name"]: file for target, _, file in executables(["build", *common, "--bins"])}
    for target, package, file in executables(["test", "--no-run", *common, "--lib"]):
        name = target["name"].replace("-", "_")
        if package == ROOT / "model/ranker" and name in TESTS:
            built[TESTS[name]] = file
    shutil.rmtree(PACK, ignore_errors=True)
    programs = PACK / PROGRAMS.name
    programs.mkdir(parents=True)
    for name in [*BINARIES, *TESTS.values()]:
        shutil.copy2(built[name], programs / name)
        if shutil.which("strip"):
            subprocess.run(["strip", programs / name], check=True)
    for name in FILES:
        ignored = shutil.ignore_patterns("__pycache__")
        (PACK / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, PACK / name, ignore=ignored)
        else:
            shutil.copy2(ROOT / name, PACK / name)
    if options.finqa:
        (PACK / "finqa").mkdir()
        for name in ("train.json", "dev.json"):
            shutil.copy2(options.finqa / name, PACK / "finqa")
    if options.encoder:
        # Without the weights, most of its size: speed does not depend on their values.
        weights = shutil.ignore_patterns("*.safetensors", "*.bin", "*.h5", "*.ot", "onnx", "openvino", ".*")
        shutil.copytree(options.encoder, PACK / "encoder", ignore=weights)
    describe = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=ROOT)
    manifest = {
        "commit": describe.stdout.strip(),
        "features": options.features,
        "machine": platform.machine(),
        "libc": " ".join(platform.libc_ver()),
    }
    (PACK / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
    plain = size(PACK)
    if plain > LIMIT:
        log(f"{plain / 2**20:.0f} MiB: the programs and FinQA are compressed")
        folders = [folder for folder in (PACK / "finqa", programs) if folder.is_dir()]
        compress(folders, PACK / ARCHIVE)
        for folder in folders:
            shutil.rmtree(folder)
    total = size(PACK)
    print(f"{PACK}: {total / 2**20:.1f} MiB, {plain / 2**20:.0f} MiB unpacked")
    if total > LIMIT:
        log(f"WARNING: more than {LIMIT >> 20} MiB")


def size(directory):
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())


def compress(folders, archive):
    # The window holds two programs, of which each is much like the others.
    filters = [{"id": lzma.FILTER_X86}] if platform.machine() == "x86_64" else []
    filters.append({"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 128 << 20})
    with lzma.open(archive, "wb", filters=filters) as compressed, tarfile.open(fileobj=compressed, mode="w|") as tar:
        for folder in folders:
            for file in sorted(folder.iterdir(), key=lambda file: file.stat().st_size):
                tar.add(file, f"{folder.name}/{file.name}")


def unpack():
    if PROGRAMS.is_dir():
        return
    archive = ROOT / ARCHIVE
    if not archive.exists():
        sys.exit(f"{ROOT}: there is no {PROGRAMS.name} and no {ARCHIVE}; `gpu.sh build` makes them where Rust is")
    part = ROOT / "unpacked.part"
    shutil.rmtree(part, ignore_errors=True)
    with tarfile.open(archive) as tar:
        tar.extractall(part)
    # The programs last: where they are, all is.
    for folder in sorted(part.iterdir(), key=lambda folder: folder.name == PROGRAMS.name):
        shutil.rmtree(ROOT / folder.name, ignore_errors=True)
        folder.rename(ROOT / folder.name)
    part.rmdir()


# CUDA's compiler for kernels.

# What the project's kernels include, and what those include that pip has apart.
HEADERS = ["cuda_fp16.h", "cuda_bf16.h", "mma.h", "crt/mma.h"]
SOURCE = b"#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <mma.h>\n"


def cuda_environment(work, python):
    """Variables with which NVRTC and the headers are found, and words about them: of a toolkit, else of pip's packages.
    What is newer than the driver is passed over, since that loads nothing that it makes."""
    driver = driver_version()
    if driver is None:
        return {}, "no NVIDIA driver (libcuda.so.1) is here"
    reasons = []
    for name, includes, libraries in toolkits(python):
        reason = unfit(includes, libraries, driver)
        if reason is None:
            links = link(work / "cuda", includes, libraries)
            return {"CUDA_PATH": str(links), "LD_LIBRARY_PATH": library_path(links / "lib")}, name
        reasons.append(f"{name}: {reason}")
    return {}, "; ".join(reasons) or "neither a CUDA toolkit nor pip's nvidia-cuda-nvrtc is here"


def toolkits(python):
    """What could be a toolkit: its name, directories of headers, files of NVRTC."""
    nvcc = shutil.which("nvcc")
    roots = [os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME"), "/usr/local/cuda", "/opt/cuda"]
    roots += [Path(nvcc).resolve().parents[1]] if nvcc else []
    for root in dict.fromkeys(Path(root) for root in roots if root):
        folders = [root / name for name in ("lib64", "lib", "targets/x86_64-linux/lib")]
        if found := [library for folder in folders for library in sorted(folder.glob("libnvrtc.so*"))]:
            yield str(root), [root / "include", root / "include/cccl"], found
    try:
        path = run([python, "-c", "import json, sys; print(json.dumps({'path': sys.path}))"])["path"]
    except (SystemExit, OSError):
        path = []
    sites = [Path(name) for name in path if Path(name, "nvidia").is_dir()]
    # PyTorch brings no package with crt/mma.h, but Triton, which has it.
    folders = ["nvidia/*/include", "triton/backends/nvidia/include"]
    includes = [path for folder in folders for site in sites for path in sorted(site.glob(folder))]
    for library in (library for site in sites for library in sorted(site.glob("nvidia/*/lib/libnvrtc.so*"))):
        yield str(library), includes, [library]


def driver_version():
    """As 13000 for CUDA 13.0; None without a driver."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    version = ctypes.c_int()
    return version.value // 10 * 10 if driver.cuDriverGetVersion(ctypes.byref(version)) == 0 else None


def unfit(includes, libraries, driver):
    """Why a compiler is of no use; None where it makes code from the headers."""
    missing = [header for header in HEADERS if not any((include / header).exists() for include in includes)]
    if missing:
        return f"{', '.join(missing)} missing (of pip's packages nvidia-cuda-runtime, nvidia-cuda-crt)"
    # In a process of its own, which finds the library's other half as the project will, and no other version.
    code = "import gpu, sys; gpu.compile_headers(*sys.argv[1:])"
    command = [sys.executable, "-c", code, libraries[0], *includes]
    try:
        path = library_path(libraries[0].parent)
        found = run(command, 120, PYTHONPATH=str(ROOT / "tools/scripts"), LD_LIBRARY_PATH=path)
    except SystemExit as failure:
        return str(failure.code)
    if found["version"] > driver:
        return f"CUDA {dotted(found['version'])} is newer than the driver's {dotted(driver)}"
    return found["error"]


def dotted(version):
    return f"{version // 1000}.{version % 1000 // 10}"


def library_path(directory):
    return ":".join(str(path) for path in (directory, os.environ.get("LD_LIBRARY_PATH")) if path)


def compile_headers(library, *includes):
    """Prints NVRTC's version, and as `error` what it has against the headers."""
    nvrtc = ctypes.CDLL(library)
    major, minor = ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    found, compiled = {"version": major.value * 1000 + minor.value * 10, "error": None}, ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(compiled), SOURCE, None, 0, None, None)
    options = [b"--gpu-architecture=sm_80", *(f"--include-path={include}".encode() for include in includes)]
    if nvrtc.nvrtcCompileProgram(compiled, len(options), (ctypes.c_char_p * len(options))(*options)) != 0:
        length = ctypes.c_size_t()
        nvrtc.nvrtcGetProgramLogSize(compiled, ctypes.byref(length))
        said = ctypes.create_string_buffer(length.value)
        nvrtc.nvrtcGetProgramLog(compiled, said)
        found["error"] = " ".join(said.value.decode(errors="replace").split())
    print(json.dumps(found))


def link(directory, includes, libraries):
    """A directory as the project wants a toolkit: `include`, and `lib` with libnvrtc under its plain name and with what
    it loads. No other library is there, which PyTorch could take for its own."""
    shutil.rmtree(directory, ignore_errors=True)
    (directory / "lib").mkdir(parents=True)
    for include in includes:
        for folder, _, files in os.walk(include):
            place = directory / "include" / Path(folder).relative_to(include)
            place.mkdir(parents=True, exist_ok=True)
            for name in files:
                if not (place / name).exists():
                    (place / name).symlink_to(Path(folder, name))
    (directory / "lib/libnvrtc.so").symlink_to(libraries[0].resolve())
    for file in libraries[0].parent.glob("libnvrtc-*"):
        (directory / "lib" / file.name).symlink_to(file.resolve())
    return directory


# Measuring.


def measure(options):
    if (PACK / MANIFEST).exists():
        # Everything of one state, as it was packed.
        os.execv(sys.executable, [sys.executable, str(PACK / "tools/scripts/gpu.py"), *sys.argv[1:]])
    unpack()
    packed = ROOT / "finqa"
    options.finqa = options.finqa or (packed if packed.is_dir() else None)
    devices = ("cpu",) if options.cpu_only else tuple(options.devices.split(","))
    if unknown := set(devices) - {"cpu", "cuda", "wgpu"}:
        options.parser.error(f"unknown device {unknown.pop()!r}; expected some of cuda, wgpu")
    chosen = cases(devices, options.small)
    steps = list(dict.fromkeys(case.step for case in chosen))
    only = options.only.split(",") if options.only else steps
    if unknown := [name for name in only if name not in steps]:
        options.parser.error(f"unknown step {unknown[0]!r}; expected some of {', '.join(steps)}")
    found = json.loads(options.output.read_text()) if options.resume and options.output.exists() else {"rows": {}}
    rows, start = found["rows"], time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        environment, compiler = cuda_environment(work, options.python)
        os.environ.update(environment)
        places = {"TABSEGNET_CHECKPOINTS": str(ROOT / "checkpoints"), "TABSEGNET_CACHE": str(work / "cache")}
        os.environ.update(places | {"RUST_BACKTRACE": "0"})
        bench = Bench(options, work)
        log(f"CUDA's compiler: {compiler}")
        for device in devices:
            try:
                log(f"{device}: {bench.device(device)['device']}")
            except NotMeasured as reason:
                log(f"WARNING: {device} is NOT MEASURED: {reason}")
        found["machine"] = about(bench, devices, compiler)
        for number, case in enumerate(chosen, 1):
            before = rows.get(case.what, {})
            if case.step not in only or "ours" in before and not before.get("failed"):
                continue
            if options.seconds and time.monotonic() - start > options.seconds:
                log("the time is over; --resume goes on")
                break
            log(f"[{number}/{len(chosen)}] {case.what}")
            rows[case.what] = measured(case, bench)
            write(options.output, found, chosen)
        write(options.output, found, chosen)
    print(table(found, chosen))
    failed = [what for what, row in rows.items() if row.get("failed")]
    for what in failed:
        log(f"FAILED: {what}")
    return 1 if failed else 0


def measured(case, bench):
    start = time.monotonic()
    try:
        bench.device(case.device)
    except NotMeasured:
        return {}  # said once
    try:
        row = case.measure(bench)
    except NotMeasured as reason:
        log(f"WARNING: NOT MEASURED: {reason}")
        return {"missing": str(reason)}
    except (SystemExit, subprocess.TimeoutExpired, OSError, ValueError, KeyError) as failure:
        words = str(failure) or repr(failure)
        log(f"FAILED: {words}")
        row = {"error": words, "failed": True}
    return row | {"seconds": round(time.monotonic() - start, 1)}


def about(bench, devices, compiler):
    """The machine in words."""
    words = {"cpu": machine(bench.options), "compiler": compiler, "gpu": bench.gpu, "torch": bench.torch, "devices": {}}
    for device in devices:
        try:
            found = bench.device(device)
            tf32 = ", products of f32 in TF32, the peer's too" if found["tf32"] else ", no TF32, nor in the peer"
            words["devices"][device] = found["device"] + tf32
        except NotMeasured as reason:
            words["devices"][device] = f"not here: {reason}"
    try:
        words["pack"] = json.loads((ROOT / MANIFEST).read_text())
    except OSError:
        pass
    return words


def table(found, chosen):
    rows = []
    for case in chosen:
        row = found["rows"].get(case.what, {})
        missing = f"not measured: {row['missing']}" if "missing" in row else "not measured"
        ours = row.get("ours") or ("failed" if row.get("failed") else missing)
        rows.append([case.what, row.get("beside", ""), row.get("its", ""), ours, row.get("ratio", "")])
    text = markdown_table(["", "beside", "its figure", "tabsegnet", "ratio"], rows)
    lines = []
    if here := found.get("machine"):
        gpu, torch = here["gpu"], here["torch"]
        card = f"{gpu['name']}, driver {gpu['driver']}, {gpu['memory'] >> 30} GiB; " if gpu else ""
        lines.append(f"- {card}{here['cpu']}")
        lines += [f"- `{name}`: {words}" for name, words in here["devices"].items()]
        lines.append(f"- PyTorch {torch['version']}" if torch else "- no PyTorch")
        lines.append(f"- compiler of CUDA's kernels: {here['compiler']}")
        if pack := here.get("pack"):
            lines.append(f"- programs of {pack['commit']}, features {pack['features']}")
    if data := sorted({row["data"] for row in found["rows"].values() if "data" in row}):
        lines.append(f"- the whole training: {', '.join(data)}")
    return text + "\n\n" + "\n".join(lines) if lines else text


def write(file, found, chosen):
    texts = {file: json.dumps(found, indent=1) + "\n", file.with_suffix(".md"): table(found, chosen) + "\n"}
    for path, text in texts.items():
        temporary = path.with_name(path.name + ".part")
        temporary.write_text(text)
        temporary.replace(path)


# The page.


def page(options):
    found = json.loads(options.results.read_text()) if options.results else {"rows": {}}
    file = ROOT / "docs/gpu.md"
    words = (
        "`tools/scripts/gpu.sh page` wrote this section. Times and rates are medians of alternating runs, in brackets\n"
        "the least and the greatest; where a ratio is above 1 the project is faster.\n\n"
    )
    body = words + table(found, cases(("cuda", "wgpu"), small=False))
    text = replace_section(file.read_text(), "Measured", body).rstrip() + "\n"
    temporary = file.with_suffix(".part")
    temporary.write_text(text)
    temporary.replace(file)


def directory(name):
    path = Path(name)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{name} is not a directory")
    return path


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="gpu.sh", description=__doc__, formatter_class=raw)
    commands = parser.add_subparsers(dest="command", required=True)
    pack = commands.add_parser("build", help="programs and data into gpu.local")
    pack.add_argument("--features", default="wgpu,cuda", help="what the programs have")
    pack.add_argument("--finqa", type=directory, help="directory of FinQA's train.json and dev.json")
    pack.add_argument("--encoder", type=directory, help="directory of a sentence encoder; its weights are not packed")
    there = commands.add_parser("run", help="measure")
    there.add_argument("--output", type=Path, default=Path("gpu.json"), help="results; the table is beside it as .md")
    there.add_argument("--resume", action="store_true", help="measure only what OUTPUT lacks")
    there.add_argument("--only", help="steps, by comma")
    there.add_argument("--devices", default="cuda,wgpu", help="devices, by comma")
    there.add_argument("--finqa", type=directory, help="directory of FinQA's files; what was packed unless given")
    there.add_argument("--encoder", type=directory, help="directory of a sentence encoder with its weights")
    there.add_argument("--python", default=sys.executable, help="a Python with PyTorch")
    there.add_argument("--rounds", type=int, default=3)
    there.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    there.add_argument("--limit", type=float, default=300, help="seconds that one run of a program may take")
    there.add_argument("--training-limit", type=float, default=1800, help="seconds that a whole training may take")
    there.add_argument("--cpu-limit", type=float, default=1800, help="seconds that the CPU's may take beside it")
    there.add_argument("--seconds", type=float, help="begin no case after so many seconds")
    there.add_argument("--small", action="store_true", help="tiny sizes, software GPUs too: a trial of the script")
    there.add_argument("--cpu-only", action="store_true", help="the CPU in a GPU's place: a trial of the script")
    results = commands.add_parser("page", help="the results into docs/gpu.md")
    results.add_argument("results", type=Path, nargs="?", help="what `run` wrote; without it nothing is measured")
    options = parser.parse_args()
    options.parser = parser
    if options.command == "build":
        return build(options)
    if options.command == "page":
        return page(options)
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    options.output = options.output.resolve()
    return measure(options)


if __name__ == "__main__":
    sys.exit(main())
