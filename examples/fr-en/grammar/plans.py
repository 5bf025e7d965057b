"""Sentence plans: each turns a Dice into (French, English, combos), or None for no sense.

A combo names two words that were chosen together ("boire+lait", "rouge+robe"). Some combos are
kept out of training, so that the test asks for combinations that were never seen.
"""

from grammar import choices, french
from grammar import lexicon as lex
from grammar.clauses import clause, command, noun_phrase, owned
from grammar.lexicon import Phrase

WITH = [Phrase("avec " + p.fr, "with " + p.en) for p in lex.PEOPLE if "voisins" not in p.fr]
TRANSPORT = (
    Phrase("en train", "by train"),
    Phrase("en bus", "by bus"),
    Phrase("en voiture", "by car"),
    Phrase("à pied", "on foot"),
    Phrase("à vélo", "by bike"),
)
# "has never got up", "has never waited": not said.
NEVER_ODD = [
    v
    for v in lex.INTRANSITIVES
    if v.reflexive
    or v.key
    in (
        "dormir",
        "rire",
        "sourire",
        "pleurer",
        "attendre",
        "marcher",
        "manger",
        "lire",
        "jouer",
        "déjeuner",
        "dîner",
        "crier",
    )
] + [v for v, _ in lex.MOTIONS if v.key in ("arriver", "partir", "sortir", "rentrer")]
# "is no longer arriving": what is over in a moment is not given up.
MOMENTS = {
    "arriver",
    "partir",
    "sortir",
    "rentrer",
    "retourner",
    "quitter",
    "commencer",
    "finir",
    "choisir",
    "rencontrer",
    "remercier",
    "lever",
    "réveiller",
    "coucher",
    "habiller",
    "dépêcher",
}
# "always gets up" says nothing; "always gets up early" does.
HOURS = {
    "lever": Phrase("tôt", "early"),
    "réveiller": Phrase("tôt", "early"),
    "coucher": Phrase("tard", "late"),
}
ALREADY = Phrase("déjà", "already")
TENSES = (("present", 50), ("past", 20), ("going", 9), ("future", 8), ("imperfect", 8), ("just", 5))
FEW_TENSES = (("present", 58), ("past", 27), ("going", 10), ("just", 5))


def tense_for(dice, verb):
    return dice.weighted(*(TENSES if "c" in verb.flags else FEW_TENSES))


def frame(dice, verb, who, tense):
    """Negation, adverb, time and mood for an action; returns the options of `clause`."""
    options = {}
    negated = dice.chance(20)
    if negated and tense != "just":
        kinds = {
            "present": (("not", 12), ("never", 5), ("no longer", 3)),
            "past": (("not", 5), ("never", 2), ("yet", 2)),
            "future": (("not", 3), ("never", 1)),
            "going": (("not", 1),),
            "imperfect": (("not", 3), ("never", 2)),
        }[tense]
        options["neg"] = dice.weighted(*kinds)
        if tense == "past" and options["neg"] == "never" and verb in NEVER_ODD:
            options["neg"] = "not"
        if options["neg"] == "no longer" and verb.key in MOMENTS:
            options["neg"] = "not"
    elif tense == "past" and dice.chance(8):
        options["adverb"] = ALREADY
    special = options.get("neg") in ("never", "no longer", "yet") or "adverb" in options
    if tense in ("present", "imperfect") and not special:
        bare = "n" not in verb.flags
        if not bare or dice.chance(20):
            if options.get("neg") or dice.chance(65) or not bare:
                options["adverb"] = choices.frequency(dice, bool(options.get("neg")))
            else:
                options["tail"] = (choices.habit_time(dice, verb),)
                options["habit"] = True
    free = not special and not options.get("adverb") and not options.get("habit")
    if free and tense != "just" and dice.chance(27):
        when = choices.time(dice, verb, tense)
        if when and options.get("neg") and "heure" in when.fr:
            when = None  # "did not read an hour ago"
        if when and dice.chance(30):
            options["front"] = when
        elif when:
            options["tail"] = (when,)
    no_question = options.get("neg") or options.get("front") or tense == "just"
    if not no_question and dice.chance(16):
        options["mood"] = choices.question_mood(dice, who)
        if options.get("adverb") and options["adverb"].en == "rarely":
            options["mood"] = "statement"
    if "n" in verb.flags and tense in ("present", "imperfect") and not options.get("adverb"):
        if options.get("neg") != "never":
            return None
    return _sensible(verb, options)


