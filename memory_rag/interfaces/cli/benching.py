"""``memory-rag bench``: how well each kind of recall finds the evidence, on data sets and on one's own memory."""

from __future__ import annotations

from memory_rag.interfaces.cli import bench_reports, bench_runs
from memory_rag.interfaces.cli.bench_group import bench, command
from memory_rag.interfaces.cli.output import Json, print_json, say
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.terminal import columns_of, padded, screen_width, wrapped

__all__ = ["bench", "bench_reports", "bench_runs", "list_"]


@command("list")
def list_(place: Place, as_json: Json = False) -> None:
    """List the benchmarks and what each needs."""
    from memory_rag.evaluation.datasets.registry import DATASETS
    from memory_rag.evaluation.definition import definitions

    listed = [
        {"name": name, "about": found.about, "takes": DATASETS[found.dataset].takes, "unit": found.unit, "k": found.k}
        for name, found in definitions().items()
    ]
    if as_json:
        print_json(listed)
        return
    width = max(columns_of(str(one["name"])) for one in listed) + 2
    for one in listed:
        text = f"{one['about']} (takes: {one['takes']})"
        for number, line in enumerate(wrapped(text, screen_width() - width)):
            say(padded("" if number else str(one["name"]), width) + line.of(text))
