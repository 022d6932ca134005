"""A scrubbed copy of a capture that is here: the same records, what the rules find replaced by tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.acts import capture as capture_act
from evh.acts.capture_source import Given
from evh.errors import Refusal
from evh.project import captures

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evh.project.find import Project
    from evh.records.capture import Capture

IGNORED = capture_act.SCRUB_MAP


@dataclass(frozen=True, slots=True)
class Plan:
    """The copy that would be written.

    Attributes:
        capture: what `capture.commit` writes.
        n_changed: records in which the rules replaced something.
        warnings: what a person should know, a sentence each.
    """

    capture: capture_act.Plan
    n_changed: int
    warnings: tuple[str, ...]


def plan(
    project: Project,
    capture_id: str,
    new_id: str,
    *,
    rules: Path,
    adapter: str = "",
    secrets_ok: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Plan:
    """Return what the scrubbed copy of a capture would hold.

    The tokens are numbered over the whole capture, so one value has one token in every record. Where
    scrubbing changes an item's bytes, ``scrub-map.jsonl`` beside the copy leads from the old hash to the new:
    labels cross it with `label-carry`.

    Args:
        project: the project.
        capture_id: the capture to copy.
        new_id: the copy's name.
        rules: the scrub rules.
        adapter: the adapter that reads the records; the capture's own by default.
        secrets_ok: why records with secrets in them may stay all the same; recorded.
        progress: called with (records done, records).

    Raises:
        Refusal: no such capture, an existing name, rules that find nothing, rules that change a record's id,
            a secret that survives.
    """
    if captures.exists(project, new_id):
        raise captures.already(new_id)
    capture = captures.read(project, capture_id)
    stored = captures.records(project, capture)
    asked = capture_act.Options(scrub=rules, secrets_ok=secrets_ok)
    reader = capture_act.adapter_of(project, capture, adapter)
    given = Given(
        name=capture_id,
        records=stored,
        source={
            "kind": "capture",
            "path": f"captures/{capture_id}",
            "sha256": capture.records_sha256,
        },
        of=capture_id,
        own_keys=capture.adapter is not None,
    )
    made = capture_act.plan_of(project, new_id, given, reader, asked, progress=progress)
    counts = dict((made.capture.scrub or {}).get("counts") or {})
    if not counts:
        raise Refusal(
            "nothing-scrubbed",
            f"the rules find nothing in {capture_id}",
            why=[f"{rules}: no rule matches a text of its {len(stored):,} records"],
            next="mend the patterns; a copy that changes nothing is not made",
        )
    before = {str(row.get("record_id")): row for row in stored}
    changed = sum(before.get(str(row.get("record_id"))) != row for row in made.records)
    warnings = list(made.warnings)
    if not _ignored(project):
        warnings.append(f"git would keep {IGNORED}, which leads back to the old bytes: add it to .gitignore")
    return Plan(made, changed, tuple(warnings))


def commit(project: Project, plan: Plan) -> Capture:
    """Write the copy: its folder is renamed in last. The capture that it was made from stays as it is."""
    return capture_act.commit(project, plan.capture)


def _ignored(project: Project) -> bool:
    """Tell whether the project's ``.gitignore`` names the map; a project outside git needs none."""
    path = project.root / ".gitignore"
    if not (project.root / ".git").exists():
        return True
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    return any(line.strip().rsplit("/", 1)[-1] == IGNORED for line in lines)
