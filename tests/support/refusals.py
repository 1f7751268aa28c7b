"""Bad input as a user meets it: files damaged on purpose, and the one line that must answer for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from world import write_world

from shadowprobe.cli import main

Damage = Callable[[bytes], bytes]


def world_to_edit(path: Path) -> Path:
    """The small world without digests in its card, so that its files can be changed by hand."""
    write_world(path)
    card = json.loads((path / "dataset.json").read_text())
    del card["files"]
    (path / "dataset.json").write_text(json.dumps(card, indent=2))
    return path


def put(number: int, line: bytes) -> Damage:
    """Puts other bytes in the place of a line."""
    return lambda content: _with_line(content, number, line)


def change(number: int, **fields: object) -> Damage:
    """Gives fields of the object on a line other values."""
    return lambda content: _with_line(content, number, json.dumps(_object(content, number) | fields).encode())


def drop(number: int, field: str) -> Damage:
    """Takes a field of the object on a line away."""

    def damage(content: bytes) -> bytes:
        kept = {key: value for key, value in _object(content, number).items() if key != field}
        return _with_line(content, number, json.dumps(kept).encode())

    return damage


def write(number: int, field: str, value: bytes) -> Damage:
    """Gives a field of the object on a line a value that is written as it stands, JSON or not."""

    def damage(content: bytes) -> bytes:
        marked = json.dumps(_object(content, number) | {field: "@"}).encode()
        return _with_line(content, number, marked.replace(b'"@"', value))

    return damage


def whole(content: bytes) -> Damage:
    """Puts other bytes in the place of the whole file."""
    return lambda _: content


def _object(content: bytes, number: int) -> dict[str, object]:
    found: dict[str, object] = json.loads(content.splitlines()[number - 1])
    return found


def _with_line(content: bytes, number: int, line: bytes) -> bytes:
    lines = content.splitlines()
    lines[number - 1] = line
    return b"\n".join(lines) + b"\n"


def ids(cases: Sequence[tuple[object, ...]]) -> list[str]:
    """The cases of a table by what their refusal says."""
    return ["-".join(str(part) for part in case if part and not callable(part)) for case in cases]


def spoil(path: Path, damage: Damage) -> None:
    """Damages a file."""
    path.write_bytes(damage(path.read_bytes()))


def contents(directory: Path) -> dict[str, bytes | None]:
    """Every file below a directory with its bytes, and every directory."""
    return {
        str(path.relative_to(directory)): path.read_bytes() if path.is_file() else None
        for path in sorted(directory.rglob("*"))
    }


def outcome(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    """The exit code of a command, and what it printed."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line with which a command refuses its input; nothing below the working directory may have changed."""
    assert not Path("pyproject.toml").exists(), "the test must change to a directory of its own"
    before = contents(Path.cwd())
    code, out, err = outcome(capsys, *arguments)
    assert contents(Path.cwd()) == before
    return single_line(code, out, err)


def single_line(code: object, out: str, err: str) -> str:
    """What the only line on stderr says after the name of the program."""
    assert "Traceback" not in err
    assert code == 2, err
    assert out == ""
    assert err.endswith("\n")
    assert len(err.splitlines()) == 1, err
    assert err.startswith("shadowprobe: ")
    return err.removeprefix("shadowprobe: ").rstrip("\n")
