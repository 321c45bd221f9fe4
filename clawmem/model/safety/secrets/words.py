"""Find passwords in sentences of several languages, and tell them from statements about passwords."""

from __future__ import annotations

import re

from clawmem.model.safety.secrets.looks import (
    PLACEHOLDERS,
    compiled,
    could_be_chosen,
    could_be_password,
    is_row_of_words,
    is_stand_in,
)

# `password`, `the password for the NAS`, then how it is said, then the value and whether it ends the sentence.
_SAID = (
    # The endings of languages that put the article, or a particle, behind the noun.
    r"(?:et|en|n|nya|si|m|miz|는|은)?(?:\s{1,2}(?:for|of|to|at|on|in|from|für|fürs|vom|von|zum|zur|im|meiner|meines|de|del|du|des|la|le|los|las|"
    r"till|til|på|i|voor|van|op|"
    r"bei|beim|am|chez|sur|dans|presso|nel|nella|sul|sulla|bij|em|no|"
    r"от|для|к|ко|на|від|до|за|од|do|z|ke|k|pro|od|dla|"
    r"pour|do|da|"
    r"della|dello|per)\b[^\n.:;=!?\"]{1,40}?)?"
    r"(?:[*_]{0,2}\s{0,2}:[*_]{0,2}\s{0,3}|\s{1,2}(?:is|was|ist|war|lautet|heißt|es|era|est|était|c'est|c’est|è|"
    r"é|är|er|on|je|jest|to|це|это|είναι|היא|هي|है|adalah|là|este)\s{0,2}:?\s{1,3}|['’]s\s{1,3}|%3[dD])"
    r"([\"'`*“„«]{0,3})((?:[^\s\"'`*”“»]|\*(?=[^\s*])){3,200})([\"'`*”“»]{0,3})([ \t]{0,3}[^\s]?)"
)
# Languages that write no spaces: what is typed is in Latin letters and ends the sentence, or has a digit or a symbol.
_SAID_CLOSE = r"\s?(?:は|是|：|为|為)\s?[\"'「『“]?([!-~]{4,64})(\s{0,2}です|[」』”。，！、\n]|$)?"
_WORD = re.compile("[A-Z]?[a-z]{1,63}|[A-Z]{1,64}")
_NAME = re.compile("[A-Z]{1,64}|[A-Z]?[a-z]{1,63}(?:[A-Z][a-z]{1,63}){0,9}[A-Z]{0,9}")
# `password correct-horse-battery`, `login jane password hunter22`.
_BESIDE = r"(?:는|은|nya|si|m|miz)?\s{1,3}([^\s\"'`,;:=]{6,200})"
# A password beside its name in a list: `user jane, password V`.
_LISTED = r"[,;/(]\s{0,2}[^\W\d_]{2,20}(?:-[^\W\d_]{2,10})?$"
# What gives a password some words after its name: `Kennwort fürs Archiv hab ich auf V gesetzt`, `mdp « V »`.
_GIVES = re.compile(
    r"(?:(?P<label>[^\W\d_]{0,20})\s?(?:[:=-]{0,2}>|[:=：→])\s{0,3}|(?<=\s)(?:[–—-])\s|(?<!\w)(?:is|was|now|are|"
    r"to|into|as|just|still|ist|"
    r"war|auf|jetzt|nun|lautet übrigens|ab sofort|lautet|heißt|wäre|noch|zu|in|c'est|c’est|c'était|est|était|"
    r"sera|maintenant|toujours|à|"
    r"mets|mis|es|era|"
    r"fue|será|ahora|sigue|puse|a|é|era|agora|para|coloquei|è|sarà|adesso|ora|messo|su|wordt|nu|op|naar|werd|на|je|jest|теперь|сейчас|тепер|зараз|сега|teraz|nyní|teď|nå|nyt|most|şimdi|artık|acum|sada|"
    r"gewijzigd|"
    r"là|是|は|to:|stays|became|bleibt|reste|queda|quedó|fica|ficou|rimane|resta|blijft|blir|blev)\s{1,2}|\s(?=[«“„\"'`])|是|は)[«“„\"'`*]{0,2}\s?(?P<value>[^\s«»“”„\"`]{6,64})",
    re.IGNORECASE,
)
# `What was the admin password again?`, and the answer behind it, perhaps after the name of who answers.
_ANSWERED = r"[^\n?.!]{0,60}\?[\"'”»]?\s{1,3}(?:[-–>*]\s)?(?:[\w .-]{1,20}:\s{1,3})?[\"'`*«“„]{0,2}([^\s\"'`»”]{6,64})"
_REACH = 110
_SENTENCE_ENDS = re.compile(r"[.!?]\s|[\n;]")
_WORD_AFTER = re.compile(r"\s?[(,:«“„\"]|\s{1,3}(?P<word>[\w'’-]{0,30})|[：是は]")
# Labels of what is not a password: `the password for user: jane42`.
_LABELS = frozenset(
    """
user username login id email mail account konto benutzer benutzername usuario usuário utilisateur identifiant utente
gebruiker ticket version error note hinweis siehe see example format regex algorithm hash policy code fehler beispiel
ejemplo exemple esempio voorbeeld url link http https issue pr date datum fecha
""".split()
)
_RULES_ABOUT = re.compile(
    r"\b(?:must|should|at least|characters?|chars|minimum|mindestens|zeichen|caract[eè]res|caracteres|caratteri|"
    r"tekens|minstens|"
    r"au moins|al menos|pelo menos|almeno|e\.g|z\.b|for example|zum beispiel|par exemple|por ejemplo|encrypted|"
    r"hashed|hashing|"
    r"stored|bcrypt|argon2\w{0,2}|pbkdf2|version|every|alle|tous les|cada|days|tage)\b",
    re.IGNORECASE,
)
_ENDS = frozenset(".!?,;)\n(|")
_WORDS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# Words about passwords that are not passwords, in lower case.
_TOLD = frozenset(
    """
a an the my your his her our their not no now here there below above so too very also still always never only just
wrong right correct incorrect strong weak safe secure unsafe insecure secret private public long short old new easy hard
simple complex complicated same different unique valid invalid required missing empty blank gone lost known unknown
temporary permanent good bad great fine okay important mandatory optional case-sensitive sensitive ready due late out
up down back on off in set stored saved kept hidden hashed visible available useless pointless obvious random terrible
awful silly stupid funny crazy impossible awesome cool common default broken dead stale fresh recent outdated obsolete
none nothing something anything everything mine yours theirs ours whatever somewhere nowhere elsewhere everywhere
enough ok yes true false null nil pending confidential sacred personal shared weird odd strange annoying tricky
string bool const str text bytes varchar number boolean any object char field value int integer type enum uuid varbinary
password passwort kennwort passwords contraseña senha passwd secret token see ask tba tbd todo unchanged changed reset
sicher unsicher geheim falsch richtig korrekt stark schwach lang kurz alt neu einfach schwer kompliziert gesperrt
abgelaufen vergessen geändert bekannt unbekannt weg leer gültig ungültig erforderlich nötig notwendig pflicht hier dort
unten oben nicht kein keine mein dein sein ihr unser der die das ein eine wichtig gut schlecht gleich anders verloren
ziemlich sehr zu noch schon immer nie niemals dasselbe identisch privat öffentlich zurückgesetzt fällig knapp
segura seguro débil fuerte larga corta nueva vieja fácil difícil incorrecta correcta errónea secreta igual distinta
diferente válida inválida obligatoria necesaria requerida aquí allí muy demasiado no la el una un mi tu su perdida
olvidada caducada compleja simple única pública privada importante buena mala otra
sûr sûre faible fort forte long longue court courte nouveau nouvelle vieux facile difficile incorrect correct erroné
expiré oublié perdu perdue secret identique différent valide invalide obligatoire nécessaire requis ici là très trop
pas le la un une mon ton son complexe unique public privé bon mauvais périmé toujours bien
sicura sicuro debole lunga corto nuova vecchia sbagliata sbagliato corretta segreta uguale scaduta scaduto dimenticata
persa valida obbligatoria necessaria qui molto troppo non lo il una un mia tua sua semplice complessa pubblica
forte fraca longa curta nova velha errada secreta igual diferente inválida obrigatória aqui muito não o uma um
minha sua perdida esquecida expirada simples importante
""".split()
)  # fmt: skip
# Names in languages for which `_TOLD` has no words: there a plain word is a password only between quotation marks.
_WITHOUT_REMARKS = frozenset(
    (
        "wachtwoord", "wachtzin", "toegangscode", "lösenord", "hasło", "adgangskode", "passord", "salasana", "heslo",
        "jelszó", "şifre", "пароль", "парола", "lozinka", "parola este", "비밀번호", "패스워드", "كلمة المرور",
        "كلمة السر", "κωδικός πρόσβασης", "κωδικός είναι", "סיסמה", "סיסמא", "पासवर्ड", "kata sandi", "mật khẩu",
        "รหัสผ่าน",
    )
)  # fmt: skip
# Names after which a sentence is read in another way than after `password`.
_TELLING = ("mot de passe", "passphrase", "clave", "parola d'ordine", "parola chiave")
_TOLD_ENDINGS = ("ed", "ing", "able", "ible", "ful", "less", "ous", "ically", "ly", "iert", "bar")
_ABOUT = frozenset(
    """
reset manager policy less protected based change field prompt hash hashed protection recovery rotation strength only
generator database store safe login rule rules required requirement requirements free authentication expired expiry
entropy history length complexity check checker validation dialog box form input parameter option variable env file
vault hashing encryption algorithm reuse sharing spraying attack guess cracking list dump leak breach expires managers
prompts
""".split()
)
_FUNCTION_WORDS = frozenset(
    "a an and the is are was to of in on at for from by with not no it that this as be or but if very too so".split()
)


