// Expression parser: the text of a formula as a tree, with every error at its place (contract 38.1).
import * as acorn from 'acorn';
import { parseIsoDuration } from '../../model/iso-duration.ts';
import { dayMs } from '../../model/instant.ts';
import type { Json } from '../../model/json.ts';
import { type ExpressionFunction, functions, operators, type ValueType } from './functions.ts';

/** A formula that cannot be used. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
  /** Characters before the place, from 0. */
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.position = position;
  }
}

const expressionTextMax = 2_000;
const nodesMax = 200;
const depthMax = 30;
/** Of windows and of `last`. */
const windowMax = { text: 'P31D', ms: 31 * dayMs };

export type Value = number | boolean | string | null;

/** What a formula reads of stored data: arrays, objects and what is absent are null. */
export function valueOf(stored: Json | undefined): Value {
  return stored === undefined || typeof stored === 'object' ? null : stored;
}

/** Values of a data key, of the device itself or of another one, of the topic or of another one. */
export interface ValueSource {
  /** Service ID; null for the device that the expression is computed for. */
  readonly deviceId: string | null;
  /** Null for the topic that the expression is computed for. */
  readonly topic: string | null;
  readonly key: string;
}

const sensitivities = ['LOW', 'MEDIUM', 'HIGH'] as const;
export type Sensitivity = (typeof sensitivities)[number];

export type WindowFold = 'avg' | 'min' | 'max' | 'sum' | 'count' | 'stddev' | 'change' | 'rate';

/** What is read for a row. All but those of kind `key` depend on other samples or on the device. */
export type Input =
  | { readonly kind: 'key'; readonly source: ValueSource }
  | { readonly kind: 'last'; readonly source: ValueSource; readonly maxAgeMs: number }
  | { readonly kind: 'prev'; readonly source: ValueSource }
  | {
      readonly kind: 'window';
      readonly source: ValueSource;
      readonly fold: WindowFold;
      readonly windowMs: number;
      /** Unit of time of a rate. */
      readonly perMs: number;
    }
  | { readonly kind: 'field'; readonly name: string }
  /** Whether the value of the sample is outside of its expected range; only in rules. */
  | {
      readonly kind: 'unusual';
      readonly source: ValueSource;
      readonly sensitivity: Sensitivity;
    }
  | { readonly kind: 'timestamp' };

/** `compared` and `chosen` take any values, `called` numbers. */
export type Tree =
  | { readonly kind: 'literal'; readonly value: Value }
  /** The index in the inputs. */
  | { readonly kind: 'input'; readonly index: number }
  | {
      readonly kind: 'called';
      readonly function: ExpressionFunction;
      readonly operands: readonly Tree[];
    }
  | {
      readonly kind: 'compared';
      readonly operator: Comparison;
      readonly operands: readonly [Tree, Tree];
    }
  | { readonly kind: 'isNull'; readonly operand: Tree }
  /** The first operand that is not null. */
  | { readonly kind: 'coalesced'; readonly operands: readonly Tree[] }
  | { readonly kind: 'chosen'; readonly test: Tree; readonly operands: readonly [Tree, Tree] };

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';

export interface Expression {
  /** As written. */
  readonly text: string;
  readonly type: ValueType;
  readonly tree: Tree;
  /** Each once. */
  readonly inputs: readonly Input[];
  /** Where each input stands first: characters before it. */
  readonly positions: readonly number[];
  /** Whether the zone of the hours and days counts. */
  readonly isLocal: boolean;
}

interface Typed {
  readonly tree: Tree;
  readonly type: ValueType | 'null';
}

/** Parses and checks a formula. Throws ExpressionError, also for `unusual` outside of rules. */
export function parseExpression(text: string, isOfRule = false): Expression {
  if (text.length > expressionTextMax) {
    throw new ExpressionError(
      `The expression has ${text.length} characters; the maximum is ${expressionTextMax}`,
      expressionTextMax,
    );
  }
  const parser = new Parser(text, isOfRule);
  const { tree, type } = parser.read(syntaxOf(text), 1);
  const { inputs, positions, isLocal } = parser;
  return { text, type: type === 'null' ? 'any' : type, tree, inputs, positions, isLocal };
}

