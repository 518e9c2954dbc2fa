"""Draws how the cost grows: plot_growth.py DATA.json IMAGE.svg, as `tools/scripts/bench.py` measured it."""

import json
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "tabsegnet"
import matplotlib.pyplot as plt  # noqa: E402

found = json.load(open(sys.argv[1]))
figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
for axis, (name, modes) in zip(axes.flat, found.items()):
    for mode, style in (("training", "-"), ("inference", "--")):
        for key, label, colour in (("peer", "PyTorch Geometric", "#b0552b"), ("ours", "tabsegnet", "#1f5fa8")):
            points = [(size, times[key]) for size, times in modes[mode] if key in times]
            axis.plot(*zip(*points), style, color=colour, marker="o", markersize=4, label=f"{label}, {mode}")
    axis.set(xscale="log", yscale="log", xlabel=name, ylabel="ms")
    axis.grid(alpha=0.3)
    if name.startswith("threads"):
        ticks = [size for size, _ in modes["training"]]
        axis.set_xscale("linear")
        axis.set_xticks(ticks)
axes.flat[0].legend(frameon=False, fontsize="small")
figure.savefig(sys.argv[2], metadata={"Date": None})
