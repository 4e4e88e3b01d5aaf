-- inner join on an equality
select o.id, i.name from shop.orders o join items i on o.item = i.id;
-- left join keeps orders without an item
select o.id, i.name, i.price from shop.orders o left join items i on o.item = i.id;
-- left join, only orders without an item
select o.id, o.item from shop.orders o left join items i on o.item = i.id where i.id is null;
-- right join keeps items without an order
select o.id, i.id as item_id from shop.orders o right join items i on o.item = i.id;
-- full join of orders and customers
select o.id, c.id as customer_id, c.name from shop.orders o full join "shop/eu".customers c on o.customer = c.id;
-- full join, what is without a partner on either side
select o.id, c.name from shop.orders o full outer join "shop/eu".customers c on o.customer = c.id where o.id is null or c.id is null;
-- cross join of two small parts
select a.id, b.id as other from (select id from items where id < 4) a cross join (select id from numbers where id > 10) b;
-- comma join with conditions
select i.id, c.name from items i, "shop/eu".customers c where i.id = c.id and c.vip;
-- join with using
select id, i.name, n.i8 from items i join numbers n using (id);
-- full join with using takes the key of either side
select id, i.name, n.i64 from items i full join numbers n using (id);
-- natural join of two columns of one name
select * from (select id, vip from "shop/eu".customers) natural join (select id, i16 from numbers);
-- semi join
select c.id, c.name from "shop/eu".customers c semi join shop.orders o on o.customer = c.id and o.quantity > 2;
-- anti join
select c.id, c.name from "shop/eu".customers c anti join shop.orders o on o.customer = c.id;
-- join on an inequality
select a.id, b.id as later from numbers a join numbers b on a.id < b.id and a.i8 = b.i8;
-- join on a range of times
select o.id, m.id as moment from shop.orders o join moments m on o.ordered between m.usz and m.usz + interval 12 hours;
-- asof join to the last moment before
select o.id, m.day from shop.orders o asof join (select distinct day from shop.orders) m on o.day >= m.day order by o.id;
-- positional join
select * from (select id from numbers order by id) positional join (select name from items order by id limit 12);
-- self join to the parent
select c.name, p.name as parent from "shop/eu".customers c left join "shop/eu".customers p on c.parent = p.id;
-- three tables
select o.id, i.category, c.country from shop.orders o join items i on i.id = o.item join "shop/eu".customers c on c.id = o.customer where i.category = 'light';
-- three tables, outer, with conditions on each
select o.id, i.category, c.country from shop.orders o left join items i on i.id = o.item and i.price > 1 left join "shop/eu".customers c on c.id = o.customer and c.vip where o.quantity is not null;
-- joined on a null-safe comparison
select a.id, b.id as other from numbers a join numbers b on a.i8 is not distinct from b.i8 where a.id < 5;
-- joined on numbers that are not equal to themselves elsewhere
select a.id, b.id as other from numbers a join numbers b on a.f64 = b.f64;
-- joined on decimals of two scales
select a.id, b.id as other from numbers a join numbers b on a.d4 = b.d9;
-- joined on 64-bit integers with and without sign
select a.id, b.id as other from numbers a join numbers b on a.i64 = b.u64;
-- lateral join
select i.id, x.orders from items i, lateral (select count(*) as orders from shop.orders o where o.item = i.id) x;
-- join below an aggregate
select c.country, count(o.id) as orders, sum(o.quantity) as pieces from "shop/eu".customers c left join shop.orders o on o.customer = c.id group by c.country;
-- join of two aggregates
select a.item, a.n, b.most from (select item, count(*) as n from shop.orders group by item) a join (select item, max(amount) as most from shop.orders group by item) b on a.item = b.item;
