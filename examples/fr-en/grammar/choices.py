"""What goes with what: picks subjects, objects, times and places that make sense together."""

from grammar.clauses import noun_phrase, owned_phrase
from grammar.lexicon import (
    ADJECTIVES,
    FREQUENCIES,
    NOUN_SUBJECTS,
    NOUNS,
    NUMBERS,
    PEOPLE,
    PLACES,
    PRONOUNS,
    TIMES,
    Phrase,
)

SINGULAR_ONLY = {
    "porter",
    "conduire",
    "traverser",
    "finir",
    "commencer",
    "regarder",
    "quitter",
    "remplir",
    "porter#carry",
    "construire",
    "corriger",
}
ODD = {
    ("laver", "delicious"),
    ("couper", "delicious"),
    ("laver", "clean"),
    ("oublier", "new"),
    ("perdre", "new"),
    ("remplir", "broken"),
    ("casser", "broken"),
    ("utiliser", "broken"),
    ("nettoyer", "clean"),
    ("ranger", "clean"),
    ("porter", "broken"),
    ("ouvrir", "empty"),
    ("construire", "old"),
    ("faire#make", "cold"),
    ("préparer", "cold"),
    ("écrire", "old"),
    ("dessiner", "new"),
    ("planter", "old"),
}
COSTLY = {"vehicle", "building"}
TIME_CODE = {"present": "p", "future": "f", "going": "f", "past": "c", "imperfect": "i"}
GLASSES = (
    ("un verre de", "a glass of", {"eau", "lait", "vin", "limonade", "jus d'orange"}),
    ("une tasse de", "a cup of", {"café", "thé"}),
    ("une bouteille de", "a bottle of", {"eau", "lait", "vin", "bière", "limonade"}),
    ("un morceau de", "a piece of", {"pain", "fromage", "chocolat", "viande", "poulet"}),
    ("un kilo de", "a kilo of", {"riz", "viande", "beurre", "fromage", "poisson"}),
)


def subject(dice, verb=None, pronouns=65):
    """A pronoun or a noun subject that can do what the verb says."""
    if dice.chance(pronouns):
        return dice.pick(PRONOUNS)
    adult = verb is not None and "a" in verb.flags
    return dice.pick([s for s in NOUN_SUBJECTS if not (adult and "child" in s.tags)])


def noun_for(dice, verb):
    """A noun of the verb's object classes, or None where the classes say 'person'."""
    kind = dice.pick(verb.objects)
    if kind == "person":
        return None
    return dice.pick([noun for noun in NOUNS if kind in noun.classes])


def determiner(dice, noun, verb, negated):
    """(determiner, many) for an object."""
    if "room" in noun.classes and verb.key != "construire":
        return dice.weighted((("the", False), 6), (("my", False), 3), (("this", False), 1))
    if verb.key == "oublier":
        return dice.weighted((("my", noun.fr is None), 3), (("the", noun.fr is None), 2))
    if noun.fr is None:
        return dice.weighted(
            (("some", True), 50), (("the", True), 25), (("my", True), 15), (("this", True), 10)
        )
    mass = noun.fr_plural is None
    if not mass and "both" in noun.classes:
        mass = negated or dice.chance(70)
    if mass:
        return dice.weighted(
            (("some", False), 60), (("the", False), 22), (("my", False), 10), (("this", False), 8)
        )
    if verb.key == "laver" and "food" in noun.classes:
        return dice.weighted((("some", True), 5), (("the", True), 4), (("this", True), 2))
    if verb.key in SINGULAR_ONLY or (COSTLY & noun.classes and verb.key not in ("vendre",)):
        return dice.weighted(
            (("a", False), 45), (("the", False), 25), (("my", False), 16), (("this", False), 14)
        )
    return dice.weighted(
        (("a", False), 30),
        (("some", True), 22),
        (("the", False), 17),
        (("the", True), 9),
        (("my", False), 9),
        (("my", True), 3),
        (("this", False), 5),
        (("this", True), 3),
        (("number", True), 7),
    )


def adjective_for(dice, noun, after_be=False):
    """An adjective that suits the noun; 'nouveau' does not follow être."""
    fitting = [
        a for a in ADJECTIVES if a.classes & noun.classes and not (after_be and a.fr == "nouveau")
    ]
    return dice.pick(fitting) if fitting else None


def quantity(dice, noun, verb=None):
    """'beaucoup de pain', 'un verre d'eau' or None."""
    mass = noun.fr_plural is None
    if mass and (verb is None or verb.key != "vendre") and dice.chance(50):
        trade = verb is None or verb.key == "acheter"
        fitting = [g for g in GLASSES if noun.fr in g[2] and (trade or "kilo" not in g[0])]
        if fitting:
            fr, en, _ = dice.pick(fitting)
            return Phrase(fr + " " + noun.fr, en + " " + noun.en)
    fr = noun.fr if mass else noun.fr_plural
    en = noun.en if mass else noun.en_plural
    if not mass and noun.fr is None and noun.en_plural == "pasta":
        return None
    amounts = [
        ("beaucoup de", "a lot of"),
        ("trop de", "too much" if mass else "too many"),
        ("assez de", "enough"),
    ]
    if mass:
        amounts.append(("un peu de", "a little"))
    amount = dice.pick(amounts)
    return Phrase(amount[0] + " " + fr, amount[1] + " " + en)


