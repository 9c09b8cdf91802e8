"""Users' hierarchies: pairs, CSV of either shape, OBO, OWL and SKOS; matching; and what is refused."""

from __future__ import annotations

import copy
import gzip
import pickle
import sys

import pytest
from hypothesis import given

from shoal import Hierarchy, InputError
from shoal.errors import MissingExtra
from tests.terms.hierarchies import hierarchies, hierarchy_of

SPORTS = {"boxing": {"contact sport"}, "contact sport": {"sport"}, "surfing": {"sport"}, "sport": set()}


def parents_in(hierarchy):
    """Every concept with its parents, by name."""
    names = hierarchy.taxonomy.names
    return {
        name: {names[above] for above in hierarchy.taxonomy.parents_of(number)} for number, name in enumerate(names)
    }


@pytest.fixture
def read(tmp_path):
    """A hierarchy from the content of a file."""

    def read_content(content, name="sports.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return Hierarchy.from_file(path, **options)

    return read_content


@pytest.mark.parametrize(
    "content",
    [
        "child,parent\nboxing,contact sport\ncontact sport,sport\nsurfing,sport\n",
        "\ufeffchild;parent\r\nboxing;contact sport\r\ncontact sport;sport\r\nsurfing;sport\r\n",
        "Parent\tChild\ncontact sport\tboxing\nsport\tcontact sport\nsport\tsurfing\n",
        "\n\nchild , parent\n\n boxing , contact sport\nboxing,contact sport\ncontact sport,sport\nsurfing,sport\n,\n",
        "child,parent\nsport,\nboxing,contact sport\ncontact sport,sport\nsurfing,sport",
        "child,parent\nsport,sport\nboxing,contact sport\ncontact sport,sport\nsurfing,sport",
        'child,parent\n"boxing","contact sport"\n"contact sport",sport\nsurfing,"sport"\n',
        "id,child,parent\n1,boxing,contact sport\n2,contact sport,sport\n3,surfing,sport\n",
        "this,that\nboxing,contact sport\ncontact sport,sport\nsurfing,sport\n",
        "boxing;contact sport;sport\nsurfing;surfing;sport\n",
        "boxing;contact sport;sport\nsurfing;sport\n",
        "value,level 1,level 2\nboxing,contact sport,sport\nsurfing,surfing,sport\n",
        "boxing\tcontact sport\tsport\t\nsurfing\tsport\tsport\t\n",
    ],
    ids=[
        *("plain", "mark and semicolons", "parent first", "blanks and repeats", "root without a parent"),
        *("root its own parent", "quoted", "more columns", "other names", "levels", "ragged levels", "levels, header"),
        "levels, trailing tab",
    ],
)
def test_a_csv_of_any_shape_is_read(read, content):
    assert parents_in(read(content)) == SPORTS


def test_from_csv_reads_whatever_the_file_is_called(tmp_path):
    path = tmp_path / "sports.hierarchy"
    path.write_text("child,parent\nboxing,contact sport\ncontact sport,sport\nsurfing,sport\n")
    assert parents_in(Hierarchy.from_csv(path)) == SPORTS


def test_utf_16_and_gzip_are_read(read):
    content = "child,parent\nKöln,Stadt\n"
    assert parents_in(read(content.encode("utf-16"))) == {"Köln": {"Stadt"}, "Stadt": set()}
    assert parents_in(read(gzip.compress(content.encode()), "staedte.csv.gz")) == {"Köln": {"Stadt"}, "Stadt": set()}


def test_commas_in_names_do_not_split_a_semicolon_file(read):
    levels = read("Some college;Higher, no degree;*\nBachelors;Higher, degree;*\nDoctorate;Higher, degree;*\n")
    assert levels.concept("Higher, degree") is not None
    assert levels.label(levels.taxonomy.root) == "*"


def test_masked_codes_are_levels_like_any_other(read):
    codes = read("81667;8166*;816**;*****\n81668;8166*;816**;*****\n90210;9021*;902**;*****\n")
    assert codes.taxonomy.depth[codes.concept("81667")] == 4


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "sports.csv is empty; give rows of child and parent"),
        ("\n , \n", "sports.csv is empty"),
        ("child,parent\n", "sports.csv: a hierarchy of 0 concepts"),
        ("boxing", "the first line should be a header, and there are no rows below"),
        ("dog,pet\npet,animal\n", "the first line should be a header, and 'pet' comes again below; put a header"),
        ("dog,pet\ncat,pet\npet,animal\n", "the first line should be a header, and 'pet' comes again below"),
        ("child,parent\na,b,c\n", "line 2 has 3 cells where 2 are expected; quote a name with a comma"),
        ("child,parent\n,b\n", "line 2 has a parent and no child; name the child or remove the line"),
        ("child,parent\na,a\na,b\n", "line 2 gives 'a' no parent but itself, and another line does; remove one"),
        ("child,parent\na,b\nb,c\nc,a\n", "sports.csv: a cycle: 'a' > 'b' > 'c' > 'a'; remove one of its links"),
        ("child,parent\na,b\nb,a\nc,d\n", "sports.csv: a cycle: 'a' > 'b' > 'a'"),
        (
            "child,parent\na,b\nc,d\n",
            r"sports.csv: 2 roots \('b', 'd'\), and a hierarchy has one; put one concept above",
        ),
        ("child,parent\na,\nb,\n", r"2 roots \('a', 'b'\)"),
        ("a;;*\nb;x;*\n", "line 1 has an empty level between two others; name it"),
        ("a;x;one\nb;y;two\nc;x;one\n", r"2 roots \('one', 'two'\)"),
        ('child,parent\n"a,b\n', "the quotes in line 2 are unbalanced"),
        ("child,parent\nKöln,Stadt\n".encode("latin-1"), "broken encoding; save it as UTF-8"),
        (b"child,parent\n\0,b\n", "is binary, not text; export it as CSV"),
    ],
)
def test_a_csv_that_is_no_hierarchy_is_refused_in_one_line(read, content, message):
    with pytest.raises(InputError, match=message) as refused:
        read(content)
    assert "\n" not in str(refused.value)


