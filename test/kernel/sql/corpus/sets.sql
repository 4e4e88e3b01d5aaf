-- union without duplicates
select category as x from items union select country from "shop/eu".customers;
-- union all of two types
select id, price as x from items union all select id, d9 from numbers;
-- union by name
select id, name from items where id < 4 union by name select name, country from "shop/eu".customers;
-- intersect
select id from items intersect select id::integer from numbers;
-- intersect all
select quantity from shop.orders intersect all select i8 from numbers;
-- except
select id from items except select item from shop.orders;
-- except all
select customer from shop.orders except all select id from "shop/eu".customers;
-- distinct rows with nulls
select distinct category, available from items;
-- distinct floats
select distinct f64 from numbers;
-- distinct on with an order
select distinct on (customer) customer, id, amount from shop.orders order by customer, id desc;
-- distinct of nested values
select distinct tags, maker, vector from items;
-- union in a subquery with a limit
select * from (select id from items union all select id from numbers) order by id desc limit 7;
-- three set operations
(select id from items where id < 9 except select 3) union (select id from numbers where id > 10 intersect select 11) order by 1;
-- in a list of values
select id from items where (id, category) in ((1, 'kitchen'), (2, 'light'), (3, 'x'));
-- values as a table
select v.x, v.y, i.name from (values (1, 'a'), (2, null), (99, 'c')) v(x, y) left join items i on i.id = v.x;
-- unpivot
select * from (unpivot (select id, i8, i16 from numbers) on i8, i16 into name kind value amount);
-- pivot with its values
select * from (pivot (select day, source, quantity from shop.orders) on source in ('web', 'shop') using sum(quantity) group by day);
