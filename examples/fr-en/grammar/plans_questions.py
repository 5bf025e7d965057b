"""Sentence plans that ask with a question word: what, where, who, how many, how much, how old."""

from grammar import choices, english, french
from grammar import lexicon as lex
from grammar.clauses import clause, noun_phrase
from grammar.lexicon import Phrase, Subject
from grammar.plans import tense_for

WHO = Subject("qui", "who", 2, "m", False, frozenset())
PLAIN_TENSES = (("present", 6), ("past", 4), ("going", 2), ("future", 1))
NO_OBJECT_TENSES = (("present", 6), ("going", 2), ("future", 1))
VERBS = {verb.key: verb for verb in lex.INTRANSITIVES + lex.VERBS}
MOVES = {verb.key: verb for verb, _ in lex.MOTIONS}


def asker(dice, verb=None, pronouns=65):
    """A subject to ask about: seldom oneself."""
    while True:
        who = choices.subject(dice, verb, pronouns)
        if who.person not in (0, 3) or dice.chance(20):
            return who


def _mood(dice, who):
    if who in lex.PRONOUNS and who.person != 0 and dice.chance(45):
        return "inversion"
    return "est-ce que"


def what(dice):
    """'que mangez-vous ?' / 'what are you eating ?'."""
    verb = VERBS[
        dice.pick(
            (
                "manger",
                "boire",
                "préparer",
                "acheter",
                "vendre",
                "chercher",
                "lire",
                "écrire",
                "faire",
                "dessiner",
                "étudier",
                "apprendre",
                "commander",
                "choisir",
                "écouter",
                "apporter",
            )
        )
    ]
    who = asker(dice, verb)
    tense = dice.weighted(*PLAIN_TENSES)
    options = {"mood": _mood(dice, who), "ask": Phrase("que", "what")}
    if dice.chance(35):
        when = choices.time(dice, verb, tense)
        options["tail"] = (when,) if when else ()
    fr, en = clause(who, verb, tense, (), **options)
    return fr, en, []


def where(dice):
    """Questions with où, quand, pourquoi, comment."""
    ask = dice.pick(
        (
            Phrase("où", "where"),
            Phrase("où", "where"),
            Phrase("quand", "when"),
            Phrase("pourquoi", "why"),
            Phrase("pourquoi", "why"),
            Phrase("comment", "how"),
        )
    )
    combos, objects = [], ()
    if ask.en == "where":
        verb = dice.pick(
            (
                lex.HABITER,
                MOVES["aller"],
                MOVES["aller"],
                VERBS["travailler"],
                VERBS["manger"],
                VERBS["dormir"],
                VERBS["jouer"],
                VERBS["étudier"],
                VERBS["attendre"],
                VERBS["déjeuner"],
                VERBS["dîner"],
            )
        )
    elif ask.en == "how":
        verb = dice.pick((MOVES["rentrer"], VERBS["voyager"], MOVES["venir"]))
    elif ask.en == "when":
        verb = dice.pick(
            (
                MOVES["partir"],
                MOVES["rentrer"],
                MOVES["venir"],
                MOVES["arriver"],
                MOVES["sortir"],
                VERBS["manger"],
                VERBS["lever"],
                VERBS["coucher"],
                VERBS["travailler"],
                VERBS["dîner"],
            )
        )
    else:
        verb = dice.pick([v for v in lex.INTRANSITIVES + lex.VERBS if "n" not in v.flags])
    who = asker(dice, verb)
    tense = dice.weighted(*PLAIN_TENSES)
    if verb.key == "aller" and tense == "going":
        tense = "past"
    if verb.objects or verb.fixed:
        found = choices.an_object(dice, verb, who)
        if found is None:
            return None
        objects, combos = found[0], found[1]
    options = {"mood": _mood(dice, who), "ask": ask}
    if ask.en == "why" and dice.chance(20):
        options["mood"], options["neg"] = "est-ce que", "not"
        if objects and objects[0].fr.startswith(("un ", "une ", "du ", "de ", "des ")):
            return None
    elif ask.en in ("where", "how") and dice.chance(25):
        when = choices.time(dice, verb, tense)
        options["tail"] = (when,) if when else ()
    fr, en = clause(who, verb, tense, objects, **options)
    return fr, en, combos


def who_does(dice):
    """'qui mange du pain ?' / 'who is eating bread ?'."""
    verb = dice.pick(lex.VERBS)
    tense = tense_for(dice, verb)
    if "n" in verb.flags and tense in ("present", "imperfect"):
        tense = "past"
    found = choices.an_object(dice, verb, lex.PRONOUNS[4])
    if found is None or {"son", "sa", "ses"} & set(found[0][0].fr.split()):
        return None
    options = {}
    if dice.chance(20) and tense != "just":
        when = choices.time(dice, verb, tense)
        options["tail"] = (when,) if when else ()
    fr, en = clause(WHO, verb, tense, found[0], **options)
    return fr + " ?", en + " ?", found[1]


