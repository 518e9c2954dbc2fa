#!/usr/bin/env python3
"""Writes docs/corpus.md: what ways to rank the tables of a corpus reach, and how fast a corpus is made, opened and searched.

  corpus.py --root datasets/corpus --work W --output docs/corpus.md [--checkpoint DIR]
            [--encoder DIR --encoder-checkpoint DIR] [--grow N …] [--grow-encoder N …]
            [--keep-speed | --keep-measures]

Sets come from corpus_sets.py. With --encoder (all-MiniLM-L6-v2) its figures stand beside the static
encoder's, by a reranker that was trained over it. --keep-speed leaves the sections behind the figures as they are,
--keep-measures takes the figures of an earlier call from W. --grow
makes corpora of so many tables: windows of rows of the real ones; --grow-encoder does so with the encoder. corpus_ablation.py and bench_corpus.py put their sections
into the page afterwards, corpus_growth.py draws the image."""

import argparse
import glob
import gzip
import json
import os
import re
import resource
import shutil
import subprocess
import time

HEAD = """# Corpora of tables

`index` makes a corpus of files, `infer --corpus` ranks its tables for a question, `--nodes` goes on to their cells and
the sentences beside them. This page
is written by `tools/scripts/corpus.py`.

## How tables are ranked

1. **Words.** Every table is searched by BM25 over six fields: title, headings, caption, column headers, first column, other
   cells. Frequencies and mean lengths are those of the whole corpus, whatever files it is made of.
   Frequent words are looked up where blocks of their postings can bring a table among the best; the rest is left aside
   (MaxScore with bounds of blocks), to the same scores.
2. **Vector.** One a table, of title, headings, caption and column headers. A question's goes through a linear adapter,
   q + q D U with D U of rank 48, that was learnt from questions and their tables: an encoder that knows nothing of tables puts
   a question beside texts that say the same, not beside the table that answers it.
3. **Sum** (`--retriever fusion`). A weighted sum of the seven, and of the share of the question's words that stand anywhere
   in the table, proposes candidates; weights are learnt.
4. **Links.** From the first twenty, keys that tables share (one page, the same columns, the same first column, columns
   with common values by sketches, a common column) lead to further candidates. Columns or first columns that more than sixty
   tables share lead to the ten with the nearest vectors.
5. **Trees** (`--retriever rerank`, the default). Boosted trees order the candidates: by the signals, their places among the
   others, what links them to the first ones, how near their vectors are to those of the first, and what of the question a
   single row, a whole cell and the headers have.
6. **Beside each other.** Where there are 150 candidates, the first 150 are put in order once more, by trees that also see what
   each and the first twenty have in common (columns, first column, words of title and caption, vectors) and what the trees
   before make of those: parts of one table are wanted together. They learn from scores out of fold (two
   folds, as all trees do from adapted vectors). Tables with the columns or the first column of one of the first ten, and half
   of their words in common by idf, are looked at too; in the end such a table goes four fifths of the way to the score of the
   best of its kind.
7. **The one that is named.** Where the question names something with a capital, or as what something is of ("Nike's net income"), and the
   title of a candidate does too, candidates that say nothing of it stand behind all others: tables of other companies' reports look
   alike. No figure of the sets below changes by it.

`--retriever` also takes `rrf`, `bm25`, `bm25-schema`, `dense`, `links` (PageRank over the links of step 4 between the
candidates, begun at each by its sum) and `gtr`, graph-table retrieval as its paper has it (Zou et
al., arXiv 2504.01346): k-means hypergraph over three kinds of features, typical nodes, coarse stage, local graph,
personalised PageRank; its settings are `[corpus.gtr]` of a config, or `--retriever gtr:τ=0.5,K=20`, under the paper's symbols.
Its semantic vectors are the index's own, of the same title, headings, caption and headers with other marks between them.
Parts of speech of its structural features come from word lists and endings. The paper names no tau; with the static encoder
nearly all tables are neighbours at .3, so it is .6 there.

`train --config configs/corpus.toml` learns weights and trees; `checkpoints/corpus` is what it makes, and
`checkpoints/corpus-minilm` over all-MiniLM-L6-v2, which is taken where the corpus was made with `--encoder`. A reranker that has
learnt from another encoder than the corpus', by digest, is an error.
Where sets share tables, no question is learnt from that is about a table of a dev question of any set, or in the words of one.
The sets are made by `tools/scripts/corpus_sets.py`, the tasks of MultiTableQA by `build-multitable`, which takes tables and questions
of one's own too, and WTQ, SQA, TabFact, OTT-QA and HybridQA as they are downloaded (`--data-set wtq=FOLDER`, `--help`). Whoever has the published files can index them and measure on them: `build-multitable
--from-published FOLDER/NAME… --task single --output OUT` makes of `NAME_table.jsonl` and `NAME_query.jsonl` the `tables.jsonl`
and `questions.jsonl` that `index` and `[[corpus.parts]]` read. `--form published [--name NAME]` writes the published form instead;
`--seed N` makes other cuts and wordings.

`[corpus.candidates]` says which links are followed, whether cells are looked at, whether the first are seen beside each
other and whether questions' vectors are adapted.

## On the disk

A corpus is immutable, memory-mapped segments, a list of the files that their tables are from, and `corpus.json`, which names
these and is replaced whole: a change that is cut off has not happened, readers see the corpus as it was when they opened it,
one program changes it at a time. A file is known by where it lies, however its path is written and from whatever folder. The folders
below the one that was given stand before the title of its tables, `2023/sales` of `reports/2023/sales.csv`, so that files of one name
are told apart; where several folders are given, and where one is called by a year, its own name too. Files
whose content and folders are as they were are not read again; one
that cannot be read keeps the tables that the corpus has of it. A file that changes while it is read is read again, up to
three times; then it counts as one that cannot be read. The list of files is read by changes alone: a corpus of 100,000 files
opens as quickly as one of few. What is deleted from a folder stays in the corpus, and is named when the folder is given again:
`--remove` takes out what came from a file or from all files below a folder; `--join` puts
together corpora that several machines made of a part of the files each, with the answers of one made at once, to the byte. Of
files with one name, and of tables with one id, the first count, as there, and the others are listed; one made at once takes files
by their paths, so that corpora are joined in this order. A table that a later run adds takes the place of one with its id, which is said.
A file or folder whose name is no UTF-8 is listed and left out. A corpus looks for its
encoder where it lay when the corpus was made; where it was moved, `index --output DIR --encoder FOLDER` says so.

**Documents.** A table of a report keeps its header rows and merged cells, and takes with it up to twenty sentences on either
side, as far as the next table or heading: `--nodes` ranks these too, and says what the file itself calls a node (`id_in_file`).
Tables are what is searched: what stands in a section without one is not found; `ask --document FOLDER` looks there.

**Databases.** Of a SQLite database each table is one, with its name as caption and the file's as title, and a Parquet file is
one; views, virtual tables and pictures are left out, and of a table of more than 1,000,000 cells the first rows are read, which
is said.

`corpus.json` has a SHA-256 of each of these files: `index --check` reads all of them and says which is not as it was written;
opening looks at lengths alone. A corpus of another version of the format is refused with a message; it is made anew of its files.

Exit codes of `index`: 0 done, 1 nothing was done, 2 wrong usage, 3 done but for the files that are listed.
"""