def find_spoken_password(text: str, end: int) -> tuple[int, int] | None:
    """Return where the password is that a sentence gives after its name, which ends at `end`."""
    before = text[max(0, end - 20) : end].lower()
    typed = compiled(_SAID_CLOSE).match(text, end)
    if typed:
        value = typed[1].rstrip(".!?,;)")
        word_alone = value.isalpha() and typed[2] is not None and not _WORD.fullmatch(value)
        if _is_number(value) or (
            len(value) >= 6 and not is_stand_in(value) and (could_be_password(value) or word_alone)
        ):
            return typed.start(1), typed.start(1) + len(value)
    word = next((name for name in (*_TELLING, *_WITHOUT_REMARKS) if before.endswith(name)), "")
    found = compiled(_SAID).match(text, end)
    plain = _plain(text, found, word) if found else None
    if plain:
        return plain
    pair = _given_later(text, end)
    if pair or found:
        return pair
    beside = compiled(_BESIDE).match(text, end)
    value = beside[1].rstrip(".!?)") if beside else ""
    if not beside or is_stand_in(value):
        return None
    listed = compiled(_LISTED).search(text, max(0, end - 30), end) and not text[beside.end(1) :][:1].strip(",;")
    if _joined(value) or _mixed(value) or _has_symbol(value) or (listed and _is_typed(value)):
        return beside.start(1), beside.start(1) + len(value)
    return None


