"""The addresses in the references of an article, in its wikitext."""

from __future__ import annotations

import pytest

from shadowprobe.build.dumps.wikitext_references import list_references, split_references

HEADINGS = frozenset({"references", "external links"})
ONE = "http://one.example"


def listed(text: str) -> list[list[str]]:
    return split_references(list_references(text, HEADINGS))


@pytest.mark.parametrize(
    ("note", "addresses"),
    [
        (f"{ONE}/a", [f"{ONE}/a"]),
        (f"See {ONE}/a, {ONE}/b; ({ONE}/c).", [f"{ONE}/a", f"{ONE}/b", f"{ONE}/c"]),
        (f"{ONE}/a_(b)", [f"{ONE}/a_(b)"]),
        (f"[{ONE}/a. A title]", [f"{ONE}/a."]),
        (f"[{ONE}/a: A title] and {ONE}/b:", [f"{ONE}/a:", f"{ONE}/b"]),
        ("[//one.example/a x] //one.example/b", ["//one.example/a"]),
        (f"{{{{cite web|url={ONE}/a|title=x}}}}", [f"{ONE}/a"]),
        (f"{{{{cite web | url = {ONE}/a. | title=x | archive-url={ONE}/c}}}}", [f"{ONE}/a.", f"{ONE}/c"]),
        ("{{cite web|url=//one.example/a}}", ["//one.example/a"]),
        (f"{ONE}/a{{{{dead link}}}}", [f"{ONE}/a"]),
        (f"[{ONE}/a|b c]", [f"{ONE}/a%7Cb"]),
        (f"{ONE}/?a=1&amp;b=2", [f"{ONE}/?a=1&b=2"]),
        (f"{ONE}/a&lt;b", [f"{ONE}/a"]),
        ("[mailto:a@one.example x] ftp://one.example/b", ["mailto:a@one.example", "ftp://one.example/b"]),
        (f"<!-- {ONE}/no --><nowiki>{ONE}/no</nowiki>", []),
        ("http:// and [http:// x]", []),
        ("http://. and mailto:. or news:{{x}} and {{cite|url=mailto:{{x}}}}", []),
        ("A book: see page 7.", []),
    ],
)
def test_addresses_are_those_that_the_wiki_makes_links_of(note: str, addresses: list[str]) -> None:
    assert listed(f"Text.<ref>{note}</ref>") == ([addresses] if addresses else [])


def test_links_of_the_body_are_no_references() -> None:
    assert listed(f"[{ONE}/a a]\n* {ONE}/b\n== History ==\n* {ONE}/c") == []


def test_a_named_note_has_the_place_of_its_first_use() -> None:
    text = f'A<ref name="b" /> B<ref>{ONE}/a</ref> C<ref name=b>{ONE}/b</ref> D<ref name="b">{ONE}/other</ref>'
    assert listed(text) == [[f"{ONE}/b"], [f"{ONE}/a"]]


def test_notes_that_are_only_defined_in_the_list_count_where_they_are_used() -> None:
    listing = f"<references><ref name=a>{ONE}/a</ref><ref name=unused>{ONE}/no</ref></references>"
    assert listed(f"A<ref name=a/>\n{listing}") == [[f"{ONE}/a"]]


def test_groups_come_in_the_order_of_their_lists() -> None:
    text = f'A<ref>{ONE}/1</ref><ref group="n">{ONE}/2</ref>'
    assert listed(f'{text}<references group="n" /><references />') == [[f"{ONE}/2"], [f"{ONE}/1"]]


def test_a_slash_in_the_name_of_a_note_does_not_close_it() -> None:
    assert listed(f'A<ref name="a/b">{ONE}/a</ref>') == [[f"{ONE}/a"]]


def test_a_note_that_continues_another_belongs_to_it() -> None:
    assert listed(f"A<ref name=a>{ONE}/a</ref><ref follow=a>{ONE}/b</ref>") == [[f"{ONE}/a", f"{ONE}/b"]]


def test_lists_count_under_a_heading_for_references_up_to_the_next_of_its_rank() -> None:
    text = (
        f"== History ==\n* {ONE}/no\n== References ==\n* {ONE}/1\n** {ONE}/2\n# {ONE}/3\n{ONE}/no\n"
        f"=== Books ===\n:* {{{{cite book\n | url = {ONE}/4\n}}}}\n== Gallery ==\n* {ONE}/no"
    )
    assert listed(text) == [[f"{ONE}/1", f"{ONE}/2"], [f"{ONE}/3"], [f"{ONE}/4"]]


def test_notes_come_before_lists_and_are_not_counted_in_both() -> None:
    assert listed(f"== References ==\n* {ONE}/1<ref>{ONE}/2</ref>") == [[f"{ONE}/2"], [f"{ONE}/1"]]


def test_a_tag_without_its_end_is_text() -> None:
    assert listed(f"A<ref>{ONE}/a</ref> B<ref>{ONE}/b") == [[f"{ONE}/a"]]


