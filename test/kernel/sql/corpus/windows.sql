-- row number within a group
select id, category, row_number() over (partition by category order by id) as n from items;
-- rank, dense rank and percent rank
select id, quantity, rank() over w as r, dense_rank() over w as d, percent_rank() over w as p, cume_dist() over w as c from shop.orders window w as (order by quantity);
-- first three of each group
select customer, id from shop.orders qualify row_number() over (partition by customer order by amount desc nulls last, id) <= 3;
-- running sum
select id, sum(quantity) over (order by id) as running from shop.orders;
-- running sum in a group with nulls
select id, sum(amount) over (partition by customer order by id rows between unbounded preceding and current row) as running from shop.orders;
-- moving average over rows
select id, avg(quantity) over (order by id rows between 2 preceding and 1 following) as mean from shop.orders;
-- sum over a range of times
select id, count(*) over (order by ordered range between interval 3 hours preceding and current row) as recent from shop.orders;
-- sum over groups
select id, day, sum(quantity) over (order by day groups between 1 preceding and current row) as two_days from shop.orders;
-- lag and lead with a default
select id, lag(name, 1, 'none') over (order by id) as before, lead(price) over (order by id) as after, lag(maker) over (order by id) as maker from items;
-- first, last and n-th value
select id, first_value(id) over w as a, last_value(id) over w as b, nth_value(id, 2) over w as c from items window w as (partition by category order by id rows between unbounded preceding and unbounded following);
-- last value ignoring nulls
select id, last_value(price ignore nulls) over (order by id rows between unbounded preceding and current row) as known from items;
-- ntile
select id, ntile(4) over (order by id) as quarter from items;
-- window with exclude
select id, sum(id) over (order by id rows between 1 preceding and 1 following exclude current row) as neighbors from numbers;
-- window over an aggregate
select day, sum(quantity) as pieces, sum(sum(quantity)) over (order by day) as running from shop.orders group by day;
-- window with a filter
select id, count(*) filter (where quantity > 2) over (order by id) as many from shop.orders;
-- difference of times between rows
select id, ordered - lag(ordered) over (order by id) as gap from shop.orders;
-- windows ordered by floats with NaN
select id, row_number() over (order by f64, id) as n, rank() over (order by f32) as r from numbers;
-- windows ordered by text of several scripts
select id, row_number() over (order by name nulls first, id) as n from items;
-- distinct count over all rows
select id, count(distinct country) over () as countries from "shop/eu".customers;
-- share of a total
select id, quantity / sum(quantity) over () as share from shop.orders where quantity in (1, 2);
