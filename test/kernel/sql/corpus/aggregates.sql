-- counts of rows, values and different values
select count(*) as all_rows, count(item) as items, count(distinct item) as different, count(distinct note) as notes from shop.orders;
-- sums keep integers exact
select sum(i8) as i8, sum(i16) as i16, sum(i32) as i32, sum(u8) as u8, sum(u32) as u32 from numbers;
-- sums beyond 64 bits
select sum(i64) as signed, sum(u64) as unsigned, sum(u64::hugeint) as huge from numbers;
-- sums of decimals
select sum(d4) as d4, sum(d9) as d9, sum(d18) as d18, sum(amount) as amount from numbers left join shop.orders on false;
-- averages
select avg(i32) as i32, avg(d4) as d4, avg(quantity) as quantity from numbers, (select avg(quantity) as quantity from shop.orders);
-- least and greatest of each type
select min(i64) as a, max(i64) as b, min(u64) as c, max(u64) as d, min(f32) as e, max(f32) as f, min(f64) as g, max(f64) as h, min(d38) as i, max(d38) as j from numbers;
-- least and greatest of text and times
select min(name) as a, max(name) as b, min(added) as c, max(added) as d, min(photo) as e, max(photo) as f from items;
-- aggregates of no rows
select count(*) as n, sum(id) as s, min(name) as least, avg(score) as mean, list(id) as ids from items where id < 0;
-- grouped aggregates of no rows
select category, count(*) as n from items where id < 0 group by category;
-- group with a null group
select category, count(*) as n, sum(price) as total, max(stock) as stock from items group by category;
-- group by a float with NaN and both zeros
select f64, count(*) as n from numbers group by f64;
-- group by an expression
select id % 3 as rest, count(*) as n, min(name) as least from items group by id % 3;
-- group by all
select country, vip, count(*) as n from "shop/eu".customers group by all;
-- group by a struct, a list and a date
select maker, tags, added, count(*) as n from items group by all;
-- group by booleans and dictionaries
select source, quantity > 2 as many, count(*) as n from shop.orders group by all;
-- having
select customer, sum(quantity) as pieces from shop.orders group by customer having sum(quantity) > 10 and count(*) > 1;
-- filter of an aggregate
select count(*) filter (where quantity > 2) as many, sum(amount) filter (where note is not null) as noted from shop.orders;
-- distinct aggregates
select sum(distinct quantity) as pieces, count(distinct (item, customer)) as pairs, list(distinct source order by source) as sources from shop.orders;
-- rollup
select country, vip, count(*) as n from "shop/eu".customers group by rollup (country, vip);
-- cube with grouping
select country, vip, grouping(country) as g, grouping_id(country, vip) as h, count(*) as n from "shop/eu".customers group by cube (country, vip);
-- grouping sets
select category, available, sum(price) as total from items group by grouping sets ((category), (available), (category, available), ());
-- boolean aggregates
select bool_and(available) as every, bool_or(available) as some, count_if(available) as n from items;
-- bit aggregates
select bit_and(u8) as a, bit_or(u8) as b, bit_xor(i32) as c from numbers;
-- first and last in an order
select first(name order by id) as a, last(name order by id) as b, any_value(name order by id desc) as c from items;
-- arg_min and arg_max
select arg_min(name, id) as a, arg_max(name, id) as b, max_by(id, price) as c, arg_max(id, score, 3) as d from items where score <> 5;
-- lists of values in an order
select category, list(id order by id desc) as ids, array_agg(price order by id) as prices from items group by category;
-- texts joined
select category, string_agg(name, ', ' order by id) as names from items group by category;
-- median, mode and quantiles
select median(id) as a, mode(quantity order by quantity) as b, quantile_disc(id, 0.25) as c, quantile_cont(id, [0.25, 0.5]) as d from shop.orders;
-- standard deviation of integers
select stddev_pop(quantity) as a, var_samp(quantity) as b from shop.orders where quantity between 0 and 12;
-- histograms and maps
select histogram(quantity) as h, map_from_entries(list((id, quantity) order by id)) as m from shop.orders where id < 1005;
-- count of a distinct float
select count(distinct f32) as n, count(distinct f64) as m from numbers;
-- approximate count of few values
select approx_count_distinct(day) as days from shop.orders;
-- product and sums of doubles that are exact
select product(quantity) as p, sum(discount) filter (where not isnan(discount)) as s, fsum(0.5) as f from shop.orders where id < 1003;
-- count of a table without columns
select count(*) as n from shop.orders;
-- nested aggregates
select max(n) as most, avg(n) as mean from (select item, count(*) as n from shop.orders group by item);
