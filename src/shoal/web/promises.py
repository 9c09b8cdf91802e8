"""What promises mean to whoever receives a release, in a sentence."""

from __future__ import annotations

PROMISES = {
    "certificate": "The list of promises is the one that was sealed.",
    "files": "Nothing was changed since the release was made.",
    "schema": "The columns are those that were promised.",
    "rows": "No record was added or taken away.",
    "k-anonymity": "By these columns, nobody can tell which of so many records is a person's.",
    "l-diversity": "Knowing a person's group does not tell the confidential value.",
    "t-closeness": "A group's confidential values are much like everybody's.",
    "β-likeness": "No confidential value is much more frequent in a group than among everybody.",
    "people": "A crowd is counted in people, not in records.",
    "own k": "Each record has the crowd that it asked for.",
    "order": "The place of a record tells nothing about it.",
    "no crowd": "This method hides no record in a crowd.",
    "signature": "The release comes from the owner of the key.",
    "masked strings": "Nothing that was masked is left in the release.",
    "pseudonyms": "Each name in the texts stands for one that was masked.",
    "least k": "The crowds are as large as you asked for.",
}
