"""Reading a folder of answers, one ``<item>.txt`` an item, text for text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evh.acts.filled_sheet import Filled, Reading
from evh.acts.look_alike import look_alike
from evh.records.answers import answers as read_answers
from evh.records.answers import canonical, listed, malformed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evh.records.dataset import Dataset


def read_folder(
    dataset: Dataset,
    files: Mapping[str, bytes],
    stems: Mapping[str, str],
    place: object,
    *,
    several: bool = False,
) -> Reading:
    """Return the labels in a folder of ``<item>.txt``, text for text; accept-lists in their one form.

    Args:
        dataset: the dataset that was labelled.
        files: file name → bytes.
        stems: every stem under which an item's file may lie → the item's id.
        place: the folder's name in a reason.
        several: different answers to items of equal bytes are noted, and no reason to refuse.
    """
    reading = Reading()
    answers: dict[str, tuple[str, str]] = {}
    for name, data in sorted(files.items()):
        where = f"{place}/{name}"
        item_id = stems.get(name.removesuffix(".txt")) if name.endswith(".txt") else None
        if item_id is None:
            reading.refuse("unknown-item", f"{where}: it is not the file of an item of {dataset.dataset_id}")
            continue
        item = dataset.by_id[item_id]
        if not data:
            reading.refuse("no-label", f"{where}: it is empty")
            continue
        text = data.decode("utf-8", "surrogateescape")
        if any("\udc80" <= char <= "\udcff" for char in text):
            reading.refuse("bad-encoding", f"{where}: it is not UTF-8")
            continue
        fault = malformed(text)
        if fault:
            reading.refuse("bad-label", f"{where}: the accept-list is malformed: {fault}")
            continue
        accepted = listed(text)
        text = text if accepted is None else canonical(accepted)
        if item_id in reading.filled:
            reading.refuse("two-answers", f"{where}: {item_id} has another file here")
        before, given = answers.setdefault(item.sha256, (item_id, text))
        if given != text and several and before != item_id:
            reading.conflicts.setdefault(item.sha256, {given}).add(text)
        elif given != text:
            reading.refuse("two-answers", f"{where}: equal bytes have another answer: {before}")
        reading.filled[item_id] = Filled(item, text, None, where)
    every = {one for filled in reading.filled.values() for one in read_answers(filled.text)}
    reading.warnings += look_alike(every, place)
    return reading
