// Tests of expressions: random formulas against a slow interpreter, refusals, attacks and windows.
import { describe, expect, test } from 'vitest';
import { columnFunction, nulls, rowFunction, type Vector, vectorValue } from './evaluate.ts';
import {
  ExpressionError,
  functionNames,
  parseExpression,
  renamedFormula,
  type Value,
} from './parse.ts';
import { RecentValues } from './recent-values.ts';
import { GrowingWindow, ValueWindow, type WindowInput } from './windows.ts';

/** EXPRESSION_TREES=10000 compares as many formulas as the first comparison did. */
const trees = Number(process.env['EXPRESSION_TREES'] ?? 1_500);
const utc = () => 0;

/** Numbers from 0 to 1, the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

// A formula with its meaning, which does not come from the code under test.

interface Meaning {
  readonly text: string;
  readonly of: (row: Row) => Value;
}

type Row = Readonly<Record<string, Value>>;
const keys = ['a', 'b', 'c', 'flag', 'state', 'mixed'];

function number(value: Value): number | null {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'number' ? value : null;
}

function finite(value: number): Value {
  return Number.isFinite(value) ? value : null;
}

type Compute = (...numbers: number[]) => number | boolean;
const computed: readonly (readonly [string, number, Compute])[] = [
  ['+', 2, (x, y) => x + y],
  ['-', 2, (x, y) => x - y],
  ['*', 2, (x, y) => x * y],
  ['/', 2, (x, y) => x / y],
  ['%', 2, (x, y) => x % y],
  ['**', 2, (x, y) => x ** y],
  ['-', 1, (x) => -x],
  ['!', 1, (x) => x === 0],
  ['abs', 1, (x) => (x < 0 ? -x : x === 0 ? 0 : x)],
  ['min', 3, (x, y, z) => [x, y, z].toSorted((p, q) => p - q)[0] ?? 0],
  ['max', 2, (x, y) => (x > y ? x : y)],
  ['floor', 1, (x) => x - (((x % 1) + 1) % 1)],
  ['sqrt', 1, (x) => x ** 0.5],
  ['clamp', 3, (x, low, high) => (Math.max(x, low) > high ? high : Math.max(x, low))],
  ['scale', 5, (x, f, t, l, h) => ((x - f) / (t - f)) * (h - l) + l],
  ['ln', 1, (x) => Math.log2(x) / Math.log2(Math.E)],
];

function randomFormula(random: () => number, depth: number): Meaning {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const operand = () => randomFormula(random, depth - 1);
  if (depth <= 0 || random() < 0.15) {
    if (random() < 0.7) {
      const key = pick(keys);
      return { text: key, of: (row) => row[key] ?? null };
    }
    const value = pick([0, 1, 2, 3.5, 100, -7, 1e300, true, false]);
    return { text: `(${value})`, of: () => value };
  }
  const kind = random();
  if (kind < 0.5) {
    const [name, arity, compute] = pick(computed);
    const operands = Array.from({ length: arity }, operand);
    const texts = operands.map(({ text }) => `(${text})`);
    const isName = /^[a-z]/.test(name);
    const text = isName
      ? `${name}(${texts.join(', ')})`
      : arity === 1
        ? name + texts[0]
        : texts.join(` ${name} `);
    return {
      text,
      of: (row) => {
        const numbers = operands.map(({ of }) => number(of(row)));
        if (numbers.includes(null)) return null;
        const value = compute(...(numbers as number[]));
        return typeof value === 'boolean' ? value : finite(value);
      },
    };
  }
  const [x, y, z] = [operand(), operand(), operand()];
  if (kind < 0.65) {
    const operator = pick(['==', '!=', '<', '<=', '>', '>=', '===', '!==']);
    return {
      text: `((${x.text}) ${operator} (${y.text}))`,
      of: (row) => {
        const [p, q] = [x.of(row), y.of(row)];
        if (p === null || q === null) return null;
        const texts = Number(typeof p === 'string') + Number(typeof q === 'string');
        if (texts === 1)
          return operator.startsWith('==') ? false : operator.startsWith('!=') ? true : null;
        const [m, n] = texts === 2 ? [String(p), String(q)] : [Number(p), Number(q)];
        const same = m === n;
        if (operator.startsWith('==')) return same;
        if (operator.startsWith('!=')) return !same;
        return (
          (m < n && operator.startsWith('<')) ||
          (m > n && operator.startsWith('>')) ||
          (same && operator.endsWith('='))
        );
      },
    };
  }
  if (kind < 0.8) {
    const isAnd = random() < 0.5;
    return {
      text: `((${x.text}) ${isAnd ? '&&' : '||'} (${y.text}))`,
      of: (row) => {
        const sides = [x, y].map(({ of }) => number(of(row)));
        const deciding = sides.some((side) => side !== null && (side === 0) === isAnd);
        if (deciding) return !isAnd;
        return sides.includes(null) ? null : isAnd;
      },
    };
  }
  if (kind < 0.9)
    return {
      text: `((${x.text}) ? (${y.text}) : (${z.text}))`,
      of: (row) => {
        const test = number(x.of(row));
        if (test === null) return null;
        return test === 0 ? z.of(row) : y.of(row);
      },
    };
  if (kind < 0.95)
    return {
      text: `coalesce(${x.text}, ${y.text}) ?? (${z.text})`,
      of: (row) => x.of(row) ?? y.of(row) ?? z.of(row),
    };
  return { text: `isNull(${x.text})`, of: (row) => x.of(row) === null };
}

function randomRow(random: () => number): Row {
  const some = (value: Value) => (random() < 0.2 ? null : value);
  const numeric = () =>
    some(random() < 0.3 ? Math.floor(random() * 5) - 2 : (random() - 0.5) * 1_000);
  const state = () => some(['OPEN', 'SHUT', '', '1'][Math.floor(random() * 4)] ?? null);
  return {
    a: numeric(),
    b: numeric(),
    c: numeric(),
    flag: some(random() < 0.5),
    state: state(),
    mixed: [numeric(), state(), some(true)][Math.floor(random() * 3)] ?? null,
  };
}

function vectorOf(values: readonly Value[]): Vector {
  const texts: string[] = [];
  const kinds = new Uint8Array(values.length);
  const numbers = Float64Array.from(values, (value, i) => {
    if (value === null) return Number.NaN;
    kinds[i] = ['number', 'boolean', 'string'].indexOf(typeof value);
    return typeof value === 'string' ? texts.push(value) - 1 : Number(value);
  });
  const present = new Set([...kinds].filter((_, i) => values[i] !== null));
  if (present.size > 1) return { kind: 'mixed', values: numbers, texts, kinds };
  const [kind = 0] = present;
  return {
    kind: (['number', 'boolean', 'string'] as const)[kind] ?? 'number',
    values: numbers,
    texts,
  };
}

function close(a: Value, b: Value): boolean {
  if (typeof a !== 'number' || typeof b !== 'number') return a === b;
  return a === b || Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
}

describe('contract 38.1: expressions', () => {
  test('random formulas mean the same by row, in columns, and to a slow interpreter', () => {
    const random = seeded(38);
    let compared = 0;
    for (let i = 0; i < trees; i++) {
      const { text, of } = randomFormula(random, 1 + (i % 4));
      let expression: ReturnType<typeof parseExpression>;
      try {
        expression = parseExpression(text);
      } catch (error) {
        // Random formulas may have too many parts.
        expect((error as Error).message).toMatch(/more than 200 parts|characters|levels deep/);
        continue;
      }
      const rows = Array.from({ length: 20 }, () => randomRow(random));
      const names = expression.inputs.map((input) =>
        input.kind === 'key' ? input.source.key : '',
      );
      const inputs = rows.map((row) => names.map((name) => row[name] ?? null));
      const byRow = inputs.map((values) => rowFunction(expression, utc)(values));
      const vectors = names.map((_, at) => vectorOf(inputs.map((values) => values[at] ?? null)));
      const columns = columnFunction(expression, utc)(vectors, rows.length);
      const inColumns = rows.map((_, at) => vectorValue(columns, at));
      expect(inColumns, text).toStrictEqual(byRow);
      for (const [at, row] of rows.entries()) {
        const wanted = of(row);
        // Rounding differs where a comparison or a remainder is decided by the last digit.
        if (!close(byRow[at] ?? null, wanted) && /[%<>=!]|floor|\*\*|\?/.test(text)) continue;
        compared++;
        expect(
          close(byRow[at] ?? null, wanted),
          `${text} ${JSON.stringify(row)}: ${byRow[at]}, not ${wanted}`,
        ).toBe(true);
      }
    }
    expect(compared).toBeGreaterThan(trees * 15);
  });

  test.each<[string, Row, Value]>([
    ['temperature * 9 / 5 + 32', { temperature: 20 }, 68],
    ['round(dewPoint(t, rh), 2)', { t: 20, rh: 50 }, 9.26],
    ['round(absoluteHumidity(t, rh), 2)', { t: 20, rh: 50 }, 8.62],
    ['round(1.005, 2)', {}, 1.01],
    ['round(-2.5)', {}, -3],
    ['1 / 0', {}, null],
    ['pow(a, 0)', { a: null }, null],
    ['a ?? b ?? 7', {}, 7],
    ['a == "OPEN" ? 1 : 0', { a: 'OPEN' }, 1],
    ['false && a', {}, false],
    ['a + 1', { a: 'text' }, null],
    ['scale(a, 4, 20, 0, 100)', { a: 12 }, 50],
    ['clamp(a, 0, 10)', { a: 99 }, 10],
    ['hour(0)', {}, 0],
    ['weekday(0)', {}, 4],
    ['month(1e12)', {}, 9],
    ['hour(1e300)', {}, null],
    ['2 ** 3 ** 2', {}, 512],
    ['constructor', { constructor: 1 }, 1],
  ])('%s of %o is %o', (text, row, wanted) => {
    const expression = parseExpression(text);
    const values = expression.inputs.map((input) =>
      input.kind === 'key' ? (row[input.source.key] ?? null) : null,
    );
    expect(rowFunction(expression, utc)(values)).toBe(wanted);
    const columns = columnFunction(expression, utc)(
      values.map((value) => vectorOf([value])),
      1,
    );
    expect(vectorValue(columns, 0)).toBe(wanted);
  });

  test('names, paths, and functions of keys become inputs, each once', () => {
    const { inputs } = parseExpression(
      'position.latitude + list[0].x + key("pm2.5") + key("pm2.5") + key("t", "climate") + last(h, "PT1H") + prev(n) ' +
        '+ device("07", "t") + field("offset") + avgOver(t, "PT15M") + rate(device("07", "n", "m"), "PT1H", "PT1M") + timestamp',
    );
    const own = { deviceId: null, topic: null };
    expect(inputs).toStrictEqual([
      { kind: 'key', source: { ...own, key: 'position.latitude' } },
      { kind: 'key', source: { ...own, key: 'list.0.x' } },
      { kind: 'key', source: { ...own, key: 'pm2.5' } },
      { kind: 'last', source: { ...own, key: 't', topic: 'climate' }, maxAgeMs: 86_400_000 },
      { kind: 'last', source: { ...own, key: 'h' }, maxAgeMs: 3_600_000 },
      { kind: 'prev', source: { ...own, key: 'n' } },
      { kind: 'last', source: { deviceId: '07', key: 't', topic: null }, maxAgeMs: 86_400_000 },
      { kind: 'field', name: 'offset' },
      {
        kind: 'window',
        source: { ...own, key: 't' },
        fold: 'avg',
        windowMs: 900_000,
        perMs: 1_000,
      },
      {
        kind: 'window',
        source: { deviceId: '07', key: 'n', topic: 'm' },
        fold: 'rate',
        windowMs: 3_600_000,
        perMs: 60_000,
      },
      { kind: 'timestamp' },
    ]);
  });

  test.each([
    ['a', 'any'],
    ['a + 1', 'number'],
    ['a > 1', 'boolean'],
    ['a > 1 ? "hot" : "cold"', 'string'],
    ['a > 1 ? "hot" : 1', 'any'],
    ['a > 1 ? 2 : null', 'number'],
    ['isNull(a)', 'boolean'],
  ])('%s is of type %s', (text, type) => {
    expect(parseExpression(text).type).toBe(type);
  });

  test.each<[string, number, RegExp]>([
    ['', 0, /Unexpected/],
    ['a +', 3, /Unexpected/],
    ['a b', 2, /Unexpected text/],
    ['1 + "x"', 4, /a number is required/],
    ['a == null', 5, /isNull/],
    ['1 < "a"', 4, /string cannot be compared/],
    ['foo(1)', 0, /Unknown function foo/],
    ['min()', 0, /at least 1/],
    ['pow(1)', 0, /2 arguments, got 1/],
    ['avgOver(a, "P1Y")', 11, /Invalid duration P1Y/],
    ['avgOver(a, "PT0S")', 11, /Invalid duration/],
    ['avgOver(a, b)', 11, /in quotes/],
    ['avgOver(a + 1, "PT1H")', 8, /Not a data key/],
    ['a[b]', 2, /whole numbers/],
    ['1e999', 0, /too large/],
    ['a = 1', 0, /Assignments/],
    ['`x`', 0, /Template/],
    ['a // no', 2, /Comments/],
    [`${'('.repeat(31)}1${')'.repeat(31)}`, 30, /levels deep/],
    [Array.from({ length: 101 }, () => 'a').join('+'), 0, /200 parts/],
    ['1 '.repeat(1_001), 2_000, /2002 characters/],
  ])('%j is refused at %i', (text, position, message) => {
    const error = refusalOf(text);
    expect(error?.message).toMatch(message);
    if (!/200 parts/.test(String(message))) expect(error?.position).toBe(position);
  });

  test('a long sum is not nested', () => {
    expect(() =>
      parseExpression(Array.from({ length: 90 }, (_, i) => `k${i}`).join(' + ')),
    ).not.toThrow();
  });

  test('200 attacks are refused with a place, or read data keys only', () => {
    const attacks = attackTexts();
    expect(attacks.length).toBeGreaterThanOrEqual(200);
    const data = { a: 1, process: 2 };
    for (const text of attacks) {
      const error = refusalOf(text);
      if (error !== undefined) {
        expect(error.position, text).toBeGreaterThanOrEqual(0);
        expect(error.position, text).toBeLessThanOrEqual(text.length);
        continue;
      }
      const expression = parseExpression(text);
      const values = expression.inputs.map((input) =>
        input.kind === 'key' && Object.hasOwn(data, input.source.key) ? 1 : null,
      );
      const value = rowFunction(expression, utc)(values);
      expect(['number', 'boolean', 'string', 'object'], text).toContain(typeof value);
      if (typeof value === 'object') expect(value, text).toBeNull();
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

function refusalOf(text: string): ExpressionError | undefined {
  try {
    parseExpression(text);
    return undefined;
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
}

/** Ways out of other expression languages, alone and inside of formulas. */
function attackTexts(): string[] {
  const names = [
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'valueOf',
    'hasOwnProperty',
    '__defineGetter__',
    '__lookupGetter__',
    'process',
    'globalThis',
    'require',
    'Function',
    'eval',
    'import',
    'this',
    'arguments',
    'Object',
    'Reflect',
    'Proxy',
    'Symbol',
  ];
  const shapes = [
    (name: string) => name,
    (name: string) => `${name}()`,
    (name: string) => `${name}("return process")()`,
    (name: string) => `a.${name}`,
    (name: string) => `a["${name}"]`,
    (name: string) => `a.${name}.constructor("return 1")()`,
    (name: string) => `abs.${name}(1)`,
    (name: string) => `key("${name}")`,
    (name: string) => `last(${name})`,
    (name: string) => `min(1, ${name})`,
  ];
  const whole = [
    '(() => process.exit())()',
    'function(){}',
    'function f(){ return 1 }',
    'async () => 1',
    'new Function("return 1")()',
    'new Date()',
    'class {}',
    'import("fs")',
    'import.meta.url',
    'new.target',
    'a = 1',
    'a += 1',
    'a++',
    '--a',
    'delete a.b',
    'typeof a',
    'void 0',
    'a in b',
    'a instanceof b',
    'a, b',
    '[1, 2]',
    '[].map(a)',
    '{}',
    '({}).polluted = 1',
    '({ __proto__: null })',
    '`${a}`',
    'a`b`',
    '/(a+)+$/.test(b)',
    '/x/',
    '1n',
    '0b11n ** 99n',
    'a?.b',
    'a?.()',
    'a.#b',
    '...a',
    'min(...a)',
    'yield 1',
    'await a',
    'let a = 1',
    'a; b',
    'a\n;b',
    '<!-- a',
    'a --> b',
    '/* */ a',
    '#!/bin/sh',
    '@a',
    '\u0000',
    '\ud800',
    '"\\u{110000}"',
    '"unterminated',
    '9'.repeat(2_000),
    '('.repeat(2_000),
    '['.repeat(2_000),
    '!'.repeat(2_000),
    '-'.repeat(1_999),
    '- '.repeat(999) + 'a',
    'a?'.repeat(900),
    'a.'.repeat(900) + 'a',
    'abs('.repeat(499) + '1' + ')',
    '1' + '+1'.repeat(999),
    '9**9**9**9**9',
    'device("../../etc/passwd", "a")',
    'field("__proto__")',
    'min.apply(null, a)',
    'min["call"](1)',
    '(abs)(1)',
    '(0, abs)(1)',
    'key(key("a"))',
    'key(a)',
    'device(a, "b")',
    'field(a)',
    'key("")',
  ];
  return [...names.flatMap((name) => shapes.map((shape) => shape(name))), ...whole];
}

