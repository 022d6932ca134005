"""``evh migrate-references``: references of an older tree get label sets and promotion records."""

from __future__ import annotations

from evh.cli import common
from evh.store.text import plural


@common.command("migrate-references", writes=True, example="evh migrate-references --dry-run")
def migrate_references(*, as_json: bool, dry_run: bool) -> None:
    """Make a label set and a promotion record for each reference that has none.

    The set is named <tier>_<name> and holds the reference's texts byte for byte; only the reference's
    manifest.json changes. A second time there is nothing to do.
    """
    from evh.acts import migrate_references as act
    from evh.cli.table import table

    project = common.project()
    plan = act.plan(project)
    if not dry_run:
        plan = act.commit(project, plan)
    notes = act.told(plan)
    if as_json:
        rows = [
            {
                "reference": one.ref,
                "label_set": one.label_set.ref if one.label_set else None,
                "new_set": one.new,
                "source": dict(one.source),
                "n_items": one.label_set.n_items if one.label_set else 0,
                "labels_sha256": one.label_set.labels_sha256 if one.label_set else None,
                "digest": one.digest,
                "why_no_set": one.reason or None,
                "written": not dry_run,
            }
            for one in plan.migrations
        ]
        common.emit("migrate-references", "references", rows, warnings=notes, n_done=plan.n_done)
        return
    if not plan.migrations:
        common.say(f"nothing to migrate: {plural(plan.n_done, 'reference set')} with a promotion on record")
        common.warn(notes)
        return
    table(
        ["reference", "label set", "source", "by", "labels"],
        [
            (
                one.ref,
                one.label_set.ref if one.label_set else None,
                one.source.get("kind"),
                next(
                    (
                        one.source[key]
                        for key in ("by", "config_id", "run_id", "capture")
                        if key in one.source
                    ),
                    None,
                ),
                one.label_set.n_items if one.label_set else None,
            )
            for one in plan.migrations
        ],
        right=(4,),
        keep=(0, 1),
    )
    common.say()
    done = "would migrate" if dry_run else "migrated"
    n_sets = sum(one.label_set is not None for one in plan.migrations)
    common.say(
        f"{done} {plural(len(plan.migrations), 'reference set')} to {plural(n_sets, 'label set')}; "
        + ("their texts stay as they are" if dry_run else "their digests are what they were")
    )
    common.warn(notes)
    common.next_steps(
        ["evh migrate-references"] if dry_run else ["evh labels", "evh references", "evh validate"]
    )
