"""Many threads and processes use one memory at once, and none of them loses a word of another's."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memory_rag.memory import Memory
from tests.end_to_end.hashed_words import HashedWords

ROOT = Path(__file__).parents[2]


def run(program: str, *arguments: str, environment: dict[str, str] | None = None) -> subprocess.Popen[str]:
    """Start a program that may import the tests."""
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program), *arguments],
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def meant(memory: Memory, text: str) -> list[str]:
    """Return the ids of the turns that dense recall takes to say just this; hashed words may look alike."""
    return [hit.turn.turn_id for hit in memory.search(text, mode="dense", k=1000) if hit.score > 1 - 1e-6]


ADDING = """
    import sys
    from pathlib import Path
    from memory_rag.memory import Memory
    from tests.end_to_end.hashed_words import HashedWords

    name = sys.argv[2]
    with Memory.open(Path(sys.argv[1]), embedder=HashedWords(), language="en") as memory:
        print("ready", flush=True)
        sys.stdin.readline()
        for number in range(60):
            text = f"said word{name}{number}x"
            turn = memory.add(text, speaker=name)
            assert memory.search(f"word{name}{number}x", mode="keyword", k=1)[0].turn == turn
            if number % 10 == 3:
                memory.embed()
            if number % 10 == 7:
                memory.indexes.save()
            print(turn.turn_id, text, flush=True)
