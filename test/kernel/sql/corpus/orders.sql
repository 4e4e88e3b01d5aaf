-- order of integers with nulls first
select id, price from items order by price nulls first, id;
-- order of nulls by default
select id, stock from items order by stock desc, id;
-- order of floats with NaN, infinities and zeros
select id, f64 from numbers order by f64, id;
-- order of floats, descending
select id, f32 from numbers order by f32 desc nulls last, id desc;
-- order of texts by their bytes
select id, name from items order by name nulls last, id;
-- order of texts without case
select id, name from items order by lower(name) nulls last, name, id;
-- order with a collation
select id, name from items where name is not null order by name collate noaccent, id;
-- order of dates before our era
select id, added from items order by added, id;
-- order of times with and without a zone
select id, ordered from shop.orders order by ordered desc limit 5;
-- limit and offset
select id, name from items order by id limit 5 offset 7;
-- limit beyond the end
select id from numbers order by id limit 100 offset 10;
-- limit of no rows
select * from items limit 0;
-- limit in percent
select id from shop.orders order by id limit 10%;
-- limit of an expression
select id from numbers order by id limit (select 2 + 1);
-- order by a position and an expression
select id, quantity from shop.orders order by 2 desc nulls last, -id limit 9;
-- order by all
select distinct category, available from items order by all;
-- order by nested values
select id, tags from items order by tags nulls last, id;
-- order by a struct
select id, maker from items order by maker, id;
-- order by binary values and booleans
select id, photo, available from items order by photo, available, id;
-- order by decimals and large integers
select id, d38, u64 from numbers order by d38 desc, u64, id;
-- top rows of a group
select category, max(id, 2) as top from items group by category order by category;
-- order of a column that is not in the result
select name from items order by price desc nulls last, id limit 6;
