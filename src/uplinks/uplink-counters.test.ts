// Uplink counters: each result is counted once, and the work settles unchanged.
import { expect, test } from 'vitest';
import type { DurableEntry } from '../model/journal-entry.ts';
import { problem } from '../model/problem.ts';
import { countBackfill, countUplink } from './uplink-counters.ts';
import { telemetryOf } from '../telemetry/testing-telemetry.ts';

function events() {
  const seen: unknown[] = [];
  const note = (what: unknown) => void seen.push(what);
  const telemetry = telemetryOf({
    uplinkDurable: ({ samples, duplicates }) => note({ samples, duplicates }),
    uplinkRefused: note,
    backfilled: note,
    backfillRefused: note,
  });
  return { seen, telemetry };
}

test('a durable uplink', async () => {
  const { seen, telemetry } = events();
  const entry = { samples: [{}, {}], duplicates: 1 } as unknown as DurableEntry;
  expect(await countUplink(telemetry, async () => entry)).toBe(entry);
  expect(seen).toEqual([{ samples: 2, duplicates: 1 }]);
});

test('a backfill', async () => {
  const { seen, telemetry } = events();
  const receipt = { accepted: 2, duplicates: 1, rejected: [{}, {}, {}] } as never;
  expect(await countBackfill(telemetry, async () => receipt)).toBe(receipt);
  expect(seen).toEqual([{ accepted: 2, duplicates: 1, rejected: 3 }]);
});

test.each([
  [problem('storageFull'), 'storageFull'],
  [new Error('bug'), 'internal'],
])('%s is counted as %s', async (error, reason) => {
  const { seen, telemetry } = events();
  const failing = async (): Promise<never> => {
    throw error;
  };
  await expect(countUplink(telemetry, failing)).rejects.toBe(error);
  await expect(countBackfill(telemetry, failing)).rejects.toBe(error);
  expect(seen).toEqual([reason, reason]);
});