# Figures of the paper, for whoever reads the page beside it.
PUBLISHED = """As published, on files of their own (Zou et al. 2025, Table 2): other tables, other questions, so context and no comparison. Acc@10 / Acc@50 and Recall@10 / Recall@50 in %:

| method | verification: Acc | Recall | single: Acc | Recall | multi: Acc | Recall |
|---|---:|---:|---:|---:|---:|---:|
| DTR | 21.1 / 36.2 | 36.4 / 51.4 | 35.8 / 59.5 | 46.8 / 67.7 | 38.9 / 57.8 | 44.2 / 62.0 |
| Table-Contriever | 23.4 / 40.1 | 40.5 / 57.1 | 39.8 / 66.1 | 52.0 / 71.2 | 43.2 / 64.2 | 49.1 / 68.9 |
| Table-E5 | 23.4 / 40.3 | 42.2 / 58.0 | 43.5 / 69.6 | 56.5 / 78.9 | 49.6 / 69.1 | 55.0 / 72.9 |
| Table-LLaMA | 34.9 / 56.1 | 53.5 / 69.5 | 40.6 / 72.0 | 48.3 / 75.4 | 45.8 / 61.8 | 51.9 / 64.3 |
| one head, semantic | 18.0 / 34.8 | 31.6 / 45.3 | 25.7 / 50.3 | 28.6 / 52.8 | 32.5 / 43.1 | 36.3 / 46.2 |
| TaBERT | 33.8 / 51.6 | 48.5 / 63.9 | 41.6 / 74.4 | 45.8 / 78.9 | 48.0 / 65.6 | 51.6 / 66.9 |
| TAPAS | 35.6 / 53.8 | 51.1 / 66.5 | 44.3 / 78.3 | 48.2 / 82.5 | 50.6 / 68.7 | 54.3 / 70.1 |
| GTR | 36.1 / 59.4 | 55.9 / 75.9 | 47.3 / 83.1 | 51.5 / 86.8 | 57.2 / 72.7 | 62.5 / 76.8 |
"""


