"""A table with a role for every column: as a release, and as an estimator on a dataframe."""

import pandas as pd

from shoal import Microaggregation, Roles, protect, verify
from shoal.sample import write_sample

sample = write_sample("sample")  # the subjects of the letters, one row each

roles = Roles(
    quasi=("age", "height_cm", "weight_kg", "income"),  # an intruder may know these: averaged in groups
    confidential=("diagnosis",),  # what an intruder wants: kept, and watched
    insensitive=("length_of_stay",),  # kept
    identifier=("name", "patient_id"),  # dropped, as is every column without a role
)
made = protect(sample.subjects, k=5, out="subjects", roles=roles, l=3)
assert verify("subjects")
print(made.certificate["promises"]["diversity"]["columns"])

# The same groups without files: any dataframe in, the same kind out.
people = pd.read_csv(sample.subjects)[["age", "height_cm", "weight_kg", "income"]]
for k in (2, 5, 10, 20):
    model = Microaggregation(k=k)
    masked = model.fit_transform(people)
    assert masked.value_counts().min() >= k
    print(f"k={k:<3} information lost {model.information_loss_:.1%}")
