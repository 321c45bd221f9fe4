"""Pages for people, with a generated part between markers: an entity's `summary.md`, `life/index.md`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from clawmem.model.facts.fact import ACTIVE, Fact, importance_of
from clawmem.model.facts.fact_words import labels
from clawmem.model.facts.validity import is_over
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import one_line
from clawmem.model.lifecycle.tiers import COLD, HOT, RECENCY_POLICY, WARM, tier_of
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.pages.tokens import fact_dates
from clawmem.model.proposals.promotion import promotion_of
from clawmem.model.proposals.quarantine import quarantine_rule
from clawmem.model.records.entity import ROOTS, Entity, kind_of
from clawmem.model.search.ranking import RankingFeatures, ordered

INDEX_PATH = "life/index.md"
BEGIN = "<!-- clawmem:begin -->"
END = "<!-- clawmem:end -->"
MAX_FACTS = 40
MAX_INDEX_ROWS = 500
_OVER = "over"
INVITATION = "<!-- Write here. clawmem rewrites only what is between its two marks below. -->"

# A mark must be alone on its line, because prose may mention the marks.
_MARK = re.compile(r"^[ \t]*<!-- clawmem:(begin|end) -->[ \t]*\r?$", re.MULTILINE)
# One without an end reaches to the end of the text, so that it is read once.
_COMMENT = re.compile(r"<!--.*?(?:-->|(?P<open>\Z))", re.DOTALL)
_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE | re.DOTALL)


class IndexRow(NamedTuple):
    """The index entry of an entity: its number of current facts, and the day of the newest one."""

    name: str
    title: str
    facts: int = 0
    newest: str | None = None


def summary_page(entity: Entity, created: str, generated: str = "") -> str:
    """Return a new `summary.md`: front matter, a place for text, and the generated part. `created` is a day."""
    head = f"{front_matter(entity, created)}\n# {one_line(entity.title)}\n\n{INVITATION}\n"
    return with_generated(head, generated)


def front_matter(entity: Entity, created: str) -> str:
    """Return the front matter of a summary, with its fences: title, kind, aliases, created."""
    aliases = ", ".join(yaml_scalar(alias) for alias in entity.aliases)
    lines = (
        "---",
        f"title: {yaml_scalar(entity.title)}",
        f"kind: {yaml_scalar(entity.kind or kind_of(entity.name))}",
        f"aliases: [{aliases}]",
        f"created: {yaml_scalar(created)}",
        "---",
    )
    return "\n".join(lines) + "\n"


def yaml_scalar(text: str) -> str:
    """Return text as a double-quoted YAML scalar on one line: a JSON string with unprintable characters escaped."""
    quoted = json.dumps(text, ensure_ascii=False)
    if quoted.isprintable():
        return quoted
    return "".join(letter if letter.isprintable() else _escaped(letter) for letter in quoted)


def _escaped(letter: str) -> str:
    return f"\\u{ord(letter):04x}" if ord(letter) < 0x10000 else f"\\U{ord(letter):08x}"


def split_front_matter(text: str) -> tuple[str | None, str]:
    """Return the YAML between the `---` fences that start a page, and the rest, or None and the whole text."""
    match = _FRONT.match(text)
    return (match[1], text[match.end() :]) if match else (None, text)


def with_generated(text: str, generated: str) -> str:
    """Return the page with the generated part between the markers; everything else stays unchanged, byte for byte.

    If there are several markers, the first `begin` that is directly followed by an `end` counts. If there is no such
    pair, a new one is appended, so that people's text never gets between broken markers.
    """
    inner = generated.replace("<!--", "&lt;!--").strip("\n")
    inner = f"{inner}\n" if inner else ""
    place = _place(text)
    if place:
        return text[: place[0]] + inner + text[place[1] :]
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}{BEGIN}\n{inner}{END}\n"


def generated_part(text: str) -> str | None:
    """Return the text between the markers that `with_generated` would use, or None if there are none."""
    place = _place(text)
    return text[place[0] : place[1]] if place else None


def own_text(text: str) -> str:
    """Return what people wrote in a summary, without front matter, title, comments and generated part."""
    _, body = split_front_matter(text)
    shown = with_generated(body, "") if marker_problem(body) is None else body
    own = _COMMENT.sub(lambda comment: comment[0] if comment["open"] is not None else "", shown)
    return "\n".join(line for line in own.splitlines() if not line.startswith("# ")).strip()


def prose(text: str) -> str:
    """Return the same on one line."""
    return one_line(own_text(text))


def with_own_text(text: str, added: str) -> str:
    """Return a summary with more text by people, before the generated part or at the end."""
    place = text.find(BEGIN) if _place(text) else -1
    if not added:
        return text
    return f"{text[:place]}{added}\n\n{text[place:]}" if place >= 0 else f"{text.rstrip()}\n\n{added}\n"


def marker_problem(text: str) -> str | None:
    """Return what is wrong with a page's markers, as a sentence, or None if there are none or one pair."""
    marks = [match[1] for match in _MARK.finditer(text)]
    if marks in ([], ["begin", "end"]):
        return None
    return f"it has {marks.count('begin')} begin and {marks.count('end')} end marks of clawmem instead of one pair"


