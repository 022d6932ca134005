"""What a user installs is whole: wheel, sdist, lock files, Makefile, and what start-up imports."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.rooms import HEAVY, PACKAGE, imports, read_tree
from tests.tools import require_tool

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("requirements.lock", "requirements-dev.lock")
SAMPLE = "evh/_samples/triage/"
TARGETS = {"help", "catalog", "test", "lint", "format", "types", "bench", "proofs", "screenshots", "sample"}
TARGETS |= {"dist", "clean"}

# Joined here, so that this file does not hold them.
HOSTS = [".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"))]
HOSTS += [
    ".".join(parts) for parts in (("npmjs", "com"), ("deb", "debian", "org"), ("conda", "anaconda", "org"))
]


def _run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("EVH_", "EVAL_", "PYTHON"))
    }
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=300,
        check=False,
    )


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    git = require_tool("git")
    if not (ROOT / ".git").exists():
        pytest.skip("this is not a git checkout")
    return _run(git, *arguments)


def _project_files(*under: str) -> list[str]:
    """Name the files of the checkout that git holds or would hold."""
    listed = _git("ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *under).stdout
    return sorted({name for name in listed.split("\0") if name and (ROOT / name).is_file()})


def _pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def _requirements(*, groups: bool) -> list[Requirement]:
    pyproject = _pyproject()
    texts = list(pyproject["project"]["dependencies"])
    for name, group in pyproject["dependency-groups"].items():
        texts += group if groups or name == "build" else []
    return [Requirement(text) for text in texts]


def _pins(lock: str) -> dict[str, list[Requirement]]:
    """Read a lock file: by name, each pin (one for each range of Pythons)."""
    pins: dict[str, list[Requirement]] = {}
    for line in (ROOT / lock).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith((" ", "#")):
            pin = Requirement(line.removesuffix("\\").strip())
            pins.setdefault(canonicalize_name(pin.name), []).append(pin)
    return pins


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with the wheel and the sdist of this checkout."""
    from hatchling.builders.sdist import SdistBuilder
    from hatchling.builders.wheel import WheelBuilder

    out = tmp_path_factory.mktemp("dist")
    list(WheelBuilder(str(ROOT)).build(directory=str(out), versions=["standard"]))
    list(SdistBuilder(str(ROOT)).build(directory=str(out), versions=["standard"]))
    return out


def _wheel_names(built: Path) -> set[str]:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_git_does_not_ignore_the_package_under_build() -> None:
    """The usual Python .gitignore lists build/, and then the wheel lacks evh_build without a word."""
    for path in ("build/evh_build", "build/evh_build/site.py", "build/evh_build/pages/home/page.py"):
        assert _git("check-ignore", "--no-index", path).returncode == 1, path


def test_git_ignores_what_is_made() -> None:
    """Sites, caches, locks, keys and scrub maps stay on the machine."""
    made = (".build/catalog/index.html", ".cache/x.parquet", "data/.locks/a.lock", "s.key.json")
    for path in (*made, "data/captures/.tmp-1/capture.json", "scrub-map.jsonl", ".venv/bin/evh"):
        assert _git("check-ignore", "--no-index", path).returncode == 0, path


def test_build_holds_no_init() -> None:
    """With build/__init__.py, `python -m build` run from the checkout would import this folder."""
    assert not (ROOT / "build" / "__init__.py").exists()


@pytest.mark.xdist_group("dist")
def test_the_wheel_holds_both_packages_and_the_templates(built: Path) -> None:
    """Each source file of evh, evh_build and site_templates lies where the installed code looks for it."""
    wanted = set(_project_files("evh"))
    wanted |= {name.removeprefix("build/") for name in _project_files("build/evh_build")}
    templates = _project_files("site_templates")
    wanted |= {"evh_build/_site_templates" + name.removeprefix("site_templates") for name in templates}
    names = _wheel_names(built)
    assert templates
    assert "evh_build/__init__.py" in names
    assert wanted <= names


