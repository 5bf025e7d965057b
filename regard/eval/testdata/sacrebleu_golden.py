"""Writes golden.json: made-up hypotheses and references of many kinds, and sacreBLEU's scores of them.

    python3 -m venv venv && venv/bin/pip install sacrebleu==2.6.0
    venv/bin/python sacrebleu_golden.py > golden.json

The lines are made by this program from a fixed seed; the same seed gives the same file.
"""
import json
import random
import sys

import regex
import sacrebleu
from sacrebleu.metrics import BLEU, CHRF

SENTENCES = [
    "The baker's 3 loaves cost $4.50, not 4,50!",
    "He said: \"It's well-known - isn't it?\" (No.)",
    "In 1999-2003, about 12.5% of them left.",
    "a b c d e f g h i j",
    "state-of-the-art e-mail: x@y.org/path?q=1&r=2",
    "Wait... what?! No way; never, ever.",
    "The year was 2024.",
    "1,000,000 people; 3.14 pies. 5-6 of 7- or 8.",
]
KINDS = {
    "english": SENTENCES,
    "french": [
        "L\u2019\u00e9t\u00e9 dernier\u00a0: \u00ab\u202fc\u2019\u00e9tait 37,5\u00a0\u00b0C\u202f\u00bb, dit-elle.",
        "Aujourd\u2019hui, \u00c9lo\u00efse n\u2019a pas mang\u00e9 de p\u00e2te\u2026",
        "Qu\u2019est-ce que c\u2019est\u00a0? \u2013 Rien\u202f!",
    ],
    "entities": [
        "&quot;Tom &amp; Mary&quot; &lt;b&gt; &amp;lt; &apos;s &amp;amp;",
        "a&b &quot;&quot; <skipped> c<skipped>d &gt;&gt;&lt;",
        "R&amp;D &AMP; &lt;3",
    ],
    "symbols": [
        "5\u20ac + 3\u00a3 = 7\u00a5\u00a9 \u00b12\u00d73\u00f74 \u2260 \u221a9 \u2192 ok",
        "\u00a7 12 \u00b6 3 \u2022 one \u2122two\u00ae `tick` ^hat^ ~tilde~",
        "\U0001f600 smile\U0001f44d\U0001f3fd\u200d \u2764\ufe0f!",
    ],
    "numbers": [
        "1.2,3.4-5-6 7-a b-8 .9 9. ,1 1, 10.",
        "\u0661\u0662\u066b\u0663 \u00bd.\u00be \u2163.\u2160 \u2460,\u2461 2\u00b2.3",
        "3.a a.3 3,b b,3 ..,, 1..2 1.,2",
    ],
    "cjk": [
        "\u6211\u5011\u5728\u5403\u9eb5\u5305\u3002\u4f60\u5462\uff1f",
        "\u79c1\u306f3\u6642\u306b\u300c\u30d1\u30f3\u300d\u3092\u98df\u3079\u308b\u3001\u7b11\u3002",
        "\u5168\u89d2\u3000\uff11\uff0e\uff12\uff01 half 1.2!",
    ],
    "spaces": [
        "  two  blanks\tand a tab \u00a0 nbsp\u2003em\u3000wide  ",
        "odd\u0085line\u2028marks\x1cinside\x0b.",
        "zero\u200bwidth soft\u00adhyphen \ufeffmark ",
    ],
    "case": [
        "\u03a3\u03a9\u039a\u03a1\u0391\u03a4\u0397\u03a3 \u039f\u0394\u039f\u03a3. \u03a3 \u03a3\u0391",
        "\u0130STANBUL I\u011eDIR \u1e9e STRASSE \u01c5 \u01c4",
        "\u00c9COLE \u00c0 PARIS, \u24b6 \u2160\u2161",
    ],
    "short": ["a", "a b", "a b c", ".", "a.", "!?", "", "x y"],
    "gaps": ["", "", "only this line has words.", "", "and this one too, with some more words"],
}


def change(line, rng):
    """A line like this one: characters and words dropped, doubled, swapped or of the other case."""
    if rng.random() < 0.06:
        return ""
    words = line.split(" ")
    for _ in range(rng.randint(0, 1 + len(words) // 4)):
        at = rng.randrange(len(words))
        word = words[at]
        what = rng.randrange(5)
        if what == 0 and len(words) > 1:
            del words[at]
        elif what == 1:
            words.insert(at, word)
        elif what == 2 and word:
            cut = rng.randrange(len(word))
            words[at] = word[:cut] + word[cut + 1 :]
        elif what == 3:
            words[at] = word.swapcase()
        elif at:
            words[at - 1], words[at] = word, words[at - 1]
    return " ".join(words)


def scores(hypotheses, references):
    result = {}
    for lowercase in (False, True):
        end = "/lowercase" if lowercase else ""
        for tokenize in ("13a", "intl", "char", "none"):
            bleu = BLEU(tokenize=tokenize, lowercase=lowercase, force=True)
            result[f"bleu/{tokenize}{end}"] = bleu.corpus_score(hypotheses, references).score
        for name, word_order in (("chrf", 0), ("chrf++", 2)):
            chrf = CHRF(word_order=word_order, lowercase=lowercase)
            result[name + end] = chrf.corpus_score(hypotheses, references).score
    return {name: round(score, 6) for name, score in result.items()}


def case(name, hypotheses, files):
    items = [list(lines) for lines in zip(*files)]
    return {
        "name": name,
        "hypotheses": hypotheses,
        "references": items,
        "scores": scores(hypotheses, files),
    }


def main():
    rng = random.Random(20)
    cases = []
    for kind, lines in KINDS.items():
        for files in (1, 3):
            source = lines * (2 if files == 1 else 1)
            hypotheses = [change(line, rng) for line in source]
            references = [source] + [[change(x, rng) for x in source] for _ in range(files - 1)]
            cases.append(case(f"{kind}, {files} reference(s)", hypotheses, references))
    everything = [line for lines in KINDS.values() for line in lines]
    cases.append(case("everything", [change(x, rng) for x in everything], [everything]))
    cases.append(case("all the same", everything, [everything]))
    cases.append(case("nothing right", ["\u00fc" for _ in everything], [everything]))
    cases.append(case("nothing said", ["" for _ in everything], [everything]))
    cases.append(case("nothing wanted", everything, [["" for _ in everything]]))
    cases.append(case("one short line", ["a b"], [["a c"]]))
    cases.append(case("no 4-gram matches", ["a b c x d e f"], [["a b c d e f"]]))
    cases.append(case("no 2-gram matches", ["a x b y c z"], [["a b c d e f"]]))
    json.dump(
        {
            "made_by": "sacrebleu_golden.py",
            "sacrebleu": sacrebleu.__version__,
            "regex": regex.__version__,
            "python": sys.version.split()[0],
            "cases": cases,
        },
        sys.stdout,
        ensure_ascii=True,
        indent=1,
    )
    print()


if __name__ == "__main__":
    main()
