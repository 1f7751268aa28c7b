"""The base class of wrappers that ask a model by its name, behind an endpoint with a path of its own."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from shadowprobe.errors import ItemError, LinkerError
from shadowprobe.systems.service_client import Request
from shadowprobe.systems.web_linker import WebLinker

if TYPE_CHECKING:
    import httpx

# How much of a complaint a message repeats.
SHOWN = 200


class ModelLinker(WebLinker):
    """A model behind a URL: a wrapper says the `path` of its endpoint, and sends JSON by `post`.

    A token in the environment is sent as `Authorization: Bearer`; local servers need none.
    """

    # What follows the address that a user gives, unless it is there already.
    path: str

    def __init__(self, model: str, timeout: float = 120.0, **web: Any) -> None:
        super().__init__(timeout=timeout, **web)
        self.model = model

    def post(self, body: dict[str, Any]) -> Request:
        """A request for the model; `body` is what it needs besides the model's name."""
        token = self.optional_token
        return Request(
            "POST",
            self._complete_url(),
            json={"model": self.model, **body},
            headers={"Authorization": f"Bearer {token}"} if token else None,
        )

    def _complete_url(self) -> str:
        """The address with the path of the endpoint."""
        parts = urlsplit(self.url)
        path = parts.path.rstrip("/") or "/v1"
        if not path.endswith(self.path):
            path += self.path
        return urlunsplit(parts._replace(path=path))

    def refuse(self, response: httpx.Response, problem: str) -> None:
        """Stops the run if every other request would be refused too, and says what to type."""
        complaint = self.read_complaint(response)
        if response.status_code == 404:
            raise LinkerError(
                f"{problem} ({complaint}): does the server have the model `{self.model}`?"
                " `-o url=` ends in /v1 as a rule"
            )
        if response.status_code not in {400, 422}:
            super().refuse(response, problem)
            return
        # A text that is too long for the model is the failure of its snippet, whatever fields the message names.
        if "context" not in complaint.lower():
            for fields, advice in self.advice():
                if re.search(fields, complaint):
                    raise LinkerError(f"{problem} ({complaint}): {advice}")
        raise ItemError(f"{problem} ({complaint})")

    def advice(self) -> list[tuple[str, str]]:
        """What to type if the server refuses a field: a pattern of its complaint, and the advice."""
        return []

    def read_complaint(self, response: httpx.Response) -> str:
        """What an error says: in `error.message` as a rule, or in `error`, `message` or `detail`."""
        try:
            body = json.loads(response.content)
        except ValueError:
            return self.beginning_of(response)
        message = _find_message(body)
        if message is None:
            return self.beginning_of(response)
        # The token goes before the cut, which could leave half of it.
        return " ".join(self.without_token(message).split())[:SHOWN]


def _find_message(body: Any) -> str | None:
    """The message in an error: LM Studio has it in `error`, old vLLM in `message`, FastAPI in `detail`."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        error = error.get("message", error.get("detail"))
    # FastAPI lists every wrong field.
    if isinstance(error, list) and error and isinstance(error[0], dict):
        error = error[0].get("msg")
    return error if isinstance(error, str) else None
