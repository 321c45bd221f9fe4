"""Find the words of a message that are not its sender's: quotations, reported speech, pasted mails, chats and data.

A message that hands over a text, or invents one, is not taken apart: the rules take nothing from it, a reader does.

What is learned from a text that gives instructions to a model needs the approval of a person.

Quotation marks in a text.

Find pasted text in a message by its structure, not its content.

Logs, lists of keys and markup elements have a clear form. A block next to a short line without first-person words is
unclear: it may be the text that the line is about, or the sender's own words. A person decides in that case.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from clawmem.learning.attribution.sentences import THE_USER, TextSpan, sentences, sub_span
from clawmem.learning.rules.language import relations
from clawmem.model.facts.fact import EXTERNAL, Fact, is_low_trust, least_trust
from clawmem.model.language.text import normal
from clawmem.model.proposals.para import Proposition
from clawmem.model.proposals.quarantine import orders_in_event_text
from clawmem.model.records.event import Event, is_from_outside, is_told_by_agent, trust_limit
from clawmem.model.safety.injection.find import InjectionMatch, find_injection
from clawmem.model.safety.secrets.find import find_secret

Span = tuple[int, int]

_GAP = re.compile(r"\n[ \t]*\n\s*")
_OF_SENDER = re.compile(r"\b(?:I|me|my|mine|myself|we|us|our|ours)\b|\bi['’]?m\b", re.IGNORECASE)
_GREETING = re.compile(
    r"(?:hi|hello|hey|hiya|yo|good (?:morning|afternoon|evening|day)|greetings|hallo|hola|bonjour|salut)"
    r"(?: (?:there|again|you|claude|chatgpt|assistant))?[\s!.,:)]*",
    re.IGNORECASE,
)
_MOST_WORDS = 12
_LETTER = re.compile(r"[ \t]*[A-Z][\w'’.-]*(?:[ \t]+[\w'’.-]+){0,4},[ \t]*(?:\n|$)")
_LOG = re.compile(
    r"[ \t]*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d|"
    r"\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b)"
)
_KEY = re.compile(r"[ \t]*(?:-[ \t]+)?[\"']?[a-z][\w.-]{0,40}[\"']?[ \t]*[:=](?:[ \t]|$)")
_OPENS_BLOCK = re.compile(r"([ \t]*)(?:-[ \t]+)?[\"']?[\w.-]{1,40}[\"']?:[ \t]*[|>]?[-+]?[ \t]*$")
_ELEMENT = re.compile(r"(?m)^[ \t]*<([A-Za-z][\w.:-]{0,60})(?:\s[^<>\n]{0,200})?>")
_FIRST_LABEL = re.compile(r"\s*(?P<head>[^\n:.!?]{2,60}):\s+(?=\S)")
_SPEAKS_FIRST = re.compile(r"[\"“']?(?:I|I['’]\w+|[Mm]y|[Ww]e|[Oo]ur)\b")
# Labels of the sender's own words. Any other capitalised word before a colon may be a speaker.
_HEADINGS = frozenset(
    "update updates correction corrections note notes reminder info news status background context situation question "
    "answer goal goals plan plans decision problem summary bio intro job work home location diet hobby hobbies family "
    "health allergy allergies contact name address age language languages stack tools setup project today tomorrow "
    "yesterday ps fyi btw tldr edit heads-up disclaimer preference preferences about me education skills experience "
    "result results task todo ok okay yes no hi hello hey thanks well so also first second third finally again then "
    "now actually honestly true fact facts profile requirements constraint constraints budget deadline issue topic "
    "lesson takeaway til remember important warning".split()
)
_ABSTRACT = re.compile(r"(?:ion|ment|ing|ity|ness|ence|ance|age|ies|ship|ure|ly)s?$")


def is_heading(label: str) -> bool:
    """Return whether a label before a colon introduces the sender's own words, such as `Update`."""
    last = label.split()[-1]
    return last.lower() in _HEADINGS or _ABSTRACT.search(last.lower()) is not None


