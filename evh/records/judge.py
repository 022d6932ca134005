"""A judge: how models grade stored outputs, or choose among them; written by people in YAML."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evh.records.shape import Shape, is_number
from evh.store.hashing import sha256_text
from evh.store.names import bad_id
from evh.store.strict import compact

if TYPE_CHECKING:
    from collections.abc import Mapping

GRADE, PICK, PAIRWISE = "grade", "pick", "pairwise"
KINDS = (GRADE, PICK, PAIRWISE)
MEAN, MAJORITY = "mean", "majority"
MOST_REPEATS = 20
SCORE, WON = "judge_score", "judge_won"
UNVALIDATED = "_unvalidated"
"""What a metric's key ends in while nobody has measured the judge against people."""
_DIMENSION = re.compile(r"[a-z][a-z0-9_]{0,39}")
_SCALE = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*\.\.\s*(-?\d+(?:\.\d+)?)\s*")
_KEYS = "scorer, kind, rubric or rubric_file, scale, dimensions, judges, combine, repeats, validated_by"


@dataclass(frozen=True, slots=True)
class Scale:
    """The grades that a judge may give: numbers from ``low`` to ``high``, both included."""

    low: float = 1
    high: float = 5

    def holds(self, grade: float) -> bool:
        """Tell whether a grade lies on the scale."""
        return self.low <= grade <= self.high

    def __str__(self) -> str:
        """Return ``1..5``."""
        return f"{self.low:g}..{self.high:g}"


@dataclass(frozen=True, slots=True)
class Judge:
    """One way of judging.

    Attributes:
        scorer: its name; judged runs lie in ``runs-judged/<scorer>/``.
        kind: ``grade`` (a score for each output), ``pick`` (the best of several) or ``pairwise`` (every two
            outputs, in both orders).
        judges: the configs whose models judge.
        rubric: what to judge by, where it stands in the YAML; else None.
        rubric_file: the file that holds it; else None.
        scale: of grades.
        dimensions: what is graded apart; ``judge_score`` is then their mean.
        combine: how several judges, and repeats, become one: ``mean``, or the ``majority`` of their votes.
        repeats: how often each question is asked, to measure the judge's own noise.
        validated_by: ``{run, rubric_sha256, …}`` once it was measured against people, or None.
    """

    scorer: str
    kind: str
    judges: tuple[str, ...]
    rubric: str | None = None
    rubric_file: str | None = None
    scale: Scale = field(default_factory=Scale)
    dimensions: tuple[str, ...] = ()
    combine: str = MAJORITY
    repeats: int = 1
    validated_by: Mapping[str, Any] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def metric(self) -> str:
        """The metric that it gives, without the word for an unvalidated one."""
        return SCORE if self.kind == GRADE else WON

    def question_sha(self, rubric_sha256: str) -> str:
        """Return the hash of what is asked: the kind, the rubric, and for grades the scale and dimensions."""
        graded = {"scale": [self.scale.low, self.scale.high], "dimensions": list(self.dimensions)}
        asked = {"kind": self.kind, "rubric_sha256": rubric_sha256}
        return sha256_text(compact({**asked, **(graded if self.kind == GRADE else {})}))


def parse(raw: Mapping[str, Any], place: object) -> Judge:
    """Return the judge in a YAML mapping, or raise a Refusal with every key that is wrong."""
    shape = Shape(raw, place)
    scorer = shape.identifier("scorer")
    kind = shape.text("kind", required=True)
    if kind and kind not in KINDS:
        shape.problem("kind", f"is {kind!r}; it can be {', '.join(KINDS)}")
    rubric, rubric_file = _rubric(shape)
    judges = _judges(shape)
    scale = _scale(shape)
    dimensions = _dimensions(shape, kind)
    combine = shape.choice("combine", (MEAN, MAJORITY), MEAN if kind == GRADE else MAJORITY)
    if kind == GRADE and combine == MAJORITY:
        shape.problem("combine", "grades are combined by their mean")
    repeats = shape.whole("repeats", 1)
    if not 1 <= repeats <= MOST_REPEATS:
        shape.problem("repeats", f"is {raw.get('repeats')!r}; it can be 1 to {MOST_REPEATS}")
    validated_by = _validated_by(shape)
    made = Judge(
        scorer=scorer,
        kind=kind,
        judges=judges,
        rubric=rubric,
        rubric_file=rubric_file,
        scale=scale,
        dimensions=dimensions,
        combine=combine,
        repeats=repeats,
        validated_by=validated_by,
        extra=shape.rest(),
    )
    shape.finish(f"{place} is not a judge that evh can read", next=f"mend {place}; its keys are {_KEYS}")
    return made


