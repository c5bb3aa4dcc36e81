"""``memory-rag settings``: each setting's value, and where it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from memory_rag.interfaces.cli.output import Json, print_json, say, tell
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.terminal import padded, shown
from memory_rag.server_url import is_on_server, without_secrets

if TYPE_CHECKING:
    from memory_rag.settings import Settled


def settings(
    place: Place,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="SETTING", help="Only these. Default: all.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the settings, and where each value comes from.

    An option comes before the environment, that before memory-rag.toml in the home folder, and that before the default.
    """
    from memory_rag.settings import CONFIG_NAME, home_folder, setting_names, settled

    unknown = [name for name in names or () if name not in setting_names()]
    if unknown:
        raise typer.BadParameter(f"unknown setting {unknown[0]!r}; settings are: {', '.join(setting_names())}")
    config = home_folder(place.home) / CONFIG_NAME
    every = settled(
        config=config, owner=place.owner, embedder=place.embedder, language=place.language, timezone=place.timezone
    )
    found = {name: _printable(one) for name, one in every.items() if not names or name in names}
    if as_json:
        print_json({name: {"value": _value(one.value), "from": one.origin} for name, one in found.items()})
        return
    width = max(map(len, found)) + 2
    for name, one in found.items():
        value = ", ".join(one.value) if isinstance(one.value, tuple) else str(one.value)
        origin = "" if one.origin == "default" else one.origin
        say(f"{padded(name, width)}{padded(shown(value) or '-', 12)}  {origin}".rstrip())
    tell(f"the file is {config}" + ("" if config.is_file() else ", which isn't there"))


def _printable(one: Settled) -> Settled:
    """Return a setting as it may be shown: a URL without its password."""
    return one._replace(value=without_secrets(one.value)) if is_on_server(one.value) else one


def _value(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
