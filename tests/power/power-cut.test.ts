// The short form of the power cuts; the long form is `npm run bench -- power-cut`.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyDeliveryLog } from '../../src/storage/delivery-log/segment.ts';
import { scanFrames } from '../../src/storage/log/frame.ts';
import { verifyRawUplinks } from '../../src/storage/raw-uplinks/embedded/uplink-segment.ts';
import { describeWithCompiler } from '../servers/server-tests.ts';
import { fleetPowerRounds } from './fleet-power.ts';
import { powerRounds } from './power-rounds.ts';
import { compilePowerCut, powerWorld } from './power-world.ts';
import type { TornEnds } from './torn-ends-child.ts';

const folder = mkdtempSync(join(tmpdir(), 'heliograph-power-library-'));
let library: string;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A fixed sequence of numbers from 0 to 1. */
function seeded(seed: number): () => number {
  let turn = seed;
  return () => ((turn += 1) * 0.618_033_988) % 1;
}

describeWithCompiler('power cuts', () => {
  beforeAll(() => {
    library = compilePowerCut(folder);
  });

  test('the library keeps what was synced and nothing else, and makes chosen calls fail', () => {
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

  test('reliability 5: what a power cut leaves of ends that were not synced is no damage, and synced bytes that change are', {
    timeout: 240_000,
  }, async () => {
    const root = mkdtempSync(join(tmpdir(), 'heliograph-power-'));
    const world = powerWorld(root, library);
    const random = seeded(11);
    let durable = 0;
    let kept = 0;
    const run = (round: number): TornEnds => {
      const child = join(import.meta.dirname, 'torn-ends-child.ts');
      const { stdout, stderr } = spawnSync(
        process.execPath,
        [child, String(round), String(durable)],
        {
          env: { PATH: process.env['PATH'] ?? '', ...world.settings },
          encoding: 'utf8',
        },
      );
      if (stdout === '') throw new Error(stderr);
      return JSON.parse(stdout) as TornEnds;
    };
    try {
      let torn = 0;
      for (let round = 0; round < 10; round++) {
        const found = run(round);
        expect(found.damage, `round ${round}`).toEqual([]);
        expect(found.readable).toBeGreaterThanOrEqual(kept);
        durable = found.durable;
        kept = found.readable + found.synced;
        world.cut('mixed', random);
        const verified = [
          ...(await verifyDeliveryLog(join(world.data, 'deliveries'), true)).damage,
          ...(await verifyRawUplinks(join(world.data, 'uplinks'))).damage,
        ];
        expect(verified, `after the cut of round ${round}`).toEqual([]);
        torn +=
          (await holesOf(join(world.data, 'deliveries'))) +
          (await holesOf(join(world.data, 'uplinks')));
      }
      // Without holes before whole blocks this test would say nothing.
      expect(torn).toBeGreaterThan(0);
      for (const folder of ['deliveries', 'uplinks']) {
        const [name = ''] = readdirSync(join(world.data, folder)).filter((file) =>
          /\.(?:deliveries|uplinks)$/.test(file),
        );
        const path = join(world.data, folder, name);
        const bytes = readFileSync(path);
        bytes[300]! ^= 1;
        writeFileSync(path, bytes);
      }
      expect((await verifyDeliveryLog(join(world.data, 'deliveries'), true)).damage).toHaveLength(
        1,
      );
      expect((await verifyRawUplinks(join(world.data, 'uplinks'))).damage).toHaveLength(1);
      expect(run(10).damage).toHaveLength(2);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });

  test('reliability 1: 5 power cuts under load while the clock steps: nothing acknowledged is lost, nothing is stored twice, no rule misses a sample', {
    timeout: 240_000,
  }, async () => {
    const report = await powerRounds(
      library,
      5,
      (round) => (round % 2 === 0 ? 'strict' : 'mixed'),
      seeded(7),
    );
    expect(report.violations).toEqual([]);
    expect(report.acknowledged).toBeGreaterThan(250);
    expect(report.edits).toBeGreaterThan(10);
    expect(report.clockSteps).toBe(15);
  });

  test('6 power cuts of a fleet store, some on a full or failing disk: nothing acknowledged is lost, nothing deleted comes back', {
    timeout: 240_000,
  }, async () => {
    const report = await fleetPowerRounds(library, 6, seeded(3));
    expect(report.violations).toEqual([]);
    expect(report.acknowledged.size).toBeGreaterThan(500);
    expect(report.refused).toBeGreaterThan(0);
  });
});

/** Places of the newest file that cannot be read and have whole blocks behind. */
async function holesOf(folder: string): Promise<number> {
  const names = readdirSync(folder).filter((name) => /\.(?:deliveries|uplinks)$/.test(name));
  const path = join(folder, names.sort().at(-1) ?? '');
  let holes = 0;
  for await (const { frames, damage } of scanFrames(path, 0, statSync(path).size))
    if (damage !== undefined && frames.length > 0) holes += 1;
  return holes;
}
