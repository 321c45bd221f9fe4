"""The tools over HTTP, for clients behind a tunnel or a reverse proxy: `clawmem mcp --http`.

The official SDK serves: streamable HTTP without sessions, and an authorisation server of its own. What is here decides
who may pass: which hosts and origins, which clients a person allowed, and how much a stranger can make wait.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import math
import os
import signal
import socket
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from secrets import token_urlsafe
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from mcp.server.auth import provider as oauth
from mcp.server.auth.handlers.metadata import MetadataHandler
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.routes import build_metadata
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.transport_security import RequestBodyLimitMiddleware, TransportSecuritySettings
from mcp.shared.auth import InvalidRedirectUriError, OAuthToken
from mcp.shared.auth import OAuthClientInformationFull as ClientInformation
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams
from pydantic import AnyUrl
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from clawmem import __version__
from clawmem.errors import NotFound, Refused
from clawmem.faces.mcp import server as stdio
from clawmem.faces.verbs.mcp import is_loopback
from clawmem.memory.remote_clients import ACCESS_SECONDS, RemoteClient, RemoteClients
from clawmem.model.language.text import visible
from clawmem.model.records.caller import UNNAMED_AGENT
from clawmem.platform.processes import ENDING_SIGNALS
from clawmem.runtime import Runtime

_PATH, _ALLOW = "/mcp", "/allow"
_MOST_CONNECTIONS = 64
_MOST_WAITING = 8
_LOOK_SECONDS, _MOST_LOOKS, _END_SECONDS, _CODE_SECONDS = 10.0, 30, 5, 60
_FORM_BYTES, _HEAD_BYTES = 65_536, 32_768
_LONGEST_NAME, _LONGEST_URI, _MOST_URIS, _MOST_ASKING = 60, 500, 10, 200
# A browser applies `form-action` to where a form leads on, too, so that it would have to name every client's address.
_PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class _Client(ClientInformation):
    """A client without a secret: what it proves is the verifier of its request (PKCE)."""

    def validate_redirect_uri(self, redirect_uri: AnyUrl | None) -> AnyUrl:
        """Return the address; on loopback any port of a registered one will do, as RFC 8252 asks."""
        try:
            return super().validate_redirect_uri(redirect_uri)
        except InvalidRedirectUriError:
            if redirect_uri is not None and any(
                is_loopback(known.host) and _without_port(known) == _without_port(redirect_uri)
                for known in self.redirect_uris or ()
            ):
                return redirect_uri
            raise

    def validate_scope(self, requested_scope: str | None) -> list[str] | None:
        """Return no scope: what a client may do is what its agent may do."""
        return []


class Authorisation(
    oauth.OAuthAuthorizationServerProvider[oauth.AuthorizationCode, oauth.RefreshToken, oauth.AccessToken]
):
    """What the SDK's authorisation server asks of the record of clients. `resource` is the one address that tokens work
    for."""

    def __init__(self, clients: RemoteClients, issuer: str, resource: str) -> None:
        self.clients = clients
        self._issuer = issuer
        self._resource = resource
        self._asking: dict[str, oauth.AuthorizationParams] = {}
        self._codes: dict[str, tuple[int, oauth.AuthorizationCode]] = {}

    async def get_client(self, client_id: str) -> ClientInformation | None:
        """Return a registered client."""
        client = self.clients.all().get(client_id)
        if client is None:
            return None
        uris = [AnyUrl(uri) for uri in client.redirects]
        return _Client(client_id=client.id, redirect_uris=uris, token_endpoint_auth_method="none")

    async def register_client(self, client_info: ClientInformation) -> None:
        """Register a client, without a secret."""
        uris = tuple(str(uri) for uri in client_info.redirect_uris or ())
        if not 0 < len(uris) <= _MOST_URIS or not all(map(_may_lead_to, uris)):
            raise oauth.RegistrationError("invalid_redirect_uri", "A redirect URI is https, or http on loopback.")
        client_info.client_secret = client_info.client_secret_expires_at = None
        client_info.token_endpoint_auth_method = "none"
        name = visible(" ".join((client_info.client_name or "").split()))[:_LONGEST_NAME] or "a client without a name"
        self.clients.register(RemoteClient(client_info.client_id, name, uris, self.clients.now()))

    async def authorize(self, client: ClientInformation, params: oauth.AuthorizationParams) -> str:
        """Return the page that asks for the code of a person."""
        if (params.resource or self._resource).rstrip("/") != self._resource:
            raise oauth.AuthorizeError("invalid_target", f"This server is {self._resource}.")
        asking = self.clients.ask(client.client_id, str(params.redirect_uri))
        self._asking[asking] = params
        while len(self._asking) > _MOST_ASKING:
            del self._asking[next(iter(self._asking))]
        return f"{self._issuer}{_ALLOW}?request={asking}"

    def allow(self, asking: str, typed: str) -> str | None:
        """Return where the client of a request is led to if the code is right; None if it is not."""
        params, now = self._asking.get(asking), self.clients.now()
        client = self.clients.allow(asking, typed) if params is not None else None
        if params is None or client is None:
            return None
        del self._asking[asking]
        self._codes = {key: pair for key, pair in self._codes.items() if pair[0] > now}
        code = oauth.AuthorizationCode(
            code=token_urlsafe(32), scopes=[], expires_at=math.inf, client_id=client.id,
            code_challenge=params.code_challenge, redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly, resource=self._resource,
        )  # fmt: skip
        self._codes[code.code] = now + _CODE_SECONDS, code
        return oauth.construct_redirect_uri(
            str(params.redirect_uri), code=code.code, state=params.state, iss=self._issuer
        )

    async def load_authorization_code(
        self, client: ClientInformation, authorization_code: str
    ) -> oauth.AuthorizationCode | None:
        """Return a code, which is worth nothing afterwards, whatever else the request gets wrong."""
        until, code = self._codes.get(authorization_code, (0, None))
        if code is None or code.client_id != client.client_id:
            return None
        del self._codes[authorization_code]
        return code if until > self.clients.now() else None

    async def exchange_authorization_code(
        self, client: ClientInformation, authorization_code: oauth.AuthorizationCode
    ) -> OAuthToken:
        """Return tokens."""
        try:
            return _token(*self.clients.grant(client.client_id, self._resource))
        except NotFound:
            raise oauth.TokenError("invalid_grant") from None

    async def load_refresh_token(self, client: ClientInformation, refresh_token: str) -> oauth.RefreshToken | None:
        """Return a token to renew, used or not."""
        found = self.clients.of_refresh(refresh_token)
        if found is None or found.id != client.client_id:
            return None
        return oauth.RefreshToken(token=refresh_token, client_id=found.id, scopes=[])

    async def exchange_refresh_token(
        self, client: ClientInformation, refresh_token: oauth.RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        """Return new tokens. A token that was used before ends all of the client's."""
        tokens = self.clients.renew(refresh_token.token)
        if tokens is None:
            raise oauth.TokenError("invalid_grant", "The refresh token is not valid any more.")
        return _token(*tokens)

    async def load_access_token(self, token: str) -> oauth.AccessToken | None:
        """Return a valid token, with the agent that its client is as the subject."""
        found = self.clients.of_access(token)
        if found is None:
            return None
        return oauth.AccessToken(
            token=token, client_id=found.id, scopes=[], resource=found.resource, subject=found.agent
        )

    async def revoke_token(self, token: oauth.AccessToken | oauth.RefreshToken) -> None:
        """End all tokens of the client."""
        self.clients.end_tokens(token.client_id)

    async def revoke(self, request: Request) -> Response:
        """Answer a request to revoke a token. The SDK's own handler takes none of a client without a secret."""
        form = await request.form(max_files=0)
        client, token = await self.get_client(str(form.get("client_id"))), str(form.get("token"))
        if client is None:
            return Response(status_code=401)
        found = await self.load_access_token(token) or await self.load_refresh_token(client, token)
        if found is not None and found.client_id == client.client_id:
            await self.revoke_token(found)
        return Response()

    async def page(self, request: Request) -> Response:
        """Answer with the page that asks for the code, or lead the browser back to the client."""
        asking = request.query_params.get("request", "")
        client = self.clients.asked(asking)
        if client is None or asking not in self._asking:
            return _page("This request is over", "<p>Let the client ask again.</p>", 404)
        wrong = ""
        if request.method == "POST":
            where = self.allow(asking, str((await request.form(max_files=0)).get("code", "")))
            if where is not None:
                return RedirectResponse(where, 303, _PAGE_HEADERS)
            wrong = "<p><strong>That is not the code.</strong> After five wrong ones the request is over.</p>"
        return _page("Allow a client?", wrong + _question(client), 403 if wrong else 200)


