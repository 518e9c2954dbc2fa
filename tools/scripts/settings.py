"""Writes docs/settings.md: every key of a config with its default and what it is.

    python tools/scripts/settings.py

Keys and defaults are those of `train --print-config`; what a key is says the comment of its field. Lists of sections
(`[[corpus.parts]]`), and keys that have no value unless given, are known by their fields alone. A test of the trainer compares the
page with the keys that the program knows.
"""

import re
import tempfile
import tomllib
from pathlib import Path

from experiments import ROOT, program

FIELD = re.compile(r"((?:\s*(?:///[^\n]*|#\[[^\n]*\])\n)*)\s*pub (\w+): ([^\n]+),\n")
VARIANT = re.compile(r"((?:\s*(?:///[^\n]*|#\[[^\n]*\])\n)*)\s*(\w+),\n")
# FeaturesConfig is declared by a macro, in which every group is a switch.
GROUP = re.compile(r"((?:\s*///[^\n]*\n)+)\s*(\w+);\n")
HEAD = """# All settings

Every key of a config with its default, as `train --print-config` shows them, and what it is. Which config trains what:
[training.md](training.md#configs). `ask --config` takes `[llm]` and `[agent]` as they stand here, and
`[tablerag]` ([tablerag.md](tablerag.md#in-ask)). This page is written by `tools/scripts/settings.py`.

`extends`, outside all sections, is a list of files whose keys hold where a config has none, paths from its directory; of two the
later wins.
"""


class Sources:
    """Structs and enums of the crates, by name the files that declare them."""

    def __init__(self):
        members = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
        self.crates = {name.replace("-", "_"): ROOT / of["path"] for name, of in members["dependencies"].items()
                       if isinstance(of, dict) and "path" in of}
        self.texts = {file: file.read_text() for crate in self.crates.values() for file in sorted(crate.glob("src/**/*.rs"))}
        self.declared = {}
        for file, text in self.texts.items():
            for name in re.findall(r"^\s*pub (?:struct|enum) (\w+)", text, re.M):
                self.declared.setdefault(name, []).append(file)

    def file(self, name, user):
        """Where the type is declared that another file means by the name."""
        files = self.declared.get(name, [])
        if user in files:
            return user
        used = [crate for crate, names in re.findall(r"use (\w+)::([^;]+);", self.texts[user]) if re.search(rf"\b{name}\b", names)]
        folder = next((self.crates[crate] for crate in used if crate in self.crates), None)
        folder = folder or next(crate for crate in self.crates.values() if user.is_relative_to(crate / "src"))
        # A crate may pass on the type of another.
        return next((file for file in files if file.is_relative_to(folder / "src")), files[0] if files else None)

    def body(self, name, file):
        found = re.search(rf"((?:[^\S\n]*#\[[^\n]*\n)*)[^\S\n]*pub (?:struct|enum) {name} \{{\n(.*?)\n[^\S\n]*\}}", self.texts[file], re.S)
        return found.groups()

    def fields(self, name, file):
        """Name, type and comment of each field."""
        if name == "FeaturesConfig":
            declared = self.texts[file].split("groups! {\n")[1]
            return [(field, "bool", words(comment)) for comment, field in GROUP.findall(declared)]
        fields = FIELD.findall(self.body(name, file)[1] + "\n")
        return [(field, kind, words(above)) for above, field, kind in fields if not re.search(r"serde\([^\n]*skip[,)]", above)]

    def values(self, name, file):
        """How the variants of an enum are written; none of what is no plain enum."""
        if not file or not re.search(rf"pub enum {name} \{{", self.texts[file]):
            return []
        attributes, body = self.body(name, file)
        form = re.search(r'rename_all = "(\w+[-_]?\w*)"', attributes)
        return [written(variant, form.group(1)) for _, variant in VARIANT.findall(body + "\n")] if form else []


def written(variant, form):
    if form == "lowercase":
        return variant.lower()
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", {"snake_case": "_", "kebab-case": "-"}[form], variant)
    return apart.lower()


def words(comment):
    lines = re.findall(r"///\s?([^\n]*)", comment)
    text = " ".join(line.strip() for line in lines)
    return re.sub(r"\[`(?:[\w:]*::)?(\w+)`\]", r"`\1`", text).replace("|", "\\|")


def defaults(text):
    """The values of `--print-config` as they are written, by `section.key`."""
    section, found = "", {}
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif " = " in line:
            key, value = line.split(" = ", 1)
            found[f"{section}.{key}"] = f"`{value}`"
    return found


def keys(sources, name, user, prefix, printed):
    """Rows of the keys of a struct, those of the structs in it last."""
    file = sources.file(name, user)
    rows, below = [], []
    for field, kind, comment in sources.fields(name, file):
        inner = re.sub(r"^(?:Option|Vec)<(\w+)>$", r"\1", kind)
        path = f"{prefix}{field}"
        declared = sources.file(inner, file)
        is_struct = declared and re.search(rf"pub struct {inner} \{{", sources.texts[declared])
        if not is_struct or kind.startswith("Vec<"):
            values = ", ".join(f"`{value}`" for value in sources.values(inner, declared))
            of = "Any" if kind.startswith("Vec<") else "One"
            rows.append(f"| `{path}` | {printed.get(path, '')} | {comment}{f' {of} of {values}.' if values else ''} |")
        # The parts of a mix have the keys of [data].
        if is_struct and inner != name:
            below += keys(sources, inner, file, f"{path}[]." if kind.startswith("Vec<") else f"{path}.", printed)
    return rows + below


def main():
    with tempfile.NamedTemporaryFile(suffix=".toml") as empty:
        printed = defaults(program("train", "--config", empty.name, "--print-config"))
    sources = Sources()
    config = ROOT / "trainer/src/config.rs"
    page = [HEAD]
    for field, kind, comment in sources.fields("Config", config):
        if field == "extends":
            continue
        if field == "judge":
            page.append(f"## `[judge]`\n\n{comment} It has the keys of `[llm]`, with the same defaults.\n")
        else:
            rows = keys(sources, kind, config, f"{field}.", printed)
            page.append("\n".join([f"## `[{field}]`\n\n{comment}\n", "| key | default | what it is |", "|---|---|---|", *rows, ""]))
    (ROOT / "docs/settings.md").write_text("\n".join(page))


if __name__ == "__main__":
    main()
