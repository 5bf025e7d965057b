#!/usr/bin/env python3
"""Writes the French-English corpus of this folder: train.tsv, dev.tsv, test.tsv.

generate.py             write the three files
generate.py --check     make them again, compare, run every check; exit status 1 on a failure
generate.py --sample K  print sample number K, 300 rows, for a proofreader
"""

import argparse
import collections
import pathlib
import re
import sys

sys.dont_write_bytecode = True  # keep the folder clean

from grammar import (
    french,
    plans,
    plans_other,
    plans_questions,
    plans_state,
    plans_things,
)  # noqa: E402
from grammar.dice import Dice, hash64  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
HELD_OUT = ("nous mangeons du pain", "we are eating bread")
# Neither side of a training or dev row may hold these.
NEVER_TRAINED = ("mangeons du pain", "we are eating bread", "are we eating bread")
TEST_ALWAYS = (
    HELD_OUT,
    ("nous mangeons du pain dans la cuisine", "we are eating bread in the kitchen"),
    ("nous mangeons du pain ce matin", "we are eating bread this morning"),
    ("maintenant nous mangeons du pain", "now we are eating bread"),
    ("nous mangeons du pain et du fromage", "we are eating bread and cheese"),
    ("est-ce que nous mangeons du pain ?", "are we eating bread ?"),
    ("nous mangeons du pain avec marie", "we are eating bread with marie"),
    ("nous mangeons souvent du pain", "we often eat bread"),
)
DEV_SIZE, TEST_SIZE = 600, 1000
TRAIN_LEAST = 3  # a word of a dev or test row occurs in at least so many training rows
MOST_WORDS = 12

# plan, how many distinct rows it should give
QUOTAS = (
    (plans.transitive, 4800),
    (plans.transitive_present, 2600),
    (plans.habits, 1000),
    (plans.future_and_imperfect, 1300),
    (plans.food_present, 1300),
    (plans.bread, 350),
    (plans.two_things, 450),
    (plans.intransitive, 1700),
    (plans.washing, 150),
    (plans.motion, 1500),
    (plans.giving, 600),
    (plans.since, 220),
    (plans.commands, 450),
    (plans_state.being, 1300),
    (plans_state.profession, 250),
    (plans_state.being_there, 600),
    (plans_state.feeling, 500),
    (plans_things.having, 700),
    (plans_things.there_is, 500),
    (plans_things.things, 750),
    (plans_state.liking, 950),
    (plans_state.modal, 2100),
    (plans_state.trying, 400),
    (plans_things.wanting, 650),
    (plans_state.knowing, 550),
    (plans_state.living, 400),
    (plans_questions.what, 300),
    (plans_questions.where, 400),
    (plans_questions.who_does, 250),
    (plans_questions.with_whom, 150),
    (plans_questions.how_many, 250),
    (plans_questions.cost, 120),
    (plans_questions.where_is, 130),
    (plans_other.clock, 90),
    (plans_other.day, 60),
    (plans_other.weather, 400),
    (plans_other.compare, 300),
    (plans_other.this_is, 250),
    (plans_other.because, 350),
    (plans_other.but, 250),
    (plans_other.that, 350),
    (plans_other.when, 250),
    (plans_other.relative, 150),
)


class Failure(Exception):
    """A check of the corpus failed."""


def everyday():
    """The pairs written by hand, in order."""
    pairs = []
    text = (HERE / "everyday.tsv").read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        if line.count("\t") != 1:
            raise Failure("everyday.tsv:%d: not one TAB" % number)
        pairs.append(tuple(line.split("\t")))
    return pairs


SMALL_WORDS = {
    "dans",
    "avec",
    "vous",
    "nous",
    "elle",
    "elles",
    "leur",
    "leurs",
    "votre",
    "notre",
    "cette",
    "sont",
    "très",
    "trop",
    "plus",
    "quand",
    "c'est",
}


def repeats(fr):
    """Does a word (or its stem) stand twice: 'dîner avant le dîner'?"""
    words = [w for w in fr.split() if len(w) >= 4 and w not in SMALL_WORDS]
    for i, one in enumerate(words):
        for two in words[i + 1 :]:
            if one.startswith(two) or two.startswith(one) or one[:5] == two[:5] != "l'étu":
                return True
    return False


