// Entry groups: what one sync makes durable goes to the store in one call, and is answered in order.
import type { LoggedEntry } from '../log/logged-entry.ts';
import type { DurableEntry } from '../../model/journal-entry.ts';
import { durableRowOf } from './placed-rows.ts';
import { RowRange, type RowBlock } from './row-block.ts';
import type { SampleStore } from './sample-store.ts';

/** Entries that become durable together. */
export class EntryGroup {
  readonly durable: Promise<void>;
  /** In the order of positions. */
  readonly items: (LoggedEntry | RowRange)[] = [];
  /** Resolves when the items are visible; rejects when they were refused. */
  visible: Promise<void> = Promise.resolve();
  /** Ranges whose rows have an answer each. */
  readonly #single: RowRange[] = [];
  #range = 0;
  #row = 0;
  readonly #next: () => DurableEntry;

  constructor(durable: Promise<void>, idOf: (device: number) => string) {
    this.durable = durable;
    this.#next = () => this.#nextSingle(idOf);
  }

  /** Resolves to the entry of the row that `addSingle` was called for last. */
  answer(): Promise<DurableEntry> {
    // Answers are given in the order of the calls, so all share one function.
    return this.visible.then(this.#next);
  }

  /** Adds the newest row of the block, whose entry has this position. */
  addSingle(block: RowBlock, position: number, bytes: number): void {
    const last = this.#single.at(-1);
    if (last !== undefined && last === this.items.at(-1) && last.block === block) {
      extend(last, bytes);
      return;
    }
    const range = this.addRange(block, position, bytes);
    this.#single.push(range);
  }

  /** As `addSingle`, for the first of rows that have one answer. */
  addRange(block: RowBlock, position: number, bytes: number): RowRange {
    const range = new RowRange(block, block.length - 1, position);
    extend(range, bytes);
    this.items.push(range);
    return range;
  }

  #nextSingle(idOf: (device: number) => string): DurableEntry {
    let range = this.#single[this.#range]!;
    if (this.#row === range.to - range.from) {
      range = this.#single[++this.#range]!;
      this.#row = 0;
    }
    return durableRowOf(range, this.#row++, idOf);
  }
}

/** By the newest row of its block. */
export function extend(range: RowRange, bytes: number): void {
  range.to++;
  range.bytes += bytes;
}

export interface EntryGroups {
  /** The group of entries that become durable with the promise. */
  readonly of: (durable: Promise<void>) => EntryGroup;
  /** Groups that are not visible yet, the oldest first. */
  readonly inFlight: ReadonlySet<EntryGroup>;
}

/** `left` is called before the answers of a group are given. */
export function createEntryGroups(
  store: Pick<SampleStore, 'write' | 'numbered'>,
  left: (group: EntryGroup, refusal?: { readonly error: unknown }) => void,
): EntryGroups {
  const inFlight = new Set<EntryGroup>();
  const { idOf } = store.numbered;
  let newest: EntryGroup | undefined;

  async function finish(group: EntryGroup): Promise<void> {
    try {
      await group.durable;
      await store.write(group.items, 'new');
    } catch (error) {
      inFlight.delete(group);
      left(group, { error });
      throw error;
    }
    inFlight.delete(group);
    left(group);
  }

  return {
    inFlight,
    of(durable) {
      // Entries of one group have the same promise.
      if (newest?.durable !== durable) {
        newest = new EntryGroup(durable, idOf);
        inFlight.add(newest);
        newest.visible = finish(newest);
      }
      return newest;
    },
  };
}