def test_a_root_can_be_put_above_several(read):
    both = read("child,parent\na,b\nc,d\n", root="all")
    assert parents_in(both) == {"a": {"b"}, "b": {"all"}, "c": {"d"}, "d": {"all"}, "all": set()}
    one = read("child,parent\na,b\nb,all\nc,d\n", root="all")
    assert parents_in(one)["d"] == {"all"}


@given(hierarchies())
def test_the_order_of_rows_has_no_bearing(parents):
    forwards = [(child, parent) for child, above in parents.items() for parent in above]
    one, other = Hierarchy.from_pairs(forwards), Hierarchy.from_pairs(forwards[::-1])
    assert parents_in(one) == parents_in(other) == parents
    assert one.taxonomy.names == other.taxonomy.names


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "a hierarchy of 0 pairs"),
        ([("a", "")], "'' is not the name of a concept"),
        ([("a", 7)], "7 is not the name of a concept"),
        ([("a", None)], "None is not the name of a concept"),
        ([("a", "a")], "'a': a concept cannot be its own parent"),
    ],
)
def test_pairs_that_make_no_hierarchy_are_refused(pairs, message):
    with pytest.raises(InputError, match=message):
        Hierarchy.from_pairs(pairs)


def test_a_value_is_matched_as_written_then_case_and_spaces_aside():
    cities = Hierarchy.from_pairs([("New York", "city"), ("new york", "city"), ("San  José", "city")])
    assert cities.senses("New York") != cities.senses("new york")
    assert cities.senses("NEW YORK") == (), "it could be either"
    assert cities.senses("san josé") == cities.senses("San-José") == (cities.concept("San  José"),)
    assert cities.senses("Boston") == ()
    assert cities.concept("Boston") is None


def test_a_label_leads_back_and_a_gloss_says_what_a_concept_is():
    sports = hierarchy_of(SPORTS)
    for concept in range(len(sports.taxonomy)):
        assert sports.concept(sports.label(concept)) == concept
        assert sports.lemma(concept) == sports.label(concept)
    assert sports.gloss(sports.concept("boxing")) == "a kind of contact sport"
    assert sports.gloss(sports.taxonomy.root) == "the root"
    assert repr(sports) == "<Hierarchy of 4 concepts below 'sport'>"


