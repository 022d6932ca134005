"""``evh log-import``, ``query-add``, ``label-evidence`` and ``evidence-freeze``: the evidence labeler."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evh.cli import common
from evh.errors import Partly, Refusal
from evh.store.text import one_line, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evh.acts.label_evidence import Done, Plan


@common.command(
    "log-import",
    writes=True,
    example="evh log-import transcripts.jsonl --project airline --chunk-tokens 2000",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE…", type=click.Path(path_type=Path))
@click.option("--project", "log", required=True, metavar="P", help="The log's name.")
@click.option(
    "--format",
    type=click.Choice(["auto", "messages", "otlp", "jsonl", "text"]),
    default="auto",
    help="messages: chat transcripts; otlp: traces; jsonl: each line with a text is a chunk already; text.",
)
@click.option(
    "--chunk-tokens", type=int, default=5_000, show_default=True, help="Size of a chunk: bytes / 4."
)
@click.option("--by", type=click.Choice(["turn"]), help="A chunk a turn, whatever its size.")
@click.option("--replace", is_flag=True, help="Let other chunks take the place of those the log has.")
def log_import(
    *,
    files: tuple[Path, ...],
    log: str,
    format: str,
    chunk_tokens: int,
    by: str | None,
    replace: bool,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Cut transcripts into the chunks of a log: whole turns, in order, up to a size.

    The same files give the same chunks. A label keys on a chunk's text: cutting anew moves none.
    """
    from evh.acts import log_import as act

    project = common.project()
    plan = act.plan(
        project,
        log,
        files,
        format=format,
        chunk_tokens=chunk_tokens,
        by_turn=by == "turn",
        replace=replace,
    )
    if not dry_run:
        act.commit(project, plan)
    if as_json:
        row = {
            "project": plan.log,
            "files": [
                {"file": path.name, "format": kind, "dropped": dict(left)}
                for (path, kind), left in zip(plan.files, plan.dropped, strict=True)
            ],
            "chunk_tokens": None if plan.by_turn else plan.chunk_tokens,
            "by": "turn" if plan.by_turn else None,
            "n_chunks": plan.n_chunks,
            "n_distinct": plan.n_distinct,
            "n_turns": plan.n_turns,
            "n_tokens": plan.n_tokens,
            "chunks_sha256": plan.chunks_sha256,
            "unchanged": plan.unchanged,
            "replaced": plan.n_before if plan.n_before is not None and not plan.unchanged else None,
            "written": not dry_run and not plan.unchanged,
        }
        common.emit("log-import", "logs", [row], warnings=plan.warnings)
        return
    verb = "holds already" if plan.unchanged else "would hold" if dry_run else "holds"
    of = f" of {plural(plan.n_turns, 'turn')}" if plan.n_turns is not None else ""
    common.say(
        f"the log {plan.log} {verb} {plural(plan.n_chunks, 'chunk')}{of}, {plan.n_distinct:,} different, "
        f"about {plan.n_tokens:,} tokens"
    )
    common.warn(plan.warnings)
    common.next_steps([f'evh query-add --project {plan.log} --query Q --question "…"'])


@common.command(
    "query-add",
    writes=True,
    example='evh query-add --project airline --query refund --question "Did the customer ask for a refund?"',
)
@click.option("--project", "log", required=True, metavar="P", help="The log.")
@click.option("--query", "query_id", required=True, metavar="Q", help="The question's id.")
@click.option("--question", required=True, help="The question, as the labeler is to read it.")
def query_add(*, log: str, query_id: str, question: str, as_json: bool, dry_run: bool) -> None:
    """Add a question to a log. A question never changes: another one is a new id."""
    from evh.acts import query_add as act

    project = common.project()
    plan = act.plan(project, log, {query_id: question})
    note = None if dry_run else act.commit(project, plan)
    warnings = [note] if note else []
    if as_json:
        rows = [
            {
                "project": log,
                "query_id": one.query_id,
                "question": one.question,
                "question_sha": one.question_sha,
                "written": one in plan.added and not dry_run,
            }
            for one in (*plan.added, *plan.known)
        ]
        common.emit("query-add", "queries", rows, warnings=warnings)
        return
    for one in plan.added:
        common.say(f"{'would add' if dry_run else 'added'} {log}/{one.query_id}: {one.question}")
    for one in plan.known:
        common.say(f"{log}/{one.query_id} is there already, word for word")
    common.warn(warnings)
    common.next_steps([f"evh label-evidence --project {log} --query {query_id} --dry-run"])