def test_many_tags_without_end_take_little_time() -> None:
    # Each is looked at once: with a search to the end of the text for each this would take minutes.
    assert listed("<ref>" * 20_000) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # The marks of bold letters and spaces around a heading are not shown.
        (f"== '''References''' ==\n* {ONE}/1", [["/1"]]),
        (f"==References==  \n* {ONE}/1", [["/1"]]),
        # A heading of a higher rank ends a section too, and one of a lower rank does not.
        (f"=== References ===\n* {ONE}/1\n== History ==\n* {ONE}/no", [["/1"]]),
        (f"== References ==\n=== Web ===\n* {ONE}/1\n==== More ====\n* {ONE}/2\n= Top =\n* {ONE}/no", [["/1"], ["/2"]]),
        # A second section counts, and a section within another that is called so.
        (f"== References ==\n* {ONE}/1\n== Life ==\n* {ONE}/no\n== External links ==\n* {ONE}/2", [["/1"], ["/2"]]),
        (f"== Notes ==\n* {ONE}/no\n=== References ===\n* {ONE}/1\n=== Else ===\n* {ONE}/no", [["/1"]]),
        # Lines within an item belong to it. An indented line alone is no list.
        (f"== References ==\n* {ONE}/1\n*: {ONE}/2\n: {ONE}/no\n# {ONE}/3", [["/1", "/2"], ["/3"]]),
        (f"== References ==\n* {ONE}/1\n*: {ONE}/2\n* {ONE}/3", [["/1", "/2"], ["/3"]]),
        # A line break within a template ends no item, and an end too many changes nothing.
        (f"== References ==\n}}}}\n* {{{{a|{{{{b\n|c}}}}\n|url={ONE}/1}}}}\n* {ONE}/2", [["/1"], ["/2"]]),
    ],
)
def test_sections_and_items_are_those_of_the_page(text: str, found: list[list[str]]) -> None:
    assert listed(text) == [[f"{ONE}{path}" for path in item] for item in found]


def test_an_end_of_a_template_that_ends_none_is_text() -> None:
    text = f"== References ==\n* x }}}} {{{{cite\n|url={ONE}/1}}}}\n* }}}} y {ONE}/2\n* {ONE}/3"
    assert listed(text) == [[f"{ONE}/1"], [f"{ONE}/2"], [f"{ONE}/3"]]


def test_a_note_is_shown_once_with_its_first_content_wherever_that_stands() -> None:
    assert listed(f"A<ref name=a/> B<ref name=a>{ONE}/1</ref> C<ref name=a>{ONE}/2</ref>") == [[f"{ONE}/1"]]
    # Without a name each note is one of its own, also with the same content.
    assert listed(f"A<ref>{ONE}/1</ref> B<ref>{ONE}/1</ref> C<ref></ref> D<ref />") == [[f"{ONE}/1"], [f"{ONE}/1"]]
    # A note that continues none of the page is one of its own.
    assert listed(f"A<ref follow=x>{ONE}/1</ref>") == [[f"{ONE}/1"]]
    # Names in quotes of either kind, and with other spaces, are the same.
    assert listed(f"A<ref name='a  b'/> B<ref name=\"a b\">{ONE}/1</ref>") == [[f"{ONE}/1"]]


def test_each_list_shows_the_notes_of_its_group_that_stand_before_it() -> None:
    text = f"A<ref>{ONE}/1</ref>\n<references />\nB<ref>{ONE}/2</ref><ref group=n>{ONE}/3</ref>\n<references group=n />"
    assert listed(text) == [[f"{ONE}/1"], [f"{ONE}/3"], [f"{ONE}/2"]]
    # After the end of a list, notes are new again.
    assert listed(f"<references></references>A<ref name=a>{ONE}/1</ref>") == [[f"{ONE}/1"]]


@pytest.mark.parametrize(
    ("note", "address"),
    [
        (f"{ONE}/a&copy; x", f"{ONE}/a©"),
        (f"{ONE}/a&#169; x", f"{ONE}/a©"),
        (f"{ONE}/a; x", f"{ONE}/a"),
        (f"{ONE}/a&nbsp;b", f"{ONE}/a"),
        (f"{ONE}/a_(b). x", f"{ONE}/a_(b)"),
        (f"{ONE}/a). x", f"{ONE}/a"),
        (f"{{{{cite|url={ONE}/a)|x}}}}", f"{ONE}/a)"),
        (f"{{{{cite|see {ONE}/a).|x}}}}", f"{ONE}/a"),
        (f"{{{{a|{{{{b}}}}|url={ONE}/c}}}} x", f"{ONE}/c"),
        (f"{{{{b}}}} [{ONE}/a|b]", f"{ONE}/a%7Cb"),
    ],
)
def test_punctuation_behind_an_address_belongs_to_the_text(note: str, address: str) -> None:
    assert listed(f"Text.<ref>{note}</ref>") == [[address]]