def thing(dice, noun, verb, who, negated=False):
    """A noun phrase for this noun as the object of this verb; returns (Phrase, combos)."""
    combos = ["%s+%s" % (verb.key, noun.fr or noun.fr_plural)]
    eatable = {"food", "drink"} & noun.classes
    if eatable and not negated and verb.key != "couper" and dice.chance(9):
        phrase = quantity(dice, noun, verb)
        if phrase:
            return phrase, combos
    which, many = determiner(dice, noun, verb, negated)
    if which == "my" and (verb.key == "acheter" or verb.key == "vendre" and eatable):
        which = "the"
    if which == "my" and noun.fr == "eau":
        which = "the"
    adjective = None
    if which != "number" and dice.chance(17):
        adjective = adjective_for(dice, noun)
    if adjective and (verb.key, adjective.en) in ODD:
        adjective = None
    if adjective:
        combos.append("%s+%s" % (adjective.fr, noun.fr or noun.fr_plural))
    number = dice.pick(NUMBERS) if which == "number" else None
    if which == "the" and not eatable and "own" in noun.classes and dice.chance(35):
        return belonging(dice, noun), combos
    return noun_phrase(noun, which, many, adjective, who, number), combos


def belonging(dice, noun):
    """'la voiture de marie' / "marie's car"."""
    owner = dice.pick([s for s in NOUN_SUBJECTS if not s.plural])
    phrase = noun_phrase(noun, "the")
    return Phrase(phrase.fr + " de " + owner.fr, owner.en + "'s " + noun.en)


def person(dice, who):
    """A person that is not the subject."""
    fitting = [
        p
        for p in PEOPLE
        if p.fr != who.fr
        and not (who.fr.endswith(p.fr.split()[-1]))
        and p.fr.split()[-1] not in who.fr.split()
    ]
    return owned_phrase(dice.pick(fitting), who)


def possible(verb, noun, who):
    """Do children do this, does this man or woman wear this?"""
    if verb is not None and verb.key == "porter" and who.person in (2, 5):
        if noun.fr in ("robe", "jupe") and who.gender == "m":
            return False
        if noun.fr == "cravate" and who.gender == "f":
            return False
    if "child" not in who.tags:
        return True
    if "adult" in noun.classes:
        return False
    return not (COSTLY & noun.classes) or verb.key in ("laver", "dessiner", "visiter", "voir")


def an_object(dice, verb, who, negated=False):
    """(objects, combos, noun or None), or None if the choice makes no sense."""
    weight = len(verb.fixed) * 10
    free = len(verb.objects) * 30
    if dice.below(weight + free) < weight:
        phrase = owned_phrase(dice.pick(verb.fixed), who)
        return (phrase,), ["%s+%s" % (verb.key, phrase.en)], None
    noun = noun_for(dice, verb)
    if noun is None:
        phrase = person(dice, who)
        return (phrase,), ["%s+%s" % (verb.key, phrase.en)], None
    if not possible(verb, noun, who):
        return None
    phrase, combos = thing(dice, noun, verb, who, negated)
    return (phrase,), combos, noun


def place(dice, verb, noun=None):
    """A place where one does this, or None."""
    if noun is not None and COSTLY & noun.classes and verb.key in ("acheter", "vendre"):
        return None
    if noun is not None and noun.fr in ("cheval", "vache", "oiseau") and "indoor" in verb.places:
        return None  # no cows in the bedroom
    fitting = [p for p in PLACES if p.tags & set(verb.places)]
    if verb.key == "voyager":
        fitting = [p for p in fitting if "city" not in p.tags]
    if not fitting:
        return None
    where = dice.pick(fitting)
    return Phrase(where.at, where.at_en)


def time(dice, verb, tense):
    """A time that fits the tense and the verb, or None."""
    code = TIME_CODE.get(tense)
    fitting = [
        t
        for t, codes, span in TIMES
        if code and code in codes and (span != "l" or "l" in verb.flags) and suits_hour(verb, t.fr)
    ]
    return dice.pick(fitting) if fitting else None


def suits_hour(verb, when):
    """One gets up in the morning and goes to bed in the evening."""
    if verb.key in ("coucher", "dîner"):
        return not any(word in when for word in ("matin", "midi", "déjeuner", "heure"))
    if verb.key in ("lever", "réveiller", "déjeuner"):
        return not any(word in when for word in ("soir", "dîner", "après", "heure"))
    if verb.key in ("construire", "voyager"):
        return "heure" not in when
    return not (verb.key == "dépêcher" and when == "bientôt")


def habit_time(dice, verb):
    span_wanted = "d" if "d" in verb.flags else "w"
    return dice.pick(
        [
            t
            for t, codes, span in TIMES
            if codes == "h" and span == span_wanted and suits_hour(verb, t.fr)
        ]
    )


def frequency(dice, negated=False):
    if negated:
        return dice.pick([f for f in FREQUENCIES if f.fr in ("souvent", "toujours")])
    return dice.pick(FREQUENCIES)


def question_mood(dice, who):
    """est-ce que, inversion or a rising voice, as the subject allows; few for je and nous."""
    if who.fr == "je" and dice.chance(90) or who.fr == "nous" and dice.chance(40):
        return "statement"
    if who.fr == "je":
        return "est-ce que"
    if who in PRONOUNS:
        return dice.weighted(("est-ce que", 6), ("inversion", 3), ("rising", 2))
    return dice.weighted(("est-ce que", 4), ("rising", 1))
