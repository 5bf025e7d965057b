"""English morphology: verb forms, plurals, a/an, possessives."""

from collections import namedtuple

# base, past, past participle, -ing form, and words that follow the verb ("for" in "look for").
EnglishVerb = namedtuple("EnglishVerb", "base past participle ing particle")

BE_PRESENT = ("am", "are", "is", "are", "are", "are")
BE_PAST = ("was", "were", "was", "were", "were", "were")
POSSESSIVE = {0: "my", 1: "your", 3: "our", 4: "your", 5: "their"}
VOWEL_LETTER_BUT_A = ("university", "uniform", "useful", "european", "one")
SILENT_H = ("hour", "honest")


def english_verb(spec):
    """'look looked looked looking for' -> EnglishVerb."""
    words = spec.split()
    return EnglishVerb(words[0], words[1], words[2], words[3], " ".join(words[4:]))


def third_person(base):
    """eat -> eats, carry -> carries, watch -> watches."""
    if base == "have":
        return "has"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    if base.endswith(("s", "sh", "ch", "x", "z", "o")):
        return base + "es"
    return base + "s"


def plural(noun):
    """apple -> apples, cherry -> cherries, box -> boxes."""
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    if noun.endswith(("s", "sh", "ch", "x", "z", "tomato")):
        return noun + "es"
    return noun + "s"


def with_article(phrase):
    """Put a or an before a phrase."""
    word = phrase.split()[0]
    vowel = word[0] in "aeiou" and word not in VOWEL_LETTER_BUT_A
    return ("an " if vowel or word in SILENT_H else "a ") + phrase


def possessive(person, gender):
    """my, your, his or her (the owner's gender), our, your, their."""
    if person == 2:
        return "her" if gender == "f" else "his"
    return POSSESSIVE[person]
