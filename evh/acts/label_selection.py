"""Which items go into a label sheet, why, and what is proposed for each."""

from __future__ import annotations

import hmac
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal
from evh.measure.signals import disagree
from evh.project import arms, datasets, labels, runs
from evh.records.answers import answers, canonical
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.project.arms import Arm
    from evh.project.find import Project
    from evh.records.dataset import Dataset, Item

ITEMS = ("unlabelled", "all", "disagree")


@dataclass(frozen=True, slots=True)
class Decisions:
    """An arm's name and its decisions by item id."""

    name: str
    by_item: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen items in the dataset's order.

    Attributes:
        items: the items.
        random: the ids that a draw over all items chose: they stand for the whole dataset.
        record: the selection as the label set will record it.
    """

    items: tuple[Item, ...]
    random: frozenset[str]
    record: Mapping[str, Any]

    def slice_of(self, item: Item) -> str:
        """Return ``random`` or ``selected``."""
        return "random" if item.item_id in self.random else "selected"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A label proposed for an item: its canonical text, and whether the labeler sees it."""

    text: str
    shown: bool


@dataclass(frozen=True, slots=True)
class Relabelled:
    """A person's set that is labelled again: ``<dataset>/<set>``, its task, and the items it labels here."""

    ref: str
    task: str
    item_ids: tuple[str, ...]

    def among(self, item_ids: Sequence[str]) -> list[str]:
        """Return the items to label again: those named, or all; others are refused."""
        strange = [key for key in item_ids if key not in self.item_ids]
        if strange:
            raise Refusal(
                "unknown-item",
                f"not every item named is labelled by {self.ref}",
                why=[f"{self.ref}: it has no label for {key!r}" for key in strange],
                next="leave --item out, or label those items first, without --relabel",
            )
        wanted = set(item_ids or self.item_ids)
        return [key for key in self.item_ids if key in wanted]


def relabelled(project: Project, dataset: Dataset, name: str, task: str | None) -> Relabelled:
    """Return the set that one person labels again, with the items of the dataset that it labels.

    Args:
        project: the project.
        dataset: the dataset.
        name: ``<set>`` of the dataset, or ``<dataset>/<set>``.
        task: the task asked for; None takes the set's.

    Raises:
        Refusal: no such set, one that no person made, one of another task, or one that labels nothing here.
    """
    label_set = labels.read(project, *labels.split_ref(name, dataset_id=dataset.dataset_id))
    own = label_set.task
    if not own and datasets.exists(project, label_set.dataset_id):
        own = datasets.read(project, label_set.dataset_id).task
    reasons = []
    if label_set.kind != "person":
        reasons.append(f"{label_set.ref}: its source is a {label_set.kind}; only a person is asked again")
    if task is not None and task != own:
        reasons.append(f"{label_set.ref}: its task is {own or '(none)'}, not {task}")
    known = {item.sha256 for item in label_set.items.values()}
    item_ids = tuple(item.item_id for item in dataset.items if item.sha256 in known)
    if not item_ids:
        reasons.append(f"{label_set.ref}: it labels no item of {dataset.dataset_id}")
    if reasons:
        raise Refusal(
            "cannot-relabel",
            f"{label_set.ref} cannot be labelled again",
            why=reasons,
            next=f"evh labels --dataset-id {dataset.dataset_id}",
        )
    return Relabelled(label_set.ref, own, item_ids)


def decisions(project: Project, dataset_id: str, names: Sequence[str]) -> list[Decisions]:
    """Return the decisions of the arms named; without names, of production's recorded ones."""
    found = arms.of_dataset(project, dataset_id, names)
    return [_decisions(project, arm) for arm in found if names or arm.recorded]


def select(
    project: Project,
    dataset: Dataset,
    *,
    task: str,
    rule: str | None,
    item_ids: Sequence[str],
    asked: Sequence[Decisions],
    sample: int | None,
    plus_random: int,
    seed: int,
    again: Relabelled | None = None,
) -> Selection:
    """Return the items named, those that a rule describes, and a random draw over all items, united.

    Args:
        project: the project.
        dataset: the dataset.
        task: sets of this task count as labels.
        rule: one of `ITEMS`; None takes the unlabelled ones where no item is named or drawn, else none.
        item_ids: items named.
        asked: the arms that ``disagree`` compares, the first against the others.
        sample: how many of those that the rule describes; None takes all.
        plus_random: how many to draw from all items, chosen already or not.
        seed: of the draws.
        again: the set whose items are labelled again: then only those it labels are taken, the named ones
            or all.

    Raises:
        Refusal: an item that is not there, or none to label.
    """
    by_id = dataset.by_id
    unknown = [key for key in item_ids if key not in by_id]
    if unknown:
        raise Refusal(
            "unknown-item",
            f"not every item named is in {dataset.dataset_id}",
            why=[f"{dataset.dataset_id}: there is no item {key!r}" for key in unknown],
            next=f"evh dataset-items --dataset-id {dataset.dataset_id}",
        )
    if again is not None:
        rule = "relabel"
    elif rule is None and not item_ids and not plus_random:
        rule = "unlabelled"
    draw = random.Random(seed)
    matching = again.among(item_ids) if again else _matching(project, dataset, task, rule, asked)
    sampled = _drawn(draw, matching, sample)
    added = _drawn(draw, list(by_id), plus_random)
    # A sample of all items stands for the dataset as much as an added draw does.
    by_chance = frozenset(added) | (
        frozenset(sampled) if rule == "all" and sample is not None else frozenset()
    )
    wanted = {*sampled, *added} if again else {*item_ids, *sampled, *added}
    if not wanted:
        raise Refusal(
            "no-items",
            f"no item of {dataset.dataset_id} goes into this sheet",
            why=[f"--items {rule}: none of {plural(len(by_id), 'item')}"],
            next="choose otherwise: --items all, --item ID or --plus-random N",
        )
    record: dict[str, Any] = {"items": rule or "named"}
    if rule == "disagree":
        record["runs"] = [one.name for one in asked]
    if item_ids:
        record["named"] = len(set(item_ids))
    if rule and sample is not None:
        record["sample"] = {"n": len(sampled), "of": len(matching), "seed": seed}
    if by_chance:
        record["random"] = {"n": len(by_chance), "of": len(by_id), "seed": seed}
    return Selection(tuple(item for item in dataset.items if item.item_id in wanted), by_chance, record)


