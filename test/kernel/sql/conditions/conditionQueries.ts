import type { Parameter } from '#sql/messages.ts';
import type { Random } from '../../../contract/model/random.ts';
import {
  columnsNamed,
  type Condition,
  type NamedColumn,
  nullCondition,
  parametersOf,
  randomCondition,
  smaller,
  textOf,
} from './randomConditions.ts';

/** A query with random conditions, over tables whose names begin with `a` and `b`. */
export type ConditionQuery = {
  conditions: readonly Condition[];
  /** Returns the query, with `n` in the names of its tables. Its one column `r` names the rows that it found. */
  write: (conditions: readonly string[], n: number) => string;
};

/** Columns of the tables of joins. Some names are in both. */
export const joinColumns = {
  a: ['i8', 'f64', 't', 'yes', 'd'],
  b: ['i8', 'us', 'dec', 'i64', 'f32', 't'],
} as const;

export const queryText = ({ conditions, write }: ConditionQuery, n = 0): string => write(conditions.map(textOf), n);
export const queryParameters = ({ conditions }: ConditionQuery): Parameter[] =>
  conditions.flatMap((condition) => [...parametersOf(condition)]);

/** Yields the query with a smaller condition, the smallest first. */
export function* smallerQueries(query: ConditionQuery): Generator<ConditionQuery> {
  const none: Condition = { kind: 'leaf', text: 'true', parameters: [], simpler: [] };
  for (const [index, condition] of query.conditions.entries())
    for (const other of [none, ...smaller(condition)])
      if (textOf(other) !== textOf(condition)) yield { ...query, conditions: query.conditions.with(index, other) };
}

/** Returns a query of one table with a condition. */
export const tableQuery = (random: Random, columns: readonly NamedColumn[]): ConditionQuery => ({
  conditions: [randomCondition(random, columns)],
  write: ([where], n) => `select id::VARCHAR as r from a${n} where ${where}`,
});

type Shape = { columns: readonly (readonly NamedColumn[])[]; write: ConditionQuery['write'] };

const pair = "coalesce(a.id::VARCHAR, '-') || '|' || coalesce(b.id::VARCHAR, '-') as r";
const three = `${pair.replace(' as r', '')} || '|' || coalesce(c.id::VARCHAR, '-') as r`;
const ofA = columnsNamed(joinColumns.a, 'a.');
const ofB = columnsNamed(joinColumns.b, 'b.');
const ofBoth = [...ofA, ...ofB];
// Names without a table, as far as only one of the tables has them.
const unqualified = [...columnsNamed(joinColumns.a.slice(1, 2)), ...columnsNamed(joinColumns.b.slice(1, 5))];
const all = [...ofBoth, ...unqualified];
const kinds = ['join', 'left join', 'right join', 'full join'];

const shapes: readonly Shape[] = [
  ...kinds.flatMap((kind): Shape[] => [
    { columns: [all], write: ([c], n) => `select ${pair} from a${n} a ${kind} b${n} b on a.k = b.k where ${c}` },
    {
      columns: [all, all],
      write: ([on, c], n) => `select ${pair} from a${n} a ${kind} b${n} b on a.k = b.k and (${on}) where ${c}`,
    },
    { columns: [all], write: ([on], n) => `select ${pair} from a${n} a ${kind} b${n} b on a.k = b.k and (${on})` },
    { columns: [all], write: ([c], n) => `select ${pair} from a${n} a ${kind} b${n} b using (k) where ${c}` },
    {
      columns: [ofBoth, all],
      write: ([on, c], n) =>
        `select ${three} from a${n} a ${kind} b${n} b on a.k = b.k and (${on}) left join a${n} c on b.k = c.id where ${c}`,
    },
    {
      columns: [ofA, ofB],
      write: ([one, other], n) =>
        `select ${pair} from (select * from a${n} a where ${one}) a ${kind} b${n} b on a.k = b.k where ${other}`,
    },
    {
      columns: [ofA, columnsNamed(joinColumns.a, 'b.')],
      write: ([on, c], n) => `select ${pair} from a${n} a ${kind} a${n} b on a.k = b.id and (${on}) where ${c}`,
    },
  ]),
  { columns: [all], write: ([c], n) => `select ${pair} from a${n} a, b${n} b where a.k = b.k and (${c})` },
  { columns: [all], write: ([c], n) => `select ${pair} from a${n} a cross join b${n} b where a.id < 9 and (${c})` },
  { columns: [all], write: ([c], n) => `select ${pair} from a${n} a join b${n} b on ${c} where a.id < 9` },
  {
    columns: [ofA],
    write: ([c], n) => `select a.id::VARCHAR as r from a${n} a semi join b${n} b using (k) where ${c}`,
  },
  {
    columns: [ofA],
    write: ([c], n) => `select a.id::VARCHAR as r from a${n} a anti join b${n} b using (k) where ${c}`,
  },
  {
    columns: [ofA, ofBoth],
    write: ([c, inner], n) =>
      `select a.id::VARCHAR as r from a${n} a where (${c}) or exists (select 1 from b${n} b where b.k = a.k and ${inner})`,
  },
  {
    columns: [ofA, columnsNamed(joinColumns.b)],
    write: ([c, inner], n) =>
      `select a.id::VARCHAR as r from a${n} a where ${c} and a.k not in (select k from b${n} where k is not null and ${inner})`,
  },
  {
    columns: [ofA, columnsNamed(joinColumns.b)],
    write: ([c, inner], n) =>
      `select a.id::VARCHAR as r from a${n} a where a.k > (select min(k) from b${n} where ${inner}) or ${c}`,
  },
  {
    columns: [columnsNamed(joinColumns.a), ofA],
    write: ([c, d], n) =>
      `(with x as (select * from a${n} where ${c}) select ${pair} from x a join x b on a.k = b.k where ${d})`,
  },
  {
    columns: [columnsNamed(joinColumns.a), columnsNamed(joinColumns.a)],
    write: ([c, d], n) =>
      `(select id::VARCHAR as r from a${n} where ${c} except all select id::VARCHAR from a${n} where ${d})`,
  },
  {
    columns: [columnsNamed(joinColumns.a), columnsNamed(joinColumns.a)],
    write: ([c, d], n) =>
      `select coalesce(k, -1) || ': ' || count(*) || ', ' || coalesce(min(id), -1) as r from a${n} where ${c} group by k having bool_or(${d})`,
  },
];

/** Returns a query of several tables with conditions. */
export function joinQuery(random: Random): ConditionQuery {
  const { columns, write } = random.pick(shapes);
  const conditions = columns.map((each) =>
    random.chance(0.25) ? nullCondition(random, each) : randomCondition(random, each, 1),
  );
  return { conditions, write };
}
