"""Random changes of a file, as accidents and attackers make them."""

from __future__ import annotations

import bz2
import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

Change = Callable[[bytes, Random], bytes]


class _Packing(NamedTuple):
    """How a compressed file begins, and how it is unpacked and packed."""

    start: bytes
    decompress: Callable[[bytes], bytes]
    compress: Callable[[bytes], bytes]


_PACKINGS = (
    _Packing(b"\x1f\x8b", gzip.decompress, lambda content: gzip.compress(content, mtime=0)),
    _Packing(b"BZ", bz2.decompress, bz2.compress),
)

# Values in JSON, as they are written to the file.
_VALUES = (
    *("null", "true", "false", "0", "-1", "-5", "0.5", "1e308", "-1e308", "1e400", "NaN", "Infinity", "1E-400"),
    *("9" * 19, "9" * 25, "1" + "0" * 5000, "-" + "7" * 400, "18446744073709551616", "2147483648", "4294967296"),
    *("[]", "{}", "[[]]", "[null]", '{"": ""}', "[1, 2]", '[["a"]]', '{"a": {"a": {"a": 1}}}'),
    *('""', '" "', '"\\ud800"', '"\\u0000"', '"a\\u001b[31mred"', '"\\u009b31m"', '"\\u202e\\u0085"', '"\\r\\n"'),
    *('"NaN"', '"Q0"', '"-5"', '"null"', '"NIL"', '"=1+1"', '"[bold]x[/bold]"', '"%zz"', '"a\\tb"', '"\\ufeff"'),
    *(
        '"../../outside"',
        '"/"',
        '".."',
        '"."',
        '"http://[::1"',
        '"file:///etc/hostname"',
        '"P1"',
        '"0"',
        '"1e999999999"',
    ),
    *('"' + "a" * 200_000 + '"', '"' + "é\\u0301" * 2000 + '"', '"' + "( " * 20_000 + '"'),
    *("[" * 900 + "]" * 900, "[" * 100_000 + "]" * 100_000, '{"a":' * 100_000 + "1" + "}" * 100_000),
    *("[" + "1," * 100_000 + "1]", "[" + '"",' * 2000 + '""]'),
)
# Bytes that readers of one format or another take as their own.
_TOKENS = (
    *(b"\0", b"\0" * 100, b"\xff", b"\xfe\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf"),
    *(
        b"\x1b[31m",
        b"\x1b]0;title\x07",
        b"\xc2\x9b31m",
        b"\r",
        b"\n",
        b"\r\n",
        b"\n\n",
        b"\t",
        b"\x0b",
        b"\x0c",
        b"\x1a",
    ),
    *("\u2028\u0085\u202e".encode(), b'"', b"'", b"\\", b"\\u", b"\\ud800", b"{", b"}", b"[", b"]", b",", b":", b";"),
    *(b"<", b">", b"&", b"&#x0;", b"&#99999999;", b"<!--", b"]]>", b"<![CDATA[", b"<!DOCTYPE a [<!ENTITY b 'c'>]>"),
    *(b"@prefix a: <b> .\n", b"_:b ", b"^^", b"@en", b" .", b"<> a <> .", b"-DOCSTART- (", b"\tB\t", b"--NME--"),
    *(
        b"(NULL),",
        b"INSERT INTO `page` VALUES (",
        b"WARC/1.0\r\n",
        b"Content-Length: 99999999999\r\n",
        b"HTTP/1.1 999 ",
    ),
    *(
        b"-",
        b"+",
        b"1e999",
        b"9" * 30,
        b"9" * 5000,
        b"NaN",
        b"[",
        b"]" * 2000,
        b"(" * 5000,
        b"a" * 100_000,
        b" " * 100_000,
    ),
)
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_RAW, _RAW_KEY = "@raw value@", "@raw key@"
# No file that is read in the tests of a case grows beyond this.
_LARGEST = 2_000_000


def mutate(content: bytes, random: Random, others: Sequence[bytes] = ()) -> bytes:
    """Changes the content of a file one to three times; `others` are files that may take its place."""
    packing = next((each for each in _PACKINGS if content.startswith(each.start)), None)
    if packing is not None and random.random() < 0.7:
        try:
            return packing.compress(_change(packing.decompress(content), random, others))
        except (OSError, EOFError, ValueError, zlib.error):
            pass
    return _change(content, random, others)


def mutate_text(text: str, random: Random) -> str:
    """Changes the value of an option."""
    value = random.choice((*_VALUES, *(token.decode("utf-8", "surrogateescape") for token in _TOKENS)))
    text = value.strip('"')[:2000] if random.random() < 0.6 else text + value[:50]
    # No program can be given such an argument.
    return text.replace("\0", "")


def _change(content: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        if others and random.random() < 0.02:
            content = random.choice(others)
        # Half of all changes keep the file readable, since the others seldom get far.
        change = _change_json if random.random() < 0.5 else random.choice(_CHANGES)
        content = change(content, random)[:_LARGEST]
    return content


def _flip(content: bytes, random: Random) -> bytes:
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 4, 40)) if changed else 0):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _slice(content: bytes, random: Random) -> tuple[int, int]:
    start = random.randrange(len(content) + 1)
    return start, min(len(content), start + random.choice((1, 2, 10, 100, 1000, 10_000)))


