"""French morphology: conjugation, agreement, elision and contraction.

Persons are numbered 0..5: je, tu, il/elle, nous, vous, ils/elles.
"""

from collections import namedtuple

VOWELS = "aeiouàâéèêëîïôöûùüœ"
# Words that begin with an aspirated h (or behave like it): no elision before them.
NO_ELISION = {"haricot", "haricots", "huit", "onze", "oui"}
ELIDED = {"je", "me", "te", "se", "le", "la", "ne", "de", "que"}
CONTRACTED = {("à", "le"): "au", ("à", "les"): "aux", ("de", "le"): "du", ("de", "les"): "des"}

REFLEXIVE = ("me", "te", "se", "nous", "vous", "se")
POSSESSIVE = {  # masculine, feminine, plural
    0: ("mon", "ma", "mes"),
    1: ("ton", "ta", "tes"),
    2: ("son", "sa", "ses"),
    3: ("notre", "notre", "nos"),
    4: ("votre", "votre", "vos"),
    5: ("leur", "leur", "leurs"),
}

Conjugation = namedtuple(
    "Conjugation", "infinitive present imperfect future participle imperative aux"
)

IMPERFECT_ENDINGS = ("ais", "ais", "ait", "ions", "iez", "aient")
FUTURE_ENDINGS = ("ai", "as", "a", "ons", "ez", "ont")

# infinitive: six present forms, past participle, future stem
IRREGULAR = {
    "être": ("suis es est sommes êtes sont", "été", "ser"),
    "avoir": ("ai as a avons avez ont", "eu", "aur"),
    "aller": ("vais vas va allons allez vont", "allé", "ir"),
    "faire": ("fais fais fait faisons faites font", "fait", "fer"),
    "boire": ("bois bois boit buvons buvez boivent", "bu", "boir"),
    "lire": ("lis lis lit lisons lisez lisent", "lu", "lir"),
    "écrire": ("écris écris écrit écrivons écrivez écrivent", "écrit", "écrir"),
    "dire": ("dis dis dit disons dites disent", "dit", "dir"),
    "prendre": ("prends prends prend prenons prenez prennent", "pris", "prendr"),
    "apprendre": ("apprends apprends apprend apprenons apprenez apprennent", "appris", "apprendr"),
    "comprendre": (
        "comprends comprends comprend comprenons comprenez comprennent",
        "compris",
        "comprendr",
    ),
    "voir": ("vois vois voit voyons voyez voient", "vu", "verr"),
    "vouloir": ("veux veux veut voulons voulez veulent", "voulu", "voudr"),
    "pouvoir": ("peux peux peut pouvons pouvez peuvent", "pu", "pourr"),
    "devoir": ("dois dois doit devons devez doivent", "dû", "devr"),
    "savoir": ("sais sais sait savons savez savent", "su", "saur"),
    "connaître": (
        "connais connais connaît connaissons connaissez connaissent",
        "connu",
        "connaîtr",
    ),
    "dormir": ("dors dors dort dormons dormez dorment", "dormi", "dormir"),
    "partir": ("pars pars part partons partez partent", "parti", "partir"),
    "sortir": ("sors sors sort sortons sortez sortent", "sorti", "sortir"),
    "venir": ("viens viens vient venons venez viennent", "venu", "viendr"),
    "mettre": ("mets mets met mettons mettez mettent", "mis", "mettr"),
    "ouvrir": ("ouvre ouvres ouvre ouvrons ouvrez ouvrent", "ouvert", "ouvrir"),
    "courir": ("cours cours court courons courez courent", "couru", "courr"),
    "rire": ("ris ris rit rions riez rient", "ri", "rir"),
    "sourire": ("souris souris sourit sourions souriez sourient", "souri", "sourir"),
    "conduire": ("conduis conduis conduit conduisons conduisez conduisent", "conduit", "conduir"),
    "traduire": ("traduis traduis traduit traduisons traduisez traduisent", "traduit", "traduir"),
    "construire": (
        "construis construis construit construisons construisez construisent",
        "construit",
        "construir",
    ),
    "croire": ("crois crois croit croyons croyez croient", "cru", "croir"),
}
WITH_ETRE = {
    "aller",
    "venir",
    "arriver",
    "partir",
    "rentrer",
    "rester",
    "sortir",
    "tomber",
    "retourner",
}


