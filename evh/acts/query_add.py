"""A question for a log: a line in ``queries.jsonl``. A question never changes: another one is a new id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evh.errors import Refusal
from evh.project import logs
from evh.records.chunk import Query
from evh.records.shape import is_character_text
from evh.store.names import bad_new_id, check_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evh.project.find import Project

MOST_QUESTION = 4_000


@dataclass(frozen=True, slots=True)
class Plan:
    """The questions that `commit` would add, and those that are there already, word for word."""

    log: str
    added: tuple[Query, ...]
    known: tuple[Query, ...]


def plan(project: Project, log: str, questions: Mapping[str, str]) -> Plan:
    """Return what adding questions (query id → question) would write.

    Raises:
        Refusal: no such log, ids that are none, a question that is empty or too long, or that differs from
            the one of the same id; all reasons at once.
    """
    known = {one.query_id: one for one in logs.queries(project, log)}
    reasons: list[tuple[str, str]] = []
    added: list[Query] = []
    same: list[Query] = []
    for query_id, given in questions.items():
        check_id(query_id, "query")
        question = " ".join(given.split())
        place = f"{log}/{query_id}"
        if not question:
            reasons.append(("bad-question", f"{place}: the question is empty"))
        elif len(question) > MOST_QUESTION:
            reasons.append(("bad-question", f"{place}: {len(question)} characters, over {MOST_QUESTION}"))
        elif not is_character_text(question):
            reasons.append(("bad-question", f"{place}: it holds a lone surrogate, which is no character"))
        elif query_id in known and known[query_id].question != question:
            there = known[query_id].question
            reasons.append(("other-question", f"{place}: it asks {there!r}; its labels are of that question"))
        elif query_id in known:
            same.append(known[query_id])
        else:
            wrong = bad_new_id(query_id, [*known, *(one.query_id for one in added)])
            if wrong:
                reasons.append(("bad-id", f"{place}: {wrong}"))
            added.append(Query(query_id, question))
    if reasons:
        raise Refusal(
            reasons[0][0] if len({code for code, _ in reasons}) == 1 else "bad-question",
            "a question cannot be taken",
            why=[reason for _, reason in reasons],
            next="another question is a new --query",
        )
    return Plan(log, tuple(added), tuple(same))


def commit(project: Project, plan: Plan) -> str | None:
    """Append the questions; return a note about a torn last line that was dropped, or None."""
    torn = logs.add_queries(project, plan.log, plan.added) if plan.added else None
    return None if torn is None else f"a last line that a crash had cut was dropped ({len(torn)} bytes)"
