"""Clients that reach a vault over HTTP: which ones a person allowed, as which agent, and with which tokens.

The record is in the user's configuration folder, outside every vault, and readable for its owner only. It holds tokens
and codes as hashes. A client is asked for by a handle, which its page shows; a person answers with a code from the
terminal, which the page takes. The server reads the record with each request, so that what a person revokes ends.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from hmac import compare_digest
from itertools import count
from secrets import choice, token_urlsafe
from typing import NamedTuple

from clawmem.errors import NotFound, Refused
from clawmem.model.forms import WrongValue, read_record, to_record
from clawmem.model.records.caller import agent_of_client
from clawmem.vault.disk import Disk, writer_lock
from clawmem.vault.git.acceptance import user_folder
from clawmem.vault.vault import Vault

ACCESS_SECONDS = 3_600
REFRESH_SECONDS = 30 * 86_400
ASKING_SECONDS = 600
_UNALLOWED_SECONDS = 3_600
_MOST_UNALLOWED = 100
_MOST_GUESSES = 5
_USED_SECONDS = 60
_WAIT_SECONDS = 5.0
_HANDLE = 6
_LETTERS = "ABCDEFGHJKMNPQRSTVWXYZ23456789"


class RemoteClient(NamedTuple):
    """A client: its own id and name, where it may be led back to, and what a person decided. Times are in seconds.

    `agent` is empty until somebody allowed it. `asking` is the id of the request that waits, and `code` the hash of the
    code that answers it, as the agent `code_agent`. `grant` names its tokens, which work for `resource` alone."""

    id: str
    name: str
    redirects: tuple[str, ...]
    since: int
    agent: str = ""
    used: int = 0
    asking: str = ""
    asked: int = 0
    asked_for: str = ""
    guesses: int = 0
    code: str = ""
    code_agent: str = ""
    grant: str = ""
    resource: str = ""
    access: str = ""
    access_until: int = 0
    refresh: str = ""
    refresh_until: int = 0

    @property
    def handle(self) -> str:
        """Return the letters by which a person names the request that waits."""
        return self.asking[:_HANDLE]


Clients = dict[str, RemoteClient]
Tokens = tuple[str, str]
"""What a client gets: a token for requests, and the one that gets the next two."""


class RemoteClients:
    """The record of one vault. `seconds` tells the time."""

    def __init__(self, vault: Vault, seconds: Callable[[], float]) -> None:
        name = hashlib.sha256(os.path.realpath(vault.git_dir).encode()).hexdigest()[:16]
        self._folder = user_folder(vault.environment) / "remote"
        self._path = self._folder / f"{name}.json"
        self._seconds = seconds
        self._read: tuple[object, Clients] = (None, {})

    def now(self) -> int:
        """Return the time in seconds."""
        return int(self._seconds())

    def all(self) -> Mapping[str, RemoteClient]:
        """Return the clients by their ids. A damaged record allows nobody. Raise OSError if it cannot be read."""
        try:
            status = self._path.stat()
            seen = (status.st_ino, status.st_mtime_ns, status.st_size)
            if self._read[0] != seen:
                rows = json.loads(self._path.read_bytes())["clients"]
                self._read = seen, {client.id: client for row in rows for client in (read_record(RemoteClient, row),)}
        except (FileNotFoundError, ValueError, TypeError, KeyError, RecursionError, WrongValue):
            self._read = None, {}
        return self._read[1]

    @contextmanager
    def changing(self) -> Iterator[Clients]:
        """Yield the clients that are worth keeping, by their ids, and store what they are made into."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with writer_lock(self._folder / "lock", _WAIT_SECONDS, "clients"):
            clients = {
                key: each
                for key, each in self.all().items()
                if each.agent or self.now() - each.since < _UNALLOWED_SECONDS
            }
            yield clients
            text = json.dumps({"clients": [to_record(client, ("", 0)) for client in clients.values()]}, indent=1)
            Disk().replace(self._path, text.encode() + b"\n", self._folder)

    def register(self, client: RemoteClient) -> None:
        """Add a client that nobody has allowed. The one of these that is there longest makes room."""
        with self.changing() as clients:
            waiting = [other.id for other in clients.values() if not other.agent and not other.code]
            for other in waiting[: max(0, len(waiting) + 1 - _MOST_UNALLOWED)]:
                del clients[other]
            clients[client.id] = client

    def ask(self, client: str, target: str) -> str:
        """Note that a client asks to be allowed and led to a target; return the id of the request. Raise NotFound."""
        asking = "".join(choice(_LETTERS) for _ in range(26))
        with self.changing() as clients:
            clients[client] = _answered(_of(clients, client))._replace(
                asking=asking, asked=self.now(), asked_for=target
            )
        return asking

    def asked(self, asking: str) -> RemoteClient | None:
        """Return the client that asks with this id, or None."""
        found = next((client for client in self.all().values() if asking and client.asking == asking), None)
        return found if found is not None and self.now() - found.asked < ASKING_SECONDS else None

    def waiting(self, handle: str) -> RemoteClient:
        """Return the client that a person names by the handle of its request. Raise NotFound."""
        found = [client for client in self.all().values() if client.asking and client.handle == handle.upper()]
        if len(found) != 1 or self.asked(found[0].asking) is None:
            raise NotFound(f"No client asks as '{handle}'.", "Its page shows six letters, for 10 minutes.")
        return found[0]

    def new_code(self, asking: str, agent: str) -> str:
        """Return a code that allows the client of a request, once, as an agent. Raise NotFound."""
        code = "".join(choice(_LETTERS) for _ in range(8))
        with self.changing() as clients:
            client = next((each for each in clients.values() if each.asking == asking), None)
            if client is None:
                raise NotFound("The request is over.", "Let the client ask again.")
            clients[client.id] = client._replace(code=_hash(code), code_agent=agent, guesses=0)
        return f"{code[:4]}-{code[4:]}"

    def allow(self, asking: str, code: str) -> RemoteClient | None:
        """Return the client of a request if the code is the right one, which allows it; the request is then over. It is
        over after some wrong codes, too."""
        typed = _hash("".join(letter for letter in code.upper() if letter.isalnum()))
        if self.asked(asking) is None:
            return None
        with self.changing() as clients:
            client = self.asked(asking)
            if client is None:
                return None
            if client.code and compare_digest(client.code, typed):
                clients[client.id] = _answered(client)._replace(agent=client.code_agent)
                return clients[client.id]
            guessed = client._replace(guesses=client.guesses + 1)
            clients[client.id] = guessed if guessed.guesses < _MOST_GUESSES else _answered(client)
        return None

    def grant(self, client: str, resource: str) -> Tokens:
        """Return tokens for a client that was allowed; those that it had end. Raise NotFound."""
        with self.changing() as clients:
            found = _of(clients, client)
            clients[client], tokens = self._granted(found._replace(grant=token_urlsafe(16), resource=resource))
        return tokens

    def renew(self, token: str) -> Tokens | None:
        """Return new tokens for one that gets new ones, which works once; None for another one. One that was used
        before ends all that the client has: somebody else may have it."""
        with self.changing() as clients:
            client = self._holder(clients, token)
            if client is None or client.refresh_until <= self.now():
                return None
            if not compare_digest(client.refresh, _hash(token)):
                clients[client.id] = _without_tokens(client)
                return None
            clients[client.id], tokens = self._granted(client)
        return tokens

    def of_refresh(self, token: str) -> RemoteClient | None:
        """Return the client whose tokens a token to renew belongs to, used or not."""
        return self._holder(self.all(), token)

    def of_access(self, token: str) -> RemoteClient | None:
        """Return the client that a token for requests belongs to, if it is valid, and note that it is in use."""
        client = self._holder(self.all(), token)
        if client is None or not compare_digest(client.access, _hash(token)) or client.access_until <= self.now():
            return None
        if self.now() - client.used >= _USED_SECONDS:
            with self.changing() as clients:
                if client.id in clients:
                    clients[client.id] = clients[client.id]._replace(used=self.now())
        return client

    def end_tokens(self, client: str) -> None:
        """End the tokens of a client. It stays in the list."""
        with self.changing() as clients:
            if client in clients:
                clients[client] = _without_tokens(clients[client])

    def revoke(self, name: str) -> RemoteClient:
        """Remove the client with this id, name or agent. Raise NotFound, and Refused where several have it."""
        with self.changing() as clients:
            named = [client for client in clients.values() if name in (client.agent, client.name)]
            named = [clients[name]] if name in clients else named  # a client may call itself by another one's id
            # A stranger chooses the name of a client that nobody allowed.
            found = [client for client in named if client.agent] or named
            if not found:
                raise NotFound(f"There is no client '{name}'.", "`clawmem mcp clients` lists them.")
            if len(found) > 1:
                raise Refused(f"{len(found)} clients are called '{name}'.", "Name one by its id.")
            del clients[found[0].id]
        return found[0]

    def free_agent(self, name: str, others: Collection[str]) -> str:
        """Return the id of an agent for a client with this name: not one of the others, nor of another client."""
        agent, taken = agent_of_client(name), {*others, *(client.agent for client in self.all().values())}
        numbered = (f"{agent}-{number}" for number in count(2))
        return agent if agent not in taken else next(found for found in numbered if found not in taken)

    def _granted(self, client: RemoteClient) -> tuple[RemoteClient, Tokens]:
        access, refresh = (f"{client.grant}.{token_urlsafe(32)}" for _ in range(2))
        granted = client._replace(
            used=self.now(),
            access=_hash(access),
            access_until=self.now() + ACCESS_SECONDS,
            refresh=_hash(refresh),
            refresh_until=self.now() + REFRESH_SECONDS,
        )
        return granted, (access, refresh)

    def _holder(self, clients: Mapping[str, RemoteClient], token: str) -> RemoteClient | None:
        grant = token.partition(".")[0]
        return next((each for each in clients.values() if each.grant and each.agent and each.grant == grant), None)


def _of(clients: Clients, client: str) -> RemoteClient:
    with suppress(KeyError):
        return clients[client]
    raise NotFound("The client is not known.", "Let it register again.")


def _answered(client: RemoteClient) -> RemoteClient:
    return client._replace(asking="", asked=0, asked_for="", guesses=0, code="", code_agent="")


def _without_tokens(client: RemoteClient) -> RemoteClient:
    return client._replace(grant="", resource="", access="", refresh="", access_until=0, refresh_until=0)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
