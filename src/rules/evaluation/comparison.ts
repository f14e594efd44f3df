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
import { Formulas, formulaValue, isNeeded } from './operands.ts';
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
  formulas: Formulas = new Formulas(),
): BlockTest {
  const ordered = [...conditions].sort((a, b) => a.order - b.order);
  const tests = ordered.map((condition) => compileCondition(condition, sources, formulas));
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
  formulas: Formulas,
): (reading: Reading) => boolean | undefined {
  const compare = operators[operator];
  const type = comparedAs(operandFirst, operandSecond, sources);
  const first = compileOperand(operandFirst, type, sources, formulas);
  const second = compileOperand(operandSecond, type, sources, formulas);
  return (reading) => {
    const a = first(reading);
    if (a === undefined) return undefined;
    const b = second(reading);
    if (b === undefined) return undefined;
    return compare(a, b);
  };
}

/** An operand without a key reads the key of its data source. */
function keyOf({ dataKey, dataSourceId }: RuleOperand, sources: readonly RuleDataSource[]) {
  return dataKey || sources.find(({ id }) => id === dataSourceId)?.dataKey;
}

function compileOperand(
  operand: RuleOperand,
  type: ValueType,
  sources: readonly RuleDataSource[],
  formulas: Formulas,
): Read {
  if (operand.type === 'CONSTANT') {
    const value = converted(operand.value, type);
    return () => value;
  }
  const place = sources.findIndex(({ id }) => id === operand.dataSourceId);
  if (operand.type === 'EXPRESSION') {
    const formula = formulas.of(operand.expression ?? '', place);
    return ({ samples }) => {
      const sample = samples[place];
      return sample && converted(formulaValue(formula, sample), type);
    };
  }
  const key = keyOf(operand, sources);
  if (key === undefined) return () => undefined;
  return (reading) => converted(reading.value(place, key), type);
}

// Sayings: what the conditions of a block compared, for people.

const relations: Readonly<Record<ComparisonOperator, readonly [met: string, unmet: string]>> = {
  EQ: ['is', 'is not'],
  NEQ: ['is not', 'is'],
  GT: ['is above', 'is not above'],
  NGT: ['is not above', 'is above'],
  LT: ['is below', 'is not below'],
  NLT: ['is not below', 'is below'],
  GTE: ['is at least', 'is not at least'],
  NGTE: ['is not at least', 'is at least'],
  LTE: ['is at most', 'is not at most'],
  NLTE: ['is not at most', 'is at most'],
};
/** Of a block, with the operands of most rules. */
const sayingsMax = 5;
const textMax = 200;

/**
 * The first conditions of the block, each as `22.4 is not above 25`. `formulas` are those that the
 * rule was compiled with.
 */
export function sayingsOf(
  conditions: readonly RuleCondition[],
  sources: readonly RuleDataSource[],
  formulas: Formulas,
  reading: Reading,
): string[] {
  return [...conditions]
    .sort((a, b) => a.order - b.order)
    .slice(0, sayingsMax)
    .map(({ operandFirst, operator, operandSecond }) => {
      const type = comparedAs(operandFirst, operandSecond, sources);
      const [a, b] = [operandFirst, operandSecond].map((operand) => {
        const place = sources.findIndex(({ id }) => id === operand.dataSourceId);
        const sample = reading.samples[place];
        const formula = operand.expression && formulas.of(operand.expression, place);
        if (formula && sample && isNeeded({ formula, sample })) return undefined;
        return compileOperand(operand, type, sources, formulas)(reading);
      });
      // A yes or no says little without the question.
      const named = operandFirst.expression ?? keyOf(operandFirst, sources);
      const asked = type === 'BOOLEAN' && operandFirst.type !== 'CONSTANT' && named;
      if (asked) return `${cut(asked)} is ${shown(a)}`;
      if (a === undefined || b === undefined) return `${shown(a)} compared with ${shown(b)}`;
      const [met, unmet] = relations[operator];
      return `${shown(a)} ${operators[operator](a, b) ? met : unmet} ${shown(b)}`;
    });
}

function shown(value: Comparable): string {
  return value === undefined ? 'no value' : cut(JSON.stringify(value));
}

function cut(text: string): string {
  return text.length > textMax ? `${text.slice(0, textMax)}...` : text;
}
