"""Entities of short texts, with every mention."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.results.sanitizing import KINDS, Entity
from shoal.sanitizer.entities.finder import EntityFinder, drafts_of

BIRDS = (
    "Prof. Smith asked Imagine Inc. to start the project in New York, where the NY University could provide a "
    "laboratory near the Washington Square Park. Prof. Smith wants to study the birds of the Washington Square Park."
)


def only(finder: EntityFinder, text: str) -> tuple[Entity, ...]:
    (entities,) = finder.find([text])
    return entities


def mentions(text: str, entity: Entity) -> list[str]:
    return [text[mention.start : mention.end] for mention in entity.mentions]


def named(entities: tuple[Entity, ...], name: str) -> Entity:
    (entity,) = [entity for entity in entities if entity.name == name]
    return entity


def test_the_example_of_the_paper_has_exactly_its_five_entities(finder: EntityFinder) -> None:
    found = [(entity.kind, mentions(BIRDS, entity)) for entity in only(finder, BIRDS)]
    assert found == [
        ("PERSON", ["Prof. Smith", "Prof. Smith"]),
        ("ORG", ["Imagine Inc."]),
        ("LOC", ["New York"]),
        ("ORG", ["NY University"]),
        ("LOC", ["Washington Square Park", "Washington Square Park"]),
    ]


def test_a_person_is_found_by_title_surname_capitals_possessive_and_over_a_line_break(finder: EntityFinder) -> None:
    text = "Anna Jensen sued. Mrs\nJensen won; Jensen’s lawyer wept. JENSEN left. A. Jensen paid."
    person = named(only(finder, text), "Anna Jensen")
    assert mentions(text, person) == ["Anna Jensen", "Mrs\nJensen", "Jensen", "JENSEN", "A. Jensen"]


def test_two_people_of_one_surname_are_two_entities(finder: EntityFinder) -> None:
    text = "Mr Karl Weber met Mrs Doris Weber. Mrs Doris Weber left."
    people = [entity for entity in only(finder, text) if entity.kind == "PERSON"]
    assert [mentions(text, person) for person in people] == [
        ["Mr Karl Weber"],
        ["Mrs Doris Weber", "Mrs Doris Weber"],
    ]


def test_a_surname_that_two_people_share_is_given_to_neither(finder: EntityFinder) -> None:
    text = "Mr John Smith met Mary Smith. Smith left; SMITH, John stayed. Mrs Smith spoke to J. Smith. It was Smith’s."
    people = {entity.name: mentions(text, entity) for entity in only(finder, text) if entity.kind == "PERSON"}
    assert people == {
        "Mr John Smith": ["Mr John Smith", "SMITH, John", "J. Smith"],
        "Mary Smith": ["Mary Smith", "Mrs Smith"],
        "Smith": ["Smith", "Smith"],
    }


def test_a_shared_surname_is_masked_as_probably_as_any_who_has_it(finder: EntityFinder) -> None:
    entities = only(finder, "Mr John Smith met Mary Smith. Smith left.")
    assert named(entities, "Smith").probability >= named(entities, "Mr John Smith").probability


@pytest.mark.parametrize(
    "words", ["Dear Mr. President: I agree.", "Ambassadors. Upon arrival he left.", "Article I. The pact."]
)
def test_a_title_before_no_name_is_nobody(finder: EntityFinder, words: str) -> None:
    assert not [entity for entity in only(finder, words) if entity.kind == "PERSON"]


def test_a_name_is_found_in_small_letters_unless_it_is_a_word(finder: EntityFinder) -> None:
    text = "Marcus Baker is ill. tell marcus to see the baker."
    assert mentions(text, named(only(finder, text), "Marcus Baker")) == ["Marcus Baker", "marcus"]


def test_people_known_by_letters_are_found(finder: EntityFinder) -> None:
    text = "Mr X told Mrs A.B. that J.S. had left the U.S. before."
    people = [entity.name for entity in only(finder, text) if entity.kind == "PERSON"]
    assert people == ["Mr X", "Mrs A.B.", "J.S."]


def test_the_number_of_a_heading_is_no_initial(finder: EntityFinder) -> None:
    text = "A. Facts\n\nThe case is old.\n\nB. Law\n\nIt was lost."
    assert not [entity for entity in only(finder, text) if entity.kind == "PERSON"]


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("3 May 1961", "DATE"),
        ("May 3, 1961", "DATE"),
        ("03.05.1961", "DATE"),
        ("1961-05-03", "DATE"),
        ("16 and 20 September 2004", "DATE"),
        ("mid-June 1999", "DATE"),
        ("EUR 4,000", "MONEY"),
        ("54,000,000 Turkish liras (TRL)", "MONEY"),
        ("$1.5 million", "MONEY"),
        ("81.7%", "QUANTITY"),
        ("26 km/h", "QUANTITY"),
        ("56328/07", "CASE"),
        ("anna.b@example.org", "EMAIL"),
        ("+45 12 34 56 78", "PHONE"),
        ("GB56HXDO88167774656119", "ACCOUNT"),
        ("4012888888881881", "ACCOUNT"),
        ("https://example.org/a?b=1", "URL"),
        ("12 Elm Street", "ADDRESS"),
        ("ann [dot] lee (at) example.org", "EMAIL"),
        ("@sparky_dave92", "ID"),
        ("CD/MH/4471902", "ID"),
        ("2021-00457-PD", "ID"),
        ("7XKR219", "ID"),
        ("QQ 12 34 56 C", "ID"),
        ("KOWALCZYK, Agnieszka", "PERSON"),
    ],
)
def test_forms_are_found_whole(finder: EntityFinder, written: str, kind: str) -> None:
    text = f"We were told of {written} by the clerk."
    assert (kind, [written]) in [(entity.kind, mentions(text, entity)) for entity in only(finder, text)]


def test_a_date_broken_by_a_line_is_one_date(finder: EntityFinder) -> None:
    text = "It began on 3\nMay 1961 and ended soon."
    assert ["3\nMay 1961"] in [mentions(text, entity) for entity in only(finder, text)]


def test_countries_stay_and_a_town_with_its_country_is_one_place(finder: EntityFinder) -> None:
    entities = only(finder, "He left France for Lublin, Poland. She stayed in France.")
    france, lublin = named(entities, "France"), named(entities, "Lublin, Poland")
    assert (france.probability, france.role, len(france.mentions)) == (0.0, "harmless", 2)
    assert lublin.probability > 0.5


def test_the_list_of_what_stays_is_the_users() -> None:
    finder = EntityFinder(stays=["new york"])
    entities = only(finder, BIRDS)
    assert named(entities, "New York").probability == 0.0
    (france,) = [entity for entity in only(finder, "She lives in France.") if entity.name == "France"]
    assert france.probability > 0.0


def test_a_person_who_is_called_like_a_country_does_not_stay(finder: EntityFinder) -> None:
    assert named(only(finder, "Mr Jordan left. Mrs Poe stayed."), "Mr Jordan").probability > 0.5


def test_what_is_called_after_a_person_is_masked_with_them(finder: EntityFinder) -> None:
    entities = only(finder, "Mr Karl Jensen spoke for the Jensen Fund.")
    assert named(entities, "Jensen Fund").probability >= named(entities, "Mr Karl Jensen").probability


def test_a_foreign_name_in_brackets_is_masked_with_the_name_it_explains(finder: EntityFinder) -> None:
    entities = only(finder, "The Graz Regional Court (Landesgericht) heard the case.")
    court, foreign = named(entities, "Graz Regional Court"), named(entities, "Landesgericht")
    assert foreign.probability >= court.probability


def test_an_acronym_belongs_to_its_name(finder: EntityFinder) -> None:
    text = "The Nordic Fishing Trust (NFT) sued. NFT lost."
    assert mentions(text, named(only(finder, text), "Nordic Fishing Trust")) == ["Nordic Fishing Trust", "NFT", "NFT"]


def test_texts_come_back_in_order_empty_ones_too(finder: EntityFinder) -> None:
    found = list(finder.find(["", "Mr Ian Roe left.", "nothing", "Mrs Ann Poe left."]))
    assert [[entity.name for entity in entities] for entities in found] == [[], ["Mr Ian Roe"], [], ["Mrs Ann Poe"]]


def test_a_text_longer_than_the_model_reads_at_once_keeps_its_places(finder: EntityFinder) -> None:
    text = "It rained on the hill.\n" * 2200 + "Mr Ian Roe left.\n"
    person = named(only(finder, text), "Mr Ian Roe")
    assert mentions(text, person) == ["Mr Ian Roe"]


def test_a_model_that_is_not_installed_is_named() -> None:
    with pytest.raises(InputError, match="xx_no_such_model"):
        EntityFinder("xx_no_such_model")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from([*"aZ9 .\n(’-éß中€", " Mr Roe ", " 3 May 1999", "Oslo", " Court of ", "v. "]), max_size=60)
)
def test_mentions_lie_in_the_text_and_never_overlap(finder: EntityFinder, pieces: list[str]) -> None:
    text = "".join(pieces)
    entities = only(finder, text)
    places = sorted((mention.start, mention.end) for entity in entities for mention in entity.mentions)
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert all(first[1] <= second[0] for first, second in pairwise(places))
    assert all(entity.kind in KINDS and 0 <= entity.probability <= 1 for entity in entities)
    firsts = [entity.mentions[0].start for entity in entities]
    assert firsts == sorted(firsts)


@pytest.mark.parametrize("piece", ["Aa ", "Aa-", "1,", "12 ", "a.", "A. ", "Court of ", "3 and ", "Mr ", "(", "\n"])
def test_monotonous_text_takes_no_longer_than_its_length_warrants(piece: str) -> None:
    """Patterns that try every division of a text would take hours here, not seconds."""
    assert len(drafts_of(piece * (10_000 // len(piece)), [])) <= 10_000


def masked_by(finder: EntityFinder, text: str) -> set[str]:
    """What is proposed by default."""
    return {name for e in only(finder, text) if e.probability >= 0.1 for name in mentions(text, e)}


def test_a_salutation_after_a_number_is_no_address(finder: EntityFinder) -> None:
    text = "Born 3 May 1961\n\nDear Dr Trelawny, come soon."
    assert {"3 May 1961", "Dr Trelawny"} <= masked_by(finder, text)
    assert all(entity.kind != "ADDRESS" for entity in only(finder, text))


def test_a_name_ends_with_its_line_unless_the_line_is_full(finder: EntityFinder) -> None:
    assert "Mr Ivo Blandford" in masked_by(finder, "Signed: Mr Ivo Blandford\nPage 3 of 4")
    text = "The committee heard on the following day a certain John\nTrelawny, who spoke."
    assert "John\nTrelawny" in masked_by(finder, text)


def test_labels_of_headers_and_numbers_of_lists_stay(finder: EntityFinder) -> None:
    text = "Organization: Zeta Labs\nLines: 12\n\n1. Ann Trelawny\n2. Bob Trelawny\n"
    found = masked_by(finder, text)
    assert {"Ann Trelawny", "Bob Trelawny"} <= found
    assert found.isdisjoint({"Organization", "Lines", "1", "2", "1.", "2."})


@pytest.mark.parametrize(
    ("text", "kind", "mention"),
    [
        ("Hi marigold,\nsee you.", "PERSON", "marigold"),
        ("See you.\n\nCheers,\n  penny\n", "PERSON", "penny"),
        ("Patient name: rose garden\nWard 3", "PERSON", "rose garden"),
        ("Name,Age\nFrank Stone,3\nDawn Rivers,4\n", "PERSON", "Dawn Rivers"),
        ("| Employee | Room |\n| Rich Field | 12 |\n", "PERSON", "Rich Field"),
        ("He met Wi11iam Trelawny.", "PERSON", "Wi11iam Trelawny"),
        ("He met Tatter5all there.", "PERSON", "Tatter5all"),
        ("The clerk, E. Pi1kington, left.", "PERSON", "E. Pi1kington"),
        ("Witness JOHN STONE was heard.", "PERSON", "JOHN STONE"),
        ("Then john trelawny left.", "PERSON", "john trelawny"),
        ("Geboren am 3. März 1961 in Graz.", "DATE", "3. März 1961"),
        ("It began in the first half of 1993.", "DATE", "first half of 1993"),
        ("She is in her forties.", "AGE", "her forties"),
        ("MRN: 4471-902", "ID", "4471-902"),
        ("He was a local authority housing officer there.", "PROFESSION", "local authority housing officer"),
        ("He drove with Jean-Tim Trelawny.", "PERSON", "Jean-Tim Trelawny"),
    ],
)
def test_a_mention_is_found_whole(finder: EntityFinder, text: str, kind: str, mention: str) -> None:
    assert [(e.kind, mention) for e in only(finder, text) if mention in mentions(text, e)] == [(kind, mention)]


def test_a_name_broken_at_the_end_of_a_line_is_one_name(finder: EntityFinder) -> None:
    text = "The claim of John Trelawney failed. The officer wrote that Mr Trel-\nawney had left the house."
    person = named(only(finder, text), "John Trelawney")
    assert mentions(text, person) == ["John Trelawney", "Mr Trel-\nawney"]
    assert named(only(finder, "The witness, Mrs Anna Trel-\noar, was heard."), "Mrs Anna Treloar").kind == "PERSON"


def test_initials_belong_to_the_only_person_who_has_them(finder: EntityFinder) -> None:
    text = "John Trelawney arrived early. J.T. refused to answer."
    assert mentions(text, named(only(finder, text), "John Trelawney")) == ["John Trelawney", "J.T."]
    text = "John Trelawney met Jane Tollgate there. J.T. refused to answer."
    assert [mentions(text, entity) for entity in only(finder, text) if entity.name == "J.T."] == [["J.T."]]


def test_a_list_of_names_is_recognised_where_half_begin_with_a_given_name(finder: EntityFinder) -> None:
    text = "Present:\n- Rose Field\n- Mark Hill\n- April Summers\n- Bill Price\n\nMain Hall\nUpper Room\nBack Yard\n"
    people = [name for entity in only(finder, text) if entity.kind == "PERSON" for name in mentions(text, entity)]
    assert people[:4] == ["Rose Field", "Mark Hill", "April Summers", "Bill Price"]
    assert not {"Main Hall", "Upper Room", "Back Yard"} & set(people)


def test_a_column_of_names_needs_no_header_that_names_it(finder: EntityFinder) -> None:
    text = "Date,Who,What\n2021-03-02,Priya Nair,taxi\n2021-03-03,Tom Baker,lunch\n2021-03-05,Grace Field,train\n"
    people = [name for entity in only(finder, text) if entity.kind == "PERSON" for name in mentions(text, entity)]
    assert people == ["Priya Nair", "Tom Baker", "Grace Field"]


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        (
            "Player     Parent\nAnna Bell  Joan\nKit Marsh  Hope\nOlu Banks  Grace\nTom Reed   Folake\n",
            ["Kit Marsh", "Hope"],
        ),
        ("Surname:              Nakamura\nPrevious name:        Okabe\n", ["Nakamura", "Okabe"]),
        ("Membership number: 77120\nNoK phone: 07700 900267", ["77120", "07700 900267"]),
        ("Mr Ben Thackeray rang; bthackeray has no quota.", ["bthackeray"]),
        ("Miss Ottoline Frimpong is well. Today Otti sings.", ["Otti"]),
        ("Mr Femi Badmus owes rent. Paid by K A Badmus today.", ["K A Badmus"]),
        ("phones dead. im on tyrones. ask mrs adu at 23b st leonards rd. bye.", ["mrs adu", "23b st leonards rd"]),
        ("[09:02] <frogmouth77> anyone up?", ["frogmouth77"]),
        ("Find me on github.example/nbyh soon.", ["github.example/nbyh"]),
        ("[09:14] Tunde B.: hello\n[09:15] kev_oduya: hi all\n", ["Tunde B.", "kev_oduya"]),
        ("A note by Ms Jane Kovalchuk. Signed J Kovalchuk", ["J Kovalchuk"]),
        ("See you on Monday.\n\nBest\nN\n", ["N"]),
        ("Mr F. Drum\nThe Old Granary\n7 Church Walk\nLUDFORD LN8 6AJ\n", ["Old Granary", "LUDFORD LN8 6AJ"]),
        (
            "Name            Phone        Notes\nAma Serwaa      07700 900118 key\nMo              07700 900990\n",
            ["Mo"],
        ),
        ("She is resident at 22, Gran-\nville Terrace with five children.", ["22, Gran-\nville Terrace"]),
        ("The quiz went to Peggy Bright, Hope and Anna Bell on Friday.", ["Hope"]),
        ("Present: AEO Tremblay K (maintenance), Emp No 00882 today.", ["00882"]),
        ("His landlord, one Vic Pring, changed the locks. Pring's heavy threatened his wife.", ["Pring"]),
        ("Write to 8 bis, impasse du Moulin before noon.", ["8 bis, impasse du Moulin"]),
        ("He lives at Flat 2 / 19 Garthdee Crescent #3R with her.", ["Flat 2", "19 Garthdee Crescent #3R"]),
        ("It was a grey Impala, plate KWD 4410. Then they left.", ["KWD 4410"]),
        ("Buried by Rev. Thos. Pellow, vicar.", ["Thos. Pellow"]),
        ("She lives at Rakpart utca 7, III/2, in Szeged.", ["Rakpart utca 7", "III/2"]),
        ("pt seen. report given to rn t. pellowby. pt asleep. ok for now.", ["t. pellowby"]),
        ('The late Bernard "Benny" K. Pellow farmed here.', ['Bernard "Benny" K. Pellow']),
        ("Kurt laughed in front of Xolani, Big Steve and Tamsin.", ["Big Steve"]),
        ("mail to noor.elbaz@example.org bounced: full\nuser noor reset it", ["noor"]),
        ("Write to kzp4 at example dot org, please.", ["kzp4 at example dot org"]),
        ("Card ending 4471 was lost. Fee paid CD 4471 today.", ["4471", "4471"]),
        ("10.0.0.7 - bnakamura [11/Feb/2024] sent /data/hr/lysander_quill.pdf", ["bnakamura", "lysander_quill"]),
        ("1. Surname (family name): TRAORÉ\n2. Surname at birth: KEÏTA\n", ["TRAORÉ", "KEÏTA"]),
        ("THEN GEN PLOVDIN WAS RELIEVED OF COMMAND.", ["PLOVDIN"]),
        ("Rent was paid by N Zhou in cash.", ["N Zhou"]),
        ("Mx Robin Ashworth-Diallo left. We called them RAD at work.", ["RAD"]),
        (
            "He lives in calle de la Encomienda, 8, 3.º izda., 47003 Valladolid now.",
            ["calle de la Encomienda, 8, 3.º izda., 47003 Valladolid"],
        ),
        ("Abita in via Monte Grappa 27/B, 24121 Bergamo.", ["via Monte Grappa 27/B, 24121 Bergamo"]),
        ("no;last_name;ward\n1;Baptiste;3\n2;Greene;3\n3;Oyelowo;4\n", ["Baptiste", "Greene", "Oyelowo"]),
    ],
)
def test_what_layout_and_known_people_tell_is_masked(finder: EntityFinder, text: str, hidden: list[str]) -> None:
    masked = [
        text[mention.start : mention.end]
        for entity in only(finder, text)
        if entity.probability >= 0.15
        for mention in entity.mentions
    ]
    assert [words for words in hidden if words not in masked] == []


def test_user_names_that_fit_two_people_belong_to_neither(finder: EntityFinder) -> None:
    text = "Mr Paul Trelawny met Mrs Petra Trelawny. Mail goes to ptrelawny now."
    assert mentions(text, named(only(finder, text), "ptrelawny")) == ["ptrelawny"]
