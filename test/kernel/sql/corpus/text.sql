-- all items as they are
select * from items;
-- lengths of text
select id, length(name) as a, strlen(name) as b, length_grapheme(name) as c, unicode(name) as d from items;
-- upper and lower case
select id, upper(name) as a, lower(name) as b, strip_accents(name) as c, nfc_normalize(name) = name as d from items;
-- parts of text
select id, substring(name, 2, 3) as a, left(name, 2) as b, right(name, 2) as c, name[1] as d, name[-2:] as e, split_part(name, ' ', 2) as f from items;
-- like, ilike and escapes
select id from items where name like '%a%' or name ilike 'MUG' or name like '%\%%' escape '\' or name like '_';
-- similar and regular expressions
select id, name similar to '[a-z]+' as a, regexp_matches(name, 'a.') as b, regexp_replace(name, '[aeiou]', '*', 'g') as c, regexp_extract(name, '(\w)(\w)', 2) as d, regexp_extract_all(name, '\w') as e from items;
-- comparisons of text
select id from items where name >= 'a' and name < 'm' or name = 'größe' or name in ('🐘', '');
-- texts with quotes, backslashes and line breaks
select id from items where name in ('it''s', 'z\', E'two\nlines', '"quoted"', E'tab\there', 'a%b_c');
-- two forms of a character
select id, name = 'Ångström' as a, nfc_normalize(name) = 'Ångström' as b from items where name like '%ngström';
-- concatenation with nulls
select id, name || '!' as a, concat(name, '!') as b, concat_ws('-', name, category, id) as c from items;
-- positions and replacements
select id, position('a' in name) as a, replace(name, 'a', 'A') as b, translate(name, 'abc', 'xyz') as c, contains(name, 'ö') as d, starts_with(name, 'l') as e from items;
-- padding and trimming
select id, lpad(name, 5, '.') as a, rpad(name, 5, 'ö') as b, trim(name) as c, ltrim(name, 'lm') as d, repeat(name, 2) as e, reverse(name) as f from items;
-- split and joined text
select id, string_split(name, ' ') as a, array_to_string(string_split(name, ''), '|') as b, unnest(string_split('a,b', ',')) as c from items where id < 4;
-- format and printf
select id, format('{} has {:>5}', name, id) as a, printf('%05d %s', id, name) as b, format('{:,}', 1234567) as c from items;
-- binary values
select id, photo, octet_length(photo) as n, hex(photo) as h, base64(photo) as b, encode(name) as e, photo = '\x00\xFF\x10'::blob as q from items;
-- fixed binary values
select id, code, hex(code) as h, code > '\x01'::blob as g from items;
-- digests
select md5(name) as a, sha256(name) as b, hash(name) = hash(name || '') as c from items;
-- text to numbers and back
select id, try_cast(name as integer) as a, id::text || 'x' as b, chr(65 + id) as c, ascii(name) as d, bin(id) as e, to_hex(id) as f from items;
-- conditions with functions and conditions on columns
select id from items where length(name) > 3 and category = 'light' or upper(name) = 'MUG' and category is not null;
-- empty text is not null
select id, name = '' as a, name is null as b, coalesce(nullif(name, ''), 'none') as c from items;
-- an enumeration
select 'b'::enum('a', 'b') as e, 'a'::enum('a', 'b') < 'b'::enum('a', 'b') as l;
-- uuid and bits
select '550e8400-e29b-41d4-a716-446655440000'::uuid as u, '101'::bit as b, bit_count('101'::bit) as n;
-- json
select '{"a": [1, 2, {"b": null}]}'::json as j, json_extract('{"a": [1, 2]}', '$.a[1]') as e, '{"a": "x"}'::json ->> 'a' as t, to_json(maker) as m from items;
-- case expressions
select id, case category when 'light' then 1 when 'kitchen' then 2 else null end as a, case when price > 10 then 'dear' when price > 0 then 'cheap' end as b, if(available, 'yes', 'no') as c from items;
-- columns whose names are words, numbers and quoted
select id as "select", name as "1", price as "a ""b""", 1 as "größe" from items;
-- columns of one name
select i.id, n.id, i.id from items i join numbers n using (id);
-- star with exclude, replace and rename
select * exclude (photo, code, vector) replace (upper(name) as name) from items;
-- columns by a pattern
select columns('^(i|u)8') from numbers;
-- describe
describe select id, name, price, tags, maker from items;