def _plain(text: str, found: re.Match[str], word: str) -> tuple[int, int] | None:
    value = found[2].rstrip(".!?,;)")
    start = found.start(2)
    named = _WORDS.findall(text[found.start() : start])
    if named and named[-1].lower() in _LABELS:
        return None
    if not value or value.lower() in PLACEHOLDERS:
        return None
    if could_be_password(value) and len(value) >= 6 and not is_stand_in(value):
        return start, start + len(value)
    if word != "clave" and _is_number(value):
        return start, start + len(value)
    if word in ("passphrase", "mot de passe") and not found[1]:
        words = _phrase(text, start)
        if words:
            return start, words
    if not _WORDS.fullmatch(value) or len(value) < 4 or is_stand_in(value):
        return None
    if word in _WITHOUT_REMARKS and not found[1]:
        return None
    lower = value.lower()
    if lower in _TOLD or (lower == value and lower.endswith(_TOLD_ENDINGS)):
        return None
    # A quoted word is the password itself; any other word must end its sentence, unlike a remark about a password.
    after = text[start + len(value) : start + len(value) + 4].lstrip(" \t\"'`*”»")
    if word in ("clave", "parola d'ordine", "parola chiave") and not found[1] and not _owned(text, found.start()):
        return None
    return (start, start + len(value)) if found[1] or not after or after[0] in _ENDS else None


