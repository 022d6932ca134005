"""OpenTelemetry traces as conversations for a log: what each trace says was said, once, in order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.acts import otlp, otlp_messages
from evh.acts.import_tools import chat

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from evh.acts.otlp import Span

SILENT = "model call without what was said"


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of one trace in their order, each as `chat.listed` gives it; ``trace`` is its id."""

    trace: str
    messages: tuple[Mapping[str, Any], ...]


def conversations(path: Path, dropped: Counter[str], reasons: list[str]) -> Iterator[Conversation]:
    """Yield the conversation of each trace that holds model calls, in the order of their first span.

    Each call sends what was said before it again: messages that the conversation holds already, from its
    beginning, are not taken twice, in whichever form they stand. Spans of an agent or a tool say what the
    calls below them say: they are taken only in a trace whose model calls say nothing.

    Args:
        path: a file of OTLP/JSON.
        dropped: where what is not taken is counted.
        reasons: gets one where nothing was found.

    Raises:
        Refusal: no OTLP/JSON.
    """
    traces: dict[str, list[Span]] = {}
    for span in otlp.read_spans(path, dropped):
        traces.setdefault(span.trace_id, []).append(span)
    found = False
    first = {trace: min(span.start for span in spans) for trace, spans in traces.items()}
    for trace in sorted(traces, key=lambda one: (first[one], one)):
        said = _said(sorted(traces[trace], key=lambda span: span.start), dropped)
        if said:
            found = True
            yield Conversation(trace or "no-trace-id", tuple(said))
    if not found:
        counts = otlp.counted(dropped)
        reasons.append(
            f"{path.name}: no span says what was sent to a model (gen_ai.* or llm.*_messages.*)"
            + (f": {counts}" if counts else "")
        )


def _said(spans: Sequence[Span], dropped: Counter[str]) -> list[Mapping[str, Any]]:
    told = {at: otlp_messages.content_of(span) for at, span in enumerate(spans)}
    full = {at for at, content in told.items() if content.sent or content.answered}
    calls = {at for at in full if spans[at].no_answer is None}
    said: list[Mapping[str, Any]] = []
    known: list[object] = []
    for at, span in enumerate(spans):
        if at not in (calls or full):
            dropped[span.no_answer or SILENT] += 1
            continue
        messages = (*told[at].sent, *told[at].answered)
        keys = [chat.message(one, Counter()) for one in messages]
        same = 0
        while same < min(len(known), len(keys)) and known[same] == keys[same]:
            same += 1
        known += keys[same:]
        said += [chat.without_media(one, dropped) for one in messages[same:]]
    return said
