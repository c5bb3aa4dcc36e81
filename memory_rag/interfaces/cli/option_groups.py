"""Options that several commands have: written once, as the fields of a dataclass, and handed over as one value."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, TypeVar, get_type_hints

Command = TypeVar("Command", bound=Callable[..., None])


def with_options(group: type[Any]) -> Callable[[Command], Command]:
    """Give a command, in the place of its parameter of this dataclass, an option for each of the dataclass's fields.

    A field's annotation and default are what typer reads of an option; the command gets them as one value.
    """
    hints = get_type_hints(group, include_extras=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    options = [
        inspect.Parameter(
            field.name,
            keyword,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]

    def grouped(run: Command) -> Command:
        own = list(inspect.signature(run, eval_str=True).parameters.values())
        (handed,) = (parameter for parameter in own if parameter.annotation is group)

        @functools.wraps(run)
        def command(*arguments: Any, **given: Any) -> None:
            value = group(**{option.name: given.pop(option.name) for option in options if option.name in given})
            run(*arguments, **given, **{handed.name: value})

        parameters = []
        for parameter in own:
            parameters += options if parameter is handed else [parameter.replace(kind=keyword)]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return command  # type: ignore[return-value]

    return grouped
