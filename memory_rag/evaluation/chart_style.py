"""How charts look: matplotlib's settings, in the light palette."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from memory_rag.evaluation.series import LIGHT

CHART_STYLE: Final[Mapping[Any, Any]] = {
    "svg.hashsalt": "memory_rag",
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 8.5,
    "axes.edgecolor": LIGHT["faint"],
    "axes.labelcolor": LIGHT["muted"],
    "axes.labelsize": 8.5,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.axisbelow": True,
    "figure.facecolor": LIGHT["card"],
    "axes.facecolor": "none",
    "text.color": LIGHT["ink"],
    "xtick.color": LIGHT["faint"],
    "ytick.color": LIGHT["faint"],
    "xtick.labelcolor": LIGHT["muted"],
    "ytick.labelcolor": LIGHT["muted"],
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "grid.color": LIGHT["line"],
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "savefig.dpi": 200,
}
