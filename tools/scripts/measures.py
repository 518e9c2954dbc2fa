"""Rankings in TREC files, their measures, and what chance alone would do to those: questions of one document are not
independent, so what is resampled and what flips its sign is a document with all of its questions."""

import collections
import random
import statistics

from experiments import p_value, shown_p

# Of an interval.
RESAMPLES = 2_000


def gold(path):
    """For each question its gold nodes, from a qrels file."""
    judged = collections.defaultdict(set)
    for line in path.read_text().splitlines():
        question, _, node, _ = line.split()
        judged[question].add(node)
    return dict(judged)


def run(path, judged):
    """For each question the ranks, from 1, of its gold nodes, rising."""
    ranks = {question: [] for question in judged}
    for line in path.read_text().splitlines():
        question, _, node, rank, _, _ = line.split()
        if node in judged[question]:
            ranks[question].append(int(rank))
    return {question: sorted(found) for question, found in ranks.items()}


def recall(cutoff):
    return lambda ranks, count: sum(rank <= cutoff for rank in ranks) / count


recall_10 = recall(10)


def average_precision(ranks, count):
    return sum(found / rank for found, rank in enumerate(ranks, 1)) / count


# What methods are compared by.
MAIN = {"recall@10": recall_10, "MAP": average_precision}


def of_questions(runs, judged, measure):
    """For each question the mean over the runs, which are of one method with several seeds."""
    return {q: statistics.mean(measure(run[q], len(judged[q])) for run in runs) for q in sorted(judged)}


def finqa_page(question):
    """The document of a question of FinQA: `ABC/2018/page_7.pdf` of `ABC/2018/page_7.pdf-2`."""
    return question.rpartition("-")[0]


def by_document(values, document):
    """The sum of each document's questions, and their number."""
    sums = collections.defaultdict(lambda: [0.0, 0])
    for question, value in values.items():
        of = sums[document(question)]
        of[0] += value
        of[1] += 1
    return [sums[name] for name in sorted(sums)]


def tested(a, b, document):
    """Two-sided p of a paired randomisation test of the means of two methods `{question: value}`."""
    return p_value(*([total for total, _ in by_document(values, document)] for values in (a, b)))


def interval(values, document):
    """The 95 % of the means of bootstrap resamples of documents: least and greatest."""
    documents = by_document(values, document)
    generator = random.Random(0)
    means = []
    for _ in range(RESAMPLES):
        drawn = generator.choices(documents, k=len(documents))
        means.append(sum(total for total, _ in drawn) / sum(count for _, count in drawn))
    cuts = statistics.quantiles(means, n=40, method="inclusive")
    return cuts[0], cuts[-1]


def holm(found):
    """p-values `{name: p}` adjusted for their number, step by step from the least (Holm 1979)."""
    adjusted, largest = {}, 0.0
    for done, (name, p) in enumerate(sorted(found.items(), key=lambda item: item[1])):
        largest = max(largest, min(1.0, (len(found) - done) * p))
        adjusted[name] = largest
    return adjusted


def shown_interval(low, high):
    return f"[{low:.3f}, {high:.3f}]"


def beside(first, of, reference, document):
    """Lines of a table under the heading `first`: each method's means by MAIN, from `of` = `{method: {measure: {question:
    value}}}`, with their intervals, and p-values against the `reference`, corrected for the number of the others."""
    ps = {measure: holm({name: tested(values[measure], of[reference][measure], document)
                         for name, values in of.items() if name != reference}) for measure in MAIN}
    lines = [f"| {first} | {' | '.join(f'{measure} | p' for measure in MAIN)} |", "|---|" + "---:|" * 2 * len(MAIN)]
    for name, values in of.items():
        row = [name]
        for measure in MAIN:
            mean = statistics.mean(values[measure].values())
            row.append(f"{mean:.3f} {shown_interval(*interval(values[measure], document))}")
            row.append(shown_p(ps[measure][name]) if name in ps[measure] else "")
        lines.append(f"| {' | '.join(row)} |")
    return lines
