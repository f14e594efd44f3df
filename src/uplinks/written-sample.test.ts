// Written sample: outputs write into their own workspace, within the limits of the device and of the uplink.
import { expect, test } from 'vitest';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import type { DurableEntry, JournalEntry } from '../model/journal-entry.ts';
import { problem, type Problem } from '../model/problem.ts';
import { RuleBudget, storeWrittenSample, type WrittenSampleStages } from './written-sample.ts';

const written = {
  deviceId: 'd2',
  topic: 'alarm',
  timestamp: 7,
  data: { t: 1 },
  correlationId: 'x',
  ruleHops: 1,
  invokeRules: false,
  from: 'd1',
};
const workspaces = new Map([
  ['d1', 'w1'],
  ['d2', 'w1'],
  ['elsewhere', 'w2'],
]);

function stages(changes: Partial<WrittenSampleStages> = {}) {
  const entries: JournalEntry[] = [];
  const parts: WrittenSampleStages = {
    findRoute(id) {
      const workspaceId = workspaces.get(id);
      if (workspaceId === undefined) throw problem('notFound', { what: 'device', id });
      const device = { id, organizationId: 'o', workspaceId };
      return { device, flow: { id: 'f' } } as unknown as UplinkRoute;
    },
    budget: new RuleBudget(2),
    admit: (_, samples) => samples,
    appendEntry: async (entry) => {
      entries.push(entry);
      return { ...entry, position: 0, duplicates: 0 } as unknown as DurableEntry;
    },
    newId: () => 'note',
    now: () => 9,
    ...changes,
  };
  return { parts, entries };
}

test('the sample is appended with its origin, and rules leave it alone unless they are to be invoked', async () => {
  const { parts, entries } = stages();
  const stored = { ok: true, answer: 'stored in topic alarm of device d2' };
  expect(await storeWrittenSample(written, parts)).toEqual(stored);
  const { deviceId, topic, timestamp, data, correlationId } = written;
  const origin = { organizationId: 'o', workspaceId: 'w1', dataFlowId: 'f', stored: true };
  expect(entries).toEqual([
    {
      deviceId,
      receivedAt: 9,
      samples: [{ deviceId, topic, timestamp, data, correlationId, ...origin }],
      notes: [],
      trace: { ruleHops: 1, rulesSkipped: true },
    },
  ]);
  const withMeta = { ...written, meta: { m: 1 }, invokeRules: true };
  expect(await storeWrittenSample(withMeta, parts)).toEqual(stored);
  expect(entries[1]?.trace).toEqual({ ruleHops: 1 });
  expect(entries[1]?.samples).toMatchObject([{ meta: { m: 1 } }]);
});

test('notes of the validation go to the device', async () => {
  const admit: WrittenSampleStages['admit'] = (_, [first]) => {
    if (first === undefined) throw new Error('no sample');
    const note = { level: 'WARN', source: 'UPLINK', message: 'too many keys' } as const;
    return [{ ...first, notes: [note] }];
  };
  const { parts, entries } = stages({ admit });
  await storeWrittenSample(written, parts);
  expect(entries[0]?.notes).toMatchObject([
    { id: 'note', deviceId: 'd2', timestamp: 9, correlationId: 'x', message: 'too many keys' },
  ]);
});

test('a sample that is stored already', async () => {
  const { parts } = stages({
    appendEntry: async (entry) => ({ ...entry, samples: [], position: 0, duplicates: 1 }),
  });
  const answer = 'was already stored in topic alarm of device d2';
  expect(await storeWrittenSample(written, parts)).toEqual({ ok: true, answer });
});

test.each([
  ['a device of another workspace', { ...written, deviceId: 'elsewhere' }],
  ['an unknown device', { ...written, deviceId: 'unknown' }],
])('%s does not exist for the output', async (_, sample) => {
  const { parts, entries } = stages();
  const expected = problem('notFound', { what: 'device', id: sample.deviceId }).message;
  expect(await storeWrittenSample(sample, parts)).toEqual({
    ok: false,
    retry: false,
    reason: expected,
  });
  expect(entries).toEqual([]);
});

test('one uplink makes as many samples as its budget, and others have their own', async () => {
  const { parts } = stages();
  const ok = [];
  for (const correlationId of ['x', 'x', 'x', 'y'])
    ok.push((await storeWrittenSample({ ...written, correlationId }, parts)).ok);
  expect(ok).toEqual([true, true, false, true]);
});

test.each<[Problem, boolean]>([
  [problem('storageFull'), true],
  [problem('notFound', { what: 'device', id: 'd2' }), false],
])('%s: retry %s', async (error, retry) => {
  const appendEntry = async (): Promise<never> => {
    throw error;
  };
  const outcome = await storeWrittenSample(written, stages({ appendEntry }).parts);
  expect(outcome).toEqual({ ok: false, retry, reason: error.message });
});

test('an internal error is not an outcome', async () => {
  const appendEntry = () => Promise.reject(new Error('bug'));
  const work = storeWrittenSample(written, stages({ appendEntry }).parts);
  await expect(work).rejects.toThrow('bug');
});
