// Scripts that mean harm: each ends within its limits, the process lives, and the next run is right.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../model/json.ts';
import { ScriptMachine } from './script-machine.ts';

let machine: ScriptMachine;
beforeAll(() => {
  machine = new ScriptMachine({ workers: 1 });
});
afterAll(() => machine.close());

const benign =
  'function consume(event) { emit("sample", { data: { double: event.data.value * 2 } }); }';

/** The body of `consume` for most attacks; `event` is `{ data: { value: 21 } }`. */
const within = (body: string): string =>
  `function consume(event) { emit("log", "before"); ${body} }`;

// What the run ends with: one ERROR whose message fits.
const ended = /exceeded its time limit/;
const refused = /exceeded its time limit|memory|too (large|long|many)|length|call stack/;

const endless: [string, string][] = [
  ['for loop', 'for (;;);'],
  ['while loop with try', 'while (true) try { throw 1 } catch {}'],
  ['try finally loop', 'for (;;) try { continue } finally { continue }'],
  ['recursion caught at every level', 'function f() { try { f() } catch { f() } } f();'],
  ['generator without end', 'function* g() { for (;;) yield 1 } for (const x of g());'],
  [
    'iterator without end',
    'for (const x of { [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) });',
  ],
  [
    'array from an endless iterator',
    '[...{ [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }) }) }]',
  ],
  ['getter loop', 'const o = { get a() { return o.a } }; for (;;) try { o.a } catch {}'],
  ['proxy trap loop', 'const p = new Proxy({}, { get: (t, k, r) => { for (;;); } }); p.x;'],
  ['toString loop', '`${{ toString() { for (;;); } }}`'],
  ['valueOf loop', '+{ valueOf() { for (;;); } }'],
  ['toJSON loop', 'emit("log", { toJSON() { for (;;); } });'],
  ['getter loop in an emit', 'emit("log", { get a() { for (;;); } });'],
  [
    'sort that never agrees',
    'const a = Array.from({ length: 1e5 }, (_, i) => i); for (;;) a.sort(() => Math.random() - 0.5);',
  ],
  ['replace callback loop', '"a".replace(/a/, () => { for (;;); });'],
  ['regular expression, nested quantifiers', '/^(a+)+$/.test("a".repeat(40) + "b");'],
  ['regular expression, alternatives', '/^(a|aa)+$/.test("a".repeat(60) + "b");'],
  ['regular expression, back reference', '/^(a*)*\\1$/.test("a".repeat(60) + "b");'],
  ['regular expression, look ahead', '/(?=(a+)+b)(a+)+c/.test("a".repeat(50));'],
  ['promise that makes promises', 'const f = () => Promise.resolve().then(f); return f();'],
  ['async loop', 'return (async () => { for (;;) await null })();'],
  ['floating promise loop', 'const f = () => { Promise.resolve().then(f) }; f();'],
  ['thenable that resolves itself', 'const t = { then(ok) { ok(t) } }; return t;'],
  [
    'async generator loop',
    'return (async () => { async function* g() { for (;;) yield 1 } for await (const x of g()); })();',
  ],
  ['eval loop', 'eval("for (;;);");'],
  ['Function loop', 'new Function("for (;;);")();'],
  ['clock watcher', 'const end = Date.now() + 60000; while (Date.now() < end);'],
  ['entropy drain', 'for (;;) Math.random();'],
  [
    'new formatters',
    'for (let i = 0; ; i++) try { new Intl.DateTimeFormat("en-u-nu-latn", { year: "numeric", i }) } catch {}',
  ],
  ['formatting', 'const f = new Intl.NumberFormat("de"); for (;;) f.format(1.5);'],
  ['locale compare', 'for (;;) "a".localeCompare("b");'],
  ['labelled continue', 'outer: for (;;) for (;;) continue outer;'],
  ['tagged template recursion', 'const t = () => t; let x = t; for (;;) x = x`a`;'],
];

const stuck: [string, string][] = [
  ['sparse indexOf', 'const a = []; a.length = 2 ** 32 - 1; a.indexOf(1);'],
  ['sparse lastIndexOf', 'const a = []; a.length = 2 ** 32 - 1; a.lastIndexOf(1);'],
  ['sparse includes', 'const a = []; a.length = 2 ** 32 - 1; a.includes(1);'],
  ['sparse join', 'const a = []; a.length = 2 ** 32 - 1; a.join("");'],
  ['sparse reverse', 'const a = []; a.length = 2 ** 32 - 1; a.reverse();'],
  [
    'array-like of the greatest length',
    'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1);',
  ],
  ['array-like fill', 'Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 1);'],
  ['array-like unshift', 'Array.prototype.unshift.call({ length: 2 ** 53 - 2, 0: 1 }, 1);'],
  ['array-like splice', 'Array.prototype.splice.call({ length: 2 ** 53 - 1 }, 0, 1);'],
  ['many slow builtins', 'const a = new Array(1e6).fill(1); for (;;) a.indexOf(2);'],
];

