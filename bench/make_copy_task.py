#!/usr/bin/env python3
"""Writes a copy or reverse task: rows of random letters TAB the same letters, or backwards.

FOLDER receives train.tsv, dev.tsv and test.tsv; the test part has equally many rows of each length.
No row occurs twice, in whatever parts. The same arguments write the same files.
"""

import argparse
import pathlib
import random
import string


def rows(dice, lengths, reverse, seen):
    """One new row for each of `lengths`."""
    for length in lengths:
        letters = None
        while letters is None or letters in seen:
            letters = "".join(string.ascii_lowercase[int(dice.random() * 26)]
                              for _ in range(length))
        seen.add(letters)
        yield f"{letters}\t{letters[::-1] if reverse else letters}\n"


def write_task(folder, reverse=False, train=20000, dev=500, test_each=20, shortest=5, longest=60,
               seed=1):
    dice = random.Random(seed)
    span = longest - shortest + 1
    parts = {
        "test": [shortest + i % span for i in range(test_each * span)],
        "dev": [shortest + i % span for i in range(dev)],
        "train": [shortest + int(dice.random() * span) for _ in range(train)],
    }
    folder.mkdir(parents=True, exist_ok=True)
    seen = set()
    for name, lengths in parts.items():
        with open(folder / f"{name}.tsv", "w", encoding="utf-8", newline="\n") as file:
            file.writelines(rows(dice, lengths, reverse, seen))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--reverse", action="store_true")
    parser.add_argument("--train", type=int, default=20000)
    parser.add_argument("--dev", type=int, default=500)
    parser.add_argument("--test-each", type=int, default=20, help="test rows of each length")
    parser.add_argument("--shortest", type=int, default=5)
    parser.add_argument("--longest", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    write_task(**vars(arguments))


if __name__ == "__main__":
    main()
