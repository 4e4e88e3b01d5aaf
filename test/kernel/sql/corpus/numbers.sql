-- all numbers as they are
select * from numbers;
-- numbers as text
select id, f32::text as f32, f64::text as f64, d38::text as d38, u64::text as u64, f16::text as f16 from numbers;
-- division and remainder
select 7 / 2 as a, 7 // 2 as b, -7 // 2 as c, -7 % 3 as d, 7.5 % 2 as e, 1 / 0 as f, 0.0 / 0 as g;
-- arithmetic of decimals
select id, d4 + d9 as a, d4 * d9 as b, d9 - 1.5 as c, d9 / 2 as d, round(d9, 1) as e, -d4 as f from numbers;
-- arithmetic of floats
select id, f64 + 1 as a, f64 * 0 as b, -f64 as c, abs(f32) as d, f64 / 3 as e from numbers;
-- comparisons of NaN and zeros
select id, f64 = 0 as a, f64 > 1e308 as b, f64 = 'NaN'::double as c, f32 < 0 as d, f64 is distinct from f32 as e, isnan(f64) as f, isinf(f32) as g, signbit(f64) as h from numbers;
-- conditions on floats
select id from numbers where f64 >= 0 and f32 <> 0.5;
-- conditions on NaN
select id from numbers where f64 > 5 or f32 = 'NaN'::float;
-- conditions on infinities
select id from numbers where f64 < -1e300 or f32 >= 'Infinity'::float;
-- conditions on negative zero
select id, f64 from numbers where f64 = -0.0 or f32 in (0, 0.5);
-- conditions on large integers
select id from numbers where u64 > 9223372036854775807 or i64 = -9223372036854775808 or i64 = 9007199254740993;
-- conditions on decimals
select id from numbers where d4 >= 1.5 or d9 = 2.5 or d38 = 0.5;
-- integers of mixed signs
select id, i64 < u64 as a, i8 + u8 as b, u64::hugeint + i64 as c, least(i32, u32) as d, greatest(u16, i16) as e from numbers;
-- rounding
select round(2.5) as a, round(-2.5) as b, round(2.5::double) as c, floor(-1.5) as d, ceil(1.2) as e, trunc(-1.7::double) as f, round_even(2.5, 0) as g, round(1234.5, -2) as h;
-- casts that round and casts that fail softly
select 2.5::integer as a, 3.5::double::integer as b, try_cast('x' as integer) as c, try_cast(300 as tinyint) as d, '1e3'::double as e, '0x1F'::integer as f, true::integer as g;
-- integers of 128 bits
select 170141183460469231731687303715884105727 // 10 as a, (1::hugeint << 100) // 7 as b, 99999999999999999999 as c, -99999999999999999999::hugeint as d;
-- unsigned integers of 128 bits
select 5::uhugeint as a, 18446744073709551616::uhugeint as b;
-- bits
select i32 & 7 as a, i32 | 8 as b, xor(i32, 3) as c, ~i8 as d, u8 << 1 as e, u8 >> 1 as f, bit_count(i64) as g from numbers where u8 < 128 or u8 is null;
-- functions of numbers
select sqrt(16) as a, power(2, 10) as b, exp(0) as c, ln(1) as d, log10(100) as e, sign(-3) as f, gcd(12, 18) as g, lcm(4, 6) as h, factorial(20) as i, pi() > 3 as j, even(3) as k;
-- null in arithmetic and comparisons
select null + 1 as a, null = null as b, null is null as c, coalesce(null, null, 3) as d, nullif(3, 3) as e, ifnull(null, 'x') as f, null and false as g, null or true as h;
-- a literal null column
select id, null as nothing, null::text as no_text from numbers;
-- booleans
select available, count(*) as n, not available as other, available is true as a, available is not false as b from items group by available;
-- greatest and least with NaN
select id, greatest(f64, 1) as a, least(f32, 0) as b from numbers;
-- numbers with separators and exponents
select 1_000_000 as c, 1e-3 as d, .5 as e, 5. as f;
-- half floats
select id, f16, f16 + f32 as s from numbers;
-- random rows by a hash that is always the same
select id from items where hash(id) % 3 = 0;
