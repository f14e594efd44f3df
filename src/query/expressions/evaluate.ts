// Evaluation of expressions: row by row as closures, and in columns of many rows.
import type { EpochMs } from '../../model/instant.ts';
import type { Comparison, Tree, Value } from './parse.ts';

/** The offset of the zone at a moment, in milliseconds. */
export type OffsetAt = (at: EpochMs) => number;

/** Times that a date can have, less a day for the offset. */
const momentMax = 8.64e15 - 86_400_000;

// Rows.

/** The value for the values of the inputs, in their order. */
export type RowFunction = (inputs: readonly Value[]) => Value;

export function rowFunction({ tree }: { readonly tree: Tree }, offsetAt: OffsetAt): RowFunction {
  switch (tree.kind) {
    case 'literal': {
      const { value } = tree;
      return () => value;
    }
    case 'input': {
      const { index } = tree;
      return (inputs) => inputs[index] ?? null;
    }
    case 'called':
      return calledRow(tree, offsetAt);
    case 'compared': {
      const [a, b] = tree.operands.map((operand) => rowFunction({ tree: operand }, offsetAt));
      const { operator } = tree;
      return (inputs) => compared(operator, a?.(inputs) ?? null, b?.(inputs) ?? null);
    }
    case 'isNull': {
      const operand = rowFunction({ tree: tree.operand }, offsetAt);
      return (inputs) => operand(inputs) === null;
    }
    case 'coalesced': {
      const operands = tree.operands.map((operand) => rowFunction({ tree: operand }, offsetAt));
      return (inputs) => {
        for (const operand of operands) {
          const value = operand(inputs);
          if (value !== null) return value;
        }
        return null;
      };
    }
    case 'chosen': {
      const test = rowFunction({ tree: tree.test }, offsetAt);
      const [a, b] = tree.operands.map((operand) => rowFunction({ tree: operand }, offsetAt));
      return (inputs) => {
        const chosen = numberOf(test(inputs));
        if (Number.isNaN(chosen)) return null;
        return (chosen === 0 ? b?.(inputs) : a?.(inputs)) ?? null;
      };
    }
  }
}

function calledRow(
  { function: called, operands }: Extract<Tree, { kind: 'called' }>,
  offsetAt: OffsetAt,
): RowFunction {
  const applied = appliedOf(called, offsetAt);
  const { apply } = called;
  const isGuarded = called.takesNull !== true && called.local !== true;
  const isBoolean = called.result === 'boolean';
  const [a, b, ...more] = operands.map((operand) => rowFunction({ tree: operand }, offsetAt));
  const finished = (value: number) => {
    if (!Number.isFinite(value)) return null;
    return isBoolean ? value !== 0 : value;
  };
  // One and two operands without a list for each row.
  if (a !== undefined && b === undefined && isGuarded)
    return (inputs) => {
      const x = numberOf(a(inputs));
      return Number.isNaN(x) ? null : finished(apply(x));
    };
  if (a !== undefined && b !== undefined && called.takesNull === true)
    return (inputs) => finished(apply(numberOf(a(inputs)), numberOf(b(inputs))));
  if (a !== undefined && b !== undefined && more.length === 0 && isGuarded)
    return (inputs) => {
      const [x, y] = [numberOf(a(inputs)), numberOf(b(inputs))];
      return Number.isNaN(x) || Number.isNaN(y) ? null : finished(apply(x, y));
    };
  const all = [a, b, ...more].filter((operand) => operand !== undefined);
  return (inputs) => finished(applied(...all.map((operand) => numberOf(operand(inputs)))));
}

type Called = Extract<Tree, { kind: 'called' }>['function'];

/** Takes NaN for null; the answer is NaN for null, or not finite. */
function appliedOf(
  { apply, local, takesNull }: Called,
  offsetAt: OffsetAt,
): (...values: number[]) => number {
  if (takesNull === true) return apply;
  if (local === true)
    return (at) => (Math.abs(at) <= momentMax ? apply(at + offsetAt(at)) : Number.NaN);
  return (...values) => {
    for (const value of values) if (Number.isNaN(value)) return Number.NaN;
    return apply(...values);
  };
}

