// Store damage: damaged places of the log and the sample store, each reported once.
import type { StoreDamage } from './sample-store.ts';

/** Passes a failure on unless it repeats the last one. */
export function onlyNews(
  failed: (error: unknown) => void = () => undefined,
): (error: unknown) => void {
  let last: string | undefined;
  return (error) => {
    if (String(error) !== last) failed(error);
    last = String(error);
  };
}

/** What was found damaged, each place once. */
export function createDamageList(report: (damage: StoreDamage) => void = () => undefined): {
  readonly damage: readonly StoreDamage[];
  readonly damaged: (damage: StoreDamage) => void;
} {
  const known = new Set<string>();
  const damage: StoreDamage[] = [];
  return {
    damage,
    damaged(place) {
      const key = JSON.stringify(place);
      if (known.has(key)) return;
      known.add(key);
      damage.push(place);
      report(place);
    },
  };
}
