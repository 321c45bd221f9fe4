"""Find the words of a message that are not its sender's: texts to work on, reported speech, pasted mails and chats.

What is learned from a text that gives instructions to a model needs the approval of a person.

Quotation marks in a text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from clawmem.learning.attribution.introductions import (
    TEXT,
    names_speaker,
    reported_after_comma,
    reports_speech,
    requests_role_play,
    requests_text_work,
    requests_work_below,
    requests_work_nearby,
)
from clawmem.learning.attribution.pastes import is_heading, pasted_spans, unclear_signs
from clawmem.learning.attribution.sentences import THE_USER, TextSpan, sentences, sub_span
from clawmem.model.facts.fact import EXTERNAL, Fact, is_low_trust, least_trust
from clawmem.model.language.text import normal
from clawmem.model.proposals.para import Proposition
from clawmem.model.proposals.quarantine import orders_in_event_text
from clawmem.model.records.event import Event, is_from_outside, is_told_by_agent, trust_limit
from clawmem.model.safety.injection.find import InjectionMatch, find_injection
from clawmem.model.safety.secrets.find import find_secret

_FARTHEST, _MOST_COLONS = 400, 4

_COLON = re.compile(r":(?=\s|$|[\"“'*_`])|\s[-–—]\s")
_QUOTE = re.compile(r"(?<![\w\"“”])[\"“](?=\S)[^\"“”]{2,4000}?[\"”](?!\w)")
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|I've|[Ww]e|[Mm]y|[Oo]ur)\b")
_FIRST = re.compile(r"\S")
_IN_FIRST_PERSON = re.compile(r"\s*(?:I|I['’]\w+|[Mm]y|[Ww]e|[Ww]e['’]\w+)\b")
_FENCE = re.compile(r"(```|~~~|\"\"\")")
_ENDS_LINE = re.compile(r"[ \t]*\n")
_GAP = re.compile(r"\n[ \t]*\n")
_MAIL = re.compile(
    r"(?m)^(?:-+ ?(?:Original|Forwarded) message.*|(?:From|Von): .+\n(?:.*\n){0,3}?(?:To|Subject|Date|Sent): .*)$", re.I
)
_TURN = re.compile(
    r"(?m)^(?:\[[^\]\n]{3,30}\] ?)?(?P<who>[A-Z][\w.'-]*(?: [A-Z][\w.'-]*){0,2})"
    r"(?: ?\(?\d{1,2}[:.]\d\d[^):\n]{0,12}\)?)?:[ \t]"
)
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
    return [*unclear_signs(text), *((pair, below) for pair in _after_another(text))]


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
    marked = _merge([*_quotations(text), *_mails(text), *_turns(text), *pasted_spans(text)])
    ends = [end for _, end in marked]
    found: list[Span] = []
    until = 0
    for number, sentence in enumerate(pieces):
        next_one = bisect_right(ends, sentence.start)
        if sentence.start < until or (next_one < len(marked) and marked[next_one][0] <= sentence.start):
            continue
        new = (
            _announced(text, sentence)
            or _after(text, sentence)
            or _around(text, sentence, last=number == len(pieces) - 1)
        )
        found += new
        until = max([until, *(end for start, end in new if start >= sentence.start)])
    return _merge([*marked, *found])


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


def _announced(text: str, sentence: TextSpan) -> list[Span]:
    """Return the span from a sentence that introduces fiction to where the sender speaks for themself again."""
    if not announces_fiction(sentence.text.replace("’", "'").rstrip(" .!?*_")):
        return []
    return [(sentence.start, fiction_end(text, sentence.end, _end_of_block(text, sentence.end, len(text))))]


def _after(text: str, sentence: TextSpan) -> list[Span]:
    """Return the spans of another's words after a colon, after a comma, or in reported speech."""
    announced = _after_colon(text, sentence)
    if announced:
        return announced
    words = sentence.text.replace("’", "'")
    offset = reported_after_comma(words) or fiction_start(words)
    return [(sentence.start + offset, sentence.end)] if offset else []


def _after_colon(text: str, sentence: TextSpan) -> list[Span]:
    for colon in islice(_COLON.finditer(sentence.text, 0, _FARTHEST), _MOST_COLONS):
        head, at = sentence.text[: colon.start()].replace("’", "'").strip(" *_"), sentence.start + colon.end()
        works = (
            requests_text_work(head) or _starts_role_play(head, text) if colon[0] == ":" else requests_work_below(head)
        )
        if works:
            return [(at, fiction_end(text, at, _end_of_block(text, at, len(text))))]
        if colon[0] == ":" and (reports_speech(head) or (names_speaker(head) and _IN_FIRST_PERSON.match(text, at))):
            line = text.find("\n", at)
            empty = line >= 0 and not text[at:line].strip()
            return [(at, _end_of_block(text, at, len(text) if line < 0 or empty else line))]
    return []


def _starts_role_play(head: str, text: str) -> bool:
    """Return whether words before a colon start a role play whose words follow.

    A message that ends with a question is the sender's own ("Act as a doctor: I have a cold, what helps?").
    """
    return requests_role_play(head) and not text.rstrip().endswith("?")


