// Which scripts may run where their event is received.
import { expect, test } from 'vitest';
import { localScriptLimits, QuickScripts } from './local-scripts.ts';

const script = { tenant: 'a', code: 'function consume() {}' };
const hourMs = 3_600_000;

function start() {
  const clock = { ms: 0 };
  return { clock, quick: new QuickScripts(() => clock.ms) };
}

function noteMany(quick: QuickScripts, count: number, ms = 0.1, of = script): void {
  for (let run = 0; run < count; run++) quick.note(of, ms, false);
}

test('after enough quick runs, of this tenant and this source', () => {
  const { quick } = start();
  expect(quick.isQuick(script)).toBe(false);
  noteMany(quick, 31);
  expect(quick.isQuick(script)).toBe(false);
  noteMany(quick, 1);
  expect(quick.isQuick(script)).toBe(true);
  expect(quick.isQuick({ ...script, tenant: 'b' })).toBe(false);
  expect(quick.isQuick({ ...script, code: `${script.code}\n` })).toBe(false);
});

test('a few slow runs are those of the machine, more are those of the script', () => {
  const { quick } = start();
  noteMany(quick, 60);
  noteMany(quick, 4, 5);
  expect(quick.isQuick(script)).toBe(true);
  noteMany(quick, 6, 5);
  expect(quick.isQuick(script)).toBe(false);
  noteMany(quick, 300);
  expect(quick.isQuick(script)).toBe(true);
});

test('one that has a state is refused for an hour, then for two', () => {
  const { quick, clock } = start();
  noteMany(quick, 64);
  quick.note(script, 0.1, true);
  noteMany(quick, 64);
  expect(quick.isQuick(script)).toBe(false);
  clock.ms += hourMs;
  expect(quick.isQuick(script)).toBe(true);
  quick.refuse(script);
  noteMany(quick, 64);
  clock.ms += hourMs;
  expect(quick.isQuick(script)).toBe(false);
  clock.ms += hourMs;
  expect(quick.isQuick(script)).toBe(true);
});

test('a long source is not compiled there', () => {
  const { quick } = start();
  const long = { ...script, code: ' '.repeat(localScriptLimits.sourceCharsMax + 1) };
  noteMany(quick, 64, 0.1, long);
  expect(quick.isQuick(long)).toBe(false);
});

test('a tenant that tries many sources displaces its own', () => {
  const { quick } = start();
  noteMany(quick, 64);
  noteMany(quick, 64, 0.1, { ...script, tenant: 'b' });
  for (let n = 0; n < 200; n++) quick.note({ tenant: 'b', code: String(n) }, 0.1, false);
  expect(quick.isQuick(script)).toBe(true);
  expect(quick.isQuick({ ...script, tenant: 'b' })).toBe(false);
});
