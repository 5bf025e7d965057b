"""Phrases and clauses: one French and one English string from the same plan."""

from grammar import english, french
from grammar.lexicon import Phrase

FREQUENCY_ADVERBS = {"often", "always", "sometimes", "rarely", "usually"}
UNCOUNTED = {"pasta"}  # plural in French, not in English
PRONOUN = ("je", "tu", "il", "nous", "vous", "ils")
AVOIR = french.conjugate("avoir")
ETRE = french.conjugate("être")
ALLER = french.conjugate("aller")
VENIR = french.conjugate("venir")


def noun_phrase(noun, determiner, many=False, adjective=None, owner=None, number=None):
    """A Phrase: 'du pain' / 'bread', with the form after a negation ('de pain') where it differs.

    determiner: some (partitive, or plural), a, the, this, my (the owner's), number, bare.
    """
    fr = noun.fr_plural if many else noun.fr
    en = noun.en_plural if many else noun.en
    before = False
    if adjective:
        word = french.agree(adjective.fr, noun.gender, many, adjective.feminine)
        before = adjective.before
        if before and not many and noun.gender == "m" and french.starts_with_vowel(fr):
            word = {"beau": "bel", "nouveau": "nouvel", "vieux": "vieil"}.get(word, word)
        fr = word + " " + fr if before else fr + " " + word
        en = adjective.en + " " + en
    feminine = noun.gender == "f"
    negated = None
    if determiner == "bare":
        return Phrase(fr, en)
    if determiner == "some":
        negated = "de " + fr
        if many:
            fr = ("de " if before else "des ") + fr
        else:
            fr = ("de la " if feminine else "de le ") + fr
    elif determiner == "a":
        negated = "de " + fr
        fr = ("une " if feminine else "un ") + fr
        en = english.with_article(en)
    elif determiner == "the":
        fr = ("les " if many else "la " if feminine else "le ") + fr
        en = "the " + en
    elif determiner == "this":
        if many:
            fr = "ces " + fr
            en = ("this " if noun.en_plural in UNCOUNTED else "these ") + en
        else:
            vowel = french.starts_with_vowel(fr.split()[0])
            fr = ("cette " if feminine else "cet " if vowel else "ce ") + fr
            en = "this " + en
    elif determiner == "my":
        fr = french.possessive(owner.person, noun.gender, many, fr.split()[0]) + " " + fr
        en = english.possessive(owner.person, owner.gender) + " " + en
    elif determiner == "number":
        fr, en = number[0] + " " + fr, number[1] + " " + en
    return Phrase(fr, en, negated)


def after_besoin_de(phrase):
    """The French of a noun phrase after 'de': 'besoin de pain', 'besoin d'une clé'."""
    for article in ("de la ", "de le ", "des ", "de "):
        if phrase.fr.startswith(article):
            return "de " + phrase.fr[len(article) :]
    return "de " + phrase.fr


def owned(text, owner):
    """Replace {mon} {my} ... by the owner's possessive."""
    if "{" not in text:
        return text
    mine = french.POSSESSIVE[owner.person]
    return text.format(
        mon=mine[0], ma=mine[1], mes=mine[2], my=english.possessive(owner.person, owner.gender)
    )


def owned_phrase(phrase, owner):
    return Phrase(
        owned(phrase.fr, owner),
        owned(phrase.en, owner),
        phrase.fr_negated and owned(phrase.fr_negated, owner),
    )


def _participle(verb, subject):
    if verb.reflexive or verb.conjugation.aux == "être":
        return french.agree(verb.conjugation.participle, subject.gender, subject.plural)
    return verb.conjugation.participle


def _object_text(verb, objects, negated):
    out = []
    for item in objects:
        text = item.fr_negated if negated and item.fr_negated else item.fr
        out.append(text)
    if verb.preposition and out:
        out.insert(0, verb.preposition)
    return " ".join(out)


def infinitive(verb, subject, objects=(), negated=False):
    """'manger du pain', 'me reposer'."""
    pronoun = french.REFLEXIVE[subject.person] + " " if verb.reflexive else ""
    return (
        pronoun + verb.conjugation.infinitive + " " + _object_text(verb, objects, negated)
    ).strip()


def base(verb, objects=()):
    """'eat bread', 'look for a key'."""
    words = [verb.en.base, verb.en.particle] + [item.en for item in objects]
    return " ".join(filter(None, words))


def _french_predicate(clause, subject_text):
    """The words from the (negation and) verb to the participle, subject included."""
    verb, subject, tense = clause["verb"], clause["subject"], clause["tense"]
    person = subject.person
    conjugation = verb.conjugation
    reflexive = french.REFLEXIVE[person] if verb.reflexive else ""
    rest = ""
    if tense in ("present", "imperfect", "future"):
        finite = getattr(conjugation, tense)[person]
    elif tense == "past":
        helper = ETRE if verb.reflexive or conjugation.aux == "être" else AVOIR
        finite, rest = helper.present[person], _participle(verb, subject)
    elif tense in ("going", "just"):
        helper = ALLER if tense == "going" else VENIR
        rest = ("" if tense == "going" else "de ") + infinitive(verb, subject)
        finite, reflexive = helper.present[person], ""
    elif tense == "conditional":
        finite = conjugation.future[person][: -len(french.FUTURE_ENDINGS[person])]
        finite += french.IMPERFECT_ENDINGS[person]
    else:
        raise ValueError(tense)
    negation = clause["neg"]
    negative = {
        None: "",
        "not": "pas",
        "never": "jamais",
        "no longer": "plus",
        "yet": "pas encore",
    }[negation]
    adverb = clause["adverb"].fr if clause["adverb"] else ""
    ne = "ne" if negation else ""
    if clause["mood"] == "inversion":
        pronoun = {"elle": "elle", "elles": "elles"}.get(subject.fr, PRONOUN[person])
        words = [ne, reflexive, french.invert(finite, pronoun), negative, adverb, rest]
    else:
        words = [subject_text, ne, reflexive, finite, negative, adverb, rest]
    return " ".join(filter(None, words))


