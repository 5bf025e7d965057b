"""Sentence plans around verbs of state: être, avoir, aimer, vouloir, pouvoir, devoir, places."""

from grammar import choices, english, french
from grammar import lexicon as lex
from grammar.clauses import base, clause, infinitive, noun_phrase
from grammar.lexicon import Phrase

TEMPORARY = {
    "tired",
    "happy",
    "sad",
    "ill",
    "busy",
    "ready",
    "alone",
    "worried",
    "nervous",
    "surprised",
    "calm",
}
DEGREES = (Phrase("très", "very"), Phrase("trop", "too"))
NOW = ("aujourd'hui", "maintenant", "ce matin", "ce soir")
THEN = ("hier", "hier soir", "hier matin")
LATER = ("demain", "demain matin", "demain soir", "bientôt")
NEED = lex.make_verb("avoir#need", "need needed needed needing", "s")
KNOW_HOW = lex.make_verb("savoir", "know knew known knowing how", "s")
HOPE = lex.make_verb("espérer", "hope hoped hoped hoping", "s")
COME_FROM = lex.make_verb("venir#from", "come came come coming from", "s")
# verb, the French word before the infinitive
TRYING = (
    (lex.make_verb("essayer", "try tried tried trying", "c"), "de"),
    (lex.make_verb("commencer", "start started started starting", "c"), "à"),
    (lex.make_verb("continuer", "continue continued continued continuing", "c"), "à"),
    (lex.make_verb("apprendre", "learn learned learned learning", "c"), "à"),
    (lex.make_verb("oublier", "forget forgot forgotten forgetting", "n"), "de"),
    (lex.make_verb("décider", "decide decided decided deciding", "n"), "de"),
)


SKILLS = set("""
    nager danser chanter cuisiner conduire lire écrire jouer:à jouer:de réparer dessiner
    utiliser faire#make préparer traduire
    """.split())
HOPES = set("""
    visiter acheter aller rester partir venir voyager travailler étudier apprendre rencontrer
    finir dormir reposer louer vendre construire rentrer
    """.split())
ACTIVITIES = set("""
    manger boire travailler étudier lire écrire courir marcher chanter danser jouer cuisiner
    nettoyer ranger préparer construire dessiner apprendre laver réparer planter traduire rire
    crier chercher nager arroser jouer:à jouer:de faire
    """.split())
LIKED = ACTIVITIES | set("""
    acheter visiter voyager dormir regarder écouter porter conduire promener nourrir parler:avec
    jouer:avec faire#make aller rester sortir rencontrer aider reposer amuser déjeuner dîner
    jouer
    """.split())
DUTIES = set("""
    fermer acheter payer appeler apporter faire laver arroser nourrir promener répondre:à
    téléphoner:à inviter remercier écrire finir préparer ranger nettoyer corriger prendre
    """.split())


def when_for(dice, tense):
    names = {"present": NOW, "imperfect": THEN, "future": LATER}[tense]
    return dice.pick([t for t, _, _ in lex.TIMES if t.fr in names])


def state_frame(dice, who, tense, time_percent=0):
    """Negation, mood and time for a state."""
    options = {}
    if dice.chance(20):
        options["neg"] = dice.weighted(("not", 6), ("never", 1), ("no longer", 2))
        if tense == "future":
            options["neg"] = "not"
    elif dice.chance(20):
        options["mood"] = choices.question_mood(dice, who)
    elif dice.chance(time_percent):
        options["tail"] = (when_for(dice, tense),)
    return options


def state_tense(dice):
    return dice.weighted(("present", 7), ("imperfect", 2), ("future", 1))


def being(dice):
    """'elle est très fatiguée aujourd'hui'."""
    who = choices.subject(dice, None, 60)
    fr, feminine, en, _ = dice.pick(lex.PERSON_ADJECTIVES)
    tense = state_tense(dice)
    options = state_frame(dice, who, tense, 35 if en in TEMPORARY else 0)
    if options.get("neg") == "never" and en not in TEMPORARY:
        options["neg"] = "not"
    word = french.agree(fr, who.gender, who.plural, feminine)
    degree = ""
    degree_en = ""
    if dice.chance(22) and en not in ("ready", "alone") and options.get("neg") is None:
        degree, degree_en = dice.pick(DEGREES)[:2]
        degree, degree_en = degree + " ", degree_en + " "
    elif en in TEMPORARY and en != "ready" and not options and dice.chance(35):
        options["adverb"] = choices.frequency(dice)
    state = Phrase(degree + word, degree_en + en)
    fr, en = clause(who, lex.ETRE, tense, (state,), **options)
    return fr, en, []


