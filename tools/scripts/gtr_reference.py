#!/usr/bin/env python3
"""Makes retrieval/corpus/tests/reference/gtr.json: what scikit-learn, scipy and plain numpy find in small problems.

    pip install numpy scipy scikit-learn
    python tools/scripts/gtr_reference.py retrieval/corpus/tests/reference/gtr.json

k-means from given centroids, one of them without points; PageRank both ways over a graph with nodes that lead nowhere,
as a linear system and in steps; TF-IDF; the coarse and the fine stage of GTR as the paper's formulas, in float64.
"""

import argparse
import json
import pathlib

import numpy as np
import scipy.sparse
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer

ALPHA, EPSILON, STEPS = 0.85, 1e-6, 50


def plain(array):
    return np.asarray(array, dtype=np.float32).astype(float).ravel().tolist()


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def kmeans_case(name, points, centroids):
    points, centroids = points.astype(np.float32), centroids.astype(np.float32)
    made = KMeans(len(centroids), init=centroids, n_init=1, tol=0, max_iter=300, algorithm="lloyd").fit(points)
    return {"name": name, "width": points.shape[1], "points": plain(points), "from": plain(centroids),
            "centroids": plain(made.cluster_centers_), "assignment": made.labels_.tolist(), "inertia": float(made.inertia_)}


def kmeans_cases(rng):
    blobs = rng.normal(size=(4, 6))[rng.integers(4, size=90)] * 3 + rng.normal(size=(90, 6))
    loose = rng.normal(size=(700, 5))
    far = blobs[[0, 1, 2, 3]].copy()
    far[3] = 1000
    return [kmeans_case("blobs", blobs, blobs[:4]), kmeans_case("loose", loose, loose[:9]),
            kmeans_case("a centroid without points", blobs, far)]


def steps(matrix, h, jump):
    """v and how many steps it took; `jump` adds what comes from nodes that lead nowhere."""
    v = h
    for step in range(1, STEPS + 1):
        new = (1 - ALPHA) * h + ALPHA * (matrix @ v + jump(v))
        change = np.abs(new - v).sum()
        v = new
        if change < EPSILON:
            break
    return v, step


def pagerank_case(rng):
    nodes = 40
    weights = rng.random((nodes, nodes)) * (rng.random((nodes, nodes)) < 0.12)
    weights[[3, 17, 39]] = 0
    weights = weights.astype(np.float32).astype(float)
    h = (rng.random(nodes) * (rng.random(nodes) < 0.6)).astype(np.float32).astype(float)
    share = h / h.sum()
    sums = weights.sum(1)
    empty = sums == 0
    normalised = weights / np.where(empty, 1, sums)[:, None]
    whole = normalised + np.outer(empty, share)
    solve = lambda matrix: np.linalg.solve(np.eye(nodes) - ALPHA * matrix, (1 - ALPHA) * share)
    sparse = scipy.sparse.csr_matrix(normalised)
    forward, taken = steps(sparse, share, lambda v: empty * (share @ v))
    backward, taken_back = steps(sparse.T.tocsr(), share, lambda v: share * v[empty].sum())
    assert np.abs(solve(whole) - forward).sum() < 1e-4 and np.abs(solve(whole.T) - backward).sum() < 1e-4
    edges = scipy.sparse.csr_matrix(weights)
    return {"offsets": edges.indptr.tolist(), "columns": edges.indices.tolist(), "weights": plain(edges.data),
            "restart": plain(h), "forward": plain(forward), "forward_steps": taken, "forward_limit": plain(solve(whole)),
            "transposed": plain(backward), "transposed_steps": taken_back, "transposed_limit": plain(solve(whole.T))}


def tf_idf_case():
    texts = ["list of wins and losses of the club", "wins in the cup", "the the cup final", "population of a city"]
    queries = ["wins of the cup", "city of cup wins wins", "nothing known"]
    made = TfidfVectorizer(token_pattern=r"[a-z]+").fit(texts)
    cosines = (made.transform(queries) @ made.transform(texts).T).toarray()
    return {"texts": texts, "queries": queries, "cosines": plain(cosines)}


def gtr_case(rng):
    """Clusters that are far from each other, so that any seeds find them; the rest by the paper's formulas."""
    clusters, typical, width, tau = 3, 8, 12, 0.75
    centres = np.eye(width)[:clusters] * 2
    of = np.arange(60) % clusters
    tables = (centres[of] + rng.normal(size=(60, width)) * 0.3).astype(np.float32)
    queries = rng.normal(size=(9, width)).astype(np.float32)
    found = KMeans(clusters, n_init=5, random_state=0).fit_predict(tables)
    assert len(set(zip(found, of))) == clusters
    s, q = unit(tables.astype(float)), unit(queries.astype(float))
    means = []
    for cluster in range(clusters):
        members = np.flatnonzero(of == cluster)
        centroid = tables[members].astype(float).mean(0)
        nearest = members[np.argsort(-(s[members] @ unit(centroid)), kind="stable")[:typical]]
        means.append((q @ s[nearest].T).mean(1))
    picked = np.argmax(means, axis=0)
    rankings, transposed, edges = [], [], []
    for number in range(len(q)):
        members = np.flatnonzero(of == picked[number])
        cosines = s[members] @ s[members].T
        similar = np.where(cosines >= tau, cosines, 0)
        moves = similar / similar.sum(1, keepdims=True)
        h = np.maximum(0, s[members] @ q[number])
        h /= h.sum()
        for found, matrix in ((rankings, moves), (transposed, moves.T)):
            v, _ = steps(matrix, h, lambda v: 0)
            found.append([[int(member), float(score)] for member, score in zip(members, v)])
        edges.append(int((similar > 0).sum()))
    return {"clusters": clusters, "typical": typical, "width": width, "tau": tau,
            "tables": plain(tables), "queries": plain(queries),
            "coarse": [np.flatnonzero(of == cluster).tolist() for cluster in picked], "edges": edges,
            "scores": rankings, "scores_transposed": transposed}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    file = parser.parse_args().file
    rng = np.random.default_rng(5)
    made = {"kmeans": kmeans_cases(rng), "pagerank": pagerank_case(rng), "tf_idf": tf_idf_case(), "gtr": gtr_case(rng)}
    file.parent.mkdir(parents=True, exist_ok=True)
    rounded = json.loads(json.dumps(made), parse_float=lambda x: float(f"{float(x):.9g}"))
    file.write_text(json.dumps(rounded, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
