"""Check a release without Shoal: the standard library and a reader of Parquet are enough.

Only the first lines use Shoal, to make a release to check.
"""

from shoal import protect
from shoal.sample import write_sample

protect(write_sample("sample").letters, k=5, out="release", label_column="speciality")

# --- what a reader without Shoal runs -------------------------------------------------------------------------------
import hashlib  # noqa: E402
import json  # noqa: E402
from collections import Counter  # noqa: E402
from pathlib import Path  # noqa: E402

import pyarrow.parquet as pq  # noqa: E402

release = Path("release")
certificate = json.loads((release / "certificate.json").read_bytes())

# The seal is the SHA-256 of the certificate without the seal.
seal = certificate.pop("seal")
text = json.dumps(certificate, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
assert hashlib.sha256(text.encode()).hexdigest() == seal, "the certificate was changed"

# Every file is the one that was certified, and there is no other.
for name, certified in certificate["files"].items():
    assert hashlib.sha256((release / name).read_bytes()).hexdigest() == certified["sha256"], f"{name} was changed"
assert {path.name for path in release.iterdir()} == {*certificate["files"], "certificate.json"}

# k: count the rows that are equal.
rows = pq.read_table(release / "vectors.parquet").to_pylist()
groups = Counter((tuple(row["terms"]), tuple(row["counts"]), tuple(row["weights"])) for row in rows)
k = certificate["promises"]["anonymity"]["k"]
assert min(groups.values()) >= k, "a document stands alone"
print(f"{len(rows)} rows in {len(groups)} groups, the smallest of {min(groups.values())}: k={k} holds")
