"""YAML without its traps, on PyYAML's safe loader. Imported only where a YAML file is read."""

from __future__ import annotations

import re
from math import isfinite
from typing import Any

import yaml

DEPTH = 50


class _Loader(yaml.SafeLoader):
    """A safe loader with the JSON-like scalars of YAML 1.2 only, and no aliases or doubled keys."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.events.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.constructor.ConstructorError(
                None, None, "aliases are not read: write the value out", event.start_mark
            )
        self.depth += 1
        if self.depth > DEPTH:
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.constructor.ConstructorError(None, None, "nested too deeply", event.start_mark)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - PyYAML's signature
        seen: set[str] = set()
        for key_node, _ in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key is a plain text", key_node.start_mark
                )
            if key_node.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key_node.value!r} stands twice", key_node.start_mark
                )
            seen.add(key_node.value)
        made = super().construct_mapping(node, deep=deep)
        return {str(key): value for key, value in made.items()}

    def construct_yaml_float(self, node: yaml.ScalarNode) -> float:
        value = float(super().construct_yaml_float(node))
        if not isfinite(value):
            raise yaml.constructor.ConstructorError(
                None, None, f"{node.value[:40]} is larger than any number that evh can hold", node.start_mark
            )
        return value


_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_yaml_float)
_Loader.yaml_implicit_resolvers = {}  # the base class's read "no" as false and a date as a date


def _scalar(tag: str, pattern: str, first: str) -> None:
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), list(first) or None)


_scalar("bool", r"^(?:true|false)$", "tf")
_scalar("null", r"^(?:null|~|)$", "n~")
_Loader.yaml_implicit_resolvers.setdefault("", []).append(("tag:yaml.org,2002:null", re.compile(r"^$")))
_scalar("int", r"^-?(?:0|[1-9][0-9]*)$", "-0123456789")
_scalar("float", r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)(?:[eE][-+]?[0-9]+)?$", "-0123456789")


def load(text: str) -> Any:  # noqa: ANN401 - YAML is any value
    """Return the one document in ``text``.

    Raises:
        ValueError: what is wrong, with line and column.
    """
    try:
        loader = _Loader(text)
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise ValueError(f"{place}{error.problem or error.context or error}") from error
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
