-- all times as they are
select * from moments;
-- times as text
select id, s::text as s, ms::text as ms, us::text as us, ns::text as ns, msz::text as msz, usz::text as usz, d32::text as d32, t64us::text as t64us from moments;
-- parts of times
select id, year(us) as y, month(us) as m, day(us) as d, hour(usz) as h, minute(msz) as mi, second(s) as sec, dayofweek(d32) as w, week(d32) as k, quarter(d32) as q from moments;
-- extract and date_part of several parts
select id, extract(epoch from us) as e, date_part('isodow', d32) as i, date_part(['year', 'month'], us) as p from moments;
-- beginnings of hours, weeks and months
select id, date_trunc('hour', usz) as h, date_trunc('week', us) as w, date_trunc('month', d32) as m, date_trunc('century', s) as c from moments;
-- intervals added
select id, us + interval 1 day as a, d32 + interval 1 month as b, usz - interval '90 minutes' as c, d32 + 3 as d from moments where id <> 6;
-- a month after the last day of a month
select date '2024-01-31' + interval 1 month as a, date '2024-02-29' + interval 1 year as b, date '2023-03-31' - interval 1 month as c;
-- differences of times and dates
select id, us - timestamp '2024-01-01' as a, d32 - date '2024-01-01' as b, usz - timestamptz '2024-01-01 00:00:00+00' as c, age(us, timestamp '2020-02-29') as d from moments where id <> 6;
-- date_diff and date_sub
select id, date_diff('month', us, timestamp '2024-03-01') as a, date_sub('month', us, timestamp '2024-03-01') as b, datediff('day', d32, date '2000-01-01') as c from moments;
-- intervals of columns
select id, ds, dus, ds + interval 1 month as a, dus * 2 as b from moments;
-- durations in nanoseconds are integers
select id, dns, dns + 1 as more from moments;
-- intervals as they are written
select interval '1 year 2 months 3 days 04:05:06.000007' as a, interval (5) hours as b, to_days(3) as c, -interval 2 weeks as d;
-- the same instant in two zones
select id, usz at time zone 'Europe/Berlin' as berlin, us at time zone 'America/New_York' as newyork, timezone('Asia/Kolkata', msz) as kolkata from moments;
-- conversion at a change to summer time
select timestamp '2024-03-31 02:30:00' at time zone 'Europe/Berlin' as a, timestamptz '2024-10-27 00:30:00+00' at time zone 'Europe/Berlin' as b;
-- days of a zone
select (ordered at time zone 'Europe/Berlin')::date as berlin, count(*) as n from shop.orders group by all;
-- zoned column of milliseconds, plain and computed
select id, placed, placed + interval 1 second as later, date_trunc('day', placed) as day from shop.orders;
-- orders by hour
select date_trunc('hour', ordered) as hour, count(*) as n from shop.orders group by 1 order by 1;
-- conditions on times
select id from shop.orders where ordered >= timestamptz '2024-02-29 00:00:00+00' and ordered < timestamptz '2024-03-01 00:00:00+01' and day <> date '2024-03-01';
-- conditions on times as text
select id from shop.orders where ordered > '2024-02-29 12:00:00' and placed < '2024-03-01 00:00:00+02' and paid = '2024-02-29 22:00:00';
-- between dates
select id, day from shop.orders where day between '2024-02-29' and date '2024-03-01';
-- a date compared with a time
select id from moments where d32 < timestamp '1970-01-01 00:00:01' and us is not null;
-- formatted times
select id, strftime(us, '%Y-%m-%d %H:%M:%S.%f') as a, strftime(d32, '%A, %-d %B %Y') as b, strftime('%j', usz) as c from moments;
-- parsed times
select strptime('29.02.2024 13:05', '%d.%m.%Y %H:%M') as a, try_strptime('x', '%Y') as b, '2024-02-29'::date as c, '12:34:56.789'::time as d, '2024-02-29 00:00:00+05:30'::timestamptz as e;
-- epochs
select id, epoch_ms(ms) as a, epoch_us(us) as b, epoch_ns(ns) as c, epoch(usz) as d from moments;
-- times made of numbers
select make_date(2024, 2, 29) as a, make_time(1, 2, 3.5) as b, make_timestamp(2024, 2, 29, 1, 2, 3.25) as c, to_timestamp(1709157600) as d, epoch_ms(1) as e;
-- infinite times
select 'infinity'::date as a, '-infinity'::timestamp as b, 'infinity'::timestamptz as c, isfinite('infinity'::date) as d;
-- series of dates
select * from generate_series(date '2024-02-27', date '2024-03-02', interval 1 day) s(d);
-- range of times joined
select r.h, count(o.id) as n from range(timestamptz '2024-02-28 22:00:00+00', timestamptz '2024-02-29 04:00:00+00', interval 1 hour) r(h) left join shop.orders o on date_trunc('hour', o.ordered) = r.h group by all;
-- buckets of times
select time_bucket(interval '6 hours', ordered) as b, count(*) as n, min(ordered) as first_at from shop.orders group by 1;
-- times of the day
select id, t32s, t32ms, t64us, t64us + interval 2 hours as later, t64ns from moments;
-- least and greatest of times
select min(s) as a, max(ms) as b, min(us) as c, max(ns) as d, min(usz) as e, max(d64) as f, min(t64us) as g, max(dus) as h from moments;
-- casts between times
select id, us::date as a, us::time as b, d32::timestamp as c, ns::timestamp as d, ms::timestamp as e, usz::timestamp as f, us::timestamptz as g from moments;
-- times in cases and coalesce
select id, coalesce(us, timestamp '2000-01-01') as a, case when d32 is null then d64 else d32 end as b, greatest(s::timestamp, ms::timestamp) as c from moments;
-- last days and names
select id, last_day(d32) as a, dayname(d32) as b, monthname(us) as c, yearweek(d32) as d from moments;
