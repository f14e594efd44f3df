// What a run answers: emits, their order and shapes, errors and limits (interface 2.10 and 4.8, contract 15, 16 and 35).
import { runInThisContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { Json } from '../model/json.ts';
import { scriptLimits } from './script-limits.ts';
import { runScript, ScriptMachine } from './script-machine.ts';

let machine: ScriptMachine;
beforeAll(() => {
  machine = new ScriptMachine({ workers: 1 });
});
afterAll(() => machine.close());

const run = (source: string, event: Json = { data: {} }) =>
  runScript(machine, { tenant: 'tenant', source, event });
const consume = (body: string): string => `function consume(event) { ${body} }`;
const error = (message: string | RegExp, line?: number, column?: number) => ({
  type: 'ERROR',
  event: {
    message: typeof message === 'string' ? message : expect.stringMatching(message),
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
  },
});

describe('interface 2.10: emit', () => {
  const mirrored: [string, string, Json][] = [
    [
      'interface 4.8: the event is the object passed to emit',
      '"sample", { data: { a: 1 }, topic: "x" }',
      { data: { a: 1 }, topic: 'x' },
    ],
    ['contract 16: a text stays a text', '"log", "text"', 'text'],
    [
      'contract 16: undefined members are dropped',
      '"sample", { data: { a: undefined, b: 1 } }',
      { data: { b: 1 } },
    ],
    [
      'contract 16: dates become ISO',
      '"sample", { timestamp: new Date(1e12) }',
      { timestamp: '2001-09-09T01:46:40.000Z' },
    ],
    [
      'contract 16: an invalid date is null, as in JSON',
      '"sample", { timestamp: new Date(NaN) }',
      { timestamp: null },
    ],
    [
      'contract 16: NaN',
      '"sample", { data: { a: NaN, b: [0 / 0] } }',
      { data: { a: 'NaN', b: ['NaN'] } },
    ],
    ['contract 35: infinities', '"log", [1 / 0, -1 / 0, -0]', ['Infinity', '-Infinity', 0]],
    ['the text "NaN" is a text', '"log", ["NaN", null]', ['NaN', null]],
    ['no object', '"log"', null],
    ['undefined', '"log", undefined', null],
    ['a function', '"log", () => 1', null],
    ['null', '"log", null', null],
    ['a number', '"log", 5', 5],
    [
      'a boxed number',
      '"log", [new Number(5), new String("s"), new Boolean(false)]',
      [5, 's', false],
    ],
    ['a map', '"log", new Map([[1, 2]])', {}],
    ['a typed array', '"log", new Uint8Array([1, 2])', { '0': 1, '1': 2 }],
    ['toJSON', '"log", { toJSON: () => ({ own: 1 }) }', { own: 1 }],
    [
      'a key named __proto__',
      '"log", JSON.parse("{\\"__proto__\\":{\\"a\\":1}}")',
      JSON.parse('{"__proto__":{"a":1}}') as Json,
    ],
    [
      'letters beyond ASCII',
      '"log", "\\u00e9\\u{1f600}\\ud800\\u0000\\u2028"',
      'é😀\ud800\u0000\u2028',
    ],
  ];
  for (const [name, args, event] of mirrored) {
    test(name, async () => {
      const [first] = await run(consume(`emit(${args});`));
      expect(first!.event).toEqual(event);
    });
  }

  for (const type of ['sample', 'log', 'state', 'downlink', 'action', 'timer']) {
    test(`contract 16: type ${type} is mirrored in upper case`, async () => {
      expect(await run(consume(`emit('${type}', { a: 1 });`))).toEqual([
        { type: type.toUpperCase(), event: { a: 1 } },
      ]);
    });
  }

  const unknown: [string, string][] = [
    ['"foo"', 'foo'],
    ['"SAMPLE"', 'SAMPLE'],
    ['"toString"', 'toString'],
    ['"__proto__"', '__proto__'],
    ['undefined', 'undefined'],
    ['7', '7'],
    ['null', 'null'],
    ['{}', '[object Object]'],
    ['Symbol("s")', 'Symbol(s)'],
    ['{ toString() { throw 1 } }', 'object'],
  ];
  for (const [type, name] of unknown) {
    test(`interface 7: emit of type ${type} gives an error, and the run goes on`, async () => {
      const entries = await run(consume(`emit(${type}, {});\n emit("log", 1);`));
      expect(entries).toEqual([
        {
          type: 'ERROR',
          event: { message: `invalid emit type ${name}`, line: 1, column: expect.any(Number) },
        },
        { type: 'LOG', event: 1 },
      ]);
    });
  }

  const failing: [string, string, RegExp][] = [
    ['a cyclic object', 'const o = {}; o.o = o; emit("log", o);', /circular|cyclic/i],
    ['a getter that throws', 'emit("log", { get a() { throw new Error("mine") } });', /^mine$/],
    ['a toJSON that throws', 'emit("log", { toJSON() { throw "mine" } });', /^mine$/],
    [
      'a proxy that throws',
      'emit("log", new Proxy({}, { ownKeys() { throw new RangeError("mine") } }));',
      /^RangeError: mine$/,
    ],
  ];
  for (const [name, body, message] of failing) {
    test(`${name} is an error, and the run goes on`, async () => {
      const entries = await run(consume(`${body} emit("log", "after");`));
      expect(entries).toEqual([
        expect.objectContaining({ type: 'ERROR' }),
        { type: 'LOG', event: 'after' },
      ]);
      expect(entries[0]!.event).toMatchObject({ message: expect.stringMatching(message) });
    });
  }

  test('contract 35: the 51st emit ends the run with an error, whatever the script does', async () => {
    const entries = await run(
      consume('for (let i = 1; ; i++) try { emit("log", i) } catch {} finally { continue }'),
    );
    expect(entries.slice(0, 50)).toEqual(
      Array.from({ length: 50 }, (_, i) => ({ type: 'LOG', event: i + 1 })),
    );
    expect(entries.slice(50)).toEqual([error('emit was called more than 50 times', 1, 56)]);
  });

  test('emits of an unknown type count too', async () => {
    const entries = await run(consume('for (let i = 0; i < 60; i++) emit("foo");'));
    expect(entries).toHaveLength(51);
  });

  test('50 emits are allowed', async () => {
    expect(await run(consume('for (let i = 0; i < 50; i++) emit("log", i);'))).toHaveLength(50);
  });

  test('1 MB of emits ends the run with an error; what came before is kept', async () => {
    const entries = await run(
      consume('for (let i = 0; i < 50; i++) emit("log", "x".repeat(100000));'),
    );
    expect(entries).toHaveLength(11);
    expect(entries.at(-1)).toEqual(error('The script emitted more than 1 MB'));
  });

  test('a run without emit has no effect and no error', async () => {
    expect(await run(consume(''))).toEqual([]);
  });

  test('an emit at the top level counts', async () => {
    expect(await run(`emit('log', 'top'); ${consume('emit("log", "inside");')}`)).toEqual([
      { type: 'LOG', event: 'top' },
      { type: 'LOG', event: 'inside' },
    ]);
  });

  test('what an event contains arrives as it is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 4 }), async (text) => {
        const event = { data: JSON.parse(text) as Json };
        expect(await run(consume('emit("log", event);'), event)).toEqual([{ type: 'LOG', event }]);
      }),
      { numRuns: 200 },
    );
  });

  test('emits are what JSON.stringify of V8 makes of the same value', async () => {
    const value = fc.jsonValue({ maxDepth: 3 }).map((json) => JSON.stringify(json));
    const part = fc.oneof(
      value,
      fc.constantFrom(
        'undefined',
        'new Date(5)',
        '-0',
        '1e21',
        '() => 1',
        'Symbol()',
        '[,1]',
        '"\\ud83d"',
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.string(), part), { maxLength: 8 }), async (members) => {
        const literal = `({ ${members.map(([key, text]) => `[${JSON.stringify(key)}]: ${text}`).join(', ')} })`;
        const expected = JSON.parse(JSON.stringify(runInThisContext(literal))) as Json;
        expect(await run(consume(`emit("log", ${literal});`))).toEqual([
          { type: 'LOG', event: expected },
        ]);
      }),
      { numRuns: 200 },
    );
  });
});