def with_whom(dice):
    """'avec qui est-ce que tu manges ?', 'qui cherchez-vous ?'."""
    if dice.chance(50):
        verb = VERBS[
            dice.pick(
                ("chercher", "attendre", "appeler", "aider", "inviter", "rencontrer", "remercier")
            )
        ]
        ask, tail = Phrase("qui", "who"), ()
    else:
        verb = dice.pick(
            [
                v
                for v in lex.INTRANSITIVES
                if v.key
                in (
                    "travailler",
                    "danser",
                    "chanter",
                    "jouer",
                    "manger",
                    "dîner",
                    "déjeuner",
                    "étudier",
                    "voyager",
                )
            ]
            + [MOVES["sortir"], MOVES["partir"]]
        )
        ask, tail = Phrase("avec qui", "who"), (Phrase("", "with"),)
    who = asker(dice, verb)
    tense = dice.weighted(*PLAIN_TENSES)
    mood = _mood(dice, who)
    if ask.fr == "qui" and mood == "inversion" and who.person in (2, 5):
        mood = "est-ce que"
    fr, en = clause(who, verb, tense, (), mood=mood, ask=ask, tail=tail)
    return fr, en, []


def how_many(dice):
    """'combien de pommes achetez-vous ?', 'quel livre lisez-vous ?'."""
    verb = dice.pick(
        [
            v
            for v in lex.VERBS
            if set(v.objects)
            & {
                "food",
                "buy",
                "read",
                "write",
                "watch",
                "choose",
                "wear",
                "repair",
                "wash",
                "plant",
                "translate",
                "correct",
                "learn",
            }
            and "n" not in v.flags
        ]
    )
    noun = choices.noun_for(dice, verb)
    if noun is None or noun.fr_plural is None and noun.classes & {"money"}:
        return None
    who = asker(dice, verb, 80)
    if not choices.possible(verb, noun, who):
        return None
    if noun.fr_plural is None or noun.en_plural in ("pasta",):
        if dice.chance(40):
            return None
        word = noun.fr or noun.fr_plural
        ask = Phrase("combien de " + word, "how much " + (noun.en or noun.en_plural))
    elif dice.chance(45) and not (choices.COSTLY | {"wear"}) & noun.classes:
        ask = Phrase("combien de " + noun.fr_plural, "how many " + noun.en_plural)
    elif noun.fr is not None:
        ask = Phrase(("quelle " if noun.gender == "f" else "quel ") + noun.fr, "which " + noun.en)
    else:
        ask = Phrase(
            ("quelles " if noun.gender == "f" else "quels ") + noun.fr_plural,
            "which " + noun.en_plural,
        )
    tense = dice.weighted(*NO_OBJECT_TENSES)
    fr, en = clause(who, verb, tense, (), mood=_mood(dice, who), ask=ask)
    return fr, en, ["%s+%s" % (verb.key, noun.fr or noun.fr_plural)]


def cost(dice):
    """'combien coûte cette robe ?', 'cette robe coûte dix euros'."""
    noun = dice.pick(
        [
            n
            for n in lex.NOUNS
            if {"buy", "own"} & n.classes
            and "building" not in n.classes
            and n.fr not in ("jardin", "argent")
        ]
    )
    many = noun.fr is None or (noun.fr_plural is not None and dice.chance(25))
    which = dice.pick(("this", "this", "the"))
    item = noun_phrase(noun, which, many)
    many_en = many and noun.en_plural != "pasta"
    verb = "coûtent" if many else "coûte"
    if dice.chance(55):
        fr = "combien " + verb + " " + item.fr + " ?"
        en = "how much " + ("do " if many_en else "does ") + item.en + " cost ?"
    else:
        if {"food", "drink"} & noun.classes:
            number = dice.pick((("deux", "two"), ("trois", "three"), ("cinq", "five")))
        elif {"vehicle", "animal"} & noun.classes or noun.fr == "ordinateur":
            number = dice.pick((("cent", "one hundred"), ("mille", "one thousand")))
        else:
            number = dice.pick(
                (("dix", "ten"), ("vingt", "twenty"), ("trente", "thirty"), ("quarante", "forty"))
            )
        fr = item.fr + " " + verb + " " + number[0] + " euros"
        en = item.en + (" cost " if many_en else " costs ") + number[1] + " euros"
    return french.smooth(fr), en, []


def where_is(dice):
    """'où sont mes clés ?', 'quel âge a marie ?'."""
    if dice.chance(20):
        who = choices.subject(dice, None, 45)
        if who in lex.PRONOUNS:
            if who.person in (0, 3):
                return None
            form = french.invert(lex.AVOIR.conjugation.present[who.person], who.fr)
            fr = "quel âge " + form + " ?"
        else:
            fr = "quel âge " + lex.AVOIR.conjugation.present[who.person] + " " + who.fr + " ?"
        be = english.BE_PRESENT[who.person]
        return french.smooth(fr), "how old %s %s ?" % (be, who.en), []
    if dice.chance(25):
        who = dice.pick(lex.NOUN_SUBJECTS)
        fr = "où " + ("sont " if who.plural else "est ") + who.fr + " ?"
        return fr, "where " + ("are " if who.plural else "is ") + who.en + " ?", []
    noun = dice.pick(
        [n for n in lex.NOUNS if {"small-thing", "own", "animal", "building"} & n.classes]
    )
    many = noun.fr is None or dice.chance(25)
    which = dice.pick(("the", "my", "my")) if "building" not in noun.classes else "the"
    owner = dice.pick([p for p in lex.PRONOUNS if p.person != 2])
    item = noun_phrase(noun, which, many, owner=owner)
    fr = "où " + ("sont " if many else "est ") + item.fr + " ?"
    return french.smooth(fr), "where " + ("are " if many else "is ") + item.en + " ?", []
