// Store parts: what the reads of the store on ClickHouse share.
import { ClickHouseError } from '../../clickhouse/replica.ts';
import type { Shard } from '../../clickhouse/shard.ts';
import type { ShapeInterner } from '../../log/data-shape.ts';
import { type Problem, problem } from '../../../model/problem.ts';
import type { Elsewhere, OpenOfJournal } from '../remote-pending-samples.ts';
import type { Hours } from './hours.ts';
import type { KeptRows } from './kept-rows.ts';
import type { OpenRows } from './open-rows.ts';
import type { OtherHoursReader } from './other-hours.ts';
import type { StateFile } from './shipping-state.ts';
import type { VisibleRows } from './visible-rows.ts';

export type ShippedTo = OpenOfJournal;

/**
 * Resolves when the replicas in use have what is before the positions. Throws `samplesUnreachable`
 * or `samplesBusy` (503).
 */
export type ReachShipped = (others: readonly ShippedTo[]) => Promise<void>;

export interface StoreParts {
  readonly shards: readonly Shard[];
  readonly openRows: OpenRows;
  readonly visible: VisibleRows;
  readonly file: StateFile;
  readonly shapes: ShapeInterner;
  readonly hours: Hours;
  readonly otherHours: OtherHoursReader;
  readonly kept: KeptRows;
  /** Undefined for the only node on these tables. */
  readonly elsewhere?: Elsewhere | undefined;
  readonly reachShipped: ReachShipped;
}

/** `samplesUnreachable` or `samplesBusy` (503) for what may succeed later; other errors as they are. */
export function samplesError(error: unknown): unknown {
  if (!(error instanceof ClickHouseError) || error.failure === 'refused') return error;
  const isBusy = error.failure === 'busy' || error.failure === 'timeout';
  const translated: Problem = problem(isBusy ? 'samplesBusy' : 'samplesUnreachable');
  return Object.assign(translated, { cause: error });
}
