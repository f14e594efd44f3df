// Composes the figures that are read when the metrics are asked for: the journal, its followers, the program.
import { readFileSync } from 'node:fs';
import type { SampleStore } from '../samples/sample-store.ts';
import type { Telemetry } from '../telemetry/events.ts';

/** Followers of the journal by the names under which they tell their positions. */
const followers = ['device-status', 'raw-uplinks', 'outputs', 'rules'] as const;

/** A store that has a journal on this disk. */
interface JournaledStore extends Pick<SampleStore, 'position' | 'followerPosition'> {
  readonly journalled: () => {
    readonly bytes: number;
    readonly oldestStoredAt: number | undefined;
  };
}

export function composeFigures(
  store: JournaledStore,
  telemetry: Telemetry,
  now: () => number,
): void {
  telemetry.gauge('journal_bytes', 'Bytes of the journal on disk.', () => store.journalled().bytes);
  telemetry.gauge('journal_age_seconds', 'Age of the oldest entry that the journal keeps.', () => {
    const { oldestStoredAt } = store.journalled();
    return oldestStoredAt === undefined ? 0 : Math.max(0, (now() - oldestStoredAt) / 1_000);
  });
  telemetry.labeledGauge(
    'follower_lag_entries',
    'Entries that a follower of the journal has still to see.',
    'follower',
    () =>
      followers.flatMap((name) => {
        const position = store.followerPosition(name);
        return position === undefined
          ? []
          : [[name, Math.max(0, store.position - position)] as const];
      }),
  );
  const version = versionOf();
  telemetry.labeledGauge(
    'build_info',
    'Always 1; the version of the program is the label.',
    'version',
    () => [[version, 1]],
  );
}

function versionOf(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
