"""The end of a job without the employer's name: "I got laid off yesterday"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from clawmem.learning.english import grammar
from clawmem.learning.rules.shapes.shape import ClauseShape
from clawmem.model.language.date_words import DateMatch

_OVER = re.compile(
    r"(?:got|was|am|have been|been) (?:laid off|fired|let go|made redundant)|(?:have )?(?:lost|quit|left) my job|"
    r"(?:have )?resigned"
)
# The job before the present one ended longer ago, as a rule.
_RECENT = 31  # days


def lost_job(
    shape: ClauseShape, reading: grammar.ParsedClause, words: str, dates: Iterable[DateMatch], said: date
) -> ClauseShape:
    """Return the shape as the end of the current job, if the job was lost in the last days."""
    told = reading.person == grammar.SELF and shape.predicate is None and not reading.negated
    if not told or not _OVER.fullmatch(f"{reading.verb} {reading.rest}".rstrip(" .!,")):
        return shape
    days = [(said - date.fromisoformat(found.day)).days for found in dates if found.day]
    recent = all(0 <= ago <= _RECENT for ago in days) if days else re.search(r"\bjust\b", words) is not None
    return shape._replace(predicate="works_at", object=None, ended=True) if recent else shape
