// Delivery kills: SIGKILL while the platform delivers to a webhook; nothing is lost, repetitions keep id and order.
// node tests/load/delivery-kill.ts [--rounds 100]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { httpRequest, mustSucceed, openConnection } from '../../bench/load/http.ts';
import { checkDeliveries } from './delivery-checks.ts';
import { call } from './kill-checks.ts';
import { type DeliverySink, startDeliverySink } from './delivery-sink.ts';
import { type PlatformProcess, startProcess } from './platform-process.ts';
import { isProgram } from '../../tools/is-program.ts';

export interface DeliveryKillReport {
  readonly acknowledged: number;
  readonly requests: number;
  /** Requests of deliveries that the receiver had seen before. */
  readonly repeated: number;
  /** Attempts that the receiver rejected, so that they had to be repeated. */
  readonly refused: number;
  readonly violations: readonly string[];
}

interface Device {
  readonly deviceId: string;
  readonly path: string;
  /** Sequence numbers that the platform acknowledged. */
  readonly acknowledged: Set<number>;
  sent: number;
}

const devicesCount = 6;
/** What one device may be ahead of its deliveries, so that the end need not be waited for. */
const aheadMax = 40;
const acknowledgedEachRound = 60;
const roundMsMax = 200;
const caughtUpWithinMs = 60_000;

/** `random` is from 0 to 1. */
export async function deliveryKillRounds(
  rounds: number,
  random: () => number,
): Promise<DeliveryKillReport> {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-delivery-kill-'));
  const settings = { EGRESS_ALLOW: '127.0.0.0/8' };
  const sink = await startDeliverySink(random);
  let platform = await startProcess(directory, settings);
  try {
    const { connectorId, devices } = await makeDevices(platform, sink.url);
    const acknowledged = () => devices.reduce((sum, device) => sum + device.acknowledged.size, 0);
    for (let round = 0; round < rounds; round++) {
      const stop = new AbortController();
      const senders = devices.map((device) => keepSending(platform, device, sink, stop.signal));
      const before = acknowledged();
      await until(() => acknowledged() >= before + acknowledgedEachRound);
      await delay(random() * roundMsMax);
      // With a delivery that has arrived and is not answered yet, the kill is sure to cost one
      // outcome.
      await until(() => sink.holding > 0);
      stop.abort();
      sink.killed();
      await platform.end('SIGKILL');
      await Promise.all(senders);
      // What the last process sent is read to its end before the next one begins.
      await until(() => sink.connections === 0);
      sink.nextLife();
      platform = await startProcess(directory, settings);
    }
    const hasAll = ({ deviceId, acknowledged: wanted }: Device) =>
      [...wanted].every((sequence) => sink.accepted(deviceId, sequence));
    await until(() => devices.every(hasAll));
    const violations = await checkDeliveries(platform, connectorId, devices, sink.arrivals);
    const ids = new Set(sink.arrivals.map(({ deliveryId }) => deliveryId));
    const requests = sink.arrivals.length;
    const refused = sink.arrivals.filter(({ fate }) => fate === 'refused').length;
    return {
      acknowledged: acknowledged(),
      requests,
      repeated: requests - ids.size,
      refused,
      violations,
    };
  } finally {
    await platform.end('SIGKILL');
    await sink.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Devices of one data flow, whose only output is the webhook. */
async function makeDevices(platform: PlatformProcess, uri: string) {
  type Made = { readonly id: string; readonly uplinkSecret: string };
  const connection = await openConnection(platform.target);
  const workspaceId = platform.idOf('Workspace');
  const make = (path: string, body: object) =>
    call<Made>(connection, 'POST', path, { name: 'kill', workspaceId, ...body });
  const hook = await make('/v3/output-connectors', { type: 'WEBHOOK', webhookProperties: { uri } });
  const connector = await make('/v3/device-connectors', { connectivity: 'HTTP' });
  const flow = await make('/v3/data-flows', {
    deviceConnector: { id: connector.id },
    outputConnectors: [{ id: hook.id, topic: '*' }],
    passThrough: true,
  });
  const devices: Device[] = [];
  for (let i = 0; i < devicesCount; i++) {
    const deviceId = `sender-${i}`;
    await make('/v3/devices', { deviceId, dataFlowId: flow.id, connectivity: 'HTTP' });
    const path = `/v3/capture?secret=${connector.uplinkSecret}&deviceId=${deviceId}`;
    devices.push({ deviceId, path, acknowledged: new Set(), sent: 0 });
  }
  connection.close();
  return { connectorId: hook.id, devices };
}

/** One uplink after the other until stopped; errors after that are intended. */
async function keepSending(
  { target }: PlatformProcess,
  device: Device,
  sink: DeliverySink,
  stop: AbortSignal,
): Promise<void> {
  const connection = await openConnection(target);
  const headers = { 'content-type': 'application/json' };
  try {
    while (!stop.aborted) {
      if (device.acknowledged.size - sink.acceptedOf(device.deviceId) > aheadMax) {
        await delay(2);
        continue;
      }
      const sequence = ++device.sent;
      const answer = await connection.send(
        httpRequest('POST', device.path, headers, JSON.stringify({ sequence })),
      );
      mustSucceed(answer);
      device.acknowledged.add(sequence);
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    connection.close();
  }
}

async function until(isSo: () => boolean): Promise<void> {
  const giveUpMs = performance.now() + caughtUpWithinMs;
  while (!isSo()) {
    if (performance.now() > giveUpMs)
      throw new Error(`the deliveries did not catch up within ${caughtUpWithinMs} ms`);
    await delay(1);
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '100' } } });
  const report = await deliveryKillRounds(Number(values.rounds), Math.random);
  console.log(
    JSON.stringify({ ...report, violations: report.violations.slice(0, 50) }, undefined, 2),
  );
  process.exitCode = report.violations.length === 0 ? 0 : 1;
}

if (isProgram(import.meta.filename)) await main();