def pasted_spans(text: str) -> list[Span]:
    """Return the spans of pasted data: markup elements, log lines and lists of keys."""
    return [*_elements(text), *_lines_of_data(text)]


def unclear_signs(text: str) -> list[tuple[Span, str]]:
    """Return the spans that may be the sender's own text or another's, each with the sign of that as a clause."""
    beside = "a short line beside it, such as a title, thanks or a signature, may be about a pasted text"
    return [
        *((pair, "it stands below a salutation, as in a letter") for pair in _letter(text)),
        *((pair, beside) for pair in _next_to_lead(text)),
        *((pair, "the label before it may name who says it") for pair in _after_label(text)),
    ]


def _elements(text: str) -> Iterator[Span]:
    at = 0
    unclosed: set[str] = set()
    while found := _ELEMENT.search(text, at):
        name, at = found[1], found.end()
        end = -1 if name in unclosed else text.rfind(f"</{name}>", at)
        if end < 0:
            unclosed.add(name)
            continue
        at = end + len(name) + 3
        yield found.start(), at


def _lines_of_data(text: str) -> Iterator[Span]:
    """Yield log lines, two or more consecutive lines of keys, and lines indented below a key."""
    keys: list[Span] = []
    below: int | None = None
    for start, end, line in _lines(text):
        indent = len(line) - len(line.lstrip())
        if below is not None and line.strip() and indent > below:
            yield start, end
            continue
        opens = _OPENS_BLOCK.match(line)
        below = len(opens[1]) if opens else below if not line.strip() else None
        if _LOG.match(line):
            yield start, end
        if _KEY.match(line):
            keys.append((start, end))
            continue
        if line.strip():
            yield from keys if len(keys) > 1 else ()
            keys = []
    yield from keys if len(keys) > 1 else ()


def _letter(text: str) -> list[Span]:
    """Return the body below a salutation line, as in a letter."""
    line = text.partition("\n")[0]
    rest = text[len(line) :].strip()
    begins = _LETTER.match(line) and not _OF_SENDER.search(line)
    return [(len(line), len(text))] if begins and rest else []


def _next_to_lead(text: str) -> Iterator[Span]:
    """Yield the blocks next to a short line without first-person words, such as a request, a title or thanks."""
    blocks = [(start, end) for start, end in _blocks(text) if not _GREETING.fullmatch(text[start:end].strip())]
    leads = {block for block in blocks if _is_lead(text[slice(*block)])}
    if leads and len(leads) < len(blocks):
        yield from (block for block in blocks if block not in leads)


def _after_label(text: str) -> list[Span]:
    """Return the first-person sentences after an initial label with a colon, unless the label is a heading."""
    label = _FIRST_LABEL.match(text)
    if label is None or _OF_SENDER.search(label["head"]) or any(map(is_heading, label["head"].split())):
        return []
    if not _SPEAKS_FIRST.match(text, label.end()) or not re.search(r"[.!?]\s+\S", text[label.end() :]):
        return []
    return [(label.end(), len(text))]


def _is_lead(block: str) -> bool:
    words = block.split()
    return 0 < len(words) <= _MOST_WORDS and "\n" not in block.strip() and not _OF_SENDER.search(block)


def _blocks(text: str) -> Iterator[Span]:
    """Yield the paragraphs; a short first or last line of a paragraph is a block of its own."""
    start = 0
    for gap in [*_GAP.finditer(text), None]:
        end = gap.start() if gap else len(text)
        if text[start:end].strip():
            yield from _split_lead(text, start, end)
        start = gap.end() if gap else end


def _split_lead(text: str, start: int, end: int) -> Iterator[Span]:
    first, last = text.find("\n", start, end), text.rfind("\n", start, end)
    if first >= 0 and _is_lead(text[start:first]) and not _is_item(text[start:first]):
        yield start, first
        yield first + 1, end
    elif last >= 0 and _is_lead(text[last + 1 : end]) and not _is_item(text[last + 1 : end]):
        yield start, last
        yield last + 1, end
    else:
        yield start, end


