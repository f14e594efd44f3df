// npm package: packed by npm, installed by npx into an empty cache with its locked versions, and used.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readLockFile } from '../../tools/lock-file.ts';
import { shrinkwrapOf } from '../../tools/packages/shrinkwrap.ts';
import { firstSample, newcomerSettings, startProgram } from './newcomer.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'heliograph-npx-'));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

let archive = '';
beforeAll(() => {
  const packed = spawnSync('npm', ['pack', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(packed).toMatchObject({ status: 0 });
  [archive = ''] = globSync('*.tgz', { cwd: folder }).map((name) => join(folder, name));
}, 400_000);

test('the package has its locked versions, and packing leaves no file behind', () => {
  expect(existsSync(join(root, 'npm-shrinkwrap.json'))).toBe(false);
  const { stdout } = spawnSync('tar', ['-xzOf', archive, 'package/npm-shrinkwrap.json'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  expect(stdout).toBe(shrinkwrapOf(readLockFile(root)));
  const { packages } = JSON.parse(stdout) as { packages: Record<string, unknown> };
  expect(Object.keys(packages)).toContain('node_modules/fastify');
  expect(Object.keys(packages)).not.toContain('node_modules/vitest');
});

test("the packed console has React's production build, whatever NODE_ENV said", () => {
  const { stdout } = spawnSync(
    'tar',
    ['-xzOf', archive, '--wildcards', 'package/dist/console/dist/assets/base-*.js'],
    { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  // The development build has messages of words instead.
  expect(stdout).toContain('Minified React error #');
});

test('npx starts it, and the platform ends with npx', async () => {
  const startedAt = performance.now();
  const npx = await startProgram('npx', ['--yes', `--package=${archive}`, 'heliograph'], {
    cwd: folder,
    env: {
      ...process.env,
      ...newcomerSettings(join(folder, 'data')),
      npm_config_cache: join(folder, 'cache'),
    },
  });
  const readyAt = performance.now();
  await firstSample(npx);
  const [ready, sample] = [readyAt, performance.now()].map((at) =>
    ((at - startedAt) / 1000).toFixed(1),
  );
  console.log(`npx: ready after ${ready} s, first sample after ${sample} s`);
  // npx does not pass the signal on to the program that it started.
  await npx.stop();
  await expect.poll(() => answers(npx.port), { timeout: 60_000 }).toBe(false);
}, 300_000);

async function answers(port: number): Promise<boolean> {
  await delay(0);
  return fetch(`http://127.0.0.1:${port}/health/live`).then(
    () => true,
    () => false,
  );
}