def run(command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def timed(command):
    """Seconds and the peak of memory in MB of a command."""
    begun = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{command}: failed with {status}")
    return time.monotonic() - begun, usage.ru_maxrss / 1024


def windows(files, count, path):
    """So many tables: windows of rows of the real ones, again and again with other rows."""
    real = []
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            real.extend(json.loads(line) for line in lines)
    with open(path, "w", encoding="utf-8") as out:
        for number in range(count):
            table = real[number % len(real)]
            turn = number // len(real)
            rows = table["rows"]
            if turn and len(rows) > 1:
                start = (turn * 7) % len(rows)
                rows = (rows + rows)[start : start + max(1, len(rows) // 2)]
            out.write(json.dumps({**table, "id": f"{table['id']}~{turn}", "rows": rows}, ensure_ascii=False) + "\n")


def speed(arguments, program):
    """Lines of the section on speed."""
    tables = sorted(glob.glob(f"{arguments.root}/tables/*.jsonl.gz"))
    rows = []
    sizes = [(None, count) for count in [None, *arguments.grow]]
    for encoder, count in sizes + [(arguments.encoder, count) for count in arguments.grow_encoder]:
        corpus = f"{arguments.work}/speed-{count or 'all'}"
        shutil.rmtree(corpus, ignore_errors=True)
        inputs = tables
        if count:
            inputs = [f"{arguments.work}/windows-{count}.jsonl"]
            windows(tables, count, inputs[0])
        seconds, memory = timed([program("index"), "--output", corpus, *(["--encoder", encoder] if encoder else []), *inputs])
        if count:
            os.remove(inputs[0])
        size = sum(os.path.getsize(path) for path in glob.glob(f"{corpus}/*")) / 2**20
        ways = ["fusion", "rerank"]
        command = [program("bench"), "corpus_speed", "--corpus", corpus, "--questions", f"{arguments.root}/questions/wtq.jsonl.gz"]
        speeds = json.loads(run(command + [part for way in ways for part in ("--retriever", way)]))
        by = {speed["retriever"]: speed for speed in speeds}
        rows.append(
            f"| {'MiniLM, int8' if encoder else 'static'} | {by['fusion']['tables']:,} | {seconds:.1f} | {memory:,.0f} | {size:,.0f} | {by['fusion']['open_ms']:.1f} | "
            f"{by['fusion']['p50_ms']:.1f} / {by['fusion']['p95_ms']:.1f} | {by['rerank']['p50_ms']:.1f} / "
            f"{by['rerank']['p95_ms']:.1f} |"
        )
        shutil.rmtree(corpus, ignore_errors=True)
    page = ["## Speed\n"]
    page.append(
        f"On {os.cpu_count()} processors; questions of WTQ, one after the other, p50 / p95 in ms.\n\n"
        "| encoder | tables | index, s | peak memory, MB | on the disk, MB | open, ms | fusion | rerank |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|\n" + "\n".join(rows) + "\n\n"
        "![Costs of making, opening and searching a corpus, by tables](corpus-growth.svg)\n"
    )
    return page


def summary(figures, questions):
    """What the default reaches on the tasks of MultiTableQA, by encoder; `figures` are pages of measures."""
    tasks = ["verification", "single", "single-wtq", "multi"]
    lines = [f"The default (`rerank`) on at most {questions} questions a set, Acc@10 / Acc@50 in %:\n"]
    lines.append("| | " + " | ".join(f"`{task}`" for task in tasks) + " |\n|---" + "|---:" * len(tasks) + "|")
    for name, text in figures.items():
        cells = []
        for task in tasks:
            section = re.search(rf"^### {task}\n.*?(?=^### |\Z)", text, flags=re.M | re.S)[0]
            header = [cell.strip() for cell in re.search(r"^\| method .*$", section, flags=re.M)[0].split("|")]
            row = [cell.strip(" *") for cell in re.search(r"^\| rerank .*$", section, flags=re.M)[0].split("|")]
            cells.append(f"{row[header.index('Acc@10')]} / {row[header.index('Acc@50')]}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--checkpoint", default="checkpoints/corpus")
    parser.add_argument("--encoder")
    parser.add_argument("--encoder-checkpoint", default="checkpoints/corpus-minilm")
    parser.add_argument("--keep-speed", action="store_true")
    parser.add_argument("--keep-measures", action="store_true")
    parser.add_argument("--grow", type=int, nargs="*", default=[])
    parser.add_argument("--grow-encoder", type=int, nargs="*", default=[])
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--programs", default=os.environ.get("TABSEGNET_PROGRAMS", "target/release"))
    arguments = parser.parse_args()
    program = lambda name: os.path.join(arguments.programs, name)
    os.makedirs(arguments.work, exist_ok=True)

    def measured(name, checkpoint, *more):
        out = f"{arguments.work}/{name}"
        command = [program("evaluate"), "--config", "configs/corpus.toml", "--checkpoint", checkpoint]
        command += ["--set", f"corpus.root={arguments.root}", "--set", f"corpus.dev_questions={arguments.questions}"]
        if not arguments.keep_measures:
            run([*command, "--output", out, *more])
        with open(f"{out}/corpus.md", encoding="utf-8") as file:
            return re.sub(r"^## ", "### ", file.read(), flags=re.M)

    page = [HEAD, "## Figures\n"]
    page.append(
        f"The static encoder that comes with the project; at most {arguments.questions} questions a set, of tables that no "
        "training question is about. `verification`, `single` and `multi` are the tasks of MultiTableQA as "
        "`build-multitable` makes them of the visible data: not the published files, so the paper's own rows (GTR: Acc@10 "
        "/ Acc@50 of 36.1 / 59.4, 47.3 / 83.1 and 57.2 / 72.7 in its Table 2) are context, not a comparison. So are those of TARGET, R@1 / 10 / 50: 73.9 / 95.5 / 97.8 of BM25 on OTT-QA (789 tables), 49.2 / 77.9 / 92.5 of OpenAI's vectors on TabFact (1,695 tables). `single` is of "
        "HybridQA's tables, `multi` of WTQ's: rows and columns of the paper's Table 1 tell (7.4 × 4.5, 13.8 × 7.3). "
        "`single-wtq` are single questions to WTQ's tables, `wtq-alone` those to its tables whole; many lean on their table (\"this team\"). `mmqa` and the sets named `-alone` are searched among their own tables; "
        "`wikisql-alone` are questions of WikiSQL whose tables TabFact has, `spider-alone`, `bird-alone` and `beaver-alone` tables "
        "of databases of which the headers alone are known. Half of FeTaQA's dev split is measured in `fetaqa`, beside its test split.\n"
    )
    figures = {"`checkpoints/corpus`, static encoder": measured("static", arguments.checkpoint)}
    if arguments.encoder:
        figures["`checkpoints/corpus-minilm`"] = measured(
            "minilm", arguments.encoder_checkpoint, "--set", "encoder.kind=bert", "--set", f"encoder.model={arguments.encoder}",
            "--set", "encoder.precision=int8", "--set", "corpus.gtr.tau=0.3")
    static, *minilm = figures.values()
    page.append(summary(figures, arguments.questions))
    page.append(PUBLISHED)
    page.append(static)
    if minilm:
        page.append(
            "## The same with all-MiniLM-L6-v2 (int8)\n\nThe corpus is made with `index --encoder`, the reranker is "
            "`checkpoints/corpus-minilm`, trained over these vectors; GTR's tau is .3.\n"
        )
        page.extend(minilm)
    if arguments.keep_speed:
        with open(arguments.output, encoding="utf-8") as file:
            page.append(re.search(r"^## (Without a part|Speed)\n.*", file.read(), flags=re.M | re.S)[0])
    else:
        # What corpus_ablation.py and bench_corpus.py wrote stays.
        old = open(arguments.output, encoding="utf-8").read() if os.path.exists(arguments.output) else ""
        page.extend(re.findall(r"^## Without a part\n.*?(?=^## )", old, flags=re.M | re.S))
        page.extend(speed(arguments, program))
        page.extend(re.findall(r"^## Beside libraries\n.*", old, flags=re.M | re.S))
    with open(arguments.output + ".part", "w", encoding="utf-8") as file:
        file.write("\n".join(page))
    os.replace(arguments.output + ".part", arguments.output)


if __name__ == "__main__":
    main()
