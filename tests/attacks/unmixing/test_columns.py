"""Items that add up to the size of every group are the columns of a table, and tie the split of a pool."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from shoal.attacks.unmixing.attack import Published
from shoal.attacks.unmixing.columns import split_by_columns, table_columns

# Items red, blue (a colour) and round, long (a form). Baskets come in twos: red are round and blue are long.
RED, BLUE = [1, 0, 1, 0], [0, 1, 0, 1]


def pooled(*groups):
    pools = [np.sum(group, axis=0) for group in groups]
    return sp.csr_matrix(np.array(pools, dtype=np.float64)), np.array([len(group) for group in groups])


def table_in_baskets():
    """Ten groups; only the last two mix colours, and there the forms go with the colours."""
    odd = [0, 1, 1, 0]  # one blue basket is round, so that no form is the same as a colour
    return pooled(*([[RED, RED]] * 4), *([[BLUE, BLUE]] * 3), [BLUE, odd], [RED, BLUE], [RED, BLUE, BLUE])


def test_items_that_add_up_to_the_size_of_every_group_are_columns():
    pools, sizes = table_in_baskets()
    columns = sorted(sorted(column.tolist()) for column in table_columns(pools, sizes))
    assert columns == [[0, 1], [2, 3]]


def test_items_that_one_basket_lacks_are_no_column():
    pools, sizes = table_in_baskets()
    pools[9, 3] -= 1
    columns = [sorted(column.tolist()) for column in table_columns(pools, sizes)]
    assert columns == [[0, 1]]


@pytest.mark.parametrize("many", [3, 8])
def test_few_groups_show_no_column(many):
    pools, sizes = table_in_baskets()
    assert table_columns(pools[:many], sizes[:many]) == []


def test_counts_of_words_are_no_columns():
    pools, sizes = table_in_baskets()
    pools[0, 0] = 5  # two documents, five times the word
    assert table_columns(pools, sizes) == []


def test_values_that_other_groups_have_together_go_together_in_a_mixed_group():
    """The pool of the ninth group is 1, 1, 1, 1, which fits two splits; other groups say which."""
    pools, sizes = table_in_baskets()
    published = Published(pools, sizes, int(sizes.sum()), 1)
    guesses = split_by_columns(published, table_columns(pools, sizes), np.array([8, 9]))
    of_group = [sorted(guesses.counts[guesses.group_of_guess == group].toarray().tolist()) for group in (8, 9)]
    assert of_group == [sorted([RED, BLUE]), sorted([RED, BLUE, BLUE])]


def test_an_item_of_no_column_goes_where_it_fits():
    """A fifth item, in red baskets only, is in some of them: no column, and still given to the red one."""
    with_ribbon, without = [1, 0, 1, 0, 1], [1, 0, 1, 0, 0]
    blue = [0, 1, 0, 1, 0]
    both, one = [with_ribbon, with_ribbon], [with_ribbon, without]
    pools, sizes = pooled(
        both, one, both, [*one, without], *([[blue, blue]] * 5), [blue, [0, 1, 1, 0, 0]], [with_ribbon, blue]
    )
    published = Published(pools, sizes, int(sizes.sum()), 1)
    columns = table_columns(pools, sizes)
    assert sorted(sorted(column.tolist()) for column in columns) == [[0, 1], [2, 3]]
    guesses = split_by_columns(published, columns, np.array([10]))
    assert sorted(guesses.counts.toarray().tolist()) == sorted([with_ribbon, blue])


def test_groups_with_equal_pools_are_split_as_one_of_them():
    """Four groups of two red baskets are one to the reader: eight members, and the pool of two."""
    odd = [0, 1, 1, 0]
    groups = [
        [RED, BLUE],
        [RED, BLUE, BLUE],
        [BLUE, odd],
        [BLUE, BLUE],
        [BLUE, BLUE, BLUE],
        [RED, RED, BLUE],
        [RED, odd],
    ]
    pools, sizes = pooled([RED, RED], *groups, [BLUE, BLUE, BLUE, odd], [RED, BLUE, odd])
    sizes[0] = 8
    columns = table_columns(pools, sizes)
    assert sorted(sorted(column.tolist()) for column in columns) == [[0, 1], [2, 3]]
    guesses = split_by_columns(Published(pools, sizes, int(sizes.sum()), 1), columns, np.array([0, 1]))
    assert guesses.counts.toarray().tolist()[:8] == [RED] * 8
    assert guesses.group_of_guess.tolist() == [0] * 8 + [1] * 2


def test_a_group_that_does_not_add_up_is_no_group_of_a_table():
    """One group of two baskets with a colour between them and no form: the forms are no column any more."""
    pools, sizes = table_in_baskets()
    sparse = sp.csr_matrix(sp.vstack([pools, sp.csr_matrix([[1.0, 0.0, 0.0, 0.0]])]))
    (colours,) = table_columns(sparse, np.append(sizes, 2))
    assert sorted(colours.tolist()) == [0, 1]


def test_two_columns_among_many_other_items_make_no_table():
    """Every basket has four further items besides its colour and its form."""
    pools, sizes = table_in_baskets()
    further = np.tile(sizes[:, None], 4)
    many, of_many = sp.csr_matrix(np.tile(np.hstack([pools.toarray(), further]), (2, 1))), np.tile(sizes, 2)
    assert len(table_columns(many[:, :4], of_many)) == 2
    assert table_columns(many, of_many) == []