def _around(text: str, sentence: TextSpan, last: bool) -> list[Span]:
    """Return the text that a request without a colon is about: the text after it, or before it if it comes last."""
    words = sentence.text.replace("’", "'").rstrip(" .!?")
    if last:
        return [_before(text, sentence)] if requests_work_nearby(words, before=True) else []
    ends_line = _ENDS_LINE.match(text, sentence.end) is not None
    begins = sentence.text.endswith("?") and _FIRST.search(text, 0, sentence.start) is None
    if requests_work_nearby(words) or ((begins or ends_line) and requests_work_below(words, begins)):
        return [(sentence.end, fiction_end(text, sentence.end, _end_of_block(text, sentence.end, len(text))))]
    return []


def _before(text: str, sentence: TextSpan) -> Span:
    """Return the paragraph before a sentence: the start of its own paragraph, or the previous one."""
    gaps = [0, *(gap.end() for gap in _GAP.finditer(text, 0, sentence.start))]
    alone = not text[gaps[-1] : sentence.start].strip()
    return (gaps[-2] if alone and len(gaps) > 1 else gaps[-1]), sentence.start


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


Span = tuple[int, int]
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


_LONGEST = 400
_ADJECTIVES = r"(?:[\w-]+ ){0,4}?"
_LEAD = r"(?:(?:ok|okay|so|now|well|hi|hello|hey|please|alright|and)[,.!]? )*+"
_SHOWN = re.compile(
    rf"{_LEAD}(?:(?:here(?:'s| is| are| comes)|below is|check out|have a look at|take a look at|read|rate|review|"
    rf"continue|complete|finish|extend) (?:my|our|a|an|the|another|one|some) {_ADJECTIVES}{TEXT}|"
    rf"this is (?:my|our|an? (?:excerpt|extract|scene)|the (?:first|opening|next)) {_ADJECTIVES}{TEXT})"
    r"(?: (?:about|called|titled|from|by|so far|for|of|idea)\b[^,;:]*)?",
    re.IGNORECASE,
)
_MADE_UP = re.compile(
    rf"{_LEAD}(?:"
    # The sender plays a role.
    r"(?:(?:let's|let us|can we|could we|shall we|(?:can|could|would) you|i(?:'d like| want)(?: you)? to|we(?:'re| are)"
    r"(?: going to)?) )?(?:please )?(?:(?:do|start|play|begin|try) (?:a |some )?)?role-? ?play\b.*|"
    r"(?:(?:let's|let us|just|please) )*(?:pretend|imagine|make believe)(?: that| for a \w+| with me)*,? "
    r"(?:i|i'm|i've|we|we're)\b.*|"
    r"(?:my|our) (?:(?!(?:fav|least|best)\w*)[\w&-]+ ){0,2}?(?:character|protagonist|narrator|avatar|alter ego)"
    r"(?:'s (?:name|backstory|story))? (?:is|was|has|comes|lives|goes)\b.*|"
    r"once upon a time\b.*|"
    rf"(?:write|tell|compose|draft|create)\b.*\b{TEXT}\b.*\b(?:(?:perspective|point of view|voice) of (?!me\b|my\b)|"
    r"in (?:the )?first person\b).*)",
    re.IGNORECASE,
)
_WITHIN = re.compile(
    r"\b[Ii]n (?:(?:my|our|this|the|a|an) (?:[\w'&-]+ ){0,3}?(?:story|tale|novel|poem|song|dream|nightmare|fantasy|"
    r"role-? ?play|screenplay|scenario)),? (?=(?:I|I'm|I've|we|we're|my|our)\b)"
)
_TO_WRITE = re.compile(
    rf"{_LEAD}(?:(?:(?:can|could|would|will) you (?:please )?|(?:i|we)(?:'d like| want| need| would like)(?: you)?"
    r"(?: to)? |help me (?:to )?)?(?:write|draft|compose|create|make(?: up)?|generate|invent|tell|sing|give|send))\b"
    rf"(?P<what>[^.!?:]*?\b(?:{TEXT}|e-?mail|message|text|reply|bio(?:graphy)?|cv|r[eé]sum[eé]|profile|intro(?:duction)?|"
    r"post|caption|tweet|statement|ad|advert|toast|vows?|speech|joke|review)s?\b[^.!?:]*?) (?:in which|where|whose|"
    r"that|saying|says|stating|states|telling|about how|as if|as though) (?=.*\b(?:I|I'm|we|my)\b)",
    re.IGNORECASE,
)
# Where the sender speaks about the real world again.
_BACK = re.compile(
    r"(?:(?<=[.!?)\]] )|(?<=\n))(?:(?:but|and|so|ok(?:ay)?|anyway)[,.]? )?(?:in real life|irl\b|in reality|out of "
    r"character|ooc\b|back to (?:me|reality|real life)|for real(?:,| now)|by the way|btw\b|about me|for the record|"
    r"(?:please )?remember that|what do you think|(?:can|could|would|will) you (?:please )?(?:improve|check|rate|fix|"
    r"correct|continue|rewrite|translate|make|review|proofread|edit|shorten|finish))",
    re.IGNORECASE,
)


def announces_fiction(words: str) -> bool:
    """Return whether a sentence introduces invented text: it shows a text, starts a role play or names a character."""
    short = len(words) <= _LONGEST
    return short and (_SHOWN.fullmatch(words) is not None or _MADE_UP.fullmatch(words) is not None)


def fiction_start(words: str) -> int | None:
    """Return the offset where invented text starts within a sentence, or None."""
    found = _TO_WRITE.match(words[:_LONGEST]) or _WITHIN.search(words)
    return found.end() if found else None


def fiction_end(text: str, start: int, end: int) -> int:
    """Return the offset where the sender speaks for themself again, or `end`."""
    back = _BACK.search(text, start, end)
    return back.start() if back else end


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