@pytest.mark.xdist_group("dist")
def test_the_wheel_holds_the_whole_sample_project(built: Path) -> None:
    """All of data/, its hidden .gitattributes too, and evh.toml; no lock and nothing half written."""
    sample = {name for name in _wheel_names(built) if name.startswith(SAMPLE)}
    assert sample == {SAMPLE + name for name in _project_files("data", "evh.toml")}
    assert {SAMPLE + "data/.gitattributes", SAMPLE + "evh.toml"} <= sample


@pytest.mark.xdist_group("dist")
def test_the_wheel_holds_nothing_else(built: Path) -> None:
    """No tests, no top-level strays."""
    tops = {name.split("/")[0] for name in _wheel_names(built)}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"evh", "evh_build"}


@pytest.mark.xdist_group("dist")
def test_the_sdist_holds_every_file_of_the_checkout(built: Path) -> None:
    """From an sdist one can build, test and read all that a clone has."""
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert set(_project_files()) - names == set()


def test_an_editable_install_puts_both_package_roots_on_the_path(tmp_path: Path) -> None:
    """`pip install -e .` must find evh in the checkout and evh_build under build/."""
    from hatchling.builders.wheel import WheelBuilder

    list(WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["editable"]))
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (paths,) = [name for name in archive.namelist() if name.endswith(".pth")]
        assert archive.read(paths).decode().split() == [str(ROOT), str(ROOT / "build")]


