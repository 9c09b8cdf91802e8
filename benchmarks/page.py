"""docs/benchmarks.md, written from the results that the benchmarks left."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import measure, pictures, sketch_pictures

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"

HEAD = """# How good, how fast, how far

For readers who compare tools, and for engineers.

Written by `make bench`; do not edit. Each comparison is a ratio measured in one run on the same data and machine (2
cores). Seconds depend on the machine and vary by about ten per cent from run to run.

In tables about microaggregation, IL is the share of information lost, SSE / (SSE + SSA). Only *Census: maskings by
score* uses the IL of `assess`, the mean relative change of statistics.
"""

# What each table shows, in the order of the page: results file, key, title, a sentence.
TABLES = (
    (
        "tables",
        "casc",
        "Numeric tables: plain MDAV",
        "Share of information lost on the CASC files, in per cent (IL % in the literature); equal to the published "
        "figures.",
    ),
    (
        "diversity",
        "minimality",
        "Diversity: what joined groups reveal",
        "Incomes of Adult, k=5, l=2, inferred by an attacker who repeats the grouping, compared with groups merged "
        "only where needed.",
    ),
    (
        "closeness",
        "census",
        "t-closeness: Census",
        "TAXINC and POTHVAL protected, information lost in per cent, beside the published methods (Soria-Comas et al., "
        "2015) and mAnt's, computed anew.",
    ),
    (
        "closeness",
        "exchanged",
        "t-closeness: what the groups reveal",
        "Census: two different values of a group are exchanged, 100 times. *Same release*: how often the same groups "
        "come out. Where they do not, an attacker who knows all but these two values knows which record has which.",
    ),
    (
        "closeness",
        "adult",
        "t-closeness: Adult",
        "Five quasi-identifiers, k=10, l=2, t=0.3, beside the best full-domain generalisation, as ARX would make it.",
    ),
    (
        "following",
        "found",
        "Two releases: who left",
        "One of the records is removed, 1,000 times, k=5. The attacker knows every record, and repeats the second "
        "release without each in turn; *found* is how often they name the right one, *at worst* the best chance they "
        "had. *By subtracting*: by sums alone, the nearest record.",
    ),
    (
        "following",
        "cost",
        "Two releases: what it costs to follow",
        "5 % of the records leave and come each year, k=5: squared error in per cent, if each release follows the one "
        "before or starts anew.",
    ),
    (
        "refinement",
        "casc",
        "Numeric tables: refined",
        "The search from MDAV's groups, and the most by which the result can exceed the optimum.",
    ),
    (
        "publishing",
        "cost",
        "Documents: the published form and its cost",
        "Pooled counts compared with exact means, each refined separately with the time that `protect` takes. The "
        "other tables of documents on this page use exact means, as in the papers, unless stated otherwise.",
    ),
    (
        "publishing",
        "attacked",
        "Documents: taken apart",
        "The attack on 100 groups of each release. *Exactly*: all terms with their counts. *Nearly*: guess and "
        "document have nine in ten of their combined terms in common. *From the row itself*: the best guess that "
        "takes nothing apart.",
    ),
    (
        "publishing",
        "classifiers",
        "Documents: classifiers on the published form",
        "Reuters R8, k=5: accuracy, by training and test data.",
    ),
    (
        "documents",
        "r8",
        "Reuters R8: plain spherical MDAV",
        "Exact grouping, compared with all pairwise products in scipy.",
    ),
    ("refinement", "documents", "Documents: refined", "SSE compared with plain MDAV: the reduction in per cent."),
    (
        "documents",
        "passages",
        "100,000 passages",
        "Compared with scikit-learn's `TfidfVectorizer`, which neither filters nor stems.",
    ),
    ("documents", "memory", "The whole job", "100,000 passages: read, vectorised, grouped, written and verified."),
    ("blocks", "scale", "Blocks", "Time as the collection grows."),
    ("blocks", "loss", "Blocks: what they cost", "SSE compared with the exact run."),
    ("blocks", "million", "One million documents", "Made from the passages; protected and verified on this machine."),
    (
        "semantic",
        "speed",
        "Documents by meaning: a thousand",
        "1,000 film reviews, their 50 heaviest nouns, k=5; the time for a pair of documents compared with plain "
        "Python.",
    ),
    (
        "semantic",
        "loss",
        "Documents by meaning: loss",
        "Share of information lost for 50 documents, in per cent, next to the paper's, whose documents are not public.",
    ),
    (
        "categorical",
        "loss",
        "Labels: information loss",
        "L, the share of information lost in per cent, on Adult (30,162 rows, occupation and native country, "
        "WordNet): SA-MDAV, the search from its groups (2 seconds), and the methods it is compared with.",
    ),
    ("categorical", "linkage", "Labels: linkage", "RL in per cent: the chance of linking a record by equal text."),
    ("categorical", "score", "Labels: score", "The mean of L and RL; less is better."),
    (
        "categorical",
        "ties",
        "Labels: the effect of ties",
        "L of SA-MDAV in 100 random orders of the tuples, which decide ties, for each k where another method loses "
        "less.",
    ),
    (
        "categorical",
        "speed",
        "Labels: time",
        "From tuples with counts to groups, representatives and loss, compared with the plain twin and with every row "
        "doubled; then from the table. The paper reports 131 to 205 seconds.",
    ),
    (
        "mixed",
        "generalisation",
        "Numbers and labels: against generalisation",
        "Adult: age, hours, education, occupation and country, k=10, two incomes in every group; compared with the "
        "best of all full-domain generalisations that leave out at most 5 % of the rows, with the same hierarchies.",
    ),
    ("mixed", "release", "Numbers and labels: the whole job", "Read, grouped, searched, written and verified."),
    (
        "common_values",
        "rows",
        "Common values, recodings and blanks",
        "Adult (30,162 people without gaps; age, hours, education, occupation, country) and a made survey of "
        "20,000 with 180 regions (the rule is in the benchmark). NCP is the mean loss of a cell: a band's share of"
        " the range, a set's share of the values, 1 for a blank. Recoding withholds at most 5 %; before cells are "
        "blanked, numbers are put into bands of ten. A blank of sdcMicro's matches everything, ours is a value of "
        "its own. *Regression error*: largest change of a coefficient in standard errors. *Regional error*: mean "
        "of the weighted numbers of employed by region.",
    ),
    (
        "common_values",
        "scale",
        "Common values: larger surveys",
        "Groups of 10 by default, in a process of its own.",
    ),
    (
        "utility",
        "r8",
        "Reuters R8: remaining utility",
        "Jaccard index of classifiers by training and test data (o original, p protected); expected F1 of 18 "
        "queries with 10, 50 and 100 documents per answer; adjusted Rand index of clusters. Refined: a search of 2"
        " seconds. For IL, the paper reports 0.17 at k=2 to 0.65 at k=20 over both collections.",
    ),
    ("utility", "movies", "Movie Reviews: remaining utility", "The same measures as for Reuters R8."),
    (
        "utility",
        "losses",
        "Classifiers: the loss at k=20",
        "In per cent of the result with originals, next to the worst loss that the paper reports.",
    ),
    (
        "linkage",
        "linkage",
        "Distance-based linkage",
        "100,000 × 10 linked to its own masked version, with all ties counted. Brute force is scikit-learn's, timed "
        "on 5,000 of the queries against all rows, times 20.",
    ),
    (
        "linkage",
        "memory",
        "Distance-based linkage: memory",
        "A fresh process with the table, the masking and the linkage.",
    ),
    (
        "documents_paper",
        "spaces",
        "Vector spaces before and after",
        "As in Table 1 and Figures 2 to 6 of Abril et al. (2015): plain MDAV at k (1: the original); words "
        "per document, mean weight, shares of cosine distances from 0.9 to 1 and equal to 1 among 2,000 "
        "documents, and the information lost by cosine and by Euclidean distance.",
    ),
    (
        "documents_paper",
        "labels",
        "Clusters beside labels",
        "Spherical k-means of the originals with as many clusters as labels: adjusted Rand index with the labels.",
    ),
    (
        "documents_paper",
        "classes",
        "Classifiers: the most that groups allow",
        "Test documents of a group are equal and get one class, so no classifier recognises more of them than those of "
        "each group's most frequent class: MDAV on the test documents, as in the table of losses.",
    ),
    (
        "learned_paper",
        "attributes",
        "Chapter 5: attributes",
        "AFNLWGT, AGI, EMCONTRB, FEDTAX, PTOTVAL, STATETAX and TAXINC of Census: their means and deviations "
        "are those that the thesis prints for V1 to V7 (Table 5.3).",
    ),
    (
        "learned_paper",
        "methods",
        "Chapter 5: uniform protection, by method",
        "Per cent linked by the mean of squared differences, 400 records, ten draws, mean over all parameters "
        "(k = 3 to 20).",
    ),
    (
        "learned_paper",
        "uniform",
        "Chapter 5: uniform protection, by parameter",
        "The same for each parameter; weights are learned on the first draw within 10 seconds, for three "
        "parameters each.",
    ),
    (
        "learned_paper",
        "files",
        "Chapter 5: six files",
        "Per cent linked in the files of Table 5.11, MDAV of values that are not standardised. Mean and "
        "Mahalanobis over ten draws of 400 records, and the least and most of the ten; the others learned on "
        "the first draw within 10 seconds.",
    ),
    (
        "learned_paper",
        "hrla",
        "Chapter 5: the heuristic",
        "Per cent linked by HRLA as `assess` runs it, mean of ten, and with steps 2.5 times as long, five "
        "times as many.",
    ),
    (
        "learned_paper",
        "few",
        "Chapter 5: 200 known links",
        "Per cent linked by the mean among 200 records and among the other 880, five splits of Census.",
    ),
    (
        "learned_paper",
        "noise",
        "Chapter 5: noise by attribute",
        "Noise of 1 to 7 % on V1 to V7: learned weights, and per cent linked by each attribute alone.",
    ),
    (
        "learned_paper",
        "measures",
        "Chapter 5: learned measures",
        "Learned within 10 seconds: the fuzzy measure of single attributes, and the weights.",
    ),
    (
        "learned",
        "files",
        "Learned linkage: proofs",
        "400 records of Census drawn with seed 0, groups of the first 4 to 6 attributes by plain MDAV (k in the name): "
        "records found by a margin of 1e-6, and the bound that no parameters exceed, after at most 30 seconds.",
    ),
    (
        "exploration",
        "census",
        "Census: maskings by score",
        "All 13 attributes, one run of `explore`. IL, the mean relative change of statistics, and DR in per cent; the "
        "score is their mean, and less is better.",
    ),
    (
        "sketches",
        "evaluation",
        "Sketches: classes and clusters",
        "The evaluation of Aggarwal and Yu (2007) redone, beside crowd sketches. R8: word counts (in place of "
        "Text17, which is not public). Baskets: two classes, each from patterns of its own. Training and test "
        "records are protected separately, two to one, with one key. Accuracy: 5 nearest neighbours, 2,000 test "
        "records (standard error at most 1.1 points). Similarity: mean cosine of the originals to the centroids of"
        " 10 clusters found in the sketches (the better of 2 starts, 20 rounds) or in the originals (the best of "
        "10 starts, until they settle). Components: median. Records withheld get class and cluster at random. "
        "Crowd sketches of baskets have 128 components, without the search for better groups.",
    ),
    (
        "sketches",
        "items",
        "Sketches: more items",
        "C20.I6.D200K with more and more items to choose from; the same figures, next to those of the original.",
    ),
    (
        "sketches",
        "crowd",
        "Crowd sketches: Reuters R8",
        "k=5: accuracy of 5 nearest neighbours on k-anonymous vectors (`SphericalMicroaggregation`), on the pools that "
        "are sketched, and on their sketches; means of 5 keys. Bar at 512 components: at most 3 points below the "
        "vectors.",
    ),
    (
        "sketches",
        "variance",
        "Sketches: variance over 100,000 keys",
        "Two records of five terms, 3 components: mean and variance of each estimate against the exact formulas, in "
        "standard errors, and the variance that the paper prints.",
    ),
    (
        "sketch_speed",
        "peers",
        "Sketches: time beside scikit-learn",
        "T10I4D100K, 100,000 baskets. 64 components compared with `SparseRandomProjection` (bar: 0.5); the 5 "
        "nearest of every basket compared with brute-force `NearestNeighbors` (bar: 0.1), timed on 5,000 of the "
        "baskets against all, times 20. Medians of runs in turn.",
    ),
    (
        "sketch_speed",
        "million",
        "Sketches: a million baskets",
        "C20.I6: a million baskets of 20 items beside 200,000 (bars: 5.5 times the time, 3 GB), each in a fresh "
        "process that makes the baskets, too. Crowd: k=5, 512 components, one sketch per group, without the search"
        " for better groups. These are the estimators alone.",
    ),
    (
        "sketch_speed",
        "jobs",
        "Sketches: a million baskets, from file to release",
        "The same baskets from a .dat file through `protect`: reading, grouping, the attack by the owner, sketches, "
        "certificate and report, each in a fresh process (bars: 5.5 times the time, 3 GB). Crowd: as above, the search "
        "for better groups off.",
    ),
    ("sketch_speed", "records", "Sketches: time against records", "C20.I6; delta 0.3, k=5."),
    (
        "sketch_speed",
        "nonzeros",
        "Sketches: time against the items of a basket",
        "200,000 baskets of 10 to 30 items on average; delta 0.3, k=5.",
    ),
    (
        "sketch_attacks",
        "deltas",
        "Attacks on sketches: by delta",
        "T10I4D100K, 20,000 baskets: items recovered with the key, with 95 % intervals, next to the figures of the "
        "specification.",
    ),
    (
        "sketch_attacks",
        "baskets",
        "Attacks on sketches: baskets",
        "T10I4D100K, 20,000 baskets: items of a record recovered with the key and by whoever knows some of the "
        "records, and records linked with their sketch.",
    ),
    (
        "sketch_attacks",
        "baskets known",
        "Attacks on sketches: baskets known",
        "Signs weighted by how often items occur.",
    ),
    ("sketch_attacks", "texts", "Attacks on sketches: texts", "Reuters R8; otherwise as for baskets."),
    ("sketch_attacks", "texts known", "Attacks on sketches: texts known", "Signs weighted by how often terms occur."),
    (
        "sanitizer",
        "cases",
        "Sanitizer: court cases",
        "103 cases of the Text Anonymization Benchmark: shares of the direct and of the quasi identifiers of which"
        " every mention is masked, share of the masked words that must be, share of words that must be that are. "
        "Five folds by case, sister cases together; Presidio as it comes, with the same language model. The rules "
        "were mended by errors on all 103 cases: expect somewhat less elsewhere.",
    ),
    (
        "sanitizer",
        "lives",
        "Sanitizer: biographies",
        "96 biographies of Wikipedia. The weights have seen court cases only, but the features and the default "
        "threshold were chosen with these figures in view, so they are not those of unseen texts.",
    ),
    (
        "sanitizer",
        "kinds",
        "Sanitizer: kinds of personal data",
        "Made-up sentences: recall of spans, as whatever kind; rules were mended by misses seen here.",
    ),
    (
        "sanitizer",
        "persons",
        "Sanitizer: persons",
        "400 diplomatic papers: recall of the persons their editors marked; rules were mended by misses seen here.",
    ),
    ("sanitizer", "time", "Sanitizer: time", "Both with the same language model, read in turn; median of three."),
    (
        "sanitizer_scale",
        "scale",
        "Sanitizer: many documents",
        "Diplomatic papers of 3,700 characters on average, through every command, with nobody reviewing: the most "
        "memory that each takes. Texts are read one at a time; what grows with the collection is the list of what "
        "was found and decided. Most of what sanitize takes is the language model.",
    ),
    (
        "sanitizer_frus",
        "collection",
        "Sanitizer: what searches lose and still betray",
        "400 declassified documents with the policy of EO 13526; the reviewer accepts every proposed block, or the"
        " densest half. Means of the queries' changes with 95 % intervals: -75 is a query that finds nothing any "
        "more. Utility queries (IL) are made from subject lines, risk queries from the topics of the policy and the "
        "terms that set a marking apart. *Original first*: a search with the words that are "
        "left, among the 400 originals. *Named*: with confidence, and for how many texts whose original was taken "
        "out. The paper's figures are for 49 cables and other queries.",
    ),
    (
        "sanitizer_frus",
        "halves",
        "Sanitizer: originals found by another text",
        "The sanitized second half of each of the 400 documents, put as a query to a search engine of first halves: "
        "how often the half of the same document comes first, its median place, and how often it is named with "
        "confidence; *strangers named*: the same after it was taken out.",
    ),
    (
        "sanitizer_frus",
        "queries",
        "Sanitizer: query by query",
        "The same with all proposed blocks accepted: figures before and after.",
    ),
    (
        "index",
        "inserting",
        "Dynamic index: insertions",
        "Reuters R8, k=5: 1,000 documents at the start, all others inserted one by one. Mean squared cosine distance "
        "of documents to what is published of them: by the paper's rule (plain MDAV at the start, every newcomer into "
        "the nearest group), and with refined groups and an embargo below a similarity of 0.45.",
    ),
    (
        "index",
        "deleting",
        "Dynamic index: deletions",
        "The same start, documents deleted at random until 5 are left; and the fewest candidates that an observer of "
        "all snapshots has for any document (at least k=5).",
    ),
    (
        "index_scale",
        "searching",
        "Index server: first sync and searches",
        "Documents made of the FRUS passages, k=5: each as long as a passage, its words drawn from that passage and "
        "the five on either side; five successive ones are a group. A reader of all documents syncs for the first "
        "time, and then searches at home: 500 queries of three words, 10 documents each. `shoal serve` on SQLite, HTTP "
        "included; CPU is that of the client. Bars at a million: 10 minutes, 400 MB, 95 % below 150 ms.",
    ),
    (
        "index_scale",
        "putting",
        "Index server: a folder that is put",
        "5,000 passages as files, counted, encrypted and sent by the client. Bar: 600 documents a second.",
    ),
    (
        "index_scale",
        "inserting",
        "Index server: insertions and deletions",
        "500 requests one after the other, each committed to the disk before it is answered; SQLite.",
    ),
    (
        "index_scale",
        "serving",
        "Index server: restart",
        "From the start of the process until `/health/ready`, and until sums of groups are in memory.",
    ),
    (
        "index_scale",
        "load",
        "Index server: clients that write",
        "Clients that insert and delete one document after the other, without a pause, on PostgreSQL. Bar: 95 % of "
        "insertions by 16 clients below 150 ms.",
    ),
    (
        "faults",
        "rows",
        "Servers that are killed",
        "Kill -9 at random while clients put, group, read, search and delete without a pause; what goes unanswered is "
        "sent again with the same key. Nothing acknowledged was lost or doubled, no read showed a group below k=3, and "
        "the database opened without repair every time. Of two servers, either or both are killed.",
    ),
    (
        "owners",
        "rows",
        "A table as owners have it",
        "Adult with age, a made birth date, a postcode, education in its order, occupation, country, hours with 5 % "
        "gaps, and two rows for each tenth person: k=10, l=2, t=0.3 and crowds of people, by one command. Bars: 120 "
        "seconds and 1 GB.",
    ),
    (
        "audit",
        "population",
        "Audit: unique people in the population, beside the truth",
        "20 samples each of Adult (30,162 people without gaps), by the columns named: the mean error in per cent "
        "of the people who truly are one of a kind. The audit trusts the Poisson log-linear model; *mean size* is "
        "its mean error without the sign. How the model's correction weighs keys was chosen on these data.",
    ),
    (
        "audit",
        "million",
        "Audit: a million rows",
        "The whole command on 8 quasi-identifiers, a confidential column and weights: every combination of up to 3 "
        "columns, all measures, the page and the risk of each record. Bars: 20 CPU seconds and 2 GB.",
    ),
    (
        "workbench",
        "rows",
        "The workbench",
        "In Chromium, in seconds unless stated otherwise, with the figure that must not be exceeded.",
    ),
    ("documents", "compile", "Compiling the kernels", "Once after installation; afterwards they are cached."),
)

# A picture under a table: the function that draws it, and the text for readers who cannot see it.
PICTURES: dict[tuple[str, str], tuple[Callable[[list[dict[str, Any]]], dict[str, Any]], str]] = {
    ("refinement", "casc"): (pictures.gains, "Bar chart: the error left by the search, as a share of MDAV's"),
    ("categorical", "loss"): (pictures.losses, "Line chart: information loss of each method against k"),
    ("utility", "r8"): (pictures.utility, "Line charts: each figure against k, by MDAV and refined"),
    ("utility", "movies"): (pictures.utility, "Line charts: each figure against k, by MDAV and refined"),
    ("exploration", "census"): (pictures.risk_utility, "Map of risk against loss"),
    ("index", "inserting"): (pictures.histories, "Line chart: normalised SSE against documents inserted"),
    ("index", "deleting"): (pictures.histories, "Line chart: normalised SSE against documents deleted"),
    ("sketches", "evaluation"): (
        sketch_pictures.evaluation,
        "Line charts: accuracy and similarity of sketches against k and against delta",
    ),
    ("sketches", "items"): (sketch_pictures.items, "Line charts: accuracy and similarity against the number of items"),
    ("sketch_speed", "records"): (sketch_pictures.records, "Line charts: seconds against records, by method"),
    ("sketch_speed", "nonzeros"): (sketch_pictures.nonzeros, "Line charts: seconds against items, by method"),
    ("blocks", "scale"): (pictures.growth, "Line chart: seconds against passages"),
}


def write() -> None:
    """Tables of all results that there are; a section whose results are not here stays as it is."""
    written = sections()
    parts = [HEAD]
    for name, key, title, sentence in TABLES:
        path = measure.RESULTS / f"{name}.json"
        found = json.loads(path.read_text()).get(key) if path.is_file() else None
        if not found:
            parts += [written[title]] if title in written else []
            continue
        rows = found if isinstance(found, list) else [found]
        section = f"## {title}\n\n{sentence}\n\n{table(rows)}\n"
        if (name, key) in PICTURES:
            drawing, words = PICTURES[name, key]
            section += f"\n![{words}]({pictures.draw(f'{name}-{key}', drawing(rows))})\n"
        parts.append(section)
    PAGE.write_text("\n".join(parts), encoding="utf-8")


def sections() -> dict[str, str]:
    """The sections of the page as it is, by title."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else ""
    found = [f"## {part.rstrip()}\n" for part in text.split("\n## ")[1:]]
    return {section.splitlines()[0].removeprefix("## "): section for section in found}


def table(rows: list[dict[str, Any]]) -> str:
    """A Markdown table."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [names, ["---"] * len(names), *([measure.cell(row.get(name, "")) for name in names] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
