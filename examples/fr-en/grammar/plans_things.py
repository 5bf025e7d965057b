"""Sentence plans about things: having, wanting, where they are and what they are like."""

from grammar import choices, french
from grammar import lexicon as lex
from grammar.clauses import after_besoin_de, clause, noun_phrase
from grammar.lexicon import Phrase
from grammar.plans_state import NEED, state_frame, state_tense


def having(dice):
    """'nous avons une voiture rouge', 'je n'ai pas de frère'."""
    who = choices.subject(dice, None, 60)
    tense = state_tense(dice)
    options = state_frame(dice, who, tense)
    if options.get("neg") == "never":
        options["neg"] = "not"
    if dice.chance(15):
        relation = dice.pick(
            (
                ("un frère", "a brother"),
                ("une sœur", "a sister"),
                ("deux frères", "two brothers"),
                ("trois sœurs", "three sisters"),
                ("des enfants", "children"),
                ("beaucoup d'amis", "a lot of friends"),
                ("un problème", "a problem"),
                ("une idée", "an idea"),
                ("un rendez-vous", "an appointment"),
                ("du temps", "time"),
                ("le temps", "the time"),
                ("du travail", "work"),
            )
        )
        noun = relation[0].split(" ", 1)
        combos = []
        obj = Phrase(
            relation[0],
            relation[1],
            "de " + noun[1] if noun[0] in ("un", "une", "des", "du") else None,
        )
    else:
        noun = dice.pick(
            [n for n in lex.NOUNS if {"own", "thing", "animal", "money", "wear"} & n.classes]
        )
        if not choices.possible(lex.AVOIR, noun, who):
            return None
        obj, combos = _indefinite(dice, noun)
        combos = ["avoir+" + (noun.fr or noun.fr_plural)] + combos
    fr, en = clause(who, lex.AVOIR, tense, (obj,), **options)
    return fr, en, combos


def _indefinite(dice, noun, alone=False):
    """A new thing: some, a, a number; sometimes with an adjective; alone: no herds or fleets."""
    combos = []
    adjective = choices.adjective_for(dice, noun) if dice.chance(25) else None
    if adjective:
        combos.append("%s+%s" % (adjective.fr, noun.fr or noun.fr_plural))
    if noun.fr is None:
        which, many = "some", True
    elif noun.fr_plural is None:
        which, many = "some", False
    elif "both" in noun.classes:
        which, many = dice.weighted((("some", False), 7), (("a", False), 1))
    elif {"animal", "vehicle", "building"} & noun.classes and alone:
        which, many = "a", False
    else:
        which, many = dice.weighted((("a", False), 6), (("some", True), 2), (("number", True), 2))
    if which == "number":
        adjective, combos = None, []
    return noun_phrase(noun, which, many, adjective, number=dice.pick(lex.NUMBERS)), combos


ON = (
    Phrase("sur la table", "on the table"),
    Phrase("sur la chaise", "on the chair"),
    Phrase("sous la table", "under the table"),
    Phrase("sous le lit", "under the bed"),
    Phrase("dans la boîte", "in the box"),
    Phrase("dans le sac", "in the bag"),
    Phrase("derrière la porte", "behind the door"),
    Phrase("dans la cuisine", "in the kitchen"),
    Phrase("dans la voiture", "in the car"),
    Phrase("à côté de la lampe", "next to the lamp"),
)
OUTSIDE = (
    Phrase("devant la maison", "in front of the house"),
    Phrase("derrière la maison", "behind the house"),
    Phrase("dans la rue", "in the street"),
    Phrase("dans le jardin", "in the garden"),
    Phrase("à côté de l'église", "next to the church"),
    Phrase("devant l'école", "in front of the school"),
    Phrase("près de la gare", "near the station"),
)
FRIDGE = (
    Phrase("dans le frigo", "in the fridge"),
    Phrase("sur la table", "on the table"),
    Phrase("dans la cuisine", "in the kitchen"),
    Phrase("dans l'assiette", "on the plate"),
)
SIGHTS = OUTSIDE[4:] + (
    Phrase("dans cette rue", "in this street"),
    Phrase("dans notre ville", "in our city"),
    Phrase("dans ce village", "in this village"),
)


def spot_for(dice, noun):
    """Where such a thing may be."""
    if {"food", "drink"} & noun.classes:
        spots = FRIDGE[:3] if "drink" in noun.classes else FRIDGE
    elif "vehicle" in noun.classes or "animal" in noun.classes:
        spots = OUTSIDE
    elif "building" in noun.classes:
        spots = SIGHTS
    elif {"small-thing", "small", "thing", "break", "read", "wear"} & noun.classes:
        spots = ON
    else:
        return None
    fitting = [s for s in spots if s.fr.split()[-1] != noun.fr]
    return dice.pick(fitting)


def placeable(dice):
    return dice.pick(
        [
            n
            for n in lex.NOUNS
            if n.fr
            not in (
                "table",
                "chaise",
                "leçon",
                "question",
                "règle",
                "exercice",
                "film",
                "texte",
                "histoire",
                "phrase",
                "bateau",
                "porte",
                "fenêtre",
                "mur",
                "pont",
                "poème",
                "message",
                "roman",
                "image",
                "chanson",
            )
        ]
    )