def propose(
    project: Project,
    dataset: Dataset,
    name: str,
    items: Sequence[Item],
    *,
    hide_share: float,
    secret: str,
    seed: int,
) -> dict[str, Proposal]:
    """Return what a label set or an arm proposes for items, by id; some of it hidden from the labeler.

    Args:
        project: the project.
        dataset: the items' dataset.
        name: ``<set>``, ``<dataset>/<set>``, or a run or config id.
        items: the items.
        hide_share: the share of proposals that stays hidden, 0..1.
        secret: decides which, with ``seed``; from the sheet's key.
        seed: likewise.

    Raises:
        Refusal: no set or arm of that name, or both.
    """
    texts = _proposed(project, dataset, name)
    found = {item.item_id: texts[item.item_id] for item in items if item.item_id in texts}
    by_chance = sorted(found, key=lambda item_id: rank(secret, seed, item_id))
    hidden = set(by_chance[: round(hide_share * len(found))])
    return {item_id: Proposal(text, item_id not in hidden) for item_id, text in found.items()}


def rank(secret: str, seed: int, item_id: str) -> str:
    """Return HMAC-SHA256(secret, seed and item): an order that a known seed does not give away."""
    message = f"{seed}\n{item_id}".encode("utf-8", "surrogatepass")
    return hmac.digest(secret.encode(), message, "sha256").hex()


def _decisions(project: Project, arm: Arm) -> Decisions:
    rows = runs.predictions(project, arm.run)
    return Decisions(arm.name, {row.item_id: row.decision for row in rows if row.decision is not None})


def _matching(
    project: Project, dataset: Dataset, task: str, rule: str | None, asked: Sequence[Decisions]
) -> list[str]:
    ids = [item.item_id for item in dataset.items]
    if rule == "unlabelled":
        labelled = _labelled(project, task)
        return [item.item_id for item in dataset.items if item.sha256 not in labelled]
    if rule == "disagree":
        return [key for key in ids if disagree([one.by_item.get(key) for one in asked])]
    return ids if rule == "all" else []


def _drawn(draw: random.Random, ids: Sequence[str], n: int | None) -> list[str]:
    return list(ids) if n is None or n >= len(ids) else draw.sample(list(ids), n)


def _labelled(project: Project, task: str) -> set[str]:
    """Return the sha256 of every text that some set of the task labels."""
    tasks = {one.dataset_id: one.task for one in datasets.read_all(project, [])}
    return {
        item.sha256
        for one in labels.read_all(project, [])
        if (one.task or tasks.get(one.dataset_id, "")) == task
        for item in one.items.values()
    }


def _proposed(project: Project, dataset: Dataset, name: str) -> dict[str, str]:
    here, _, there = name.removeprefix("labels/").rpartition("/")
    is_set = labels.exists(project, here or dataset.dataset_id, there)
    is_arm = not here and any(
        name in (arm.name, arm.run.run_id) for arm in arms.of_dataset(project, dataset.dataset_id)
    )
    if is_set and is_arm:
        raise Refusal(
            "two-meanings",
            f"{name!r} is a label set and an arm",
            why=[f"labels/{dataset.dataset_id}/{name}", f"an arm on {dataset.dataset_id}: {name}"],
            next=f"name the set as {dataset.dataset_id}/{name}, or the arm by its run id",
        )
    if is_set or here:
        label_set = labels.read(project, *labels.split_ref(name, dataset_id=dataset.dataset_id))
        by_sha = labels.by_sha(label_set, labels.texts(project, label_set))
        return {
            item.item_id: canonical(answers(by_sha[item.sha256]))
            for item in dataset.items
            if item.sha256 in by_sha
        }
    return dict(_decisions(project, arms.of_dataset(project, dataset.dataset_id, [name])[0]).by_item)
