"""Exchange: the memories of other programs, and the memory in open formats."""

from clawmem.extension import Extension

EXTENSION = Extension(
    name="exchange",
    verbs={verb: f"clawmem.extensions.exchange.verbs:{verb.upper()}" for verb in ("import", "export")},
)
