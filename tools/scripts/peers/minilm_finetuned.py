"""all-MiniLM-L6-v2 trained on a data set's questions, in plain JAX on the CPU: to compare texts by one vector each (dense) or
by the vectors of their tokens (maxsim).

    python minilm_finetuned.py --encoder DIR --learn CACHE --without QRELS --output DIR [--kinds dense maxsim] [--seeds 0…]
        [--epochs 4]

CACHE is what `train --prepare --set output.cache=CACHE` wrote; the part with the questions of QRELS is left alone and the other
one learnt from. Each question is to find one of its gold nodes among others of its document, drawn from the LIKELY that the
untrained encoder finds likest, and among the nodes of the other questions of a step. How many epochs are best, of 1 to
--epochs, is told by a tenth of the documents: the first kind and seed learns from the others and is measured on these after
every epoch. Then all learn from all of them, under the same schedule and for so long. Writes an encoder for each kind and seed,
KIND-SEED below --output, with learnt.json, which says what was done; those that stand there are not made again, and what they
say of epochs holds for the others. `evaluate --set encoder.model=DIR` ranks with them by its baselines of the same names.
"""

import argparse
import collections
import functools
import itertools
import json
import math
import os
import random
import shutil
import sys
import time
from pathlib import Path

# One thread; XLA would take as many as there are.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import jax
import jax.numpy as jnp
import numpy as np
import polars
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--encoder", type=Path, required=True)
parser.add_argument("--learn", type=Path, required=True)
parser.add_argument("--without", type=Path, required=True)
parser.add_argument("--output", type=Path, required=True)
parser.add_argument("--kinds", nargs="+", choices=["dense", "maxsim"], default=["dense", "maxsim"])
parser.add_argument("--seeds", type=int, nargs="+", default=[0])
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--batch", type=int, default=16)
# Nodes of a question's own document in a step, beside its gold one.
parser.add_argument("--others", type=int, default=3)
parser.add_argument("--rate", type=float, default=5e-5)
options = parser.parse_args()

# Of cosines, before the softmax over nodes.
SCALE = {"dense": 20.0, "maxsim": 1.0}
LIKELY = 30
# The part of the documents that tells the number of epochs.
HELD_OUT = 0.1
# A text's tokens while it is learnt from, and while it is ranked: encoder.max_tokens.
LEARNT_TOKENS, RANKED_TOKENS = 64, 128
# Of all tokens that go through the model at once while ranking.
AT_ONCE = 4096
DROPOUT, DECAY, CLIP, BETAS, NEAR_ZERO = 0.1, 0.01, 1.0, (0.9, 0.999), 1e-8

CONFIG = json.loads((options.encoder / "config.json").read_text())
HEADS, LAYERS, EPSILON = CONFIG["num_attention_heads"], CONFIG["num_hidden_layers"], CONFIG["layer_norm_eps"]
tokenizer = Tokenizer.from_file(str(options.encoder / "tokenizer.json"))
tokenizer.no_padding()

Part = collections.namedtuple("Part", "documents questions")


# The encoder.


def opened(directory=options.encoder):
    """BERT's weights; those of the layers stacked, `[layers, …]`, so that one of them is compiled."""
    files = load_file(directory / "model.safetensors")
    embeddings = {name: values for name, values in files.items() if name.startswith("embeddings.") and values.dtype == np.float32}
    of_first = [name.removeprefix("encoder.layer.0.") for name in files if name.startswith("encoder.layer.0.")]
    layers = {name: np.stack([files[f"encoder.layer.{layer}.{name}"] for layer in range(LAYERS)]) for name in of_first}
    return jax.tree.map(jnp.array, {"embeddings": embeddings, "layers": layers})


def saved(model, directory, learnt):
    """Writes an encoder as `opened` reads it, and all that belongs to it."""
    temporary = directory.with_name(f"{directory.name}.part")
    shutil.rmtree(temporary, ignore_errors=True)
    shutil.copytree(options.encoder, temporary)
    weights = load_file(temporary / "model.safetensors")
    weights |= {name: np.asarray(values) for name, values in model["embeddings"].items()}
    for name, values in model["layers"].items():
        weights |= {f"encoder.layer.{layer}.{name}": np.array(of_layer) for layer, of_layer in enumerate(values)}
    # Another file in the place of a copy that may be a link.
    (temporary / "model.safetensors").unlink()
    save_file(weights, temporary / "model.safetensors", {"format": "pt"})
    (temporary / "learnt.json").write_text(json.dumps(learnt) + "\n")
    temporary.replace(directory)


