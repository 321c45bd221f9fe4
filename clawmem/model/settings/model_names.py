"""The names of models in the settings: of one task, and of programs."""

from clawmem.model.settings.settings import Settings

EXTRACT, JUDGE, SYNTHESIZE = "extract", "judge", "synthesize"
TASKS = (EXTRACT, JUDGE, SYNTHESIZE, "digest", "evaluate")
COMMAND = "command"


def is_command(name: str) -> bool:
    """Return whether the name of a model stands for a program: `command`, or `command/NAME`."""
    return name == COMMAND or name.startswith(f"{COMMAND}/")


def model_names(settings: Settings) -> tuple[str, ...]:
    """Return the names of all models that the settings of `llm` name, each once."""
    keys = ("llm.model", *(f"llm.{task}_model" for task in TASKS))
    return tuple(dict.fromkeys(str(name) for key in keys if (name := settings.values.get(key))))
