// Comparison: conditions chained by AND and OR, of which AND binds tighter (contract 13, 35).
import type {
  ComparisonOperator,
  RuleCondition,
  RuleDataSource,
  RuleOperand,
  ValueType,
} from '../model/rule.ts';
import { type Comparable, comparedAs, converted } from '../model/rule-value.ts';
import type { Reading } from './rule-reading.ts';

type Compare = (
  first: Exclude<Comparable, undefined>,
  second: Exclude<Comparable, undefined>,
) => boolean;

/** One row each; N is the opposite. Numbers by size, texts by their characters' codes, false before true. */
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

/** Whether a block holds; conditions without a value are added to `missing`, by their place among the block's conditions. */
export type BlockTest = (reading: Reading, missing: number[]) => boolean;

type Read = (reading: Reading) => Comparable;

/** Compiles the conditions of a block. A comparison with a missing value is false, also one of the negated kinds. */
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
    // Every condition is looked at, so that each missing value is told.
    let any = false;
    let all = true;
    for (let i = 0; i < tests.length; i++) {
      const holds = tests[i]!(reading);
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
  const own = sources[place]?.dataKey;
  const key = operand.dataKey === null || operand.dataKey === '' ? own : operand.dataKey;
  if (key === undefined) return () => undefined;
  return (reading) => converted(reading.value(place, key), type);
}
