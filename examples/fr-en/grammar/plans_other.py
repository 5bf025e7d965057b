"""Sentence plans of other kinds: clock, weather, comparison, 'this is', two clauses."""

from grammar import choices, french
from grammar import lexicon as lex
from grammar.clauses import clause, noun_phrase
from grammar.lexicon import Phrase, Subject

VERBS = {verb.key: verb for verb in lex.INTRANSITIVES + lex.VERBS}
MOVES = {verb.key: verb for verb, _ in lex.MOTIONS}
THINK = lex.make_verb("penser", "think thought thought thinking", "s")
BELIEVE = lex.make_verb("croire", "believe believed believed believing", "s")
KNOW = lex.make_verb("savoir", "know knew known knowing", "s")
HOPE = lex.make_verb("espérer", "hope hoped hoped hoping", "s")
BE_STATE = lex.make_verb("avoir#be", "be was been being", "s")
HOURS = (
    ("une heure", "one"),
    ("deux heures", "two"),
    ("trois heures", "three"),
    ("quatre heures", "four"),
    ("cinq heures", "five"),
    ("six heures", "six"),
    ("sept heures", "seven"),
    ("huit heures", "eight"),
    ("neuf heures", "nine"),
    ("dix heures", "ten"),
    ("onze heures", "eleven"),
)


def clock(dice):
    """'il est trois heures et demie' / 'it is half past three'."""
    fr, en = dice.pick(HOURS)
    form = dice.weighted(("", 3), (" et demie", 2), (" et quart", 2), (" moins le quart", 2))
    en = {
        "": en + " o'clock",
        " et demie": "half past " + en,
        " et quart": "a quarter past " + en,
        " moins le quart": "a quarter to " + en,
    }[form]
    tail = dice.weighted((("", ""), 3), ((" du matin", " in the morning"), 1))
    start = dice.weighted(
        (("il est ", "it is "), 3),
        (("il était ", "it was "), 1),
        (("il est déjà ", "it is already "), 1),
    )
    return start[0] + fr + form + tail[0], start[1] + en + tail[1], []


def day(dice):
    days = (
        ("lundi", "monday"),
        ("mardi", "tuesday"),
        ("mercredi", "wednesday"),
        ("jeudi", "thursday"),
        ("vendredi", "friday"),
        ("samedi", "saturday"),
        ("dimanche", "sunday"),
    )
    fr, en = dice.pick(days)
    which = dice.below(4)
    if which == 0:
        return "nous sommes " + fr, "it is " + en, []
    if which == 1:
        return "aujourd'hui c'est " + fr, "today is " + en, []
    if which == 2:
        return "demain c'est " + fr, "tomorrow is " + en, []
    verb = MOVES[dice.pick(("partir", "arriver", "rentrer", "venir", "sortir"))]
    who = choices.subject(dice)
    fr, en = clause(who, verb, dice.pick(("future", "going")), tail=(Phrase(fr, "on " + en),))
    return fr, en, []


