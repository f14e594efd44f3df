// Installed package: packed, unpacked next to the production packages only, and started with the demo.
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeOutput } from '../../tools/build-output.ts';
import { readLockFile } from '../../tools/lock-file.ts';
import { outputUntil } from '../world/program-output.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'heliograph-package-'));
const packed = join(folder, 'packed');
const installed = join(folder, 'node_modules', 'heliograph');
const startWithinMs = 60_000;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(async () => {
  for (const path of ['package.json', 'bin', 'docs', 'README.md', 'LICENSE', 'CHANGELOG.md'])
    cpSync(join(root, path), join(packed, path), { recursive: true });
  // Types are checked by `npm run check`.
  const built = await writeOutput(root, join(packed, 'dist'), ['--noCheck']);
  expect(built).toMatchObject({ succeeded: true });
  run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], packed);
  mkdirSync(installed, { recursive: true });
  run('tar', ['-xzf', archive(), '--strip-components=1', '-C', installed], folder);
  linkProductionPackages();
}, startWithinMs);

function run(program: string, args: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
}

function archive(): string {
  const [name] = globSync('*.tgz', { cwd: folder });
  if (name === undefined) throw new Error('npm pack wrote no archive');
  return join(folder, name);
}

/** Copies no package: links those that `npm ci --omit=dev` would install. */
function linkProductionPackages(): void {
  const lock = readLockFile(root);
  for (const [path, { dev }] of Object.entries(lock.packages)) {
    const isTopLevel = path.lastIndexOf('node_modules/') === 0;
    if (!isTopLevel || dev === true) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(root, path), join(folder, path));
  }
}

test('review bug B9: the package contains the product and no test code', () => {
  const files = globSync('**/*', { cwd: installed }).map((path) => path.replaceAll('\\', '/'));
  expect(files).toEqual(
    expect.arrayContaining([
      'bin/heliograph.js',
      'dist/src/main.js',
      'dist/src/scripting/guest/prelude.js',
      'dist/src/scripting/script-worker.js',
      'dist/clients/demo/demo.js',
      'dist/clients/command-line/command.js',
      'dist/clients/file-backfill/command.js',
      'docs/operating.md',
    ]),
  );
  expect(files.filter((path) => /(^|\/)testing-|\.test\.|conformance|\.ts$/.test(path))).toEqual(
    [],
  );
  const code = files.filter((path) => path.startsWith('dist/') && path.endsWith('.js'));
  const development = /from '(vitest|fast-check|coap|ajv)'/;
  expect(
    code.filter((path) => development.test(readFileSync(join(installed, path), 'utf8'))),
  ).toEqual([]);
});

test(
  'the installed package starts, runs a script, begins its demo and stops',
  async () => {
    const apiKey = '00000000000000aa.6ab5ae5c-4a53-4a4c-9b0a-0f6d4a4f3f11';
    const platform = spawn(process.execPath, [join(installed, 'bin/heliograph.js')], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        DATA_DIR: join(folder, 'data'),
        DEMO: '1',
        ADMIN_API_KEY: apiKey,
        PORT: '0',
        MQTT_PORT: '0',
        COAP_PORT: '0',
      },
    });
    const ended = once(platform, 'exit');
    try {
      const [, port] = await outputUntil(platform, /is ready on [^:]+:(\d+)[^]*Demo: /);
      const response = await fetch(`http://127.0.0.1:${port}/v3/run-script`, {
        method: 'POST',
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ script: `function consume(event) { emit('log', 7); }`, event: {} }),
      });
      expect(await response.json()).toEqual([{ type: 'LOG', event: 7 }]);
      const sender = { url: `http://127.0.0.1:${port}`, key: apiKey };
      expect(await devicesFrom(sender)).toMatch(/^DEVICE ID +NAME +STATE +ID\n/);
    } finally {
      platform.kill('SIGTERM');
    }
    expect(await ended).toEqual([0, null]);
  },
  startWithinMs,
);

/** What the command of the package lists, with the pinned Node. */
async function devicesFrom({ url, key }: { url: string; key: string }): Promise<string> {
  const program = join(installed, 'bin/heliograph.js');
  const args = [program, 'devices', '--url', url, '--key', key];
  return (await promisify(execFile)(process.execPath, args)).stdout;
}
