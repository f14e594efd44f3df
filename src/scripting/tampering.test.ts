// Scripts that tamper with their realm: they reach nothing outside, spoil only their own run, and leave no trace.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../model/json.ts';
import { ScriptMachine } from './script-machine.ts';

let machine: ScriptMachine;
beforeAll(() => {
  machine = new ScriptMachine({ workers: 1 });
});
afterAll(() => machine.close());

async function entriesOf(source: string, tenant = 'tenant'): Promise<[string, Json][]> {
  const { emits } = await machine.run({
    tenant,
    source,
    event: { data: { value: 21 }, state: {} },
  });
  return emits.map(({ type, event }) => [type, event]);
}

const within = (body: string): string => `function consume(event) { ${body} }`;

// What a run says about the world around it.
const probe = within(`
  emit('log', {
    globals: Object.getOwnPropertyNames(globalThis).sort().join(),
    prototype: Object.getOwnPropertyNames(Object.prototype).sort().join(),
    array: Object.getOwnPropertyNames(Array.prototype).sort().join(),
    json: JSON.stringify({ a: [1, 'x'] }), parsed: JSON.parse('{"b":2}'),
    bits: Bits.hexToBits('a5'), hex: Hex.bytesToHex([1, 255]), date: new Date(0), max: Math.max(1, 2),
  });
  emit('sample', { data: { double: event.data.value * 2 } });`);

const isAbsent = (expression: string): [string, string, Json] => [
  `${expression} is absent`,
  `typeof ${expression}`,
  'undefined',
];

const reached: [string, string, Json][] = [
  ...[
    'console',
    'print',
    'require',
    'process',
    'module',
    'exports',
    'fetch',
    'setTimeout',
    'setInterval',
  ].map(isAbsent),
  ...[
    'XMLHttpRequest',
    'WebSocket',
    'WebAssembly',
    'Atomics',
    'Worker',
    'postMessage',
    'load',
    'std',
    'os',
    'Java',
  ].map(isAbsent),
  [
    'constructor of a constructor',
    '[].constructor.constructor("return typeof process")()',
    'undefined',
  ],
  ['constructor of emit', 'emit.constructor("return typeof require")()', 'undefined'],
  ['constructor of Math.random', 'Math.random.constructor("return typeof process")()', 'undefined'],
  [
    'constructor of a formatter',
    'Intl.NumberFormat.constructor("return typeof process")()',
    'undefined',
  ],
  ['global by indirect eval', '(0, eval)("typeof process + typeof console")', 'undefinedundefined'],
  ['this at the top of a function', '(function () { return this === undefined })()', true],
  [
    'arguments of the caller',
    '(() => { try { return typeof consume.caller } catch (e) { return e.name } })()',
    'TypeError',
  ],
  [
    'callee',
    '(function () { try { return arguments.callee } catch (e) { return e.name } })()',
    'TypeError',
  ],
  [
    'the prelude through a stack',
    '(() => { Error.prepareStackTrace = (e, frames) => frames; const s = new Error("x").stack; return typeof s === "object" && Array.isArray(s) ? String(s[0].getThis && s[0].getThis()) : "text" })()',
    'undefined',
  ],
  [
    'import of a file',
    '(() => { try { return eval("import(\\"fs\\")") instanceof Promise } catch (e) { return e.name } })()',
    true,
  ],
  ['the text of emit', '/native|record/.test(emit.toString()) ? "seen" : "seen too"', 'seen too'],
  ['symbols of emit', 'Object.getOwnPropertySymbols(emit).length', 0],
];

for (const [name, expression, value] of reached) {
  test(`nothing is reached: ${name}`, async () => {
    expect(await entriesOf(within(`emit('log', ${expression});`))).toEqual([['LOG', value]]);
  });
}

