// Sources: what is refused and where, imports and exports, and both dialects (interface 2.10, contract 15).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '../model/json.ts';
import { runScript, ScriptMachine } from './script-machine.ts';
import { scriptLimits } from './script-limits.ts';

let machine: ScriptMachine;
beforeAll(() => {
  // As for live runs: a slow machine must not refuse a source that is good.
  const compileCpuMs = scriptLimits.liveCompileCpuMs;
  machine = new ScriptMachine({ workers: 1, limits: { compileCpuMs } });
});
afterAll(() => machine.close());

const run = (source: string, event: Json = {}) =>
  runScript(machine, { tenant: 'tenant', source, event });

const refused: [string, string, RegExp, number, number][] = [
  ['a syntax error', 'function consume() {\n  let a = ;\n}', /Unexpected token/, 2, 11],
  ['an unclosed brace', 'function consume() {\n', /Unexpected token/, 2, 1],
  ['letters beyond ASCII before the error', 'const é = "😀" §', /Unexpected character/, 1, 16],
  [
    'ES2021: logical assignment',
    'let a; a ||= 1; function consume() {}',
    /Unexpected token/,
    1,
    12,
  ],
  ['ES2021: numeric separators', 'const a = 1_000;', /Identifier directly after number/, 1, 12],
  ['ES2022: class fields', 'class A { a = 1; }', /Unexpected token/, 1, 13],
  ['ES2022: await at the top level', 'await 1;', /await/, 1, 1],
  ['JSX', 'const a = <b/>;', /Unexpected token/, 1, 11],
  ['TypeScript', 'const a: number = 1;', /Unexpected token/, 1, 8],
  ['strict mode: with', 'with (Math) {}', /with/, 1, 1],
  ['strict mode: octal numbers', 'const a = 010;', /nvalid number|octal/i, 1, 11],
  [
    'strict mode: delete of a name',
    'let a; delete a;',
    /Deleting local variable in strict mode/,
    1,
    8,
  ],
  ['return at the top level', 'return 1;', /return/, 1, 1],
  ['an HTML-like comment', 'let a = 1;\n<!-- b\n', /HTML-like|Unexpected/, 2, 1],
  ['an HTML-like comment within an expression', 'let a = 1, b = 2; a <!--b\n', /HTML-like/, 1, 21],
  [
    'an import of a file',
    'import fs from "fs";',
    /^SyntaxError: Unknown module fs. Available modules: luxon, moment/,
    1,
    16,
  ],
  ['an import of a path', 'import "./a.js";', /Unknown module \.\/a\.js/, 1, 8],
  [
    'an import of an unknown name',
    'import { Nothing } from "luxon";',
    /does not export Nothing/,
    1,
    10,
  ],
  [
    'a dynamic import',
    'function consume() { return import("luxon"); }',
    /import\(\) and import\.meta are not supported/,
    1,
    29,
  ],
  ['import.meta', 'const a = import.meta;', /are not supported/, 1, 11],
  ['an export from a module', 'export { a } from "luxon";', /cannot re-export from modules/, 1, 1],
  ['an export of everything', 'export * from "luxon";', /cannot re-export from modules/, 1, 1],
  [
    'a default export without a name',
    'export default function () {}',
    /a function named consume/,
    1,
    1,
  ],
  [
    'an export under another name',
    'function a() {}\nexport { a as consume };',
    /without renaming/,
    2,
    10,
  ],
  ['a name that is declared twice', 'let a; let a;', /already been declared/, 1, 12],
  [
    'a name that is imported and declared',
    'import { DateTime } from "luxon"; let DateTime;',
    /already been declared/,
    1,
    39,
  ],
];

describe('a refused source yields an ERROR with line and column', () => {
  for (const [name, source, message, line, column] of refused) {
    test(name, async () => {
      const event = { message: expect.stringMatching(message), line, column };
      expect(await run(source)).toEqual([{ type: 'ERROR', event }]);
      expect(await machine.check('tenant', source)).toEqual([event]);
    });
  }

  test('brackets nested beyond all measure', async () => {
    const [entry] = await run(`const a = ${'['.repeat(500_000)}`);
    expect(entry).toEqual({ type: 'ERROR', event: expect.objectContaining({ line: 1 }) });
    expect(await run('function consume() { emit("log", 1) }')).toEqual([{ type: 'LOG', event: 1 }]);
  });

  test('a long source of many small statements', async () => {
    const source = `let a = 0;${'a;'.repeat(50_000)}function consume() { emit("log", a) }`;
    expect(await run(source)).toEqual([{ type: 'LOG', event: 0 }]);
  });

  test('check tells a missing consume, and nothing for a good source', async () => {
    expect(await machine.check('tenant', 'let a;')).toEqual([
      { message: expect.stringMatching(/consume/) },
    ]);
    expect(await machine.check('tenant', 'const consume = () => {};')).toEqual([]);
    expect(await machine.check('tenant', 'function decodeUplink() {}')).toEqual([]);
  });
});

const accepted: [string, string, Json][] = [
  ['a function', 'function consume() { emit("log", 1) }', 1],
  ['an arrow function', 'const consume = () => emit("log", 1);', 1],
  ['a variable', 'var consume = function () { emit("log", 1) }', 1],
  ['an exported function', 'export function consume() { emit("log", 1) }', 1],
  ['an exported constant', 'export const consume = () => emit("log", 1);', 1],
  ['an export list', 'function consume() { emit("log", 1) }\nexport { consume };', 1],
  ['a default export', 'export default function consume() { emit("log", 1) }', 1],
  [
    'a default export of a name',
    'function consume() { emit("log", 1) }\nexport default consume',
    1,
  ],
  ['an assignment to globalThis', 'globalThis.consume = () => emit("log", 1);', 1],
  ['a last line that is a comment', 'function consume() { emit("log", 1) } // end', 1],
  [
    '"goes to"',
    'function consume() { let n = 3, s = 0; while (n --> 0) s += n; emit("log", s) }',
    3,
  ],
  [
    'a text with an HTML-like comment',
    'function consume() { emit("log", "<!-- a -->" + `<!--`) }',
    '<!-- a --><!--',
  ],
  [
    'ES2020',
    'function consume() { const o = null; emit("log", [o?.a ?? 7, 2n ** 3n === 8n]) }',
    [7, true],
  ],
  ['windows line ends', 'function consume() {\r\n  emit("log", 1);\r\n}\r\n', 1],
  ['a byte order mark', '\ufefffunction consume() { emit("log", 1) }', 1],
  [
    'a name like those of the machine',
    'let module = 1, exports = 2; function consume() { emit("log", [module, exports]) }',
    [1, 2],
  ],
  [
    'an import in the middle, without semicolons',
    'const f = () => 5\nimport { DateTime } from "luxon"\n(() => {})()\nfunction consume() { emit("log", f()) }',
    5,
  ],
];

describe('accepted forms', () => {
  for (const [name, source, event] of accepted) {
    test(name, async () => expect(await run(source)).toEqual([{ type: 'LOG', event }]));
  }

  test('an error after imports and exports has its place in the original source', async () => {
    const source =
      'import {\n  DateTime,\n} from "luxon"; import moment from "moment"; let a = 1;\nexport function consume() { missing(); }';
    expect(await run(source)).toEqual([
      {
        type: 'ERROR',
        event: { message: 'ReferenceError: missing is not defined', line: 4, column: 29 },
      },
    ]);
  });
});