def _place(text: str) -> tuple[int, int] | None:
    begin = None
    for match in _MARK.finditer(text):
        if match[1] == "begin":
            begin = match
        elif begin:
            return begin.end() + 1, match.start()
    return None


class TierRule(NamedTuple):
    """How tiers are told: the policy of `tiers.policy`, and the importance that facts had before accesses raised it."""

    policy: str = RECENCY_POLICY
    bases: Mapping[str, float] = {}


BY_RECENCY = TierRule()


def facts_block(
    name: str,
    facts: Iterable[Fact],
    now: datetime,
    maximum: int = MAX_FACTS,
    today: str | None = None,
    rule: TierRule = BY_RECENCY,
) -> str:
    """Return the generated part of an entity's summary: what holds now by tier, then what is over.

    Promoted facts come first, then hot and warm ones, each group in ranking order, and at most `maximum` facts in all;
    cold ones and the rest are counted, with the command that shows them. The tiers are those of `now`; a fact is over
    if it is at `today` (a moment, default `now`).
    """
    active = {fact.id: fact for fact in facts if fact.status == ACTIVE and not quarantine_rule(fact)}
    features = ordered(_features(fact, now, today, rule) for fact in active.values())
    groups: dict[str, list[Fact]] = {"promoted": [], HOT: [], WARM: [], COLD: [], _OVER: []}
    for each in features:
        groups[_group(active[each.id], each.tier, today or stamp(now))].append(active[each.id])
    del groups[COLD]
    blocks, left = [], maximum
    for group, found in groups.items():
        blocks.append(_tier_block(group, found[:left]))
        left -= len(found[:left])
    return "\n\n".join(filter(None, [*blocks, _rest(name, maximum - left, len(active))]))


def _group(fact: Fact, tier: str, today: str) -> str:
    if is_over(fact, today):
        return _OVER
    return "promoted" if promotion_of(fact) else tier


def _features(fact: Fact, now: datetime, today: str | None, rule: TierRule) -> RankingFeatures:
    tier = tier_of(fact, now, today, rule.policy, rule.bases.get(fact.id))
    return RankingFeatures(fact.id, tier, fact.access_count, importance_of(fact), fact.timestamp)


def _tier_block(tier: str, facts: Sequence[Fact]) -> str:
    if not facts:
        return ""
    return f"## {'What is over' if tier == _OVER else f'{tier.capitalize()} facts'}\n\n" + "\n".join(
        f"- {one_line(fact.fact)} ({', '.join([fact_dates(fact), *labels(fact), fact.id])})" for fact in facts
    )


def _rest(name: str, shown: int, total: int) -> str:
    if shown == total:
        return "" if total else "No facts yet."
    more = "more " if shown else ""
    noun = "fact" if total - shown == 1 else "facts"
    return f"{total - shown} {more}{noun} not shown: `clawmem list --entity {name}`"


def index_page(text: str, rows: Iterable[IndexRow], wiki_links: bool = False) -> str:
    """Return `life/index.md` with the list of entities between its markers; everything else stays unchanged."""
    return with_generated(text, index_block(rows, wiki_links))


def index_block(rows: Iterable[IndexRow], wiki_links: bool = False) -> str:
    """Return the entities by PARA root, each with a link to its summary, its number of facts and the newest day."""
    by_root: dict[str, list[IndexRow]] = {root: [] for root in ROOTS}
    for row in sorted(rows):
        by_root.setdefault(row.name.split("/", 1)[0], []).append(row)
    blocks = [_root_block(root, found, wiki_links) for root, found in by_root.items() if found]
    return "\n\n".join(blocks) or "No entities yet."


def _root_block(root: str, rows: Sequence[IndexRow], wiki_links: bool) -> str:
    lines = [_index_line(row, wiki_links) for row in rows[:MAX_INDEX_ROWS]]
    if len(rows) > MAX_INDEX_ROWS:
        lines.append(f"- {len(rows) - MAX_INDEX_ROWS} more: `clawmem entity list`")
    return f"## {root.capitalize()}\n\n" + "\n".join(lines)


def _index_line(row: IndexRow, wiki_links: bool) -> str:
    title = re.sub(r"([\[\]\\])", r"\\\1", one_line(row.title))
    link = f"[{title}]({row.name}/summary.md)"
    if wiki_links and not set("[]|") & {*row.title}:
        link = f"[[life/{row.name}/summary|{one_line(row.title)}]]"
    facts = "no facts" if row.facts == 0 else f"{row.facts} fact{'' if row.facts == 1 else 's'}"
    newest = f", newest {day_of(row.newest)}" if row.newest and row.facts else ""
    return f"- {link} `{row.name}`: {facts}{newest}"
