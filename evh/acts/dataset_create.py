"""Making a dataset from files, or from another one: items in order, each known by the hash of its bytes."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.errors import Refusal
from evh.project import datasets
from evh.records.dataset import Dataset, Item
from evh.records.shape import Scalar, bad_scalar
from evh.store import rows, strict
from evh.store.hashing import sha256
from evh.store.names import bad_item_id
from evh.store.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evh.project.find import Project


@dataclass(frozen=True, slots=True)
class Flags:
    """What a dataset may be told at its making and later; None leaves the default, or what stands.

    ``cluster_field`` names the field by which items belong together; empty text takes it away.
    """

    governed: bool | None = None
    visibility: str | None = None
    redistributable: bool | None = None
    task: str | None = None
    description: str | None = None
    cluster_field: str | None = None

    @property
    def given(self) -> dict[str, Any]:
        """The flags that were given, by their name in `Dataset`."""
        every = {
            "governed": self.governed,
            "visibility": self.visibility,
            "redistributable": self.redistributable,
            "task": self.task,
            "description": self.description,
        }
        made: dict[str, Any] = {name: value for name, value in every.items() if value is not None}
        if self.cluster_field is not None:
            made["cluster_field"] = self.cluster_field or None
        return made

    def check(self, items: Sequence[Item]) -> None:
        """Refuse a cluster field that no item has: every item would be a cluster of its own.

        Raises:
            Refusal: no item has it.
        """
        if self.cluster_field and not any(self.cluster_field in item.fields for item in items):
            known = sorted({name for item in items for name in item.fields})
            raise Refusal(
                "no-field",
                f"no item has a field {self.cluster_field!r} to be clustered by",
                why=[
                    f"--cluster-field {self.cluster_field}: the items have {', '.join(known) or 'no fields'}"
                ],
                next="name a field that the items have; --field and adapters' fields() make them",
            )


@dataclass(frozen=True, slots=True)
class Source:
    """Where the items come from: exactly one of ``folder``, ``file`` and ``dataset_id``.

    Args:
        folder: a folder of texts; a file's path in it, without ``.txt``, is the item's id.
        file: JSONL, JSON, CSV or Parquet.
        dataset_id: a dataset whose items the new one has.
        id_field: the column of the item's id.
        text_field: the column of the item's text.
        fields: columns that become the item's fields.
    """

    folder: Path | None = None
    file: Path | None = None
    dataset_id: str | None = None
    id_field: str = "item_id"
    text_field: str = "text"
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """One item to be: its id, bytes, fields and where it came from. ``place`` names it in a reason."""

    item_id: str
    text: bytes = field(repr=False)
    place: str
    fields: Mapping[str, Scalar] = field(default_factory=dict)
    lineage: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """The dataset that `commit` would write, with its items' bytes by id.

    ``n_left_out`` counts files or records that hold no item.
    """

    dataset: Dataset
    texts: Mapping[str, bytes] = field(repr=False)
    n_left_out: int = 0
    warnings: tuple[str, ...] = ()


def plan(
    project: Project,
    dataset_id: str,
    source: Source,
    flags: Flags | None = None,
    *,
    allow_duplicates: bool = False,
) -> Plan:
    """Return the dataset that ``source`` makes.

    Raises:
        Refusal: an existing dataset; rows without an id or a text; doubled or impossible ids; equal bytes
            under two ids unless ``allow_duplicates``; nothing in the source. All reasons at once.
    """
    given = [one for one in (source.folder, source.file, source.dataset_id) if one is not None]
    if len(given) != 1:
        raise Refusal(
            "bad-options",
            "a dataset comes from one place",
            why=["give exactly one of --source-dir, --from-file and --from"],
            next="evh dataset-create --help",
        )
    if datasets.exists(project, dataset_id):
        raise datasets.already(dataset_id)
    if source.dataset_id is not None:
        return _from_dataset(project, dataset_id, source.dataset_id, flags or Flags())
    reasons: list[str] = []
    left_out = 0
    if source.folder is not None:
        drafts, left_out = _of_folder(source.folder, reasons)
        name = source.folder.name
    else:
        assert source.file is not None  # noqa: S101 - one of the three, see above
        drafts = _of_file(source, source.file, reasons)
        name = source.file.name
    made = assemble(
        project,
        dataset_id,
        drafts,
        flags or Flags(),
        name=name,
        reasons=reasons,
        allow_duplicates=allow_duplicates,
    )
    warnings = (f"{plural(left_out, 'hidden file')} left out",) if left_out else ()
    return replace(made, n_left_out=left_out, warnings=warnings)


def commit(project: Project, plan: Plan) -> Dataset:
    """Write the dataset: the texts first, the manifest last."""
    return datasets.write_new(project, plan.dataset, plan.texts)


def assemble(
    project: Project,
    dataset_id: str,
    drafts: Sequence[Draft],
    flags: Flags,
    *,
    name: str,
    reasons: Sequence[str] = (),
    allow_duplicates: bool = False,
) -> Plan:
    """Return the plan of a dataset of ``drafts``, or raise one Refusal with ``reasons`` and every other.

    Args:
        project: the project.
        dataset_id: the new dataset's id.
        drafts: the items in order.
        flags: the dataset's flags; visibility is the project's by default.
        name: what the items come from, for messages.
        reasons: what is wrong already.
        allow_duplicates: let equal bytes stand under several ids.
    """
    ids = [*_ids(drafts)]
    twins = [] if allow_duplicates else _twins(drafts)
    every = [*reasons, *ids, *twins]
    if every:
        only_twins = len(twins) == len(every)
        raise Refusal(
            "equal-bytes" if only_twins else "bad-items",
            f"{name} holds {'items of equal bytes' if only_twins else 'items that cannot be taken'}",
            why=every,
            next="remove the copies, or keep them with --allow-duplicates" if only_twins else f"mend {name}",
        )
    if not drafts:
        raise Refusal(
            "no-items",
            f"{name} holds no items",
            why=[f"{name}: a dataset has at least one item"],
            next="name a source that holds texts",
        )
    items = tuple(
        Item(item_id=one.item_id, sha256=sha256(one.text), fields=one.fields, lineage=one.lineage)
        for one in drafts
    )
    flags.check(items)
    dataset = replace(
        Dataset(
            dataset_id=dataset_id,
            items=items,
            created_at=project.stamp(),
            visibility=project.settings.visibility,
        ),
        **flags.given,
    )
    return Plan(dataset, {one.item_id: one.text for one in drafts})


def _from_dataset(project: Project, dataset_id: str, parent_id: str, flags: Flags) -> Plan:
    """Return a copy of a dataset under another id: its flags where none is given, lineage to each item."""
    parent = datasets.read(project, parent_id)
    flags.check(parent.items)
    texts = datasets.texts(project, parent)
    version = parent.version + 1 if isinstance(parent.version, int) else 1
    dataset = replace(
        parent,
        dataset_id=dataset_id,
        parent=parent_id,
        version=version,
        created_at=project.stamp(),
        extra={},
        items=tuple(replace(item, lineage=_lineage(item, parent_id), extra={}) for item in parent.items),
        **flags.given,
    )
    return Plan(dataset, texts)


def _lineage(item: Item, parent_id: str) -> dict[str, Any]:
    """Return where a copied item came from; that a pick brought it into the parent, the parent tells."""
    kept = {key: value for key, value in item.lineage.items() if key != "pick"}
    return {**kept, "dataset": parent_id, "item_id": item.item_id}


def _of_folder(folder: Path, reasons: list[str]) -> tuple[list[Draft], int]:
    """Return an item for each file below a folder, and how many hidden files were left out.

    No link is followed: one is a reason to refuse.
    """
    if not folder.is_dir():
        raise Refusal(
            "cannot-read",
            f"cannot read {folder}",
            why=[f"{folder}: no such folder"],
            next="name a folder that is there with --source-dir",
        )
    drafts = []
    hidden = 0
    for at, below, names in os.walk(folder):
        below.sort()
        for name in sorted(names):
            path = Path(at) / name
            place = path.relative_to(folder).as_posix()
            if any(part.startswith(".") for part in place.split("/")):
                hidden += 1
            elif path.is_symlink():
                reasons.append(f"{place}: it is a link, and none is followed")
            else:
                data = strict.read_bytes(path)
                if not _is_text(data):
                    reasons.append(f"{place}: it is not UTF-8 text")
                drafts.append(Draft(place.removesuffix(".txt"), data, place))
        links = [name for name in below if (Path(at) / name).is_symlink()]
        reasons += [f"{name}/: it is a link, and none is followed" for name in links]
    return sorted(drafts, key=lambda one: one.item_id), hidden


def _of_file(source: Source, file: Path, reasons: list[str]) -> list[Draft]:
    drafts = []
    for number, row in enumerate(rows.read(file), 1):
        place = f"{file.name}: record {number}"
        item_id = row.get(source.id_field)
        if isinstance(item_id, int) and not isinstance(item_id, bool):
            item_id = str(item_id)
        text = row.get(source.text_field)
        known = f"it has {', '.join(map(str, row)) or 'no columns'}"
        if not isinstance(item_id, str):
            reasons.append(f"{place}: no text under {source.id_field!r}, the id's (--id-field); {known}")
        if not isinstance(text, str):
            reasons.append(
                f"{place}: no text under {source.text_field!r}, the item's (--text-field); {known}"
            )
        if not isinstance(item_id, str) or not isinstance(text, str):
            continue
        fields = {}
        for name in source.fields:
            value = row.get(name)
            if value is None:
                if name not in row:
                    reasons.append(f"{place}: there is no field {name!r}; {known}")
            elif (reason := bad_scalar(value)) is not None:
                reasons.append(f"{place}: {name} {reason}")
            else:
                fields[name] = value
        try:
            drafts.append(Draft(item_id, text.encode(), place, fields))
        except UnicodeEncodeError:
            reasons.append(f"{place}: its text holds a lone surrogate, which is no character")
    return drafts


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _ids(drafts: Sequence[Draft]) -> list[str]:
    reasons = []
    seen: dict[str, str] = {}
    for one in drafts:
        reason = bad_item_id(one.item_id)
        if reason is not None:
            reasons.append(f"{one.place}: {reason}")
        elif one.item_id in seen:
            reasons.append(f"{one.place}: the id {one.item_id!r} is that of {seen[one.item_id]} too")
        seen.setdefault(one.item_id, one.place)
    return reasons


def _twins(drafts: Sequence[Draft]) -> list[str]:
    first: dict[str, str] = {}
    reasons = []
    for one in drafts:
        digest = sha256(one.text)
        if digest in first and first[digest] != one.item_id:
            reasons.append(f"{one.item_id!r} has the same bytes as {first[digest]!r}")
        first.setdefault(digest, one.item_id)
    return reasons
