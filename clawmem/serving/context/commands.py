"""The commands that a served text names, for whoever reads it to see the rest."""

from typing import NamedTuple

from clawmem.index.search.channels import FactFilter
from clawmem.model.pages.packing import OmittedHint
from clawmem.model.pages.tokens import cut, servable

_LONGEST_ASKED = 200


class FollowUpCommands(NamedTuple):
    """The commands that show a reader the facts of a filter, those that answer a question, and what else does."""

    list: str
    recall: str
    others: str

    def of_all(self) -> OmittedHint:
        """The commands for what was left out of a whole context."""
        return OmittedHint(self.list, self.others)


def commands(wanted: FactFilter, question: str | None) -> FollowUpCommands:
    """The commands, with the options that this reader's filter needs."""
    given = (
        ("agent", next((owner for owner in wanted.owners if owner), None)),
        ("entity", wanted.entity),
        ("category", wanted.category and quoted(wanted.category)),
        ("tag", wanted.tag and quoted(wanted.tag)),
        ("as-of", wanted.as_of),
    )
    options = "".join(f" --{name} {value}" for name, value in given if value)
    asked = quoted(question) if question else "QUESTION"
    recall = f"clawmem recall {asked}{options}"
    return FollowUpCommands(f"clawmem list{options}", recall, f"{recall} --in all")


def quoted(words: str) -> str:
    """Words as a shell takes them for one, short and on one line."""
    told = cut(servable(words), _LONGEST_ASKED).replace("`", "'")
    return "'" + told.replace("'", "'\\''") + "'"


def replaced_remark(wanted: FactFilter, question: str, moment: str) -> str:
    """That what held at a moment was replaced since, so that it is not told, and the command that shows it."""
    shows = commands(wanted._replace(as_of=moment), question).recall
    return f"what held on {moment} was replaced since: `{shows}` shows it"
