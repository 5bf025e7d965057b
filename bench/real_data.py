#!/usr/bin/env python3
"""Trains and scores regard on real data: quality, time, memory and speed of one row or several.

    real_data.py DATA ROW... [-o FOLDER] [-- OPTIONS OF regard train]

DATA is the folder of the data sets; nothing of it is written anywhere but to FOLDER (default runs/,
which git ignores). A row keeps all in FOLDER/ROW. Run again, it goes on where it was stopped:
training from its checkpoint, scoring from the step that is missing. Options after -- override the
row's own (for a quick try: -- --updates 20).
"""

import argparse
import json
import os
import pathlib
import sys

import length_curve
import make_copy_task
from measured_run import Failed, Record

ROOT = pathlib.Path(__file__).resolve().parent.parent

MULTI30K = ["--tokens", "word", "--min-count", "2", "--embedding", "256", "--hidden", "512",
            "--batch-tokens", "2000", "--shards", "2", "--epochs", "10", "--dropout", "0.4"]
COPY = ["--tokens", "char", "--embedding", "64", "--hidden", "128", "--batch-tokens", "2000",
        "--epochs", "20", "--dropout", "0"]
ATTENTION = ["--decoder", "bahdanau", "--attention", "additive"]
NARROW_ENCODER = ["--encoder-hidden", "256"]  # dot needs a memory as wide as the decoder

# Row: kind and its own options of `regard train`. Of equal options the last counts.
ROWS = {
    "multi30k-fixed": ("multi30k", ["--decoder", "fixed"]),
    "multi30k-fixed-context": ("multi30k", ["--decoder", "fixed", "--feed-context"]),
    "multi30k-bahdanau": ("multi30k", ATTENTION),
    "multi30k-luong-dot": ("multi30k",
                           ["--decoder", "luong", "--attention", "dot"] + NARROW_ENCODER),
    "multi30k-luong-scaled": ("multi30k",
                              ["--decoder", "luong", "--attention", "scaled-dot"] + NARROW_ENCODER),
    "multi30k-luong-general": ("multi30k", ["--decoder", "luong", "--attention", "general"]),
    "tatoeba": ("tatoeba", ["--swap", "--tokens", "subword:8000", "--embedding", "256",
                            "--hidden", "256", "--batch-tokens", "2000", "--epochs", "8",
                            "--dropout", "0.2"]),
    "cmudict": ("cmudict", ["--source-tokens", "char", "--target-tokens", "word",
                            "--embedding", "128", "--hidden", "256", "--batch-tokens", "1000",
                            "--epochs", "20", "--dropout", "0.3"]),
    "copy-attention": ("copy", COPY + ATTENTION),
    "copy-fixed": ("copy", COPY + ["--decoder", "fixed"]),
    "reverse-attention": ("reverse", COPY + ATTENTION),
    "reverse-fixed": ("reverse", COPY + ["--decoder", "fixed"]),
}

# Shown with their matrices; our own.
SENTENCES = [
    "nous mangeons du pain",
    "Je ne sais pas où elle habite.",
    "Il fait trop froid pour sortir ce soir.",
    "Avez-vous déjà vu ce film ?",
    "Elle m'a donné un livre pour mon anniversaire.",
    "Nous avons passé nos vacances au bord de la mer.",
    "Pourquoi n'es-tu pas venu hier ?",
    "Les enfants jouent dans le jardin avec le chien.",
    "J'aimerais boire une tasse de thé chaud.",
    "Ce n'est pas la peine de m'attendre.",
    "Ma sœur travaille dans un hôpital depuis trois ans.",
]


def merged(options):
    """Each option once: the last that was given, at the place of the first."""
    given, name = {}, None
    for word in options:
        if word.startswith("--"):
            name = word
            given[name] = [word]
        else:
            given[name].append(word)
    return [word for words in given.values() for word in words]


