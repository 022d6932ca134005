"""The pages of the site. A page is a folder here (its Context and its SQL), a template, and a line below.

The two that tell what could not be read come last: by then every record that is read was read.
"""

from __future__ import annotations

from evh_build.page import Page
from evh_build.pages.about.page import PAGE as ABOUT
from evh_build.pages.arm.page import PAGE as ARM
from evh_build.pages.arms.page import PAGE as ARMS
from evh_build.pages.capture.page import PAGE as CAPTURE
from evh_build.pages.captures.page import PAGE as CAPTURES
from evh_build.pages.compare.page import PAGE as COMPARE
from evh_build.pages.dataset.page import PAGE as DATASET
from evh_build.pages.datasets.page import PAGE as DATASETS
from evh_build.pages.downloads.page import PAGE as DOWNLOADS
from evh_build.pages.evidence.page import PAGE as EVIDENCE
from evh_build.pages.evidence_chunks.page import PAGE as EVIDENCE_CHUNKS
from evh_build.pages.evidence_project.page import PAGE as EVIDENCE_PROJECT
from evh_build.pages.evidence_query.page import PAGE as EVIDENCE_QUERY
from evh_build.pages.goal.page import PAGE as GOAL
from evh_build.pages.goals.page import PAGE as GOALS
from evh_build.pages.guide.page import PAGE as GUIDE
from evh_build.pages.home.page import PAGE as HOME
from evh_build.pages.item.page import PAGE as ITEM
from evh_build.pages.judge.page import PAGE as JUDGE
from evh_build.pages.judges.page import PAGE as JUDGES
from evh_build.pages.label_set.page import PAGE as LABEL_SET
from evh_build.pages.labels.page import PAGE as LABELS
from evh_build.pages.models.page import PAGE as MODELS
from evh_build.pages.picks.page import PAGE as PICKS
from evh_build.pages.reference.page import PAGE as REFERENCE
from evh_build.pages.references.page import PAGE as REFERENCES
from evh_build.pages.run.page import PAGE as RUN
from evh_build.pages.runs.page import PAGE as RUNS
from evh_build.pages.search.page import PAGE as SEARCH
from evh_build.pages.sheet.page import PAGE as SHEET

PAGES: tuple[Page, ...] = (
    DATASETS,
    DATASET,
    SHEET,
    ITEM,
    CAPTURES,
    CAPTURE,
    LABELS,
    LABEL_SET,
    REFERENCES,
    REFERENCE,
    ARMS,
    ARM,
    RUNS,
    RUN,
    COMPARE,
    GOALS,
    GOAL,
    JUDGES,
    JUDGE,
    MODELS,
    PICKS,
    EVIDENCE,
    EVIDENCE_PROJECT,
    EVIDENCE_QUERY,
    EVIDENCE_CHUNKS,
    DOWNLOADS,
    GUIDE,
    SEARCH,
    ABOUT,
    HOME,
)