def _sensible(verb, options):
    """The options with the hour that a habit of rising needs; None for an idle habit."""
    adverb = options.get("adverb")
    often = adverb and adverb is not ALREADY or options.get("neg") == "never"
    if often and verb.key in HOURS:
        options["tail"] = (HOURS[verb.key],)
    if often and verb.key == "arriver":
        return None
    return options


def _idle(verb, options):
    """'always gets dressed': where?"""
    return verb.key == "habiller" and habitual(options) and not options.get("tail")


def _always_broken(verb, options, objects):
    """Nobody always breaks the same lamp, or a door."""
    if verb.key != "casser" or not habitual(options) or options.get("adverb") is ALREADY:
        return False
    first, last = objects[0].fr.split()[0], objects[0].fr
    return first not in ("un", "une", "des", "de") or "porte" in last or "fenêtre" in last


def habitual(options):
    return bool(options.get("adverb") or options.get("habit") or options.get("neg") == "never")


def with_place(options, where):
    if where:
        options["tail"] = (where,) + tuple(options.get("tail", ()))


def transitive(dice):
    """'nous mangeons du pain dans la cuisine'."""
    verb = dice.pick(lex.VERBS)
    return _transitive(dice, verb, tense_for(dice, verb))


def transitive_present(dice):
    return _transitive(dice, dice.pick(lex.VERBS), "present")


def habits(dice):
    """The simple present, mostly of one person: 'elle danse souvent'."""
    verb = dice.pick(lex.VERBS + lex.INTRANSITIVES)
    who = choices.subject(dice, verb, 70)
    if who.person != 2 and dice.chance(60):
        return None
    found = ((), [], None)
    if verb.objects or verb.fixed:
        found = choices.an_object(dice, verb, who)
    if found is None or found[2] is not None and choices.COSTLY & found[2].classes:
        return None
    if found[0] and found[0][0].fr.split()[0] in dict(lex.NUMBERS):
        return None
    kind = dice.weighted(("adverb", 5), ("time", 3), ("never", 2))
    if kind == "never" and found[0]:
        found = choices.an_object(dice, verb, who, True)
        if found is None:
            return None
    if kind == "time" and ("n" in verb.flags or verb.key in ("dépêcher", "habiller", "louer")):
        return None
    options = {
        "adverb": {"adverb": choices.frequency(dice)},
        "time": {"tail": (choices.habit_time(dice, verb),), "habit": True},
        "never": {"neg": "never"},
    }[kind]
    options = _sensible(verb, options)
    if found[0] and _always_broken(verb, options, found[0]):
        return None
    if dice.chance(20):
        with_place(options, choices.place(dice, verb, found[2]))
    if _idle(verb, options):
        return None
    fr, en = clause(who, verb, "present", found[0], **options)
    return fr, en, found[1]


def future_and_imperfect(dice):
    """More of the two tenses whose forms are many."""
    verb = dice.pick([v for v in lex.VERBS + lex.INTRANSITIVES if "c" in v.flags])
    tense = dice.pick(("future", "imperfect"))
    if verb.objects or verb.fixed:
        return _transitive(dice, verb, tense)
    options = frame(dice, verb, who := dice.pick(lex.PRONOUNS), tense)
    if dice.chance(40):
        with_place(options, choices.place(dice, verb))
    fr, en = clause(who, verb, tense, (), **options)
    return fr, en, []