@pytest.mark.parametrize("value", ["boxin", "Boxing match", "women's-boxing", "BoxingClub"])
def test_suggestions_come_from_parts_and_from_words_like_it(value):
    sports = hierarchy_of(SPORTS)
    assert sports.senses(value) == ()
    assert sports.label(sports.suggest(value)[0]) == "boxing"


def test_copies_are_the_same_and_a_pickle_is_as_good():
    sports = hierarchy_of(SPORTS)
    assert copy.deepcopy(sports) is sports
    assert parents_in(pickle.loads(pickle.dumps(sports))) == SPORTS


OBO = """format-version: 1.2
ontology: zoo

[Term]
id: Z:1
name: animal

[Term]
id: Z:2
name: dog
def: "It barks." [zoo:1]
synonym: "hound" EXACT []
synonym: "beast" BROAD []
is_a: Z:1 ! animal
is_a: Z:3
relationship: part_of Z:4

[Term]
id: Z:3
name: pet
is_a: Z:1

[Term]
id: Z:4
name: pack
is_a: Z:1

[Term]
id: Z:9
name: dragon
is_obsolete: true

[Typedef]
id: part_of
name: part of
"""

SKOS = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix zoo: <http://example.org/zoo#> .
zoo:animal a skos:Concept ; skos:prefLabel "animal"@en, "Tier"@de ; skos:narrower zoo:dog, zoo:pet .
zoo:dog a skos:Concept ; skos:prefLabel "dog"@en, "Hund"@de ; skos:altLabel "hound"@en ;
    skos:broader zoo:animal, zoo:pet ; skos:definition "It barks."@en .
zoo:pet a skos:Concept .
"""

OWL = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#"
         xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
<owl:Ontology rdf:about="http://example.org/zoo"><owl:imports rdf:resource="http://nowhere.invalid/more"/></owl:Ontology>
<owl:Class rdf:about="http://example.org/zoo#animal"/>
<owl:Class rdf:about="http://example.org/zoo#Z2">
  <rdfs:label>dog</rdfs:label><rdfs:comment>It
  barks.</rdfs:comment>
  <rdfs:subClassOf rdf:resource="http://example.org/zoo#animal"/>
  <rdfs:subClassOf rdf:resource="http://example.org/zoo#pet"/>
  <rdfs:subClassOf><owl:Restriction/></rdfs:subClassOf>
</owl:Class>
<owl:Class rdf:about="http://example.org/zoo#pet">
  <rdfs:subClassOf rdf:resource="http://example.org/zoo#animal"/>
</owl:Class>
<owl:Class rdf:about="http://example.org/zoo#dragon"><owl:deprecated>true</owl:deprecated></owl:Class>
</rdf:RDF>
"""

ZOO = {"dog": {"animal", "pet"}, "pet": {"animal"}, "animal": set()}


@pytest.mark.parametrize(
    ("content", "name", "expected", "synonyms"),
    [
        (OBO, "zoo.obo", ZOO | {"pack": {"animal"}}, ["hound", "Z:2"]),
        (SKOS, "zoo.ttl", ZOO, ["hound", "Hund", "http://example.org/zoo#dog"]),
        (OWL, "zoo.owl", ZOO, ["Z2", "http://example.org/zoo#Z2"]),
    ],
)
def test_an_ontology_file_is_read_with_its_synonyms_and_glosses(read, content, name, expected, synonyms):
    zoo = read(content, name)
    assert parents_in(zoo) == expected
    dog = zoo.concept("dog")
    assert [zoo.concept(synonym) for synonym in synonyms] == [dog] * len(synonyms)
    assert zoo.gloss(dog) == "It barks."
    assert zoo.concept("beast") is None
    assert zoo.concept("dragon") is None


