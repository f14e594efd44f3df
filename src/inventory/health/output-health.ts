// Health of output connectors: the results of their deliveries in 24 hours, and what waits (contract 37).
import { dayMs, type EpochMs, formatInstant } from '../../model/instant.ts';
import { databaseConnectorId } from '../../model/ids.ts';
import type { Principal } from '../../model/principal.ts';
import type { Records } from '../../storage/records/records.ts';
import {
  hourlyPeriodCounts,
  periodKinds,
  periodOf,
} from '../../storage/records/rows/period-counts.ts';

export type WaitingOf = (connectorIds: readonly string[]) => Promise<
  ReadonlyMap<
    string,
    {
      readonly waiting: number;
      /** When a failed delivery is attempted again. */
      readonly nextRetry: EpochMs | undefined;
    }
  >
>;

export interface OutputHealthParts {
  /** What waits, of output connectors with such deliveries. */
  readonly waitingOf: WaitingOf;
  /** Resolves when the counts of deliveries can be read from the records. */
  readonly counted: () => Promise<void>;
}

export interface OutputHealth {
  readonly deliveries: {
    readonly ok: number;
    readonly waiting: number;
    readonly failed: number;
    readonly nextTry: string | null;
    readonly okPerHour: readonly number[];
    readonly failedPerHour: readonly number[];
  };
}

const hours = 24;

/** By connector, without the database connector: its deliveries are those of all organizations. */
export async function healthOfOutputs(
  records: Records,
  { organizationId }: Principal,
  connectorIds: readonly string[],
  { waitingOf, counted }: OutputHealthParts,
): Promise<ReadonlyMap<string, OutputHealth>> {
  // What was counted so far can be read although the rest could not be written.
  await counted().catch(() => undefined);
  const now = records.now();
  const ids = connectorIds.filter((id) => id !== databaseConnectorId);
  const from = periodOf('delivered', now - dayMs) + periodKinds.delivered.periodMs;
  const countsOf = await hourlyPeriodCounts(
    records.elsewhere(organizationId),
    ids,
    ['delivered', 'failed'],
    { from, hours },
  );
  const waitingById = await waitingOf(ids);
  return new Map(ids.map((id) => [id, { deliveries: deliveriesOf(id) }]));

  function deliveriesOf(id: string): OutputHealth['deliveries'] {
    const okPerHour = countsOf(id, 'delivered');
    const failedPerHour = countsOf(id, 'failed');
    const { waiting, nextRetry } = waitingById.get(id) ?? { waiting: 0, nextRetry: undefined };
    return {
      ok: sum(okPerHour),
      waiting,
      failed: sum(failedPerHour),
      nextTry: nextRetry === undefined ? null : (formatInstant(Math.max(nextRetry, now)) ?? null),
      okPerHour,
      failedPerHour,
    };
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