def generated():
    """{French: (English, combos)} from all plans."""
    found = {}
    for plan, quota in QUOTAS:
        new, throw = 0, 0
        while new < quota and throw < 30 * quota:
            made = plan(Dice(plan.__name__, throw))
            throw += 1
            if made is None:
                continue
            fr, en, combos = made
            if len(fr.split()) > MOST_WORDS or len(en.split()) > MOST_WORDS:
                continue
            if repeats(fr):
                continue
            known = found.get(fr)
            if known is None:
                found[fr] = (en, set(combos))
                new += 1
            elif known[0] != en:
                raise Failure("two English answers for %r: %r, %r" % (fr, known[0], en))
            else:
                known[1].update(combos)
    return found


def fate(combos):
    """Which split a sentence with these combos belongs to; bread stays in training."""
    fates = set()
    for combo in combos:
        if combo.endswith("+pain"):
            continue
        share = hash64("combo " + combo) % 1000
        fates.add("test" if share < 45 else "dev" if share < 72 else "train")
    return "test" if "test" in fates else "dev" if "dev" in fates else "train"


def forbidden(fr, en):
    return any(phrase in fr or phrase in en for phrase in NEVER_TRAINED)


def first(pool, count):
    """`count` rows of the pool, in the order of their hashes."""
    return sorted(pool, key=lambda pair: (hash64("order " + pair[0]), pair[0]))[:count]


def words_of(pair):
    return ["fr " + w for w in pair[0].split()] + ["en " + w for w in pair[1].split()]


