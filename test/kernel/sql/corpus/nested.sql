-- all nested values as they are
select * from nested;
-- elements and slices of lists
select id, list[1] as a, list[-1] as b, list[2:] as c, len(list) as n, list_contains(list, 3) as d, lists[1][2] as e from nested;
-- fields of structs
select id, deep.d as d, deep.a.b as b, deep.a.b[1] as f, deep.a.c as c, deep['d'] as g from nested;
-- conditions on fields
select id from nested where deep.d > 1 or deep.a.c is not null;
-- list of structs, one row each
select id, unnest(structs) as s from nested;
-- structs with one column for each field
select id, unnest(deep) from nested;
-- recursive unnest
select id, unnest(lists, recursive := true) as x from nested;
-- unnest in from with a position
select n.id, u.x, u.i from nested n, unnest(n.list) with ordinality as u(x, i);
-- maps
select id, map[1] as a, map_keys(map) as k, map_values(map) as v, cardinality(map) as n, map_entries(map) as e, map_contains(map, 7) as c from nested;
-- functions of lists
select id, list_sort(list, 'desc') as a, list_distinct(list) as b, list_reverse(list) as c, list_sum(list) as d, list_aggregate(list, 'max') as e, list_position(list, 3) as f, list || [7] as g from nested;
-- lambdas
select id, list_transform(list, lambda x: x + 1) as a, list_filter(list, lambda x: x > 1) as b, list_reduce([1, 2, 3], lambda a, b: a + b) as c from nested where id <> 4;
-- list comprehension
select id, [x * 2 for x in list if x < 100] as doubled from nested;
-- flattened lists
select id, flatten(lists) as f, len(flatten(lists)) as n from nested;
-- zipped lists and ranges
select list_zip([1, 2], ['a', 'b']) as a, range(3) as b, generate_series(1, 10, 4) as c, list_value(1, null, 3) as d;
-- vectors of a fixed size
select id, pair, pair[1] as x, array_length(pair) as n, pair::double[] as l, array_value(1, 2) as v from nested;
-- distances of vectors
select id, array_distance(vector, [1, 0, 0]::float[3]) as d, array_inner_product(vector, vector) as p, array_cosine_similarity([1, 0]::float[2], [0, 1]::float[2]) as c from items;
-- nearest vectors by an exact distance
select id from items where vector is not null order by array_distance(vector, [0, 3, 4]::float[3]), id limit 4;
-- sum of a list of floats
select id, list_sum(vector::float[]) as s from items;
-- structs made in the query
select {'a': id, 'b': [name]} as s, row(id, name) as r, struct_pack(x := price) as p, struct_insert(maker, age := 5) as i from items;
-- maps made in the query
select map {'a': 1, 'b': null} as m, map([1, 2], ['x', 'y']) as n, map {'k': [1, 2]}['k'] as v;
-- lists of structs from groups
select category, list({'id': id, 'price': price} order by id) as items from items group by category;
-- fields of a struct from a table
select maker.country as country, count(*) as n from items group by maker.country;
-- comparisons of nested values
select a.id, b.id as other from nested a join nested b on a.list = b.list and a.id < b.id;
-- nested values that are null or empty
select id, list is null as a, list = [] as b, deep is null as c, deep.a is null as d, map = map {} as e from nested;
-- lists in conditions
select id from items where list_contains(tags, 'red') or len(tags) = 0;
-- tags of items, counted
select tag, count(*) as n from (select unnest(tags) as tag from items) group by tag;
-- unnested twice
select i.id, t.tag, a.key from items i, unnest(i.tags) t(tag), unnest(map_keys(i.attributes)) a(key);
-- a union type
select union_value(num := 2) as u, union_tag(union_value(str := 'a')) as t;
-- lists of lists of structs
select [[{'a': 1}], null, []] as l, [[1, 2], [3, null]]::integer[2][] as m from numbers where id = 1;
-- nested decimals, times and binary
select id, [d9, null] as a, {'u': u64, 'h': [f64]} as b from numbers;
