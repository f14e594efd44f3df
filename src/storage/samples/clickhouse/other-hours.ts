// Other hours: up to where hours contain the journals of other data folders, which write to the same tables.
import type { Shard } from '../../clickhouse/shard.ts';
import { type EpochMs, hourMs } from '../../../model/instant.ts';
import { missing } from '../../../structures/missing.ts';
import { hourOf } from './hour-partials.ts';

/** Older ends are right too, but leave more to be read from points. */
const refreshMs = 60_000;

export interface OtherHours {
  /** By journal, the position before which hours contain it. */
  readonly ends: ReadonlyMap<number, number>;
  /** What they do not contain, and was not late, was measured at or after this. */
  readonly restFrom: EpochMs;
  /** How many journals there were, the own one included. */
  readonly journals: number;
}

export interface OtherHoursReader {
  /** Undefined while hours do not contain everything of some journal that came late. */
  read(): Promise<OtherHours | undefined>;
  /** Whether `known` counts all journals. */
  isComplete(known: OtherHours): Promise<boolean>;
}

export function createOtherHours(
  shards: readonly Shard[],
  journal: number,
  now: () => EpochMs,
): OtherHoursReader {
  let last: { readonly at: number; readonly found: OtherHours | undefined } | undefined;

  async function readAll(): Promise<OtherHours | undefined> {
    // A journal that begins behind this moment has nothing older than it, with clocks an hour apart.
    let restFrom = hourOf(now()) - 2 * hourMs;
    const journals = await journalsOf(shards);
    const ends = new Map<number, number>();
    for (const shard of shards) {
      const rows = await shard.select<{ journal: number; ending: number; stored: number }>(
        'select journal, max(upTo) as ending, max(storedTo) as stored from hourEnds group by journal',
      );
      const known = new Map(rows.map((row) => [row.journal, row]));
      for (const each of journals) {
        if (each === journal) continue;
        const row = known.get(each);
        if (row === undefined && (await hasRows(shard, each))) return undefined;
        const { ending = 0, stored = now() } = row ?? {};
        ends.set(each, Math.min(ending, ends.get(each) ?? ending));
        restFrom = Math.min(restFrom, hourOf(stored) - hourMs);
      }
    }
    return { ends, restFrom, journals: journals.size };
  }

  return {
    async read() {
      if (last === undefined || performance.now() - last.at > refreshMs)
        last = { at: performance.now(), found: await readAll() };
      return last.found;
    },
    async isComplete({ journals }) {
      const isSame = (await journalsOf(shards)).size === journals;
      if (!isSame) last = undefined;
      return isSame;
    },
  };
}

async function hasRows(shard: Shard, journal: number): Promise<boolean> {
  const rows = await shard.select(`select 1 from samples where journal = ${journal} limit 1`);
  return rows.length > 0;
}

/** Each data folder has taken its number before it wrote. */
async function journalsOf(shards: readonly Shard[]): Promise<ReadonlySet<number>> {
  const [first = missing('shard')] = shards;
  const rows = await first.select<{ journal: number }>('select distinct journal from journals');
  return new Set(rows.map(({ journal }) => journal));
}