def weather(dice):
    """'il pleut souvent en angleterre', 'il va neiger demain'."""
    forms, meanings = dice.pick(lex.WEATHER)
    tense = dice.weighted((0, 6), (1, 2), (2, 2), (3, 2), (4, 2))
    fr, en = forms[tense], meanings[tense]
    if en == "-":
        return None
    code = "piffc"[tense]
    action = en.endswith(("raining", "snowing"))
    kind = dice.below(100)
    if tense == 0 and kind < 18:
        adverb = choices.frequency(dice)
        if action:
            verb, third = ("pleut", "rains") if "rain" in en else ("neige", "snows")
            fr, en = "il " + verb + " " + adverb.fr, "it " + adverb.en + " " + third
        else:
            words = fr.split(" ")
            end = 3 if words[1] == "y" else 2
            fr = " ".join(words[:end] + [adverb.fr] + words[end:])
            en = en.replace(" is ", " is " + adverb.en + " ")
    elif tense == 0 and kind < 32:
        en = en.replace(" is ", " is not ")
        fr = fr.replace("il y a du ", "il ne y a pas de ")
        if " ne " not in fr:
            words = fr.split(" ")
            fr = " ".join(["il ne", words[1], "pas"] + words[2:])
    elif tense in (0, 2) and kind < 44:
        fr = "est-ce que " + fr + " ?"
        subject, be, rest = (
            ("the weather", en.split()[2], en.split()[3:])
            if en.startswith("the weather")
            else ("it", en.split()[1], en.split()[2:])
        )
        return french.smooth(fr), " ".join([be, subject] + rest + ["?"]), []
    where = when = None
    if dice.chance(50):
        spot = dice.pick(
            [
                p
                for p in lex.PLACES
                if {"country", "city"} & p.tags
                or p.at in ("à la plage", "à la montagne", "à la campagne", "dans la rue")
            ]
        )
        where = Phrase(spot.at, spot.at_en)
    if not (tense == 0 and kind < 18) and dice.chance(45):
        fitting = [
            t
            for t, codes, span in lex.TIMES
            if code in codes
            and span == "-"
            and t.fr not in ("avant le dîner", "après le déjeuner", "il y a une heure")
        ]
        when = dice.pick(fitting)
    if when and dice.chance(35):
        fr, en = when.fr + " " + fr, when.en + " " + en
        when = None
    for item in (where, when):
        if item:
            fr, en = fr + " " + item.fr, en + " " + item.en
    return french.smooth(fr), en, []


def compare(dice):
    """'marie est plus grande que paul' / 'marie is taller than paul'."""
    who = choices.subject(dice, None, 25)
    other = dice.pick(
        lex.NOUN_SUBJECTS
        + [
            Subject("moi", "me", 0, "m", False, frozenset()),
            Subject("toi", "you", 1, "m", False, frozenset()),
            Subject("elle", "her", 2, "f", False, frozenset()),
            Subject("nous", "us", 3, "m", True, frozenset()),
            Subject("vous", "you", 4, "m", True, frozenset()),
        ]
    )
    if other.person == who.person and who in lex.PRONOUNS:
        return None
    if {other.person, who.person} == {1, 4}:
        return None
    if set(other.fr.split()) & set(who.fr.split()) - {"le", "la", "les", "mon", "ma", "mes"}:
        return None
    fr, feminine, en, more = dice.pick([a for a in lex.PERSON_ADJECTIVES if a[3]])
    word = french.agree(fr, who.gender, who.plural, feminine)
    if dice.chance(25):
        state = Phrase("aussi %s que %s" % (word, other.fr), "as %s as %s" % (en, other.en))
    else:
        state = Phrase("plus %s que %s" % (word, other.fr), "%s than %s" % (more, other.en))
    tense = dice.weighted(("present", 6), ("imperfect", 1))
    fr, en = clause(who, lex.ETRE, tense, (state,))
    return fr, en, []


def this_is(dice):
    """'c'est mon livre' / 'this is my book'."""
    noun = dice.pick(
        [
            n
            for n in lex.NOUNS
            if {"own", "small-thing", "wear", "animal", "thing", "building", "gift"} & n.classes
        ]
    )
    many = noun.fr is None or (noun.fr_plural is not None and dice.chance(25))
    which = dice.weighted(("my", 6), ("a", 2))
    if "building" in noun.classes:
        which = "a"
    if which == "a" and (many or noun.fr_plural is None):
        which = "some"
    owner = dice.pick([p for p in lex.PRONOUNS if p.person != 2])
    adjective, combos = None, []
    if which == "a" and dice.chance(50):
        adjective = choices.adjective_for(dice, noun)
        if adjective:
            combos = ["%s+%s" % (adjective.fr, noun.fr)]
    item = noun_phrase(noun, which, many, adjective, owner)
    if which == "my" and not many and "own" in noun.classes and dice.chance(30):
        item = choices.belonging(dice, noun)
    kind = dice.weighted(("yes", 5), ("not", 2), ("ask", 2))
    be, this = ("are", "these") if many and noun.en_plural != "pasta" else ("is", "this")
    ce = "ce sont" if many else "c'est"
    if kind == "not":
        fr = ("ce ne sont pas " if many else "ce n'est pas ") + item.fr
        return french.smooth(fr), "%s %s not %s" % (this, be, item.en), combos
    if kind == "ask":
        fr = "est-ce que " + ce + " " + item.fr + " ?"
        return french.smooth(fr), "%s %s %s ?" % (be, this, item.en), combos
    return french.smooth(ce + " " + item.fr), "%s %s %s" % (this, be, item.en), combos