def _be(person, past=False):
    return (english.BE_PAST if past else english.BE_PRESENT)[person]


def _english_forms(clause, simple, asks):
    """(auxiliary or None, the words after it); asks: the clause needs an auxiliary."""
    verb, person, tense = clause["verb"].en, clause["subject"].person, clause["tense"]
    state = "s" in clause["verb"].flags
    third = person == 2
    if verb.base in ("can", "must"):
        return _modal_forms(verb.base, person, tense, asks)
    if tense == "present" and verb.base == "be":
        return _be(person), ""
    if tense == "present" and (state or simple):
        if asks:
            return ("does" if third else "do"), verb.base
        return None, english.third_person(verb.base) if third else verb.base
    if tense == "present":
        return _be(person), verb.ing
    if tense in ("imperfect", "past") and verb.base == "be":
        return _be(person, True), ""
    if tense == "imperfect" and not state and not simple:
        return _be(person, True), verb.ing
    if tense == "past" and clause["perfect"]:
        been = verb.base == "go" and not verb.particle  # "has never been to rome"
        return ("has" if third else "have"), "been" if been else verb.participle
    if tense in ("past", "imperfect"):
        return ("did", verb.base) if asks else (None, verb.past)
    if tense == "future":
        return "will", verb.base
    if tense == "going":
        return _be(person), "going to " + verb.base
    if tense == "just":
        return ("has" if third else "have"), "just " + verb.participle
    if tense == "conditional":
        return "would", "like" if verb.base == "want" else verb.base
    raise ValueError(tense)


def _modal_forms(modal, person, tense, asks):
    if tense == "present":
        return modal, ""
    if tense == "imperfect" and modal == "can":
        return "could", ""
    if tense == "imperfect" and not asks:
        return None, "had to"
    if tense == "future":
        return "will", "be able to" if modal == "can" else "have to"
    raise ValueError("no English for this modal")


def _english_predicate(clause, objects, tail):
    negation = clause["neg"]
    question = clause["mood"] != "statement"
    words_adverb = clause["adverb"].en if clause["adverb"] else ""
    simple = clause["habit"] or words_adverb in FREQUENCY_ADVERBS or negation == "never"
    asks = question or negation in ("not", "yet")
    aux, main = _english_forms(clause, simple, asks)
    adverbs = [negation if negation in ("never", "no longer") else "", words_adverb]
    no = "not" if negation in ("not", "yet") else ""
    rest = [clause["verb"].en.particle, objects, "yet" if negation == "yet" else "", tail]
    subject = clause["subject"].en
    if aux == "can" and no and not question:
        aux, no = "cannot", ""
    if question:
        words = [aux, subject, no] + adverbs + [main] + rest
    else:
        words = [subject, aux, no] + adverbs + [main] + rest
    return " ".join(filter(None, words))


def clause(subject, verb, tense, objects=(), **options):
    """Render one clause; returns (French, English).

    tense: present imperfect future past going just conditional. Options: neg (not, never,
    'no longer', yet), adverb (Phrase), habit (the tail says how often), perfect (English have),
    mood (statement, est-ce que, inversion, rising), ask (a Phrase before a question: 'où'),
    front and tail (Phrases).
    """
    plan = dict(
        neg=None,
        adverb=None,
        habit=False,
        perfect=False,
        mood="statement",
        ask=None,
        front=None,
        tail=(),
    )
    plan.update(options, subject=subject, verb=verb, tense=tense)
    if plan["neg"] == "yet" or (plan["neg"] == "never" and tense == "past"):
        plan["perfect"] = True
    if plan["adverb"] and plan["adverb"].en == "already":
        plan["perfect"] = True
    mood, ask, front = plan["mood"], plan["ask"], plan["front"]
    fr = [front.fr if front else ""]
    if ask:
        fr.append(ask.fr)
    if mood == "est-ce que":
        fr.append("est-ce que")
    fr.append(_french_predicate(plan, subject.fr))
    fr.append(_object_text(verb, objects, plan["neg"] is not None))
    fr += [item.fr for item in plan["tail"]]
    en = [front.en if front else "", ask.en if ask else ""]
    tail_en = " ".join(item.en for item in plan["tail"])
    en.append(_english_predicate(plan, " ".join(item.en for item in objects), tail_en))
    end = [] if mood == "statement" else ["?"]
    return (french.smooth(" ".join(filter(None, fr + end))), " ".join(filter(None, en + end)))


def command(person, verb, objects=(), negated=False, tail=()):
    """An imperative without a reflexive: 'mange', 'ne mangeons pas', 'mangez'."""
    finite = verb.conjugation.imperative[{1: 0, 3: 1, 4: 2}[person]]
    fr = "ne " + finite + " pas" if negated else finite
    fr = " ".join([fr, _object_text(verb, objects, negated)] + [item.fr for item in tail])
    start = {
        (False, False): "",
        (True, False): "do not",
        (False, True): "let us",
        (True, True): "let us not",
    }[(negated, person == 3)]
    words = [start, base(verb, objects)] + [item.en for item in tail]
    return french.smooth(fr), " ".join(filter(None, words))
