"""The doctor says how far a replica has come, and that the primary is read where it can't be."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memory_rag.checkup import Finding
from memory_rag.errors import StoreError
from memory_rag.memory import Memory
from memory_rag.postgres.checks import replica as check
from memory_rag.postgres.connections import PostgresConnections
from memory_rag.postgres.replica import Replica, Standing
from tests.interfaces.serving.served import until
from tests.postgres_nodes import postgres_nodes

pytestmark = [pytest.mark.slow, pytest.mark.needs_postgres]


class ToldReplica(Replica):
    """A replica that stands as it is told to."""

    def __init__(self, stands: Callable[[], Standing]) -> None:
        self._stands = stands

    def standing(self, *, primary: object) -> Standing:
        return self._stands()


def found(stands: Callable[[], Standing]) -> Finding:
    primary = PostgresConnections("postgresql://127.0.0.1:1/x", owner="ada", busy_timeout_s=1)
    return check(ToldReplica(stands), primary=primary)


def gone() -> Standing:
    raise StoreError("it is away")


def test_one_that_is_far_behind_away_or_on_its_own_is_a_warning() -> None:
    assert found(lambda: Standing(follows=True)) == Finding("replica", "ok", "follows, and lacks nothing")
    assert (
        found(lambda: Standing(True, 2, 3000)).message == "lacks 2 changes of this owner's, and 3,000 bytes of the log"
    )
    far, alone, away = found(lambda: Standing(True, 2, 10**8)), found(lambda: Standing(follows=False)), found(gone)

    assert [one.state for one in (far, alone, away)] == ["warn"] * 3
    assert far.message.endswith("100,000,000 bytes of the log; everything is read on the primary meanwhile")
    assert alone.message == "follows nobody any more; everything is read on the primary meanwhile"
    assert away.message == "can't be read: it is away; everything is read on the primary meanwhile"


def test_a_real_one_is_told_as_it_follows_is_stopped_and_takes_over() -> None:
    with postgres_nodes() as nodes:
        primary = nodes.primary()
        database = primary.server.new_database().rpartition("/")[2].partition("?")[0]
        follower = nodes.follower(primary)
        url, replica = primary.server.url(database), follower.server.url(database)
        with Memory.open(url, owner="ada", embedder="none", language="en", replica=replica) as memory:

            def told() -> Finding:
                (one,) = (one for one in memory.doctor().findings if one.name == "replica")
                return one

            memory.add("the kayak is red")
            until(lambda: told() == Finding("replica", "ok", "follows, and lacks nothing"))
            follower.promote()
            until(lambda: told().message.startswith("follows nobody any more"))
            follower.stop()
            assert told().message.startswith("can't be read: ")