def profession(dice):
    who = choices.subject(dice, None, 60)
    if "child" in who.tags or "professeur" in who.fr or "étudiant" in who.fr or "médecin" in who.fr:
        return None
    masculine, feminine, en = dice.pick(lex.PROFESSIONS)
    fr = feminine if who.gender == "f" else masculine
    en = en.split(" / ")[-1 if who.gender == "f" else 0]
    if who.plural:
        state = Phrase(fr + "s", english.plural(en))
    else:
        state = Phrase(fr, english.with_article(en))
    tense = state_tense(dice)
    options = state_frame(dice, who, tense)
    if options.get("neg") == "never":
        options["neg"] = "not"
    fr, en = clause(who, lex.ETRE, tense, (state,), **options)
    return fr, en, []


def being_there(dice):
    """'marie est à la gare'."""
    who = choices.subject(dice, None, 55)
    spot = dice.pick([p for p in lex.PLACES if p.at != "dans la mer"])
    tense = state_tense(dice)
    options = state_frame(dice, who, tense, 30)
    if not options and dice.chance(25):
        options["adverb"] = choices.frequency(dice)
    fr, en = clause(who, lex.ETRE, tense, (Phrase(spot.at, spot.at_en),), **options)
    return fr, en, []


def feeling(dice):
    """'j'ai faim', 'il a dix ans'."""
    who = choices.subject(dice, None, 60)
    tense = state_tense(dice)
    if dice.chance(25):
        young = (("six", "six"), ("huit", "eight"), ("dix", "ten"))
        adult = (("vingt", "twenty"), ("trente", "thirty"), ("quarante", "forty"))
        number = dice.pick(
            young if "child" in who.tags else young + adult if who in lex.PRONOUNS else adult
        )
        options = state_frame(dice, who, tense) if dice.chance(30) else {}
        if options.get("neg"):
            options["neg"] = "not"
        verb = lex.make_verb("avoir#be", "be was been being", "s")
        state = Phrase(number[0] + " ans", number[1] + " years old")
    else:
        options = state_frame(dice, who, tense, 20)
        verb = lex.make_verb("avoir#be", "be was been being", "s")
        state = dice.pick(lex.AVOIR_STATES)
        if not options and dice.chance(30):
            options["adverb"] = choices.frequency(dice)
        elif state.en not in ("right", "wrong") and options.get("neg") is None and dice.chance(15):
            state = Phrase("très " + state.fr, "very " + state.en)
    fr, en = clause(who, verb, tense, (state,), **options)
    return fr, en, []


GENERIC = (
    Phrase("la musique", "music"),
    Phrase("le sport", "sport"),
    Phrase("le football", "football"),
    Phrase("le tennis", "tennis"),
    Phrase("l'été", "summer"),
    Phrase("l'hiver", "winter"),
    Phrase("le printemps", "spring"),
    Phrase("l'automne", "autumn"),
    Phrase("paris", "paris"),
    Phrase("la neige", "snow"),
    Phrase("les vacances", "holidays"),
    Phrase("le jazz", "jazz"),
    Phrase("le français", "french"),
    Phrase("l'anglais", "english"),
    Phrase("londres", "london"),
)


def liking(dice):
    """'elle aime le chocolat' / 'she likes chocolate'."""
    verb = dice.pick(lex.LIKES)
    who = choices.subject(dice, None, 60)
    tense = dice.weighted(("present", 8), ("imperfect", 2))
    options = state_frame(dice, who, tense)
    if options.get("neg"):
        if verb.key != "aimer":
            return None
        options["neg"] = "no longer" if options["neg"] == "no longer" else "not"
    if dice.chance(28):
        objects, combos = an_infinitive(dice, who, bool(options.get("neg")), LIKED, True)
        if objects is None or options.get("neg") and " de " in objects.fr:
            return None
        objects = (Phrase(objects.fr, "to " + objects.en),)
    elif dice.chance(30):
        objects, combos = (dice.pick(GENERIC),), []
    else:
        noun = dice.pick(
            [
                n
                for n in lex.NOUNS
                if {"food", "drink", "animal", "wear", "gift", "watch", "read"} & n.classes
            ]
        )
        if not choices.possible(verb, noun, who):
            return None
        name = noun.fr or noun.fr_plural
        combos = ["%s+%s" % (verb.key, name)]
        many = noun.fr is None or (noun.fr_plural is not None and "both" not in noun.classes)
        if many and noun.fr and dice.chance(30):
            objects = (noun_phrase(noun, "this", False),)
        elif (
            dice.chance(12)
            and noun.fr
            and noun.fr != "eau"
            and not (many and "food" in noun.classes)
        ):
            objects = (noun_phrase(noun, "my", False, owner=who),)
        else:
            plain = noun_phrase(noun, "the", many)
            objects = (Phrase(plain.fr, plain.en[4:]),)
    fr, en = clause(who, verb, tense, objects, **options)
    return fr, en, combos


