"""Settings: their kinds, and the validation of values."""

from clawmem.errors import InvalidInput
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.entity import ROOTS, check_agent, check_name

Value = int | float | bool | str
PLACES = ("own", "life", "records", "settings", "all")


class Setting(NamedTuple):
    """One key: its kind (int, float, bool, text, optional, address, variable, words, names, entity, places, routes,
    delegations or choice), default and meaning.

    `offline` holds the values of a local key with which nothing is sent anywhere.
    """

    key: str
    kind: str
    default: Value
    about: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    offline: tuple[str, ...] = ()


def check_value(setting: Setting, value: object) -> Value:
    """Return the value if it has the setting's kind and is within its bounds; else raise InvalidInput."""
    if setting.kind == "bool" and isinstance(value, bool):
        return value
    if setting.kind in ("int", "float") and isinstance(value, int | float) and not isinstance(value, bool):
        return _bounded(setting, value)
    if setting.kind == "choice" and value in setting.choices:
        return str(value)
    if setting.kind == "places":
        return _places(setting, value)
    if setting.kind == "words":
        return _words(setting, value)
    if setting.kind in ("routes", "delegations"):
        return _routes(setting, value)
    if setting.kind in ("names", "pairs"):
        return _names(setting, value)
    if setting.kind in ("optional", "variable", "address") and isinstance(value, str) and "\n" not in value:
        checks = {"variable": _variable, "address": _address}
        return checks[setting.kind](setting, value.strip()) if setting.kind in checks else value.strip()
    if setting.kind in ("text", "entity") and isinstance(value, str) and value.strip() and "\n" not in value:
        return _entity(setting, value) if setting.kind == "entity" else value.strip()
    raise wrong_value(setting, value)


def _routes(setting: Setting, value: object) -> str:
    """Read the lines of routes or delegations, as a list or as text. Return them as text on one line."""
    if value in ("", []):
        return ""
    if isinstance(value, list) and all(isinstance(other, str) for other in value):
        value = "\n".join(other.replace("\n", " ") for other in value)
    if not isinstance(value, str):
        raise wrong_value(setting, value)
    from clawmem.model.proposals.routes import read_delegations, read_routes, written  # few vaults have routes

    try:
        return written(read_routes(value) if setting.kind == "routes" else read_delegations(value))
    except InvalidInput as problem:
        raise InvalidInput(
            f"The setting {setting.key} is wrong in {problem.message}.", f"It must be {describe_values(setting)}."
        ) from None


def _words(setting: Setting, value: object) -> str:
    """Read the words of a command, as a list or as text with the quotes of a shell. Return them as such a text."""
    if value in ("", []):
        return ""
    import shlex  # hot verbs read the settings, and most machines set no command

    argument = value
    if isinstance(value, str):
        try:
            argument = shlex.split(value)
        except ValueError:
            raise wrong_value(setting, value) from None
    if not isinstance(argument, list) or not all(isinstance(text, str) and "\0" not in text for text in argument):
        raise wrong_value(setting, value)
    if any("\n" in other for other in argument) or (argument and not argument[0].strip()):
        raise wrong_value(setting, value)
    return shlex.join(argument)


def _names(setting: Setting, value: object) -> str:
    """Read names, as a list or as text separated by commas; with `choices`, only those. Of pairs, each is `A = B`."""
    if setting.kind == "pairs" and value in ("", []):
        return ""
    listed = value.split(",") if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(other, str) for other in listed):
        raise wrong_value(setting, value)
    names = [" ".join(other.split()) for other in listed]
    if setting.kind == "pairs" and not all(len(name.split(" = ")) == 2 for name in names):
        raise wrong_value(setting, value)
    if not names or "" in names or (setting.choices and not set(names) <= set(setting.choices)):
        raise wrong_value(setting, value)
    return ", ".join(dict.fromkeys(names))


def _places(setting: Setting, value: object) -> str:
    """Read places, as a list or as text separated by commas or blanks: words, entities, roots or `@AGENT`."""
    listed = value.replace(",", " ").split() if isinstance(value, str) else value
    if not isinstance(listed, list) or not listed or not all(isinstance(other, str) for other in listed):
        raise wrong_value(setting, value)
    for other in listed:
        _place(setting, value, other)
    return ", ".join(dict.fromkeys(other.strip("/") for other in listed))


