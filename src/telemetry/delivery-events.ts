// What happens to deliveries: their metrics, and a log line when a target goes down or comes back.
import type { Counter } from 'prom-client';
import type { Log } from './log.ts';

type MakeCounter = <L extends string>(
  name: string,
  help: string,
  labelNames?: readonly L[],
) => Counter<L>;

export function deliveryEvents(counter: MakeCounter, log: Log) {
  const tried = counter('deliveries_tried_total', 'Tries of deliveries by the state they left.', [
    'state',
  ]);
  const seconds = counter(
    'delivery_tries_seconds_total',
    'Time that tries of deliveries took, all together.',
  );
  return {
    deliveryTried(state: string, tookSeconds: number): void {
      tried.inc({ state });
      seconds.inc(tookSeconds);
    },

    /**
     * Call when a target begins or ceases to count as broken. The reason is the platform's own
     * words, never the target's answer.
     */
    targetChanged(connectorId: string, isBroken: boolean, reason: string | null): void {
      if (isBroken) log.warn({ connectorId, reason }, 'target down');
      else log.info({ connectorId }, 'target back again');
    },
  };
}
