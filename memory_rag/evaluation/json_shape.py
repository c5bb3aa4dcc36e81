"""A check that a JSON value is what a TypedDict says."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from memory_rag.errors import ImportFormatError

_SCALARS: Final = {
    float: "a finite number",
    int: "a whole number",
    str: "a text",
    bool: "true or false",
    NoneType: "null",
}
_COLLECTIONS: Final = {list: "a list", dict: "an object"}


def check_shape(value: Any, shape: Any, *, where: str) -> None:
    """Refuse a JSON value that isn't of the shape a type gives: a TypedDict, list, dict, union, literal or scalar.

    Keys that the type doesn't name are let through: a later release may have written them.

    Raises:
        ImportFormatError: the first place that differs, what it holds, and what it should.
    """
    for fault in _faults(value, shape, where):
        raise ImportFormatError(f"{fault}; make the report again")


def _faults(value: Any, shape: Any, where: str) -> Iterator[str]:
    origin, inner = get_origin(shape), get_args(shape)
    if shape is Any:
        return
    if origin is NotRequired:
        yield from _faults(value, inner[0], where)
    elif is_typeddict(shape):
        yield from _faults_of_object(value, shape, where)
    elif origin in _COLLECTIONS:
        yield from _faults_of_entries(value, shape, where)
    elif origin in (Union, UnionType):
        yield from _faults_of_union(value, inner, where)
    elif not (_is_literal(value, inner) if origin is Literal else _is_scalar(value, shape)):
        yield _fault(value, _named(shape), where)


def _faults_of_object(value: Any, shape: Any, where: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield _fault(value, _named(shape), where)
        return
    for key, wanted in _hints(shape).items():
        if key in value:
            yield from _faults(value[key], wanted, f"{where}.{key}")
        elif get_origin(wanted) is not NotRequired:
            yield f"{where} has no {key!r}"


def _faults_of_entries(value: Any, shape: Any, where: str) -> Iterator[str]:
    if not isinstance(value, get_origin(shape)):
        yield _fault(value, _named(shape), where)
        return
    inner = get_args(shape)[-1]
    for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
        if inner not in _SCALARS or not _is_scalar(entry, inner):
            yield from _faults(entry, inner, f"{where}[{key!r}]")


def _faults_of_union(value: Any, shapes: tuple[Any, ...], where: str) -> Iterator[str]:
    if all(next(_faults(value, one, where), None) for one in shapes):
        of_objects = [one for one in shapes if is_typeddict(one)]
        if isinstance(value, dict) and of_objects:
            yield from _faults(value, of_objects[0], where)
        else:
            yield _fault(value, " or ".join(map(_named, shapes)), where)


@cache
def _hints(shape: Any) -> dict[str, Any]:
    return get_type_hints(shape, include_extras=True)


def _is_literal(value: Any, allowed: tuple[Any, ...]) -> bool:
    return any(type(value) is type(one) and value == one for one in allowed)


def _is_scalar(value: Any, shape: Any) -> bool:
    if shape is float:
        return type(value) is int or (type(value) is float and math.isfinite(value))
    return type(value) is shape


def _fault(value: Any, wanted: str, where: str) -> str:
    text = repr(value)
    return f"{where} is {text if len(text) <= 60 else text[:57] + '...'}, but should be {wanted}"


def _named(shape: Any) -> str:
    origin, inner = get_origin(shape), get_args(shape)
    if origin is Literal:
        return " or ".join(repr(one) for one in inner)
    if origin in (Union, UnionType):
        return " or ".join(_named(one) for one in inner)
    return _COLLECTIONS.get(origin) or _SCALARS.get(shape) or "an object"
