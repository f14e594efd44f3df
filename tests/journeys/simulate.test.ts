// The simulator as its users run it: over each protocol, everything that was acknowledged is stored, decoded, and once.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freeUdpPort } from '../world/coap-device.ts';
import { freePort } from '../../bench/load/server-process.ts';
import { startWorld, type World } from '../world/world.ts';

const run = promisify(execFile);

let world: World;
let coapPort: number;
let mqttPort: number;
beforeAll(async () => {
  coapPort = await freeUdpPort();
  mqttPort = await freePort();
  world = await startWorld({
    environment: { COAP_PORT: String(coapPort), MQTT_PORT: String(mqttPort) },
  });
});
afterAll(() => world.close());

function simulator(...flags: string[]): Promise<{ stdout: string; stderr: string }> {
  return run(process.execPath, [
    'bin/preflight.js',
    'clients/simulate/command.ts',
    '--url',
    world.base,
    ...flags,
  ]);
}

async function storedCount(protocol: string): Promise<number> {
  let stored = 0;
  for (const number of ['1', '2', '3']) {
    const device = await world.must(
      'GET',
      `/v3/devices/by-device-id?deviceId=simulated-${protocol}-0000${number}`,
    );
    const samples = await world.must('POST', `/v3/devices/${device.id}/query`, { topic: '*' });
    expect(
      new Set(samples.map(({ data }: { data: { counter: number } }) => data.counter)).size,
    ).toBe(samples.length);
    stored += samples.length;
  }
  return stored;
}

for (const protocol of ['http', 'mqtt', 'coap'] as const)
  test(`over ${protocol}`, { timeout: 240_000 }, async () => {
    const port = {
      http: [],
      mqtt: ['--port', String(mqttPort)],
      coap: ['--port', String(coapPort)],
    }[protocol];
    const flags = [
      '--protocol',
      protocol,
      '--devices',
      '3',
      '--rate',
      '40',
      '--seconds',
      '2',
      ...port,
    ];
    const first = await simulator(...flags, '--key', world.apiKey);
    expect(first.stdout).toContain('3 devices made');
    expect(first.stdout).toMatch(/acknowledged [\d.]+\/s {3}p50/);
    const acknowledged = Number(/sent, (\d+) acknowledged/.exec(first.stdout)?.[1]);
    expect(acknowledged).toBeGreaterThan(20);
    expect(await storedCount(protocol)).toBe(acknowledged);
  });

test('a second run finds the records of the first; a wrong secret is an error of each payload; wrong flags are reported', {
  timeout: 240_000,
}, async () => {
  const again = await simulator(
    '--devices',
    '3',
    '--rate',
    '5',
    '--seconds',
    '1',
    '--key',
    world.apiKey,
  );
  expect(again.stdout).not.toContain('devices made');
  const wrong = await simulator(
    '--devices',
    '3',
    '--rate',
    '20',
    '--seconds',
    '1',
    '--secret',
    'wrong',
  ).catch((error) => error);
  expect(wrong.code).toBe(1);
  expect(wrong.stdout).toContain('401 40104_UPLINK_SECRET_UNKNOWN');
  const refused = await simulator('--protocol', 'pigeon', '--key', world.apiKey).catch(
    (error) => error,
  );
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('--protocol pigeon cannot be used: http, mqtt, coap');
});
