// Kill runs in short form, and other ends of a process: a clean stop under load, a folder in use.
// More than the usual 6 rounds: KILL_ROUNDS=20 npx vitest run tests/load/kill.test.ts
import process from 'node:process';
import { expect, test } from 'vitest';
import type { Book } from './capture-load.ts';
import { startLoad } from './capture-load.ts';
import { checkBook, killRounds, startKillable } from './kill-platform.ts';
import { startProcess, startRefused } from './platform-process.ts';

const epoch = new Date(0).toISOString();
const stopMsMax = 5_000;
const rounds = Number(process.env['KILL_ROUNDS'] ?? 6);

test(`${rounds} kills under load, some during recovery: nothing acknowledged is lost, nothing is invented`, {
  timeout: 240_000 + rounds * 10_000,
}, async () => {
  const report = await killRounds({
    rounds,
    seed: 20_260_105,
    inFlight: 32,
    acknowledgedMax: 250,
  });
  expect(report.violations).toEqual([]);
  expect(report.acknowledged).toBeGreaterThan(rounds * 50);
  expect(report.killsWhileStarting).toBeGreaterThan(0);
});

test('SIGTERM under load: ended with code 0 within 5 s, everything acknowledged is there', {
  timeout: 240_000,
}, async () => {
  const killable = await startKillable();
  try {
    const book: Book = new Map();
    const load = await startLoad(killable.platform.target, killable.devices, book, 32);
    await load.acknowledged(200);
    const { code, ms, output } = await killable.platform.end('SIGTERM');
    await load.ended;
    expect({ code, output }).toEqual({ code: 0, output: expect.any(String) });
    expect(ms).toBeLessThan(stopMsMax);
    killable.platform = await startProcess(killable.directory);
    const violations: string[] = [];
    // A clean stop answers what it stored, so nothing is there that was not acknowledged.
    expect(await checkBook(killable, book, epoch, violations)).toBe(0);
    expect(violations).toEqual([]);

    // The checks themselves detect a missing sample, and one that no client sent.
    const acknowledged = [...book].find(([, { receipt }]) => receipt !== undefined)!;
    const lost = new Map(book).set(book.size + 1, acknowledged[1]);
    await checkBook(killable, lost, epoch, violations);
    expect(violations.splice(0)).toEqual([expect.stringContaining('acknowledged and lost')]);
    const shorter = new Map(book);
    shorter.delete(acknowledged[0]);
    await checkBook(killable, shorter, epoch, violations);
    expect(violations).toContainEqual(expect.stringContaining('invented'));
  } finally {
    await killable.platform.end('SIGKILL');
    killable.remove();
  }
});

test('a second process on the same data folder is refused, saying who holds it', {
  timeout: 240_000,
}, async () => {
  const killable = await startKillable(1);
  try {
    const { code, output } = await startRefused(killable.directory);
    expect(code).toBe(1);
    expect(output).toMatch(
      /^heliograph: The data folder .* is in use by another Heliograph process \(process \d+\)\. Stop it first, or set DATA_DIR to another folder\.\n$/,
    );
    // The first continues without any effect.
    const book: Book = new Map();
    const load = await startLoad(killable.platform.target, killable.devices, book, 4);
    await load.acknowledged(20);
    load.stop();
    await load.ended;
    const violations: string[] = [];
    expect(await checkBook(killable, book, epoch, violations)).toBe(0);
    expect(violations).toEqual([]);
  } finally {
    await killable.platform.end('SIGKILL');
    killable.remove();
  }
});
