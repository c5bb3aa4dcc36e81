"""Numbers for the names of conversations, sessions and speakers."""

from __future__ import annotations

from collections.abc import Callable


class Names:
    """Numbers for strings, given in the order of first use; what each is ``called``, others may be too."""

    def __init__(self, names: list[str] | None = None, *, called: Callable[[str], str] = str) -> None:
        self.names = names or []
        self._codes = {name: code for code, name in enumerate(self.names)}
        self._called = called
        self._codes_called: dict[str, list[int]] = {}
        self._n_called = 0

    def code(self, name: str) -> int:
        found = self._codes.get(name)
        if found is None:
            found = self._codes[name] = len(self.names)
            self.names.append(name)
        return found

    def find(self, name: str) -> int | None:
        return self._codes.get(name)

    def called(self, what: str) -> list[int]:
        """Return the numbers of all that are called so, ascending."""
        for code in range(self._n_called, len(self.names)):
            self._codes_called.setdefault(self._called(self.names[code]), []).append(code)
        self._n_called = len(self.names)
        return self._codes_called.get(what, [])