/** NaN for null and strings. */
function numberOf(value: Value): number {
  if (typeof value === 'number') return value;
  return typeof value === 'boolean' ? Number(value) : Number.NaN;
}

/** Strings are compared by code units; a string is never equal to a number and has no order with it. */
function compared(operator: Comparison, a: Value, b: Value): boolean | null {
  if (a === null || b === null) return null;
  if (typeof a === 'string' && typeof b === 'string') return ordered(operator, a, b);
  if (typeof a !== 'string' && typeof b !== 'string')
    return ordered(operator, Number(a), Number(b));
  if (operator === '==') return false;
  return operator === '!=' ? true : null;
}

function ordered<T extends number | string>(operator: Comparison, a: T, b: T): boolean {
  switch (operator) {
    case '==':
      return a === b;
    case '!=':
      return a !== b;
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    case '>=':
      return a >= b;
  }
}

// Columns.

type VectorKind = 'number' | 'boolean' | 'string';

/** Values of consecutive rows. */
export interface Vector {
  /** `mixed` values have their kinds in `kinds`. */
  readonly kind: VectorKind | 'mixed';
  /** NaN for null. Numbers, booleans as 0 and 1, or indexes into `texts`. */
  readonly values: Float64Array;
  readonly texts: readonly string[];
  /** Indexes into `vectorKinds`; only of `mixed` ones. */
  readonly kinds?: Uint8Array;
}

const vectorKinds: readonly VectorKind[] = ['number', 'boolean', 'string'];

/**
 * The vector for the vectors of the inputs, all of the same length. It is valid until the next
 * call.
 */
type ColumnFunction = (inputs: readonly Vector[], length: number) => Vector;

export function columnFunction(
  { tree }: { readonly tree: Tree },
  offsetAt: OffsetAt,
): ColumnFunction {
  switch (tree.kind) {
    case 'literal':
      return literalColumn(tree.value);
    case 'input': {
      const { index } = tree;
      return (inputs, length) => inputs[index] ?? nulls(length);
    }
    case 'called':
      return calledColumn(tree, offsetAt);
    case 'compared':
      return comparedColumn(tree, offsetAt);
    case 'isNull': {
      const operand = columnFunction({ tree: tree.operand }, offsetAt);
      const output = new Output();
      return (inputs, length) => {
        const { values } = operand(inputs, length);
        const out = output.of(length);
        for (let i = 0; i < length; i++) out[i] = Number.isNaN(values[i]!) ? 1 : 0;
        return { kind: 'boolean', values: out, texts: [] };
      };
    }
    case 'coalesced': {
      const operands = tree.operands.map((operand) => columnFunction({ tree: operand }, offsetAt));
      return (inputs, length) => {
        const vectors = operands.map((operand) => operand(inputs, length));
        const from = new Uint8Array(length);
        for (let i = 0; i < length; i++) {
          let chosen = 0;
          while (chosen < vectors.length - 1 && Number.isNaN(vectors[chosen]!.values[i]!)) chosen++;
          from[i] = chosen;
        }
        return picked(vectors, from, length);
      };
    }
    case 'chosen': {
      const test = columnFunction({ tree: tree.test }, offsetAt);
      const operands = tree.operands.map((operand) => columnFunction({ tree: operand }, offsetAt));
      return (inputs, length) => {
        const tested = numbersOf(test(inputs, length), length);
        const from = new Uint8Array(length);
        for (let i = 0; i < length; i++) {
          const value = tested[i]!;
          from[i] = value === 0 ? 1 : Number.isNaN(value) ? 2 : 0;
        }
        const vectors = operands.map((operand) => operand(inputs, length));
        return picked([...vectors, nulls(length)], from, length);
      };
    }
  }
}

/** Memory that a node uses for every batch. */
class Output {
  #values = new Float64Array(0);

