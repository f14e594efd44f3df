// Values as a rule compares them: converted by the declared type, or missing (contract 35, rules).
import type { Json } from './json.ts';
import type { RuleDataSource, RuleOperand, ValueType } from './rule.ts';

/** A value that can be compared; undefined is missing. */
export type Comparable = number | boolean | string | undefined;

/** Decimal numbers as people write them: no hexadecimal, no empty text, no infinity. */
const numberPattern = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Undefined for null, lists, objects and what cannot be read as the type. */
export function converted(value: Json | undefined, type: ValueType): Comparable {
  if (type === 'NUMERICAL') return numberOf(value);
  return type === 'BOOLEAN' ? booleanOf(value) : textOf(value);
}

function numberOf(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  const number = numberPattern.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}

function booleanOf(value: Json | undefined): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0;
  if (typeof value !== 'string') return undefined;
  const text = value.trim().toLowerCase();
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : undefined;
}

function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/**
 * The type in which two operands are compared: that of the first data source operand, declared by itself or by its source, else
 * that of a constant.
 */
export function comparedAs(
  first: RuleOperand,
  second: RuleOperand,
  sources: readonly RuleDataSource[],
): ValueType {
  const declared = (operand: RuleOperand): ValueType | undefined =>
    operand.valueType ?? sources.find(({ id }) => id === operand.dataSourceId)?.valueType;
  const ordered =
    first.type === 'CONSTANT' && second.type === 'DATA_SOURCE' ? [second, first] : [first, second];
  for (const operand of ordered) {
    const type = declared(operand);
    if (type !== undefined) return type;
  }
  return 'STRING';
}
