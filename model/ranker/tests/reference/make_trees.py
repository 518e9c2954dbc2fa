"""Reference numbers for the boosted trees, from LightGBM: python make_trees.py

Writes trees.safetensors: lists of rows with gold ones, and what LightGBM's trees score them after 20 rounds of the
listwise loss, with every row and feature looked at. The fewest rows of a leaf are 1, since LightGBM only guesses their
number. Values are few, so that both cut every feature into the same bins. Needs lightgbm, numpy and safetensors.
"""
from pathlib import Path

import lightgbm
import numpy as np
from safetensors.numpy import save_file

LISTS, ROWS, FEATURES, ROUNDS = 60, 25, 7, 20
random = np.random.RandomState(5)
lengths = random.randint(5, ROWS, LISTS)
starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
of_list = np.repeat(np.arange(LISTS), lengths)
x = random.randint(-20, 20, (lengths.sum(), FEATURES)).astype(np.float32) / 4
wanted = x[:, 0] * (x[:, 1] > 0) + x[:, 2] + 4 * random.randn(len(x))
gold = np.zeros(len(x), np.float32)
for start, length in zip(starts, lengths):
    gold[start + np.argsort(-wanted[start : start + length])[: 1 + start % 3]] = 1


def derivatives(scores, _):
    greatest = np.maximum.reduceat(scores, starts)[of_list]
    share = np.exp(scores - greatest)
    share /= np.add.reduceat(share, starts)[of_list]
    return share - gold / np.add.reduceat(gold, starts)[of_list], np.maximum(share * (1 - share), 1e-6)


trees = lightgbm.train(
    dict(objective=derivatives, num_leaves=6, learning_rate=0.2, min_data_in_leaf=1, min_sum_hessian_in_leaf=0.5,
         lambda_l2=0.7, min_data_in_bin=1, deterministic=True, num_threads=1, verbose=-1, boost_from_average=False),
    lightgbm.Dataset(x, gold), num_boost_round=ROUNDS,
)
scores = trees.predict(x, raw_score=True)
save_file(
    dict(rows=x, gold=gold, lengths=lengths.astype(np.float32), scores=scores.astype(np.float32)),
    Path(__file__).with_name("trees.safetensors"),
)