/**
 * The formula with other ids in place of those of the devices that it names. A text that is no
 * formula stays as it is.
 */
export function renamedFormula(text: string, rename: (id: string) => string): string {
  let renamed = '';
  let end = 0;
  const before: (string | undefined)[] = [];
  try {
    for (const token of acorn.tokenizer(text, { ecmaVersion: 2022 })) {
      const { value } = token as { value?: unknown };
      if (token.type === acorn.tokTypes.string && before.join('') === 'device(') {
        renamed += text.slice(end, token.start) + JSON.stringify(rename(String(value)));
        end = token.end;
      }
      before.push(text.slice(token.start, token.end));
      if (before.length > 2) before.shift();
    }
  } catch {
    return text;
  }
  return renamed + text.slice(end);
}

function syntaxOf(text: string): acorn.Node {
  try {
    const node = acorn.parseExpressionAt(text, 0, {
      ecmaVersion: 2022,
      sourceType: 'module',
      preserveParens: true,
      onComment: (_block, _text, start) => {
        throw new ExpressionError('Comments are not supported', start);
      },
    });
    const rest = text.slice(node.end).search(/\S/);
    if (rest >= 0)
      throw new ExpressionError('Unexpected text after the expression', node.end + rest);
    return node;
  } catch (error) {
    if (error instanceof ExpressionError) throw error;
    if (error instanceof RangeError) throw new ExpressionError(tooDeep, 0);
    const { message, pos } = error as Error & { pos?: number };
    if (pos === undefined) throw error;
    throw new ExpressionError(message.replace(/ \(\d+:\d+\)$/, ''), Math.min(pos, text.length));
  }
}

const tooDeep = `The expression is nested more than ${depthMax} levels deep`;
const comparisons: Readonly<Record<string, Comparison>> = {
  '==': '==',
  '===': '==',
  '!=': '!=',
  '!==': '!=',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};
const folds: Readonly<Record<string, WindowFold>> = {
  avgOver: 'avg',
  minOver: 'min',
  maxOver: 'max',
  sumOver: 'sum',
  countOver: 'count',
  stddevOver: 'stddev',
  change: 'change',
  rate: 'rate',
};
/** Node types with their own messages; the others are not supported as a whole. */
const unsupported: Readonly<Record<string, string>> = {
  AssignmentExpression: 'Assignments are not supported. Compare with ==',
  UpdateExpression: '++ and -- are not supported',
  TemplateLiteral: 'Template literals are not supported',
  ThisExpression: '`this` is not supported. Read a data key named "this" with key("this")',
  SequenceExpression: 'An expression has one value; remove the comma',
};

class Parser {
  readonly inputs: Input[] = [];
  readonly positions: number[] = [];
  isLocal = false;
  readonly #text: string;
  readonly #isOfRule: boolean;
  readonly #inputAt = new Map<string, number>();
  #nodes = 0;
  /** Start of the part that is being read. */
  #at = 0;

  constructor(text: string, isOfRule: boolean) {
    this.#text = text;
    this.#isOfRule = isOfRule;
  }

  read(node: acorn.Node, depth: number): Typed {
    this.#nodes++;
    if (this.#nodes > nodesMax)
      throw new ExpressionError(`The expression has more than ${nodesMax} parts`, node.start);
    this.#at = node.start;
    if (depth > depthMax) throw new ExpressionError(tooDeep, node.start);
    const expression = node as acorn.Expression;
    switch (expression.type) {
      case 'Literal':
        return this.#literal(expression);
      case 'ParenthesizedExpression':
        this.#nodes--;
        return this.read(expression.expression, depth + 1);
      case 'Identifier':
        if (expression.name === 'timestamp') return this.#input({ kind: 'timestamp' }, 'number');
        return this.#key(expression);
      case 'MemberExpression':
        return this.#key(expression);
      case 'UnaryExpression':
        return this.#unary(expression, depth);
      case 'BinaryExpression':
        return this.#binary(expression, depth);
      case 'LogicalExpression':
        return this.#logical(expression, depth);
      case 'ConditionalExpression':
        return this.#conditional(expression, depth);
      case 'CallExpression':
        return this.#call(expression, depth);
      default:
        throw new ExpressionError(
          (Object.hasOwn(unsupported, node.type) ? unsupported[node.type] : undefined) ??
            `${node.type} is not supported`,
          node.start,
        );
    }
  }

  #literal(node: acorn.Literal): Typed {
    const { value } = node;
    if (value === null && node.raw === 'null')
      return { tree: { kind: 'literal', value }, type: 'null' };
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new ExpressionError(`${this.#shown(node)} is too large for a number`, node.start);
    if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string')
      return { tree: { kind: 'literal', value }, type: typeof value as ValueType };
    throw new ExpressionError(`${this.#shown(node)} is not a supported value`, node.start);
  }