def an_infinitive(dice, who, negated=False, allowed=None, generic=False):
    """(Phrase of an infinitive with its object, combos), or (None, None).

    allowed: the verbs to choose from (keys); generic: objects in general ('des livres').
    """
    verb, reads = dice.weighted((_with_object, 6), (_without_object, 2), (_movement, 2))(dice)
    if "n" in verb.flags or verb.key in ("penser:à", "dépêcher", "pleurer", "retourner", "arriver"):
        return None, None
    if allowed is not None and verb.key not in allowed:
        return None, None
    if "a" in verb.flags and "child" in who.tags:
        return None, None
    objects, combos, noun = (), [], None
    if verb.objects or verb.fixed:
        found = choices.an_object(dice, verb, who, negated)
        if found is None:
            return None, None
        objects, combos, noun = found
        if generic and noun is not None:
            many = noun.fr is None or (noun.fr_plural is not None and "both" not in noun.classes)
            if "room" in noun.classes:
                return None, None
            objects, combos = (noun_phrase(noun, "some", many),), combos[:1]
    fr, en = infinitive(verb, who, objects, negated), base(verb, objects)
    if reads in ("to", "at"):
        spot = dice.pick(
            [p for p in lex.PLACES if ("stay" if verb.key == "rester" else "goal") in p.tags]
        )
        combos = ["%s+%s" % (verb.key, spot.at)]
        return (
            Phrase(fr + " " + spot.at, en + " " + (spot.to_en if reads == "to" else spot.at_en)),
            combos,
        )
    if dice.chance(12 if objects else 30):
        where = choices.place(dice, verb, noun)
        if where:
            fr, en = fr + " " + where.fr, en + " " + where.en
    return Phrase(fr, en), combos


def _with_object(dice):
    return dice.pick(lex.VERBS), ""


def _without_object(dice):
    return dice.pick(lex.INTRANSITIVES), ""


def _movement(dice):
    return dice.pick(lex.MOTIONS)


def modal(dice):
    """'je veux manger du pain', 'nous devons partir', 'elle voudrait un café'."""
    who = choices.subject(dice, None, 65)
    kind = dice.weighted(
        ("want", 5),
        ("would", 3),
        ("can", 5),
        ("must", 5),
        ("know how", 1),
        ("hope", 1),
        ("need", 2),
    )
    tense = dice.weighted(("present", 8), ("imperfect", 2), ("future", 1))
    if kind in ("want", "know how", "hope", "need") and tense == "future":
        tense = "present"
    if kind == "hope":
        tense = "present"
    options = state_frame(dice, who, tense)
    if options.get("neg") == "never":
        options["neg"] = "not"
    if kind in ("would", "hope"):
        options.pop("neg", None)
    if kind in ("must", "can") and options.get("neg") == "no longer":
        options["neg"] = "not"
    if kind == "must" and (tense != "present"):
        options.pop("neg", None)
        options.pop("mood", None)
    allowed = {"know how": SKILLS, "hope": HOPES}.get(kind)
    phrase, combos = an_infinitive(dice, who, bool(options.get("neg")), allowed)
    if phrase is None:
        return None
    verb = {
        "want": lex.VOULOIR,
        "would": lex.VOULOIR,
        "can": lex.POUVOIR,
        "must": lex.DEVOIR,
        "know how": KNOW_HOW,
        "hope": HOPE,
        "need": NEED,
    }[kind]
    if kind == "would":
        tense = "conditional"
    if options.get("mood") and who.person in (0, 3) and kind not in ("can", "must"):
        options.pop("mood")
    before = "besoin de " if kind == "need" else ""
    to = "" if kind in ("can", "must") else "to "
    fr, en = clause(who, verb, tense, (Phrase(before + phrase.fr, to + phrase.en),), **options)
    return fr, en, combos


