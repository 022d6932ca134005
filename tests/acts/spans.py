"""Traces as OTLP/JSON has them: spans, events and log records from plain values."""

from __future__ import annotations

from typing import Any


def value(one: Any) -> dict[str, Any]:
    """A value as AnyValue of OTLP/JSON: an int64 is text (opentelemetry-proto, common.proto; proto3 JSON)."""
    match one:
        case bool():
            return {"boolValue": one}
        case int():
            return {"intValue": str(one)}
        case float():
            return {"doubleValue": one}
        case str():
            return {"stringValue": one}
        case list():
            return {"arrayValue": {"values": [value(each) for each in one]}}
        case dict():
            return {"kvlistValue": {"values": attributes(one)}}
    raise TypeError(one)


def attributes(given: dict[str, Any]) -> list[dict[str, Any]]:
    """Attributes as OTLP/JSON has them."""
    return [{"key": key, "value": value(one)} for key, one in given.items()]


def span(
    given: dict[str, Any], *, number: int = 1, events: list[Any] | None = None, **more: Any
) -> dict[str, Any]:
    """A span of 1.5 s that ended at 2026-07-01T09:00:01.5Z."""
    return {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": f"eee19b7ec3c1b17{number}",
        "name": "chat gpt-4o-mini",
        "kind": 3,
        "startTimeUnixNano": "1782896400000000000",
        "endTimeUnixNano": "1782896401500000000",
        "attributes": attributes(given),
        "events": events or [],
        "status": {},
        **more,
    }


def event(name: str, given: dict[str, Any], *, at: int = 1) -> dict[str, Any]:
    """An event of a span."""
    return {"timeUnixNano": str(1782896400000000000 + at), "name": name, "attributes": attributes(given)}


def request(*spans: dict[str, Any]) -> dict[str, Any]:
    """An ExportTraceServiceRequest."""
    resource = {"attributes": attributes({"service.name": "triage"})}
    return {
        "resourceSpans": [
            {"resource": resource, "scopeSpans": [{"scope": {"name": "x"}, "spans": list(spans)}]}
        ]
    }


def logs(*records: dict[str, Any]) -> dict[str, Any]:
    """An ExportLogsServiceRequest."""
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": list(records)}]}]}


def log_record(name: str, body: Any, *, at: int, **given: Any) -> dict[str, Any]:
    """A log record that belongs to span 1."""
    return {
        "timeUnixNano": str(1782896400000000000 + at),
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": "eee19b7ec3c1b171",
        "eventName": name,
        "attributes": attributes(given),
        "body": value(body),
    }
