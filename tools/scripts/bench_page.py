#!/usr/bin/env python3
"""The HTML page of a made-up document in Chromium: its size, how soon it is painted, how smoothly it scrolls.

    tools/scripts/bench_page.py [--nodes 10000] [--rows 24] [--runs 7] [--screenshots DIRECTORY]

Builds page/examples/sample_page.rs in release mode and opens what it writes, each time in a new browser. `paint_ms`
is the first paint after the start of the navigation, `ready_ms` the load event; `choose_ms` the time from a call that
chooses the furthest ranked node until the browser has painted it; `frame_ms` the time between frames while the page
scrolls from its top to its end in steps of 400 pixels, one a frame. Without a GPU and a window: a browser on a desk is
faster. Prints one JSON object; medians, with the least and the greatest. With --screenshots also writes pictures of
the short sample page: two sizes, both themes, print.

Exit codes: 0 measured, 1 a build or a run failed, 2 wrong usage.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benching import ROOT
from chromium import Browser

PAINT = "performance.getEntriesByType('paint').find((entry) => entry.name === 'first-paint')?.startTime ?? null"
READY = "performance.getEntriesByType('navigation')[0].loadEventEnd"
CHOOSE = """new Promise((done) => {
  const links = [...document.querySelectorAll('.answer:not([hidden]) .ranks a')];
  const furthest = links.sort((a, b) => a.hash.slice(2) - b.hash.slice(2)).pop();
  const start = performance.now();
  furthest.click();
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
})"""
SCROLL = """new Promise((done) => {
  scrollTo(0, 0);
  const frames = [];
  let before = performance.now();
  requestAnimationFrame(function frame(now) {
    frames.push(now - before);
    before = now;
    const at = scrollY;
    scrollBy(0, 400);
    if (scrollY > at && frames.length < 2000) requestAnimationFrame(frame);
    else done(frames.slice(2));
  });
})"""


def sample(file, *arguments):
    command = ["cargo", "run", "--release", "--locked", "-q", "-p", "tabsegnet-page", "--example", "sample_page", "--"]
    result = subprocess.run([*command, str(file), *arguments], cwd=ROOT, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"sample_page failed:\n{result.stderr[-2000:]}")
    return int(result.stdout.split(":")[1].split()[0])


def summary(values):
    return {"median": round(statistics.median(values), 1), "min": round(min(values), 1), "max": round(max(values), 1)}


def measure(file, runs):
    paints, ready, chosen, frames = [], [], [], []
    # One run more, so that the files are in the page cache.
    for turn in range(runs + 1):
        browser = Browser()
        browser.window(1366, 768)
        browser.open(file)
        browser.value("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))")
        if turn > 0:
            paints.append(browser.value(PAINT))
            ready.append(browser.value(READY))
            chosen.append(browser.value(CHOOSE))
            frames += browser.value(SCROLL)
        elements = browser.value("document.querySelectorAll('*').length")
        browser.close()
    late = sum(frame > 50 for frame in frames)
    return {
        "elements": elements,
        "paint_ms": summary(paints),
        "ready_ms": summary(ready),
        "choose_ms": summary(chosen),
        "frame_ms": summary(frames) | {"frames": len(frames), "over_50_ms": late},
    }


def screenshots(directory, page):
    directory.mkdir(parents=True, exist_ok=True)
    browser = Browser()
    for name, width, height in (("laptop", 1366, 768), ("telephone", 390, 844)):
        for dark in (False, True):
            browser.window(width, height, dark)
            browser.open(page)
            stem = f"{name}-{'dark' if dark else 'light'}"
            browser.screenshot(directory / f"{stem}.png")
            browser.value("document.querySelector('.answer .ranks li:nth-child(2) a').click()")
            browser.value("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))")
            browser.screenshot(directory / f"{stem}-chosen.png")
    browser.window(1366, 768)
    browser.open(page)
    browser.pdf(directory / "print.pdf")
    browser.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=10_000, help="nodes of the document")
    parser.add_argument("--rows", type=int, default=24, help="rows a table")
    parser.add_argument("--runs", type=int, default=7, help="browsers to open the page in")
    parser.add_argument("--screenshots", type=Path, help="write pictures of the short page there")
    options = parser.parse_args()
    if min(options.runs, options.nodes, options.rows) < 1:
        parser.error("--runs, --nodes and --rows must be at least 1")
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "page.html"
        if options.screenshots:
            sample(file)
            screenshots(options.screenshots, file)
        nodes = sample(file, "--nodes", str(options.nodes), "--rows", str(options.rows))
        load = os.getloadavg()[0]
        result = {"nodes": nodes, "bytes": file.stat().st_size, "load_before": load, **measure(file, options.runs)}
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
