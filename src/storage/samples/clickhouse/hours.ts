// Hours: partials of what was shipped, inserted one hour of storing at a time.
import { BlockShipper } from '../../clickhouse/block-shipper.ts';
import type { Shard } from '../../clickhouse/replica.ts';
import { type EpochMs, hourMs } from '../../../model/instant.ts';
import { setTimer } from '../../../structures/timers.ts';
import { type HourBlock, HourBlocks, hourInserts } from './hour-inserts.ts';
import { hourOf, type HourPartials } from './hour-partials.ts';
import type { Block, OpenRows } from './open-rows.ts';
import type { StateFile } from './flusher.ts';
import type { VisibleRows } from './visible-rows.ts';
import { missing } from '../../../structures/missing.ts';

/** After the end of an hour, its block is closed although nothing more comes. */
const graceMs = 60_000;
const lookAgainMsMax = hourMs;

export interface KnownHours {
  /** Hours contain the entries of this journal before the position. */
  readonly before: number;
  /** What was shipped since. Changes with the next turn. */
  readonly partials: readonly HourPartials[];
}

export class Hours {
  readonly #file: StateFile;
  readonly #openRows: OpenRows;
  readonly #now: () => EpochMs;
  readonly #addedFrom: number;
  readonly #blocks: HourBlocks;
  readonly #shipper: BlockShipper<HourBlock>;
  #cancelCut: (() => void) | undefined;
  #isClosed = false;
  /** Ends the block after its hour. */
  readonly #cutWhenOver = (): void => {
    this.#cancelCut = undefined;
    const slotAt = this.#blocks.slotAt();
    if (slotAt === undefined || this.#isClosed) return;
    const leftMs = slotAt + hourMs + graceMs - this.#now();
    if (leftMs > 0) {
      this.#cancelCut = setTimer(this.#cutWhenOver, Math.min(leftMs, lookAgainMsMax));
      return;
    }
    this.#blocks.cut();
    this.#shipper.wake();
  };

  constructor(
    shards: readonly Shard[],
    file: StateFile,
    openRows: OpenRows,
    visible: VisibleRows,
    failed: (error: unknown) => void,
    now: () => EpochMs,
  ) {
    this.#file = file;
    this.#openRows = openRows;
    this.#now = now;
    const { shipped: addedFrom } = file.state;
    this.#addedFrom = addedFrom;
    const blocks = new HourBlocks(startOf(file));
    this.#blocks = blocks;
    this.#shipper = new BlockShipper<HourBlock>(
      {
        // What an earlier run has shipped is complete when it is open no more.
        first: () => (openRows.from() < addedFrom ? undefined : blocks.first()),
        begin: async ({ to }) => {
          const { hours } = file.state;
          if (hours.blockTo === to && file.isSaved) return;
          await file.update({ hours: { ...hours, blockTo: to } });
        },
        inserts: (block) =>
          hourInserts(block, {
            journal: file.state.journal,
            shards,
            hidden: visible.hiddenPoints(),
          }),
        end: async ({ to, storedTo }) => {
          await file.update({ hours: { to, storedFrom: storedTo, blockTo: null } });
          blocks.shipped();
        },
      },
      failed,
    );
    this.#shipper.wake();
  }

  /** Resolves when nothing of a closed block is left to be inserted. Rejects as `flush` does. */
  readonly settled = async (): Promise<void> => {
    await this.#shipper.until(() => this.#blocks.first() === undefined);
  };

  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    this.#cancelCut?.();
    await this.#shipper.close();
  };

  /** To be called in the turn in which the block is open no more. */
  shipped(block: Block): void {
    this.#blocks.add(block);
    if (this.#isClosed) return;
    // Other nodes remove nothing before they know how far the hours of each journal are.
    if (this.#file.state.hours.to === 0) this.#blocks.cut();
    if (this.#cancelCut === undefined) this.#cutWhenOver();
    this.#shipper.wake();
  }

  drop(deviceId: string): void {
    this.#blocks.drop(deviceId);
  }

  /** What hours contain; undefined while a read must use the points. */
  known(): KnownHours | undefined {
    const partials = this.#blocks.partials();
    // Rows that an earlier run has shipped may be open again.
    if (partials === undefined || this.#openRows.from() < this.#addedFrom) return undefined;
    return { before: this.#blocks.from(), partials };
  }

  /** Inserts everything that was shipped before the call. Rejects as the last attempt did. */
  async flush(): Promise<void> {
    this.#blocks.cut();
    await this.settled();
  }

  /** When the oldest entry that hours do not contain was stored, at the earliest. */
  storedFrom(): EpochMs | undefined {
    return this.#blocks.first()?.storedFrom ?? this.#blocks.slotAt();
  }

  failure(): Error | undefined {
    return this.#shipper.failure();
  }
}

function startOf({ state }: StateFile) {
  const { shipped: addedFrom, hours } = state;
  const { to: from, storedFrom, blockTo: to } = hours;
  return { from, storedFrom, to, addedFrom };
}

// Other hours: up to where hours contain the journals of other data folders, which write to the same tables.

/** Older ends are right too, but leave more to be read from points. */
const refreshMs = 60_000;
/** A journal that has just begun says soon how far its hours are. */
const refreshUnknownMs = 2_000;

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
    const { at = Number.NEGATIVE_INFINITY, found } = this.#last ?? {};
    if (performance.now() - at <= (found === undefined ? refreshUnknownMs : refreshMs))
      return found;
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
