"""What a bug report needs: versions, the machine by kind, how large the tree is, what is wrong. No names.

Nothing here tells what a project is about: no id of a record, no path, no host, no user, no text.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import locale
import os
import platform
import shutil
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh import __version__
from evh.acts import validate as validate_act
from evh.project import captures, configs, datasets, fingerprint, labels, references, runs
from evh.project.find import OVERRIDES

if TYPE_CHECKING:
    from evh.project.find import Project

LIBRARIES = (
    "click", "duckdb", "httpx", "jinja2", "markdown-it-py", "markupsafe", "numpy", "pyarrow",
    "python-calamine", "PyYAML", "rich", "watchfiles", "XlsxWriter",
)  # fmt: skip
EXTRAS = {"scrub": "re2", "rouge": "rouge_score"}
"""Each extra and the module that it brings."""
TOOLS = ("git",)
PARTS = (
    "sources", "datasets", "captures", "configs", "adapters", "models", "runs", "runs-rescored",
    "runs-labels", "runs-judged", "labels", "references", "baselines", "logs", "label", "other",
)  # fmt: skip
"""The parts of ``data/`` that sizes are told of; folders of label-scored runs count together."""


@dataclass(frozen=True, slots=True)
class Report:
    """Facts for a bug report.

    Attributes:
        evh: version, build.
        machine: the system, processor, Python, encoding and locale by kind; free space of the project's disk.
        libraries: name → version, or None: it is not installed.
        extras: extra → whether what it brings can be imported.
        tools: program → whether it is found.
        settings: which variables and settings point elsewhere, by name alone.
        records: noun → how many.
        sizes: part of ``data/`` → ``{files, bytes}``.
        findings: code of a finding of `validate` → how many, errors and warnings apart.
    """

    evh: Mapping[str, Any]
    machine: Mapping[str, Any]
    libraries: Mapping[str, str | None]
    extras: Mapping[str, bool]
    tools: Mapping[str, bool]
    settings: Mapping[str, Any]
    records: Mapping[str, int]
    sizes: Mapping[str, Mapping[str, int]]
    findings: Mapping[str, Mapping[str, int]]


def examine(project: Project) -> Report:
    """Return the report of a project.

    Cost: that of `validate`, which reads every record, item, label and output once.
    """
    problems: list[Any] = []
    report = validate_act.validate(project)
    found: dict[str, Counter[str]] = {}
    for finding in report.findings:
        found.setdefault(finding.severity, Counter())[finding.code] += 1
    sets = datasets.read_all(project, problems)
    return Report(
        evh={"version": __version__, **_build()},
        machine=_machine(project),
        libraries={name: _version(name) for name in LIBRARIES},
        extras={name: importlib.util.find_spec(module) is not None for name, module in EXTRAS.items()},
        tools={name: shutil.which(name) is not None for name in TOOLS},
        settings={
            "overrides": sorted(name for name in OVERRIDES if project.environ.get(name)),
            "clock_set": bool(project.environ.get("EVH_NOW")),
            "own_adapter": project.settings.adapter.endswith(".py"),
            "own_templates": (project.root / "site_templates").is_dir(),
            "git": (project.root / ".git").exists(),
        },
        records={
            "datasets": len(sets),
            "items": sum(len(one.items) for one in sets),
            "captures": len(read := captures.read_all(project, problems)),
            "captured_records": sum(one.n_records for one in read),
            "configs": len(configs.read_all(project, problems)),
            "runs": len(runs.read_all(project, problems)),
            "unfinished_runs": len(runs.unfinished(project)),
            "label_sets": len(labels.read_all(project, problems)),
            "reference_sets": len(references.read_all(project, problems)),
            "unreadable": len(problems),
        },
        sizes=_sizes(project),
        findings={severity: dict(sorted(counts.items())) for severity, counts in sorted(found.items())},
    )


def _build() -> dict[str, Any]:
    build = fingerprint.build()
    return {"ref": build["ref"], "source": build["source"], "dirty": build["dirty"]}


def _machine(project: Project) -> dict[str, Any]:
    return {
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "encoding": sys.getfilesystemencoding(),
        "locale": locale.getlocale()[1],
        "cores": os.cpu_count(),
        "free_bytes": shutil.disk_usage(project.root).free,
        "case_matters": _case_matters(project),
    }


def _case_matters(project: Project) -> bool:
    """Tell whether the project's file system tells ``data`` from ``DATA``."""
    other = project.data.with_name(project.data.name.swapcase())
    return not (other.exists() and other.samefile(project.data))


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _sizes(project: Project) -> dict[str, dict[str, int]]:
    """Return how many files and bytes each part of ``data/`` holds; links are not followed."""
    made = {part: {"files": 0, "bytes": 0} for part in PARTS}
    for folder, _, files in os.walk(project.data):  # os.walk goes into no linked folder
        place = Path(folder)
        top = (*place.relative_to(project.data).parts, "other")[0]
        part = "runs-labels" if top.startswith("runs-labels") else top
        kept = made[part if part in made else "other"]
        for name in files:
            kept["files"] += 1
            kept["bytes"] += (place / name).lstat().st_size
    return {part: sizes for part, sizes in made.items() if sizes["files"]}
