// Damage of the data folder: each place is logged and counted once, however often it is met.
import type { Log } from './log.ts';

/**
 * So many places are told apart; a disk with more of them fails as a whole, and its further places
 * are counted only.
 */
const placesMax = 10_000;

type MakeGauge = (name: string, help: string, read: () => number) => void;

export interface DamageCounter {
  inc(): void;
}

export function damageEvents(counter: DamageCounter, gauge: MakeGauge, log: Log) {
  const places = new Set<string>();
  gauge('damaged_places', 'Corrupted data regions found since startup.', () => places.size);
  return {
    /**
     * Damage on disk: reported, passed over, never silently wrong. The same place may be told
     * again.
     */
    damageFound(damage: Readonly<Record<string, unknown>>): void {
      const place = JSON.stringify(damage);
      if (places.has(place)) return;
      counter.inc();
      if (places.size >= placesMax) return;
      places.add(place);
      log.error(damage, 'data corruption detected');
    },

    /** What an operator should know although requests are served, for `/health/ready`. */
    notesOnDamage(): readonly string[] {
      if (places.size === 0) return [];
      const what = places.size === 1 ? '1 damaged place' : `${places.size} damaged places`;
      return [
        `${what} in the data folder. See the log, or stop the platform and run heliograph verify.`,
      ];
    },

    /**
     * The rights of the data folder were changed, or could not be; undefined is nothing to tell.
     */
    folderTightened(what: string | undefined): void {
      if (what !== undefined) log.warn(what);
    },
  };
}