const polluted: [string, string][] = [
  ['Object.prototype', 'Object.prototype.evil = 1; Object.prototype.data = 2;'],
  ['toJSON of Object.prototype', 'Object.prototype.toJSON = function () { return 1 };'],
  ['toJSON of Array.prototype', 'Array.prototype.toJSON = () => 1;'],
  ['toJSON of String.prototype', 'String.prototype.toJSON = () => 1;'],
  [
    'Array.prototype methods',
    'for (const k of ["push", "map", "join", "slice", "concat"]) Array.prototype[k] = () => { throw 1 };',
  ],
  [
    'index setters',
    'Object.defineProperty(Array.prototype, "0", { set() { throw 1 }, configurable: true });',
  ],
  ['array iterator', 'Array.prototype[Symbol.iterator] = function* () { yield 666 };'],
  ['iterator next', 'Object.getPrototypeOf([][Symbol.iterator]()).next = () => ({ done: true });'],
  ['JSON.stringify', 'JSON.stringify = () => "hacked";'],
  ['JSON.parse', 'JSON.parse = () => ({ hacked: 1 });'],
  ['JSON itself', 'JSON = undefined;'],
  ['String', 'String = () => { throw 1 }; String.prototype = null;'],
  [
    'string methods',
    'for (const k of ["indexOf", "slice", "split", "charCodeAt"]) String.prototype[k] = () => { throw 1 };',
  ],
  [
    'Function.prototype.call',
    'Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw 1 };',
  ],
  ['Function.prototype as callable', 'Object.setPrototypeOf(Function.prototype, null);'],
  ['Reflect', 'Reflect.apply = () => { throw 1 };'],
  ['Promise', 'Promise.prototype.then = () => { throw 1 }; Promise = null;'],
  ['Map', 'Map.prototype.get = Map.prototype.set = () => { throw 1 };'],
  ['Error', 'Error = null; TypeError = null;'],
  ['Error.stackTraceLimit', 'Error.stackTraceLimit = 0;'],
  ['Error.prepareStackTrace', 'Error.prepareStackTrace = () => { throw 1 };'],
  [
    'Symbol.toPrimitive',
    'Object.defineProperty(Date.prototype, Symbol.toPrimitive, { value: () => { throw 1 } });',
  ],
  ['Math', 'Math.random = () => 4; Math.max = () => 0; Math.floor = null;'],
  ['Date', 'Date.now = () => 0; Date = function () { return { hacked: 1 } };'],
  ['Bits and Hex', 'Bits.hexToBits = () => "hacked"; Hex = null;'],
  ['emit', 'emit = () => {};'],
  ['Intl', 'Intl = null;'],
  [
    'globalThis',
    'for (const k of Object.getOwnPropertyNames(globalThis)) try { delete globalThis[k] } catch {}',
  ],
  [
    'frozen built-ins',
    'Object.freeze(Object.prototype); Object.freeze(Array.prototype); Object.freeze(globalThis);',
  ],
  [
    'prototype chains',
    'try { Object.setPrototypeOf(Array.prototype, new Proxy({}, {})) } catch {}',
  ],
  [
    'a proxy as Object.prototype of arrays',
    'Array.prototype.__proto__ = new Proxy(Object.prototype, { get() { throw 1 } });',
  ],
  [
    'a global of its own',
    'globalThis.secret = "of this run"; globalThis.counter = (globalThis.counter || 0) + 1;',
  ],
  [
    'a getter on globalThis',
    'Object.defineProperty(globalThis, "consume", { get() { throw 1 } });',
  ],
  ['undefined and NaN', 'try { undefined = 1 } catch {} try { NaN = 1 } catch {}'],
  [
    'regular expressions',
    'RegExp.prototype.exec = () => null; RegExp.prototype.test = () => true;',
  ],
  ['typed arrays', 'Uint8Array.prototype.set = Uint8Array.from = () => { throw 1 };'],
];

for (const [name, body] of polluted) {
  test(`spoils only its own run: ${name}`, async () => {
    const before = await entriesOf(probe, 'victim');
    const own = await entriesOf(within(`const send = emit; ${body} send("log", "still works");`));
    expect(own).toEqual([['LOG', 'still works']]);
    expect(await entriesOf(probe, 'victim')).toEqual(before);
    expect(await entriesOf(probe)).toEqual(before);
  });
}

const reported: [string, string][] = [
  ['an error whose message throws', 'throw { get message() { throw 1 } };'],
  ['an error whose message never returns a text', 'throw { message: { toString() { throw 1 } } };'],
  [
    'an error whose stack throws',
    'const e = new Error("x"); Object.defineProperty(e, "stack", { get() { throw 1 } }); throw e;',
  ],
  [
    'an error with a stack that names another line',
    'const e = new Error("x"); e.stack = "at (script.js:99999999999:1)"; throw e;',
  ],
  ['an error with a huge message', 'throw new Error("x".repeat(1e6));'],
  ['a proxy', 'throw new Proxy({}, { get() { throw 1 } });'],
  ['a revoked proxy', 'const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy;'],
  ['a symbol', 'throw Symbol("x");'],
  ['null', 'throw null;'],
  ['undefined', 'throw undefined;'],
  ['a number', 'throw 7;'],
  ['a function', 'throw function f() {};'],
  ['a cyclic object', 'const o = {}; o.o = o; throw o;'],
  ['an object without prototype', 'throw Object.create(null);'],
  ['a BigInt', 'throw 7n;'],
  ['an empty text', 'throw "";'],
];

for (const [name, body] of reported) {
  test(`one ERROR with a message is reported for ${name}`, async () => {
    const entries = await entriesOf(within(body));
    expect(entries).toEqual([
      ['ERROR', expect.objectContaining({ message: expect.stringMatching(/^.{1,3000}$/s) })],
    ]);
  });
}

test('no state survives between runs of one script, of others, and of other tenants', async () => {
  const marker = within(`
    const seen = [typeof globalThis.mark, Array.prototype.mark, Bits.mark, emit.mark];
    globalThis.mark = Array.prototype.mark = Bits.mark = emit.mark = 1;
    emit('log', seen);`);
  const clean = [['LOG', ['undefined', null, null, null]]];
  for (let i = 0; i < 20; i++) {
    expect(await entriesOf(marker, 'a')).toEqual(clean);
    expect(await entriesOf(marker, 'b')).toEqual(clean);
    await entriesOf(probe, 'a');
  }
});

test('variables of the top level do not survive (interface 2.10)', async () => {
  const source =
    'let runs = 0; const list = []; function consume() { runs += 1; list.push(1); emit("log", [runs, list.length]); }';
  for (let i = 0; i < 3; i++) expect(await entriesOf(source)).toEqual([['LOG', [1, 1]]]);
});

test('random numbers are others in each run', async () => {
  const source = within('emit("log", [Math.random(), Math.random()]);');
  const seen = new Set<Json>();
  for (let i = 0; i < 20; i++)
    for (const value of (await entriesOf(source))[0]![1] as number[]) seen.add(value);
  expect(seen.size).toBe(40);
});

test('promises left pending do not run in the next run', async () => {
  await entriesOf(within('Promise.resolve().then(() => { for (;;); });'));
  expect(await entriesOf(within('emit("log", 1);'))).toEqual([['LOG', 1]]);
});
