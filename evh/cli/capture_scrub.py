"""``evh capture-scrub``: a scrubbed copy of a capture that is here."""

from __future__ import annotations

from pathlib import Path

import click

from evh.cli import common
from evh.store.text import plural


@common.command(
    "capture-scrub",
    writes=True,
    example="evh capture-scrub --capture june --as june_clean --scrub scrub.yaml",
)
@click.option("--capture", "capture_id", required=True, metavar="C", help="The capture to copy.")
@click.option("--as", "name", required=True, metavar="C2", help="The copy's name.")
@click.option("--scrub", "rules", required=True, type=click.Path(path_type=Path), help="Scrub rules (YAML).")
@click.option("--adapter", default="", metavar="A", help="Reads the records (default: the capture's own).")
@click.option("--secrets-ok", metavar="REASON", help="Keep records in which a secret survives; recorded.")
def capture_scrub(
    *,
    capture_id: str,
    name: str,
    rules: Path,
    adapter: str,
    secrets_ok: str | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Copy a capture with what scrub rules find replaced by numbered tokens; the old one stays as it is.

    Items whose bytes change are other items: scrub-map.jsonl beside the copy leads from the old to the new,
    for label-carry. It stays on this machine.
    """
    from evh.acts import capture_scrub as act
    from evh.cli import run_lines

    here = common.project()
    with run_lines.quiet_adapters():
        plan = act.plan(here, capture_id, name, rules=rules, adapter=adapter, secrets_ok=secrets_ok)
    made = plan.capture.capture if dry_run else act.commit(here, plan)
    scrub = made.scrub or {}
    counts = {str(rule): int(count) for rule, count in dict(scrub.get("counts") or {}).items()}
    if as_json:
        row = {
            "capture_id": made.capture_id,
            "scrubbed_from": capture_id,
            "n_records": made.n_records,
            "n_changed": plan.n_changed,
            "counts": counts,
            "rules_sha256": scrub.get("rules_sha256"),
            "map_file": f"captures/{made.capture_id}/{scrub.get('map_file')}",
            "records_sha256": made.records_sha256,
            "written": not dry_run,
        }
        common.emit("capture-scrub", "captures", [row], warnings=plan.warnings)
        return
    done = "would copy" if dry_run else "copied"
    common.say(
        f"{done} {plural(made.n_records, 'record')} of {capture_id} as {name}, {plan.n_changed:,} changed"
    )
    for rule, count in sorted(counts.items()):
        common.say(f"  {rule}: {plural(count, 'place')}")
    common.warn(plan.warnings)
    if not dry_run:
        leads = f"data/captures/{name}/{scrub.get('map_file')}"
        common.next_steps(
            [
                f"evh dataset-from-capture --capture {name} --dataset-id NAME",
                f"evh label-carry --dataset-id NAME --set OLD/SET --map {leads} --as SET",
            ]
        )
