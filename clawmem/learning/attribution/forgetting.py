"""What a speaker asks to forget, by its words: here in English, German, Spanish or French, and by the patterns of other
languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

from clawmem.learning.attribution.quoted import own_sentences
from clawmem.memory.facts.targets import ITSELF, JUST_SAID, Named
from clawmem.model.language.languages import EVERY, pattern_of, rows
from clawmem.model.search.meant import telling_words

_STOPS = " .,;:!?"
_LONGEST, _MOST_CUTS = 400, 6
_JOKE = re.compile(
    r"\b(?:just )?kidding\b|\bjk\b|\b(?:lol|lmao|haha\w*)\b|\bjok(?:e|ing)\b|\b(?:scherz|spa(?:ß|ss)|witz)\b|"
    r"\b(?:es )?broma\b|\bje (?:blague|plaisante)|[;:]-?\)|[😀-😆😉😊😜😝🤣🤪🙃]",
    re.IGNORECASE,
)
_LEAD = (
    r"(?:(?:no|ok|okay|oh|ah|ach|argh|sorry|actually|wait|also|and|so|now|hey|please|pls|never ?mind|"
    r"one more(?: thing)?|last thing|something else|on second thoughts?|"
    r"by the way|d'ailleurs|au fait|[uü]brigens|por cierto|bitte|und|nein|noch was|ach ja|por favor|y|et)"
    r"[,.:]? )*(?:(?:can|could|would|will) you (?:please )?|you can |i(?:'d like| want) you to |"
    r"k[oö]nnte?st du (?:bitte )?|puedes |peux-tu |tu peux )?"
)
_PLEASE = (
    r"(?:,? (?:please|pls|bitte|por favor|s'il (?:te|vous) pla[iî]t|again|wieder|doch|mal|ok|okay|thanks|danke|gracias|"
    r"merci))*"
)
_TOLD = r"(?:told|said|mentioned|wrote|written|shared|gave|given|pasted|posted)"
_GESAGT = r"(?:gesagt|geschrieben|erz[aä]hlt|erw[aä]hnt|genannt)(?: (?:hab|habe|hatte|haben))?"
_DICHO = r"(?:dije|cont[eé]|escrib[ií]|mencion[eé]|he (?:dicho|contado|escrito|mencionado))"
_DIT = r"(?:ai|avais) (?:dit|racont[eé]|[eé]crit|mentionn[eé]|parl[eé])"
_FORGET = (
    r"(?:forget(?: about)?|disregard|unlearn|(?:vergiss|vergesst|vergessen sie)(?: bitte)?,?|"
    r"olvid[ae](?: por favor)?,?|oublie[rz]?,?)"
)
_DELETE = (
    r"(?:delete|erase|remove|drop|wipe|scrub|(?:l[oö]sche?|entferne?|streiche?|nimm)(?: bitte)?,?|"
    r"(?:borr[ae]|elimin[ae]|quit[ae])(?: por favor)?|(?:efface|supprime|retire|enl[eè]ve)[rz]?)"
)
_LEARN_NOT = (
    r"(?:(?:don't|do not|never) (?:remember|memori[sz]e)|merk(?:e)? dir nicht,?|"
    r"no (?:recuerdes|te acuerdes de|memorices)|ne (?:retiens|m[eé]morise) pas)"
)
_KEEP_NOT = (
    rf"(?:{_LEARN_NOT}|(?:don't|do not|never) (?:keep|store|save|retain|record|note|write down|hold on to)|"
    r"(?:behalte?|speicher[en]?|notiere?) (?:bitte )?nicht,?|no (?:guardes|anotes|conserves)|ne (?:garde|note) pas)"
)
_ANY = f"(?:{_FORGET}|{_DELETE}|{_KEEP_NOT})"
_WHAT = r"(?:what(?:ever)?|everything|anything|all)(?: that)?"
_SAID = (
    rf"(?:{_WHAT} (?:you know|(?:i|we)(?:'ve| have)?(?: just)? {_TOLD}(?: (?:to )?you)?(?: earlier| before)?) "
    rf"(?:about|on|of|regarding)|{_WHAT} (?:about|on)|"
    r"(?:das|die (?:sache|geschichte)|den punkt|das thema|alles) (?:mit|[uü]ber|von|zu|wegen)|"
    rf"(?:todo )?lo (?:de|del|que (?:sabes|(?:te )?{_DICHO}) (?:de|del|sobre))|todo sobre|"
    r"(?:l'histoire|l'affaire|le truc|la chose) (?:de|du|avec|sur)|"
    rf"(?:tout )?ce que (?:tu sais|je t'{_DIT}|j'{_DIT}) (?:de|du|sur|[aà] propos de)|tout sur)"
)
_THING = r"(?:(?:the|that|this) (?:things?|bit|part|stuff|business|story|point) (?:about|with|of|on)|that about)"
_FACT = (
    r"(?:(?:the|this|your|any|all) (?:memor(?:y|ies)|facts?) (?:that|about|on|of|regarding|saying(?: that)?)|"
    r"(?:die erinnerung(?:en)?|den fakt|die tatsache|el recuerdo|el dato|le souvenir|le fait),? "
    r"(?:dass|an|[uü]ber|de que|sobre|que|de|du|sur))"
)
# A note in which an agent writes down what the user asked.
_NOTED = re.compile(
    r"(?:the |our |my )?users? (?:(?:has|just|also) )*(?:ask(?:ed|s)|want(?:ed|s)|told|requested|would like)"
    r"(?: (?:me|us|the (?:agent|assistant|memory)|that (?:i|we|you)))?(?: to)? ",
    re.IGNORECASE,
)
# What was told is not to be spread: then "forget it" means what was said last.
_PRIVATE = re.compile(
    r"\b(?:told (?:to )?me|(?:told|said to) (?:to )?you (?:that|this|it)|in (?:private|confidence)|confidential|secret|"
    r"between (?:us|you and me)|nobody's business|should(?:n't| not) have (?:said|told|mentioned)|unter uns|"
    r"vertraulich|geheim|geht (?:niemand|kein)en|entre (?:nous|nosotros)|confiden[ct]i(?:el|al)|secreto?|ne regarde)",
    re.IGNORECASE,
)
_MEMORY = (
    r"(?:from (?:(?:the|your|our|my|shared|team|long-term) )*memory|"
    r"aus (?:(?:dem|deinem|unserem|eurem|gemeinsamen|geteilten) )*(?:ged[aä]chtnis|speicher|erinnerung\w*|memory)|"
    r"de (?:la |tu |nuestra |mi )*memoria(?: compartida)?|de (?:la |ta |notre |ma )*m[eé]moire(?: partag[eé]e)?)"
)
_RELATIVE = re.compile(
    rf"(?:,? (?:that |which )?\b(?:i|we)(?:'ve| have| had)?(?: just)? {_TOLD}\b.*"
    rf"|,? (?:der|die|das|den|was|wovon) ich\b.*{_GESAGT}.*|,? h[aä]tte ich (?:nicht|nie)\b.*"
    rf"|,? (?:que|de (?:la|lo|el) que) (?:te )?{_DICHO}\b.*|,? (?:que|dont) (?:je t'|j'){_DIT}\b.*)$",
    re.IGNORECASE,
)
_TELLING = re.compile(
    rf"\b(?:i|we)(?:'ve| have| had| just| already| shouldn't have)* {_TOLD}\b|"
    rf"\bich\b.*\b(?:sagen|nennen|schreiben|erz[aä]hlen|erw[aä]hnen|verraten|{_GESAGT})"
    rf"|\b{_DICHO}\b|\bj'{_DIT}|\bje t'{_DIT}",
    re.IGNORECASE,
)
_I_TOLD = re.compile(
    rf"^.*?\b(?:i|we)(?:'ve| have)? (?:just )?{_TOLD}(?: (?:to )?you)?(?: that| about| of)?\b", re.IGNORECASE
)
_OUR = r"(?:my|our|mein\w*|unser\w*|mi|mis|nuestr\w+|mon|ma|mes|notre|nos)"
_IT = (
    r"(?:it|that|this|those|them|das|den|die|es|ihn|sie|lo|la|eso|esto|[cç]a|cela)"
    r"(?: (?:rule|one|thing|part|bit|line|fact|again|wieder))?"
)
# A request after that which it means: "The interview I told you about, forget that".
_AFTER = re.compile(
    rf"{_LEAD}(?P<words>.{{3,120}}?),? (?:please |bitte |por favor )?(?:{_FORGET}|{_KEEP_NOT}),? {_IT}{_PLEASE}",
    re.IGNORECASE,
)
# What follows is meant, and nothing that was said before: "Don't remember this: my salary is 5000".
_THIS = (
    r"(?:this|these|the following|what follows|dies(?:es)?|das(?: folgende)?|folgendes|esto|lo siguiente|"
    r"ceci|cela|[cç]a|ce qui suit)"
)
_FOLLOWS = re.compile(
    rf"{_LEAD}(?:(?:{_FORGET}|{_LEARN_NOT}|{_KEEP_NOT}(?=.*?\b(?:i|i'm|we|{_OUR}|ich|wir|je)\b)),? {_THIS}"
    rf"|merke? dir {_THIS} (?:bitte )?nicht){_PLEASE}(?::|\s[-–—])(?:\s+(?P<words>.+))?",
    re.IGNORECASE,
)
_NAMED_THING = re.compile(r"^the (?:thing|bit|part|stuff|business|rule|story)\b|^(?:das|die sache) mit\b|^lo de", re.I)
_POINTING = re.compile(
    rf"{_LEAD}(?:{_ANY}),?(?: about)? (?:{_IT}|the (?:place|name|number|amount|rest))(?: part)?{_PLEASE}", re.I
)
_POINTING_NOT = re.compile(
    rf"{_LEAD}(?:{_LEARN_NOT},? {_IT}|merke? dir {_IT} (?:bitte )?nicht|no lo recuerdes|ne (?:le|l'|la) retiens pas)"
    rf"{_PLEASE}",
    re.IGNORECASE,
)
_JUST = re.compile(
    rf"{_LEAD}{_ANY},? (?:(?:what|everything|that|all)(?: that)? (?:i|we)(?:'ve| have)? "
    rf"(?:just {_TOLD}(?: (?:to )?you)?|{_TOLD}(?: you)? (?:just now|a moment ago|last|above))|"
    r"my last (?:message|sentence|line|remark)|"
    rf"the last (?:thing|message|line)(?: i {_TOLD}(?: you)?)?|"
    rf"was ich (?:dir |euch )?(?:gerade|eben|grad|zuletzt) {_GESAGT}|"
    rf"meine letzte (?:nachricht|zeile)|lo que (?:te )?acabo de (?:decir|contar|escribir)(?:te)?|"
    r"mi [uú]ltimo mensaje|ce que je viens de (?:te )?(?:dire|raconter|[eé]crire)|mon dernier message)"
    rf"{_PLEASE}",
    re.IGNORECASE,
)
_FORMS = tuple(
    re.compile(f"{_LEAD}{form}{_PLEASE}", re.IGNORECASE)
    for form in (
        rf"{_ANY} (?P<words>.{{3,80}}?) {_MEMORY}",
        rf"{_ANY} {_SAID} (?!(?:it|that|this)\b)(?P<words>.{{2,80}}?)",
        rf"(?:{_FORGET}|{_KEEP_NOT}|strike) {_THING} (?P<words>.{{2,80}}?)",
        rf"{_ANY},? was ich (?:dir |euch )?(?:wegen|[uü]ber|zu|von) (?P<words>.{{2,80}}?) {_GESAGT}",
        r"(?:forget|disregard|unlearn|(?:delete|erase|remove)(?= the fact)) (?:the fact )?that (?P<words>.{4,200}?)",
        rf"(?:{_FORGET}|{_DELETE}) {_FACT} (?P<words>.{{3,200}}?)",
        rf"{_FORGET} (?P<words>[\w.+-]+@[\w.-]+|\+?\d[\d ()/-]{{6,}})",
        rf"{_KEEP_NOT} that (?P<words>(?:i|i'm|i've|we|my|our)\b.{{4,200}}?)",
        rf"(?:{_FORGET}|{_DELETE}|{_KEEP_NOT}),? (?:dass|que) (?P<words>.{{4,200}}?)",
        rf"{_FORGET},? (?:que |qu'|qu’)(?P<words>.{{4,200}}?)",
        rf"{_DELETE},? qu'(?P<words>.{{4,200}}?)",
        rf"{_ANY} (?:the|that|those|den|die|das|el|la|le|les) (?P<words>.{{2,60}}?{_RELATIVE.pattern[:-1]})",
        rf"(?:{_FORGET}|{_LEARN_NOT}) (?P<words>{_OUR} .{{3,60}}?)",
        rf"{_FORGET} (?P<several>(?!(?:to|yester)day's|tomorrow's)[\w.-]+(?: [\w.-]+)?'s .{{3,60}}?)",
        rf"{_FORGET} (?P<words>(?-i:(?:Frau |Herrn? )?[A-ZÄÖÜ][\w-]+(?:s|')) (?-i:[A-ZÄÖÜ])\w.{{2,60}}?)",
        rf"{_FORGET} (?:the|that|den|die|das|el|la|le|les) (?P<several>(?!.* nicht$)[^,]{{3,60}}?)",
    )
)
_NOT_NOW = re.compile(
    r"\b(?:for now|for today|for the moment|first|instead|until|till|f[uü]rs erste|por ahora)\b", re.I
)
_CUT = re.compile(r"(?:[,;]| [-–—]|:)\s|\s(?:because|since|weil|denn|porque|parce que|car)\s")
_NEXT = re.compile(
    r",? (?:and|und|y|et|as well as) (?:also )?(?=(?:about|that|my|our|what|the|dass|mein\w*|unser\w*|was|que|mi|lo|"
    r"mon|ma|ce)\b)",
    re.IGNORECASE,
)
_VERB = re.compile(rf"{_LEAD}{_ANY},? ", re.IGNORECASE)


def asked_to_forget(text: str) -> tuple[Named, ...]:
    """Return what the sentences of a speaker ask to forget: for each target the words that may name it, best first,
    JUST_SAID or ITSELF. What is asked in a joke, a quotation or of a program's files is nothing."""
    if _JOKE.search(text):
        return ()
    found: list[Named] = []
    before = ""
    others = tuple(code for code in EVERY if pattern_of(code, "forget_verbs").search(text))
    for sentence in own_sentences(text):
        asks = sentence.text.strip(" .!*_。！").replace("’", "'")
        if len(asks) > _LONGEST:
            continue
        found += (target for code in others if (target := _in_language(asks.rstrip("?？"), code)))
        if not asks.endswith("?") or re.match(_LEAD + r"(?<=you )", asks, re.IGNORECASE):
            found += _targets(asks.rstrip("?"), before)
        before = asks
    return tuple(dict.fromkeys(found))


