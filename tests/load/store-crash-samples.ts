// Samples of the crash test: derived from their id, so that a wrong one is detected.
import type { Given } from '../../src/storage/samples/conformance/sample-entries.ts';
import type { StoreLimits } from '../../src/storage/samples/embedded/store-limits.ts';

/** Some send often, most rarely. */
const busyDevices = ['d1', 'd2', 'd3', 'd4', 'd5'];
const sparseDevices = Array.from({ length: 1_500 }, (_, i) => `s${i}`);
export const crashDevices: readonly string[] = [...busyDevices, ...sparseDevices];

/** The device of the entry whose first sample has that id. */
export function crashDevice(id: number): string {
  const devices = id % 3 === 0 ? busyDevices : sparseDevices;
  return devices[id % devices.length] ?? 'd1';
}

/** Small, so that sealing, merging and dropping happen all the time. */
export const crashLimits: Partial<StoreLimits> = {
  rowsToCloseAtDay: 50,
  rowsMax: 120,
  segmentBytes: 8_000,
  journalTailBytes: 60_000,
  lookEveryBytes: 4_000,
  segmentsToMerge: 3,
  chunkRowsMin: 25,
  memtableRowsMax: 700,
  memtablesMax: 4,
  runsToMerge: 3,
  runRowsAtOnce: 500,
};

/** Step that a child reports; a kill during each must be harmless. */
export type CrashMoment = 'recovery' | 'sealing' | 'retention' | 'deleting' | 'removing';
export const crashMoments: readonly CrashMoment[] = [
  'recovery',
  'sealing',
  'retention',
  'deleting',
  'removing',
];

/** Samples of a device of which the middle ones are removed. */
export const removal = { rows: 40, from: 10, to: 30 } as const;
export const removalStart = 1_700_000_000_000;

/** By the number of the sample. */
export function removalSample(n: number): Given {
  return { at: removalStart + n * 60_000, data: { n }, workspaceId: 'kept' };
}

/** One in five samples belongs to a workspace that keeps nothing. */
export function isKept(id: number): boolean {
  return id % 5 !== 3;
}

export function crashSample(id: number): Given {
  const late = id % 11 === 0 ? 7_000_000 : 0;
  return {
    at: 1_700_000_000_000 + id * 1_000 - late,
    data: {
      id,
      half: id / 2,
      odd: id % 2 === 1,
      text: `t${id % 30}`,
      ...(id % 9 === 0 ? { extra: [id] } : {}),
    },
    topic: isKept(id) ? 'default' : 'dropped',
    workspaceId: isKept(id) ? 'kept' : 'old',
  };
}