class Work:
    """One row being done: the command, the data, its folder and the figures so far."""

    def __init__(self, name, arguments):
        self.name, self.kind, self.options = name, *ROWS[name]
        self.regard, self.data, self.out = arguments.regard, arguments.data, arguments.output
        self.copy_pairs, self.extra = arguments.copy_pairs, arguments.extra
        self.record = Record(self.out / name)
        self.folder = self.record.folder
        self.model = self.folder / "model"
        self.figures = {"row": name}

    def train(self, *data):
        self.record.train([self.regard, "train", *data, "-o", self.model]
                          + merged(self.options + self.extra))
        self.figures["train"] = self.record.training_figures()

    def translate(self, source, beam):
        """The file of hypotheses."""
        output = self.folder / f"hypotheses.beam{beam}"
        step = self.record.step(
            f"translate beam {beam}",
            [self.regard, "translate", "-q", "-m", self.model, "--beam", beam, source], output)
        lines = output.read_text(encoding="utf-8").count("\n")
        self.figures[f"translate beam {beam}"] = {
            "seconds": step["seconds"], "peak_bytes": step["peak_bytes"], "lines": lines}
        return output

    def evaluate(self, name, *arguments):
        """Scores by name, and under "by length" [label, metric, value, items]."""
        output = self.folder / f"scores.{name}".replace(" ", "-")
        step = self.record.step(f"eval {name}", [self.regard, "eval", "-q", *arguments], output)
        scores, table = {}, []
        for line in output.read_text().splitlines():
            metric, value, *items = line.split("\t")
            if "/" in metric:
                metric, label = metric.split("/", 1)
                table.append([label, metric, float(value), int(items[0])])
            else:
                scores[metric] = float(value)
        if table:
            scores["by length"] = table
        self.figures.setdefault("scores", {})[name] = scores
        if "-m" in arguments:
            self.figures[f"translate and score {name}"] = {
                "seconds": step["seconds"], "peak_bytes": step["peak_bytes"]}


def multi30k(work):
    files = work.data / "multi30k" / "tok"
    work.options = MULTI30K + work.options
    work.train("--source", files / "train.lc.norm.tok.de.gz",
               "--target", files / "train.lc.norm.tok.en.gz",
               "--dev-source", files / "val.lc.norm.tok.de",
               "--dev-target", files / "val.lc.norm.tok.en")
    test = {s: files / f"test_2016_flickr.lc.norm.tok.{s}" for s in ("de", "en")}
    hypotheses = work.translate(test["de"], beam=1)
    work.evaluate("test_2016_flickr greedy", hypotheses, test["en"], "--metric", "bleu",
                  "--tokenize", "none", "--by-length", "--source", test["de"])


def tatoeba(work):
    files = work.data / "tatoeba"
    dev = files / "fra-eng.dev.tsv"
    work.train(files / "fra-eng.train.tsv.gz", "--dev", dev)
    for beam in (1, 5):
        work.evaluate(f"dev beam {beam}", "-m", work.model, dev, "--swap", "--group",
                      "--metric", "bleu,chrf", "--beam", beam)
    for i, sentence in enumerate(SENTENCES):
        work.record.step(f"show {i}", [work.regard, "show", "-q", "-m", work.model, "--color",
                                       "never", "--svg", work.folder / f"sentence{i}.svg",
                                       sentence], work.folder / f"sentence{i}.txt")


def cmudict(work):
    files = work.data / "g2p-cmudict"
    dev = files / "cmudict-g014b2b.dev.tsv"
    work.train(files / "cmudict-g014b2b.train.tsv.gz", "--dev", dev)
    for beam in (1, 5):
        work.evaluate(f"dev beam {beam}", "-m", work.model, dev, "--group",
                      "--metric", "wer,ser", "--beam", beam)


def copy(work):
    reverse = work.kind == "reverse"
    task = work.out / f"{work.kind}-task-{work.copy_pairs}"
    if not (task / "train.tsv").exists():
        make_copy_task.write_task(task, reverse=reverse, train=work.copy_pairs)
    work.train(task / "train.tsv", "--dev", task / "dev.tsv")
    rows = [line.split("\t") for line in (task / "test.tsv").read_text().splitlines()]
    source = work.folder / "test.source"
    if not source.exists():
        source.write_text("".join(row[0] + "\n" for row in rows))
    hypotheses = work.translate(source, beam=1).read_text(encoding="utf-8").splitlines()
    references = [row[1] for row in rows]
    right = sum(r == h for r, h in zip(references, hypotheses))
    curve = length_curve.exact_by_length(references, hypotheses)
    work.figures["scores"] = {"test greedy": {
        "exact": 100 * right / len(rows),
        "by length": [[f"{b['from']}-{b['to']}", "exact", b["exact"], b["items"]] for b in curve]}}
    (work.folder / "curve.json").write_text(json.dumps(curve) + "\n")
    curves = {}
    for name, (kind, _) in ROWS.items():
        file = work.out / name / "curve.json"
        if kind == work.kind and file.exists():
            curves[name] = json.loads(file.read_text())
    title = f"{work.kind.capitalize()} of random letters"
    (work.out / f"{work.kind}.svg").write_text(length_curve.svg(title, curves))


