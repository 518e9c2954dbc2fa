"""A page of headings, paragraphs and tables as Markdown lines, shown as one self-contained HTML page with line plots."""

import html
import re

STYLE = """
:root { color-scheme: light dark; --line: #8884; --one: #1668b0; --two: #b4541a; --three: #2a7d4f; --four: #7a4fb0; }
@media (prefers-color-scheme: dark) { :root { --one: #6db3f2; --two: #f0a06a; --three: #7fd1a4; --four: #c2a5f0; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: right; }
td { white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; }
figure { margin: 1.5rem 0; } svg { max-width: 100%; height: auto; } svg text { font: 13px system-ui, sans-serif; fill: currentColor; }
"""
COLOURS = ["one", "two", "three", "four"]
WIDTH, HEIGHT, LEFT, BOTTOM = 640, 320, 48, 40


def web_page(lines, plots):
    """`plots` are figures by the heading that they stand under."""
    body, title, table = [], "", []
    for line in [*lines, ""]:
        if line.startswith("|"):
            table.append(line)
            continue
        if table:
            body.append(rows(table))
            table = []
        heading = re.match(r"(#+) (.*)", line)
        if heading:
            level, text = len(heading[1]), heading[2]
            title = title or text
            body.append(f"<h{level}>{inline(text)}</h{level}>")
            body.append(plots.get(text, ""))
        elif line:
            body.append(f"<p>{inline(line)}</p>")
    content = "\n".join(part for part in body if part)
    return (f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{html.escape(title)}</title>\n'
            f"<style>{STYLE}</style>\n</head>\n<body>\n{content}\n</body>\n</html>\n")


def inline(text):
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text, quote=False))


def rows(table):
    cells = [[inline(cell.strip()) for cell in line.strip("|").split("|")] for line in table]
    head = "".join(f'<th scope="col">{cell}</th>' for cell in cells[0])
    body = "\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in cells[2:])
    return f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'


def plot(series, ticks, below, label):
    """Lines `{name: [value of each tick]}` between 0 and 1; the ticks stand at equal distances."""
    values = [value for line in series.values() for value in line]
    low = int(min(values) * 10) / 10
    x = lambda at: LEFT + at * (WIDTH - LEFT - 20) / max(1, len(ticks) - 1)
    y = lambda value: HEIGHT - BOTTOM - (value - low) / (1 - low) * (HEIGHT - BOTTOM - 16)
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{html.escape(label)}">']
    steps = round((1 - low) * 10)
    for step in range(steps + 1):
        value = low + step / 10
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - 20}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="var(--line)"/>'
                     f'<text x="{LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.1f}</text>')
    parts += [f'<text x="{x(at):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{html.escape(str(tick))}</text>'
              for at, tick in enumerate(ticks)]
    parts.append(f'<text x="{(LEFT + WIDTH) / 2:.0f}" y="{HEIGHT - 4}" text-anchor="middle">{html.escape(below)}</text>')
    key = []
    for (name, line), colour in zip(series.items(), COLOURS):
        points = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in enumerate(line))
        parts.append(f'<polyline points="{points}" fill="none" stroke="var(--{colour})" stroke-width="2"/>')
        key.append(f'<span style="color: var(--{colour})">■</span> {html.escape(name)}')
    return f'<figure>{"".join(parts)}</svg><figcaption>{html.escape(label)}: {" · ".join(key)}</figcaption></figure>'
