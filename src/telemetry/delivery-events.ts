// What happens to deliveries: their metrics.
import type { Counter } from 'prom-client';

type MakeCounter = <L extends string>(name: string, help: string, labelNames?: readonly L[]) => Counter<L>;

export function deliveryEvents(counter: MakeCounter) {
  const tried = counter('deliveries_tried_total', 'Tries of deliveries by the state they left.', ['state']);
  const seconds = counter('delivery_tries_seconds_total', 'Time that tries of deliveries took, all together.');
  return {
    deliveryTried(state: string, tookSeconds: number): void {
      tried.inc({ state });
      seconds.inc(tookSeconds);
    },
  };
}