def _is_item(line: str) -> bool:
    """Return whether a line is a list item."""
    return re.match(r"[ \t]*(?:[-*•+]|\d{1,3}[.)])[ \t]", line) is not None


def _lines(text: str) -> Iterator[tuple[int, int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, start + len(line), line
        start += len(line) + 1


_FARTHEST, _MOST_COLONS = 400, 4

_COLON = re.compile(r":(?=\s|$|[\"“'*_`])|\s[-–—]\s")
_QUOTE = re.compile(r"(?<![\w\"“”])[\"“](?=\S)[^\"“”]{2,4000}?[\"”](?!\w)")
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|I've|[Ww]e|[Mm]y|[Oo]ur)\b")
_FIRST = re.compile(r"\S")
_IN_FIRST_PERSON = re.compile(r"\s*(?:I|I['’]\w+|[Mm]y|[Ww]e|[Ww]e['’]\w+)\b")
_FENCE = re.compile(r"(```|~~~|\"\"\")")
_MAIL = re.compile(
    r"(?m)^(?:-+ ?(?:Original|Forwarded) message.*|(?:From|Von): .+\n(?:.*\n){0,3}?(?:To|Subject|Date|Sent): .*)$", re.I
)
_TURN = re.compile(
    r"(?m)^(?:\[[^\]\n]{3,30}\] ?)?(?P<who>[A-Z][\w.'-]*(?: [A-Z][\w.'-]*){0,2})"
    r"(?: ?\(?\d{1,2}[:.]\d\d[^):\n]{0,12}\)?)?:[ \t]"
)
_TEXT = (
    r"(?:sentence|phrase|paragraph|passage|text|essay|letter|e-?mail|message|story|tale|fable|poem|haiku|lyrics|song|"
    r"joke|dialogue|conversation|transcript|quote|caption|tweet|headline|article|post|excerpt|draft|novel|grammar|"
    r"character(?: sheet)?|persona|back-?story|bio|cv|r[eé]sum[eé]|satz|brief|nachricht|gedicht|geschichte)s?"
)
_SPEAK = (
    r"(?:said|says?|told|tells?|wrote|writes?|written|replied|replies|answered|answers?|asked|asks|texted|e-?mailed|"
    r"posted|mentioned|explained|announced|claims?|claimed|saying|telling me|reads|goes|sings|quotes?|according to|"
    r"sagte|sagt|schrieb|schreibt|meinte)"
)
# A text to work on.
_WORK = re.compile(
    r"\b(?:(?<!i )(?<!we )translat(?:e|ing)|proof-?read|paraphrase|(?<!let me )re(?:phrase|word|write)|polish my|"
    r"repeat after me|how (?:do|would|can|should) (?:you|i|we) (?:say|write|put|spell|phrase)|"
    rf"(?:fix|check|correct) (?:my|the|this) {_TEXT}|(?:this|following|example|test) {_TEXT}|"
    r"(?:this|the following) (?:is|in|into|sound|more)|übersetz\w*|korrigier\w*)\b"
    rf"|\b(?:write|draft|compose) .*{_TEXT}\b.*(?::| in which | saying )"
    rf"|\bthe following:|^(?:say|finish this|(?:the )?{_TEXT}):",
    re.IGNORECASE,
)
# What is invented.
_INVENTED = re.compile(
    r"\b(?:role-?play\w*|pretend|let's imagine|act as [^:]*:|once upon a time|"
    r"in (?:my|our|a|the) (?:\w+ )?(?:novel|story|dream|song|poem)|"
    rf"(?:my|our) (?:main )?character\b|(?:here's|here is|check out|continue) (?:my|our|the|a) .*{_TEXT}|"
    rf"(?:write|tell|compose) .*(?:in (?:the )?first person|perspective of))\b|^{_TEXT}$",
    re.IGNORECASE,
)
# The sender's own order or request, whatever it is about.
_STANDS = re.compile(
    r"(?:\w+,? )?(?:always|never|from now on|when(?:ever)?|remember|please note|immer|nie)\b", re.IGNORECASE
)
_REPORT = re.compile(
    rf"(?:\b{_SPEAK}(?:,? [\w'-]+){{0,5}}|"
    r"\b(?:question|comment|review|feedback|words|reply|answer)s? (?:from|by) [\w' -]{1,80}|"
    r"(?<![\w-])(?!My\b|Our\b|my\b|our\b)[\w-]+'s (?:words|answer|reply|comment))$",
    re.IGNORECASE,
)
# The sender introduces what they say themself: "forgot to say", "as I always say", "I'd say".
_OWN_REMARK = re.compile(
    rf"\b(?:I|[Ww]e)(?:'\w+)?(?: \w+){{0,3}} {_SPEAK}|(?:[Ff]orgot|wanted|[Mm]eant|have|need|remembered) to (?:\w+ )?"
    r"(?:say|mention|add|tell)\b"
)
# Another person speaks after the sender did: "I asked the doctor and she says".
_BY_ANOTHER = re.compile(
    rf"\b(?:[Hh]e|[Ss]he|[Tt]hey|(?:[Mm]y|[Tt]he|[Oo]ur) [\w'-]+|(?!I\b|We\b)[A-Z][\w'-]+)(?: \w+)? {_SPEAK}\b"
)
_LABEL = re.compile(
    r"(?:[Mm]y|[Oo]ur|[Tt]he|[Hh]is|[Hh]er)(?: [\w'-]+){0,2}? (?P<noun>[\w-]+)"
    r"(?: (?:to me|yesterday|today|always|again))?"
)
_PEOPLE = frozenset("neighbour neighbor roommate landlord ex woman man girl boy customer doctor teacher lawyer".split())
# Before a colon these introduce what the sender says about them, not their words.
_NO_SPEAKERS = frozenset("family kid kids children baby twins toddler pet pets dog dogs cat cats puppy horses".split())
_POINTED_BACK = re.compile(r"\b(?:this|that|it|these|those|diesen|das)\b", re.IGNORECASE)
_SPEAKS = re.compile(r"(?:I|I'm|I’m|I've|I’ve|[Mm]y|[Ww]e)\b")
_ENDS_SENTENCE = ".!?\n。！？"
# What only the user can say of themself.
_WILL = re.compile(
    r"\buser (?:(?:has|have|had|is|does|did|not|always|never|already|now|also|explicitly|doesn['’]t) )*"
    r"(?:(?:want|allow|permit|authori[sz]e|approve|prefer|require|trust|instruct|insist|demand|grant|consent|agree|wish|"
    r"ask|like)(?:e?s|e?d)?|fine with|okay with)\b"
    r"|\b(?:nutzer(?:in)?|usuari[oa]|utilisat(?:eur|rice)|utente|gebruiker|użytkowni(?:k|czka)|пользователь)"
    r" (?:\w+ )?(?:erlaub|genehmig|will\b|wünscht|möchte|verlang|bevorzug|permit|permet|quier|prefier|autori|exig|veut|"
    r"préfère|souhait|vuole|preferisc|consent|quer|prefer|wil\b|staat\b|toestaat|pozwala|chce|разреш|хочет|предпочит)"
    r"|用户\S{0,6}(?:允许|同意|希望|要求)|ユーザー\S{0,20}(?:許可|希望|要求)",
    re.IGNORECASE,
)
_SENDER = frozenset(("me", "i", "myself"))


def own_sentences(text: str) -> Iterator[TextSpan]:
    """Yield the prose sentences of a message, without the parts in which the sender does not speak for themself."""
    pieces = list(sentences(text))
    foreign = _foreign(text, pieces)
    ends = [end for _, end in foreign]
    for sentence in pieces:
        at = sentence.start
        for start, end in foreign[bisect_right(ends, sentence.start) :]:
            if start >= sentence.end:
                break
            yield from _between(sentence, at, start)
            at = end
        yield from _between(sentence, at, sentence.end)


def is_by_sender(text: str, start: int, end: int) -> bool:
    """Return whether the sender speaks for themself in the whole range from `start` to `end`."""
    foreign = [*_foreign(text, list(sentences(text))), *_first_person_quotations(text)]
    return not any(first < end and start < last for first, last in foreign)


def unclear_author_signs(text: str) -> list[tuple[Span, str]]:
    """Return the spans that may hold another person's words, so that a person must decide, each with why."""
    below = "another's words without a closing mark stand above it"
    beside = "it stands beside a request to work on a text"
    signs = [(span, below) for span in _after_another(text)] + [(span, beside) for span in _beside_work(text)]
    return [*unclear_signs(text), *signs]


def _beside_work(text: str) -> Iterator[Span]:
    """Yield the text below a message's first sentence, or above its last one, that asks for work on it."""
    pieces = list(sentences(text))
    first, last = (pieces[at].text[:_FARTHEST] if pieces else "" for at in (0, -1))
    if _WORK.search(first) and not _STANDS.match(first):
        yield pieces[0].end, len(text)
    if len(pieces) > 1 and _WORK.search(last) and _POINTED_BACK.search(last):
        yield 0, pieces[-1].start


def _after_another(text: str) -> list[Span]:
    """Return the text below another's words that have no closing mark: those words may continue there."""
    for sentence in sentences(text):
        for start, end in _after_colon(text, sentence):
            closed = text[start:end].rstrip().endswith(('"', "”", "```", "~~~"))
            if not closed and end < len(text):
                return [(end, len(text))]
    return []


def _foreign(text: str, pieces: Sequence[TextSpan]) -> list[Span]:
    """Return the spans that are not the sender's words, sorted and without overlap."""
    reported = (span for sentence in pieces for span in _after_colon(text, sentence))
    return _merge([*_quotations(text), *_mails(text), *_turns(text), *pasted_spans(text), *reported])


def _merge(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _between(piece: TextSpan, start: int, end: int) -> Iterator[TextSpan]:
    """Yield the part of a sentence between two offsets of the message, unless it is empty."""
    if start <= piece.start and piece.end <= end:
        yield piece
        return
    first, last = max(start, piece.start) - piece.start, min(end, piece.end) - piece.start
    part = sub_span(piece, first, last) if first < last else None
    if part and part.text:
        yield part


def _after_colon(text: str, sentence: TextSpan) -> list[Span]:
    """Return the span after a colon that introduces another's words: its line, its block or up to the closing mark."""
    for colon in islice(_COLON.finditer(sentence.text, 0, _FARTHEST), _MOST_COLONS):
        head, at = sentence.text[: colon.start()].replace("’", "'").strip(" *_"), sentence.start + colon.end()
        if _WORK.search(f"{head}:") and not _STANDS.match(head):
            return [(at, _end_of_block(text, at, len(text)))]
        if _introduces_words(head) or (_names_speaker(head) and _IN_FIRST_PERSON.match(text, at)):
            line = text.find("\n", at)
            empty = line >= 0 and not text[at:line].strip()
            return [(at, _end_of_block(text, at, len(text) if line < 0 or empty else line))]
    return []


def _names_speaker(head: str) -> bool:
    """Return whether words before a colon name a person ("My wife") who may be the speaker of what follows."""
    found = _LABEL.fullmatch(head)
    noun = found["noun"].lower() if found else ""
    return noun not in _NO_SPEAKERS and (noun in relations() or noun in _PEOPLE)


def _introduces_words(head: str) -> bool:
    """Return whether words before a colon say that another person said what follows."""
    if _REPORT.search(head) is None:
        return False
    own = _OWN_REMARK.search(head)
    return own is None or _BY_ANOTHER.search(head, own.end()) is not None


def hands_over_text(text: str) -> bool:
    """Return whether a message asks for work on a text, reports speech, starts a role play or tells something invented:
    then its sentences may be another's words, or not meant."""
    return any(_hands_over(text, sentence) for sentence in sentences(text) if len(sentence.text) <= _FARTHEST)


def _hands_over(text: str, sentence: TextSpan) -> bool:
    words = sentence.text.replace("’", "'")
    if _STANDS.match(words):
        return False
    return any(form.search(words) for form in (_WORK, _INVENTED)) or bool(_after_colon(text, sentence))


def _end_of_block(text: str, at: int, end: int) -> int:
    """Return where a text that starts at `at` ends: at its closing quotation mark or code fence, else at `end`."""
    first = _FIRST.search(text, at)
    begin = first.start() if first else at
    quote, fence = _QUOTE.match(text, begin), _FENCE.match(text, begin)
    if fence:
        close = text.find(fence[1], fence.end())
        return close + len(fence[1]) if close >= 0 else len(text)
    return quote.end() if quote else end


def _quotations(text: str) -> list[Span]:
    """Return first-person quotations of more than one sentence, and unclosed ones."""
    long = [
        quotation
        for quotation in _first_person_quotations(text)
        if re.search(r"[.!?]\s|\n", text[quotation[0] : quotation[1] - 1])
    ]
    return [*long, *(quotation for quotation in unclosed_quotations(text) if _FIRST_PERSON.search(text, *quotation))]


def _first_person_quotations(text: str) -> list[Span]:
    """Return the quotations in the first person."""
    found = [*(match.span() for match in _QUOTE.finditer(text)), *quotations(text)]
    return [pair for pair in found if _FIRST_PERSON.search(text, *pair)]


def _mails(text: str) -> list[Span]:
    head = _MAIL.search(text)
    return [(head.start(), len(text))] if head else []


def _turns(text: str) -> list[Span]:
    """Return the turns of other speakers in a pasted chat, and a single line that starts with a name and a colon."""
    turns = list(_TURN.finditer(text))
    count = Counter(turn["who"] for turn in turns)
    chat = len(count) > 1 and max(count.values()) > 1
    ends = [*(turn.start() for turn in turns[1:]), len(text)]
    spans = []
    for turn, end in zip(turns, ends, strict=False):
        line = text.find("\n", turn.end())
        if turn["who"].lower() not in _SENDER and (chat or _is_speaker(turn["who"], text, turn.end())):
            spans.append((turn.start(), end if chat or line < 0 else line))
    return spans


def _is_speaker(label: str, text: str, at: int) -> bool:
    """Return whether a label may name the speaker of the first-person text that starts at `at`."""
    last = label.split()[-1]
    if label.split()[0] in ("Dear", "Hi", "Hello", "Hey"):
        return False
    if not last[1:].islower() or is_heading(label):
        return False
    return _SPEAKS.match(text, at) is not None


_QUOTATION = re.compile(
    r"(?<![\w\"“”])[\"“](?=\S)[^\"“”\n]{2,4000}?[\"”](?!\w)|«[^«»\n]{2,4000}»|„[^„“”\n]{2,4000}[“”]|"
    # Between single marks only what begins like a sentence; an apostrophe stands between letters.
    r"(?<!\w)['‘](?=[A-Z])(?:[^'’\n]|(?<=\w)['’](?=\w)){2,400}['’](?!\w)"
)
_OPENING = re.compile(r"(?<![\w\"“”])[\"“](?=\S)|„|«")


def quotations(text: str) -> list[Span]:
    """Return the spans between quotation marks, including the marks."""
    return [found.span() for found in _QUOTATION.finditer(text)]


def unclosed_quotations(text: str) -> list[Span]:
    """Return a span from each quotation mark that its line does not close to the end of the line."""
    within = quotations(text)
    starts = [start for start, _ in within]
    spans: list[Span] = []
    for mark in _OPENING.finditer(text):
        before = bisect_right(starts, mark.start())
        inside = before > 0 and mark.start() < within[before - 1][1]
        if not inside and not (spans and mark.start() < spans[-1][1]):
            line = text.find("\n", mark.end())
            spans.append((mark.start(), len(text) if line < 0 else line))
    return spans


# Somebody without a name who told the speaker something: "The allergist called: ...".
_TOLD = re.compile(
    r"\W*(?:the|my|our|der|die|mein\w*|unser\w*) (?:[\w-]+ ){1,2}"
    r"(?:called|says?|said|told|confirmed|wrote|texted|rang|phoned|thinks|hat|sagt|meint|schreibt|rief)\b[^:\n]{0,40}:",
    re.IGNORECASE,
)


def may_be_shown(fact: Fact) -> bool:
    """Return whether a fact may be sent to a model: it has no credential and no injected instructions."""
    return find_secret(fact.fact) is None and not is_prompt_injection(fact.fact)


def is_prompt_injection(text: str) -> bool:
    """Return whether a text contains forged instructions to a model, which no honest text contains."""
    return find_injection(text, forged_only=True) is not None


def injection_in(event: Event) -> InjectionMatch | None:
    """Return the injected instructions in an event, or None.

    Any instruction counts in content from tools or from outside. From a person only forged ones count, because a person
    may say how they want to be served.
    """
    return find_injection(event.text, forged_only=not is_from_outside(event))


def limit_trust(event: Event, found: tuple[Proposition, ...], by_reader: bool = False) -> tuple[Proposition, ...]:
    """Return the propositions with their trust limited by the source of the event.

    All of them become external if the event contains injected instructions. What a person reports of themself is their
    own word, whoever told them ("the allergist called: not allergic after all"), if a model or an agent read it so.
    """
    if not found:
        return found
    if injection_in(event) is not None:
        return tuple(
            proposition._replace(trust=EXTERNAL, doubt="its text gives instructions to a model")
            for proposition in found
        )
    unclear = unclear_author_signs(event.text) if event.role == "user" else []
    flag = by_reader and _TOLD.match(event.text) is not None
    return tuple(
        _limited(
            proposition, event, None if flag and _is_of_speaker(proposition, event) else _sign_at(proposition, unclear)
        )
        for proposition in found
    )


def _is_of_speaker(proposition: Proposition, event: Event) -> bool:
    return normal(proposition.subject or "") in (normal(event.speaker or ""), normal(THE_USER))


def _sign_at(proposition: Proposition, unclear: Sequence[tuple[Span, str]]) -> str | None:
    """Return why the words of a proposition may be another's, or None."""
    first, last = proposition.span
    return next((sign for (start, end), sign in unclear if start < last and first < end), None)


def _limited(proposition: Proposition, event: Event, sign: str | None) -> Proposition:
    trust, doubt = _trust_of(proposition.trust, event), proposition.doubt
    if trust == EXTERNAL and not doubt:
        doubt = "its event came from outside the conversation"
    if trust == "user" and sign:
        trust, doubt = EXTERNAL, sign
    if is_low_trust(trust) and _reads_as_order(proposition, event.text):
        trust, doubt = EXTERNAL, "its words are an order"
    elif is_low_trust(trust) and _WILL.search(proposition.statement):
        trust, doubt = EXTERNAL, "it says what the user wants or allows"
    return proposition._replace(trust=trust, doubt=doubt)


def _reads_as_order(proposition: Proposition, text: str) -> bool:
    """Return whether the words of a proposition, or the sentence with them, are withheld as an order where an event is
    served."""
    first, last = proposition.span
    start = max(text.rfind(sign, 0, first) for sign in _ENDS_SENTENCE) + 1
    end = min((place for sign in _ENDS_SENTENCE if (place := text.find(sign, last)) >= 0), default=len(text))
    return any(orders_in_event_text(each, outside=True) for each in (proposition.source_text, text[start:end]))


def _trust_of(earned: str, event: Event) -> str:
    """Return the trust earned by the role, limited by the origin of the event; what an agent tells has `agent`."""
    return least_trust(earned, trust_limit(event), "agent" if is_told_by_agent(event) else None) or earned