function foldedAnew(
  input: WindowInput,
  times: readonly number[],
  values: readonly number[],
  from: number,
): number {
  const list = {
    timeAt: (place: number) => times[place] ?? Number.NaN,
    numberAt: (place: number) => values[place] ?? Number.NaN,
  };
  return new GrowingWindow(input).fold(list, from, values.length);
}

/** Binary digits behind the point of exact numbers. */
const exactDigits = 80;

/** The number times 2^80, for numbers that have no further digits. */
function exactOf(value: number): bigint {
  // A number of at most 1,000 has no digits behind the 80th unless it is below 2^-27.
  const whole = BigInt(Math.round(value * 2 ** 40));
  const rest = value - Number(whole) / 2 ** 40;
  return (whole << 40n) + BigInt(rest * 2 ** exactDigits);
}

describe('contract 38.1: windows of expressions', () => {
  const windows: readonly WindowInput[] = (
    ['avg', 'min', 'max', 'sum', 'count', 'stddev', 'change', 'rate'] as const
  ).map((fold) => ({ fold, windowMs: 60_000, perMs: 1_000 }));

  test.each(windows)('$fold slides as it is computed anew', (window) => {
    const random = seeded(7);
    const sliding = new ValueWindow(window);
    const [times, values]: [number[], number[]] = [[], []];
    let now = 0;
    for (let i = 0; i < 4_000; i++) {
      // Many at one instant, pauses longer than the window, and values of very different sizes.
      now += random() < 0.3 ? 0 : Math.floor(random() * (random() < 0.02 ? 200_000 : 4_000));
      const value = (random() - 0.5) * 10 ** Math.floor(random() * 16 - 6);
      sliding.add(now, value);
      times.push(now);
      values.push(value);
      let from = values.length;
      while (from > 0 && (times[from - 1] ?? 0) > now - window.windowMs) from--;
      expect(sliding.at(now)).toBe(foldedAnew(window, times, values, from));
    }
  });

  // With decimals as sensors send them, of very different size, and rarely far larger than the others.
  const numbers: readonly ((random: () => number) => number)[] = [
    (random) => Math.round(random() * 400) / 10,
    (random) => (random() - 0.5) * 10 ** Math.floor(random() * 40 - 20),
    (random) => (random() - 0.5) * (random() < 0.001 ? 1e40 : 1e-3),
    (random) => (random() - 0.5) * (random() < 0.001 ? 1e300 : 100),
  ];

  test.each(windows)('$fold of recent values is what a new window answers', (input) => {
    for (const [kind, numberOf] of numbers.entries()) {
      const random = seeded(11 + kind);
      const list = new RecentValues();
      const stored: { at: number; value: number | string }[] = [];
      let now = 1_000_000;
      for (let i = 0; i < 6_000; i++) {
        now += random() < 0.3 ? 0 : Math.floor(random() * (random() < 0.02 ? 200_000 : 150));
        // Late values, values that are ahead of the others, and values that are no numbers.
        const at = now + (random() < 0.1 ? Math.floor((random() - 0.5) * 100_000) : 0);
        const value = random() < 0.05 ? 'text' : numberOf(random);
        list.add(at, value);
        stored.splice(stored.findLastIndex((one) => one.at <= at) + 1, 0, { at, value });
        if (random() < 0.02) {
          if (random() < 0.5) list.dropBefore(now - 150_000);
          else list.trim();
        }
        const moment = random() < 0.7 ? now : at;
        const until = stored.findLastIndex((one) => one.at <= moment) + 1;
        const some = stored
          .slice(Math.max(0, until - 1_000), until)
          .filter((one) => one.at > moment - input.windowMs && typeof one.value === 'number');
        const anew = foldedAnew(
          input,
          some.map((one) => one.at),
          some.map((one) => Number(one.value)),
          0,
        );
        // Windows of the newest values: what lies behind the last 1,000 may have been dropped.
        if (stored.length - until < 1_000)
          expect(list.fold(moment, input)).toBe(Number.isFinite(anew) ? anew : null);
      }
    }
  });

  test('sums and deviations of recent values are those of exact numbers', () => {
    const random = seeded(5);
    const list = new RecentValues();
    const values: number[] = [];
    const of = (fold: WindowInput['fold']) => list.fold(values.length, { ...windows[0]!, fold });
    for (let i = 1; i <= 3_000; i++) {
      const value = (random() - 0.3) * 10 ** Math.floor(random() * 5 - 2);
      values.push(value);
      list.add(i, value);
      list.trim();
      if (i < 2_000 || i % 10 !== 0) continue;
      const exact = values.slice(-1_000).map(exactOf);
      const sum = exact.reduce((total, one) => total + one, 0n);
      const squares = exact.reduce((total, one) => total + one * one, 0n);
      const spread = Number(squares * 1_000n - sum * sum) / 2 ** (2 * exactDigits);
      expect(of('sum')).toBe(Number(sum) / 2 ** exactDigits);
      expect(of('stddev')).toBe(Math.sqrt(spread / (1_000 * 999)));
    }
  });

  test.each<[WindowInput['fold'], number]>([
    ['avg', 4],
    ['min', 1],
    ['max', 8],
    ['sum', 12],
    ['count', 3],
    ['stddev', Math.sqrt(13)],
    ['change', 7],
    ['rate', 7],
  ])('%s of 1, 3, 8 within two seconds', (fold, wanted) => {
    const window = new ValueWindow({ fold, windowMs: 2_001, perMs: 2_000 });
    for (const [at, value] of [
      [0, 100],
      [2_000, 1],
      [3_000, 3],
      [4_000, 8],
    ] as const)
      window.add(at, value);
    expect(window.at(4_000)).toBeCloseTo(wanted, 12);
    window.at(6_001);
    expect(window.at(60_000)).toBe(fold === 'count' ? 0 : Number.NaN);
  });
});

test('the functions of the contract exist', () => {
  const wanted =
    'abs min max round floor ceil sqrt exp ln log10 pow clamp scale coalesce isNull hour weekday month dewPoint absoluteHumidity ' +
    'unusual change rate avgOver minOver maxOver sumOver countOver stddevOver key last prev device field';
  expect(functionNames).toStrictEqual(wanted.split(' ').toSorted());
  expect(nulls(2).values).toHaveLength(2);
});

test.each([
  ['a - device("x", "b")', 'a - device("<x>", "b")'],
  [
    "device( 'x' , 'b', 'topic') + device(\"y\", \"x\")",
    'device( "<x>" , \'b\', \'topic\') + device("<y>", "x")',
  ],
  ['device("a \\"quoted\\" one", "b")', 'device("<a \\"quoted\\" one>", "b")'],
  ['key("device") + device.x + text("x")', 'key("device") + device.x + text("x")'],
  ['device("x", "b', 'device("x", "b'],
  ['', ''],
])('the devices of %s are renamed', (formula, renamed) => {
  expect(renamedFormula(formula, (id) => `<${id}>`)).toBe(renamed);
});
