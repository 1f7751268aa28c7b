"""The ShadowLink release, fetched once into the user's cache."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Protocol

from shadowprobe import formats
from shadowprobe.dataset import CARD, make_directory
from shadowprobe.errors import DownloadError, InputError

COMMIT = "e26f857c8fab9472c8d68eb571a4729e3f8a30fa"
SOURCES = (
    f"https://raw.githubusercontent.com/vera-pro/ICE_experiments/{COMMIT}/ShadowLink",
    "https://huggingface.co/datasets/vera-pro/ShadowLink/resolve/main",
)
SHA256 = {
    "Top.json": "7e1d58fc4835b4a4b517af955b2a62321df74aceadcccb4a03a30260bf674233",
    "Shadow.json": "0f8194042033caaf5620329d7db61113e6fa68275bd7d2bb128cbf3b9becacab",
    "Tail.json": "91549279c48dea8129348ea83e478c366d3a66cc80f4470f2f29b35462a2a026",
    "Neutral.json": "f808cd90ff86373f8004a695015c48426d6b859ba08b810bcd9cc5127b2064c8",
}
# Another number makes every user's cache be read anew; to be raised when the reader's output changes.
READER = 1
TIMEOUT = 20.0
TRIES = 3


class Watcher(Protocol):
    """Who is told how a download goes."""

    def progress(self, name: str, done: int, total: int | None) -> None:
        """So many bytes of a file have arrived."""

    def warn(self, sentence: str) -> None:
        """Something the user should know, though it stops nothing."""


class Silent:
    """A watcher who tells nobody."""

    def progress(self, name: str, done: int, total: int | None) -> None:
        """Says nothing."""

    def warn(self, sentence: str) -> None:
        """Says nothing."""


def sources() -> tuple[str, ...]:
    """The addresses to try, in order; `SHADOWPROBE_SHADOWLINK_URL` names another one."""
    configured = os.environ.get("SHADOWPROBE_SHADOWLINK_URL")
    return (configured.rstrip("/"),) if configured else SOURCES


def dataset_directory(cache: Path) -> Path:
    """Where the converted dataset stands in a cache."""
    return cache / "datasets" / f"shadowlink-{READER}"


def shadowlink_directory(cache: Path, watcher: Watcher | None = None) -> Path:
    """The directory of the ShadowLink dataset; downloads and converts it where that is not done yet."""
    dataset = dataset_directory(cache)
    if (dataset / CARD).exists():
        return dataset
    release = cache / "downloads" / "shadowlink"
    make_directory(release)
    watcher = watcher or Silent()
    for name in SHA256:
        _fetch(name, release / name, watcher)
    try:
        formats.read("shadowlink", [release]).write(dataset)
    except InputError:
        # What arrived is no ShadowLink file: the next try must fetch it again.
        for name in SHA256:
            (release / name).unlink(missing_ok=True)
        raise
    return dataset


def _fetch(name: str, path: Path, watcher: Watcher) -> None:
    """Fetches one file from the first source that has it, unless it is there already."""
    if not path.exists():
        problems = []
        for source in sources():
            try:
                _download(f"{source}/{name}", path, watcher)
                break
            except DownloadError as error:
                problems.append(str(error))
        else:
            raise DownloadError(
                f"the ShadowLink release could not be downloaded ({'; '.join(problems)}). With a copy of its four"
                " files at hand: shadowprobe import shadowlink DIR --out OUT, then --dataset OUT"
            )
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != SHA256[name]:
        watcher.warn(f"{name} has SHA-256 {found}, the release has {SHA256[name]}: it is used, but figures may differ")


def _download(url: str, path: Path, watcher: Watcher) -> None:
    """Downloads a file, going on where an earlier try broke off; it gets its name only when it is whole."""
    import httpx

    part = path.with_name(path.name + ".part")
    problem = ""
    for _ in range(TRIES):
        have = part.stat().st_size if part.exists() else 0
        try:
            with httpx.stream(
                "GET",
                url,
                headers={"Range": f"bytes={have}-", "Accept-Encoding": "identity"} if have else {},
                timeout=TIMEOUT,
                follow_redirects=True,
            ) as response:
                if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
                    part.unlink(missing_ok=True)
                    continue
                if response.is_error:
                    raise DownloadError(f"{url}: {response.status_code} {response.reason_phrase}")
                _save(response, part, have, watcher, path.name)
        except httpx.ConnectError as error:
            raise DownloadError(f"{url}: no connection ({error})") from error
        except httpx.HTTPError as error:
            problem = f"{type(error).__name__}: {error}"
            continue
        part.replace(path)
        return
    raise DownloadError(f"{url}: broke off {TRIES} times ({problem or 'no complete answer'})")


def _save(response: object, part: Path, have: int, watcher: Watcher, name: str) -> None:
    import httpx

    assert isinstance(response, httpx.Response)
    resumed = response.status_code == httpx.codes.PARTIAL_CONTENT
    done = have if resumed else 0
    length = response.headers.get("Content-Length")
    total = done + int(length) if length and "Content-Encoding" not in response.headers else None
    with part.open("ab" if resumed else "wb") as file:
        for chunk in response.iter_bytes():
            file.write(chunk)
            done += len(chunk)
            watcher.progress(name, done, total)
    if total is not None and done != total:
        raise httpx.ReadError(f"{done} of {total} bytes arrived")
