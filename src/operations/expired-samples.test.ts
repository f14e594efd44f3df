// Expired samples: the rules of the records decide from which time on samples are kept.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Workspaces } from '../inventory/workspaces/workspaces.ts';
import { ExpiredSamples } from './maintenance.ts';
import type { RetentionTimes } from '../storage/samples/sample-store.ts';
import { openTestRecords, type TestRecords } from '../storage/records/testing-records.ts';
import { telemetryOf } from '../telemetry/testing-telemetry.ts';

const dayMs = 86_400_000;
const now = 100 * dayMs;
let opened: TestRecords;
beforeAll(async () => {
  opened = await openTestRecords();
});
afterAll(() => opened.close());

function recorded(samples: number, fails?: Error) {
  const calls: string[] = [];
  let asked: RetentionTimes | undefined;
  const expired = new ExpiredSamples(
    opened.records.db,
    {
      retain: async (times) => {
        asked = times;
        if (fails !== undefined) throw fails;
        return { samples, bytes: samples };
      },
    },
    telemetryOf({
      samplesDropped: (reason, dropped) => void calls.push(`${reason} ${dropped.samples}`),
      backgroundFailed: (what, error) => void calls.push(`${what}: ${String(error)}`),
    }),
    () => now,
  );
  return {
    expired,
    calls,
    cutoffOf: (id: string) => asked?.workspaces.get(id),
    asked: () => asked,
  };
}

test('without rules a start hides nothing, and a round takes back what was hidden', async () => {
  const start = recorded(0);
  await (await start.expired.hide())();
  expect(start.asked()).toBeUndefined();
  const round = recorded(0);
  await round.expired.drop();
  expect(round.cutoffOf('any')).toBeUndefined();
  expect(round.calls).toEqual([]);
});

test('the rule of a workspace applies at the start and in each round', async () => {
  const settings = { retentionDays: 7 };
  const draft = { name: 'w', organizationId: 'o', settings } as const;
  const { id } = await new Workspaces(opened.records).create(draft);
  const start = recorded(3);
  await (await start.expired.hide())();
  expect(start.cutoffOf(id)).toBe(now - 7 * dayMs);
  expect(start.cutoffOf('other')).toBeUndefined();
  expect(start.calls).toEqual(['retention 3']);
  const round = recorded(0);
  await round.expired.drop();
  expect(round.cutoffOf(id)).toBe(now - 7 * dayMs);
  expect(round.calls).toEqual([]);
});

test('a failure at the start is reported and does not stop it', async () => {
  const start = recorded(0, new Error('disk'));
  await (await start.expired.hide())();
  expect(start.calls).toEqual(['dropping samples past their retention: Error: disk']);
});
