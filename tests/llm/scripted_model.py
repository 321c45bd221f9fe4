"""A command-line model for tests: `python scripted_model.py BEHAVIOUR [TEXT]` does what it is told with a prompt."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path


def main(behaviour: str, text: str = "", *_: str) -> int:
    """Behave as told; return the exit code."""
    if behaviour == "deaf":
        sys.stdout.write(text)
        return 0
    prompt = sys.stdin.read()
    if behaviour == "says":
        sys.stdout.write(text)
    elif behaviour == "records":  # TEXT is a file for what came in
        record = {"prompt": prompt, "environment": dict(os.environ), "folder": os.listdir(), "words": sys.argv[2:]}  # noqa: PTH208
        Path(text).write_text(json.dumps(record))
        sys.stdout.write('{"colour": "green"}')
    elif behaviour == "hangs":  # with a child, whose process id it writes to TEXT
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        Path(text).write_text(str(child.pid))
        time.sleep(600)
    elif behaviour == "leaves":  # a child that keeps stdout open
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        sys.stdout.write(text)
    elif behaviour == "babbles":
        while True:
            sys.stdout.write("x" * 65_536)
    elif behaviour == "fails":
        sys.stderr.write(f"working...\n{text}\n")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
