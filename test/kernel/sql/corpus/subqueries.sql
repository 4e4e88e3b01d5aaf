-- in a subquery
select id, name from items where id in (select item from shop.orders where quantity > 2);
-- not in a subquery with nulls
select id from items where id not in (select item from shop.orders);
-- not in a subquery without nulls
select id from items where id not in (select item from shop.orders where item is not null);
-- exists
select c.id from "shop/eu".customers c where exists (select 1 from shop.orders o where o.customer = c.id and o.amount > 10);
-- not exists
select i.id from items i where not exists (select * from shop.orders o where o.item = i.id);
-- scalar subquery
select id, (select max(amount) from shop.orders) as most from items where id < 3;
-- correlated scalar subquery
select i.id, (select count(*) from shop.orders o where o.item = i.id) as n, (select max(o.ordered) from shop.orders o where o.item = i.id) as latest from items i;
-- any and all
select id from numbers where i32 > all (select i16 from numbers where i16 is not null) or i8 = any (select 127);
-- subquery in from
select x.category, x.n from (select category, count(*) as n from items group by category) x where x.n > 1;
-- subquery with another name of a column
select a from (select id as a, id + 1 as id from items) where id = 4;
-- common table expressions that use each other
with recent as (select * from shop.orders where day >= date '2024-02-29'), per_item as (select item, count(*) as n from recent group by item) select i.name, p.n from per_item p join items i on i.id = p.item where p.n > 1;
-- a common table expression that is used twice
with c as (select country, count(*) as n from "shop/eu".customers group by country) select a.country, b.country as other from c a join c b on a.n = b.n and a.country < b.country;
-- a materialized common table expression
with x as materialized (select id, price from items where price > 2) select count(*) as n, sum(price) as total from x where id > 5;
-- a common table expression with the name of a table
with items as (select id from numbers where id < 4) select id from items;
-- a common table expression with names of columns
with x(a, b) as (select id, name from items) select b from x where a = 2;
-- recursive numbers
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20) select i, sum(i) over (order by i) as s from n;
-- recursive tree of customers
with recursive tree as (select id, name, 0 as depth, [id] as path from "shop/eu".customers where parent is null union all select c.id, c.name, t.depth + 1, list_append(t.path, c.id) from "shop/eu".customers c join tree t on c.parent = t.id) select * from tree;
-- recursive union without duplicates
with recursive reach as (select 14 as id union select c.parent from "shop/eu".customers c join reach r on c.id = r.id where c.parent is not null) select id from reach;
-- recursive query with two tables
with recursive r as (select id, i8 as x from numbers where id = 1 union all select n.id, n.i8 from numbers n join r on n.id = r.id + 1 where n.id < 8) select r.id, r.x, i.name from r left join items i on i.id = r.id;
-- lateral subquery with a limit
select c.id, o.id as order_id from "shop/eu".customers c, lateral (select id from shop.orders o where o.customer = c.id order by id limit 2) o;
-- alias of a column in where
select id, quantity + 2 as more from shop.orders where more > 10 and quantity < 100;
-- nested correlated subqueries
select i.id from items i where i.price > (select avg(j.price) from items j where j.category = i.category and exists (select 1 from shop.orders o where o.item = j.id));
-- a subquery that no row has
select id, (select name from items where id < 0) as nothing from numbers;
-- from first
from items select id, name where id between 2 and 4;