def _transitive(dice, verb, tense):
    who = choices.subject(dice, verb)
    options = frame(dice, verb, who, tense)
    if options is None:
        return None
    found = choices.an_object(dice, verb, who, bool(options.get("neg")))
    if found is None:
        return None
    objects, combos, noun = found
    partial = options.get("neg") == "not" and options.get("adverb")
    if partial and objects[0].en.startswith(("a ", "an ")):
        return None  # "do not always repair a window"
    if _always_broken(verb, options, objects):
        return None
    if habitual(options) and objects[0].fr.split()[0] in dict(lex.NUMBERS):
        return None
    if habitual(options) and noun is not None:
        if choices.COSTLY & noun.classes and verb.key not in ("laver", "conduire", "utiliser"):
            return None
        if verb.key == "construire":
            return None
    if dice.chance(16) and options.get("neg") != "yet":
        with_place(options, choices.place(dice, verb, noun))
    fr, en = clause(who, verb, tense, objects, **options)
    return fr, en, combos


def food_present(dice):
    """The everyday present of eating and drinking, for each subject."""
    verb = lex.VERB[dice.weighted(("manger", 6), ("boire", 3), ("préparer", 1), ("acheter", 2))]
    who = dice.pick(lex.PRONOUNS) if dice.chance(75) else choices.subject(dice)
    found = choices.an_object(dice, verb, who)
    if found is None:
        return None
    options = {}
    if dice.chance(15):
        with_place(options, choices.place(dice, verb, found[2]))
    if dice.chance(12):
        options["front"] = choices.time(dice, verb, "present")
    fr, en = clause(who, verb, "present", found[0], **options)
    return fr, en, found[1]


def bread(dice):
    """Bread with every verb that takes it."""
    verb = lex.VERB[dice.pick(("manger", "acheter", "vendre", "couper", "apporter", "commander"))]
    who = choices.subject(dice, verb)
    noun = lex.NOUN["pain"]
    which = dice.weighted(("some", 7), ("the", 3), ("this", 1))
    tense = tense_for(dice, verb)
    options = frame(dice, verb, who, tense)
    fr, en = clause(who, verb, tense, (noun_phrase(noun, which),), **options)
    return fr, en, []


def two_things(dice):
    """'du pain et du fromage'."""
    verb = lex.VERB[dice.pick(("manger", "acheter", "boire", "vendre", "commander", "cuisiner"))]
    who = choices.subject(dice, verb)
    kind = dice.pick(verb.objects)
    first, second = (choices.noun_for(dice, verb) for _ in range(2))
    if first is second or kind == "person":
        return None
    for noun in (first, second):
        if not choices.possible(verb, noun, who) or not {"food", "drink"} & noun.classes:
            return None
    parts = [
        noun_phrase(n, "some", n.fr_plural is not None and "both" not in n.classes)
        for n in (first, second)
    ]
    pair = Phrase(parts[0].fr + " et " + parts[1].fr, parts[0].en + " and " + parts[1].en)
    tense = dice.weighted(("present", 5), ("past", 3), ("going", 2))
    fr, en = clause(who, verb, tense, (pair,))
    return fr, en, ["%s+%s" % (verb.key, n.fr or n.fr_plural) for n in (first, second)]


def intransitive(dice):
    verb = dice.pick(lex.INTRANSITIVES)
    who = choices.subject(dice, verb)
    tense = tense_for(dice, verb)
    if tense == "just" and verb.key in ("attendre", "sourire", "dépêcher"):
        tense = "past"
    options = frame(dice, verb, who, tense)
    if options is None:
        return None
    combos = []
    if dice.chance(45) and options.get("neg") != "yet":
        where = choices.place(dice, verb)
        with_place(options, where)
        if where:
            combos = ["%s+%s" % (verb.key, where.fr)]
    elif dice.chance(22) and verb.key not in (
        "dépêcher",
        "sourire",
        "lever",
        "réveiller",
        "habiller",
        "coucher",
        "pleurer",
        "crier",
    ):
        company = dice.pick(WITH)
        with_place(options, _company(company, who))
    if verb.key in ("dépêcher", "habiller") and options.get("habit") or _idle(verb, options):
        return None
    fr, en = clause(who, verb, tense, (), **options)
    return fr, en, combos