class _Door:
    """What a request must be before anything else looks at it: for this host, from no other site, of a usual size."""

    def __init__(self, app: ASGIApp, hosts: Sequence[str], origins: Sequence[str]) -> None:
        self._app = app
        self._small = RequestBodyLimitMiddleware(app, _FORM_BYTES)
        self._hosts, self._origins = hosts, origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app if scope["type"] == "lifespan" or scope["path"] == _PATH else self._small
        await ((self._refusal(scope) if scope["type"] == "http" else None) or app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return PlainTextResponse("This server does not answer for that host.\n", 421)
        if any(origin not in self._origins for origin in headers.getlist("origin")):
            return PlainTextResponse("The request comes from another site.\n", 403)
        if len(headers.getlist("authorization")) > 1:
            return PlainTextResponse("There are several tokens.\n", 400)
        if scope["path"] == _PATH and scope["method"] != "POST":
            return PlainTextResponse("There is no stream and no session.\n", 405, {"Allow": "POST"})
        return None


class _HurriedConnection(H11Protocol):
    """A connection that ends if its request does not come in, and makes room if there are too many."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        waiting = [each for each in self.connections if isinstance(each, _HurriedConnection) and each._waits()]
        if len(self.connections) >= _MOST_CONNECTIONS:
            (min(waiting, key=lambda each: each._since).transport if waiting else transport).abort()
        super().connection_made(transport)
        self._since, self._looks, self._seen = self.loop.time(), 0, self.cycle
        self.loop.call_later(_LOOK_SECONDS, self._look)

    def _waits(self) -> bool:
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def _look(self) -> None:
        if self.transport.is_closing():
            return
        self._looks = self._looks + 1 if self._seen is self.cycle else 0
        self._seen = self.cycle
        if self._looks > _MOST_LOOKS or (self._looks and self._waits()):
            self.transport.abort()
        self.loop.call_later(_LOOK_SECONDS, self._look)


def serve(runtime: Runtime, host: str, port: int, public_url: str | None, started: Callable[[str], None]) -> None:
    """Serve the tools of one vault until Ctrl-C, SIGTERM or SIGHUP, and give the address for clients to `started`.

    `public_url` is where a tunnel or a proxy is reached. Raise Refused if the port is taken."""
    runtime = runtime.for_clients()
    runtime.for_agent(UNNAMED_AGENT).vault()  # refuses a vault that no agent uses
    clients = RemoteClients(runtime.vault(), lambda: runtime.now().timestamp())
    with _bound(host, port) as listener:
        port = listener.getsockname()[1]
        issuer = public_url or f"http://{f'[{host}]' if ':' in host else host}:{port}"
        app = application(Authorisation(clients, issuer, issuer + _PATH), runtime, issuer, port)
        config = uvicorn.Config(
            app, http=_HurriedConnection, ws="none", lifespan="on", log_config=None, access_log=False,
            proxy_headers=False, server_header=False, timeout_graceful_shutdown=_END_SECONDS,
            h11_max_incomplete_event_size=_HEAD_BYTES,
        )  # fmt: skip
        server = uvicorn.Server(config)
        logging.disable(logging.ERROR)  # what strangers send would get to the terminal
        gc.set_threshold(100_000)  # as the server on stdin and stdout
        gc.enable()
        for number in (signal.SIGINT, *ENDING_SIGNALS):
            signal.signal(number, lambda *_: setattr(server, "should_exit", True))
        started(issuer + _PATH)
        asyncio.run(server.serve([listener]))


def application(authorisation: Authorisation, runtime: Runtime, issuer: str, port: int) -> ASGIApp:
    """Return the whole of it as one ASGI application."""
    origins = [issuer, *[f"http://{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")]]
    hosts = [urlsplit(origin).netloc for origin in origins]
    registration, revocation = ClientRegistrationOptions(enabled=True), RevocationOptions(enabled=True)
    addresses = {"issuer_url": issuer, "resource_server_url": issuer + _PATH, "validate_token_resource": True}
    options = {"client_registration_options": registration, "revocation_options": revocation}
    settings = AuthSettings.model_validate(addresses | options)
    metadata = build_metadata(settings.issuer_url, None, registration, revocation)
    metadata.token_endpoint_auth_methods_supported = metadata.revocation_endpoint_auth_methods_supported = ["none"]
    metadata.authorization_response_iss_parameter_supported = True
    app = _tool_server(authorisation, runtime).streamable_http_app(
        streamable_http_path=_PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=stdio.MESSAGE_BYTES,
        transport_security=TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins),
        auth=settings,
        token_verifier=oauth.ProviderTokenVerifier(authorisation),
        auth_server_provider=authorisation,
        custom_starlette_routes=[Route(_ALLOW, authorisation.page, methods=["GET", "POST"])],
    )
    app.router.redirect_slashes = False
    app.router.routes[:0] = [
        Route("/.well-known/oauth-authorization-server", MetadataHandler(metadata).handle),
        Route("/revoke", authorisation.revoke, methods=["POST"]),
    ]
    return _Door(app, hosts, origins)


def _tool_server(authorisation: Authorisation, runtime: Runtime) -> Server[Any]:
    """The tools as the SDK serves them. The calls of one agent are worked off in the order in which they come."""
    turns: dict[str, CapacityLimiter] = defaultdict(partial(CapacityLimiter, 1))

    async def list_tools(context: ServerRequestContext[Any], params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult.model_validate({"tools": stdio.listed_tools()})

    async def call_tool(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        token = get_access_token()
        agent = token.subject if token is not None else None
        if token is None or agent is None or turns[agent].statistics().tasks_waiting >= _MOST_WAITING:
            raise MCPError(stdio.INTERNAL_ERROR, "This client has too many calls that wait.")
        async with turns[agent]:
            if await authorisation.load_access_token(token.token) is None:
                raise MCPError(stdio.INTERNAL_ERROR, "The token ended while the call waited.")
            message = {"name": params.name, "arguments": params.arguments}
            answer = await run_sync(_called, message, runtime.for_agent(agent))
        if "error" in answer:
            raise MCPError(**answer["error"])
        return CallToolResult.model_validate(answer["result"])

    return Server(
        "clawmem",
        version=__version__,
        title="clawmem memory",
        instructions=stdio.INSTRUCTIONS,
        cache_hints={"tools/list": CacheHint(stdio.KEPT_FOR_MS), "server/discover": CacheHint(stdio.KEPT_FOR_MS)},
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _called(params: dict[str, Any], runtime: Runtime) -> dict[str, Any]:
    """The answer to a call, made as for a client on stdin and stdout."""
    connection = stdio.Connection(
        stdio.listed_tools, lambda name, arguments, client: stdio.call_for(name, arguments, runtime)
    )
    message = {"jsonrpc": "2.0", "id": 0, "method": "tools/call", "params": params}
    answer: dict[str, Any] = stdio.answer_to(connection, message)
    return answer


def _question(client: RemoteClient) -> str:
    """The form that asks a person, with what they must know."""
    name, target = escape(client.name), escape(client.asked_for)
    return f"""<p>A client that calls itself <strong>{name}</strong> asks to use this memory. Your browser would go
on to <strong>{escape(urlsplit(client.asked_for).netloc)}</strong> ({target}).</p>
<p>It could ask what an agent may see here, and store facts and notes as an agent, not as you. You see them with
<code>clawmem log</code> and end it with <code>clawmem mcp clients revoke</code>.</p>
<p>If you did not start this just now, close this page.</p>
<p>On the machine of the memory, run <code>clawmem mcp clients allow {client.handle}</code> and type its code here:</p>
<form method="post"><input name="code" aria-label="Code" autocomplete="off" required autofocus>
<button>Allow</button></form>"""


def _page(title: str, body: str, status: int) -> Response:
    text = f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>clawmem: {title}</title>\n'
    view = '<meta name="viewport" content="width=device-width">'
    return HTMLResponse(f"{text}{view}<h1>{title}</h1>\n{body}\n</html>\n", status, _PAGE_HEADERS)


def _token(access: str, refresh: str) -> OAuthToken:
    return OAuthToken(access_token=access, refresh_token=refresh, expires_in=ACCESS_SECONDS)


def _without_port(uri: AnyUrl) -> tuple[str | None, ...]:
    return uri.scheme, uri.username, uri.host, uri.path, uri.query, uri.fragment


def _may_lead_to(uri: str) -> bool:
    parts = urlsplit(uri)
    secure = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname))
    return secure and len(uri) <= _LONGEST_URI and not parts.fragment and "@" not in parts.netloc and uri.isprintable()


def _bound(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=2 * _MOST_CONNECTIONS)
    except (OSError, UnicodeError) as problem:
        reason = os.strerror(problem.errno) if isinstance(problem, OSError) and problem.errno else "it is no address"
        raise Refused(f"{host}:{port} cannot be used: {reason}.", "Name another address after --http.") from None
