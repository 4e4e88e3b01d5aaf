import type { Condition, ColumnFilter, Comparison, Operator, ValueChoice } from './columnFilter.ts';
import { type FilterKind, filterType, type FilterColumn } from './columnType.ts';
import { literalText } from './literals.ts';

const labels: Readonly<Record<Operator, string>> = {
  equals: 'is',
  differs: 'is not',
  atLeast: 'is at least',
  more: 'is more than',
  atMost: 'is at most',
  less: 'is less than',
  between: 'is between',
  contains: 'contains',
  lacks: 'does not contain',
  startsWith: 'starts with',
  endsWith: 'ends with',
  isTrue: 'is true',
  isFalse: 'is false',
  isNaN: 'is NaN',
  isNumber: 'is not NaN',
  hasNaN: 'has a NaN',
  isZero: 'is all zero',
  isNull: 'is null',
  isSet: 'is not null',
};

const timeLabels: Partial<Record<Operator, string>> = {
  atLeast: 'is from',
  more: 'is after',
  atMost: 'is up to',
  less: 'is before',
};

/** Returns the name of an operator in a list. */
export const operatorLabel = (operator: Operator, kind: FilterKind): string =>
  (isTime(kind) ? timeLabels[operator] : undefined) ?? labels[operator];

const isTime = (kind: FilterKind): boolean => ['date', 'time', 'timestamp'].includes(kind);

const signs: Partial<Record<Operator, string>> = {
  equals: '=',
  differs: '≠',
  atLeast: '≥',
  more: '>',
  atMost: '≤',
  less: '<',
};

/** The number of values of a choice that a chip shows. */
const maxShown = 2;

/** Returns a filter of a column in few words, as a chip shows it: `price ≥ 10`. */
export function filterLabel(column: FilterColumn, { match, conditions }: ColumnFilter): string {
  const texts = conditions.map((condition) => conditionLabel(column, condition));
  return `${column.name} ${texts.join(match === 'all' ? ' and ' : ' or ')}`;
}

const conditionLabel = (column: FilterColumn, condition: Condition): string =>
  condition.kind === 'values' ? choiceLabel(column, condition) : comparisonLabel(column, condition);

function comparisonLabel(column: FilterColumn, { operator, values }: Comparison): string {
  const { kind } = filterType(column);
  const shown = values.map((value) => (kind === 'text' ? `"${value}"` : value));
  if (operator === 'between') return shown.join(' – ');
  const sign = kind === 'text' ? undefined : signs[operator];
  return [sign ?? labels[operator], ...shown].join(' ');
}

function choiceLabel(column: FilterColumn, { isExcluded, literals, hasNull, hasNaN }: ValueChoice): string {
  const type = filterType(column);
  const values = [
    ...literals.map((literal) => literalText(type, literal) ?? literal),
    ...(hasNaN ? ['NaN'] : []),
    ...(hasNull ? ['null'] : []),
  ];
  const isLong = values.length > maxShown || values.some((value) => value.includes('arrow_cast('));
  const shown = isLong ? `${values.length} ${values.length === 1 ? 'value' : 'values'}` : values.join(', ');
  return `is ${isExcluded ? 'not ' : ''}${shown}`;
}
