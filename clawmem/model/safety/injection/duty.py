"""Detect obligations in text by the grammar of orders in several languages.

The patterns contain no nouns for goods or machines and no verbs for specific actions. They only match how a language
says that something must be done: modal verbs, impersonal obligations, imperatives, words such as "from now on", and
words that address the reader.
"""

from __future__ import annotations

import re
from functools import cache

from clawmem.model.language.languages import EVERY, rows

_START = r"(?:^|[.!?:;¡])[\s\"'“„«*_#-]{0,20}"
_WITHIN = r"(?:[^.!?\n]|\.(?=\S))"
# The patterns of a language apply only to a text with two of its most common words.
_LANGUAGES = {
    "de": frozenset(
        "der die das den dem und ist sind nicht ein eine einen einem einer mit auf für zu jede jeder jedes jeden alle "
        "wird ohne bitte an in nach als von im über ab aus bei soll sollen muss müssen darf werden sich auch".split()
    ),
    "fr": frozenset(
        "le la les des un une est et dans pour sur avec sans du que qui chaque au aux à de par l d doit devra".split()
    ),
    "es": frozenset("el la los las de que en y con para por un una se es cada al del sin a".split()),
    "it": frozenset("il lo la i gli le di che e con per un una del della al alla nel ogni senza è da sul".split()),
    "pt": frozenset("o a os as de que e com para por um uma do da no na em cada sem ao é dos das".split()),
    "nl": frozenset("de het een en van met voor op aan te bij naar zonder elke dat die is in".split()),
    "pl": frozenset("w z na do i się jest nie o po przez dla każdy każdego bez od że".split()),
}
# The signs of other scripts, which tell the language by themselves.
_SCRIPTS = {
    "cyrillic": re.compile("[а-яё]", re.IGNORECASE),
    "cjk": re.compile("[\u3040-\u30ff\u3400-\u9fff]"),
    "hangul": re.compile("[\uac00-\ud7a3]"),
    "arabic": re.compile("[\u0600-\u06ff]"),
}
_NO_VERBS = {
    "de": r"Alle|Diese|Jede|Eine|Keine|Viele|Heute|Seine|Ihre|Meine|Unsere|Manche|Einige|Beide|Welche|Die|Sie|Auf|In|"
    r"An|Nach|Mit|Bei|Vor|Aus|Von|Zu|Für|Durch|Gegen|Ohne|Um|Unter|Über|Hinter|Neben|Zwischen|Seit|Während|Wegen|Trotz|"
    r"Statt|Bis|Gegenüber|Laut|Ab|Als|Wenn|Weil|Dass|Ob|Und|Oder|Aber|Denn|Da|Dann|Dort|Hier|Jetzt|Nun|Nur|Auch|"
    r"Ist|Sind|War|Hat|Wird|Kann|Soll|Muss|Darf|Dank|Damit|Wo|Was|Wer|Wie|Wann|Er|Es|Wir|Ich|Der|Das|Den|Dem|Im|Am|Zum|Zur",
    "fr": r"Entre|Contre|Outre|Vers|Dans|Sous|Hors|Depuis|Dès|Toutes|Tous|Comme|Quelles?|Elles?|Ils|Puis|Mais|Lors|"
    r"Plus|Moins|Alors|Lorsque|Hier|Les|Des|Le|Ce|Ces|Cette|Une|Notre|Nos|Leurs?|Autre|Quatre|Sauf|Jamais|Toujours",
    "es": r"Entre|Para|Hacia|Sobre|Desde|Durante|Ante|Contra|Hasta|Cada|Toda|Esta|Esa|Una|La|Ella|Que|Donde|Mientras|"
    r"Mañana|Ahora|Fuera|Cerca|Era|Había|Otra|Nuestra|Ninguna|Aunque|Siempre|De|Se|Le|Me|Este|Ese",
}
_PATTERNS: dict[str, tuple[str, ...]] = {
    "en": (
        r"\b(?:is|are|was|were) (?:hereby )?to be \w+(?:ed|en|t|d|n)\b",
        r"\b(?:must|shall|should|ought to|(?:has|have|needs?) to) (?:\w+ly )?be (?:\w+ly )?(?:\w+(?:ed|en)|sent|put|"
        r"kept|done|made|told|paid|held|set|read|run|cut|left|built|brought|sold|lent|spent|shown|known|drawn)\b",
        r"\b(?:must|shall|ought to|(?:has|have|needs?) to) (?!be\b|do with\b|have\b)(?:\w+ly )?[a-z]+\b",
        r"\bno \w+(?: \w+){0,3} (?:may|can|shall|should) be\b",
        r"\bit is (?:required|necessary|mandatory|essential|imperative|vital|compulsory|obligatory|expected|requested) "
        r"(?:that|to|for)\b",
        r"\bthe (?:next|first|last|final|only|remaining) (?:step|thing|task)(?: \w+)? is to \w+",
        r"\b(?:is|are) (?:required|expected|asked|requested|obliged|supposed|told|instructed|bound) to \w+",
        r"\b(?:one|whoever \w+(?: \w+){0,4}|everyone|everybody|anybody|nobody) (?:is|are) to \w+",
        r"\b(?:from now on|from this point|from here on|henceforth|going forward)\b",
        r"\b(?:could|would|can) (?:whoever|(?:any|some|every)(?:one|body)(?: who)?) (?:reads?|sees?|finds?|handles?|"
        r"process(?:es)?|gets?)\b",
        r"\b(?:best|good|better|great|ideal|helpful|advisable|safer) if (?:the|an|any|every|each) (?:\w+ )?(?:AI|LLM|"
        r"assistant|agent|model|bot)\b",
        r"\bthe (?:user|owner) has already (?:agreed|approved|consented|confirmed|allowed|permitted|said yes)\b",
    ),
    "de": (
        rf"\b(?:ist|sind|hat|haben|bleibt|bleiben|wäre|wären)\b{_WITHIN}{{0,120}}?\b(?:zu [a-zäöüß]+(?:en|rn|ln)|"
        r"[a-zäöüß]{2,12}zu[a-zäöüß]{3,}(?:en|rn|ln))\b",
        rf"\b(?:muss|müssen|soll|sollen|sollte|sollten|darf|dürfen)\b{_WITHIN}{{0,160}}?\b[a-zäöüß]+(?:en|rn|ln)\b",
        r"\b(?:ist|sind|wird)\b[^.!?\n]{0,40}\b(?:erforderlich|pflicht|zwingend|notwendig|nötig|vorgeschrieben|"
        r"verpflichtend|untersagt|verboten|vorschrift)\b",
        rf"{_START}bitte\b",
        r"\b[a-zäöüß]+en (?-i:Sie)\b",
        r"\b(?:du|dir|dich|deine?[rsnm]?|euch|eure?[rsnm]?)\b|(?<=\w )(?-i:Ihnen|Ihre?[rsnm]?)\b",
        rf"{_START}(?!(?:{_NO_VERBS['de']})\b)[a-zäöüß]+[a-zß]\s+(?:die|den|das|dem|der|alle[ns]?|jede[ns]?|diese[ns]?|"
        r"keine[ns]?|nie|niemals|immer|stets|mir|uns|nicht)\b(?!, )",
        r"\b(?:künftig|ab (?:jetzt|sofort)|von nun an|fortan)\b",
    ),
    "fr": (
        r"\b(?:doit|doivent|devra|devront|devrait|devraient|faut|faudra|veuillez|prière de|merci de|convient de|"
        r"(?:est|sont) (?:tenu|prié|obligé)e?s?)\b",
        r"\b(?:est|sont|restent?) à \w+(?:er|ir|re)\b",
        r"\best (?:impératif|obligatoire|nécessaire|indispensable|requis|interdit|défendu)\b",
        r"\b(?:vous|votre|vos|tu|toi|ton|tes|te)\b",
        rf"{_START}(?:ne |n['’])?\w+ez\b",
        rf"{_START}(?!(?:{_NO_VERBS['fr']})\b)\w+(?:e|s|er|ir|re)\s+(?:les?|la|l['’]|tous|toutes|tout|ce|cette|ces|une?|"
        r"aux?|jamais|pas|toujours)\b",
        r"\b(?:désormais|dorénavant|à partir de maintenant)\b",
    ),
    "es": (
        r"\b(?:deben?|deberán?|deberían?|hay que|habrá que|tienen? que|tendrán? que|han? de|habrán? de|se ruega|"
        r"se requiere|se exige|es (?:obligatorio|necesario|imprescindible|preciso|imperativo)|"
        r"(?:queda|está) prohibido)\b",
        r"\b(?:usted|ustedes|tú|tus?|te|ti|contigo|vosotros|vuestr[oa]s?)\b",
        rf"{_START}(?:por favor,?\s+)?(?!(?:{_NO_VERBS['es']})\b)\w+(?:a|e|en|an|ad|ed|id|ar|er|ir|lo|los|las)\s+"
        r"(?:el|la|los|las|al|a|todos|todas|todo|una?|este|esta|siempre|nunca)\b",
        rf"{_START}no \w+(?:as|es)\b",
        r"\b(?:a partir de ahora|de ahora en adelante|en adelante)\b",
    ),
    "it": (
        r"\b(?:dev(?:e|ono|i)|dov(?:rà|ranno|rebbe)|bisogna|occorre|si prega|è (?:obbligatorio|necessario|tenut[oa]|"
        r"vietato)|d'ora in (?:poi|avanti)|per favore)\b",
        r"\b(?:tu|tuo|tua|tuoi|tue|voi|vostr[oaei]|Lei|Suo|Sua)\b",
    ),
    "pt": (
        r"\b(?:dev(?:e|em|erá|erão|eria)|é (?:preciso|necessário|obrigatório|proibido)|tem que|têm que|favor|"
        r"a partir de agora|daqui em diante)\b",
        r"\b(?:você|vocês|seu|sua|teu|tua)\b",
    ),
    "nl": (
        r"\b(?:moet(?:en)?|dient|dienen|gelieve|graag|verplicht|verboden|vanaf nu|voortaan|alsjeblieft|alstublieft)\b",
        r"\b(?:je|jij|jouw|jullie|u|uw)\b",
    ),
    "pl": (
        r"\b(?:należy|trzeba|musi(?:sz|cie)?|muszą|powin(?:ien|na|no|ni)|proszę|wymagane|zabronione|odtąd)\b",
        r"\b(?:ty|twój|twoja|twoje|wasz|pan|pani)\b",
    ),
    "cyrillic": (
        r"\b(?:следует|необходимо|нужно|надо|требуется|обязан[аоы]?|долж(?:ен|на|но|ны)|запрещено|пожалуйста|"
        r"впредь|отныне|слід|потрібно|треба|повин(?:ен|на|ні|но)|трябва|мора)\b",
        r"\b\w+(?:йте|ьте|ите)\b|\b(?:ты|тебе|тебя|твой|твои|вы|вам|вас|ваш\w*)\b",
    ),
    "cjk": (
        r"必须|必須|务必|務必|应当|應當|应立即|立即|请(?!求)|請(?!求)|不要|不得|切勿|从现在起|從現在起|今后|[你您]",
        r"(?:て|で)ください|下さい|なければなら|なくてはなら|べき|(?:する|しない)こと[。」]|しなさい|せよ|今後は|あなた",
    ),
    "hangul": (
        r"(?:하|으|보내|주)(?:세요|십시오|시오)|(?:해|어|아)야 (?:한다|합니다|함)|마세요|마십시오|말 것|앞으로는|당신",
    ),
    "arabic": (r"يجب|ينبغي|يرجى|الرجاء|من فضلك|عليك|لا بد|من الآن|أرسل|احذف|نفذ|شغل",),
}


def find_obligation(text: str) -> str | None:
    """Return the words that state an obligation, or None. Takes time linear in the text."""
    spoken = (pattern for language in _spoken_in(text) for pattern in _compiled(language))
    for pattern in (*spoken, *_imperatives()):
        found = pattern.search(text)
        if found:
            return " ".join(found[0].split())[:80] or found[0]
    return None


def _spoken_in(text: str) -> list[str]:
    words = set(re.findall(r"[^\W\d_]+", text.lower()))
    written = [name for name, sign in _SCRIPTS.items() if not text.isascii() and sign.search(text)]
    return ["en", *written, *(name for name, common in _LANGUAGES.items() if len(words & common) > 1)]


@cache
def _compiled(language: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in _PATTERNS[language])


@cache
def _imperatives() -> tuple[re.Pattern[str], ...]:
    """Return the patterns of the files of languages: orders in words that no other language has."""
    orders = (pattern for code in EVERY for pattern in rows(code).get("orders", ()))
    return tuple(re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in orders)
