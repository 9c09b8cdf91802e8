"""scipy.stats costs half a second, and most commands never use it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

RUN = """import sys
sys.argv = {argv!r}
from shoal.cli import main
try:
    main()
except SystemExit as ended:
    assert not ended.code
"""


def run(argv: list[str], then: str) -> str:
    code = RUN.format(argv=["shoal", *argv]) + then
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_a_release_of_a_table_does_not_load_it(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,income\n" + "".join(f"{20 + i},{i * i}\n" for i in range(20)))
    asked = ["protect", str(tmp_path / "people.csv"), "-o", str(tmp_path / "release"), "--no-attack", "--json"]
    assert run(asked, "print('loaded:', 'scipy.stats._stats_py' in sys.modules)").endswith("loaded: False\n")


def test_it_is_there_for_whoever_uses_it() -> None:
    used = "import scipy.stats\nprint(scipy.stats.norm.cdf(0), scipy.stats.norm.cdf(0))"
    assert run(["--version"], used).endswith("0.5 0.5\n")
    named = "from scipy.stats import rankdata\nfrom scipy.stats.qmc import Sobol\nprint(rankdata([3, 1]), Sobol(1).d)"
    assert run(["--version"], named).endswith("[2. 1.] 1\n")
