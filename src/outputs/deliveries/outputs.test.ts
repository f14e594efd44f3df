// The outputs journey: what cannot be read is noted and left out, and the samples of all other devices go out.
import { expect, test } from 'vitest';
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import type { DeliveryDraft } from '../../model/delivery.ts';
import type { DurableEntry } from '../../model/journal-entry.ts';
import type { ProcessingLogEntry } from '../../model/entry-trace.ts';
import { problem, UnreadableRecord } from '../../model/problem.ts';
import { type OutputStages, queueOutputs, rowsForOutputs } from './outputs.ts';

const entryOf = (deviceId: string, position: number): DurableEntry => ({
  deviceId,
  receivedAt: 0,
  notes: [],
  position,
  duplicates: 0,
  samples: [
    {
      deviceId,
      topic: 'default',
      timestamp: 0,
      data: {},
      organizationId: 'o',
      workspaceId: 'w',
      dataFlowId: 'f',
      correlationId: `c${position}`,
      storedAt: 0,
      stored: true,
      cursor: String(position),
    },
  ],
});

type Outputs = UplinkRoute['outputs'];
const entries = [entryOf('a', 1), entryOf('broken', 2), entryOf('b', 3)];

async function queued(error: Error, breakRoute?: (route: UplinkRoute) => UplinkRoute) {
  const failures: string[] = [];
  const drafts: DeliveryDraft[] = [];
  const notes: ProcessingLogEntry[] = [];
  await queueOutputs(entries, {
    outputsOf: () => undefined,
    findRoute(id) {
      if (id === 'broken' && breakRoute === undefined) throw error;
      const device = { id, deviceId: id, organizationId: 'o', workspaceId: 'w' };
      const outputs = [{ connector: { id: 'target', type: 'WEBHOOK' }, topic: '*' }];
      const route = { device, tags: [], customFields: {}, outputs } as unknown as UplinkRoute;
      return id === 'broken' && breakRoute !== undefined ? breakRoute(route) : route;
    },
    enqueue: async (some) => void drafts.push(...some),
    unreadable: async (some) => void notes.push(...some),
    failed: ({ message, cause }) => void failures.push(`${message}: ${String(cause)}`),
    pause: async () => undefined,
    now: () => 7,
  });
  return { sent: drafts.map(({ deviceId }) => deviceId), notes, failures };
}

test('review reliability 6: a device whose records cannot be read is noted, and holds up no other', async () => {
  const { sent, notes } = await queued(new UnreadableRecord('the secrets key is another one'));
  expect(sent).toEqual(['a', 'b']);
  expect(notes).toMatchObject([
    {
      id: 'outputs-unreadable-2',
      deviceId: 'broken',
      correlationId: 'c2',
      level: 'ERROR',
      source: 'OUTPUT',
    },
  ]);
  expect(notes[0]!.message).toContain('the secrets key is another one');
});

const stages: OutputStages = {
  outputsOf: () => undefined,
  findRoute: (id) => {
    throw problem('notFound', { what: 'device', id });
  },
  enqueue: async () => undefined,
  unreadable: async () => undefined,
  failed: () => undefined,
  pause: async () => undefined,
  now: () => 7,
};

test('a device whose data flow only stores is not looked up', async () => {
  const asked: string[] = [];
  const only = (type: string) => [{ connector: { type }, topic: '*' }] as unknown as Outputs;
  const outputsOf: Record<string, Outputs> = { a: only('DATABASE'), b: only('WEBHOOK') };
  await queueOutputs(entries, {
    ...stages,
    outputsOf: (id) => outputsOf[id],
    findRoute(id) {
      asked.push(id);
      throw problem('notFound', { what: 'device', id });
    },
  });
  expect(asked).toEqual(['broken', 'b']);
});

test('rows of a data flow that only stores come without their samples, others as they are', async () => {
  const summary = { count: 2, workspaceId: 'w', dataFlowId: 'f', oldest: 0 };
  const entryAt = (place: number) => entries[place] ?? expect.fail('no such entry');
  const rows = { position: 1, length: 2, receivedAt: 0, summary, entryAt };
  const only = (type: string) => [{ connector: { type }, topic: '*' }] as unknown as Outputs;
  for (const outputs of [undefined, only('WEBHOOK'), [...only('DATABASE'), ...only('WEBHOOK')]])
    expect(rowsForOutputs(rows, () => outputs)).toBe(rows);
  const noFlow = { ...rows, summary: { ...summary, dataFlowId: null } };
  expect(rowsForOutputs(noFlow, () => only('DATABASE'))).toBe(noFlow);
  for (const outputs of [[], only('DATABASE')]) {
    const counted = rowsForOutputs(rows, () => outputs);
    const asked = { ...stages, outputsOf: () => expect.fail('looked up') };
    const kept = [0, 1].map((place) => counted.entryAt(place));
    expect(kept.map(({ position }) => position)).toEqual([1, 2]);
    await queueOutputs(kept, asked);
  }
});

test('any other failure is tried again with all of them', async () => {
  await expect(queued(new Error('database is locked'))).rejects.toThrow('database is locked');
});

test('review rules 1: an output that throws while its deliveries are made is noted and told, and holds up no other', async () => {
  const thrown = (route: UplinkRoute): UplinkRoute => ({
    ...route,
    get tags(): never {
      throw new RangeError('nobody thought of this');
    },
  });
  const { sent, notes, failures } = await queued(new Error('not used'), thrown);
  expect(sent).toEqual(['a', 'b']);
  expect(notes).toMatchObject([
    {
      id: 'outputs-failed-2',
      deviceId: 'broken',
      correlationId: 'c2',
      level: 'ERROR',
      source: 'OUTPUT',
    },
  ]);
  expect(notes[0]!.message).not.toContain('nobody thought of this');
  expect(failures).toEqual([expect.stringContaining('RangeError: nobody thought of this')]);
});
