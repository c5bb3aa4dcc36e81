"""An edit of a JSON text changes its own place and not a byte beside it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_rag.interfaces.installing.json_edit import JsonText
from memory_rag.interfaces.installing.json_places import JsonTextError, parsed, value_of

names = st.text(min_size=1, max_size=5)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(names, values, max_size=4)
layouts = st.sampled_from([None, 1, 2, 4, "\t"])
few = settings(max_examples=30)
ends = st.sampled_from(["\n", "\r\n"])


def written(value: Any, layout: int | str | None, end: str = "\n") -> str:
    return json.dumps(value, indent=layout, ensure_ascii=False).replace("\n", end)


@few
@given(objects, layouts, ends)
def test_it_reads_what_json_reads(value: dict[str, Any], layout: int | str | None, end: str) -> None:
    assert value_of(parsed(written(value, layout, end), comments=False)) == value


@few
@given(objects, layouts, ends, names, values)
def test_a_member_that_is_added_and_taken_off_leaves_every_byte_as_it_was(
    value: dict[str, Any], layout: int | str | None, end: str, name: str, new: Any
) -> None:
    value.pop(name, None)
    before = JsonText(written(value, layout, end))
    after = before.with_value((name,), new)

    assert json.loads(after.text) == {**value, name: new}
    assert after.without((name,)) == before


@few
@given(objects, layouts, names, values)
def test_a_member_that_is_there_gets_its_new_value(
    value: dict[str, Any], layout: int | str | None, name: str, new: Any
) -> None:
    text = JsonText(written({**value, name: 1}, layout))

    assert json.loads(text.with_value((name,), new).text) == {**value, name: new}


@few
@given(objects, layouts, ends, st.data())
def test_whichever_member_is_taken_off_the_others_stay(
    value: dict[str, Any], layout: int | str | None, end: str, data: st.DataObject
) -> None:
    if not value:
        return
    name = data.draw(st.sampled_from(sorted(value)))
    rest = {key: one for key, one in value.items() if key != name}

    assert json.loads(JsonText(written(value, layout, end)).without((name,)).text) == rest


@few
@given(st.lists(values, max_size=4), layouts, values, st.data())
def test_items_come_at_the_end_and_go_from_anywhere(
    items: list[Any], layout: int | str | None, new: Any, data: st.DataObject
) -> None:
    more = JsonText(written({"a": items}, layout)).with_item(("a",), new)
    place = data.draw(st.integers(0, len(items)))

    assert json.loads(more.text) == {"a": [*items, new]}
    left = [one for number, one in enumerate([*items, new]) if number != place]
    assert json.loads(more.without(("a", place)).text) == {"a": left}


def test_a_new_member_stands_as_its_neighbours_do() -> None:
    text = JsonText('{\n\t"a": {\n\t\t"x": 1\n\t}\n}\n')

    assert text.with_value(("a", "y"), {"z": [2]}).text == (
        '{\n\t"a": {\n\t\t"x": 1,\n\t\t"y": {\n\t\t\t"z": [\n\t\t\t\t2\n\t\t\t]\n\t\t}\n\t}\n}\n'
    )


def test_objects_on_the_way_are_made_also_in_an_empty_text() -> None:
    assert JsonText("").with_value(("a", "b"), 1).text == '{\n  "a": {\n    "b": 1\n  }\n}'
    assert JsonText("{}\n").with_value(("a", "b"), 1).text == '{\n  "a": {\n    "b": 1\n  }\n}\n'


COMMENTED = """\
{
  // servers of mine
  "servers": {
    "one": { "url": "http://x/" }, // the first
    /* the second */
    "two": { "url": "http://y/" }, // last, with a comma
  },
}
"""


def test_comments_and_last_commas_stay_where_the_program_reads_them() -> None:
    more = JsonText(COMMENTED, comments=True).with_value(("servers", "three"), {"url": "http://z/"})

    assert more.text == COMMENTED.replace(
        "// last, with a comma\n",
        '// last, with a comma\n    "three": {\n      "url": "http://z/"\n    },\n',
    )
    assert more.without(("servers", "three")).text == COMMENTED


def test_a_comment_goes_with_the_member_whose_line_it_ends() -> None:
    text = JsonText(COMMENTED, comments=True).without(("servers", "one")).text

    assert text == COMMENTED.replace('    "one": { "url": "http://x/" }, // the first\n', "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n  "a": 1,\n}', "line 2, column 9: a comma before }, which JSON doesn't have"),
        ('{"a": 1 "b": 2}', "line 1, column 9: a comma or } should stand here"),
        ('{"a" 1}', "line 1, column 6: a colon should stand here"),
        ('{\n// x\n"a": 1}', "line 2, column 1: a comment, which JSON doesn't have"),
        ("{'a': 1}", 'line 1, column 2: a name in quotation marks, or "}", should stand here'),
        ('{"a": ', "line 1, column 7: it ends where a value should stand"),
        ('{"a": nul}', "line 1, column 7: a value should stand here"),
        ("{} {}", "line 1, column 4: there is more after the end"),
        ("[]", "line 1, column 1: an object, { … }, should stand here"),
        ("[" * 5_000, "line 1, column 202: it is nested more than 200 deep"),
    ],
)
def test_what_is_no_json_is_told_with_its_line_and_column(text: str, said: str) -> None:
    with pytest.raises(JsonTextError) as caught:
        JsonText(text)

    assert str(caught.value) == said


def test_what_is_on_the_way_and_no_object_is_never_written_over() -> None:
    with pytest.raises(JsonTextError, match=r"line 2: mcpServers is null, not an object"):
        JsonText('{\n"mcpServers": null}').with_value(("mcpServers", "x"), 1)
    with pytest.raises(JsonTextError, match=r"line 1: hooks.Stop is \{\}, not an array"):
        JsonText('{"hooks": {"Stop": {}}}').with_item(("hooks", "Stop"), 1)
