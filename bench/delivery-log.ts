// Processor time of a delivery without its request: draft, queue, context, outcome in the log on the disk.
// node bench/delivery-log.ts [--deliveries 100000] [--devices 1000]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { DeliveryLog } from '../src/storage/delivery-log/delivery-log.ts';
import { recordOutcome } from '../src/outputs/deliveries/delivery-outcomes.ts';
import { loadDelivery } from '../src/outputs/deliveries/attempts/waiting-delivery.ts';
import { Deliverer } from '../src/outputs/deliveries/attempts/delivery-worker.ts';
import { DeliveryIntake } from '../src/outputs/deliveries/delivery-intake.ts';
import { queueOutputs } from '../src/outputs/deliveries/outputs.ts';
import type { UplinkRoute } from '../src/inventory/devices/uplink-route-cache.ts';
import { cursorAt, type DurableEntry } from '../src/model/journal-entry.ts';
import { defaultPayload } from '../src/model/template-context.ts';
import { setTimer } from '../src/structures/timers.ts';
import { figure, publish } from './load/measure.ts';
import { telemetryOf } from '../src/telemetry/testing-telemetry.ts';

const { values: flags } = parseArgs({
  options: {
    deliveries: { type: 'string', default: '100000' },
    devices: { type: 'string', default: '1000' },
  },
});
const total = Number(flags.deliveries);
const devices = Number(flags.devices);
const entriesPerTurn = 100;

const directory = mkdtempSync(join(tmpdir(), 'heliograph-delivery-log-'));
try {
  await measure();
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function measure(): Promise<void> {
  const failed = (error: unknown): void => {
    throw error;
  };
  const now = Date.now;
  const log = await DeliveryLog.open({
    directory,
    now,
    setTimer,
    failed,
    damaged: failed,
    expected: false,
  });
  const telemetry = telemetryOf({ deliveryTried: () => undefined, noted: () => undefined });
  const deliverer = new Deliverer({
    load: (waiting) => loadDelivery(waiting, log),
    // What a target does before it sends: the payload of the delivery.
    async send(delivery) {
      delivery.contextText = defaultPayload(delivery.context, true);
      return { ok: true, answer: 'HTTP 200\nok' };
    },
    saveNotes: async () => undefined,
    record: (tried) =>
      recordOutcome(tried, { log, telemetry, recorded: ({ waiting }) => intake.release(waiting) }),
    failed,
    newId: () => 'none',
    now,
    clock: () => performance.now(),
    random: Math.random,
    setTimer,
  });
  const known = new Set<string>();
  const intake = new DeliveryIntake({ log, deliverer, now, from: 0, known, knownTo: 0 });
  const routes = Array.from({ length: devices }, (_, i) => routeOf(i));
  const stages = {
    findRoute: (id: string) => routes[Number(id)]!,
    enqueue: intake.add,
    outputsOf: () => undefined,
    unreadable: async () => undefined,
    failed,
    pause: async () => undefined,
    now,
  };
  let withRequests = 0;
  const run = async (from: number, count: number): Promise<number> => {
    const before = process.cpuUsage();
    for (let at = from; at < from + count; at += entriesPerTurn) {
      const entries = Array.from({ length: entriesPerTurn }, (_, i) => entryOf(at + i));
      await queueOutputs(entries, stages);
      while (deliverer.waiting > 0) await pause();
      withRequests += entries.length;
    }
    await log.sync();
    const used = process.cpuUsage(before);
    return (used.user + used.system) / count;
  };
  await run(0, total / 10);
  const us = await run(total / 10, total);
  await deliverer.close();
  await log.close();
  publish('Delivery log', [
    `${figure(withRequests)} deliveries, ${figure(us)} us CPU each on all threads without their requests; ${figure(log.bytes / withRequests)} bytes each in the log.`,
  ]);
}

function routeOf(i: number): UplinkRoute {
  const device = {
    id: String(i),
    deviceId: `sensor-${i}`,
    name: `Sensor ${i}`,
    description: null,
    organizationId: '0100000000000000',
    workspaceId: '0200000000000000',
    integrationId: null,
    dataFlowId: '0300000000000000',
    connectivity: 'HTTP',
  };
  const outputs = [{ connector: { id: '0900000000000001', type: 'WEBHOOK' }, topic: '*' }];
  const tags = [{ name: 'floor 1' }, { name: 'temperature' }];
  return { device, tags, customFields: { room: '1.02' }, outputs } as unknown as UplinkRoute;
}

function entryOf(position: number): DurableEntry {
  const deviceId = String(position % devices);
  const receivedAt = Date.now();
  const correlationId = `0f5d6c1e-7d1c-4a6e-9a53-${String(position).padStart(12, '0')}`;
  const organizationId = '0100000000000000';
  const workspaceId = '0200000000000000';
  const dataFlowId = '0300000000000000';
  return {
    deviceId,
    receivedAt,
    notes: [],
    position,
    duplicates: 0,
    metrics: { uplinkId: correlationId, deviceId, timestamp: receivedAt, uplinkSize: 36 },
    trace: { times: { dataReceived: receivedAt, processingStart: receivedAt } },
    samples: [
      {
        deviceId,
        topic: 'default',
        timestamp: receivedAt,
        storedAt: receivedAt,
        organizationId,
        workspaceId,
        dataFlowId,
        correlationId,
        stored: true,
        data: { temperature: 21.5 + (position % 10), humidity: 40, battery: 97, state: 'OK' },
        cursor: cursorAt(position, 1),
      },
    ],
  } as unknown as DurableEntry;
}