  of(length: number): Float64Array {
    if (this.#values.length < length) this.#values = new Float64Array(length);
    return this.#values.length === length ? this.#values : this.#values.subarray(0, length);
  }
}

function literalColumn(value: Value): ColumnFunction {
  const kind = value === null ? 'number' : (typeof value as VectorKind);
  const texts = typeof value === 'string' ? [value] : [];
  const number = typeof value === 'string' ? 0 : numberOf(value);
  let values = new Float64Array(0);
  return (_inputs, length) => {
    if (values.length < length) values = new Float64Array(length).fill(number);
    return { kind, values: values.subarray(0, length), texts };
  };
}

export function nulls(length: number): Vector {
  return { kind: 'number', values: new Float64Array(length).fill(Number.NaN), texts: [] };
}

function calledColumn(
  { function: called, operands }: Extract<Tree, { kind: 'called' }>,
  offsetAt: OffsetAt,
): ColumnFunction {
  const columns = operands.map((operand) => columnFunction({ tree: operand }, offsetAt));
  const output = new Output();
  const kind = called.result;
  const loop = loopOf(called, operands.length, offsetAt);
  return (inputs, length) => {
    const numbers = columns.map((column) => numbersOf(column(inputs, length), length));
    const values = output.of(length);
    loop(values, numbers, length);
    return { kind, values, texts: [] };
  };
}

type Loop = (out: Float64Array, numbers: readonly Float64Array[], length: number) => void;

/**
 * The four usual operations have loops of their own, which take 3 ns a row; a call for each row takes
 * several times as long (`npm run bench -- expressions`).
 */
const loops: Readonly<
  Record<string, (out: Float64Array, a: Float64Array, b: Float64Array, length: number) => void>
> = {
  '+2': (out, a, b, length) => {
    for (let i = 0; i < length; i++) out[i] = a[i]! + b[i]!;
  },
  '-2': (out, a, b, length) => {
    for (let i = 0; i < length; i++) out[i] = a[i]! - b[i]!;
  },
  '*2': (out, a, b, length) => {
    for (let i = 0; i < length; i++) out[i] = a[i]! * b[i]!;
  },
  '/2': (out, a, b, length) => {
    for (let i = 0; i < length; i++) out[i] = a[i]! / b[i]!;
  },
};

function loopOf(called: Called, arity: number, offsetAt: OffsetAt): Loop {
  const fast = Object.hasOwn(loops, called.name) ? loops[called.name] : undefined;
  if (fast !== undefined)
    return (out, [a, b], length) => {
      if (a === undefined || b === undefined) throw new Error('An operator lacks an operand');
      fast(out, a, b, length);
      finite(out, length);
    };
  const guarded = called.takesNull !== true;
  const { apply } = called;
  if (arity === 1 && called.local !== true)
    return (out, [a], length) => {
      for (let i = 0; i < length; i++) {
        const x = a![i]!;
        out[i] = guarded && Number.isNaN(x) ? x : apply(x);
      }
      finite(out, length);
    };
  if (arity === 2)
    return (out, [a, b], length) => {
      for (let i = 0; i < length; i++) {
        const [x, y] = [a![i]!, b![i]!];
        out[i] =
          guarded && Number.isNaN(x + y) && (Number.isNaN(x) || Number.isNaN(y))
            ? Number.NaN
            : apply(x, y);
      }
      finite(out, length);
    };
  const applied = appliedOf(called, offsetAt);
  return (out, numbers, length) => {
    const row = new Array<number>(numbers.length);
    for (let i = 0; i < length; i++) {
      for (const [at, values] of numbers.entries()) row[at] = values[i]!;
      out[i] = applied(...row);
    }
    finite(out, length);
  };
}

function finite(out: Float64Array, length: number): void {
  for (let i = 0; i < length; i++) {
    const value = out[i]!;
    if (value - value !== 0) out[i] = Number.NaN;
  }
}

function comparedColumn(
  { operator, operands }: Extract<Tree, { kind: 'compared' }>,
  offsetAt: OffsetAt,
): ColumnFunction {
  const [left, right] = operands;
  const [a, b] = [
    columnFunction({ tree: left }, offsetAt),
    columnFunction({ tree: right }, offsetAt),
  ];
  const output = new Output();
  return (inputs, length) => {
    const [x, y] = [a(inputs, length), b(inputs, length)];
    const values = output.of(length);
    if (isNumeric(x) && isNumeric(y)) compareNumbers(operator, values, x.values, y.values, length);
    else
      for (let i = 0; i < length; i++)
        values[i] = numberOf(compared(operator, vectorValue(x, i), vectorValue(y, i)));
    return { kind: 'boolean', values, texts: [] };
  };
}

function compareNumbers(
  operator: Comparison,
  out: Float64Array,
  a: Float64Array,
  b: Float64Array,
  length: number,
): void {
  for (let i = 0; i < length; i++) {
    const [x, y] = [a[i]!, b[i]!];
    if (Number.isNaN(x) || Number.isNaN(y)) out[i] = Number.NaN;
    else out[i] = ordered(operator, x, y) ? 1 : 0;
  }
}

function isNumeric({ kind }: Vector): boolean {
  return kind === 'number' || kind === 'boolean';
}

/** The numbers of a vector; NaN for strings. */
function numbersOf(vector: Vector, length: number): Float64Array {
  if (isNumeric(vector)) return vector.values;
  if (vector.kind === 'string') return nulls(length).values;
  return vector.values.map((value, i) => (vector.kinds?.[i] === 2 ? Number.NaN : value));
}

export function vectorValue({ kind, values, texts, kinds }: Vector, row: number): Value {
  const value = values[row]!;
  if (Number.isNaN(value)) return null;
  const kindHere = kind === 'mixed' ? vectorKinds[kinds?.[row] ?? 0] : kind;
  if (kindHere === 'string') return texts[value] ?? null;
  return kindHere === 'boolean' ? value !== 0 : value;
}

/** Writes the values of rows, each at most once; the others are null. */
export class VectorWriter {
  readonly #values: Float64Array;
  readonly #kinds: Uint8Array;
  readonly #texts: string[] = [];
  readonly #idOfText = new Map<string, number>();
  #seen = 0;

