"""Start the program that reads a document, within limits of time, memory and output, and take its answer."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from clawmem.errors import InvalidInput, Refused
from clawmem.model.settings.settings import Settings
from clawmem.model.transcripts.documents import DocumentText
from clawmem.programs import install_command, run_within_limits

_READER = Path(__file__).with_name("reader.py")
_PACKAGES = ("pypdfium2>=4.30", "lxml>=5.3", "python-docx>=1.1", "python-pptx>=1.0")
# What Python may need to start.
_PASSED_ON = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_MOST_BYTES, _MOST_ERRORS = 16 << 20, 2_000


def read_document(data: bytes, kind: str, name: str, settings: Settings) -> DocumentText:
    """Return the text of a document whose bytes are of that kind. `name` is its name in messages.

    Raise Refused if the extra `documents` is not installed, InvalidInput if the document cannot be read, has no text,
    or needs more than the settings `documents.seconds` and `documents.megabytes` allow."""
    seconds, megabytes = settings.number("documents.seconds"), int(settings.number("documents.megabytes"))
    limits = (str(seconds), str(megabytes))
    words = [sys.executable, "-IB", "-X", "utf8", str(_READER), kind, *limits, *filter(None, sys.path)]
    environment = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
    run = run_within_limits(words, data, seconds, environment, _MOST_BYTES, _MOST_ERRORS)
    answer = _answer(run.output) if run.code == 0 and not run.too_long else {}
    if "missing" in answer:
        raise Refused(
            f"{name} is read by the extra `documents`, which is not installed.",
            f"Install it with `{install_command('documents', *_PACKAGES)}`.",
        )
    if "problem" in answer:
        raise InvalidInput(f"{name} {answer['problem']}", answer["hint"])
    if "text" in answer:
        mails = tuple(DocumentText(mail["text"], mail=mail["mail"]) for mail in answer.get("mails", ()))
        notices = tuple(f"{name}: {notice}" for notice in answer["notices"])
        return DocumentText(answer["text"], notices, answer["mail"], mails)
    if run.code is None and not run.too_long:
        raise InvalidInput(
            f"{name} takes more than {seconds:g} s to read, and was given up.",
            "Split it, or raise the setting `documents.seconds`.",
        )
    raise InvalidInput(
        f"{name} is damaged, or needs more than {megabytes:,} MB of memory to read.",
        "Open it in the program that made it and save it again, or raise the setting `documents.megabytes`.",
    )


def _answer(output: bytes) -> dict[str, Any]:
    try:
        found = json.loads(output)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
