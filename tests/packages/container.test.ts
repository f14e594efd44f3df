// Container: built on a base of Debian packages, run as the Compose examples say, without rights on a read-only root, and used.
import { type SpawnOptions, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../bench/load/server-process.ts';
import { type ComposeService, composeServices, filled } from '../examples/compose-files.ts';
import { clickhouse, startClickHouse } from '../servers/clickhouse.ts';
import { postgresql, startPostgresqlIn } from '../servers/postgresql.ts';
import { adminApiKey, firstSample, startProgram } from './newcomer.ts';

const root = join(import.meta.dirname, '../..');
// Layers of images on a file system in memory would fill it.
const folder = mkdtempSync(join('/var/tmp', 'heliograph-container-'));
const places = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run')];
// Layers as copies are slow, but work on every machine.
const driver = ['overlay', 'vfs'].find(
  (one) => spawnSync('buildah', [...places, '--storage-driver', one, 'info']).status === 0,
);
const store = [...places, '--storage-driver', driver ?? 'vfs'];
const podman = ['--runtime', 'runc', ...store];
/** Where rights are few, only lower limits than the own ones can be set. */
const limits = ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024'];
const password = 'f'.repeat(64);
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
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }), 180_000);

function build(name: string, context: string, args: readonly string[]): void {
  // Without the format of Docker the image has no health check.
  const command = [...store, 'bud', '--isolation=chroot', '--format', 'docker', ...args];
  run('buildah', [...command, '-t', name, context]);
}

/** The options of `podman run` for a service of Compose, but for its ports: the network is the machine's. */
function optionsOf({ volumes, ...service }: ComposeService): string[] {
  return [
    ...(service.read_only ? ['--read-only'] : []),
    ...service.cap_drop.flatMap((name) => ['--cap-drop', name]),
    ...service.security_opt.flatMap((option) => ['--security-opt', option]),
    '--stop-timeout',
    service.stop_grace_period.replace('s', ''),
    ...volumes.flatMap((volume) => ['--volume', volume]),
  ];
}

/** Starts the image as the Compose examples do. */
async function startContainer(
  name: string,
  port: number,
  service: ComposeService,
  addresses: Readonly<Record<string, string>> = {},
) {
  const settings = {
    ...Object.fromEntries(
      Object.entries(service.environment).map(([key, value]) => [key, filled(value, password)]),
    ),
    HOST: '127.0.0.1',
    PORT: `${port}`,
    MQTT_PORT: '0',
    COAP_PORT: '0',
    LOG_LEVEL: 'warn',
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    ADMIN_API_KEY: adminApiKey,
    ...addresses,
  };
  const environment = Object.entries(settings).flatMap(([key, value]) => [
    '--env',
    `${key}=${value}`,
  ]);
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
      ...limits,
      ...environment,
      ...optionsOf(service),
      `localhost/${service.image}`,
    ],
    { cwd: folder },
  );
}

test('from the image to the first sample; it stops as process 1', async () => {
  const name = `heliograph-${process.pid}`;
  const startedAt = performance.now();
  const platform = await startContainer(name, await freePort(), composeServices().heliograph);
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
  const inspect = (format: string) =>
    run('podman', [...podman, 'inspect', '--format', format, name]).trim();
  // Before, the kernel drops it, because process 1 has no default for signals.
  await expect.poll(() => catches(inspect('{{.State.Pid}}'), 'SIGTERM')).toBe(true);
  const stoppedAt = performance.now();
  run('podman', [...podman, 'stop', name]);
  expect(performance.now() - stoppedAt).toBeLessThan(9_000);
  expect(['0', '143']).toContain(inspect('{{.State.ExitCode}}'));
  run('podman', [...podman, 'rm', name]);
}, 180_000);

/** Whether the process listens to the signal. */
function catches(pid: string, signal: NodeJS.Signals): boolean {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const caught = BigInt(`0x${/^SigCgt:\s+(\S+)$/m.exec(status)![1]}`);
  return ((caught >> BigInt(constants.signals[signal] - 1)) & 1n) === 1n;
}

test('with PostgreSQL and ClickHouse, as compose.databases.yaml sets them', async () => {
  expect([postgresql.path, clickhouse.path].filter((path) => !existsSync(path))).toEqual([]);
  // A start never moves what is stored, so it refuses the volume of the tests above.
  run('podman', [...podman, 'volume', 'rm', 'heliograph']);
  // Servers run as other users, which cannot enter the folder of the images.
  const places = ['postgres', 'clickhouse'].map((name) =>
    mkdtempSync(join(tmpdir(), `heliograph-${name}-`)),
  );
  const [records = '', samples = ''] = places;
  const { heliograph, postgres } = composeServices('compose.databases.yaml');
  const { POSTGRES_USER: username, POSTGRES_DB: database } = postgres!.environment;
  const port = await freePort();
  const login = { port, username: username!, password, database: database! };
  const server = await startPostgresqlIn(records, { ...login, hasChecksums: true });
  const store = await startClickHouse(samples, { password });
  try {
    const addressOf = (name: string, from: string, to: string) => {
      const address = filled(heliograph.environment[name]!, password);
      expect(address).toContain(`@${from}/`);
      return address.replace(from, to);
    };
    const name = `heliograph-databases-${process.pid}`;
    const platform = await startContainer(name, await freePort(), heliograph, {
      RECORDS_URL: addressOf('RECORDS_URL', 'postgres:5432', `127.0.0.1:${port}`),
      SAMPLES_URL: addressOf('SAMPLES_URL', 'clickhouse:8123', `127.0.0.1:${store.ports.http}`),
    });
    await firstSample(platform);
    await expect
      .poll(() => store.ask("select count() > 0 from system.tables where database = 'heliograph'"))
      .toEqual([['1']]);
    run('podman', [...podman, 'stop', name]);
    expect(await platform.ended).toEqual([0, null]);
  } finally {
    await Promise.all([server.stop(), store.stop()]);
    for (const place of places) rmSync(place, { recursive: true });
  }
}, 180_000);
