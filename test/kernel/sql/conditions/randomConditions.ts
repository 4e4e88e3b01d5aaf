import { typeText } from '#shared/arrow/arrowTypes.ts';
import type { Parameter } from '#sql/messages.ts';
import type { Random } from '../../../contract/model/random.ts';
import { type ColumnKind, columnKinds, type Operand, pickOperand } from './columnKinds.ts';

/** A condition of SQL. A leaf has a text; others have parts. */
export type Condition =
  | { kind: 'leaf'; text: string; parameters: readonly Parameter[]; simpler: readonly Condition[] }
  | { kind: 'and' | 'or' | 'not' | 'is true' | 'is false' | 'is null'; parts: readonly Condition[] };

/** A column by the name that a query has for it. */
export type NamedColumn = { name: string; kind: ColumnKind };

export const columnsNamed = (names: readonly string[], prefix = ''): NamedColumn[] =>
  names.map((name) => ({ name: `${prefix}${name}`, kind: columnKinds[name]! }));

export function textOf(condition: Condition): string {
  if (condition.kind === 'leaf') return condition.text;
  const parts = condition.parts.map((part) => `(${textOf(part)})`);
  if (condition.kind === 'and' || condition.kind === 'or') return parts.join(` ${condition.kind} `);
  return condition.kind === 'not' ? `not ${parts[0]}` : `${parts[0]} ${condition.kind}`;
}

/** Returns the parameters of a condition in the order of its text. */
export const parametersOf = (condition: Condition): readonly Parameter[] =>
  condition.kind === 'leaf' ? condition.parameters : condition.parts.flatMap(parametersOf);

/** Yields smaller conditions that may have the same fault, the smallest ones first. */
export function* smaller(condition: Condition): Generator<Condition> {
  if (condition.kind === 'leaf') return yield* condition.simpler;
  const { kind, parts } = condition;
  yield* parts;
  for (const index of parts.keys()) {
    if (parts.length > 2) yield { kind, parts: parts.filter((_, other) => other !== index) };
    for (const part of smaller(parts[index]!)) yield { kind, parts: parts.with(index, part) };
  }
}

const leaf = (text: string, operands: readonly Operand[] = [], simpler: readonly Condition[] = []): Condition => ({
  kind: 'leaf',
  text,
  parameters: operands.flatMap(({ parameters }) => parameters),
  simpler,
});

const operators = ['=', '<>', '<', '<=', '>', '>=', '!=', '=='];

/** Returns a random condition on these columns. */
export function randomCondition(random: Random, columns: readonly NamedColumn[], depth = 3): Condition {
  if (depth === 0 || random.chance(0.35)) return randomLeaf(random, columns);
  const part = (): Condition => randomCondition(random, columns, depth - 1);
  if (random.chance(0.15)) return { kind: 'not', parts: [part()] };
  if (random.chance(0.06)) return { kind: random.pick(['is true', 'is false', 'is null']), parts: [part()] };
  const count = random.chance(0.75) ? 2 : 3;
  return { kind: random.chance(0.5) ? 'and' : 'or', parts: Array.from({ length: count }, part) };
}

/** Returns a condition on nulls, for which outer joins make rows. */
export const nullCondition = (random: Random, columns: readonly NamedColumn[]): Condition =>
  leaf(`${random.pick(columns).name} is ${random.pick(['null', 'not null'])}`);

function randomLeaf(random: Random, columns: readonly NamedColumn[]): Condition {
  const column = random.pick(columns);
  const { name, kind } = column;
  const operand = (): Operand => pickOperand(random, kind);
  const roll = random.next();
  if (roll < 0.5) return comparison(random, name, operand());
  if (roll < 0.6) return nullCondition(random, [column]);
  if (roll < 0.72) {
    const [lower, upper] = [operand(), operand()];
    const word = random.chance(0.2) ? 'not between' : 'between';
    return leaf(`${name} ${word} ${lower.text} and ${upper.text}`, [lower, upper]);
  }
  if (roll < 0.86)
    return inList(
      `${name} ${random.chance(0.2) ? 'not in' : 'in'}`,
      Array.from({ length: 1 + random.below(4) }, operand),
    );
  if (roll < 0.9) {
    const value = operand();
    return leaf(`${name} is ${random.pick(['distinct', 'not distinct'])} from ${value.text}`, [value]);
  }
  return otherLeaf(random, column, columns);
}

function comparison(random: Random, name: string, value: Operand): Condition {
  const operator = random.pick(operators);
  return random.chance(0.2)
    ? leaf(`${value.text} ${operator} ${name}`, [value])
    : leaf(`${name} ${operator} ${value.text}`, [value]);
}

const inList = (start: string, values: readonly Operand[]): Condition =>
  leaf(
    `${start} (${values.map(({ text }) => text).join(', ')})`,
    values,
    values.length > 1
      ? values.map((_, index) =>
          inList(
            start,
            values.filter((__, other) => other !== index),
          ),
        )
      : [],
  );

/** Conditions that no table applies itself, which must not change what is around them. */
function otherLeaf(random: Random, { name, kind }: NamedColumn, columns: readonly NamedColumn[]): Condition {
  const same = columns.filter((other) => typeText(other.kind.type) === typeText(kind.type));
  const value = pickOperand(random, kind);
  return random.pick<() => Condition>([
    () => leaf(`${name} ${random.pick(operators)} ${random.pick(same).name}`),
    () => leaf(`${name}::VARCHAR ${random.pick(operators)} 'a'`),
    () => leaf(`length(${name}::VARCHAR) ${random.pick(operators)} ${random.below(6)}`),
    () => leaf(`${name}::VARCHAR like '%${random.pick(['a', '1', '0', '_'])}%'`),
    () => leaf(`coalesce(${name}, ${value.text}) is null`, [value]),
    () => leaf(`case when ${name} = ${value.text} then true else false end`, [value]),
    () => leaf(`hash(${name}) % 2 = 0`),
    () => leaf(random.pick(['true', 'false', '1 = 1', 'null::BOOLEAN'])),
    () => leaf(kind === columnKinds['yes'] ? name : `${name} is not null`),
  ])();
}
