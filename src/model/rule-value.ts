// Rule values: converted to the declared type for comparison, or missing (contract 35).
import type { Json } from './json.ts';
import type { RuleDataSource, RuleOperand, ValueType } from './rule.ts';

/** A value that can be compared; undefined is missing. */
export type Comparable = number | boolean | string | undefined;

/** Decimal numbers only: no hexadecimal, no empty string, no infinity. */
const numberPattern = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Undefined for null, lists, objects and what cannot be read as the type. */
export function converted(value: Json | undefined, type: ValueType): Comparable {
  if (type === 'NUMERICAL') return numberOf(value);
  if (type === 'BOOLEAN') return booleanOf(value);
  return textOf(value);
}

function numberOf(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return finite(value);
  if (typeof value === 'boolean') return Number(value);
  if (typeof value !== 'string' || !numberPattern.test(value.trim())) return undefined;
  return finite(Number(value.trim()));
}

function finite(value: number): number | undefined {
  if (Number.isFinite(value)) return value;
  return undefined;
}

function booleanOf(value: Json | undefined): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0;
  if (typeof value !== 'string') return undefined;
  const text = value.trim().toLowerCase();
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  return undefined;
}

function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return undefined;
}

/**
 * The type in which two operands are compared: that of the first data source operand, declared by
 * itself or by its source, else that of a constant.
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
