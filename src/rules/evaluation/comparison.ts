// Comparison: conditions joined by AND and OR, of which AND has precedence (contract 13, 35).
import {
  type Comparable,
  comparedAs,
  type ComparisonOperator,
  converted,
  type RuleCondition,
  type RuleDataSource,
  type RuleOperand,
  type ValueType,
} from '../../model/rule.ts';
import type { Reading } from './rule-reading.ts';

type Compare = (
  first: Exclude<Comparable, undefined>,
  second: Exclude<Comparable, undefined>,
) => boolean;

/** N negates. Strings are compared by their character codes; false is less than true. */
const operators: Readonly<Record<ComparisonOperator, Compare>> = {
  EQ: (a, b) => a === b,
  NEQ: (a, b) => a !== b,
  GT: (a, b) => a > b,
  NGT: (a, b) => !(a > b),
  LT: (a, b) => a < b,
  NLT: (a, b) => !(a < b),
  GTE: (a, b) => a >= b,
  NGTE: (a, b) => !(a >= b),
  LTE: (a, b) => a <= b,
  NLTE: (a, b) => !(a <= b),
};

/** Returns whether a block is true. Adds the indexes of conditions without a value to `missing`. */
export type BlockTest = (reading: Reading, missing: number[]) => boolean;

type Read = (reading: Reading) => Comparable;

/**
 * Compiles the conditions of a block. A comparison with a missing value is false, also a negated
 * one.
 */
export function compileBlock(
  conditions: readonly RuleCondition[],
  sources: readonly RuleDataSource[],
): BlockTest {
  const ordered = [...conditions].sort((a, b) => a.order - b.order);
  const tests = ordered.map((condition) => compileCondition(condition, sources));
  const chains = ordered.map(({ chainOperator }) => chainOperator);
  const [only] = tests;
  if (tests.length === 1 && only !== undefined) {
    return (reading, missing) => {
      const holds = only(reading);
      if (holds === undefined) missing.push(0);
      return holds === true;
    };
  }
  return (reading, missing) => {
    // Every condition is evaluated, so that each missing value is reported.
    let any = false;
    let all = true;
    let i = -1;
    for (const test of tests) {
      i += 1;
      const holds = test(reading);
      if (holds === undefined) missing.push(i);
      all = all && holds === true;
      if (chains[i] === 'OR' || i === tests.length - 1) {
        any = any || all;
        all = true;
      }
    }
    return any;
  };
}

/** Undefined when a value is missing. */
function compileCondition(
  { operandFirst, operator, operandSecond }: RuleCondition,
  sources: readonly RuleDataSource[],
): (reading: Reading) => boolean | undefined {
  const compare = operators[operator];
  const type = comparedAs(operandFirst, operandSecond, sources);
  const first = compileOperand(operandFirst, type, sources);
  const second = compileOperand(operandSecond, type, sources);
  return (reading) => {
    const a = first(reading);
    if (a === undefined) return undefined;
    const b = second(reading);
    if (b === undefined) return undefined;
    return compare(a, b);
  };
}

function compileOperand(
  operand: RuleOperand,
  type: ValueType,
  sources: readonly RuleDataSource[],
): Read {
  if (operand.type === 'CONSTANT') {
    const value = converted(operand.value, type);
    return () => value;
  }
  const place = sources.findIndex(({ id }) => id === operand.dataSourceId);
  // An operand without a key reads the key of its data source.
  const key = operand.dataKey || sources[place]?.dataKey;
  if (key === undefined) return () => undefined;
  return (reading) => converted(reading.value(place, key), type);
}
