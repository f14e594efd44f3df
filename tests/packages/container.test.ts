// Container: built on a base of Debian packages, run without rights on a read-only root, and used.
import { type SpawnOptions, spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../bench/load/server-process.ts';
import { adminApiKey, firstSample, startProgram } from './newcomer.ts';

const root = join(import.meta.dirname, '../..');
// Layers of images on a file system in memory would fill it.
const folder = mkdtempSync(join('/var/tmp', 'heliograph-container-'));
const data = join(folder, 'data');
const places = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run')];
// Layers as copies are slow, but work on every machine.
const driver = ['overlay', 'vfs'].find(
  (one) => spawnSync('buildah', [...places, '--storage-driver', one, 'info']).status === 0,
);
const store = [...places, '--storage-driver', driver ?? 'vfs'];
const podman = ['--runtime', 'runc', ...store];
/** Where rights are few, only lower limits than the own ones can be set. */
const limits = ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024'];
/** The user of the image. */
const user = 10_001;

function run(command: string, args: readonly string[], options: SpawnOptions = {}): string {
  const ended = spawnSync(command, args, { ...options, encoding: 'utf8' });
  if (ended.status !== 0)
    throw new Error(`${command} ${args.join(' ')}: ${ended.error ?? ended.stderr}`);
  return ended.stdout;
}

beforeAll(() => {
  const base = join(folder, 'base');
  mkdirSync(base);
  const packages = 'ca-certificates,libatomic1';
  run('mmdebstrap', [
    '--variant=minbase',
    `--include=${packages}`,
    'bookworm',
    join(base, 'base.tar'),
  ]);
  writeFileSync(join(base, 'Dockerfile'), 'FROM scratch\nADD base.tar /\n');
  build('heliograph-base', base, []);
  run(process.execPath, [join(root, 'tools/package.ts'), 'container', folder]);
  build('heliograph', join(folder, 'container'), ['--build-arg', 'BASE=localhost/heliograph-base']);
  mkdirSync(data);
  chownSync(data, user, user);
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }), 180_000);

function build(name: string, context: string, args: readonly string[]): void {
  // Without the format of Docker the image has no health check.
  const command = [...store, 'bud', '--isolation=chroot', '--format', 'docker', ...args];
  run('buildah', [...command, '-t', name, context]);
}

/** Starts the image as an orchestrator would that trusts it with nothing. */
async function startContainer(name: string, port: number) {
  const settings = { HOST: '127.0.0.1', PORT: port, MQTT_PORT: 0, COAP_PORT: 0, LOG_LEVEL: 'warn' };
  const environment = Object.entries({ ...settings, ADMIN_API_KEY: adminApiKey });
  return startProgram(
    'podman',
    [
      ...podman,
      'run',
      '--rm',
      '--name',
      name,
      '--network',
      'host',
      '--read-only',
      '--cap-drop',
      'all',
      '--security-opt',
      'no-new-privileges',
      ...limits,
      ...environment.flatMap(([key, value]) => ['--env', `${key}=${value}`]),
      '--volume',
      `${data}:/var/lib/heliograph`,
      'localhost/heliograph',
    ],
    { cwd: folder },
  );
}

test('from the image to the first sample; it stops as process 1', async () => {
  const name = `heliograph-${process.pid}`;
  const startedAt = performance.now();
  const platform = await startContainer(name, await freePort());
  await firstSample(platform);
  console.log(
    `container: first sample after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
  );
  const exec = (...command: string[]) => run('podman', [...podman, 'exec', name, ...command]);
  expect(exec('id', '-u')).toBe(`${user}\n`);
  expect(exec('sh', '-c', 'tr "\\0" " " < /proc/1/cmdline')).toContain('program/start.js');
  expect(exec('sh', '-c', 'touch /etc/x 2>&1 || true')).toContain('Read-only file system');
  const client = ['env', `HELIOGRAPH_URL=http://127.0.0.1:${platform.port}`];
  expect(exec(...client, `HELIOGRAPH_API_KEY=${adminApiKey}`, 'heliograph', 'devices')).toMatch(
    /^DEVICE ID +NAME/,
  );
  expect(exec('grep', 'CapEff', '/proc/1/status')).toMatch(/0{16}/);
  run('podman', [...podman, 'healthcheck', 'run', name]);
  const stoppedAt = performance.now();
  run('podman', [...podman, 'stop', name]);
  // After ten seconds it would be killed.
  expect(performance.now() - stoppedAt).toBeLessThan(9_000);
  expect(await platform.ended).toEqual([0, null]);
}, 180_000);

test('a signal while it starts ends it', async () => {
  const name = `heliograph-early-${process.pid}`;
  const created = ['create', '--name', name, '--network', 'host', '--read-only', ...limits];
  run('podman', [...podman, ...created, '--env', 'PORT=0', 'localhost/heliograph']);
  run('podman', [...podman, 'start', name]);
  const stoppedAt = performance.now();
  run('podman', [...podman, 'stop', name]);
  expect(performance.now() - stoppedAt).toBeLessThan(9_000);
  const state = run('podman', [...podman, 'inspect', '--format', '{{.State.ExitCode}}', name]);
  expect(['0', '143']).toContain(state.trim());
  run('podman', [...podman, 'rm', name]);
}, 180_000);
