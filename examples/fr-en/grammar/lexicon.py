"""The words as objects: nouns, adjectives, verbs, people, places and times, from tables.py."""

from collections import namedtuple

from grammar import english, french, tables

Noun = namedtuple("Noun", "fr gender fr_plural en en_plural classes")
Adjective = namedtuple("Adjective", "fr feminine en before classes")
Verb = namedtuple("Verb", "key conjugation preposition en flags objects fixed places reflexive")
Phrase = namedtuple("Phrase", "fr en fr_negated", defaults=(None,))
Subject = namedtuple("Subject", "fr en person gender plural tags")
Place = namedtuple("Place", "at at_en to_en tags")


def rows(table, columns):
    """The entries of a table as lists of `columns` stripped strings."""
    for line in table.strip().splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) != columns:
            raise ValueError("table line has %d columns, not %d: %s" % (len(cells), columns, line))
        yield cells


def _noun(fr, gender, fr_plural, en, en_plural, classes):
    classes = frozenset(classes.split())
    if fr_plural == "!":
        return Noun(None, gender, fr, None, en_plural, classes)
    many = None if fr_plural == "-" else fr + "s" if fr_plural == "+" else fr_plural
    many_en = english.plural(en) if en_plural == "+" else en_plural
    return Noun(fr, gender, many, en, many_en if many else None, classes)


def _fixed(text):
    """'un taxi=a taxi / de taxi' -> Phrase; what follows '/' is the French after a negation."""
    out = []
    for item in filter(None, (part.strip() for part in text.split(";"))):
        fr, en = item.split("=")
        en, _, negated = (part.strip() for part in en.partition("/"))
        out.append(Phrase(fr.strip(), en, negated or None))
    return tuple(out)


def make_verb(key, en, flags="", objects="", fixed="", places=""):
    infinitive, _, preposition = key.split("#")[0].partition(":")
    return Verb(
        key,
        french.conjugate(infinitive),
        preposition,
        english.english_verb(en),
        frozenset(flags),
        tuple(objects.split()),
        _fixed(fixed),
        tuple(places.split()),
        "r" in flags,
    )


def _subject(fr, en, kind, tags):
    return Subject(fr, en, 5 if "p" in kind else 2, kind[0], "p" in kind, frozenset(tags.split()))


NOUNS = [_noun(*cells) for cells in rows(tables.NOUN_TABLE, 6)]
NOUN = {noun.fr or noun.fr_plural: noun for noun in NOUNS}
ADJECTIVES = [
    Adjective(fr, None if fem == "-" else fem, en, before == "y", frozenset(classes.split()))
    for fr, fem, en, before, classes in rows(tables.ADJECTIVE_TABLE, 5)
]
PERSON_ADJECTIVES = [
    (fr, None if fem == "-" else fem, en, None if comparative == "-" else comparative)
    for fr, fem, en, comparative in rows(tables.PERSON_ADJECTIVE_TABLE, 4)
]
VERBS = [make_verb(*cells) for cells in rows(tables.VERB_TABLE, 6)]
VERB = {verb.key: verb for verb in VERBS}
INTRANSITIVES = [
    make_verb(key, en, flags, "", "", places)
    for key, en, flags, places in rows(tables.INTRANSITIVE_TABLE, 4)
]
MOTIONS = [
    (make_verb(key, en, flags), reads) for key, en, flags, reads in rows(tables.MOTION_TABLE, 4)
]
PLACES = [
    Place(fr, at, None if to == "-" else to, frozenset(tags.split()))
    for fr, at, to, tags in rows(tables.PLACE_TABLE, 4)
]
PEOPLE = [Phrase(fr, en) for fr, en in rows(tables.PEOPLE_TABLE, 2)]
NOUN_SUBJECTS = [_subject(*cells) for cells in rows(tables.SUBJECT_TABLE, 4)]
TIMES = [(Phrase(fr, en), tenses, span) for fr, en, tenses, span in rows(tables.TIME_TABLE, 4)]
FREQUENCIES = [Phrase(fr, en) for fr, en in rows(tables.FREQUENCY_TABLE, 2)]
AVOIR_STATES = [Phrase(fr, en) for fr, en in rows(tables.AVOIR_STATE_TABLE, 2)]
PROFESSIONS = list(rows(tables.PROFESSION_TABLE, 3))
WEATHER = [(cells[:5], cells[5:]) for cells in rows(tables.WEATHER_TABLE, 10)]

NUMBERS = tables.NUMBERS
PRONOUNS = [
    Subject("je", "i", 0, "m", False, frozenset()),
    Subject("je", "i", 0, "f", False, frozenset()),
    Subject("tu", "you", 1, "m", False, frozenset()),
    Subject("tu", "you", 1, "f", False, frozenset()),
    Subject("il", "he", 2, "m", False, frozenset("o")),
    Subject("il", "he", 2, "m", False, frozenset("o")),
    Subject("elle", "she", 2, "f", False, frozenset("o")),
    Subject("elle", "she", 2, "f", False, frozenset("o")),
    Subject("nous", "we", 3, "m", True, frozenset()),
    Subject("nous", "we", 3, "f", True, frozenset()),
    Subject("vous", "you", 4, "m", False, frozenset()),
    Subject("vous", "you", 4, "f", False, frozenset()),
    Subject("vous", "you", 4, "m", True, frozenset()),
    Subject("vous", "you", 4, "f", True, frozenset()),
    Subject("ils", "they", 5, "m", True, frozenset()),
    Subject("elles", "they", 5, "f", True, frozenset()),
]

ETRE = make_verb("être", "be was been being", "s")
AVOIR = make_verb("avoir", "have had had having", "s")
ALLER = MOTIONS[0][0]
VENIR = MOTIONS[1][0]
# State verbs: the simple present without an adverb.
LIKES = [
    make_verb("aimer", "like liked liked liking", "s"),
    make_verb("adorer", "love loved loved loving", "s"),
    make_verb("détester", "hate hated hated hating", "s"),
    make_verb("préférer", "prefer preferred preferred preferring", "s"),
]
VOULOIR = make_verb("vouloir", "want wanted wanted wanting", "s")
HABITER = make_verb("habiter", "live lived lived living", "s")
VOIR = make_verb("voir", "see saw seen seeing", "s", "animal building look")
CONNAITRE = make_verb("connaître", "know knew known knowing", "s")
COMPRENDRE = make_verb(
    "comprendre", "understand understood understood understanding", "s", "understand"
)
PARLER = make_verb("parler", "speak spoke spoken speaking", "s")
POUVOIR = make_verb("pouvoir", "can could - -", "s")
DEVOIR = make_verb("devoir", "must had - -", "s")
LANGUAGES = [
    Phrase("français", "french"),
    Phrase("anglais", "english"),
    Phrase("espagnol", "spanish"),
    Phrase("italien", "italian"),
    Phrase("allemand", "german"),
    Phrase("japonais", "japanese"),
    Phrase("chinois", "chinese"),
]