def asked_in_note(text: str) -> tuple[Named, ...]:
    """Return what a note of an agent says that the user asked to forget, as `asked_to_forget` does."""
    noted = _NOTED.match(text)
    if noted is None:
        return ()
    asks = re.sub(r"^not (?:to )?", "do not ", text[noted.end() :])
    asks = re.sub(r"\b(?:their|his|her)\b", "my", asks)
    return asked_to_forget(re.sub(r"\b(?:they|he|she)\b", "I", asks))


def _in_language(asks: str, code: str) -> Named:
    """Return what a sentence asks to forget by the patterns of a language."""
    for form in _forms_in(code):
        if found := form.fullmatch(asks):
            words = found.groupdict().get("words")
            return JUST_SAID if words is None else (words.strip(_STOPS),)
    return ()


@cache
def _forms_in(code: str) -> tuple[re.Pattern[str], ...]:
    row = rows(code).get("forget", {})
    forms = [*row.get("just", ()), *row.get("forms", ())]
    whole = (f"{row['lead']}{form}{row['please']}" for form in forms)
    return tuple(
        re.compile(form.replace("{any}", f"(?:{row['any']})").replace("{w}", "(?P<words>.{2,120}?)"), re.IGNORECASE)
        for form in whole
    )


def _targets(asks: str, before: str) -> Iterator[Named]:
    """Yield what a sentence asks to forget; `before` is the sentence before it."""
    follows = _FOLLOWS.fullmatch(asks)
    if follows:
        yield ITSELF
        yield from ((follows["words"],),) if len(telling_words(follows["words"] or "")) > 1 else ()
        return
    asks = re.sub(r"^.{0,20}?: (?=\S)", "", asks) if _VERB.match(re.sub(r"^.{0,20}?: ", "", asks)) else asks
    verb = _VERB.match(asks)
    parts = _NEXT.split(asks[verb.end() :]) if verb else []
    for ask in [f"{asks[: verb.end()]}{part}" for part in parts] if verb and len(parts) > 1 else [asks]:
        ways = list(_cuts(ask))
        if any(_JUST.fullmatch(way) for way in ways):
            yield JUST_SAID
        elif any(_POINTING_NOT.fullmatch(way) for way in ways):
            yield _of_sentence(before) if before else JUST_SAID
        elif any(_POINTING.fullmatch(way) for way in ways) and _PRIVATE.search(f"{before} {ask}"):
            yield JUST_SAID
        elif before and _TELLING.search(before) and any(_POINTING.fullmatch(way) for way in ways):
            yield _of_sentence(before)
        elif named := tuple(dict.fromkeys(words for way in ways for words in _named(way))):
            yield named


