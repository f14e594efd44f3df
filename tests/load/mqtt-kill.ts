// MQTT kills: SIGKILL while clients publish, and a restart; acknowledged messages exist once.
// node tests/load/mqtt-kill.ts [--rounds 100] [--seed 1]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import mqtt, { type MqttClient } from 'mqtt';
import { httpRequest, mustSucceed, openConnection } from '../../bench/load/http.ts';
import { freePort } from '../../bench/load/server-process.ts';
import { databaseConnectorId } from '../../src/model/ids.ts';
import { call } from './kill-checks.ts';
import { apiKey, type PlatformProcess, startProcess } from './platform-process.ts';
import { isProgram } from '../../tools/is-program.ts';

export interface MqttKillReport {
  published: number;
  /** Packets that clients sent a second time. */
  repeated: number;
  readonly violations: string[];
}

interface Sender {
  readonly client: MqttClient;
  readonly topic: string;
  /** Sequence numbers in flight. */
  readonly inFlight: Set<number>;
}

const clientsCount = 4;
const inFlightEach = 16;
const roundMsMax = 150;
const caughtUpWithinMs = 30_000;
const countingScript = `function consume(event) {
  const count = (event.state.count || 0) + 1;
  emit('state', { count });
  emit('sample', { data: { ...event.data, count } });
}`;

/** `random` is from 0 to 1. */
export async function mqttKillRounds(
  rounds: number,
  random: () => number,
): Promise<MqttKillReport> {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-mqtt-kill-'));
  const settings = { MQTT_PORT: String(await freePort()) };
  let platform = await startProcess(directory, settings);
  const report: MqttKillReport = { published: 0, repeated: 0, violations: [] };
  const device = await makeDevice(platform);
  const senders = Array.from({ length: clientsCount }, (_, i) =>
    openSender(device, settings.MQTT_PORT, i, report),
  );
  const acknowledged = new Set<number>();
  const publishing = new AbortController();
  try {
    for (const sender of senders) keepPublishing(sender, report, acknowledged, publishing.signal);
    for (let round = 0; round < rounds; round++) {
      const before = acknowledged.size;
      await until(() => acknowledged.size > before + 20);
      await delay(random() * roundMsMax);
      await platform.end('SIGKILL');
      platform = await startProcess(directory, settings);
    }
    publishing.abort();
    // Clients send again what was not acknowledged, until it is.
    await until(() => senders.every(({ inFlight }) => inFlight.size === 0));
    await check(platform, device.id, acknowledged, report);
  } finally {
    publishing.abort();
    for (const { client } of senders) client.end(true);
    await platform.end('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
  return report;
}

interface Device {
  readonly id: string;
  readonly connectorId: string;
  readonly secret: string;
}

async function makeDevice(platform: PlatformProcess): Promise<Device> {
  type Made = { readonly id: string; readonly uplinkSecret: string };
  const connection = await openConnection(platform.target);
  const workspaceId = platform.idOf('Workspace');
  const organizationId = platform.idOf('Organization');
  const make = (path: string, body: object) =>
    call<Made>(connection, 'POST', path, { name: 'kill', ...body });
  const connector = await make('/v3/device-connectors', { workspaceId, connectivity: 'MQTT' });
  const uplinkScript = { code: countingScript };
  const type = await make('/v3/device-types', {
    organizationId,
    type: 'manual',
    meta: {},
    uplinkScript,
  });
  const flow = await make('/v3/data-flows', {
    workspaceId,
    deviceConnector: { id: connector.id },
    deviceType: { id: type.id },
    outputConnectors: [{ id: databaseConnectorId, topic: '*' }],
    passThrough: false,
  });
  const draft = { deviceId: 'sender', workspaceId, dataFlowId: flow.id, connectivity: 'MQTT' };
  const { id } = await make('/v3/devices', draft);
  connection.close();
  return { id, connectorId: connector.id, secret: connector.uplinkSecret };
}

function openSender(
  { connectorId, secret }: Device,
  port: string,
  index: number,
  report: MqttKillReport,
): Sender {
  const client = mqtt.connect(`mqtt://127.0.0.1:${port}`, {
    username: connectorId,
    password: secret,
    clientId: `sender-${index}`,
    clean: false,
    reconnectPeriod: 50,
  });
  // The platform is killed on purpose.
  client.on('error', () => undefined);
  const sent = new Set<string>();
  client.on('packetsend', (packet) => {
    if (packet.cmd !== 'publish') return;
    if (sent.has(String(packet.payload))) report.repeated++;
    sent.add(String(packet.payload));
  });
  return { client, topic: `/up/${secret}/id/sender`, inFlight: new Set() };
}

function keepPublishing(
  sender: Sender,
  report: MqttKillReport,
  acknowledged: Set<number>,
  stop: AbortSignal,
): void {
  const { client, topic, inFlight } = sender;
  const next = (): void => {
    if (stop.aborted) return;
    const sequence = ++report.published;
    inFlight.add(sequence);
    client.publish(topic, JSON.stringify({ sequence }), { qos: 1 }, (error) => {
      inFlight.delete(sequence);
      // The client drops its callback when a connection breaks, and still repeats the packet.
      if (error) setTimeout(next, 20);
      else {
        acknowledged.add(sequence);
        next();
      }
    });
  };
  for (let i = 0; i < inFlightEach; i++) next();
}

async function until(isSo: () => boolean): Promise<void> {
  const giveUpMs = performance.now() + caughtUpWithinMs;
  while (!isSo()) {
    if (performance.now() > giveUpMs)
      throw new Error(`the clients did not catch up within ${caughtUpWithinMs} ms`);
    await delay(5);
  }
}

async function check(
  platform: PlatformProcess,
  id: string,
  acknowledged: ReadonlySet<number>,
  { violations }: MqttKillReport,
): Promise<void> {
  const connection = await openConnection(platform.target);
  const path = `/v3/devices/${id}/export?format=ndjson&from=${new Date(0).toISOString()}`;
  const text = mustSucceed(
    await connection.send(httpRequest('GET', path, { 'x-api-key': apiKey })),
  ).toString();
  const notes = await call<{ totalElements: number }>(
    connection,
    'GET',
    `/v3/devices/${id}/processing-logs`,
  );
  connection.close();
  type Found = { data: { sequence: number; count: number } };
  const found = text
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as Found).data);
  const seen = new Set<number>();
  for (const { sequence } of found) {
    if (seen.has(sequence)) violations.push(`stored twice: ${sequence}`);
    seen.add(sequence);
  }
  const lost = [...acknowledged].filter((sequence) => !seen.has(sequence));
  // A run that a busy machine interrupts leaves a note in place of its sample.
  if (lost.length > notes.totalElements)
    violations.push(`acknowledged and lost: ${lost.slice(0, 10).join(', ')}`);
  const counts = found.map(({ count }) => count).toSorted((a, b) => a - b);
  const gap = counts.findIndex((count, i) => i > 0 && count !== counts[i - 1]! + 1);
  if (gap !== -1)
    violations.push(`the state counter goes from ${counts[gap - 1]} to ${counts[gap]}`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '100' } } });
  const report = await mqttKillRounds(Number(values.rounds), Math.random);
  console.log(
    JSON.stringify({ ...report, violations: report.violations.slice(0, 50) }, undefined, 2),
  );
  process.exitCode = report.violations.length === 0 ? 0 : 1;
}

if (isProgram(import.meta.filename)) await main();