const bombs: [string, string][] = [
  ['array pushes', 'const a = []; for (;;) a.push(a.length);'],
  ['array doubling', 'let a = [1]; for (;;) a = a.concat(a);'],
  ['spread doubling', 'let a = [1]; for (;;) a = [...a, ...a];'],
  ['string doubling', 'let s = "ab"; for (;;) s += s;'],
  [
    'string doubling, flattened',
    'let s = "ab"; for (;;) { s += s; s.charCodeAt(0); s = s.split("").join(""); }',
  ],
  ['repeat', '"x".repeat(2 ** 30);'],
  ['repeat just below the limit', 'const a = []; for (;;) a.push("x".repeat(1e6) + a.length);'],
  ['padStart', '"x".padStart(2 ** 30 - 1, "y");'],
  ['split', '"x".repeat(2e7).split("");'],
  ['replaceAll growth', 'let s = "a".repeat(1e5); for (;;) s = s.replace(/a/g, "aa");'],
  ['array of the greatest length filled', 'new Array(2 ** 32 - 1).fill(0);'],
  ['dense fill', 'new Array(1e8).fill(0);'],
  ['Array.from length', 'Array.from({ length: 2 ** 32 - 1 }, () => 0);'],
  ['map entries', 'const m = new Map(); for (let i = 0; ; i++) m.set(i, {});'],
  ['set entries', 'const m = new Set(); for (let i = 0; ; i++) m.add(String(i));'],
  ['object keys', 'const o = {}; for (let i = 0; ; i++) o["k" + i] = i;'],
  ['nested objects', 'let o = {}; for (;;) o = { o };'],
  ['closures', 'let f = () => 1; for (;;) { const g = f; f = () => g() + 1; }'],
  ['array buffer', 'new ArrayBuffer(2 ** 31);'],
  ['array buffers', 'const a = []; for (;;) a.push(new ArrayBuffer(1e6));'],
  ['typed array', 'new Float64Array(2 ** 28);'],
  ['typed arrays', 'const a = []; for (;;) a.push(new Uint8Array(1e5).fill(1));'],
  ['typed array from an iterator', 'new Uint8Array({ length: 2 ** 31 });'],
  ['JSON.parse', 'JSON.parse("[" + "[],".repeat(2e6) + "1]");'],
  [
    'JSON.parse many',
    'const t = "[" + "[],".repeat(2e5) + "1]"; const a = []; for (;;) a.push(JSON.parse(t));',
  ],
  [
    'JSON.stringify of shared parts',
    'let o = [1]; for (let i = 0; i < 40; i++) o = [o, o]; JSON.stringify(o);',
  ],
  ['emit of shared parts', 'let o = [1]; for (let i = 0; i < 40; i++) o = [o, o]; emit("log", o);'],
  ['BigInt power', '2n ** 2n ** 40n;'],
  ['BigInt squares', 'let x = 3n; for (;;) x *= x;'],
  ['BigInt shift', '1n << 2n ** 33n;'],
  [
    'BigInt text',
    '(2n ** 1000000n).toString().length; let s = 7n ** 300000n; for (;;) s.toString();',
  ],
  ['regular expression of great length', 'new RegExp("(a".repeat(1e5) + ")".repeat(1e5));'],
  ['regular expression repetitions', '/^(?:a{0,1000}){0,1000}c/.test("a".repeat(1e5) + "b");'],
  ['symbols', 'const a = []; for (;;) a.push(Symbol("x".repeat(1000)));'],
  ['promises', 'const a = []; for (;;) a.push(new Promise(() => {}));'],
  [
    'generators',
    'const a = []; function* g() { yield 1 } for (;;) { const i = g(); i.next(); a.push(i); }',
  ],
  ['errors with long stacks', 'const a = []; for (;;) a.push(new Error("x".repeat(1e4)));'],
  ['apply with many arguments', 'Math.max.apply(null, new Array(5e6));'],
  ['flat', 'let a = [1]; for (let i = 0; i < 30; i++) a = [a, a]; a.flat(Infinity);'],
  ['console of a source', 'eval("[" + "1,".repeat(3e6) + "1]");'],
];