@pytest.fixture
def installed(built: Path, tmp_path: Path) -> Path:
    """Give the scripts' folder of a fresh venv with the wheel installed, its dependencies taken from here."""
    home = tmp_path / "venv"
    venv.create(home, with_pip=True)
    scripts = home / "bin"
    (wheel,) = built.glob("*.whl")
    done = _run(
        scripts / "python", "-m", "pip", "install", "-q", "--no-index", "--no-deps", wheel, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    # After evh's own place, for a .pth file inside a folder that a .pth file names is not read.
    where = _run(
        scripts / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path
    )
    places = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (Path(where.stdout.strip()) / "deps.pth").write_text("\n".join(sorted(places)), encoding="utf-8")
    return scripts


@pytest.mark.slow
@pytest.mark.xdist_group("dist")
def test_an_installed_evh_lays_the_sample_and_builds_its_catalog(installed: Path, tmp_path: Path) -> None:
    """`init --sample triage` and `catalog-build` work in any folder, with no checkout near."""
    found = _run(installed / "python", "-c", "import evh, evh_build; print(evh.__file__)", cwd=tmp_path)
    assert found.stdout.startswith(str(tmp_path)), found.stderr
    target = tmp_path / "mine"
    laid = _run(installed / "evh", "init", target, "--name", "mine", "--sample", "triage", cwd=tmp_path)
    assert laid.returncode == 0, laid.stderr
    assert (target / "data" / ".gitattributes").read_bytes() == b"* -text\n"
    made = _run(installed / "evh", "catalog-build", cwd=target)
    assert made.returncode == 0, made.stderr
    assert (target / ".build" / "catalog" / "index.html").is_file()


def test_the_version_is_a_literal_and_has_its_place_in_the_changelog() -> None:
    """evh/__init__.py says the version in plain text, and CHANGELOG.md has its section."""
    tree = ast.parse((ROOT / "evh" / "__init__.py").read_text(encoding="utf-8"))
    (version,) = [
        node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        and any(isinstance(name, ast.Name) and name.id == "__version__" for name in node.targets)
    ]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## [Unreleased]" in changelog
    assert f"## [{version}]" in changelog


def test_every_imported_package_is_a_declared_dependency() -> None:
    """What evh and evh_build import comes with them, or with an extra of theirs."""
    modules = {"markdown_it": "markdown-it-py", "yaml": "pyyaml", "re2": "google-re2"}
    project = _pyproject()["project"]
    texts = [
        *project["dependencies"],
        *(text for extra in project["optional-dependencies"].values() for text in extra),
    ]
    declared = {canonicalize_name(Requirement(text).name) for text in texts}
    own = {PACKAGE, "evh_build"} | set(sys.stdlib_module_names)
    tops = {
        each.candidates[-1].split(".")[0] for module in read_tree(ROOT).values() for each in imports(module)
    }
    assert {canonicalize_name(modules.get(top, top)) for top in tops - own} <= declared


def test_every_dependency_has_its_reason_in_contributing() -> None:
    """CONTRIBUTING.md has a reason for each package that pyproject.toml names, and no other."""
    rows = re.findall(
        r"^\| `([\w.-]+)` \| ([^|]+) \|", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE
    )
    named = {requirement.name for requirement in _requirements(groups=True)}
    assert {name for name, _ in rows} == named
    assert [name for name, reason in rows if not reason.strip()] == []


@pytest.mark.parametrize(("lock", "groups"), [(LOCKS[0], False), (LOCKS[1], True)])
def test_the_lock_file_pins_every_dependency_within_its_bounds(lock: str, groups: bool) -> None:
    """A lock file that fell behind pyproject.toml is told: run `make lock`."""
    pins = _pins(lock)
    for requirement in _requirements(groups=groups):
        found = pins.get(canonicalize_name(requirement.name), [])
        assert found, f"{lock} lacks {requirement.name}"
        for pin in found:
            (exact,) = pin.specifier
            assert exact.operator == "=="
            assert requirement.specifier.contains(exact.version), f"{pin} is outside {requirement}"


def test_the_two_lock_files_agree() -> None:
    """Tests run on the versions that users get; on which Pythons a package is wanted may differ."""
    first, second = (
        {name: sorted(str(pin.specifier) for pin in found) for name, found in _pins(lock).items()}
        for lock in LOCKS
    )
    assert {name: second.get(name) for name in first} == first


@pytest.mark.parametrize("lock", LOCKS)
def test_the_lock_file_holds_only_pins_and_hashes(lock: str) -> None:
    """No index, no address, no local path: it installs from whatever index pip is set up with."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    line = re.compile(r"[a-z0-9-]+==[\w.]+( ; [^\\]+)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?")
    assert [each for each in text.splitlines() if not line.fullmatch(each)] == []
    pins = sum(len(found) for found in _pins(lock).values())
    assert len(re.findall(r"(?<! \\)$", text.rstrip("\n"), re.MULTILINE)) == pins


def test_no_file_names_a_registry_host() -> None:
    """Which registry serves a package is the machine's matter. The sample's texts are third parties' own."""
    named = []
    for name in _project_files():
        if not name.startswith("data/"):
            text = (ROOT / name).read_bytes().decode("utf-8", errors="replace")
            named += [f"{name}: {host}" for host in HOSTS if host in text]
    assert named == []


def test_every_makefile_target_is_phony_and_described() -> None:
    """`make build` would say "up to date" beside a folder of that name; `make` alone lists the targets."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([A-Za-z][\w.-]*)\s*:(?![:=])", text, re.MULTILINE))
    phony = set(" ".join(re.findall(r"^\.PHONY:(.*)$", text, re.MULTILINE)).split())
    described = set(re.findall(r"^([a-z][a-z-]*):[^#\n]*## \S", text, re.MULTILINE))
    assert targets == phony == described
    assert targets >= TARGETS


def test_make_alone_prints_the_targets() -> None:
    """The default target is the help."""
    printed = _run(require_tool("make")).stdout
    assert set(re.findall(r"^  make (\S+) +\S", printed, re.MULTILINE)) >= TARGETS


def test_ci_runs_the_checks_and_the_readmes_test_command() -> None:
    """.ci/run is executable, stops at the first failure and runs lint, types and `make test`."""
    script = ROOT / ".ci" / "run"
    text = script.read_text(encoding="utf-8")
    assert os.access(script, os.X_OK)
    assert "set -euo pipefail" in text
    assert {"make lint", "make types", "make test", "export EVH_REQUIRE_TOOLS=1"} <= set(text.splitlines())
    assert _run("bash", "-n", script).returncode == 0


def test_help_imports_click_and_nothing_heavy() -> None:
    """`evh --help` answers at once: of all dependencies it imports click alone."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "build")])
    start = "import sys; sys.argv = ['evh', '--help']; from evh.cli.main import main; sys.exit(main())"
    done = _run(sys.executable, "-X", "importtime", "-c", start, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    imported = {line.rpartition("|")[2].strip().split(".")[0] for line in done.stderr.splitlines()}
    assert "click" in imported
    assert imported & (HEAVY | {"evh_build", "scipy", "sklearn"}) == set()