def _truncate(content: bytes, random: Random) -> bytes:
    return content[: random.randrange(len(content) + 1)]


def _delete(content: bytes, random: Random) -> bytes:
    start, end = _slice(content, random)
    return content[:start] + content[end:]


def _duplicate(content: bytes, random: Random) -> bytes:
    start, end = _slice(content, random)
    return content[:end] + content[start:end] * random.choice((1, 1, 10)) + content[end:]


def _insert(content: bytes, random: Random) -> bytes:
    start, end = _slice(content, random)
    return content[:start] + random.choice(_TOKENS) + content[random.choice((start, start, end)) :]


def _change_number(content: bytes, random: Random) -> bytes:
    numbers = list(_NUMBER.finditer(content))
    if not numbers:
        return content
    number = random.choice(numbers)
    value = random.choice(
        (b"0", b"-1", b"1e308", b"1e999", b"9" * 19, b"9" * 30, b"9" * 5000, b"NaN", b"", b"0x1", b"1.5")
    )
    return content[: number.start()] + value + content[number.end() :]


def _move_lines(content: bytes, random: Random) -> bytes:
    lines = content.splitlines(keepends=True)
    if not lines:
        return content
    place = random.randrange(len(lines))
    moved = random.choice(("delete", "double", "shuffle", "many", "join"))
    if moved == "shuffle":
        random.shuffle(lines)
    elif moved == "join":
        lines[place] = lines[place].rstrip(b"\r\n")
    else:
        lines[place : place + 1] = [lines[place]] * {"delete": 0, "double": 2, "many": 2000}[moved]
    return b"".join(lines)


def _recode(content: bytes, random: Random) -> bytes:
    text = content.decode("utf-8", "replace")
    return random.choice(
        (
            content.replace(b"\n", b"\r\n"),
            content.replace(b"\n", b"\r"),
            b"\xef\xbb\xbf" + content,
            b"\xef\xbb\xbf\xef\xbb\xbf" + content,
            text.encode("utf-16"),
            text.encode("latin-1", "replace"),
            text.upper().encode(),
            content + b"\0" * 4096,
            gzip.compress(content),
            b"",
            b"\n",
            b"{}",
            b"[]",
            b"null",
        )
    )


def _change_json(content: bytes, random: Random) -> bytes:
    """Changes a value or a key of a JSON file, or of a line of JSON lines; any other file by its bytes."""
    parsed = _parse(content)
    if parsed is not None:
        return _change_value(parsed, random).encode("utf-8", "surrogatepass")
    lines = content.splitlines(keepends=True)
    for number in random.sample(range(len(lines)), min(len(lines), 3)):
        # The items of a dump of Wikidata end with a comma.
        line = lines[number].rstrip(b"\r\n,")
        if (parsed := _parse(line)) is not None:
            lines[number] = _change_value(parsed, random).encode("utf-8", "surrogatepass") + lines[number][len(line) :]
            return b"".join(lines)
    return random.choice(_CHANGES)(content, random)


def _parse(content: bytes | str) -> Any:
    """The object or list in a JSON text; None for anything else."""
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict | list) and parsed else None


def _places(parsed: Any) -> Iterator[tuple[Any, Any]]:
    """Every container with every key or index in it."""
    stack = [parsed]
    while stack:
        container = stack.pop()
        for key, value in list(container.items()) if isinstance(container, dict) else list(enumerate(container)):
            yield container, key
            if isinstance(value, dict | list):
                stack.append(value)


def _change_value(parsed: Any, random: Random) -> str:
    places = list(_places(parsed))
    container, key = random.choice(places)
    value = container[key]
    raw = random.choice(_VALUES)
    raw_key = ""
    what = random.choice(("value", "value", "value", "delete", "double key", "key", "swap", "inside"))
    if what == "inside" and isinstance(value, str) and (inner := _parse(value)) is not None:
        # A reply of a service that is kept as text.
        container[key] = _change_value(inner, random)
    elif what == "delete":
        del container[key]
    elif what == "swap":
        other, place = random.choice(places)
        container[key], other[place] = other[place], value
    elif what == "key" and isinstance(container, dict):
        container[random.choice(("", "id", "a" * 5000, "\x1b[31m", "\ud800", "name", "schema"))] = container.pop(key)
    elif what == "double key" and isinstance(container, dict):
        raw_key = f"{json.dumps(key)}: {random.choice((raw, json.dumps(value)))}, {json.dumps(key)}"
        container[_RAW_KEY] = container.pop(key)
    else:
        container[key] = _RAW
    try:
        text = json.dumps(parsed, ensure_ascii=random.random() < 0.5)
    except (ValueError, RecursionError):
        # A container was put into itself.
        return raw
    return text.replace(f'"{_RAW}"', raw).replace(f'"{_RAW_KEY}"', raw_key)


_CHANGES: tuple[Change, ...] = (
    *(_flip, _truncate, _delete, _duplicate, _insert, _insert, _change_number, _move_lines, _recode, _change_json),
)