def _er_present(infinitive):
    """Present forms and future stem of a regular -er verb, with its spelling changes."""
    stem = infinitive[:-2]
    strong, future = stem, infinitive
    if infinitive == "appeler":
        strong, future = "appell", "appeller"
    elif stem.endswith(("oy", "uy", "ay")):
        strong = stem[:-1] + "i"
        future = "enverr" if infinitive == "envoyer" else strong + "er"
    elif len(stem) > 2 and stem[-2] == "e" and stem[-1] in "tvnlm":
        strong = stem[:-2] + "è" + stem[-1]
        future = strong + "er"
    elif len(stem) > 2 and stem[-2] == "é" and stem[-1] in "rdt":
        strong = stem[:-2] + "è" + stem[-1]
    soft = stem + "e" if stem.endswith("g") else stem[:-1] + "ç" if stem.endswith("c") else stem
    present = (strong + "e", strong + "es", strong + "e", soft + "ons", stem + "ez", strong + "ent")
    return present, future


def conjugate(infinitive):
    """The Conjugation of a verb, given without its reflexive pronoun."""
    if infinitive in IRREGULAR:
        forms, participle, future = IRREGULAR[infinitive]
        present = tuple(forms.split())
    elif infinitive.endswith("er"):
        present, future = _er_present(infinitive)
        participle = infinitive[:-2] + "é"
    elif infinitive.endswith("ir"):
        stem = infinitive[:-2]
        present = tuple(stem + e for e in ("is", "is", "it", "issons", "issez", "issent"))
        participle, future = stem + "i", infinitive
    elif infinitive.endswith("re"):
        stem = infinitive[:-2]
        present = tuple(stem + e for e in ("s", "s", "", "ons", "ez", "ent"))
        participle, future = stem + "u", infinitive[:-1]
    else:
        raise ValueError("no conjugation for " + infinitive)
    stem = "ét" if infinitive == "être" else present[3][:-3]
    imperfect = []
    for ending in IMPERFECT_ENDINGS:
        if ending[0] == "i" and stem.endswith("ge"):
            imperfect.append(stem[:-1] + ending)
        elif ending[0] == "i" and stem.endswith("ç"):
            imperfect.append(stem[:-1] + "c" + ending)
        else:
            imperfect.append(stem + ending)
    command = present[1][:-1] if present[1].endswith(("es", "as")) else present[1]
    if infinitive == "être":
        imperative = ("sois", "soyons", "soyez")
    else:
        imperative = (command, present[3], present[4])
    return Conjugation(
        infinitive,
        present,
        tuple(imperfect),
        tuple(future + e for e in FUTURE_ENDINGS),
        participle,
        imperative,
        "être" if infinitive in WITH_ETRE else "avoir",
    )


def starts_with_vowel(word):
    """Does an article or pronoun elide before this word?"""
    word = word.split("'")[0] if word.startswith("l'") else word
    if word in NO_ELISION:
        return False
    return word[0] in VOWELS or word[0] == "h" or word == "y"


def smooth(text):
    """Apply elision (le + eau -> l'eau), then contraction (de + le -> du)."""
    out = []
    for word in reversed(text.split()):
        if word in ELIDED and out and starts_with_vowel(out[0]):
            out[0] = word[:-1] + "'" + out[0]
        else:
            out.insert(0, word)
    words = []
    for word in out:
        if words and (words[-1], word) in CONTRACTED:
            words[-1] = CONTRACTED[(words[-1], word)]
        else:
            words.append(word)
    return " ".join(words)


def agree(masculine, gender, plural, feminine=None):
    """An adjective or participle in the wanted gender and number."""
    word = masculine
    if gender == "f":
        word = feminine or (masculine if masculine.endswith("e") else masculine + "e")
    if plural and not word.endswith(("s", "x")):
        word += "x" if word.endswith("eau") else "s"
    return word


def possessive(person, gender, plural, next_word):
    """mon, ma, mes ...; 'mon' before a feminine word that begins with a vowel."""
    masculine, feminine, many = POSSESSIVE[person]
    if plural:
        return many
    if gender == "f" and not starts_with_vowel(next_word):
        return feminine
    return masculine


def invert(finite, pronoun):
    """mange + il -> mange-t-il."""
    if finite[-1] in "ae" and pronoun in ("il", "elle"):
        return finite + "-t-" + pronoun
    return finite + "-" + pronoun
