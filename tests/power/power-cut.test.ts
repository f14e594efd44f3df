// The short form of the power cuts; the long form is `npm run bench -- power-cut`.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fleetPowerRounds } from './fleet-power.ts';
import { powerRounds } from './power-rounds.ts';
import { compilePowerCut, powerWorld } from './power-world.ts';

const folder = mkdtempSync(join(tmpdir(), 'heliograph-power-library-'));
let library: string | undefined;
beforeAll(() => {
  library = compilePowerCut(folder);
  if (library === undefined)
    console.log('skipped: power cuts need gcc and the headers of libc (libc6-dev)');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A fixed sequence of numbers from 0 to 1. */
function seeded(seed: number): () => number {
  let turn = seed;
  return () => ((turn += 1) * 0.618_033_988) % 1;
}

test('the library keeps what was synced and nothing else, and makes chosen calls fail', () => {
  if (library === undefined) return;
  const root = mkdtempSync(join(tmpdir(), 'heliograph-power-'));
  const world = powerWorld(root, library);
  const run = (script: string) =>
    spawnSync(
      process.execPath,
      ['-e', `const fs = require('fs'); process.chdir(process.env.POWER_DATA); ${script}`],
      {
        env: { PATH: process.env['PATH'] ?? '', ...world.settings },
        encoding: 'utf8',
      },
    );
  const write = `const write = (name, text, sync) => { const fd = fs.openSync(name, 'a'); fs.writeSync(fd, text);
    if (sync) fs.fsyncSync(fd); fs.closeSync(fd); };`;
  const syncFolder = `fs.fsyncSync(fs.openSync('.', 'r'));`;
  try {
    const first = `${write} write('a', 'one', true); write('a', 'two', false); write('b', 'never', false);`;
    expect(run(`${first} process.kill(process.pid, 'SIGKILL')`).signal).toBe('SIGKILL');
    world.cut('strict', Math.random);
    expect(readdirSync(world.data)).toEqual(['a']);
    expect(readFileSync(join(world.data, 'a'), 'utf8')).toBe('one');
    // A name lasts when the folder was synced, and a truncation with the file.
    run(
      `${write} fs.renameSync('a', 'c'); write('d', 'x', true); ${syncFolder} fs.renameSync('c', 'e'); fs.unlinkSync('d');`,
    );
    world.cut('strict', Math.random);
    expect(readdirSync(world.data).sort()).toEqual(['c', 'd']);
    run(
      `fs.truncateSync('c', 1); fs.fsyncSync(fs.openSync('c', 'r+')); ${write} write('c', '9', true);`,
    );
    world.cut('mixed', Math.random);
    expect(readFileSync(join(world.data, 'c'), 'utf8')).toBe('o9');
    world.faults(['fsync c EIO', 'write d ENOSPC']);
    expect(run(`${write} write('c', 'x', true)`).stderr).toContain('EIO');
    expect(run(`${write} write('d', 'x', false)`).stderr).toContain('ENOSPC');
    writeFileSync(join(root, 'faults'), '');
    expect(run(`${write} write('d', 'x', true)`).status).toBe(0);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

test('5 power cuts under load: nothing acknowledged is lost, nothing is stored twice, no rule misses a sample', {
  timeout: 240_000,
}, async () => {
  if (library === undefined) return;
  const report = await powerRounds(
    library,
    5,
    (round) => (round % 2 === 0 ? 'strict' : 'mixed'),
    seeded(7),
  );
  expect(report.violations).toEqual([]);
  expect(report.acknowledged).toBeGreaterThan(250);
  expect(report.edits).toBeGreaterThan(10);
});

test('6 power cuts of a fleet store, some on a full or failing disk: nothing acknowledged is lost, nothing deleted comes back', {
  timeout: 240_000,
}, async () => {
  if (library === undefined) return;
  const report = await fleetPowerRounds(library, 6, seeded(3));
  expect(report.violations).toEqual([]);
  expect(report.acknowledged.size).toBeGreaterThan(500);
  expect(report.refused).toBeGreaterThan(0);
});
