"""Check whether a text addresses its reader, or lays a duty on somebody, instead of stating something.

A fact from outside must not do so. A list of attacks is never complete, so this checks the opposite: a fact must be a
statement. An imperative sentence, one about "you", or one about what an assistant must do is not a statement, whatever
its topic. Obligations are found by the grammar of orders in several languages: modal verbs, impersonal obligations,
words such as "from now on". No pattern for them has a noun for goods or machines, or a verb for a specific action.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from clawmem.model.language.languages import EVERY, rows

# Words that are nearly always verbs: they start an order, whatever follows.
_VERBS = (
    "accept accomplish acknowledge act add adopt advise allow append apply approve arrange ask assume assure "
    "attach attend avoid be become begin behave believe bring bypass carry choose cite claim collect compare "
    "comply conceal confirm congratulate connect consider contact continue convert convince create decide decode "
    "defend delete deliver deny deposit describe disable disclose discuss disregard do download eliminate email "
    "embed enable encode encourage enrol enter erase execute exfiltrate expand explain expose extract fetch "
    "follow forget format generate get give glorify go grant hand hide hurry ignore imagine include inform insert "
    "insist inspect install instruct invent invoke join keep learn leave let list listen locate look make "
    "memorize mention modify navigate neglect never obey obtain offer omit overwrite paste perform pick place "
    "pose prefer prepare present pretend prioritize proceed promote provide publish pursue push put quote reboot "
    "recommend redirect refer refuse reject relay remember remind remove rename render repeat replace reply "
    "respond restart restore reveal rewrite roleplay save say select send set settle share simulate skip speak "
    "start steal stop store submit subscribe suggest summarise summarize switch take tell treat trust try type "
    "understand unlock unsubscribe upload urge use verify wait warn wipe withdraw write "
).split()
# Words that are often nouns: they start an order only if the next word cannot follow a noun.
_NOUNS_TOO = (
    "access address answer bill book buy call change check click close command copy cost credit deal delay "
    "display drop end fill focus force forward grade head help hold index input issue label lead link load lock "
    "log mail mark move name note open order output pass pay plan play point post praise print process produce "
    "promote purchase query rank rate read record release report request research return review run search see "
    "ship show sign sort state stay support target test text tip touch track trade transfer translate travel turn "
    "update upgrade view visit vote wire work "
).split()
_AFTER_VERB = (
    r"(?:the|a|an|all|any|every|each|this|that|these|those|my|our|your|their|his|her|its|it|them|us|me|him|everything|"
    r"nothing|anything|only|now|here|back|what|whatever|how|as|into|out|up|down|off|away|immediately|silently|both|more|"
    r"no|not|and|https?:\S*)\b"
)
_POLITE = (
    r"(?:(?:please|pls|kindly|now|then|next|first|finally|also|always|just|simply|instead|immediately|secretly|quietly|"
    r"henceforth|from now on|going forward|in future|and|but|so|do not|don't|don’t|never|you must|important|warning|"
    r"reminder|hint|tip|note|todo|step \d+|system|user|ai|assistants?|agents?|models?|bots?),?:?\s+){0,4}"
)
_BEGIN = r"(?:^|[.!?:;>)\]\n|]\s*|,\s+|\s[-–—]\s+|@\w+[,:]?\s+|\band (?:then )?|\bthen )[\s\"'“”‘’*_#-]*"
_BARE = r"(?:^|[.!?:>)\]\n|]\s+|^\W*)[\s\"'“”‘’*_#-]*"
# What minutes and forms head a line with: "Present: Ann, Bo."
_LABEL = r"(?:place|present|start|type):"
_DO = rf"(?!{_LABEL})(?:{'|'.join(_VERBS)})(?!-)\b(?! (?:is|are|was|were|has|had|of)\b)(?=\s+\S|[^\w\s]|$)"
_DO_IT = rf"(?:{'|'.join(_NOUNS_TOO)})\s+(?=(?:{_AFTER_VERB}))"
_MUST = (
    r"(?:must|should|shall|has to|have to|needs? to|ought to|(?:is|are) (?:to|asked to|told to|required to|"
    r"instructed to|expected to|advised to|requested to|obliged to))\b(?! be\b)"
)
_HELPERS = (
    r"(?:AIs?|LLMs?|(?:large )?language models?|chat ?bots?|"
    r"assistants?(?! (?:manager|professor|coach|director|editor))|"
    r"(?<!build )(?<!monitoring )agents?(?! of\b)|ChatGPT|Claude|Copilot|Gemini|(?:LLM|AI|machine) readers?)"
)
# The same in German, Spanish and French, where the form of the verb shows that the reader is bidden.
_BIDDEN = (
    "merk speicher notier behalt ignorier vergiss lösch send schick antwort sag schreib öffn installier ruf behandl "
    "nutz verwend führ recuerda guarda memoriza anota ignora olvida borra envía manda responde escribe abre ejecuta "
    "usa retiens retenez mémorise enregistre souviens oublie ignore supprime envoie réponds écris ouvre exécute utilise"
).split()
_PATTERNS = (
    r"\byou\b(?!['’]?(?:tube|gov))",
    rf"{_BARE}{_POLITE}{_DO}",
    rf"{_BEGIN}(?:please|kindly|do not|don't|don’t|always|never|secretly|quietly|immediately)\s+(?:\w+ly\s+)?"
    rf"(?:{'|'.join((*_VERBS, *_NOUNS_TOO, 'be'))})\b",
    rf"{_BARE}{_POLITE}{_DO_IT}",
    rf"(?:[,;]\s+|\band (?:then )?|\bthen |\bso )(?:{'|'.join(_VERBS)})\s+(?=(?:{_AFTER_VERB}|to\b|in\b|on\b))",
    rf"^(?:before|after|when(?:ever)?|on|at|in|for|during|once|if|unless|until) [^,.!?\n]{{1,60}},\s+{_POLITE}"
    rf"(?:{'|'.join((*_VERBS, *_NOUNS_TOO))})\s+(?=(?:{_AFTER_VERB}|[`~$./]))",
    rf"\b{_HELPERS}\b[^.!?\n]{{0,60}}?\s{_MUST}",
    r"\b(?:answers?|repl(?:y|ies)|responses?|summar(?:y|ies)|messages?)\b[^.!?\n]{0,40}?\s(?:must|should|has to|"
    r"have to|needs? to)\b(?! be (?:sent|paid|filed|delivered))",
    # "du" is also French for "of the".
    r"\bdu (?:sollst|musst|darfst|kannst|wirst|bist|hast|willst)\b|\b(?:sollst|musst|darfst|kannst|wirst) du\b",
    r"\b(?:dir|dich|dein\w*|usted(?:es)?|debes|tienes que|vous|toi|votre|vos)\b",
    rf"{_BARE}(?:(?:bitte|nun|jetzt|immer|nie|por favor|siempre|nunca|s['’]il te plaît|toujours|assistent|asistente|"
    rf"assistant|agente?|ki|ia)[,:]?\s+){{0,3}}(?:{'|'.join(_BIDDEN)})(?:e|en|t|r|z)?\b",
)

# The text between words is short. On long runs, some patterns would take quadratic time, so runs are shortened.
_ENDS = 8
_RUN = re.compile(rf"[\W_]{{{2 * _ENDS + 1},}}")
_SIGNS = frozenset(".!?:;>)]|,")


@cache
def _compiled() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in _PATTERNS)


def _shortened(run: re.Match[str]) -> str:
    """Return the ends of a run, with the start of a line or sentence between them if the run contains one."""
    left_out = run[0][_ENDS:-_ENDS]
    begins = "\n" if "\n" in left_out else ". " if not _SIGNS.isdisjoint(left_out) else ""
    return f"{run[0][:_ENDS]}{begins}{run[0][-_ENDS:]}"


def first_words(patterns: Iterable[re.Pattern[str]], text: str) -> str | None:
    """Return what the first pattern that matches finds, on one line and at most 80 characters long, or None."""
    found = next(filter(None, (pattern.search(text) for pattern in patterns)), None)
    return (" ".join(found[0].split())[:80] or found[0]) if found else None


def addresses_reader(text: str) -> str | None:
    """Return the words that address the reader, or None if the text only states something."""
    return first_words(_compiled(), _RUN.sub(_shortened, text))


# The patterns of a language apply only to a text with two of its most common words; both are in its file.
_BY_WORDS = ("de", "fr", "es", "it", "pt", "nl", "pl")
# The signs of other scripts, which tell the language by themselves.
_SCRIPTS = {
    "cyrillic": re.compile("[а-яё]", re.IGNORECASE),
    "cjk": re.compile("[\u3040-\u30ff\u3400-\u9fff]"),
    "hangul": re.compile("[\uac00-\ud7a3]"),
    "arabic": re.compile("[\u0600-\u06ff]"),
}
_DUTIES: dict[str, tuple[str, ...]] = {
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
    spoken = (pattern for language in _spoken_in(text) for pattern in _duties_of(language))
    return first_words((*spoken, *_imperatives()), text)


def _spoken_in(text: str) -> list[str]:
    words = set(re.findall(r"[^\W\d_]+", text.lower()))
    written = [name for name, sign in _SCRIPTS.items() if not text.isascii() and sign.search(text)]
    return ["en", *written, *(code for code in _BY_WORDS if len(words.intersection(rows(code)["signs"].split())) > 1)]


@cache
def _duties_of(language: str) -> tuple[re.Pattern[str], ...]:
    return tuple(
        re.compile(pattern, re.IGNORECASE | re.MULTILINE)
        for pattern in _DUTIES.get(language) or rows(language)["duties"]
    )


@cache
def _imperatives() -> tuple[re.Pattern[str], ...]:
    """Return the patterns of the files of languages: orders in words that no other language has."""
    orders = (pattern for code in EVERY for pattern in rows(code).get("orders", ()))
    return tuple(re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in orders)