"""


def test_processes_that_add_embed_and_save_at_once_lose_no_turn(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    processes = [run(ADDING, str(folder), name) for name in ("Ada", "Bo", "Cecilia")]
    for process in processes:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    acknowledged: dict[str, str] = {}
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, "")
        lines = dict(line.split(" ", 1) for line in out.splitlines())
        assert len(lines) == 60
        assert not acknowledged.keys() & lines.keys()
        acknowledged |= lines

    with Memory.open(folder, embedder=HashedWords(), language="en") as memory:
        assert {turn.turn_id: turn.text for turn in memory.turns()} == acknowledged
        assert [change.seq for change in memory.store.changes_since(0)] == list(range(1, 181))
        assert sorted(turn.ordinal for turn in memory.turns()) == list(range(180))
        memory.embed()
        for name, text in list(acknowledged.items())[::17]:
            assert memory.search(text, mode="keyword", k=1).turn_ids == (name,)
            assert name in [
                hit.turn.turn_id for hit in memory.search(text, mode="dense", k=180) if hit.score > 1 - 1e-6
            ]


def test_new_memories_may_be_made_by_several_processes_at_once(tmp_path: Path) -> None:
    making = """
        import sys
        from pathlib import Path
        from memory_rag.store.sqlite_store import SqliteTurnStore
        from memory_rag.turns import Role, Turn

        print("ready", flush=True)
        sys.stdin.readline()
        for number in range(20):
            store = SqliteTurnStore(Path(sys.argv[1]) / f"{number}")
            store.add(Turn("", "c", "s", -1, Role.USER, "user", sys.argv[2]))
            store.close()
    """
    processes = [run(making, str(tmp_path), name) for name in ("one", "two", "three")]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        _, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, "")

    for number in range(20):
        with Memory.open(tmp_path / f"{number}", embedder="none", create=False) as memory:
            assert sorted(turn.text for turn in memory.turns()) == ["one", "three", "two"]


def test_threads_that_do_everything_at_once_lose_no_turn(tmp_path: Path) -> None:
    n_threads, n_rounds = 16, 12
    start = threading.Barrier(n_threads)
    with Memory.open(tmp_path / "m", embedder=HashedWords(), language="en") as memory:

        def work(thread: int) -> dict[str, str]:
            start.wait()
            own: dict[str, str] = {}
            for number in range(n_rounds):
                word = f"word{thread}n{number}x"
                turn = memory.add(f"the {word} of thread {thread}")
                own[turn.turn_id] = turn.text
                assert memory.search(word, mode="keyword", k=1).turn_ids == (turn.turn_id,)
                match (thread + number) % 6:
                    case 0:
                        memory.embed()
                    case 1:
                        name = next(iter(own))
                        own[name] = memory.correct(name, text=f"corrected {word} by {thread}").text
                    case 2:
                        memory.forget([own.popitem()[0]])
                    case 3:
                        assert memory.quote(f"the {word} of thread")[0].turn_id == turn.turn_id
                    case 4:
                        memory.search(word, k=5)
                    case _:
                        assert memory.stats().n_turns >= len(own)
            return own

        with ThreadPoolExecutor(n_threads) as threads:
            expected = {name: text for own in threads.map(work, range(n_threads)) for name, text in own.items()}

        assert {turn.turn_id: turn.text for turn in memory.turns()} == expected
        assert memory.doctor().is_well
        memory.embed()
        for name, text in list(expected.items())[::9]:
            assert name in [
                hit.turn.turn_id for hit in memory.search(text, mode="dense", k=200) if hit.score > 1 - 1e-6
            ]


# -- forked processes

FORKING = """
    import os, sys, threading
    from pathlib import Path
    from memory_rag.errors import StoreError
    from memory_rag.memory import Memory
    {imports}

    folder = Path(sys.argv[1])
    memory = Memory.open(folder, embedder={embedder}, language="en")
    for text in ("We went paddling on the lake", "The tax return is due in May", "Grandma bakes bread"):
        memory.add(text)
    asked = "kayak and paddling on the lake"
    first = [(hit.turn.turn_id, round(hit.score, 6)) for hit in memory.search(asked, mode="dense")]

    # A thread of the parent holds the memory's lock for ever, as far as the child can see.
    holding, done = threading.Event(), threading.Event()

    def wait_for_the_end(*told):
        holding.set()
        done.wait(60)

    def hold():
        memory.reindex(progress=wait_for_the_end)

    thread = threading.Thread(target=hold)
    thread.start()
    assert holding.wait(60)
    child = os.fork()
    if child == 0:
        told = 0
        for use in (
            lambda: memory.add("child"), lambda: memory.search(asked), lambda: memory.quote("bread"),
            lambda: memory.embed(), lambda: memory.forget(["t1"]), lambda: len(memory), lambda: list(memory.turns()),
        ):
            try:
                use()
            except StoreError as error:
                told += "was opened before this process was forked; open it in the child" in str(error)
        memory.close()
        with Memory.open(folder, embedder={embedder}, language="en") as own:
            again = [(hit.turn.turn_id, round(hit.score, 6)) for hit in own.search(asked, mode="dense")]
            own.add("The child says hello")
            found = own.search("the child says hello", mode="hybrid", k=1)[0].turn.text
        print(told, again == first, found, flush=True)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    done.set()
    thread.join()
    print(status, memory.search("the child says hello", mode="dense", k=1)[0].turn.text)
    memory.add("The parent goes on")
    print([turn.text[:12] for turn in memory.turns()], memory.store.check())
    memory.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
@pytest.mark.parametrize(
    ("embedder", "imports"),
    [("HashedWords()", "from tests.end_to_end.hashed_words import HashedWords"), ("'minilm'", "")],
)
def test_a_forked_child_opens_the_memory_anew_and_searches_it(tmp_path: Path, embedder: str, imports: str) -> None:
    program = textwrap.dedent(FORKING).format(embedder=embedder, imports=imports)

    out, err = run(program, str(tmp_path / "m")).communicate(timeout=120)

    assert out.splitlines() == [
        "7 True The child says hello",
        "0 The child says hello",
        "['We went padd', 'The tax retu', 'Grandma bake', 'The child sa', 'The parent g'] []",
    ], err


def test_a_child_that_is_spawned_shares_the_memory(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m", embedder=HashedWords(), language="en") as memory:
        memory.add("from the parent")
        out, err = run(
            """
            import sys
            from pathlib import Path
            from memory_rag.memory import Memory

            with Memory.open(Path(sys.argv[1]), embedder="none") as memory:
                print(memory.add("from the child").turn_id, len(memory))
            """,
            str(tmp_path / "m"),
        ).communicate(timeout=60)

        assert (out, err) == ("t2 2\n", "")
        assert memory.search("child", mode="keyword").turn_ids == ("t2",)
