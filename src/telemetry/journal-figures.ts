// Journal figures: size and age of the journal, and the lag of its followers, read with each scrape.
import type { Telemetry } from './events.ts';

/** A journal on this disk. Positions count entries. */
interface MeasuredJournal {
  readonly position: number;
  readonly followerPosition: (follower: string) => number | undefined;
  readonly journalled: () => {
    readonly bytes: number;
    readonly oldestStoredAt: number | undefined;
  };
}

/** `followers` contains the names under which followers report their positions. */
export function addJournalFigures(
  telemetry: Telemetry,
  journal: MeasuredJournal,
  followers: readonly string[],
  now: () => number,
): void {
  telemetry.gauge(
    'journal_bytes',
    'Bytes of the journal on disk.',
    () => journal.journalled().bytes,
  );
  telemetry.gauge('journal_age_seconds', 'Age of the oldest journal entry.', () => {
    const { oldestStoredAt = now() } = journal.journalled();
    return Math.max(0, (now() - oldestStoredAt) / 1_000);
  });
  telemetry.labeledGauge(
    'journal_consumer_lag_entries',
    'Journal entries not yet processed by a consumer (lag).',
    'follower',
    () => followers.flatMap((name) => lagOf(name, journal)),
  );
}

/** Empty for a follower that never reported a position. */
function lagOf(name: string, journal: MeasuredJournal): (readonly [string, number])[] {
  const position = journal.followerPosition(name);
  if (position === undefined) return [];
  return [[name, Math.max(0, journal.position - position)]];
}