def there_is(dice):
    """'il y a du lait dans le frigo'."""
    noun = placeable(dice)
    spot = spot_for(dice, noun)
    if spot is None or noun.fr in ("glace", "frites"):
        return None
    thing, combos = _indefinite(dice, noun)
    many = _is_many(thing, noun)
    kind = dice.weighted(("yes", 6), ("no", 2), ("ask", 2), ("past", 2), ("will", 1))
    if kind == "no":
        if thing.fr_negated is None:
            return None
        fr = "il ne y a pas " + thing.fr_negated + " " + spot.fr
        en = thing.en.split(" ", 1)[1] if thing.en.startswith(("a ", "an ")) else thing.en
        en = "there %s no %s %s" % ("are" if many else "is", en, spot.en)
    elif kind == "ask":
        form = dice.pick(("est-ce que il y a", "y a-t-il"))
        fr = form + " " + thing.fr + " " + spot.fr + " ?"
        en = "%s there %s %s ?" % ("are" if many else "is", thing.en, spot.en)
    elif kind == "past":
        fr = "il y avait " + thing.fr + " " + spot.fr
        en = "there %s %s %s" % ("were" if many else "was", thing.en, spot.en)
    elif kind == "will":
        fr = "il y aura " + thing.fr + " " + spot.fr
        en = "there will be %s %s" % (thing.en, spot.en)
    else:
        fr = "il y a " + thing.fr + " " + spot.fr
        en = "there %s %s %s" % ("are" if many else "is", thing.en, spot.en)
    return french.smooth(fr), en, combos


def _is_many(phrase, noun):
    """Does English say 'are'? Pasta is singular."""
    if noun.en_plural == "pasta":
        return False
    first = phrase.fr.split()[0]
    many = first in ("des", "les", "ces", "mes", "tes", "ses", "nos", "vos", "leurs", "de")
    if first == "de" and phrase.fr.split()[1] in ("la", "le"):
        many = False
    return many or first in [n[0] for n in lex.NUMBERS]


def things(dice):
    """'le livre est sur la table', 'ma robe est rouge'."""
    noun = placeable(dice)
    which, many = dice.weighted(
        (("the", False), 6),
        (("the", True), 2),
        (("my", False), 4),
        (("my", True), 1),
        (("this", False), 2),
    )
    if noun.fr is None:
        many = True
    if "building" in noun.classes and "own" not in noun.classes and which == "my":
        which = "the"
    if noun.fr_plural is None or choices.COSTLY & noun.classes or "both" in noun.classes:
        many = False
    owner = dice.pick([p for p in lex.PRONOUNS if p.person != 2])
    if which == "the" and not many and "own" in noun.classes and dice.chance(25):
        subject = choices.belonging(dice, noun)
    else:
        subject = noun_phrase(noun, which, many, owner=owner)
    combos = []
    if dice.chance(50):
        state = spot_for(dice, noun)
        if state is None or which == "this":
            return None
    else:
        adjective = choices.adjective_for(dice, noun, True)
        if adjective is None:
            return None
        degree = dice.weighted((("", ""), 6), (("très ", "very "), 2), (("trop ", "too "), 1))
        if adjective.en in ("delicious", "broken", "empty") or "colour" in adjective.classes:
            degree = ("", "")
        word = french.agree(adjective.fr, noun.gender, many, adjective.feminine)
        state = Phrase(degree[0] + word, degree[1] + adjective.en)
        combos = ["%s+%s" % (adjective.fr, noun.fr or noun.fr_plural)]
    plural = many and noun.en_plural != "pasta"
    kind = dice.weighted(("is", 7), ("not", 2), ("was", 2), ("ask", 2))
    be, was = ("are", "were") if plural else ("is", "was")
    est, etait = ("sont", "étaient") if many else ("est", "était")
    if kind == "not":
        fr, en = "%s ne %s pas %s", "%s %s not %s"
    elif kind == "ask":
        fr = "est-ce que " + subject.fr + " " + est + " " + state.fr + " ?"
        return french.smooth(fr), "%s %s %s ?" % (be, subject.en, state.en), combos
    else:
        fr, en = "%s %s %s", "%s %s %s"
    past = kind == "was"
    fr = fr % (subject.fr, etait if past else est, state.fr)
    return french.smooth(fr), en % (subject.en, was if past else be, state.en), combos


def wanting(dice):
    """A thing that one wants or needs: 'je voudrais du pain', 'j'ai besoin d'une clé'."""
    who = choices.subject(dice, None, 65)
    kind = dice.pick(("want", "would", "need"))
    tense = {"would": "conditional"}.get(kind) or dice.weighted(("present", 4), ("imperfect", 1))
    noun = dice.pick([n for n in lex.NOUNS if {"food", "drink", "own", "buy", "money"} & n.classes])
    if not choices.possible(lex.VOULOIR, noun, who):
        return None
    thing, combos = _indefinite(dice, noun, True)
    amount = False
    if {"food", "drink"} & noun.classes and kind != "need" and dice.chance(15):
        thing = choices.quantity(dice, noun) or thing
        amount = True
    if kind == "need" and "food" in noun.classes and noun.fr and noun.fr_plural:
        thing, combos = noun_phrase(noun, "some", True), []
    options = state_frame(dice, who, "present")
    if options.get("neg"):
        options["neg"] = None if kind != "want" or amount else "not"
    if options.get("mood") and who.person in (0, 3):
        options.pop("mood")
    if "both" in noun.classes and options.get("neg") and thing.fr.startswith("un "):
        return None
    if kind == "need":
        thing = Phrase("besoin " + after_besoin_de(thing), thing.en)
    verb = {"want": lex.VOULOIR, "would": lex.VOULOIR, "need": NEED}[kind]
    fr, en = clause(who, verb, tense, (thing,), **options)
    return fr, en, ["%s+%s" % (kind, noun.fr or noun.fr_plural)] + combos
