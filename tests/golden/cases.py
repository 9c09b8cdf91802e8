"""The cases: commands as a user types them, over inputs of inputs.py, which are made where a command names them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """Commands that run one after another in a folder of their own.

    All releases they leave behind are compared, and what a command prints with --json.
    """

    name: str
    commands: tuple[tuple[str, ...], ...]
    code: int = 0  # with which the last one ends
    same_values: tuple[str, ...] | None = None  # of a release with a secret draw: columns that it only reorders
    files: tuple[str, ...] = ()  # that are compared as well


def case(name: str, *commands: str, code: int = 0, same_values: str | None = None, files: str = "") -> Case:
    split = tuple(tuple(shlex.split(command)) for command in commands)
    return Case(name, split, code, None if same_values is None else tuple(same_values.split()), tuple(files.split()))


QUICK = "--no-attack --no-refine"

NUMBERS = (
    # As users start: attacked, and with the search for better groups.
    case("numbers", "protect people.csv -k 5 -o release --quasi age,income,height --confidential illness --drop name"),
    case("numbers without roles", "protect numbers.parquet -o release"),
    case("diversity of numbers", "protect people.csv -k 4 -o release --quasi age,income --confidential illness --l 3"),
    # One option or two at a time.
    case("plain mdav", f"protect people.csv -k 5 -o release --quasi age,income,height --insensitive ward {QUICK}"),
    case("in german", f"protect people.csv -k 5 -o release --quasi age,income,height --lang de {QUICK}"),
    case("allowed", f"protect people.csv -k 5 -o release --quasi age,income --insensitive id --allow id {QUICK}"),
    case("ranking", f"protect people.csv -k 5 -o release --quasi age,income,height --method ranking {QUICK}"),
    case("z-scores", f"protect people.csv -k 5 -o release --quasi age,income,height --method z-scores {QUICK}"),
    case(
        "principal component",
        f"protect people.csv -k 5 -o release --quasi age,income,height --method principal-component {QUICK}",
    ),
    case(
        "attribute groups",
        "protect people.csv -k 4 -o release --quasi age,income,height,score --attribute-groups 2 --no-attack",
    ),
    case(
        "coarsen and round",
        "protect people.csv -k 4 -o release --quasi age,income,height --coarsen income=40 --coarsen age=20 "
        f"--round height {QUICK}",
    ),
    case(
        "replaced",
        f"protect people.csv -k 3 -o release --quasi age,income {QUICK}",
        f"protect people.csv -k 7 -o release --quasi age,height {QUICK} --force --json",
    ),
    case(
        "time budget",
        "protect people.csv -k 3 -o release --quasi age,income --time-budget 0.5 --private elsewhere --no-attack",
    ),
    case(
        "entropy",
        "protect people.csv -k 5 -o release --quasi age,income --confidential illness --l 2.5 --diversity entropy "
        f"{QUICK}",
    ),
    case(
        "recursive",
        "protect people.csv -k 5 -o release --quasi age,income --confidential illness --l 2 --diversity recursive "
        f"--c 1.5 {QUICK}",
    ),
    case(
        "closeness",
        "protect people.csv -k 6 -o release --quasi age,income --confidential illness,score --t 0.35 --no-attack",
    ),
    case("likeness", f"protect people.csv -k 4 -o release --quasi age,income --confidential illness --beta 1 {QUICK}"),
    case(
        "a number for each household",
        "protect people.csv -k 4 -o release --quasi age,income --confidential illness --household household "
        f"--pseudonym {QUICK}",
    ),
    case(
        "people with a larger k",
        "protect people.csv -k 4 -o release --quasi age,income --confidential illness --person household "
        "--k-column own_k --no-attack",
    ),
)

KINDS = (
    case("gaps refused", "protect gaps.csv -o release --quasi age,income", code=2),
    case("gaps withheld", f"protect gaps.csv -k 4 -o release --quasi age,income --missing withhold {QUICK}"),
    case(
        "gaps grouped",
        "protect gaps.csv -k 4 -o release --quasi age,income,birth,education,roof --missing group "
        "--order 'education=primary<secondary<college<university' --categorical roof --no-attack",
    ),
    case(
        "gaps imputed",
        f"protect gaps.csv -k 4 -o release --quasi age,income,birth --missing impute --recode birth=decade {QUICK}",
    ),
    case(
        "dates and codes",
        "protect people.csv -k 5 -o release --quasi birth,visit,zip --kind visit=date:%d/%m/%Y,zip=code "
        "--recode visit=month --confidential illness --l 2 --no-attack",
    ),
    case(
        "treatments",
        "protect people.csv -k 4 -o release --quasi ward,age,zip,sex --recode age=0-29,30-59,60+ "
        f"--treat ward=keep,age=generalise,zip=blank --importance zip=2,sex=1,age=1 {QUICK}",
    ),
    case(
        "a value that stays visible",
        f"protect people.csv -k 4 -o release --quasi roof,sex --keep-visible roof=slate --confidential illness {QUICK}",
    ),
    case(
        "categories and orders",
        "protect people.csv -k 5 -o release --quasi roof,sex,education --categorical roof,sex "
        "--order 'education=primary<secondary<college<university' --confidential illness",
    ),
    case(
        "a survey with weights",
        "protect survey.csv -k 4 -o release --skip-rows 1 --header-rows 2 --missing-code 'what income=999999' --quasi "
        "'who age,what income' --missing withhold --weight 'what weight' --calibrate 'what income' "
        f"--household 'who household' {QUICK}",
    ),
    case("typed columns", "protect typed.parquet -k 5 -o release --quasi age,birth,smoker,roof --confidential illness"),
)

LABELS = (
    case(
        "labels by WordNet",
        "protect people.csv -k 5 -o release --quasi job,town --ontology job=wordnet --ontology town=towns.csv",
    ),
    case(
        "labels by a hierarchy and a mapping",
        "protect sample/subjects.csv -k 5 -o release --quasi town,occupation --ontology town=sample/towns.csv "
        "--mapping sample/occupations.csv --confidential diagnosis --l 2 --no-attack",
    ),
    case(
        "sa-mdav",
        "protect sample/subjects.csv -k 9 -o release --quasi town --method sa-mdav --ontology sample/towns.csv "
        f"{QUICK}",
    ),
    case(
        "numbers and labels",
        "protect people.csv -k 5 -o release --quasi age,income,town --ontology town=towns.csv --confidential illness",
    ),
    case(
        "weights",
        "protect people.csv -k 5 -o release --quasi age,job --ontology wordnet --importance age=2,job=0.5 "
        f"--method mdav {QUICK}",
    ),
)

FOLLOWING = (
    case(
        "after",
        "protect people.csv -k 4 -o first --quasi age,income --id-column id --private kept --no-attack",
        "protect later.csv -k 4 -o second --quasi age,income --id-column id --after first --earlier-private kept",
    ),
    # Companions of those who left are drawn, unless their group has k records, as all have here: then all of it goes.
    case(
        "values after",
        f"protect people.csv -k 5 -o first --quasi age,income --confidential illness --id-column id {QUICK}",
        "protect later.csv -k 5 -o second --quasi age,income --confidential illness --id-column id --after first",
    ),
    case(
        "labels after",  # without a confidential column, for which companions of those who left would be drawn
        f"protect people.csv -k 5 -o first --quasi age,town --ontology towns.csv --id-column id {QUICK}",
        f"protect later.csv -k 5 -o second --quasi age,town --ontology towns.csv --id-column id --after first {QUICK}",
    ),
)

FILES = (
    case(
        "dialect",
        "protect german.csv -k 5 -o release --quasi alter,einkommen --confidential krankheit --delimiter semicolon "
        f"--decimal comma --encoding windows-1252 {QUICK}",
    ),
    case(
        "database",
        "protect people.sqlite --query 'select age, income, illness from people where age > 20' -k 5 -o release "
        f"--quasi age,income --confidential illness {QUICK}",
    ),
    case("spreadsheet", f"protect people.xlsx --sheet visits -k 5 -o release --quasi age,income {QUICK}"),
    case(
        "SPSS",
        "protect people.sav -k 5 -o release --quasi age,income,sex --categorical sex --confidential illness "
        f"--missing withhold {QUICK}",
    ),
    case("feather", f"protect people.feather -k 5 -o release --quasi age,income --confidential illness {QUICK}"),
    case("packed text", f"protect people.tsv.gz -k 5 -o release --quasi age,height --confidential illness {QUICK}"),
    case(
        "table in parts",
        "protect 'people/*.csv' -k 5 -o release --quasi age,income --confidential illness --l 2 --coarsen income=30",
    ),
    case(
        "mixed table in parts",
        "protect 'people/*.csv' -k 5 -o release --quasi age,town,education --ontology town=towns.csv "
        f"--order 'education=primary<secondary<college<university' {QUICK}",
    ),
    case("signed", f"protect people.csv -k 5 -o release --quasi age,income --sign id_ed25519 {QUICK}"),
)

DOCUMENTS = (
    case("letters", "protect letters.jsonl -k 5 -o release --label-column speciality --l 2"),
    case(
        "steps of the vector space",
        "protect letters.jsonl -k 4 -o release --language english --no-wordnet --no-stem --min-df 3 --max-terms 150 "
        "--terms-per-document 25 --no-attack",
    ),
    case("stems without WordNet", f"protect letters.jsonl -k 4 -o release --stem --no-wordnet {QUICK}"),
    case("another language", f"protect german.jsonl -k 4 -o release --language german {QUICK}"),
    case("folder of texts", f"protect letters -k 4 -o release --label-column folder --t 0.5 --wordnet {QUICK}"),
    case(
        "column of texts",
        f"protect notes.csv -k 4 -o release --text-column note --id-column number --label-column diagnosis {QUICK}",
    ),
    case("semantic", "protect letters.jsonl -k 5 -o release --method semantic --label-column speciality --no-attack"),
    case(
        "documents in parts",
        "protect 'notes/*.jsonl' -k 5 -o release --label-column shelf --l 2 --no-attack",
    ),
    case("baskets", "protect baskets.dat -k 5 -o release"),
    case("baskets with labels", f"protect baskets.jsonl -k 4 -o release --label-column shop --l 2 {QUICK}"),
)

SKETCHES = (
    case(
        "crowd sketches of texts",
        "protect notes.jsonl -k 5 -o release --method crowd-sketch --components 64 --key fixed.key",
    ),
    case(
        "crowd sketches of baskets",
        f"protect baskets.dat -k 5 -o release --method crowd-sketch --key fixed.key {QUICK}",
    ),
    case(
        "delta sketches",
        "protect baskets.jsonl -o release --method delta-sketch --delta 0.5 --max-components 128 --key fixed.key "
        "--label-column shop --no-attack",
    ),
    case(
        "k-variance sketches",
        "protect notes.jsonl -k 4 -o release --method k-variance-sketch --max-components 32 --key fixed.key "
        "--no-attack",
    ),
)

DRAWN = (
    case(
        "rank swapping",
        "protect people.csv -o release --quasi age,income --confidential illness --method rank-swap --percent 5 "
        f"{QUICK}",
        same_values="age income illness",
    ),
    case(
        "noise",
        f"protect people.csv -o release --quasi age,income --confidential illness --method noise --percent 10 {QUICK}",
        same_values="illness",
    ),
    case(
        "correlated noise",
        f"protect people.csv -o release --quasi age,income --confidential illness --method correlated-noise "
        f"--percent 10 {QUICK}",
        same_values="illness",
    ),
)

TEXTS = (
    case(
        "sanitized",
        "sanitize letter.txt -o work --policy health --scope collection",
        "redact work -o release --format html --accept-rest 0.3 --key owner.key",
        files="work/proposals.jsonl",
    ),
    # Letters, their patients, a snapshot of an index and sanitized letters; the server is a thread of this process.
    case("demo", "demo -o demo"),
)

JUDGED = (
    case("inspection", "inspect people.csv --json"),
    case("map", "map people.csv job -o mapping.csv --json", files="mapping.csv"),
    case(
        "assessment",
        f"protect people.csv -k 5 -o release --quasi age,income,height --confidential illness {QUICK}",
        "assess people.csv release -o assessment --target illness --differencing 3 --json",
    ),
    case(
        "assessment of two releases",
        f"protect people.csv -k 5 -o first --quasi age,income --confidential illness --id-column id {QUICK}",
        f"protect later.csv -k 5 -o second --quasi age,income --confidential illness --id-column id {QUICK}",
        "assess later.csv second -o assessment --with first --json",
    ),
    case(
        "assessment of documents",
        f"protect letters.jsonl -k 5 -o release --label-column speciality {QUICK}",
        "assess letters.jsonl release -o assessment --json",
    ),
    case(
        "assessment of sketches",
        f"protect notes.jsonl -k 5 -o release --method crowd-sketch --components 64 --key fixed.key {QUICK}",
        "assess notes.jsonl release -o assessment --json",
    ),
    case(
        "exploration",
        "explore numbers.parquet -o explored --max-risk 40 --no-refine --json",
    ),
    case(
        "exploration of labels",
        "explore people.csv -o explored --quasi age,town --ontology town=towns.csv --no-refine --json",
    ),
)

CASES = {
    one.name: one
    for group in (NUMBERS, KINDS, LABELS, FOLLOWING, FILES, DOCUMENTS, SKETCHES, DRAWN, TEXTS, JUDGED)
    for one in group
}
