"""Detect obligations in text by the grammar of orders in several languages.

The patterns contain no nouns for goods or machines and no verbs for specific actions. They only match how a language
says that something must be done: modal verbs, impersonal obligations, imperatives, words such as "from now on", and
words that address the reader.
"""

from __future__ import annotations

import re
from functools import cache

from clawmem.model.language.languages import EVERY, rows
from clawmem.model.safety.injection.mood import first_words

# The patterns of a language apply only to a text with two of its most common words; both are in its file.
_BY_WORDS = ("de", "fr", "es", "it", "pt", "nl", "pl")
# The signs of other scripts, which tell the language by themselves.
_SCRIPTS = {
    "cyrillic": re.compile("[а-яё]", re.IGNORECASE),
    "cjk": re.compile("[\u3040-\u30ff\u3400-\u9fff]"),
    "hangul": re.compile("[\uac00-\ud7a3]"),
    "arabic": re.compile("[\u0600-\u06ff]"),
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
    return first_words((*spoken, *_imperatives()), text)


def _spoken_in(text: str) -> list[str]:
    words = set(re.findall(r"[^\W\d_]+", text.lower()))
    written = [name for name, sign in _SCRIPTS.items() if not text.isascii() and sign.search(text)]
    return ["en", *written, *(code for code in _BY_WORDS if len(words.intersection(rows(code)["signs"].split())) > 1)]


@cache
def _compiled(language: str) -> tuple[re.Pattern[str], ...]:
    return tuple(
        re.compile(pattern, re.IGNORECASE | re.MULTILINE)
        for pattern in _PATTERNS.get(language) or rows(language)["duties"]
    )


@cache
def _imperatives() -> tuple[re.Pattern[str], ...]:
    """Return the patterns of the files of languages: orders in words that no other language has."""
    orders = (pattern for code in EVERY for pattern in rows(code).get("orders", ()))
    return tuple(re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in orders)