def _place(setting: Setting, value: object, text: str) -> None:
    if text in PLACES or text.strip("/") in ROOTS:
        return
    try:
        if text.startswith("@") and "/" not in text.strip("/"):
            check_agent(text.strip("/")[1:])
        else:
            check_name(text)
    except InvalidInput:
        raise wrong_value(setting, value) from None


def _variable(setting: Setting, value: str) -> str:
    """Read the name of a variable. An API key pasted by mistake usually has mixed case, and is not repeated."""
    if not value or (value.isascii() and value.isidentifier() and (value.isupper() or value.islower())):
        return value
    raise InvalidInput(
        f"The setting {setting.key} must be {describe_values(setting)}; the given text is not shown: it may be a key.",
        f"It sets {setting.about}.",
    )


def _address(setting: Setting, value: str) -> str:
    """Read the address of a server. One with a password is refused, and not repeated."""
    if not has_password(value):
        return value
    raise InvalidInput(
        f"The setting {setting.key} must have no password; the given text is not shown.",
        "Give the password in ~/.pgpass, a service file or PGPASSWORD, and the address without it.",
    )


def has_password(address: str) -> bool:
    """Return whether an address may have a password: `NAME:PASSWORD@`, no port behind a host, or by a parameter."""
    if any(word in address.casefold() for word in ("password", "%70", "passwd")):
        return True
    if address.startswith(("/", "~", ".")):
        return False
    server = address.partition("://")[2] or address
    user, at, _ = server.rpartition("@")
    if at:
        return ":" in user
    hosts = server.partition("?")[0].partition("/")[0] if "://" in address else ""
    return any(not _is_host(word) for word in hosts.split(","))


def _is_host(text: str) -> bool:
    """Return whether a text is a host, maybe with a port; one of IPv6 is in brackets."""
    port = text.partition("]")[2] if text.startswith("[") else text
    _, colon, number = port.partition(":")
    return not colon or not number or number.isdigit()


def _entity(setting: Setting, value: str) -> str:
    try:
        return check_name(value)
    except InvalidInput:
        raise wrong_value(setting, value) from None


def _bounded(setting: Setting, value: int | float) -> int | float:
    whole = isinstance(value, int) or value.is_integer()
    if setting.kind == "int" and not whole:
        raise wrong_value(setting, value)
    if not (setting.low is None or value >= setting.low) or not (setting.high is None or value <= setting.high):
        raise wrong_value(setting, value)
    return int(value) if setting.kind == "int" else float(value)


def wrong_value(setting: Setting, value: object) -> InvalidInput:
    """Return the error for an invalid value."""
    shown = "true" if value is True else "false" if value is False else str(value)
    return InvalidInput(
        f"The setting {setting.key} is '{shown[:60]}', but must be {describe_values(setting)}.",
        f"It sets {setting.about}; the default is {_formatted(setting.default)}.",
    )


_ACCEPTED = {
    "bool": "true or false",
    "entity": "the name of an entity, such as areas/general",
    "places": f"places: {', '.join(PLACES)}, an entity, a root such as projects, or @AGENT",
    "pairs": "pairs such as `host/owner/name = host/owner/other`, separated by commas, or nothing",
    "optional": "text on one line, or nothing",
    "address": "an address without a password, or nothing",
    "variable": "the name of an environment variable, or nothing",
    "routes": "lines of a pattern and people, such as `kind:guardrail ada@example.org`: a list or one text",
    "delegations": "lines of a pattern, an agent and who delegated, as `clawmem review delegate` writes them",
    "words": "words on one line, those of a program quoted as in a shell, or nothing",
    "text": "text on one line, in quotes if it looks like a number or a date",
}


def describe_values(setting: Setting) -> str:
    """Describe the values that a setting accepts."""
    if setting.kind == "choice":
        return " or ".join(setting.choices)
    if setting.kind == "names":
        among = f" among {', '.join(setting.choices)}" if setting.choices else ""
        return f"names separated by commas{among}"
    if setting.kind in _ACCEPTED:
        return _ACCEPTED[setting.kind]
    noun = "a whole number" if setting.kind == "int" else "a number"
    return f"{noun} from {setting.low:,.10g} to {setting.high:,.10g}" if setting.high is not None else noun


def _formatted(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value) or "nothing"
