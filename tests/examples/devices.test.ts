// Examples of devices: each runs against a platform that goes away and loses responses, and no reading is lost or stored twice.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { describeWith } from '../servers/server-tests.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';
import { UnsteadyNetwork } from './unsteady-network.ts';

const examples = join(import.meta.dirname, '..', '..', 'examples');
let world: World;
let folder: string;
let device: TestDevice;
let network: UnsteadyNetwork;
let child: ChildProcess | undefined;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'heliograph-example-'));
  device = await world.device();
  network = new UnsteadyNetwork(world.base);
  await network.start();
});
afterEach(async () => {
  await stopped();
  await network.close();
  rmSync(folder, { recursive: true, force: true });
});

function start(program: string, args: readonly string[]): void {
  child = spawn(program, args, {
    cwd: folder,
    stdio: 'ignore',
    // With programs that it started.
    detached: true,
    env: {
      PATH: process.env['PATH'],
      HELIOGRAPH_URL: network.url,
      UPLINK_SECRET: device.secret,
      DEVICE_ID: device.deviceId,
      PYTHONPATH: join(examples, 'device-python'),
      PYTHONDONTWRITEBYTECODE: '1',
      INTERVAL_SECONDS: program === 'sh' ? '1' : '0.05',
      SENSOR: `n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n | tee n | sed 's/.*/{"n":&}/'`,
    },
  });
}

/** Ends the device as a power failure does. */
async function stopped(): Promise<void> {
  const running = child;
  child = undefined;
  if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
  const ended = new Promise((resolve) => running.once('exit', resolve));
  process.kill(-running.pid!, 'SIGKILL');
  await ended;
}

/** Numbers of the stored readings, by their times. */
async function stored(): Promise<number[]> {
  const { body } = await world.call('POST', `/v3/devices/${device.id}/query`, {
    topic: 'default',
    limit: 1000,
  });
  const samples = body as readonly { timestamp: string; data: Record<string, number> }[];
  return samples
    .toSorted((a, b) => a.timestamp.localeCompare(b.timestamp))
    .map(({ data }) => data['n'] ?? data['temperature']!);
}

/** More than the longest pause between attempts, on a machine that is busy. */
const soon = { timeout: 60_000 };
const testMsMax = 90_000;

/** A device that works, loses a response, is offline, and is online again. */
async function loseNothing(): Promise<void> {
  await expect.poll(stored, soon).not.toEqual([]);
  network.passage = 'response lost';
  await expect.poll(() => network.failed['response lost'], soon).toBeGreaterThan(0);
  network.passage = 'away';
  await expect.poll(() => network.failed.away, soon).toBeGreaterThan(0);
  const before = (await stored()).length;
  network.passage = 'passes';
  await expect.poll(async () => (await stored()).length, soon).toBeGreaterThan(before + 1);
  const numbers = await stored();
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
}

describeWith({ path: '/usr/bin/python3', debianPackage: 'python3' }, 'device in Python', () => {
  const counting = (from: number) =>
    `import itertools, device; n = itertools.count(${from}); device.read = lambda: {"n": next(n)}; `;

  test(
    'loses nothing and repeats nothing, offline and killed',
    async () => {
      start('/usr/bin/python3', ['-c', `${counting(1)}device.main()`]);
      await loseNothing();
      network.passage = 'away';
      const { away } = network.failed;
      await expect.poll(() => network.failed.away, soon).toBeGreaterThan(away);
      await stopped();
      const kept = readFileSync(join(folder, 'unsent.ndjson'), 'utf8').trim().split('\n');
      const last = (JSON.parse(kept.at(-1)!) as { data: { n: number } }).data.n;
      writeFileSync(join(folder, 'unsent.ndjson'), `${kept.join('\n')}\n{"time": 17`);
      network.passage = 'passes';
      start('/usr/bin/python3', ['-c', `${counting(last + 1)}device.main()`]);
      await expect.poll(async () => (await stored()).length, soon).toBeGreaterThan(last);
      const numbers = await stored();
      expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    },
    testMsMax,
  );

  test('keeps the newest readings when its buffer is full, and the file is as the memory', () => {
    const code = `
import device
device.READINGS_MAX = 3
unsent = device.Unsent("full.ndjson")
for n in range(5):
    unsent.add({"time": n, "data": {}})
print([reading["time"] for reading in device.Unsent("full.ndjson").readings])
`;
    const printed = execFileSync('/usr/bin/python3', ['-c', code], {
      cwd: folder,
      encoding: 'utf8',
      env: {
        UPLINK_SECRET: 's',
        DEVICE_ID: 'd',
        PYTHONDONTWRITEBYTECODE: '1',
        PYTHONPATH: join(examples, 'device-python'),
      },
    });
    expect(printed.trim()).toBe('[2, 3, 4]');
  });

  test('is Python 3.9', () => {
    const check = 'import ast, sys; ast.parse(open(sys.argv[1]).read(), feature_version=(3, 9))';
    execFileSync('/usr/bin/python3', ['-c', check, join(examples, 'device-python', 'device.py')]);
  });
});

describeWith({ path: '/usr/bin/curl', debianPackage: 'curl' }, 'device with sh and curl', () => {
  test(
    'loses nothing and repeats nothing while it is offline',
    async () => {
      start('sh', [join(examples, 'device-shell', 'device.sh')]);
      await loseNothing();
    },
    testMsMax,
  );
});

describeWith({ path: '/usr/bin/g++', debianPackage: 'g++' }, 'device with an ESP32', () => {
  test(
    'loses nothing and repeats nothing while it is offline',
    async () => {
      const source = readFileSync(join(examples, 'device-esp32', 'device-esp32.ino'), 'utf8');
      const settings: Readonly<Record<string, string>> = {
        'http://192.168.1.10:8080': network.url,
        '"UPLINK_SECRET"': JSON.stringify(device.secret),
        '"room-1"': JSON.stringify(device.deviceId),
        'intervalMs = 60000': 'intervalMs = 50',
      };
      let sketch = source;
      for (const [placeholder, value] of Object.entries(settings)) {
        expect(sketch).toContain(placeholder);
        sketch = sketch.replace(placeholder, value);
      }
      writeFileSync(join(folder, 'sketch.ino'), sketch);
      const headers = join(import.meta.dirname, 'arduino');
      execFileSync('/usr/bin/g++', [
        '-std=c++17',
        '-Wall',
        '-Wextra',
        '-Werror',
        '-x',
        'c++',
        '-I',
        headers,
        `-DSKETCH="${join(folder, 'sketch.ino')}"`,
        join(headers, 'main.cpp'),
        '-o',
        join(folder, 'device'),
        '-pthread',
      ]);
      start(join(folder, 'device'), []);
      await loseNothing();
    },
    testMsMax,
  );
});