def _company(phrase, who):
    if phrase.fr.split()[-1] in who.fr.split():
        return None
    if "le professeur" in phrase.fr and "professeur" in who.fr:
        return None
    return Phrase(owned(phrase.fr, who), owned(phrase.en, who))


def washing(dice):
    """'je me lave les mains' / 'i am washing my hands'."""
    verb, part = dice.pick(
        (
            (WASH, Phrase("les mains", "{my} hands")),
            (WASH, Phrase("les cheveux", "{my} hair")),
            (BRUSH, Phrase("les dents", "{my} teeth")),
            (BRUSH, Phrase("les cheveux", "{my} hair")),
        )
    )
    who = choices.subject(dice)
    tense = dice.weighted(("present", 6), ("going", 2), ("future", 1), ("just", 1))
    options = frame(dice, verb, who, tense)
    if options is None:
        return None
    fr, en = clause(who, verb, tense, (Phrase(part.fr, owned(part.en, who)),), **options)
    return fr, en, []


WASH = lex.make_verb("laver", "wash washed washed washing", "rd")
BRUSH = lex.make_verb("brosser", "brush brushed brushed brushing", "rd")


def motion(dice):
    """'nous allons à la plage demain', 'elle est partie'."""
    verb, reads = dice.pick(lex.MOTIONS)
    if dice.chance(25):
        verb, reads = lex.MOTIONS[0]
    who = choices.subject(dice)
    tense = dice.weighted(
        ("present", 5), ("past", 4), ("future", 2), ("going", 2), ("imperfect", 1)
    )
    if verb.key == "aller" and tense == "going":
        tense = "future"
    options = frame(dice, verb, who, tense)
    if options is None:
        return None
    combos = []
    if reads == "none":
        where = None
    else:
        kind = "stay" if verb.key == "rester" else "goal"
        spots = [p for p in lex.PLACES if kind in p.tags]
        spot = dice.pick(spots)
        where = Phrase(spot.at, spot.to_en if reads == "to" else spot.at_en)
        combos = ["%s+%s" % (verb.key, where.fr)]
        if habitual(options) and "country" in spot.tags and options.get("habit"):
            return None
    if options.get("neg") != "yet" and dice.chance(20):
        if verb.key not in ("rester",) and dice.chance(45):
            way = dice.pick(
                TRANSPORT if verb.key in ("aller", "venir", "rentrer") else TRANSPORT[:3]
            )
            if where is None or not ("country" in spot.tags and way.fr in ("à pied", "à vélo")):
                if verb.key != "sortir":
                    with_place(options, way)
        else:
            with_place(options, _company(dice.pick(WITH), who))
    with_place(options, where)
    if options.get("neg") == "yet" and where:
        return None
    fr, en = clause(who, verb, tense, (), **options)
    return fr, en, combos


