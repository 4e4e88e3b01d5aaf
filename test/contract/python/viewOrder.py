"""Sorts and filters rows with pyarrow, by the rule of the documentation of views.

NaN is larger than every number, -0 is less than 0, nulls are last in both directions, and rows with equal values are in the
order of the table.
"""

import lance
import pyarrow as pa
import pyarrow.compute as pc
from pythonCalls import answer


def ordered_ids(path, keys, above=None):
    """Returns the ids of a table's rows in the order of columns, which are pairs of a name and whether they descend.

    With `above`, a pair of a column and a number, only rows with larger values; NaN is one of them.
    """
    table = lance.dataset(path).to_table()
    if above is not None:
        column, least = above
        values = table[column]
        table = table.filter(pc.or_(pc.greater(values, least), pc.is_nan(values)))
    sort_keys = []
    for name, descends in keys:
        values = table[name]
        direction = "descending" if descends else "ascending"
        helpers = {"null": (pc.is_null(values), "ascending")}
        if pa.types.is_floating(values.type):
            nan = pc.fill_null(pc.is_nan(values), False)
            number = pc.if_else(nan, 0.0, values)
            # 1 / -0 is -Infinity, so that the two zeros differ.
            sign = pc.if_else(pc.equal(number, 0.0), pc.divide(1.0, number), 0.0)
            helpers |= {"nan": (nan, direction), "value": (number, direction), "sign": (sign, direction)}
        else:
            helpers["value"] = (values, direction)
        for part, (helper, order) in helpers.items():
            table = table.append_column(f"{name} {part}", helper)
            sort_keys.append((f"{name} {part}", order))
    table = table.append_column("position", pa.array(range(table.num_rows)))
    sort_keys.append(("position", "ascending"))
    return table.take(pc.sort_indices(table, sort_keys=sort_keys))["id"].to_pylist()


answer(ordered_ids)
