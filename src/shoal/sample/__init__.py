"""A sample to try Shoal on: 360 clinical letters of an invented hospital, and the table of their subjects.

Everything in it is made up here: people, places, employers and findings. The letters are of six specialities with three
or four conditions each, some of them rare, so that they have the structure that makes documents hard to protect. The
same seed gives the same bytes on every machine and every version of Python.

    sample = write_sample("sample")
    sample.letters   # sample/letters.jsonl: id, text, speciality
    sample.subjects  # sample/subjects.csv: one row per letter, in the same order
"""

from __future__ import annotations

from shoal.sample.cases import Subject
from shoal.sample.generate import Letter, Sample, letters, subjects, write_sample

__all__ = ["Letter", "Sample", "Subject", "letters", "subjects", "write_sample"]