# An action and the state that explains it: verb, object or place, state
BECAUSE = (
    ("manger", "", "", "faim"),
    ("boire", "de l'eau", "water", "soif"),
    ("boire", "du thé", "tea", "froid"),
    ("dormir", "", "", "fatigué"),
    ("reposer", "", "", "fatigué"),
    ("pleurer", "", "", "triste"),
    ("sourire", "", "", "content"),
    ("chanter", "", "", "content"),
    ("danser", "", "", "content"),
    ("ouvrir", "la fenêtre", "the window", "chaud"),
    ("fermer", "la fenêtre", "the window", "froid"),
    ("fermer", "la porte", "the door", "peur"),
    ("porter", "un manteau", "a coat", "froid"),
    ("courir", "", "", "en retard"),
    ("dépêcher", "", "", "en retard"),
    ("coucher", "", "", "sommeil"),
    ("crier", "", "", "peur"),
    ("crier", "", "", "en colère"),
    ("acheter", "du pain", "bread", "faim"),
    ("rester", "à la maison", "at home", "malade"),
    ("appeler", "le médecin", "the doctor", "malade"),
    ("nager", "", "", "chaud"),
    ("commander", "de la limonade", "lemonade", "soif"),
    ("rester", "à la maison", "at home", "il pleut"),
    ("prendre", "un parapluie", "an umbrella", "il pleut"),
    ("rester", "à la maison", "at home", "il fait froid"),
    ("aller", "à la plage", "to the beach", "il fait beau"),
    ("aller", "à la piscine", "to the swimming pool", "il fait chaud"),
    ("porter", "un chapeau", "a hat", "il y a du soleil"),
    ("fermer", "la fenêtre", "the window", "il y a du vent"),
)


def _state(dice, who, name, tense):
    """A clause that says how someone is."""
    for forms, meanings in lex.WEATHER:
        if forms[0] == name:
            index = 0 if tense == "present" else 1
            return forms[index], meanings[index]
    pronoun = Subject(
        (
            "je",
            "tu",
            "elle" if who.gender == "f" else "il",
            "nous",
            "vous",
            "elles" if who.gender == "f" else "ils",
        )[who.person],
        ("i", "you", "she" if who.gender == "f" else "he", "we", "you", "they")[who.person],
        who.person,
        who.gender,
        who.plural,
        who.tags,
    )
    phrases = {"en retard": Phrase("en retard", "late"), "en colère": Phrase("en colère", "angry")}
    for item in lex.AVOIR_STATES:
        if item.fr == name:
            return clause(pronoun, BE_STATE, tense, (item,))
    if name in phrases:
        return clause(pronoun, lex.ETRE, tense, (phrases[name],))
    fr, feminine, en, _ = [a for a in lex.PERSON_ADJECTIVES if a[0] == name][0]
    word = french.agree(fr, who.gender, who.plural, feminine)
    return clause(pronoun, lex.ETRE, tense, (Phrase(word, en),))


def because(dice):
    """'il dort parce qu'il est fatigué'."""
    key, what_fr, what_en, state = dice.pick(BECAUSE)
    verb = VERBS.get(key) or MOVES[key]
    who = choices.subject(dice, None, 60)
    tense = dice.weighted(("present", 3), ("past", 2))
    objects = (Phrase(what_fr, what_en),) if what_fr else ()
    fr, en = clause(who, verb, tense, objects)
    why = _state(dice, who, state, "present" if tense == "present" else "imperfect")
    return french.smooth(fr + " parce que " + why[0]), en + " because " + why[1], []


