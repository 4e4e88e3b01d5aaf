import { quotedName } from '#shared/sqlTokens.ts';

// Names and words in the SQL of notebooks, whose engine is DuckDB: how names are written, and the words that completion
// offers, which are those that queries of tables commonly have. All words are in lower case.

const words = (text: string): readonly string[] => text.split(/\s*[\n;]\s*/).filter((word) => word !== '');

/** Keywords that a statement may start with. */
export const startKeywords: readonly string[] = [
  'select',
  'with',
  'values',
  'from',
  'describe',
  'summarize',
  'explain',
  'create table',
  'insert into',
];

/** Keywords within a query; several words that belong together are one entry. */
export const sqlKeywords = words(`
    all; and; any; as; asc; asof join; between; by name; case; cast; cross join; current_date; current_timestamp; desc
    distinct; distinct on; else; end; except; exclude; exists; false; filter; following; from; full join; group by
    group by all; having; ilike; in; inner join; intersect; interval; is; is distinct from; join; lateral; left join
    like; limit; natural join; not; null; nulls first; nulls last; offset; on; or; order by; order by all; over
    partition by; preceding; qualify; range; recursive; replace; right join; rows; select; semi join; then; true
    try_cast; unbounded; union; union all; union by name; unnest; using; using sample; values; when; where; window; with
    within group; current row`);

/** Functions with their arguments, such as `round(x, digits)`. */
export const sqlFunctions = words(`
    abs(x); any_value(x); approx_count_distinct(x); approx_quantile(x, share); arg_max(x, by); arg_min(x, by)
    array_cosine_distance(vector, other); array_cosine_similarity(vector, other); array_distance(vector, other)
    array_inner_product(vector, other); array_to_string(list, separator); avg(x); bool_and(x); bool_or(x); ceil(x)
    coalesce(x, y, …); concat(x, …); concat_ws(separator, x, …); contains(text, part); corr(x, y); count(x); count_if(x)
    cume_dist(); date_diff(part, start, end); date_part(part, time); date_trunc(part, time); dayname(time); dense_rank()
    exp(x); first(x); first_value(x); floor(x); format(text, x, …); greatest(x, y, …); hash(x); histogram(x)
    if(condition, x, y); ifnull(x, y); instr(text, part); isfinite(x); isnan(x); json_extract(json, path)
    json_extract_string(json, path); json_keys(json); lag(x, offset, default); last(x); last_value(x)
    lead(x, offset, default); least(x, y, …); left(text, count); len(x); length(x); levenshtein(text, other); list(x)
    list_aggregate(list, name); list_contains(list, x); list_distinct(list); list_filter(list, function)
    list_sort(list); list_sum(list); list_transform(list, function); ln(x); log10(x); log2(x); lower(text)
    lpad(text, count, fill); ltrim(text); make_date(year, month, day); map_keys(map); map_values(map); max(x)
    max_by(x, by); md5(text); median(x); min(x); min_by(x, by); mode(x); monthname(time); now(); nth_value(x, n)
    ntile(n); nullif(x, y); octet_length(blob); percent_rank(); pi(); pow(x, y); prefix(text, start); printf(format, x, …)
    product(x); quantile_cont(x, share); quantile_disc(x, share); random(); rank(); regexp_extract(text, pattern)
    regexp_matches(text, pattern); regexp_replace(text, pattern, with); replace(text, from, to); reverse(text)
    right(text, count); round(x, digits); row_number(); rpad(text, count, fill); rtrim(text); sign(x)
    split_part(text, separator, n); sqrt(x); starts_with(text, start); stddev(x); strftime(time, format)
    string_agg(x, separator); string_split(text, separator); strptime(text, format); struct_extract(struct, name)
    substr(text, start, length); suffix(text, end); sum(x); time_bucket(width, time); trim(text); trunc(x); typeof(x)
    unnest(list); upper(text); var_samp(x); year(time)`);

/** Words that are names only in quotes: the categories "reserved" and "type_function" of duckdb_keywords(). */
export const reservedWords: ReadonlySet<string> = new Set(
  words(`
    all; analyse; analyze; and; anti; any; array; as; asc; asof; asymmetric; at; authorization; binary; both; by; case
    cast; check; collate; collation; column; columns; concurrently; constraint; create; cross; default; deferrable; desc
    describe; distinct; do; else; end; except; false; fetch; for; foreign; freeze; from; full; generated; glob; group
    having; ilike; in; initially; inner; intersect; into; is; isnull; join; lambda; lateral; leading; left; like; limit
    map; natural; not; notnull; null; offset; on; only; or; order; outer; overlaps; pivot; pivot_longer; pivot_wider
    placing; positional; primary; qualify; references; returning; right; select; semi; show; similar; some; struct
    summarize; symmetric; table; tablesample; then; to; trailing; true; try_cast; union; unique; unpack; unpivot; using
    variadic; verbose; when; where; window; with`),
);

/** Writes a name for a query: in double quotes unless it is a plain word. */
export const writeSqlName = (name: string): string =>
  /^[a-z_]\w*$/i.test(name) && !reservedWords.has(name.toLowerCase()) ? name : quotedName(name);

/** Writes a table for a query. Its namespaces are one part of the name, with slashes: `"shop/eu".orders`. */
export function writeSqlTable(path: readonly string[]): string {
  const name = writeSqlName(path.at(-1) ?? '');
  const namespaces = path.slice(0, -1).join('/');
  return namespaces === '' ? name : `${writeSqlName(namespaces)}.${name}`;
}