def metrics_of(judge: Judge) -> tuple[str, ...]:
    """Return the metrics that a judge gives, the first one for the whole."""
    return (judge.metric, *(f"{SCORE}_{name}" for name in judge.dimensions))


def plain(metric: str) -> str:
    """Return a metric's key without the word for an unvalidated judge."""
    return metric.removesuffix(UNVALIDATED)


def scorer_of(metric: str) -> str | None:
    """Return the judge of a metric that is written ``SCORER/M``; None for a run's own metric."""
    scorer, _, name = metric.rpartition("/")
    return scorer if scorer and is_judged(name) else None


def is_judged(metric: str) -> bool:
    """Tell whether a metric is a judge's, validated or not."""
    name = plain(metric)
    return name in (SCORE, WON) or name.startswith(f"{SCORE}_")


def read_scale(text: str) -> Scale | None:
    """Return the scale in a text such as ``1..5``, or None; its ends may stand the wrong way round."""
    found = _SCALE.fullmatch(text)
    return Scale(*(float(one) for one in found.groups())) if found else None


def _scale(shape: Shape) -> Scale:
    value = shape.take("scale")
    if value is None:
        return Scale()
    found = read_scale(value) if isinstance(value, str) else None
    ends = [found.low, found.high] if found else value
    if not (isinstance(ends, list) and len(ends) == 2 and all(is_number(one) for one in ends)):
        shape.problem("scale", "is no scale: write it as 1..5")
        return Scale()
    low, high = ends
    if not low < high:
        shape.problem("scale", f"{low:g} is not below {high:g}")
        return Scale()
    return Scale(low, high)


def _rubric(shape: Shape) -> tuple[str | None, str | None]:
    rubric, rubric_file = shape.maybe_text("rubric"), shape.maybe_text("rubric_file")
    if (rubric is None) == (rubric_file is None):
        shape.problem(
            "rubric", "give a rubric or a rubric_file: what the outputs are judged by, one of the two"
        )
    if rubric is not None and not rubric.strip():
        shape.problem("rubric", "is empty")
    return rubric, rubric_file


def _judges(shape: Shape) -> tuple[str, ...]:
    judges = shape.texts("judges")
    if not judges:
        shape.problem("judges", "names no config: whose model judges?")
    for name in judges:
        if (reason := bad_id(name)) is not None:
            shape.problem("judges", reason)
    if len(set(judges)) < len(judges):
        shape.problem("judges", "names a config twice")
    return judges


def _dimensions(shape: Shape, kind: str) -> tuple[str, ...]:
    dimensions = shape.texts("dimensions")
    for name in dimensions:
        if not _DIMENSION.fullmatch(name):
            shape.problem("dimensions", f"{name!r} is no name: lower-case letters, digits and _")
    if len(set(dimensions)) < len(dimensions):
        shape.problem("dimensions", "names one twice")
    scaled = shape.raw.get("scale") is not None
    if kind in (PICK, PAIRWISE) and (dimensions or scaled):
        shape.problem("scale" if scaled else "dimensions", f"a {kind} judge gives no grades")
    return dimensions


def _validated_by(shape: Shape) -> dict[str, Any] | None:
    validated_by = shape.maybe_mapping("validated_by")
    for key in ("run", "rubric_sha256") if validated_by is not None else ():
        if not isinstance((validated_by or {}).get(key), str):
            shape.problem("validated_by", f"{key} is not a text; evh judge-validate gives the line")
    return validated_by
