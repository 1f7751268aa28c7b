"""The leaderboard as a local web page that follows the runs of a folder."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from shadowprobe.errors import ShadowprobeError
from shadowprobe.reporting.board.page import compose_board, name_board
from shadowprobe.reporting.html.page import page
from shadowprobe.running.directory import RESULTS, RUN
from shadowprobe.running.finished import read_runs
from shadowprobe.running.listing import ListedRun, find_run_directories, label_runs, list_run

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

# Names of this machine itself: a page of another name that points here must not read the runs.
HOSTS = ["127.0.0.1", "localhost", "[::1]"]
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}


class Board:
    """The runs of a folder; a run that has not changed is not read again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[Path, tuple[tuple[int, ...], ListedRun]] = {}

    def list_runs(self) -> list[ListedRun]:
        """The runs as they are now."""
        found: dict[Path, tuple[tuple[int, ...], ListedRun]] = {}
        for path in sorted(find_run_directories(self.folder)):
            stamp = tuple(_stamp(path / name) for name in (RUN, RESULTS))
            known = self._known.get(path)
            is_same = known is not None and known[0] == stamp and known[1].state in {"finished", "broken"}
            found[path] = known if known is not None and is_same else (stamp, list_run(path))
        self._known = found
        return label_runs([run for _, run in found.values()])

    def find_reported(self, names: Sequence[str]) -> list[Path]:
        """The directories of runs by the names that the list gives them; a name that it does not give is left out."""
        known = {str(path): path for path in self._known}
        return [known[name] for name in names if name in known]


def _stamp(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def encode_version(runs: Sequence[ListedRun]) -> tuple[bytes, str]:
    """The runs as JSON, and a name for exactly this content."""
    content = msgspec.json.encode(runs)
    return content, hashlib.sha256(content).hexdigest()[:16]


def build_board_app(folder: Path) -> Starlette:
    """The web application over a folder of runs; it serves nothing but the page, its data and reports of its runs."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.responses import HTMLResponse, PlainTextResponse, Response
    from starlette.routing import Route

    board = Board(folder)

    async def show_board(_request: Request) -> Response:
        runs = await run_in_threadpool(board.list_runs)
        _, version = encode_version(runs)
        return HTMLResponse(compose_board(runs, name_board(folder), version=version), headers=HEADERS)

    async def send_runs(request: Request) -> Response:
        content, version = encode_version(await run_in_threadpool(board.list_runs))
        if request.query_params.get("known") == version:
            return Response(status_code=204, headers=HEADERS)
        body = b'{"version":"' + version.encode() + b'","runs":' + content + b"}"
        return Response(body, media_type="application/json", headers=HEADERS)

    async def send_report(request: Request) -> Response:
        wanted = request.query_params.getlist("run")
        paths = board.find_reported(wanted)
        if not paths or len(paths) != len(wanted):
            return PlainTextResponse("There is no such run in this folder.\n", status_code=404, headers=HEADERS)
        try:
            content = await run_in_threadpool(lambda: page(read_runs(paths)))
        except ShadowprobeError as error:
            return PlainTextResponse(f"{error}\n", status_code=409, headers=HEADERS)
        return HTMLResponse(content, headers=HEADERS)

    routes: list[Any] = [
        Route("/", show_board),
        Route("/runs.json", send_runs),
        Route("/report", send_report),
    ]
    return Starlette(routes=routes, middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS)])
