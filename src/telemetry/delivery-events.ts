// What happens to deliveries: their metrics, and a log line when a target goes down or comes back.
import type { Counter } from 'prom-client';
import type { DeliveryState } from '../model/delivery.ts';
import type { Log } from './log.ts';

type MakeCounter = <L extends string>(
  name: string,
  help: string,
  labelNames?: readonly L[],
) => Counter<L>;

export function deliveryEvents(counter: MakeCounter, log: Log) {
  const tried = counter('deliveries_tried_total', 'Delivery attempts by outcome.', ['state']);
  const seconds = counter('delivery_tries_seconds_total', 'Total duration of delivery attempts.');
  const triedOf = {
    PENDING: tried.labels({ state: 'PENDING' }),
    DELIVERED: tried.labels({ state: 'DELIVERED' }),
    DEAD: tried.labels({ state: 'DEAD' }),
  } satisfies Record<DeliveryState, unknown>;
  return {
    deliveryTried(state: DeliveryState, tookSeconds: number): void {
      triedOf[state].inc();
      seconds.inc(tookSeconds);
    },

    /**
     * Call when a target begins or ceases to count as broken. The reason is the platform's own
     * words, never the target's answer.
     */
    targetChanged(connectorId: string, isBroken: boolean, reason: string | null): void {
      if (isBroken) log.warn({ connectorId, reason }, 'output target failing');
      else log.info({ connectorId }, 'output target recovered');
    },
  };
}
