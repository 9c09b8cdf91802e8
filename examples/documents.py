"""Letters to a release that anyone can verify, and what its reader does with it."""

from shoal import load, protect, verify
from shoal.sample import write_sample

sample = write_sample("sample")  # 360 invented clinical letters

# Every letter shares its terms, counts and weights with at least four others; no group has one speciality only.
made = protect(sample.letters, k=5, out="letters", label_column="speciality", l=2)
loss = made.certificate["stated"]["information_loss"]
print(f"{made.certificate['promises']['rows']} letters released, {loss:.0%} of the information lost")

# From here on the reader: nothing of the owner's is needed.
checked = verify("letters")
for claim in checked.claims:
    print("ok    " if claim.holds else "BROKEN", claim.promise, "-", claim.detail)
assert checked

release = load("letters")
assert release.vectors is not None and release.terms is not None
heaviest = release.terms[release.vectors.sum(axis=0).argsort()[::-1][:10]]
print("the heaviest terms:", ", ".join(heaviest))
