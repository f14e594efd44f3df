// Sealed rows: samples as ClickHouse returns them, and their place in the order of storing.
import type { EpochMs } from '../../../model/instant.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { Sample } from '../../../model/sample.ts';

/** Columns of `SealedRow`. */
export const sealedColumns = 'device, topic, ts, storedAt, journal, position, idx, data, meta';

export interface SealedRow {
  readonly device: string;
  readonly topic: string;
  readonly ts: EpochMs;
  readonly storedAt: EpochMs;
  readonly journal: number;
  readonly position: number;
  readonly idx: number;
  readonly data: string;
  readonly meta: string;
}

export type PlacedRow = Omit<SealedRow, 'device' | 'topic' | 'data' | 'meta'>;

/** By time, those of one instant in the order of storing. */
export const oldestFirst = 'ts, storedAt, journal, position, idx';
export const newestFirst = 'ts desc, storedAt desc, journal desc, position desc, idx desc';

export function compareRows(a: PlacedRow, b: PlacedRow): number {
  return (
    a.ts - b.ts ||
    a.storedAt - b.storedAt ||
    a.journal - b.journal ||
    a.position - b.position ||
    a.idx - b.idx
  );
}

export function sampleOfSealed({ device, topic, ts, data, meta }: SealedRow): Sample {
  const sample = { deviceId: device, topic, timestamp: ts, data: JSON.parse(data) as JsonObject };
  return meta === '' ? sample : { ...sample, meta: JSON.parse(meta) as JsonObject };
}