def but(dice):
    """Two adjectives, or two tastes, joined by et or mais."""
    who = choices.subject(dice, None, 60)
    if dice.chance(45):
        kind = dice.weighted(("food", 2), ("drink", 1))
        first, second = (dice.pick([n for n in lex.NOUNS if kind in n.classes]) for _ in range(2))
        if (
            first is second
            or not choices.possible(None, first, who)
            or not choices.possible(None, second, who)
        ):
            return None
        names = []
        for noun in (first, second):
            many = noun.fr is None or (noun.fr_plural is not None and "both" not in noun.classes)
            plain = noun_phrase(noun, "the", many)
            names.append(Phrase(plain.fr, plain.en[4:]))
        fr, en = clause(who, lex.LIKES[0], "present", (names[0],))
        other = dice.pick(lex.LIKES[2:])
        pronoun = _pronoun(who)
        second_fr, second_en = clause(pronoun, other, "present", (names[1],))
        return fr + " mais " + second_fr, en + " but " + second_en, []
    good = ("content", "riche", "gentil", "intelligent", "fort", "patient", "poli", "calme")
    bad = ("fatigué", "triste", "malade", "pauvre", "paresseux", "inquiet", "nerveux", "seul")
    joined = dice.pick((("et", "and"), ("mais", "but")))
    if joined[0] == "et":
        first, second = dice.pick(good), dice.pick(good)
    else:
        first, second = dice.pick(good), dice.pick(bad)
        if dice.chance(50):
            first, second = second, first
    clash = {
        ("riche", "pauvre"),
        ("pauvre", "riche"),
        ("content", "triste"),
        ("triste", "content"),
        ("calme", "nerveux"),
        ("nerveux", "calme"),
    }
    if first == second or (first, second) in clash:
        return None
    words = []
    for name in (first, second):
        fr, feminine, en, _ = [a for a in lex.PERSON_ADJECTIVES if a[0] == name][0]
        words.append(Phrase(french.agree(fr, who.gender, who.plural, feminine), en))
    state = Phrase(
        "%s %s %s" % (words[0].fr, joined[0], words[1].fr),
        "%s %s %s" % (words[0].en, joined[1], words[1].en),
    )
    fr, en = clause(who, lex.ETRE, dice.weighted(("present", 3), ("imperfect", 1)), (state,))
    return fr, en, []


def _pronoun(who):
    fr = (
        "je",
        "tu",
        "elle" if who.gender == "f" else "il",
        "nous",
        "vous",
        "elles" if who.gender == "f" else "ils",
    )[who.person]
    en = ("i", "you", "she" if who.gender == "f" else "he", "we", "you", "they")[who.person]
    return Subject(fr, en, who.person, who.gender, who.plural, who.tags)


def that(dice):
    """'je pense que marie est malade' / 'i think that marie is ill'."""
    verb = dice.pick((THINK, THINK, BELIEVE, KNOW, HOPE))
    who = choices.subject(dice, None, 75)
    about = choices.subject(dice, None, 50)
    if about.fr == who.fr or {about.person, who.person} == {1, 4}:
        return None
    same = (about.person, about.gender) == (who.person, who.gender)
    if same and about in lex.PRONOUNS:
        return None  # "my father believes that he is travelling": he himself?
    if verb is HOPE:
        moves = [MOVES[k] for k in ("venir", "partir", "arriver", "sortir", "rentrer")]
        inner = clause(
            about,
            dice.pick(moves),
            "future",
            tail=(
                dice.pick(
                    (
                        Phrase("demain", "tomorrow"),
                        Phrase("ce soir", "this evening"),
                        Phrase("à midi", "at noon"),
                    )
                ),
            ),
        )
    elif dice.chance(55):
        name = dice.pick(lex.PERSON_ADJECTIVES)[0]
        inner = _state_of(about, name)
    else:
        action = dice.pick([v for v in lex.INTRANSITIVES if v.key not in ("dépêcher",)])
        inner = clause(about, action, "present")
    fr, en = clause(who, verb, "present")
    return french.smooth(fr + " que " + inner[0]), en + " that " + inner[1], []