  #key(node: acorn.Node): Typed {
    return this.#own({ deviceId: null, topic: null, key: this.#path(node) });
  }

  /** Of the sample itself; values of other topics and devices are those last measured. */
  #own(source: ValueSource): Typed {
    if (source.deviceId === null && source.topic === null)
      return this.#input({ kind: 'key', source });
    return this.#input({ kind: 'last', source, maxAgeMs: dayMs });
  }

  /** `a.b[0]` is the path `a.b.0`. */
  #path(node: acorn.Node): string {
    const expression = node as acorn.Expression;
    if (expression.type === 'Identifier') return expression.name;
    if (expression.type !== 'MemberExpression' || expression.optional)
      throw new ExpressionError('Not a data key. Write key("name") for other names', node.start);
    const { object, property, computed } = expression;
    const base = this.#path(object);
    if (!computed && property.type === 'Identifier') return `${base}.${property.name}`;
    if (property.type === 'Literal') {
      const { value } = property;
      if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0)
        return `${base}.${value}`;
    }
    throw new ExpressionError(
      'Elements are selected by whole numbers. Write key("name") for other names',
      property.start,
    );
  }

  #unary(node: acorn.UnaryExpression, depth: number): Typed {
    const found = ownOf(operators, `${node.operator}1`);
    if (found === undefined)
      throw new ExpressionError(`Operator ${node.operator} is not supported`, node.start);
    return this.#called(found, [node.argument], depth);
  }

  #binary(node: acorn.BinaryExpression, depth: number): Typed {
    const { operator, left, right } = node;
    const found = ownOf(operators, `${operator}2`);
    if (found !== undefined) return this.#called(found, [left, right], depth);
    const comparison = ownOf(comparisons, operator);
    if (comparison === undefined)
      throw new ExpressionError(`Operator ${operator} is not supported`, node.start);
    const [a, b] = [this.read(left, depth + 1), this.read(right, depth + 1)];
    if (a.type === 'null' || b.type === 'null')
      throw new ExpressionError(
        'A comparison with null is always null. Use isNull(value)',
        (a.type === 'null' ? left : right).start,
      );
    if ((a.type === 'string' && isNumeric(b.type)) || (isNumeric(a.type) && b.type === 'string'))
      throw new ExpressionError('A string cannot be compared with a number', right.start);
    const operands = [a.tree, b.tree] as const;
    return { tree: { kind: 'compared', operator: comparison, operands }, type: 'boolean' };
  }

  #logical(node: acorn.LogicalExpression, depth: number): Typed {
    const { operator, left, right } = node;
    if (operator === '??') return this.#coalesced([left, right], depth);
    const found = ownOf(operators, `${operator}2`);
    if (found === undefined)
      throw new ExpressionError(`Operator ${operator} is not supported`, node.start);
    return this.#called(found, [left, right], depth);
  }

  #conditional(node: acorn.ConditionalExpression, depth: number): Typed {
    const test = this.#number(node.test, depth + 1);
    const [a, b] = [this.read(node.consequent, depth + 1), this.read(node.alternate, depth + 1)];
    return {
      tree: { kind: 'chosen', test, operands: [a.tree, b.tree] },
      type: commonType([a.type, b.type]),
    };
  }

  #coalesced(nodes: readonly acorn.Node[], depth: number): Typed {
    const read = nodes.map((node, i) => this.read(node, i === 0 ? depth : depth + 1));
    return {
      tree: { kind: 'coalesced', operands: read.map(({ tree }) => tree) },
      type: commonType(read.map(({ type }) => type)),
    };
  }

  /** The first operand of a chain such as `a + b + c` is not a level deeper. */
  #called(found: ExpressionFunction, nodes: readonly acorn.Node[], depth: number): Typed {
    const operands = nodes.map((node, i) =>
      this.#number(node, i === 0 && isOperation(node) ? depth : depth + 1),
    );
    return { tree: { kind: 'called', function: found, operands }, type: found.result };
  }

  #number(node: acorn.Node, depth: number): Tree {
    const { tree, type } = this.read(node, depth);
    if (type === 'string')
      throw new ExpressionError(
        `${this.#shown(node)} is a string; a number is required here`,
        node.start,
      );
    return tree;
  }

  #call(node: acorn.CallExpression, depth: number): Typed {
    const { callee } = node;
    if (callee.type !== 'Identifier' || node.optional)
      throw new ExpressionError('Only the named functions can be called', callee.start);
    const { name } = callee;
    const spread = node.arguments.find(({ type }) => type === 'SpreadElement');
    if (spread !== undefined) throw new ExpressionError('... is not supported', spread.start);
    if (Object.hasOwn(special, name)) return this.#special(node, name, depth);
    const found = ownOf(functions, name);
    if (found === undefined) throw new ExpressionError(`Unknown function ${name}`, callee.start);
    this.#checkArity(node, name, found.arity);
    const operands = node.arguments.map((argument) => this.#number(argument, depth + 1));
    if (found.local === true) this.isLocal = true;
    if (found.local === true && operands.length === 0)
      operands.push(this.#input({ kind: 'timestamp' }).tree);
    return { tree: { kind: 'called', function: found, operands }, type: found.result };
  }

  /** Functions whose arguments are not only numbers. */
  #special(node: acorn.CallExpression, name: string, depth: number): Typed {
    this.#checkArity(node, name, special[name] ?? [0, 0]);
    const [first, second, third] = node.arguments;
    if (first === undefined) throw new ExpressionError(`${name} needs an argument`, node.start);
    switch (name) {
      case 'coalesce':
        return this.#coalesced(node.arguments, depth + 1);
      case 'isNull':
        return {
          tree: { kind: 'isNull', operand: this.read(first, depth + 1).tree },
          type: 'boolean',
        };
      case 'key':
      case 'device':
        return this.#own(this.#source(node));
      case 'field':
        return this.#input({ kind: 'field', name: this.#string(first, 'the name of a field') });
      case 'unusual':
        return this.#unusual(node, first, second);
      case 'prev':
        return this.#input({ kind: 'prev', source: this.#source(first) });
      case 'last': {
        const maxAgeMs = second === undefined ? dayMs : this.#duration(second);
        return this.#input({ kind: 'last', source: this.#source(first), maxAgeMs });
      }
      default: {
        const fold = folds[name] ?? 'avg';
        if (second === undefined) throw new ExpressionError(`${name} needs a window`, node.start);
        const windowMs = this.#duration(second);
        const perMs = third === undefined ? 1_000 : this.#duration(third);
        const source = this.#source(first);
        return this.#input({ kind: 'window', source, fold, windowMs, perMs }, 'number');
      }
    }
  }

  #unusual(node: acorn.Node, key: acorn.Node, sensitivity: acorn.Node | undefined): Typed {
    if (!this.#isOfRule)
      throw new ExpressionError('unusual can be used in conditions of rules only', node.start);
    const source = this.#source(key);
    if (source.deviceId !== null || source.topic !== null)
      throw new ExpressionError('unusual needs a data key of the sample', key.start);
    const named =
      sensitivity === undefined ? 'MEDIUM' : this.#string(sensitivity, 'LOW, MEDIUM, or HIGH');
    const found = sensitivities.find((one) => one === named);
    if (found === undefined)
      throw new ExpressionError(`${named} must be LOW, MEDIUM, or HIGH`, sensitivity?.start ?? 0);
    return this.#input({ kind: 'unusual', source, sensitivity: found }, 'boolean');
  }

  #source(node: acorn.Node): ValueSource {
    const expression = node as acorn.Expression;
    if (expression.type === 'ParenthesizedExpression') return this.#source(expression.expression);
    if (expression.type === 'Literal')
      return { deviceId: null, topic: null, key: this.#string(node, 'a data key') };
    if (expression.type !== 'CallExpression')
      return { deviceId: null, topic: null, key: this.#path(node) };
    const { callee, arguments: given } = expression;
    const name = callee.type === 'Identifier' ? callee.name : '';
    if (name !== 'key' && name !== 'device')
      throw new ExpressionError(
        'A data key is required here, such as temperature, key("pm2.5"), or device("id", "temperature")',
        node.start,
      );
    this.#checkArity(expression, name, special[name] ?? [0, 0]);
    const texts = given.map((argument) => this.#string(argument, 'a string'));
    const [deviceId, key, topic] = name === 'device' ? texts : [null, ...texts];
    return { deviceId: deviceId ?? null, key: key ?? '', topic: topic ?? null };
  }

  #string(node: acorn.Node, what: string): string {
    const { type, value } = node as acorn.Literal;
    if (type === 'Literal' && typeof value === 'string' && value !== '' && value.length <= 500)
      return value;
    throw new ExpressionError(`${this.#shown(node)} must be ${what} in quotes`, node.start);
  }

  #duration(node: acorn.Node): number {
    const text = this.#string(node, 'a duration such as "PT15M"');
    const parsed = parseIsoDuration(text);
    if ('reason' in parsed)
      throw new ExpressionError(`Invalid duration ${text}: ${parsed.reason}`, node.start);
    const { months, days, ms } = parsed.duration;
    const total = days * dayMs + ms;
    if (months > 0 || total <= 0 || total > windowMax.ms)
      throw new ExpressionError(
        `Invalid duration ${text}. Use PT0.001S to ${windowMax.text}, without months and years`,
        node.start,
      );
    return total;
  }

  #checkArity(node: acorn.CallExpression, name: string, [least, most]: readonly [number, number]) {
    const { length } = node.arguments;
    if (length >= least && length <= most) return;
    const wanted =
      least === most ? `${least}` : most >= nodesMax ? `at least ${least}` : `${least} to ${most}`;
    throw new ExpressionError(
      `${name} needs ${wanted} ${wanted === '1' ? 'argument' : 'arguments'}, got ${length}`,
      node.start,
    );
  }

  #input(input: Input, type: ValueType = 'any'): Typed {
    const text = JSON.stringify(input);
    let index = this.#inputAt.get(text);
    if (index === undefined) {
      index = this.inputs.push(input) - 1;
      this.positions.push(this.#at);
      this.#inputAt.set(text, index);
    }
    return { tree: { kind: 'input', index }, type };
  }

  #shown({ start, end }: acorn.Node): string {
    return this.#text.slice(start, Math.min(end, start + 40));
  }
}

