// Reading what an entry says about its samples does not create them.
import { expect, test } from 'vitest';
import { type DurableEntry, isWritten, sampleCountOf, summaryOf } from './journal-entry.ts';

test('the summary of an entry does not read its samples, which creates them', () => {
  const summary = { count: 2, workspaceId: 'w', dataFlowId: null, oldest: 5 };
  const entry: DurableEntry = {
    deviceId: 'd',
    receivedAt: 7,
    notes: [],
    position: 0,
    duplicates: 0,
    summary,
    get samples(): never {
      throw new Error('The samples were read');
    },
  };
  expect(summaryOf(entry)).toBe(summary);
  expect([sampleCountOf(entry), isWritten(entry)]).toEqual([2, true]);
});
