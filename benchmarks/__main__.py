"""Run the benchmarks named on the command line, or all."""

from __future__ import annotations

import sys
from importlib import import_module

from benchmarks import measure, page, papers

ALL = (
    "tables",
    "refinement",
    "documents",
    "publishing",
    "semantic",
    "categorical",
    "mixed",
    "common_values",
    "diversity",
    "closeness",
    "following",
    "utility",
    "documents_paper",
    "blocks",
    "scale_tables",
    "linkage",
    "learned",
    "learned_paper",
    "exploration",
    "sketches",
    "sketch_speed",
    "sketch_attacks",
    "sanitizer",
    "sanitizer_frus",
    "sanitizer_scale",
    "sanitizer_people",
    "sanitizer_training",
    "index",
    "index_privacy",
    "index_scale",
    "faults",
    "owners",
    "audit",
    "workbench",
)


def main() -> None:
    for name in sys.argv[1:] or ALL:
        if name not in ALL:
            raise SystemExit(f"no benchmark {name}; there are: {', '.join(ALL)}")
        measure.keep(name, import_module(f"benchmarks.{name}").run())
        page.write()
        papers.write()


if __name__ == "__main__":
    main()