KINDS = {"multi30k": multi30k, "tatoeba": tatoeba, "cmudict": cmudict, "copy": copy,
         "reverse": copy}


def minutes(seconds):
    return f"{int(seconds // 60)}m{seconds % 60:04.1f}s"


def report(figures):
    """The figures of one row, for people."""
    t = figures["train"]
    loss = "" if t["best_dev_loss"] is None else f", best dev loss {t['best_dev_loss']:.4f}"
    lines = [f"## {figures['row']}", "",
             f"train: {minutes(t['seconds'])}, {t['updates']} updates, "
             f"{t['tokens_per_s']:,.0f} source+target tokens/s (whole command, validation "
             f"included), peak memory {t['peak_bytes'] / 2**20:.0f} MiB{loss}"]
    if t["attempts"] > 1:
        lines.append(f"in {t['attempts']} attempts"
                     + ("" if t["complete"] else "; the time of a killed one is not counted"))
    for name, step in figures.items():
        if name.startswith("translate"):
            count = f"{step['lines']} lines in " if "lines" in step else ""
            lines.append(f"{name}: {count}{step['seconds']:.1f} s, peak memory "
                         f"{step['peak_bytes'] / 2**20:.0f} MiB")
    for name, scores in figures.get("scores", {}).items():
        plain = [f"{metric} {value:.2f}" for metric, value in scores.items()
                 if metric != "by length"]
        lines.append(f"{name}: {', '.join(plain)}")
        if "by length" in scores:
            lines += ["", "| source length | metric | value | lines |",
                      "| --- | --- | ---: | ---: |"]
            lines += [f"| {label} | {metric} | {'-' if value is None else f'{value:.2f}'} "
                      f"| {items} |" for label, metric, value, items in scores["by length"]]
    return "\n".join(lines) + "\n"


def length_table(all_figures):
    """Rows that were scored by the same lengths, side by side."""
    lines, tables = [], {}
    for figures in all_figures:
        for name, scores in figures.get("scores", {}).items():
            labels = tuple((label, items) for label, _, _, items in scores.get("by length", []))
            if labels:
                values = [value for _, _, value, _ in scores["by length"]]
                tables.setdefault((name, labels), []).append((figures["row"], values))
    for (name, labels), rows in tables.items():
        lines += [f"## {name} by source length", "",
                  "| row | " + " | ".join(f"{label} ({items})" for label, items in labels) + " |",
                  "| --- |" + " ---: |" * len(labels)]
        lines += [f"| {row} | " + " | ".join("-" if v is None else f"{v:.1f}" for v in values)
                  + " |" for row, values in rows]
        lines.append("")
    return "\n".join(lines)


def write_summary(out):
    """FOLDER/report.md, of all rows that have been done there."""
    done = [json.loads((out / name / "figures.json").read_text()) for name in ROWS
            if (out / name / "figures.json").exists()]
    text = "\n".join([report(figures) for figures in done] + [length_table(done)])
    (out / "report.md").write_text(text)


def main():
    argv, extra = sys.argv[1:], []
    if "--" in argv:
        cut = argv.index("--")
        argv, extra = argv[:cut], argv[cut + 1:]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="rows: " + ", ".join(ROWS) + "; the start of names stands for all of them, as in "
        "multi30k or copy; all")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("rows", nargs="+", metavar="ROW")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=ROOT / "runs",
                        metavar="FOLDER")
    parser.add_argument("--regard", type=pathlib.Path,
                        default=ROOT / "build" / "release" / "regard", help="the command")
    parser.add_argument("--copy-pairs", type=int, default=20000, metavar="N",
                        help="training rows of copy and reverse")
    arguments = parser.parse_intermixed_args(argv)
    arguments.extra = extra
    names = []
    for wanted in arguments.rows:
        found = ([n for n in ROWS if wanted in ("all", n)]
                 or [n for n in ROWS if n.startswith(wanted)])
        if not found:
            parser.error(f"no row {wanted}; there are {', '.join(ROWS)}")
        names += [n for n in found if n not in names]
    if not arguments.regard.exists():
        parser.error(f"no {arguments.regard}: build it first, or say where it is with --regard")

    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.2f}", file=sys.stderr)
    for name in names:
        work = Work(name, arguments)
        try:
            KINDS[work.kind](work)
        except Failed as failure:
            print(f"real_data: {failure}", file=sys.stderr)
            return 1
        (work.folder / "figures.json").write_text(json.dumps(work.figures, indent=1) + "\n")
        print(report(work.figures), flush=True)
        write_summary(arguments.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