def split(found, by_hand):
    """(train, dev, test): rows in an order fixed by their hashes."""
    hand_sources = dict(by_hand)
    pools = {"train": [], "dev": [], "test": [], "new dev": [], "new test": []}
    for fr, (en, combos) in found.items():
        if fr in hand_sources:
            if hand_sources[fr] != en:
                raise Failure(
                    "everyday.tsv and the grammar disagree on %r: %r, %r"
                    % (fr, hand_sources[fr], en)
                )
            continue
        where = fate(combos)
        if forbidden(fr, en):
            continue
        if where == "train":
            # All French sentences of one English sentence share their fate.
            share = hash64("sentence " + en) % 1000
            where = "new test" if share < 32 else "new dev" if share < 52 else "train"
        pools[where].append((fr, en))
    train = by_hand + pools["train"]
    counts = collections.Counter(word for pair in train for word in set(words_of(pair)))
    answers = {en for _, en in train}
    taken = {fr for fr, _ in TEST_ALWAYS}

    def usable(pool):
        return [
            pair
            for pair in pool
            if pair[1] not in answers
            and pair[0] not in taken
            and all(counts[word] >= TRAIN_LEAST for word in words_of(pair))
        ]

    half = (TEST_SIZE - len(TEST_ALWAYS)) // 2
    test = list(TEST_ALWAYS) + first(usable(pools["test"]), half)
    test += first(usable(pools["new test"]), TEST_SIZE - len(test))
    answers |= {en for _, en in test}
    dev = first(usable(pools["dev"]), DEV_SIZE // 2)
    dev += first(usable(pools["new dev"]), DEV_SIZE - len(dev))
    return (
        first(train, len(train)),
        first(dev, len(dev)),
        list(TEST_ALWAYS) + first(test[len(TEST_ALWAYS) :], len(test)),
    )


# What correct French and English never hold: a missed elision or contraction, a wrong a or an.
WRONG_FRENCH = re.compile(
    r"\b(de|à) (le|les) |\bde (de|du|des)\b|\bsi il|\bce (ami|homme|hôtel|œuf|ordinateur|arbre)\b"
    r"|\b[mts]a (amie|école|assiette|écharpe|orange|image|histoire|église|étoile)\b"
    r"|'(?![aeiouyhâàéèêëîïôöûùüœ])|'haricot|'huit|'onze|\bles? (un|une|du|des)\b"
)
ELIDES = re.compile(r"(?<![-\w])(je|me|te|se|le|la|ne|de|que) (\w+)")
WRONG_ENGLISH = re.compile(
    r"\ba [aeiou]|\ban (?!hour)[^aeiou]|\b(\w+) \1\b|^(he|she|it) (are|were|have|do|am)\b"
    r"|^i (is|are|has|does|were)\b|^(we|you|they) (is|am|was|has|does)\b"
)


def spelling(fr, en):
    """Raise Failure at a mistake that a pattern can see."""
    for one, two in ELIDES.findall(fr):
        if french.starts_with_vowel(two):
            raise Failure("%r: no elision of %r before %r" % (fr, one, two))
    if WRONG_FRENCH.search(fr):
        raise Failure("%r: wrong French" % fr)
    found = WRONG_ENGLISH.search(en)
    if found:
        raise Failure("%r: wrong English: %r" % (en, found.group()))


def check(train, dev, test, by_hand):
    """Raise Failure where the corpus breaks one of its rules."""
    answers = {}
    for name, pairs in (("train", train), ("dev", dev), ("test", test)):
        for fr, en in pairs:
            where = "%s: %r / %r: " % (name, fr, en)
            if fr in answers:
                raise Failure(where + "this French occurs twice")
            answers[fr] = en
            for text in (fr, en):
                if text != " ".join(text.split()) or not text:
                    raise Failure(where + "blanks")
                if text != text.lower():
                    raise Failure(where + "upper case")
                if any(not (c.isalpha() or c in " '-?") for c in text):
                    raise Failure(where + "a character that the corpus does not use")
            spelling(fr, en)
            if fr.endswith(" ?") != en.endswith(" ?"):
                raise Failure(where + "a question on one side only")
            if len(fr.split()) > MOST_WORDS or len(en.split()) > MOST_WORDS:
                raise Failure(where + "too long")
            if name != "test" and forbidden(fr, en):
                raise Failure(where + "the held-out sentence")
    known = {word for pair in train for word in words_of(pair)}
    train_answers = {en for _, en in train}
    for name, pairs in (("dev", dev), ("test", test)):
        for pair in pairs:
            unknown = [word for word in words_of(pair) if word not in known]
            if unknown:
                raise Failure("%s: %r: not in train: %s" % (name, pair, unknown))
            if pair[1] in train_answers:
                raise Failure("%s: %r: its English is in train" % (name, pair))
    rules = (
        (len(train) + len(dev) + len(test) >= 20000, "fewer than 20,000 pairs"),
        (len(by_hand) >= 400, "fewer than 400 everyday pairs"),
        (len(dev) == DEV_SIZE and len(test) == TEST_SIZE, "dev or test too small"),
        (HELD_OUT in test, "the held-out sentence is not in test"),
        (sum(fr.startswith("nous mangeons ") for fr, _ in train) >= 30, "few 'nous mangeons'"),
        (sum(fr.endswith(" du pain") for fr, _ in train) >= 60, "few 'du pain'"),
    )
    for holds, message in rules:
        if not holds:
            raise Failure(message)


def text_of(pairs):
    return "".join(fr + "\t" + en + "\n" for fr, en in pairs)


def report(train, dev, test, by_hand):
    french_words = {word for fr, _ in train for word in fr.split()}
    english_words = {word for _, en in train for word in en.split()}
    mean = sum(len(fr.split()) for fr, _ in train) / len(train)
    print(
        "train %d (of them %d everyday), dev %d, test %d; %d French and %d English words, "
        "%.1f French words a row"
        % (
            len(train),
            len(by_hand),
            len(dev),
            len(test),
            len(french_words),
            len(english_words),
            mean,
        ),
        file=sys.stderr,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare with the files; run checks")
    parser.add_argument("--sample", type=int, metavar="K", help="print sample K of 300 rows")
    options = parser.parse_args()
    try:
        by_hand = everyday()
        splits = split(generated(), by_hand)
        check(*splits, by_hand)
        report(*splits, by_hand)
        if options.sample is not None:
            hand = set(by_hand)
            rows = [pair for pairs in splits for pair in pairs if pair not in hand]
            rows.sort(key=lambda pair: hash64("sample %d %s" % (options.sample, pair[0])))
            sys.stdout.write(text_of(rows[:300]))
            return 0
        for name, pairs in zip(("train", "dev", "test"), splits):
            path = HERE / (name + ".tsv")
            if not options.check:
                path.write_bytes(text_of(pairs).encode("utf-8"))
            elif not path.exists() or path.read_bytes() != text_of(pairs).encode("utf-8"):
                raise Failure(path.name + " is not what this program writes")
    except Failure as failure:
        print("generate.py: " + str(failure), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
