"""The proposition: a statement that an extractor found in one event, before it is judged and stored."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.model.facts.fact import DEFAULT_CATEGORY, DEFAULT_IMPORTANCE


class EntityHint(NamedTuple):
    """An entity that a proposition is about.

    `kind` is person, company, project or resource. `role` says why it is mentioned: `speaker` (the person who
    speaks), `relation` (someone close to the speaker), `work` (a project or employer of the speaker), `asked` (the
    text asks to keep it) or `mention`. `entity` is the name of the entity where a model named one that it was shown.
    """

    kind: str
    title: str
    role: str = "mention"
    entity: str | None = None


class FactChange(NamedTuple):
    """What a proposition does to a known fact: `how` is replace, end, same or refine.

    `target` is the id of the fact, or the `key` of a proposition that was found earlier in the same run.
    """

    target: str
    how: str


class Proposition(NamedTuple):
    """A statement proposed by an extractor; `source_text` is exactly the event's text at `span`.

    `ended` means that the triple is no longer true. `former` is the value that the text says was replaced ("from X to
    Y"), and `scope` is the thing in which it was replaced. `corrects` means that the text begins with "No," or the
    like, and `anew` that it describes a change ("now"). `changes` are the known facts that it changes, as a model that
    was shown them said. `valid_from` and `valid_to` are ISO days; confidence and importance are from 0 to 1.
    `doubt` is why the trust is limited, as a clause. `asked` means that the speaker asked to keep it.
    """

    statement: str
    event_id: str
    span: tuple[int, int]
    source_text: str
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    relation_phrase: str | None = None
    category: str = DEFAULT_CATEGORY
    confidence: float = 0.7
    importance: float = DEFAULT_IMPORTANCE
    valid_from: str | None = None
    valid_to: str | None = None
    entity_hints: tuple[EntityHint, ...] = ()
    trust: str = "user"
    ended: bool = False
    former: str | None = None
    said_at: str | None = None
    scope: str | None = None
    corrects: bool = False
    anew: bool = False
    changes: tuple[FactChange, ...] = ()
    doubt: str = ""
    asked: bool = False

    @property
    def key(self) -> str:
        """Return a name for the proposition that is unique within its run: the event and the statement."""
        return f"{self.event_id}:{self.statement}"
