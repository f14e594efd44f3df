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

/** The position before which hours contain the journal of a row, as an expression. */
export function endText({ ends }: OtherHours): string {
  if (ends.size === 0) return 'toUInt64(0)';
  return `transform(journal, [${[...ends.keys()].join(',')}], [${[...ends.values()].join(',')}], toUInt64(0))`;
}

export class OtherHoursReader {
  readonly #shards: readonly Shard[];
  readonly #journal: number;
  readonly #now: () => EpochMs;
  #last: { readonly at: number; readonly found: OtherHours | undefined } | undefined;

  constructor(shards: readonly Shard[], journal: number, now: () => EpochMs) {
    this.#shards = shards;
    this.#journal = journal;
    this.#now = now;
  }

  /** Undefined while hours do not contain everything of some journal that came late. */
  async read(): Promise<OtherHours | undefined> {
    if (this.#last === undefined || performance.now() - this.#last.at > refreshMs)
      this.#last = { at: performance.now(), found: await this.#readAll() };
    return this.#last.found;
  }

  /** Whether `known` counts all journals. */
  async isComplete({ journals }: OtherHours): Promise<boolean> {
    const isSame = (await journalsOf(this.#shards)).size === journals;
    if (!isSame) this.#last = undefined;
    return isSame;
  }

  async #readAll(): Promise<OtherHours | undefined> {
    // A journal that begins behind this moment has nothing older than it, with clocks an hour apart.
    let restFrom = hourOf(this.#now()) - 2 * hourMs;
    const journals = await journalsOf(this.#shards);
    const ends = new Map<number, number>();
    for (const shard of this.#shards) {
      const rows = await shard.select<{ journal: number; ending: number; stored: number }>(
        'select journal, max(upTo) as ending, max(storedTo) as stored from hourEnds group by journal',
      );
      const known = new Map(rows.map((row) => [row.journal, row]));
      for (const each of journals) {
        if (each === this.#journal) continue;
        const row = known.get(each);
        if (row === undefined && (await hasRows(shard, each))) return undefined;
        const { ending = 0, stored = this.#now() } = row ?? {};
        ends.set(each, Math.min(ending, ends.get(each) ?? ending));
        restFrom = Math.min(restFrom, hourOf(stored) - hourMs);
      }
    }
    return { ends, restFrom, journals: journals.size };
  }
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