describe('interface 2.10: errors', () => {
  const errors: [string, string, string | RegExp, number?, number?][] = [
    ['no consume', 'let a = 1;', /^consume is not defined/],
    ['consume is no function', 'const consume = 5;', /^consume is not defined/],
    ['an empty source', '', /^consume is not defined/],
    [
      'an exception',
      'function consume(event) {\n  const a = 1;\n  throw new Error("boom");\n}',
      'boom',
      3,
      13,
    ],
    [
      'a type error',
      'function consume(event) {\n\n  event.no.thing;\n}',
      /^TypeError: cannot read property 'thing' of undefined/,
      3,
      12,
    ],
    [
      'an unknown name',
      'function consume() {\n  missing();\n}',
      'ReferenceError: missing is not defined',
      2,
      3,
    ],
    ['an error at the top level', 'let a = 1;\nnull.b;\nfunction consume() {}', /^TypeError/, 2, 6],
    [
      'a column after letters beyond ASCII',
      'function consume() { const s = "é😀"; missing(); }',
      /missing/,
      1,
      39,
    ],
    [
      'an error in a declaration',
      'function consume(e) {\n  let a = 1;\n  const b = e.x.y;\n}',
      /^TypeError/,
      3,
      17,
    ],
    [
      'an error in a condition',
      'function consume(e) {\n  if (e.x) return;\n  else if (e.x.y) return;\n}',
      /^TypeError/,
      3,
      16,
    ],
    [
      'an error in a returned value',
      'function consume(e) {\n  if (e)\n    return e.x.y\n}',
      /^TypeError/,
      3,
      16,
    ],
    [
      'an error in a loop',
      'function consume(e) {\n  a: for (;;) {\n    while (e.x.y) continue a;\n  }\n}',
      /^TypeError/,
      3,
      16,
    ],
    [
      'an error in a long object',
      'function consume(e) {\n  emit("sample", {\n    data: {\n      a: 1,\n      b: e.x.y,\n    },\n  });\n}',
      /^TypeError/,
      5,
      14,
    ],
    [
      'an error behind a switch',
      'function consume(e) {\n  switch (1) {\n    case 1:\n      const { q } = e.x;\n  }\n}',
      /^TypeError/,
      4,
      7,
    ],
    ['a thrown text', 'function consume() { throw "text"; }', 'text'],
    ['a thrown object', 'function consume() { throw { code: 1 }; }', '{"code":1}'],
    [
      'strict mode: an undeclared name',
      'function consume() {\n  x = 1;\n}',
      /^ReferenceError: x/,
      2,
      3,
    ],
    ['strict mode: this', 'function consume() { this.x; }', /^TypeError/, 1, 27],
    [
      'a rejected promise',
      'async function consume() {\n  await null;\n  throw new Error("later");\n}',
      'later',
      3,
      13,
    ],
    [
      'a promise that never settles',
      'function consume() { return new Promise(() => {}); }',
      /never settled/,
    ],
  ];
  for (const [name, source, message, line, column] of errors) {
    test(name, async () => {
      expect(await run(source)).toEqual([error(message, line, column)]);
    });
  }

  test('contract 16: what was emitted before the exception stays', async () => {
    expect(await run(consume('emit("sample", { data: {} }); emit("log", 1); null.x;'))).toEqual([
      { type: 'SAMPLE', event: { data: {} } },
      { type: 'LOG', event: 1 },
      expect.objectContaining({ type: 'ERROR' }),
    ]);
  });

  test('contract 35: a source of 1 MiB runs, a larger one is an error', async () => {
    const source = consume('emit("log", 1);');
    const padding = (bytes: number) => `${source}//${'x'.repeat(bytes - source.length - 2)}`;
    expect(await run(padding(scriptLimits.sourceBytesMax))).toEqual([{ type: 'LOG', event: 1 }]);
    expect(await run(padding(scriptLimits.sourceBytesMax + 1))).toEqual([
      error(/^The script must be at most/),
    ]);
  });

  test('an event of more than 1 MiB is an error', async () => {
    const event = { data: 'x'.repeat(scriptLimits.eventBytesMax) };
    expect(await run(consume(''), event)).toEqual([error(/^The event must be at most/)]);
    expect(
      await run(consume('emit("log", event.data.length)'), { data: 'x'.repeat(1_000_000) }),
    ).toEqual([{ type: 'LOG', event: 1_000_000 }]);
  });

  test('an event that nests too deeply is an error', async () => {
    const deep = (levels: number) =>
      JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`) as Json;
    expect(await run(consume(''), deep(400_000))).toEqual([error(/^Invalid event/)]);
    expect(await run(consume('emit("log", event.length)'), deep(1_000))).toEqual([
      { type: 'LOG', event: 1 },
    ]);
  });

  test('an asynchronous consume is awaited, and so is what it started', async () => {
    const source =
      'async function consume(event) { emit("log", 1); await null; emit("log", 2); Promise.resolve().then(() => emit("log", 3)); }';
    expect(await run(source)).toEqual([1, 2, 3].map((event) => ({ type: 'LOG', event })));
  });
});