  constructor(length: number) {
    this.#values = new Float64Array(length).fill(Number.NaN);
    this.#kinds = new Uint8Array(length);
  }

  put(row: number, value: Value): void {
    if (value === null) return;
    if (typeof value === 'string') {
      let id = this.#idOfText.get(value);
      if (id === undefined) this.#idOfText.set(value, (id = this.#texts.push(value) - 1));
      this.#values[row] = id;
      this.#kinds[row] = 2;
      this.#seen |= 4;
    } else {
      const isBoolean = typeof value === 'boolean';
      this.#values[row] = Number(value);
      this.#kinds[row] = Number(isBoolean);
      this.#seen |= isBoolean ? 2 : 1;
    }
  }

  vector(): Vector {
    return vectorOfKinds(this.#seen, this.#values, this.#texts, this.#kinds);
  }
}

/** `seen` has a bit for each kind of `vectorKinds`. */
function vectorOfKinds(
  seen: number,
  values: Float64Array,
  texts: readonly string[],
  kinds: Uint8Array,
): Vector {
  if (seen === 0 || seen === 1) return { kind: 'number', values, texts: [] };
  if (seen === 2) return { kind: 'boolean', values, texts: [] };
  return seen === 4 ? { kind: 'string', values, texts } : { kind: 'mixed', values, texts, kinds };
}

/** Of each row the value of the vector that `from` names. */
function picked(vectors: readonly Vector[], from: Uint8Array, length: number): Vector {
  const values = new Float64Array(length);
  const texts: string[] = [];
  const offsets = vectors.map(({ texts: own }) => {
    const at = texts.length;
    for (const text of own) texts.push(text);
    return at;
  });
  const kinds = new Uint8Array(length);
  let seen = 0;
  for (let i = 0; i < length; i++) {
    const at = from[i]!;
    const vector = vectors[at]!;
    const value = vector.values[i]!;
    const kind = vector.kind === 'mixed' ? vector.kinds![i]! : vectorKinds.indexOf(vector.kind);
    values[i] = kind === 2 ? value + offsets[at]! : value;
    kinds[i] = kind;
    if (!Number.isNaN(value)) seen |= 1 << kind;
  }
  return vectorOfKinds(seen, values, texts, kinds);
}