const recursions: [string, string][] = [
  ['function', 'function f() { f() } f();'],
  ['mutual', 'const a = () => b(), b = () => a(); a();'],
  ['getter', 'const o = { get x() { return this.x } }; o.x;'],
  ['toString', 'const o = { toString() { return "" + o } }; "" + o;'],
  ['proxy of proxies', 'let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x;'],
  [
    'prototype of itself by proxy',
    'const p = new Proxy({}, { getPrototypeOf: () => p, get: (t, k) => p[k] }); p.x;',
  ],
  ['bound functions', 'let f = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind(null); f();'],
  ['JSON.parse', 'JSON.parse("[".repeat(1e6));'],
  ['JSON.stringify', 'let o = []; for (let i = 0; i < 1e5; i++) o = [o]; JSON.stringify(o);'],
  ['eval of nested brackets', 'eval("(".repeat(1e5));'],
  ['replace callback', 'const f = () => "a".replace(/a/, f); f();'],
  ['sort callback', 'const f = () => [2, 1].sort(f); f();'],
  ['constructor', 'class A { constructor() { new A() } } new A();'],
  ['reviver', 'const f = () => JSON.parse("[1]", f); f();'],
];

async function entriesOf(source: string): Promise<{ type: string; event: Json }[]> {
  const { emits } = await machine.run({
    tenant: 'attacker',
    source,
    event: { data: { value: 21 } },
  });
  return [...emits];
}

async function nextRunIsRight(): Promise<void> {
  const { emits } = await machine.run({
    tenant: 'victim',
    source: benign,
    event: { data: { value: 21 } },
  });
  expect(emits).toEqual([{ type: 'SAMPLE', event: { data: { double: 42 } } }]);
}

function errorsIn(entries: readonly { type: string; event: Json }[]): string[] {
  return entries
    .filter(({ type }) => type === 'ERROR')
    .map(({ event }) => (event as { message: string }).message);
}

// The machine that tests run on is busy with other things, so that the clock says little; CPU time
// is limited exactly.
const wallMsMax = 120_000;

async function endsWith(source: string, message: RegExp): Promise<void> {
  const startedAt = performance.now();
  const entries = await entriesOf(source);
  expect(performance.now() - startedAt).toBeLessThan(wallMsMax);
  expect(entries[0]).toEqual({ type: 'LOG', event: 'before' });
  expect(errorsIn(entries)).toEqual([expect.stringMatching(message)]);
  await nextRunIsRight();
}

for (const [name, body] of endless) test(`endless: ${name}`, () => endsWith(within(body), ended));
for (const [name, body] of stuck)
  test(`stuck in a builtin: ${name}`, () => endsWith(within(body), refused));
for (const [name, body] of bombs) test(`bomb: ${name}`, () => endsWith(within(body), refused));
for (const [name, body] of recursions)
  test(`recursion: ${name}`, () => endsWith(within(body), refused));

// Whole sources: what hurts is to read them. `consume` comes first, so that a source which is read
// to its end runs.
const parsed: [string, string][] = [
  [
    'names that are compared with each other',
    Array.from({ length: 65_000 }, (_, i) => `let a${i};`).join(''),
  ],
  ['statements', '0;'.repeat(499_000)],
  ['brackets', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
  ['functions in functions', `${'()=>'.repeat(200_000)}0`],
  ['templates in templates', `${'`${'.repeat(100_000)}0${'}`'.repeat(100_000)}`],
  ['classes in classes', `${'(class{[a]=1;m(){'.repeat(30_000)}${'}})'.repeat(30_000)}`],
  ['a regular expression of great length', `/${'(a|b)*'.repeat(150_000)}/`],
  ['regular expressions', '/a*b/;'.repeat(160_000)],
  ['unary operators', `${'!'.repeat(900_000)}0`],
  ['a chain of members', `0${'.a'.repeat(400_000)}`],
  ['a conditional chain', `${'0?0:'.repeat(200_000)}0`],
  ['destructuring', `var ${'[a,'.repeat(100_000)}b${']'.repeat(100_000)}=0`],
];
for (const [name, text] of parsed) {
  test(`source: ${name}`, async () => {
    const source = `function consume() {}\n${text}`;
    const startedAt = performance.now();
    const { emits } = await machine.run({ tenant: 'attacker', source, event: {}, kind: 'trial' });
    expect(performance.now() - startedAt).toBeLessThan(wallMsMax);
    expect(emits.every(({ type }) => type === 'ERROR')).toBe(true);
    await nextRunIsRight();
  });
}