/** Functions that take data keys, durations, or any values, with their numbers of arguments. */
const special: Readonly<Record<string, readonly [number, number]>> = {
  coalesce: [1, nodesMax],
  isNull: [1, 1],
  key: [1, 2],
  device: [2, 3],
  field: [1, 1],
  prev: [1, 1],
  unusual: [1, 2],
  last: [1, 2],
  change: [2, 2],
  rate: [2, 3],
  avgOver: [2, 2],
  minOver: [2, 2],
  maxOver: [2, 2],
  sumOver: [2, 2],
  countOver: [2, 2],
  stddevOver: [2, 2],
};

/** Every function that an expression can call. */
export const functionNames: readonly string[] = [
  ...Object.keys(functions),
  ...Object.keys(special),
].toSorted();

/** The data keys that an expression reads, each once. */
export function keysOf({ inputs }: Expression): string[] {
  return [...new Set(inputs.flatMap((input) => ('source' in input ? [input.source.key] : [])))];
}

function isOperation({ type }: acorn.Node): boolean {
  return type === 'BinaryExpression' || type === 'LogicalExpression';
}

function isNumeric(type: Typed['type']): boolean {
  return type === 'number' || type === 'boolean';
}

function commonType(types: readonly Typed['type'][]): Typed['type'] {
  const known = new Set(types.filter((type) => type !== 'null'));
  const [first = 'null'] = known;
  return known.size <= 1 ? first : 'any';
}

function ownOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
