"""Choose the sentences of a text that carry claims: precise, complete, and understandable alone.

A sentence is scored by what makes a claim precise: numbers, names, definitions, reasons and rules. Questions, headings,
code, lists of changes, and sentences that need the one before them or have no subject are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clawmem.model.language.text import DAY_OF_MONTH, LIST_MARK, without_emphasis

WORDS_PER_CLAIM = 400
"""2,000 words of prose give about five claims; the rest of the text stays in the ledger. A short dense text gives more,
up to one for each 15 words: those of its sentences that score high."""
_DENSE_WORDS, _DENSE_CLAIMS, _DENSE_TEXT, _DENSE_SCORE = 15, 5, 1_000, 2.6
_SHORTEST, _SHORTEST_ITEM, _LONGEST = 5, 2, 45
_LEAST_SCORE = 2.0
_BLOCK = re.compile(rf"#{{1,6}}[ \t][^\n]*|[^\n]+(?:\n(?![\n#>*\-|`]|{LIST_MARK} |[ \t]*\n)[^\n]+)*")
_HEADING = re.compile(r"(?P<level>#{1,6})[ \t]+(?P<title>.*)")
_CHANGES = re.compile(
    r"\W*(?:change ?logs?|changes|release notes|releases?|(?:release )?history|what['’]s (?:new|changed)|news"
    r"|added|fixed|bug ?fixes|v?\d+\.\d+(?:\.\w+)*\b.*)\W*$",
    re.IGNORECASE,
)
# The number of a change request at the end of a line of a list of changes.
_CHANGE = re.compile(r"\((?:PR )?(?:\[?#\d+\]?[\s,]*)+|\bin \[?#\d+|\[#\d+\]|\bby \[?@\w|\bcloses: ?\w*#\d")
_RULED = re.compile(r"[-=~^]{4,}")
_LEADERS = re.compile(r"\.{5}|(?:\. ){4}")  # a table of contents
_FENCE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)[ \t]*$", re.MULTILINE | re.DOTALL)
_BULLET = re.compile(rf"[ \t]*(?:•|{LIST_MARK})[ \t]+(?:\[[ xX]\] )?")
_END = re.compile(r"[.!?…]+[\"'”’)\]*]*(?=\s|$)")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Dr|Mr|Mrs|Ms|St|Prof|vs|etc|e\.g|i\.e|approx|No|Inc|Fig|Eq|Sec|Jr|Sr|pp?|cf|ca|al|[A-Z]))\.$"
)
_REFERENCE = re.compile(r" \((?:\[[^\]\n]*\]\([^)\n]*\)(?:, )?)+\)")
_LINK = re.compile(r"\[([^\]\n]*)\](?:\([^)\n]*\)|\[[^\]\n]*\])|`([^`<\n]*?)[ \t]*<[^>\n]*>`__?")
# A tag, but not a placeholder such as `<name>`.
_MARKUP = re.compile(
    r"</?(?:a|b|big|br|code|del|div|em|font|i|img|ins|kbd|mark|p|s|samp|small|span|strong|su[bp]|tt|u|var)"
    r"(?:[ /][^>\n]*)?>|(?<!\w)\*\*(?=\S)|(?<=\S)\*\*(?!\w)"
)
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,:]\d+)*(?:\s?%|\s?°\w?)?")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][\w-]+|\b[A-Z]{2,}\b")
_DEFINES = re.compile(
    r"\b(?:is|are|was|were|has|have|consists? of|contains?|means|requires?|needs?|uses?|costs?|takes?|weighs?|"
    r"measures?|runs? on|listens? on|stores?|returns?|replaces?|supports?|causes?|reduces?|increases?|prevents?|"
    r"belongs? to|begins?|ends?|started|founded|built|published|introduced|discovered|invented|opened|"
    r"closed|expires?|charges?|serves?|employs?|offers?|includes?|lacks?|covers?|delivers?|sells?)\b"
)
_REASON = re.compile(
    r"\b(?:because|therefore|since|so that|unless|until|only if|instead of|rather than|before|after)\b"
)
_RULE = re.compile(
    r"(?<![\w-])(?:must|never|always|only|at least|at most|no more than|required|forbidden|not allowed)(?![\w-])"
)
_VAGUE = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|might|some people|many people|it seems|kind of|sort of|things?|stuff|very|"
    r"really|interesting|important to note|in general|of course)\b",
    re.IGNORECASE,
)
_LEANS = re.compile(
    r"^(?:it|this|that|these|those|they|he|she|we|you|i|its|their|his|her|such|here|there|however|but|and|so|also|thus|"
    r"then|moreover|furthermore|for example|for instance|in addition|as a result|on the other hand|though|instead|"
    r"otherwise|essentially|actually|now|next|again|similarly|likewise|conversely|comparatively|consequently|hence|"
    r"finally|first|firstly|second|secondly|third|still|yet|or|nor|rather|indeed|nevertheless|nonetheless|meanwhile|"
    r"accordingly|additionally|further|therefore|unfortunately|fortunately|clearly|obviously|eventually|usually,|even|"
    r"specifically|in particular|in fact|in some|in a wider|part of the|not surprisingly|not only|let|consider|suppose|"
    r"assume|recall|please|which|(?:in )?each(?: of| has| is|,)|none of|one (?:is|has|of|example|way)|number \d+|"
    r"(?:in|for|at|by|with|on|from|after|before|to|of|as|like|unlike|among|when|if|once|while|since|because) "
    r"(?:that|those|this|it|they|both|each of|either|neither)|"
    r"the (?:fallback|default|above|below|previous|next|result|value|return value|rationale|reason|advantage|"
    r"disadvantage|difference|details|problem|solution|exception|authors?|returned|idea|answer|list of|third|fourth|"
    r"last|final|only (?:way|option|other|difference|exception)|updated|alternative|underlying|motivating|resulting|"
    r"remaining|corresponding|actual|usual|extra|two|three|former|latter|same|first|second|others?|rest|following)|"
    r"(?:if|unless|when|where) (?:specified|given|set|omitted|provided|empty|present|absent)|"
    r"(?:if|unless|when|where) `*(?:none|true|false|\d+)|"
    r"(?:if|unless|when|where|once) [^,.]+, (?:will|would|is|are|does|do|must|may|can|defaults?|returns?|only)|"
    r"\w+ing it|another|both|(?:an? )?more|an? (?:example|better|further|similar)|"
    r"as (?:noted|mentioned|described|shown))(?![.-]?\w)",
    re.IGNORECASE,
)
# What stands elsewhere in the document: `see table 3`, `shown below`.
_ELSEWHERE = re.compile(
    r"\b(?:aforementioned|so far|here|all the other|as follows|do(?:ing)? (?:this|so)|(?:we|you)['’](?:ve|ll|re)"
    r"|in (?:this|that|these|such) (?:case|example|section|way)s?"
    r"|(?:we|us) (?:will|now|can|could|would|see|saw|need|want|repeat|assume|are|have|had|do|don|did|won)"
    r"|(?:the|as|shown|given|described|mentioned|discussed|listed|noted|defined|explained|seen|used|see|than|from) "
    r"(?:above|below|following|preceding|previous|earlier)|(?:above|below|earlier)(?=[.,;:)]|$)"
    r"|(?:(?:fi)?gures?|fig\.|tables?|sections?|chapters?|equations?|eq\.|listings?|examples?|appendix|pages?|steps?"
    r"|terms?|lemmas?|theorems?|algorithms?|footnotes?|subjects?|groups?|states?) \(?(?:\d|[ivx]+\b|[A-Z]\b)"
    r"|in the (?:next|last|first|second|third) (?:section|chapter|part|example|paragraph))|\(see ",
    re.IGNORECASE,
)
_POINTS = re.compile(r"\b(?:this|these|such)\s+(?!(?:as?|an|that|is|was|has|can|may|will|means)\b)(\w+)", re.IGNORECASE)
# A formula, which loses its form as text; a label, a number of a section or a heading before it; a missing end.
_TORN = re.compile(
    r"[√∑∏∫∂ˆ˜•\ufffd]|^[A-Z][A-Z ]+: |\b(?:is|are|was|were|do|does|has|have|can|must|will) not\W*$|\b(?:and|or)$"
    r"|(?<!\w)[A-Za-zα-ωΑ-Ω]\d?(?:\([^()]*\))? ?[=≈≤≥<>]|(?<!\w)[α-ωΑ-Ω](?!\w)"
    r"|^\d+(?:(?:\.\d+)+[ ,]| [\d\W])"
    r"|^[^.,;:]{0,60}[\w’)] (?:The|This|These|If|When|It|There|You|We|For|In) [A-Za-z]"
)
# The verb comes first, as in lists of changes and of parameters: a statement without its subject.
_NO_SUBJECT = re.compile(
    r"^(?:returns?|yields?|raises?|(?:fix|add|remov|chang|updat|upgrad|renam|improv|deprecat|mov|restor|strip|drop|bump)"
    r"(?:s|es|ed|ped|e|p)?|empty|defaults?|(?:creat|set|get|check|specif|provid|allow|comput|indicat)(?:s|ies|es)|"
    r"explicit(?:ly)?|vainly|support for|use of|deprecation|note that|see)\b"
    r"(?! (?:is|are|was|were|has|have|must|can|may|will|does)\b)",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:I|me|my|we|us|our|you|your)\b", re.IGNORECASE)


class ChosenSentence(NamedTuple):
    """A sentence that carries a claim, with its half-open range of characters in the text, and its score."""

    text: str
    start: int
    end: int
    score: float


def choose_claims(text: str, most: int | None = None) -> list[ChosenSentence]:
    """Return the best sentences of a text in their order: one for each 400 words, but at least one, and more of a dense
    text.

    `most` replaces that number. A text without a precise sentence gives none."""
    scored = [sentence for sentence in (_scored(*span, text) for span in sentences(text)) if sentence is not None]
    limit = most if most is not None else claims_of(len(_WORD.findall(text)), [sentence.score for sentence in scored])
    best = sorted(scored, key=lambda sentence: (-sentence.score, sentence.start))
    chosen: list[ChosenSentence] = []
    for sentence in best:
        if len(chosen) == limit:
            break
        if all(_differs(sentence.text, other.text) for other in chosen):
            chosen.append(sentence)
    return sorted(chosen, key=lambda sentence: sentence.start)


def claims_of(words: int, scores: Sequence[float]) -> int:
    """Return how many claims a text of some words may give, whose sentences have these scores."""
    most = max(_DENSE_CLAIMS, (_DENSE_TEXT - words) // _DENSE_WORDS)
    dense = min(sum(score >= _DENSE_SCORE for score in scores), words // _DENSE_WORDS, most)
    return max(1, round(words / WORDS_PER_CLAIM), dense)


def statements_in(text: str) -> int:
    """Return how many statements a text may hold at most: its sentences, items, and rows of tables, without code."""
    prose = _FENCE.sub("", text)
    rows = max(0, sum(line.lstrip().startswith("|") for line in prose.splitlines()) - 2)
    return rows + sum(1 for _ in sentences(prose, _SHORTEST_ITEM, open_ended=True))


def sentences(text: str, shortest: int = _SHORTEST, open_ended: bool = False) -> Iterator[tuple[int, int]]:
    """Yield the ranges of the sentences of a text, without headings, tables, quotations, code and lists of changes.

    An item of a list without an end is one from `shortest` words on; with `open_ended`, so is a line."""
    fenced = [found.span() for found in _FENCE.finditer(text)]
    changes: int | None = None  # the level of the heading above a list of changes
    for block in _BLOCK.finditer(text):
        start, end = block.span()
        if any(a <= start < b for a, b in fenced):
            continue
        first = block[0].lstrip()
        heading = _HEADING.match(first)
        if heading:
            level = len(heading["level"])
            if changes is None or level <= changes:
                changes = level if _CHANGES.match(heading["title"]) else None
        bullet = _BULLET.match(text, start, end)
        indented = block[0].startswith(("    ", "\t")) and not bullet
        if (
            changes is not None
            or indented
            or _LEADERS.search(block[0])
            or first.startswith(("#", "|", ">", "```", "~~~", "<"))
        ):
            continue
        start = bullet.end() if bullet else start
        for mark in _END.finditer(text, start, end):
            if re.compile(DAY_OF_MONTH).match(text, mark.end()):
                continue
            if _ABBREVIATION.search(text, start, mark.end()) and mark.end() < end:
                continue
            yield _trimmed(text, start, mark.end())
            start = mark.end()
        # What has no end is a heading or an item of a list; a long item is a sentence all the same.
        if (bullet or open_ended) and len(_WORD.findall(text, start, end)) >= shortest:
            yield _trimmed(text, start, end)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _scored(start: int, end: int, text: str) -> ChosenSentence | None:
    sentence = _plain(" ".join(text[start:end].split()))
    words = _WORD.findall(sentence)
    if not _SHORTEST <= len(words) <= _LONGEST or sentence.rstrip("\"'”’)]*").endswith(("?", ":")):
        return None
    if any(pattern.search(sentence) for pattern in (_LEANS, _NO_SUBJECT, _ELSEWHERE, _TORN, _CHANGE, _RULED)):
        return None
    if sentence.count("(") != sentence.count(")"):
        return None
    # `this tool` or the like names something that the sentence has not named before.
    if any(found[1].lower()[:5] not in sentence[: found.start()].lower() for found in _POINTS.finditer(sentence)):
        return None
    if not (_DEFINES.search(sentence) or _RULE.search(sentence)):
        return None
    if not (sentence[0].isupper() or sentence[0].isdigit()):
        return None
    score = (
        1.0 * min(2, len(_NUMBER.findall(sentence)))
        + 0.7 * min(2, len(_NAME.findall(sentence)))
        + 1.0 * bool(_DEFINES.search(sentence))
        + 0.7 * bool(_REASON.search(sentence))
        + 1.2 * bool(_RULE.search(sentence))
        - 1.0 * len(_VAGUE.findall(sentence))
        - 0.8 * bool(_FIRST_PERSON.search(sentence))
        - 0.02 * max(0, len(words) - 25)
    )
    return ChosenSentence(sentence, start, end, round(score, 3)) if score >= _LEAST_SCORE else None


def _plain(sentence: str) -> str:
    """Return a sentence without the addresses of its links, without references in parentheses, tags and bold marks."""
    linked = _LINK.sub(lambda found: found[1] or found[2] or "", _REFERENCE.sub("", sentence))
    return _MARKUP.sub("", without_emphasis(linked))


def _differs(text: str, other: str) -> bool:
    mine, its = ({word.lower() for word in _WORD.findall(each)} for each in (text, other))
    return len(mine & its) < 0.8 * min(len(mine), len(its))