def test_two_terms_with_one_name_are_told_apart_by_their_identifiers(read):
    zoo = read(OBO + "\n[Term]\nid: Z:5\nname: dog\nis_a: Z:1\n", "zoo.obo")
    assert {"dog (Z:2)", "dog (Z:5)"} <= set(zoo.taxonomy.names)
    assert zoo.senses("dog") == ()
    assert {zoo.label(concept) for concept in zoo.suggest("dog", n=2)} == {"dog (Z:2)", "dog (Z:5)"}


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("nonsense", "zoo.obo", "zoo.obo cannot be read as OBO"),
        ("format-version: 1.2\n", "zoo.obo", "zoo.obo has no concepts"),
        ("[Term]\nid: Z:1\nname: dog\nis_a: Z:2\n", "zoo.obo", "Z:2 is named as a parent and not defined"),
        ("[Term]\nid: Z:1\nis_a: Z:2\n\n[Term]\nid: Z:2\nis_a: Z:1\n", "zoo.obo", "a cycle: 'Z:1' > 'Z:2' > 'Z:1'"),
        ("[Term]\nid: Z:1\n\n[Term]\nid: Z:2\n", "zoo.obo", r"2 roots \('Z:1', 'Z:2'\)"),
        ("<nonsense", "zoo.owl", "zoo.owl cannot be read as RDF/XML"),
        ("nonsense", "zoo.ttl", "zoo.ttl cannot be read as Turtle"),
        ("nonsense", "zoo.nt", "zoo.nt cannot be read as N-Triples"),
        ("", "zoo.ttl", "zoo.ttl has no concepts"),
        ("", "zoo.json", "zoo.json is no known kind of hierarchy; give .csv, .obo, .owl"),
    ],
)
def test_an_ontology_file_that_is_none_is_refused_in_one_line(read, content, name, message):
    with pytest.raises(InputError, match=message) as refused:
        read(content, name)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"zoo.obo does not exist; check the path"):
        Hierarchy.from_file(tmp_path / "zoo.obo")


@pytest.mark.parametrize(("reader", "name"), [("pronto", "zoo.obo"), ("rdflib", "zoo.ttl")])
def test_without_the_extra_the_error_names_it(read, monkeypatch, reader, name):
    monkeypatch.setitem(sys.modules, reader, None)
    with pytest.raises(
        MissingExtra, match=r"needs the extra 'ontology'; install it with: pip install 'shoal\[ontology\]'"
    ):
        read("", name)


def rrf_name(concept, name, language="ENG", preferred=True, suppressed="N"):
    form = ("P", "PF", "Y") if preferred else ("S", "VO", "N")
    return f"{concept}|{language}|{form[0]}|L|{form[1]}|S|{form[2]}|A||||SNOMED|PT|1|{name}|0|{suppressed}||\n"


def rrf_link(child, relation, parent, suppressed="N"):
    return f"{child}|A|AUI|{relation}|{parent}|A|AUI||R||SNOMED|SNOMED|||{suppressed}||\n"


def test_umls_tables_give_english_names_and_parents(read, tmp_path):
    links = rrf_link("C2", "PAR", "C1") + rrf_link("C1", "CHD", "C2") + rrf_link("C3", "PAR", "C2", suppressed="O")
    (tmp_path / "MRREL.RRF").write_text(links + rrf_link("C3", "PAR", "C1") + rrf_link("C3", "PAR", "C9"))
    names = [
        rrf_name("C1", "Disease"),
        rrf_name("C2", "Heart attack", preferred=False),
        rrf_name("C2", "Myocardial infarction"),
        rrf_name("C2", "Herzinfarkt", language="GER"),
        rrf_name("C2", "Coronary", preferred=False, suppressed="O"),
        rrf_name("C3", "Fracture"),
    ]
    umls = read("".join(names), "MRCONSO.RRF")
    assert parents_in(umls) == {"Disease": set(), "Fracture": {"Disease"}, "Myocardial infarction": {"Disease"}}
    assert umls.concept("heart attack") == umls.concept("C2") == umls.concept("Myocardial infarction")
    assert umls.concept("Herzinfarkt") is None
    assert umls.concept("Coronary") is None


def test_a_umls_table_with_other_columns_is_refused_in_a_line(read, tmp_path):
    (tmp_path / "MRREL.RRF").write_text("C1|PAR|C2|\n")
    with pytest.raises(InputError, match=r"MRREL\.RRF: line 1 has 3 columns, not 16"):
        read(rrf_name("C1", "Disease"), "MRCONSO.RRF")