@common.command(
    "label-evidence",
    writes=True,
    example="evh label-evidence --project airline --query refund --base-url http://localhost:8000/v1",
)
@click.option("--project", "log", required=True, metavar="P", help="The log.")
@click.option("--query", "query_id", metavar="Q", help="The question.")
@click.option("--all-queries", is_flag=True, help="Every question of the log.")
@click.option(
    "--provider",
    type=click.Choice(["openai", "overlap"]),
    help="openai: any chat server (default); overlap: a lexical baseline, no server.",
)
@click.option("--base-url", metavar="URL", help="The server, with the version: http://localhost:8000/v1.")
@click.option("--model", metavar="M", help="What a request calls the model (default: reasoning).")
@click.option("--think-tokens", type=click.IntRange(0), metavar="N", help="Room to think (2048).")
@click.option("--answer-tokens", type=click.IntRange(1), metavar="N", help="Room to answer (128).")
@click.option("--temperature", type=float, metavar="T", help="(0.6)")
@click.option("--top-p", type=float, metavar="P", help="(0.95)")
@click.option("--constrain", is_flag=True, help="Ask the server for a structured answer.")
@click.option("--concurrency", type=click.IntRange(1, 1024), metavar="N", help="Requests at once (adapts).")
@click.option("--engine", type=click.Choice(["ray"]), help="ray: over a cluster (pip install 'evh[ray]').")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Label at most N chunks now.")
@click.option("--max-calls", type=click.IntRange(1), metavar="N", help="Send at most N requests.")
@click.option("--max-cost", type=click.FloatRange(0, min_open=True), metavar="USD", help="Spend at most.")
@click.option("--repeat", type=click.IntRange(1, 99), default=1, metavar="K", help="K readings a chunk.")
@click.option("--probes", type=click.IntRange(0), default=0, metavar="N", help="N known answers, mixed in.")
@click.option("--journal", default="", metavar="NAME", help="Another journal: other settings, same question.")
def label_evidence(
    *,
    log: str,
    query_id: str | None,
    all_queries: bool,
    provider: str | None,
    base_url: str | None,
    model: str | None,
    think_tokens: int | None,
    answer_tokens: int | None,
    temperature: float | None,
    top_p: float | None,
    constrain: bool,
    concurrency: int | None,
    engine: str | None,
    limit: int | None,
    max_calls: int | None,
    max_cost: float | None,
    repeat: int,
    probes: int,
    journal: str,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Label each chunk of a log: does it contain evidence for the question, and why.

    Each label is kept as it comes: a run that was stopped goes on, one that is complete asks nothing. Exit 3:
    some chunks have no label.
    """
    from evh.acts import label_evidence as act
    from evh.cli.evidence_lines import Progress
    from evh.project import logs

    if (query_id is None) == (not all_queries):
        raise Refusal(
            "bad-options",
            "which question?",
            why=["give exactly one of --query and --all-queries"],
            next="evh label-evidence --help",
        )
    project = common.project()
    options = act.Options(
        provider=provider,
        base_url=base_url,
        model=model,
        think_tokens=think_tokens,
        answer_tokens=answer_tokens,
        temperature=temperature,
        top_p=top_p,
        constrain=constrain,
        repeat=repeat,
        concurrency=concurrency,
        engine=engine or "",
        limit=limit,
        max_calls=max_calls,
        max_cost=max_cost,
        probes=probes,
        journal=journal,
    )
    held = act.Log(project, log)
    wanted = [query_id] if query_id else [one.query_id for one in logs.queries(project, log)]
    if not wanted:
        raise Refusal(
            "no-queries",
            f"the log {log!r} has no question",
            why=[f"logs/{log}: no queries.jsonl"],
            next=f'evh query-add --project {log} --query Q --question "…"',
        )
    plans = [act.plan(project, held, one, options, keyless=dry_run) for one in wanted]
    if dry_run:
        _tell_plans(plans, as_json=as_json)
        return
    made = []
    for plan in plans:
        progress = Progress(plan.at.stem)
        done = act.commit(project, plan, progress=None if as_json else progress.draw)
        progress.end()
        made.append(done)
        if not as_json:
            _tell(done)
        if done.stopped:
            break
    _end(made, plans, as_json=as_json)


def _tell_plans(plans: Sequence[Plan], *, as_json: bool) -> None:
    from evh.cli.evidence_lines import run_row

    if as_json:
        rows = [run_row(plan.at, plan.summary, model=plan.labeler.model) for plan in plans]
        would = [f"{plan.at.stem}: {line}" for plan in plans for line in plan.says()]
        warnings = [line for plan in plans for line in plan.warnings]
        common.emit("label-evidence", "journals", rows, warnings=warnings, failed=[], would=would)
        return
    for plan in plans:
        for line in plan.says():
            common.say(f"would {line}")
        common.warn(plan.warnings)


def _tell(done: Done) -> None:
    from evh.cli.evidence_lines import summary_lines

    name = f"{done.plan.at.log}/{done.plan.at.stem}"
    if done.plan.complete:
        common.say(f"{name}: complete, nothing was asked")
    else:
        cost = "" if done.cost_usd is None else f", {done.cost_usd:.4g} USD"
        calls = f", {plural(done.n_calls, 'request')}, {done.tokens:,} tokens{cost}"
        common.say(
            f"{name}: {plural(done.n_new, 'new label')} by {done.plan.labeler.model}"
            + (calls if done.plan.labeler.asks_server else "")
        )
    for line in summary_lines(done.summary):
        common.say(f"  {line}")
    common.warn(done.warnings)


def _end(made: Sequence[Done], plans: Sequence[Plan], *, as_json: bool) -> None:
    """End with exit 3 where chunks have no label that this run was to give."""
    from evh.acts import evidence_command
    from evh.cli.evidence_lines import run_row

    failed = [
        {"query_id": done.plan.at.query_id, "journal": done.plan.at.ref, "chunk_sha": sha, "kind": kind}
        for done in made
        for sha, kind in done.failures.items()
    ]
    stopped = next((done.stopped for done in made if done.stopped), None)
    if as_json:
        rows = [
            run_row(
                done.plan.at,
                done.summary,
                model=done.plan.labeler.model,
                n_new=done.n_new,
                n_calls=done.n_calls,
                tokens=done.tokens,
                cost_usd=done.cost_usd,
                stopped=done.stopped,
            )
            for done in made
        ]
        warnings = [line for done in made for line in done.warnings]
        common.emit("label-evidence", "journals", rows, warnings=warnings, failed=failed)
        if failed or stopped:
            click.get_current_context().exit(Partly.exit_code)
        return
    log = made[0].plan.at.log
    if failed or stopped:
        why = [f"it stopped: {one_line(stopped, 300)}"] if stopped else []
        why += [f"{one['query_id']}: {one['chunk_sha'][:12]}…: {one['kind']}" for one in failed]
        left = len(plans) - len(made)
        raise Partly(
            "unlabelled-chunks",
            f"{plural(len(failed), 'chunk')} failed; every label that was given is kept"
            + (f"; {plural(left, 'question')} not begun" if left else ""),
            why=why,
            next="run the same command again: only what has no label is asked",
        )
    steps = [f"evh evidence-report --project {log}"]
    if len(made) == 1 and not made[0].summary.n_left:
        at = made[0].plan.at
        named = f" --journal {at.name}" if at.name else ""
        steps.append(f"evh evidence-freeze --project {log} --query {at.query_id}{named} --set S")
    elif any(done.summary.n_left for done in made):
        rest = next(done.plan for done in made if done.summary.n_left)
        line = evidence_command.line if len(plans) == 1 else evidence_command.line_of_all
        steps.insert(0, line(common.project(), rest.at, rest.settings))
    common.next_steps(steps)


@common.command(
    "evidence-freeze",
    writes=True,
    example="evh evidence-freeze --project airline --query refund --set reasoning_1",
)
@click.option("--project", "log", required=True, metavar="P", help="The log.")
@click.option("--query", "query_id", required=True, metavar="Q", help="The question.")
@click.option("--set", "name", required=True, metavar="S", help="The new set's name.")
@click.option("--dataset-id", metavar="D", help="The dataset of the items (default: P.Q).")
@click.option("--journal", default="", metavar="NAME", help="The journal, where it is not the first one.")
@click.option("--partial", is_flag=True, help="Take a journal that is not complete; recorded.")
def evidence_freeze(
    *,
    log: str,
    query_id: str,
    name: str,
    dataset_id: str | None,
    journal: str,
    partial: bool,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Make a model's label set of a journal: yes or no an item, each reason a note.

    The items are the chunks, each with the question before it. From there people label them too, and the two
    are compared as any sets are.
    """
    from evh.acts import evidence_command
    from evh.acts import evidence_freeze as act
    from evh.project import logs

    project = common.project()
    plan = act.plan(project, log, query_id, name, dataset_id=dataset_id, journal=journal, partial=partial)
    made = plan.label_set if dry_run else act.commit(project, plan)
    dataset = plan.dataset.dataset_id
    if as_json:
        row = {
            "dataset_id": dataset,
            "set": name,
            "project": log,
            "query_id": query_id,
            "journal": made.source.get("journal"),
            "journal_sha256": made.source.get("journal_sha256"),
            "model": made.source.get("model"),
            "n_items": len(plan.texts),
            "of": len(plan.items),
            "n_yes": sum(text == b"yes" for text in plan.texts.values()),
            "new_dataset": plan.new_dataset,
            "partial": bool(plan.n_unlabelled),
            "labels_sha256": made.labels_sha256 or None,
            "written": not dry_run,
        }
        common.emit("evidence-freeze", "label_sets", [row], warnings=plan.warnings)
        return
    common.say(
        f"{'would label' if dry_run else 'labelled'} {len(plan.texts):,} of {len(plan.items):,} items of "
        f"{dataset} as {made.ref}, by {made.by}"
    )
    common.warn(plan.warnings)
    steps = [
        evidence_command.slice_line(dataset),
        f"evh labels --dataset-id {dataset} --confusion",
    ]
    updates = logs.updates_path(project, log, query_id)
    if updates.exists():
        steps += [
            f"evh capture --as {dataset} --from-file {project.show(updates)} --adapter r_update",
            f"evh arm-from-capture --dataset-id {dataset} --capture {dataset} --as controller",
            f"evh rescore --dataset-id {dataset} --labels {made.ref}",
        ]
    common.next_steps(steps)
