// `npm start -- verify` for operators: an intact folder, damaged copies, one in use, and errors.
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld } from '../world/world.ts';

const project = join(import.meta.dirname, '..', '..');
const root = mkdtempSync(join(tmpdir(), 'heliograph-verify-'));
const sound = join(root, 'sound');
let deviceId: string;

beforeAll(async () => {
  const world = await startWorld({ directory: sound });
  const device = await world.device();
  deviceId = device.id;
  const samples = Array.from({ length: 1_500 }, (_, i) => ({
    timestamp: new Date(Date.UTC(2026, 0, 5) + i * 60_000).toISOString(),
    data: { level: Math.sin(i), door: i % 3 === 0 },
  }));
  await world.must('POST', `/v3/devices/${device.id}/backfill/bulk`, samples);
  await world.close();
});

afterAll(() => rmSync(root, { recursive: true }));

async function run(directory: string, ...words: string[]) {
  const env = { PATH: process.env['PATH'] ?? '', DATA_DIR: directory, LOG_LEVEL: 'silent' };
  const child = spawn(process.execPath, ['bin/preflight.js', 'src/main.ts', ...words], {
    cwd: project,
    env,
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => (stdout += String(text)));
  child.stderr.on('data', (text) => (stderr += String(text)));
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, stdout, stderr };
}

function copyOf(name: string): string {
  const copy = join(root, name);
  cpSync(sound, copy, { recursive: true });
  return copy;
}

function flip(path: string, place: number): void {
  const bytes = readFileSync(path);
  bytes[place]! ^= 0x10;
  writeFileSync(path, bytes);
}

const segmentOf = (folder: string): string => {
  const segments = join(folder, 'samples', 'segments');
  return join(segments, readdirSync(segments).find((name) => name.endsWith('.segment'))!);
};

test('a sound folder: what was read, exit code 0, and nothing changed', async () => {
  const folder = copyOf('unchanged');
  const { code, stdout, stderr } = await run(folder, 'verify');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(`Checked ${folder} in `);
  const figures = Object.fromEntries(
    [...stdout.matchAll(/^ {2}(\S.*?) {2,}(.+)$/gm)].map(([, name, value]) => [name, value]),
  );
  expect(figures).toMatchObject({
    Segments: '1',
    'Samples in chunks': '1,500',
    Hours: '25',
    Records: 'sound',
  });
  expect(figures['Journal frames']).toMatch(/^\d+ with 1,500 samples/);
  expect(stdout).toMatch(/No corruption found\.\n$/);
  for (const path of ['records.sqlite', 'samples/segments/manifest.json'])
    expect(readFileSync(join(folder, path)).equals(readFileSync(join(sound, path))), path).toBe(
      true,
    );
});

test('one changed byte in a segment is reported with file, bytes, device and times: exit code 1', async () => {
  const folder = copyOf('segment');
  const path = segmentOf(folder);
  flip(path, 200);
  const { code, stdout } = await run(folder, 'verify');
  expect(code).toBe(1);
  expect(stdout).toContain(`1 corrupted region:\n\n  chunk in ${path}\n`);
  expect(stdout).toMatch(
    new RegExp(
      `bytes \\d+ to \\d+, device ${deviceId}, topic default, \\d+ samples from 2026-01-0`,
    ),
  );
  expect(stdout).not.toContain('No corruption');
});

test('damaged records are reported: exit code 1', async () => {
  const folder = copyOf('records');
  for (const place of [0, 4_096 + 3]) flip(join(folder, 'records.sqlite'), place);
  const { code, stdout } = await run(folder, 'verify');
  expect(code).toBe(1);
  expect(stdout).toContain(`records in ${join(folder, 'records.sqlite')}\n`);
});

test('a folder in use cannot be checked: exit code 2, and the message says what to do', async () => {
  const world = await startWorld({ directory: copyOf('used') });
  const { code, stdout, stderr } = await run(world.directory, 'verify');
  await world.close();
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(
    /^heliograph: The data folder .* is in use by another Heliograph process \(process \d+\).*\n$/,
  );
});

test('a folder that is missing or empty cannot be checked, and none is created', async () => {
  const missing = join(root, 'missing');
  const { code, stderr } = await run(missing, 'verify');
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: `heliograph: The data folder ${missing} does not exist\n`,
  });
  expect(existsSync(missing)).toBe(false);
  const empty = mkdtempSync(join(root, 'empty-'));
  expect(await run(empty, 'verify')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('No Heliograph data found'),
  });
  expect(readdirSync(empty)).toEqual([]);
});

test('an unknown command is refused with a sentence', async () => {
  const { code, stdout, stderr } = await run(join(root, 'missing'), 'verifi', '--deep');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^heliograph: unknown command "verifi --deep"\. .*verify.*\n$/);
});
