// Single executable: written, started with no other file, and used to the first sample.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adminApiKey, firstSample, newcomerSettings, startProgram } from './newcomer.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'heliograph-executable-'));
const executable = join(folder, 'heliograph');
const home = join(folder, 'home');
const environment = {
  PATH: '/usr/bin:/bin',
  HOME: home,
  ...newcomerSettings(join(folder, 'data')),
};

afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeAll(() => {
  const made = spawnSync(process.execPath, ['tools/package.ts', 'executable', folder], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(made.stderr + made.stdout).toContain(`written: ${executable}`);
}, 240_000);

test('from nothing to the first sample, with a script that runs in a thread', async () => {
  const startedAt = performance.now();
  const platform = await startProgram(executable, [], { cwd: folder, env: environment });
  await firstSample(platform);
  console.log(`executable: first sample after ${seconds(startedAt)}`);
  const url = `http://127.0.0.1:${platform.port}`;
  const client = { ...environment, HELIOGRAPH_URL: url, HELIOGRAPH_API_KEY: adminApiKey };
  const run = (...words: string[]) =>
    spawnSync(executable, words, { cwd: folder, env: client, encoding: 'utf8' });
  const devices = run('devices', '--json');
  expect(devices).toMatchObject({ status: 0, stderr: '' });
  const { deviceId } = JSON.parse(devices.stdout) as { readonly deviceId: string };
  expect(run('query', deviceId).stdout).toMatch(/"t":/);
  expect(run('query', 'nobody')).toMatchObject({ status: 1, stdout: '' });
  const askedAt = performance.now();
  expect(run('help').stdout).toContain('usage: heliograph COMMAND');
  console.log(`executable: help after ${seconds(askedAt)}`);
  expect(await platform.stop()).toEqual([0, null]);
}, 240_000);

test('`verify` runs what was unpacked before', () => {
  const ended = spawnSync(executable, ['verify'], {
    cwd: folder,
    env: environment,
    encoding: 'utf8',
  });
  expect(ended).toMatchObject({ status: 0, stderr: '' });
  expect(ended.stdout).toContain('No corruption found');
  const unpacked = readdirSync(join(home, '.cache', 'heliograph'));
  expect(unpacked.filter((name) => /^heliograph-[\d.]+-[\da-f]{16}$/.test(name))).toHaveLength(1);
});

test('a program that others can write is not run', () => {
  const cache = join(home, '.cache', 'heliograph');
  const [name = ''] = readdirSync(cache).filter((one) => /-[\da-f]{16}$/.test(one));
  chmodSync(join(cache, name), 0o777);
  const ended = spawnSync(executable, ['verify'], {
    cwd: folder,
    env: environment,
    encoding: 'utf8',
  });
  chmodSync(join(cache, name), 0o700);
  expect(ended.status).toBe(1);
  expect(ended.stderr).toBe(
    `heliograph: ${join(cache, name)} belongs to another user, or others can write it: remove it, and start again\n`,
  );
});

test('without a folder for such files, it unpacks into the data folder', () => {
  const data = join(folder, 'another');
  const env = { ...environment, HOME: join(root, 'package.json'), DATA_DIR: data };
  const ended = spawnSync(executable, ['no-such-command'], { cwd: folder, env, encoding: 'utf8' });
  expect(ended.stderr).toContain('unknown command "no-such-command"');
  expect(readdirSync(data)).toEqual(['program']);
}, 240_000);

function seconds(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
}