def _given_later(text: str, end: int) -> tuple[int, int] | None:
    """Return where the sentence gives a password that looks chosen, with some words between its name and it."""
    first = _WORD_AFTER.match(text, end)
    # `pass` alone is more often a verb.
    if (first and (first["word"] or "").lower() in _ABOUT) or text[end - 4 : end].lower() == "pass":
        return None
    answered = compiled(_ANSWERED).match(text, end)
    if answered and could_be_chosen(answered[1]):
        return answered.start(1), answered.start(1) + len(answered[1].rstrip(".,;:)"))
    if first is None:
        return None
    rest = text[end : end + _REACH]
    stop = _SENTENCE_ENDS.search(rest)
    rest = text[end : end + stop.start()] if stop else text[end : end + _REACH + 64]
    for found in _GIVES.finditer(rest):
        value = found["value"].rstrip(".,;:)'’*")
        if (found["label"] or "").lower() in _LABELS:
            continue
        if could_be_chosen(value) or (_joined(value) and not is_stand_in(value)):
            if _RULES_ABOUT.search(rest[: found.start("value")]):
                return None
            start = end + found.start("value")
            return start, start + len(value)
    return None


def _owned(text: str, place: int) -> bool:
    """Return whether the Spanish word for "key" or "password" follows a possessive, so that it means a password."""
    return text[max(0, place - 12) : place].lower().split()[-2:-1] in (["mi"], ["tu"], ["su"], ["nuestra"])


def _phrase(text: str, start: int) -> int | None:
    """Return the end of a passphrase of at least four words without function words, or None."""
    line = re.split(r"[.\n!?;,]", text[start : start + 200], maxsplit=1)[0].rstrip("\"'”» ")
    words = line.split()
    fit = len(words) >= 4 and is_row_of_words(line) and all(_WORDS.fullmatch(word) for word in words)
    return start + len(line) if fit and not _FUNCTION_WORDS.intersection(map(str.lower, words)) else None


def _is_number(value: str) -> bool:
    """Return whether a value could be a code or a key of digits."""
    return value.isdigit() and 4 <= len(value) <= 24 and len(set(value)) > 1


def _joined(value: str) -> bool:
    """Return whether a value is at least three words joined by dashes, none of them about passwords."""
    pieces = value.lower().split("-")
    if len(pieces) >= 3 and pieces[-1].isdigit():
        pieces = [*pieces[:-1], "and"] if len(pieces) > 3 or len(pieces[-1]) < 4 else pieces
    return (
        len(pieces) >= 3 and all(len(piece) > 2 and piece.isalpha() for piece in pieces) and _ABOUT.isdisjoint(pieces)
    )


def _has_symbol(value: str) -> bool:
    """Return whether a value looks chosen and has a symbol that words about passwords do not have."""
    return any(map(str.isdigit, value)) and any(text in value for text in "!@#$%^&?+") and could_be_chosen(value)


def _is_typed(value: str) -> bool:
    """Return whether a value looks chosen or has letters of both cases in another order than words."""
    letters = value.isalpha() and value.isascii() and len(value) >= 8
    return could_be_chosen(value) or (letters and not _NAME.fullmatch(value))


def _mixed(value: str) -> bool:
    """Return whether a value has letters and digits and is long and varied enough to be a password."""
    digits = sum(letter.isdigit() for letter in value)
    return (
        len(value) >= 8
        and 1 <= digits <= len(value) - 3
        and could_be_password(value)
        and value.isprintable()
        and ("-" not in value and "/" not in value and "(" not in value)
    )