def giving(dice):
    """'je donne un livre à ma sœur'."""
    key, en = dice.pick(
        (
            ("donner", "give gave given giving"),
            ("montrer", "show showed shown showing"),
            ("envoyer", "send sent sent sending"),
            ("lire", "read read read reading"),
            ("raconter", "tell told told telling"),
            ("écrire", "write wrote written writing"),
            ("vendre", "sell sold sold selling"),
            ("prêter", "lend lent lent lending"),
        )
    )
    classes = {
        "donner": "gift give",
        "montrer": "show gift",
        "envoyer": "write-gift",
        "lire": "tell",
        "raconter": "tell",
        "écrire": "letter",
        "vendre": "own",
        "prêter": "lend",
    }[key]
    kinds = {
        "write-gift": ("lettre", "message", "carte postale", "cadeau", "photo", "fleur"),
        "letter": ("lettre", "message", "carte postale", "poème"),
        "lend": ("livre", "vélo", "stylo", "parapluie", "voiture", "argent", "dictionnaire", "sac"),
        "own": ("voiture", "maison", "vélo", "moto", "bateau", "ordinateur"),
    }
    verb = lex.make_verb(key, en, "c")
    if classes in kinds:
        noun = lex.NOUN[dice.pick(kinds[classes])]
    else:
        wanted = set(classes.split())
        noun = dice.pick([n for n in lex.NOUNS if wanted & n.classes])
    who = choices.subject(dice)
    if noun.fr is None or not choices.possible(verb, noun, who):
        return None
    if noun.fr_plural is None:
        which = dice.pick(("some", "the"))
    else:
        which = dice.weighted(("a", 5), ("the", 3), ("my", 2))
    tense = dice.weighted(("present", 6), ("past", 4), ("going", 2), ("future", 2), ("just", 1))
    options = frame(dice, verb, who, tense)
    if options is None or options.get("habit"):
        return None
    if choices.COSTLY & noun.classes and habitual(options):
        return None
    receiver = choices.person(dice, who)
    thing = noun_phrase(noun, which, owner=who)
    goal = Phrase("à " + receiver.fr, "to " + receiver.en)
    if options.get("neg") == "yet":
        return None
    options["tail"] = (goal,) + tuple(options.get("tail", ()))
    fr, en = clause(who, verb, tense, (thing,), **options)
    return fr, en, ["%s+%s" % (key, noun.fr)]


def since(dice):
    """'j'étudie le français depuis deux ans' / 'i have been studying french for two years'."""
    key = dice.pick(("habiter", "travailler", "étudier", "attendre", "dormir", "apprendre"))
    who = choices.subject(dice, None)
    verbs = {v.key: v for v in lex.INTRANSITIVES + lex.VERBS}
    verb = lex.HABITER if key == "habiter" else verbs[key]
    short = key in ("attendre", "dormir")
    number = dice.pick(lex.NUMBERS)
    unit = dice.pick((("heures", "hours"),) if short else (("ans", "years"), ("mois", "months")))
    if key in ("habiter", "travailler"):
        spot = dice.pick([p for p in lex.PLACES if "country" in p.tags])
        what = Phrase(spot.at, spot.at_en)
    elif key in ("étudier", "apprendre"):
        what = dice.pick([p for p in lex.VERB[key].fixed])
    elif key == "attendre":
        what = dice.pick(lex.VERB["attendre"].fixed[:2] + (Phrase("", ""),))
    else:
        what = Phrase("", "")
    if "child" in who.tags and key == "travailler":
        return None
    fr = " ".join(
        [who.fr, verb.conjugation.present[who.person], what.fr, "depuis", number[0], unit[0]]
    )
    have = "has" if who.person == 2 else "have"
    particle = "for" if key == "attendre" and what.en else ""
    words = [who.en, have, "been", verb.en.ing, particle, what.en, "for", number[1], unit[1]]
    return french.smooth(fr), " ".join(filter(None, words)), []


def commands(dice):
    verb = dice.pick([v for v in lex.VERBS if not {"n", "a"} & v.flags and v.key != "penser:à"])
    person = dice.pick((1, 4, 4, 3))
    who = {1: lex.PRONOUNS[2], 3: lex.PRONOUNS[8], 4: lex.PRONOUNS[10]}[person]
    negated = dice.chance(25)
    if person == 3 and negated:
        return None
    found = choices.an_object(dice, verb, who, negated)
    if found is None:
        return None
    if person == 3 and "mangeons du pain" in "mangeons " + french.smooth(found[0][0].fr):
        return None
    fr, en = command(person, verb, found[0], negated)
    return fr, en, found[1]
