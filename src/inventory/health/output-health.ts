// Health of output connectors: the results of their deliveries in 24 hours, and what waits (contract 37).
import { dayMs, type EpochMs, formatInstant } from '../../model/instant.ts';
import { databaseConnectorId } from '../../model/ids.ts';
import type { Principal } from '../../model/principal.ts';
import type { Records } from '../../records/records.ts';
import { hourlyPeriodCounts, periodKinds, periodOf } from '../../records/rows/period-counts.ts';

export interface OutputHealthParts {
  /** Deliveries of the output connector that wait. */
  readonly waitingOf: (connectorId: string) => number;
  /** When it attempts a failed delivery again. */
  readonly nextRetryOf: (connectorId: string) => EpochMs | undefined;
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
  { waitingOf, nextRetryOf, counted }: OutputHealthParts,
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
  return new Map(ids.map((id) => [id, { deliveries: deliveriesOf(id) }]));

  function deliveriesOf(id: string): OutputHealth['deliveries'] {
    const okPerHour = countsOf(id, 'delivered');
    const failedPerHour = countsOf(id, 'failed');
    const nextRetry = nextRetryOf(id);
    return {
      ok: sum(okPerHour),
      waiting: waitingOf(id),
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