@jax.custom_vjp
def moved(rows, there, back):
    """`rows[there]`, 0 where it points beyond them; `back` leads the same way back, so that no gradient is scattered."""
    return jnp.take(rows, there, axis=0, mode="fill", fill_value=0)


moved.defvjp(lambda rows, there, back: (moved(rows, there, back), (there, back)),
             lambda ways, gradient: (moved(gradient, ways[1], ways[0]), None, None))


def linear(weights, name, x):
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def normed(weights, name, x):
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + EPSILON) * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def dropped(key, x):
    return x if key is None else jnp.where(jax.random.bernoulli(key, 1 - DROPOUT, x.shape), x / (1 - DROPOUT), 0.0)


def states(model, batch, key=None):
    """BERT's last states `[texts, longest, width]`, 0 behind a text's end. But in the attention all tokens stand in one row, so
    that what a token goes through alone takes no padding. Without dropout of attention, which would take a sixth of a step."""
    texts, longest = batch["mask"].shape
    tables = model["embeddings"]
    width = tables["embeddings.word_embeddings.weight"].shape[1]
    keys = (lambda key, count: [None] * count) if key is None else jax.random.split
    first, last = keys(key, 2)

    def each(x):  # [tokens, width] → [texts, heads, longest, width / heads]
        return moved(x, batch["to_texts"], batch["to_row"]).reshape(texts, longest, HEADS, -1).transpose(0, 2, 1, 3)

    def layer(x, given):
        weights, key = given
        after_attention, after_all = keys(key, 2)
        q, k, v = (each(linear(weights, f"attention.self.{name}", x)) for name in ("query", "key", "value"))
        logits = q @ k.transpose(0, 1, 3, 2) / math.sqrt(width // HEADS)
        share = jax.nn.softmax(jnp.where(batch["mask"][:, None, None, :], logits, -1e9))
        mixed = moved((share @ v).transpose(0, 2, 1, 3).reshape(texts * longest, width), batch["to_row"], batch["to_texts"])
        mixed = dropped(after_attention, linear(weights, "attention.output.dense", mixed))
        x = normed(weights, "attention.output.LayerNorm", x + mixed)
        inner = jax.nn.gelu(linear(weights, "intermediate.dense", x), approximate=False)
        return normed(weights, "output.LayerNorm", x + dropped(after_all, linear(weights, "output.dense", inner))), None

    x = tables["embeddings.word_embeddings.weight"][batch["ids"]] + tables["embeddings.position_embeddings.weight"][batch["places"]]
    x = dropped(first, normed(tables, "embeddings.LayerNorm", x + tables["embeddings.token_type_embeddings.weight"][0]))
    x, _ = jax.lax.scan(layer, x, (model["layers"], None if key is None else jax.random.split(last, LAYERS)))
    return moved(x, batch["to_texts"], batch["to_row"]).reshape(texts, longest, width)


def vectors(model, kind, batch, key=None):
    """Token vectors `[texts, longest, width]`, each of length 1 (0 where there is no token), or with `dense` one vector a text."""
    found = states(model, batch, key)
    if kind == "dense":
        found = found.sum(1, keepdims=True)
    return found * jax.lax.rsqrt((found * found).sum(-1, keepdims=True) + 1e-12)


def batched(encoded, texts, longest, room):
    """Token ids of texts as arrays for `texts` of them, `longest` tokens each and `room` in all."""
    lengths = np.array([len(ids) for ids in encoded] + [0] * (texts - len(encoded)))[:, None]
    mask = np.arange(longest) < lengths
    # Without the two special tokens.
    words = (np.arange(longest) > 0) & (np.arange(longest) < lengths - 1)
    flat = np.flatnonzero(mask)
    ids, places = np.zeros(room, np.int32), np.zeros(room, np.int32)
    ids[:len(flat)] = np.concatenate(encoded)
    places[:len(flat)] = flat % longest
    # What points beyond the rows is filled with 0.
    to_row, to_texts = np.full(room, texts * longest, np.int32), np.full(texts * longest, room, np.int32)
    to_row[:len(flat)], to_texts[flat] = flat, np.arange(len(flat), dtype=np.int32)
    return {"ids": ids, "places": places, "mask": mask, "words": words, "to_row": to_row, "to_texts": to_texts}


def tokens(texts, most):
    return [np.array(text.ids[:most - 1] + text.ids[-1:] if len(text.ids) > most else text.ids, np.int32)
            for text in tokenizer.encode_batch(list(texts))]


def up(number, step):
    return -(-number // step) * step


# The data set.


def part_to_learn():
    """The texts of each document's nodes, and (document, text, gold) of each question."""
    left_alone = {line.split()[0] for line in options.without.read_text().splitlines()}
    found = []
    for file in sorted(options.learn.glob("prepared/*/questions.parquet")):
        questions = polars.read_parquet(file, columns=["id", "document", "question", "gold"])
        if not left_alone & set(questions["id"]):
            nodes = polars.read_parquet(file.with_name("nodes.parquet"), columns=["document", "node", "ranking_text"])
            documents = collections.defaultdict(list)
            for document, _, text in nodes.sort("document", "node").iter_rows():
                documents[document].append(text)
            found.append(Part(documents, [question for question in questions.drop("id").iter_rows() if question[2]]))
    if len(found) != 1:
        raise SystemExit(f"{options.learn}/prepared: expected one part without the questions of {options.without}, found {len(found)}; "
                         "prepare one data set there, training and dev part")
    return found[0]


def texts_of(part):
    """Those of the questions and of their documents."""
    return {text for document, question, _ in part.questions for text in (question, *part.documents[document])}


# Ranking.

encoded_at_once = functools.partial(jax.jit, static_argnums=1)(vectors)


def encoded_all(model, kind, texts, most):
    """The vectors of each text, `[words of it, width]`, one with `dense` and one of 0 where there are none. Texts of like length
    go through the model together."""
    texts = sorted(texts)
    ids = tokens(texts, most)
    by_length = collections.defaultdict(list)
    for at, of_text in enumerate(ids):
        by_length[up(len(of_text), 8 if len(of_text) <= 32 else 32)].append(at)
    found = {}
    for longest, group in sorted(by_length.items()):
        count = AT_ONCE // longest
        for start in range(0, len(group), count):
            part = group[start:start + count]
            batch = batched([ids[at] for at in part], count, longest, count * longest)
            for at, of_text in zip(part, np.asarray(encoded_at_once(model, kind, batch))):
                one = kind == "dense" or len(ids[at]) <= 2
                found[texts[at]] = of_text[:1] * (kind == "dense") if one else of_text[1:len(ids[at]) - 1]
    return found


def ranked(part, found):
    """For each question its document's nodes, best first; equal ones in document order. `found` has the vectors of all texts."""
    rankings = []
    for document, question, _ in part.questions:
        texts = part.documents[document]
        starts = np.cumsum([0] + [len(found[text]) for text in texts])[:-1]
        cosines = found[question] @ np.concatenate([found[text] for text in texts]).T
        # For each token of the question its largest cosine with one of the node, summed up.
        rankings.append(np.argsort(-np.maximum.reduceat(cosines, starts, axis=1).sum(0), kind="stable").tolist())
    return rankings


def mean_average_precision(model, kind, part):
    total = 0.0
    for (_, _, gold), ranking in zip(part.questions, ranked(part, encoded_all(model, kind, texts_of(part), RANKED_TOKENS))):
        ranks = sorted(ranking.index(node) + 1 for node in gold)
        total += sum(found / rank for found, rank in enumerate(ranks, 1)) / len(gold)
    return total / len(part.questions)


# Learning.


def loss(model, kind, key, batch, right, wrong):
    """Cross entropy of each question's gold node among all nodes of a step; `wrong` `[questions, nodes]`: those that count."""
    questions = len(right)
    found = vectors(model, kind, batch, key)
    cosines = jnp.einsum("qix,njx->qnij", found[:questions], found[questions:])
    if kind == "maxsim":
        words = batch["words"]
        cosines = jnp.where(words[None, questions:, None, :], cosines, -1.0).max(-1)
        scores = (cosines * words[:questions, None, :]).sum(-1)
    else:
        scores = cosines[..., 0, 0]
    scores = jnp.where(wrong, SCALE[kind] * scores, -1e9)
    of_questions = -jax.nn.log_softmax(scores)[jnp.arange(questions), right]
    # A last step that lacks questions has none counted in their place.
    counted = wrong.any(1)
    return (of_questions * counted).sum() / counted.sum()


@functools.partial(jax.jit, static_argnums=2, donate_argnums=(0, 1))
def step(model, moments, kind, key, rate, number, batch, right, wrong):
    """One of AdamW; `number` from 1."""
    gradients = jax.grad(loss)(model, kind, key, batch, right, wrong)
    norm = jnp.sqrt(sum((gradient * gradient).sum() for gradient in jax.tree.leaves(gradients)))
    gradients = jax.tree.map(lambda gradient: gradient * jnp.minimum(1.0, CLIP / norm), gradients)
    first, second = (jax.tree.map(lambda m, g: beta * m + (1 - beta) * g ** power, of, gradients)
                     for of, beta, power in zip(moments, BETAS, (1, 2)))
    corrected = rate * jnp.sqrt(1 - BETAS[1] ** number) / (1 - BETAS[0] ** number)
    model = jax.tree.map(lambda x, m, v: x - rate * DECAY * x - corrected * m / (jnp.sqrt(v) + NEAR_ZERO), model, first, second)
    return model, (first, second)


def likely(part, rankings):
    """For each question the nodes that the untrained encoder finds likest, gold ones left out."""
    found = []
    for (document, _, gold), ranking in zip(part.questions, rankings):
        texts = part.documents[document]
        known = {texts[node] for node in gold}
        found.append([node for node in ranking if texts[node] not in known][:LIKELY])
    return found


def epochs(part, near, kind, seed):
    """The model after each epoch; good until the next one is drawn."""
    model = opened()
    moments = tuple(jax.tree.map(jnp.zeros_like, model) for _ in BETAS)
    generator, key = random.Random(seed), jax.random.key(seed, impl="rbg")
    order = list(range(len(part.questions)))
    steps, number = options.epochs * math.ceil(len(order) / options.batch), 0
    for _ in range(options.epochs):
        generator.shuffle(order)
        for start in range(0, len(order), options.batch):
            chosen, number = order[start:start + options.batch], number + 1
            nodes, right, known = [], [], []
            for question in chosen:
                document, _, gold = part.questions[question]
                texts = part.documents[document]
                others = generator.sample(near[question], min(options.others, len(near[question])))
                right.append(len(nodes))
                nodes += [texts[node] for node in [generator.choice(gold), *others]]
                known.append({texts[node] for node in gold})
            wrong = np.zeros((options.batch, options.batch * (1 + options.others)), bool)
            for row, of_question in enumerate(known):
                # Another text of its gold is no wrong one.
                wrong[row, :len(nodes)] = [text not in of_question or at == right[row] for at, text in enumerate(nodes)]
            missing = options.batch - len(chosen)
            ids = tokens([part.questions[question][1] for question in chosen], LEARNT_TOKENS)
            ids += [ids[0]] * missing + tokens(nodes, LEARNT_TOKENS)
            batch = batched(ids, options.batch * (2 + options.others), LEARNT_TOKENS, up(sum(map(len, ids)), 256))
            rate = options.rate * min(1.0, 10 * number / steps, (steps - number + 1) / steps)
            model, moments = step(model, moments, kind, jax.random.fold_in(key, number), rate, number, batch,
                                  np.array(right + [0] * missing), wrong)
        yield model


def best_epoch(part, near, kind, seed):
    """How many epochs are best on documents held out, and the MAP on them after each, that of the untrained encoder first."""
    documents = sorted(part.documents)
    held_out = set(random.Random(0).sample(documents, round(HELD_OUT * len(documents))))
    told = Part(part.documents, [question for question in part.questions if question[0] in held_out])
    rest = [at for at, question in enumerate(part.questions) if question[0] not in held_out]
    rest, near = Part(part.documents, [part.questions[at] for at in rest]), [near[at] for at in rest]
    found = []
    for model in itertools.chain([opened()], epochs(rest, near, kind, seed)):
        found.append(round(mean_average_precision(model, kind, told), 4))
        print(f"{kind}: MAP {found[-1]} on {len(told.questions)} questions held out, epoch {len(found) - 1}", file=sys.stderr)
    return max(range(1, len(found)), key=lambda epoch: found[epoch]), found


def main():
    places = {(kind, seed): options.output / f"{kind}-{seed}" for kind in options.kinds for seed in options.seeds}
    wanted = {of: directory for of, directory in places.items() if not directory.is_dir()}
    if not wanted:
        return
    options.output.mkdir(parents=True, exist_ok=True)
    part = part_to_learn()
    near = likely(part, ranked(part, encoded_all(opened(), "dense", texts_of(part), LEARNT_TOKENS)))
    stand = [json.loads((directory / "learnt.json").read_text()) for of, directory in places.items() if of not in wanted]
    told = [(learnt["epochs"], learnt["held_out_map"]) for learnt in stand if learnt["most_epochs"] == options.epochs]
    best, found = told[0] if told else best_epoch(part, near, *next(iter(places)))
    for (kind, seed), directory in wanted.items():
        started = time.perf_counter()
        model = next(itertools.islice(epochs(part, near, kind, seed), best - 1, None))
        learnt = {"peer": "minilm-finetuned", "kind": kind, "seed": seed, "questions": len(part.questions), "epochs": best,
                  "most_epochs": options.epochs, "held_out_map": found, "train_s": round(time.perf_counter() - started, 1)}
        saved(model, directory, learnt)
        print(json.dumps(learnt), flush=True)


if __name__ == "__main__":
    main()