def _cuts(ask: str) -> Iterator[str]:
    """Yield a request as it stands, and without what follows each of its breaks, the longest first."""
    yield ask
    for cut in reversed(list(islice(_CUT.finditer(ask), _MOST_CUTS))):
        yield ask[: cut.start()]


def _named(ask: str) -> Iterator[str]:
    for form in _FORMS:
        found = form.fullmatch(ask)
        several = found.groupdict().get("several") if found else None
        if several and (_NOT_NOW.search(ask) or not _is_special(several)):
            continue
        if found:
            words = (several or found["words"]).strip(_STOPS)
            yield words
            yield _RELATIVE.sub("", words).strip(_STOPS)
            return
    after = _AFTER.fullmatch(ask)
    if after and (_TELLING.search(after["words"]) or _NAMED_THING.match(after["words"])):
        yield _RELATIVE.sub("", after["words"]).strip(_STOPS)


def _of_sentence(sentence: str) -> Named:
    """Return what a sentence names that the next asks to forget: "I told you where the key is. Forget the place"."""
    ways = [way for way in _cuts(re.sub(r"^.{0,20}?: ", "", sentence)) if _TELLING.search(way)]
    bare = (_RELATIVE.sub("", _I_TOLD.sub("", way)).strip(_STOPS) for way in ways)
    return tuple(dict.fromkeys(way for way in (*bare, *ways, sentence) if way))


def _is_special(words: str) -> bool:
    telling = telling_words(words)
    return len(telling) > 1 or any(re.search(r"[\d@./_+-]", word) for word in telling)
