"""A span's messages are found whichever convention wrote them, each side in the newest form that has it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evh.acts import otlp_messages
from evh.acts.otlp import Event, Span
from evh.acts.otlp_messages import Content


def content(given: dict[str, Any], *events: Event) -> Content:
    """Return what a span with these attributes and events says."""
    return otlp_messages.content_of(Span("t", "s", "", 0, 0, given, {}, failed=False, events=[*events]))


def test_each_side_is_read_in_the_newest_form_that_has_it() -> None:
    """Attributes say what was sent, an event what was answered: an older form of the first is not taken."""
    found = content(
        {
            "gen_ai.input.messages": json.dumps(
                [{"role": "user", "parts": [{"type": "text", "content": "a"}]}]
            ),
            "gen_ai.prompt.0.content": "a",
        },
        Event("gen_ai.choice", 2, {"message": '{"content": "b"}'}),
    )
    assert [one["parts"] for one in found.sent] == [[{"type": "text", "content": "a"}]]
    assert found.answered == ({"role": "assistant", "content": "b"},)


def test_instructions_stand_before_any_form_and_once() -> None:
    """``gen_ai.system_instructions`` beside older messages; not where these have a system message already.

    Beside ``gen_ai.input.messages`` they are further ones: the conventions do not repeat them there.
    """
    told = {"gen_ai.system_instructions": "Be brief."}
    older = {**told, "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "a"}
    assert [one["role"] for one in content(older).sent] == ["system", "user"]
    assert [one["role"] for one in content({**older, "gen_ai.prompt.0.role": "system"}).sent] == ["system"]
    assert content(told).sent == ({"role": "system", "content": "Be brief."},)
    newest = {**told, "gen_ai.input.messages": [{"role": "system", "content": "In Dutch."}]}
    assert [one["content"] for one in content(newest).sent] == ["Be brief.", "In Dutch."]


def test_an_event_may_hold_its_message_as_one_attribute() -> None:
    """``gen_ai.event.content``, as clients of 2024 wrote it: JSON of the message, or its text."""
    found = content(
        {},
        Event("gen_ai.user.message", 1, {"gen_ai.event.content": '{"role": "user", "content": "a"}'}),
        Event("gen_ai.assistant.message", 2, {"gen_ai.event.content": "b"}),
        Event("gen_ai.choice", 3, {"gen_ai.event.content": '{"index": 0, "message": {"content": "c"}}'}),
    )
    assert found.sent == ({"role": "user", "content": "a"}, {"role": "assistant", "content": "b"})
    assert found.answered == ({"role": "assistant", "content": "c"},)


def test_parts_of_openinference_keep_their_order() -> None:
    """Texts, pictures and calls under ``message.contents``: spec/semantic_conventions.md, Multimodal."""
    at = "llm.output_messages.0.message"
    found = content(
        {
            f"{at}.role": "assistant",
            f"{at}.contents.10.message_content.type": "text",
            f"{at}.contents.10.message_content.text": "last",
            f"{at}.contents.0.message_content.type": "text",
            f"{at}.contents.0.message_content.text": "first",
            f"{at}.contents.1.message_content.type": "image",
            f"{at}.contents.1.message_content.image.image.url": "data:image/png;base64,AA==",
            f"{at}.contents.2.message_content.type": "tool_use",
            f"{at}.contents.2.tool_call.function.name": "get",
            f"{at}.contents.2.tool_call.function.arguments": '{"a": 1}',
        }
    )
    assert found.answered == (
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "first"},
                {"type": "image", "image.image.url": "data:image/png;base64,AA=="},
                {"type": "tool_use", "name": "get", "arguments": '{"a": 1}'},
                {"type": "text", "text": "last"},
            ],
        },
    )


def test_a_call_that_stands_among_the_parts_and_in_the_list_is_one() -> None:
    """OpenInference may record it in both places."""
    at = "llm.output_messages.0.message"
    (found,) = content(
        {
            f"{at}.contents.0.message_content.type": "tool_use",
            f"{at}.contents.0.tool_call.function.name": "get",
            f"{at}.tool_calls.0.tool_call.function.name": "get",
        }
    ).answered
    assert found == {"role": "assistant", "content": [], "tool_calls": [{"name": "get"}]}


@pytest.mark.parametrize(
    ("given", "sent", "answered"),
    [
        # traceloop/openllmetry: numbered, with a tool's call
        (
            {
                "gen_ai.prompt.0.role": "tool",
                "gen_ai.prompt.0.name": "find",
                "gen_ai.prompt.0.content": "[]",
                "gen_ai.completion.0.tool_calls.0.name": "find",
                "gen_ai.completion.0.tool_calls.0.arguments": "{}",
            },
            [{"role": "tool", "name": "find", "content": "[]"}],
            [{"role": "assistant", "content": "", "tool_calls": [{"name": "find", "arguments": "{}"}]}],
        ),
        # the section on legacy text completion of spec/semantic_conventions.md
        (
            {"llm.prompts.0.prompt.text": "def fib(n):", "llm.choices.0.completion.text": " + fib(n-3)"},
            [{"role": "user", "content": "def fib(n):"}],
            [{"role": "assistant", "content": " + fib(n-3)"}],
        ),
        # spec/tool_calling.md, "Legacy Attributes"
        (
            {
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.function_call_name": "multiply",
                "llm.output_messages.0.message.function_call_arguments_json": '{"x": 2}',
            },
            [],
            [
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{"name": "multiply", "arguments": '{"x": 2}'}],
                }
            ],
        ),
        # spec/llm_spans.md: input.value and output.value, of spans of a model only
        (
            {"openinference.span.kind": "LLM", "input.value": "a", "output.value": "b"},
            [{"role": "user", "content": "a"}],
            [{"role": "assistant", "content": "b"}],
        ),
        ({"openinference.span.kind": "CHAIN", "input.value": "a", "output.value": "b"}, [], []),
        ({"gen_ai.prompt.version": "7", "gen_ai.prompt.x.content": "a", "gen_ai.prompt.²": "a"}, [], []),
    ],
)
def test_numbered_and_whole(given: dict[str, Any], sent: list[Any], answered: list[Any]) -> None:
    """Attributes with numbers in their names, and the ones that hold all."""
    found = content(given)
    assert ([*found.sent], [*found.answered]) == (sent, answered)


def test_numbers_are_ordered_as_numbers() -> None:
    """The tenth message stands after the second."""
    found = content({f"gen_ai.prompt.{at}.content": str(at) for at in (10, 2, 0)})
    assert [one["content"] for one in found.sent] == ["0", "2", "10"]
