"""What `import facetflow` promises: light imports, every name, working examples, and inclusion in the wheel."""

import ast
import doctest
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import facetflow
import facetflow.internals

HEAVY = ("torch", "polars", "numpy", "prefect", "dask", "numba", "pydantic", "transformers", "spacy", "deltalake")


def test_importing_it_and_asking_what_it_has_imports_nothing_heavy(root: Path) -> None:
    program = (
        "import sys, facetflow\n"
        "assert set(facetflow.__all__) <= set(dir(facetflow))\n"
        "assert facetflow.FacetflowError.__mro__[1] is Exception\n"
        "assert facetflow.__version__\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("file", ["features/__init__.py", "training.py"])
def test_a_script_beside_a_namesake_of_ours_is_told_which(root: Path, tmp_path: Path, file: str) -> None:
    hiding = tmp_path / file
    hiding.parent.mkdir(exist_ok=True)
    hiding.touch()
    script = tmp_path / "script.py"
    script.write_text("import facetflow\nprint(facetflow.InputError)\n")
    environment = os.environ | {"PYTHONPATH": str(root)}
    command = [sys.executable, str(script)]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    where = hiding.parent if hiding.parent != tmp_path else hiding
    assert done.stderr.splitlines()[-1].startswith(f"ImportError: {str(where)!r} hides the package ")
    command.insert(1, "-P")
    assert subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stderr == ""


def test_type_checkers_and_the_program_see_the_same_names(root: Path) -> None:
    tree = ast.parse((root / "facetflow" / "__init__.py").read_text())
    checked, _ = [node for node in tree.body if isinstance(node, ast.If)]
    assert "__getattr__" not in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    imports = [node for node in checked.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: node.module for node in imports for alias in node.names}
    assert homes.keys() | {"__version__"} == set(facetflow.__all__)
    for name, module in homes.items():
        home = importlib.import_module(str(module))
        assert getattr(facetflow, name) is getattr(home, name), name
        # pyright does not ask the `__getattr__` of a module for names that another one passes on.
        bound = rf"^ *(?:(?:class|def) {name}\b|(?:from .*)?import .*\b{name}\b|{name}\b.*[:=])"
        assert re.search(bound, Path(str(home.__file__)).read_text(encoding="utf-8"), re.MULTILINE), name


def test_a_name_that_it_does_not_have_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'smtch'"):
        _ = facetflow.smtch


def with_examples() -> list[str]:
    """Return the modules that have examples in their docstrings."""
    root = Path(facetflow.__file__).parents[1]
    files = (
        file for package in ("features", "training", "flows", "facetflow") for file in (root / package).rglob("*.py")
    )
    having = [file.relative_to(root).with_suffix("") for file in files if ">>>" in file.read_text(encoding="utf-8")]
    return sorted(".".join(path.parts).removesuffix(".__init__") for path in having)


@pytest.mark.parametrize("module", with_examples())
def test_the_examples_in_docstrings(module: str) -> None:
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.slow  # loads the parsers and an encoder
def test_the_examples_of_the_page_on_python(root: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    page = root / "docs/howto/python.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    found = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.name, str(page), 0)
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(found, out=said.append)
    assert result.attempted > 30
    assert result.failed == 0, "".join(said)


@pytest.mark.slow  # loads the parser and an encoder
def test_the_example_of_the_readme(root: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    (block,) = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(block, "README.md", "exec"), {})  # noqa: S102  # our own lines


def test_a_wheel_has_the_package_and_says_that_it_is_typed(root: Path, tmp_path: Path) -> None:
    # What setuptools would copy, without building 45 MB of weights into an archive.
    program = (
        "from setuptools import Distribution\n"
        "made = Distribution({'script_name': 'setup.py'}); made.parse_config_files()\n"
        f"made.get_command_obj('egg_info').egg_base = {str(tmp_path)!r}\n"
        "build = made.get_command_obj('build_py'); build.ensure_finalized()\n"
        "print(*build.get_outputs(include_bytecode=False), sep='\\n')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    files = {path.partition("lib/")[2] for path in done.stdout.splitlines()}
    wanted = {f"facetflow/{path.name}" for path in (root / "facetflow").glob("*.py")}
    assert wanted | {"facetflow/py.typed", "features/py.typed", "training/py.typed"} <= files


def test_roles_without_torch_need_the_extra_that_brings_all_of_their_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(facetflow.ModelError, match=r"Models need torch; run `pip install 'facetflow\[parsers\]'`"):
        facetflow.parse_srl("A dog barks.")


def test_mteb_knows_an_encoder_by_its_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from facetflow.benchmarking import MtebEncoder

    fake = SimpleNamespace(ModelMeta=SimpleNamespace(create_empty=lambda meta: meta))
    monkeypatch.setitem(sys.modules, "mteb", fake)  # which `make mteb` installs
    monkeypatch.setitem(sys.modules, "mteb.models", fake)
    revisions = []
    for weights in ("before", "trained anew"):
        (tmp_path / "weights").write_text(weights)
        model = MtebEncoder(SimpleNamespace(folder=tmp_path, dimension=8), slice(8), None, "facetflow/published")
        revisions.append(model.mteb_model_meta["revision"])
    assert revisions[0] != revisions[1]


def test_a_strict_type_checker_of_a_user_knows_the_types_in_signatures(root: Path) -> None:
    sources = [file.read_text(encoding="utf-8") for file in (root / "facetflow").glob("*.py")]
    types = {name for source in sources for name in re.findall(r"\binternals\.([A-Z]\w*[a-z]\w*)", source)}
    assert types == set(facetflow.internals.__all__)
