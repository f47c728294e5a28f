import subprocess
import sys
from pathlib import Path

_ABSENT = ("deltalake", "prefect", "dask", "distributed")


def test_parser_and_training_import_without_store_and_orchestration_and_a_parser_without_torch(root: Path) -> None:
    program = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({_ABSENT!r}))\n"
        "import features.parsers.amr, features.stages.registry\n"
        "assert not {'numba', 'torch'} & set(sys.modules)\n"
        "import training.parsers.amr.train\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=root, check=True, timeout=400)