def trying(dice):
    """'il essaie de dormir' / 'he is trying to sleep'."""
    verb, link = dice.pick(TRYING)
    who = choices.subject(dice)
    tense = (
        "past" if "n" in verb.flags else dice.weighted(("present", 6), ("past", 2), ("going", 2))
    )
    phrase, combos = an_infinitive(
        dice,
        who,
        False,
        {
            "apprendre": SKILLS,
            "commencer": ACTIVITIES,
            "continuer": ACTIVITIES,
            "oublier": DUTIES,
        }.get(verb.key),
    )
    if phrase is None:
        return None
    options = {}
    if dice.chance(15):
        options["mood"] = choices.question_mood(dice, who)
    whole = Phrase(link + " " + phrase.fr, "to " + phrase.en)
    fr, en = clause(who, verb, tense, (whole,), **options)
    return fr, en, combos


def knowing(dice):
    """See, know, understand: states in English too."""
    verb = dice.pick((lex.VOIR, lex.VOIR, lex.CONNAITRE, lex.COMPRENDRE))
    who = choices.subject(dice, None, 60)
    tense = dice.weighted(("present", 7), ("imperfect", 2), ("future", 1))
    options = state_frame(dice, who, tense)
    if verb is not lex.CONNAITRE and options.get("neg") == "never":
        options["neg"] = "not"
    if verb is lex.CONNAITRE and tense == "future":
        tense = "present"
    combos = []
    if verb is lex.CONNAITRE:
        if options.get("neg") in ("never", "no longer"):
            options["neg"] = "not"
        if dice.chance(45):
            obj = dice.pick(
                (
                    Phrase("paris", "paris"),
                    Phrase("londres", "london"),
                    Phrase("rome", "rome"),
                    Phrase("cette ville", "this city"),
                    Phrase("ce village", "this village"),
                    Phrase("ce livre", "this book"),
                    Phrase("cette chanson", "this song"),
                    Phrase("ce film", "this film"),
                    Phrase("cette histoire", "this story"),
                )
            )
        else:
            obj = dice.pick([p for p in lex.PEOPLE if "{" not in p.fr and p.fr != who.fr])
    elif verb is lex.VOIR and dice.chance(40):
        obj = choices.person(dice, who)
    else:
        noun = choices.noun_for(dice, verb)
        if noun.fr is None:
            return None
        if verb is lex.VOIR:
            which = dice.weighted((("a", False), 4), (("some", True), 2), (("the", False), 3))
        else:
            which = dice.weighted((("the", False), 4), (("this", False), 3), (("this", True), 1))
        obj = noun_phrase(noun, which[0], which[1])
        combos = ["%s+%s" % (verb.key, noun.fr)]
    fr, en = clause(who, verb, tense, (obj,), **options)
    return fr, en, combos


def living(dice):
    """Live somewhere, speak a language, come from a country: states."""
    who = choices.subject(dice, None, 60)
    kind = dice.pick(("live", "speak", "speak", "from"))
    tense = dice.weighted(("present", 6), ("imperfect", 2), ("future", 2))
    if kind == "from":
        tense = "present"
    if kind == "speak" and tense == "future":
        tense = "present"
    options = state_frame(dice, who, tense)
    if options.get("neg") == "never" or kind == "from":
        options.pop("neg", None)
    if kind == "live":
        spot = dice.pick(
            [
                p
                for p in lex.PLACES
                if "country" in p.tags or p.at in ("à la campagne", "à la montagne", "en ville")
            ]
        )
        options["tail"] = (Phrase(spot.at, spot.at_en),)
        verb, objects = lex.HABITER, ()
    elif kind == "speak":
        language = dice.pick(lex.LANGUAGES)
        verb, objects = lex.PARLER, (language,)
        if dice.chance(25) and not options.get("neg"):
            how = dice.pick(
                (
                    Phrase("très bien", "very well"),
                    Phrase("un peu", "a little"),
                    Phrase("bien", "well"),
                )
            )
            objects = (
                (
                    Phrase(how.fr + " " + language.fr, language.en + " " + how.en)
                    if how.fr != "un peu"
                    else Phrase("un peu " + language.fr, "a little " + language.en)
                ),
            )
    else:
        country = dice.pick(
            (
                ("de france", "france"),
                ("de italie", "italy"),
                ("de espagne", "spain"),
                ("de allemagne", "germany"),
                ("de angleterre", "england"),
                ("de le canada", "canada"),
                ("de le japon", "japan"),
                ("de paris", "paris"),
                ("de londres", "london"),
            )
        )
        verb, objects = COME_FROM, (Phrase(*country),)
    fr, en = clause(who, verb, tense, objects, **options)
    return fr, en, []
