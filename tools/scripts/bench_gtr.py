#!/usr/bin/env python3
"""k-means, PageRank and the local graph of retrieval/corpus beside scikit-learn, faiss, scipy, igraph and numpy, in turn in
one run.

    pip install numpy scipy scikit-learn faiss-cpu igraph
    cargo build --release -p tabsegnet-corpus --example bench_gtr
    python tools/scripts/bench_gtr.py target/release/examples/bench_gtr [--vectors FILE.npy] [--rounds 5] [--threads 2]

Without vectors it draws 60,000 of 384 around 50 centres. Prints a table in Markdown; bench_corpus.py has the same rows.
Each program times itself, reading left out. The same centroids to start from, the same number of rounds; `to the end` is
each with its own k-means++ until done, with the inertia of both. faiss clusters with the same centroids and rounds, igraph
walks the same graph with PRPACK, which is exact: its time is of other work, to the same scores.
"""

import argparse
import os
import pathlib
import tempfile
import time

from benching import cell, log, machine, markdown_table, ratio, run

COLUMNS = ["", "ours, ms", "library", "its ms", "its time / ours"]


def rows(what, ours, peers):
    """Rows of COLUMNS from milliseconds."""
    return [[what, cell(ours, 2), name, cell(times, 2), ratio(times, ours)] for name, times in peers.items()]


def limit_threads(threads):
    """To be called before the libraries are loaded."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"):
        os.environ[name] = str(threads)


def measured(program, given):
    """Rows of COLUMNS, and what was measured on."""
    import faiss
    import igraph
    import numpy as np
    import scipy.sparse
    from sklearn.cluster import KMeans

    rng = np.random.default_rng(1)
    if given.vectors:
        vectors = np.load(given.vectors).astype(np.float32)
    else:
        centres = rng.normal(size=(50, 384))
        vectors = centres[rng.integers(50, size=given.count_of_vectors)]
        vectors = vectors + rng.normal(size=vectors.shape) * 1.5
        vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    width = vectors.shape[1]
    near = vectors[rng.permutation(len(vectors))[:6000]]
    cosines = near @ near.T
    tau = float(np.quantile(cosines[:500], 0.8))
    cosines[cosines < tau] = 0
    graph = scipy.sparse.csr_matrix(cosines)
    restarts = rng.random((8, len(near))).astype(np.float32)
    centroids = vectors[rng.permutation(len(vectors))[:10]]

    def lloyd():
        made = KMeans(10, init=centroids, n_init=1, tol=0, max_iter=20, algorithm="lloyd")
        return lambda: made.fit(vectors).n_iter_

    def by_faiss():
        made = faiss.Kmeans(vectors.shape[1], 10, niter=20, max_points_per_centroid=len(vectors))

        def run():
            made.train(vectors, init_centroids=centroids.copy())
            return len(made.obj)

        return run

    edges = graph.tocoo()
    walked = igraph.Graph(len(near), np.column_stack([edges.row, edges.col]), directed=True)
    walked.es["weight"] = edges.data.astype(float)

    def by_igraph():
        walked.personalized_pagerank(damping=0.85, reset=restarts[0].tolist(), weights="weight")

    def seeded(seed):
        made = KMeans(10, n_init=1, tol=0, random_state=seed, algorithm="lloyd")
        return lambda: made.fit(vectors).inertia_

    def pagerank(count):
        moves = scipy.sparse.diags_array(1 / np.asarray(graph.sum(1)).ravel()).astype(np.float32) @ graph
        moves = scipy.sparse.csr_matrix(moves)

        def walk():
            taken = 0
            for h in restarts[:count] / restarts[:count].sum(1, keepdims=True):
                v = h
                for _ in range(50):
                    new = np.float32(0.15) * h + np.float32(0.85) * (moves @ v)
                    change = np.abs(new - v).sum()
                    v, taken = new, taken + 1
                    if change < 1e-6:
                        break
            return taken

        return walk

    def local():
        def build():
            cosines = near @ near.T
            cosines[cosines < tau] = 0
            return scipy.sparse.csr_matrix(cosines).nnz

        return build

    with tempfile.TemporaryDirectory() as folder:

        def kept(name, array):
            file = pathlib.Path(folder) / name
            array.tofile(file)
            return str(file)

        all_vectors, width = kept("vectors", vectors), str(width)
        csr = [kept("offsets", graph.indptr.astype(np.uint32)), kept("columns", graph.indices.astype(np.uint32)),
                 kept("weights", graph.data)]
        rounds = ["kmeans", all_vectors, width, kept("centroids", centroids), "20"]
        cases = {
            "k-means, 20 rounds": (rounds, {"scikit-learn": lloyd(), "faiss": by_faiss()}),
            "k-means++ to the end, seed 1": (["seeded", all_vectors, width, "10", "1"], {"scikit-learn": seeded(1)}),
            "k-means++ to the end, seed 2": (["seeded", all_vectors, width, "10", "2"], {"scikit-learn": seeded(2)}),
            "PageRank, one restart": (
                ["pagerank", *csr, kept("one", restarts[0])], {"scipy": pagerank(1), "igraph": by_igraph}),
            "PageRank, eight restarts": (
                ["pagerank", *csr, kept("eight", restarts)], {"scipy": pagerank(8)}),
            "local graph of 6,000": (["graph", kept("near", near), width, str(tau)], {"numpy": local()}),
        }
        found = []
        for name, (arguments, others) in cases.items():
            log(name)
            ours, theirs, value, values = [], {peer: [] for peer in others}, 0, {}
            for _ in range(given.rounds):
                of_ours = run([program, *arguments])
                ours.append(1000 * of_ours["seconds"])
                value = of_ours["value"]
                for peer, other in others.items():
                    start = time.perf_counter()
                    values[peer] = other()
                    theirs[peer].append(1000 * (time.perf_counter() - start))
            if name.startswith("k-means++"):
                name += f" (inertia {value:.6g}, {values['scikit-learn']:.6g})"
            found += rows(name, ours, theirs)
    about = (
        f"{len(vectors):,} vectors of {width} for k-means with K = 10; a graph of {len(near):,} nodes with {graph.nnz:,} edges "
        "for PageRank; from the same centroids and restarts. scipy and igraph walk in one thread; igraph's PRPACK is exact: other work, "
        "to the same scores."
    )
    return found, about


def add_options(parser):
    parser.add_argument("--vectors", type=pathlib.Path, help="of a corpus, as .npy; drawn without")
    parser.add_argument("--count-of-vectors", type=int, default=60_000, help="of those that are drawn")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    add_options(parser)
    given = parser.parse_args()
    limit_threads(given.threads)
    about_machine = machine(given)
    found, about = measured(given.program.resolve(), given)
    print(f"{markdown_table(COLUMNS, found)}\n\n{about}\n\n{about_machine}")


if __name__ == "__main__":
    main()