def _state_of(who, name):
    fr, feminine, en, _ = [a for a in lex.PERSON_ADJECTIVES if a[0] == name][0]
    word = french.agree(fr, who.gender, who.plural, feminine)
    return clause(who, lex.ETRE, "present", (Phrase(word, en),))


def when(dice):
    """'quand je suis arrivé il dormait' / 'when i arrived he was sleeping'."""
    who = choices.subject(dice, None, 60)
    other = choices.subject(dice, None, 55)
    if dice.chance(30):
        place = dice.pick([p for p in lex.PLACES if "country" in p.tags])
        fr, feminine, en = dice.pick((("petit", None, "small"), ("jeune", None, "young")))
        word = french.agree(fr, who.gender, who.plural, feminine)
        first = clause(who, lex.ETRE, "imperfect", (Phrase(word, en),))
        second = clause(
            _pronoun(who), lex.HABITER, "imperfect", (), tail=(Phrase(place.at, place.at_en),)
        )
    else:
        if other.person == who.person or {other.person, who.person} == {1, 4}:
            return None
        move = MOVES[dice.pick(("arriver", "partir", "rentrer", "sortir"))]
        first = clause(who, move, "past")
        action = dice.pick(
            [
                v
                for v in lex.INTRANSITIVES
                if v.key
                in (
                    "travailler",
                    "dormir",
                    "danser",
                    "chanter",
                    "pleurer",
                    "jouer",
                    "étudier",
                    "manger",
                    "lire",
                    "cuisiner",
                    "dîner",
                    "reposer",
                )
            ]
        )
        second = clause(other, action, "imperfect")
    return (
        french.smooth("quand " + first[0] + " " + second[0]),
        "when " + first[1] + " " + second[1],
        [],
    )


def relative(dice):
    """'l'homme qui lit le journal est mon père'."""
    head, relations = dice.pick(
        (
            (
                Subject("l'homme qui", "the man who", 2, "m", False, frozenset()),
                (
                    ("mon père", "my father"),
                    ("mon frère", "my brother"),
                    ("le médecin", "the doctor"),
                    ("notre voisin", "our neighbour"),
                    ("mon ami", "my friend"),
                ),
            ),
            (
                Subject("la femme qui", "the woman who", 2, "f", False, frozenset()),
                (
                    ("ma mère", "my mother"),
                    ("ma sœur", "my sister"),
                    ("notre voisine", "our neighbour"),
                    ("la voisine", "the neighbour"),
                ),
            ),
            (
                Subject("le garçon qui", "the boy who", 2, "m", False, frozenset(["child"])),
                (("mon frère", "my brother"), ("paul", "paul"), ("pierre", "pierre")),
            ),
            (
                Subject("la fille qui", "the girl who", 2, "f", False, frozenset(["child"])),
                (("ma sœur", "my sister"), ("marie", "marie"), ("sophie", "sophie")),
            ),
        )
    )
    if dice.chance(60):
        verb = dice.pick([v for v in lex.VERBS if "n" not in v.flags and "person" not in v.objects])
        if "a" in verb.flags and "child" in head.tags:
            return None
        found = choices.an_object(dice, verb, head)
        if found is None or {"son", "sa", "ses"} & set(found[0][0].fr.split()):
            return None
        objects, combos = found[0], found[1]
    else:
        verb, objects, combos = dice.pick(lex.INTRANSITIVES), (), []
        if verb.reflexive and verb.key not in ("reposer", "promener"):
            return None
    fr, en = clause(head, verb, "present", objects)
    relation = dice.pick(relations)
    return fr + " est " + relation[0], en + " is " + relation[1], combos
