// Pending entries: the samples of entries between arrival and visibility, so that repetitions of them are recognized too.
import type { JournalEntry } from '../model/journal-entry.ts';
import { PendingSamples } from './pending-samples.ts';

type EntrySamples = JournalEntry['samples'];

/** What is on its way for one device. */
interface PendingDevice {
  readonly id: string;
  entries: PendingEntry[];
  /** See `PendingEntry.takeOrders`. */
  nextOrder: number;
}

export interface PendingEntries {
  /**
   * Reserves the samples of the entry that repeat no other pending one. Release it when the entry
   * is visible or refused.
   */
  readonly reserve: (entry: JournalEntry) => PendingEntry;
  readonly release: (entry: PendingEntry, refusal?: Refusal) => void;
  /** Forgets the samples of the device: what comes now repeats none of them. */
  readonly forget: (deviceId: string) => void;
  /** Resolves when no entry is pending. */
  readonly idle: () => Promise<void>;
}

interface Refusal {
  readonly error: unknown;
}

export function createPendingEntries(): PendingEntries {
  const devices = new Map<string, PendingDevice>();
  let idle: PromiseWithResolvers<void> | undefined;
  return {
    reserve({ deviceId, samples }) {
      let device = devices.get(deviceId);
      if (device === undefined) {
        device = { id: deviceId, entries: [], nextOrder: 0 };
        devices.set(deviceId, device);
      }
      const entry = new PendingEntry(device, samples);
      device.entries.push(entry);
      return entry;
    },
    release(entry, refusal) {
      const { device } = entry;
      entry.settle(refusal);
      device.entries = device.entries.filter((other) => other !== entry);
      if (device.entries.length > 0) return;
      devices.delete(device.id);
      if (devices.size === 0) idle?.resolve();
    },
    forget(deviceId) {
      for (const entry of devices.get(deviceId)?.entries ?? []) entry.forget();
    },
    async idle() {
      if (devices.size === 0) return;
      idle ??= Promise.withResolvers();
      await idle.promise;
    },
  };
}

/** A class, because every entry makes one. */
export class PendingEntry {
  readonly device: PendingDevice;
  /**
   * Samples that repeat no pending one, in their order, those that are not for the store among
   * them.
   */
  readonly fresh: EntrySamples;
  /** Pending entries with samples that this one repeats. */
  readonly repeated = new Set<PendingEntry>();
  /** By topic; most entries have one. */
  #reserved: { readonly topic: string; readonly samples: PendingSamples }[] = [];
  #settled: PromiseWithResolvers<void> | undefined;
  #outcome: { readonly refusal: Refusal | undefined } | undefined;

  constructor(device: PendingDevice, samples: EntrySamples) {
    this.device = device;
    const isFresh = (sample: EntrySamples[number]): boolean => this.#reserve(sample);
    this.fresh = samples.every(isFresh) ? samples : this.#freshOf(samples);
  }

  /**
   * Numbers `count` rows of the device from `nextOrder` on, after those of other pending entries;
   * returns the first number.
   */
  takeOrders(nextOrder: number, count: number): number {
    const first = Math.max(this.device.nextOrder, nextOrder);
    this.device.nextOrder = first + count;
    return first;
  }

  /**
   * Resolves when the samples that this entry repeats are visible; rejects when one of them was
   * refused.
   */
  async repeatedDone(): Promise<void> {
    for (const other of this.repeated) await other.#done();
  }

  settle(refusal: Refusal | undefined): void {
    this.#outcome = { refusal };
    if (this.#settled !== undefined) settle(this.#settled, refusal);
  }

  forget(): void {
    this.#reserved = [];
  }

  /** Some repeat others: starts again, because a second look finds its own reservations. */
  #freshOf(samples: EntrySamples): EntrySamples {
    this.#reserved = [];
    return samples.filter((sample) => this.#reserve(sample));
  }

  /** Returns whether the sample repeats no pending one. */
  #reserve(sample: EntrySamples[number]): boolean {
    if (!sample.stored) return true;
    const own = this.#ofTopic(sample.topic) ?? this.#addTopic(sample.topic);
    if (own.has(sample.timestamp, sample.data)) return false;
    for (const other of this.device.entries) {
      if (other.#ofTopic(sample.topic)?.has(sample.timestamp, sample.data) !== true) continue;
      this.repeated.add(other);
      return false;
    }
    own.add(sample);
    return true;
  }

  #ofTopic(topic: string): PendingSamples | undefined {
    for (const reserved of this.#reserved) if (reserved.topic === topic) return reserved.samples;
    return undefined;
  }

  #addTopic(topic: string): PendingSamples {
    const samples = new PendingSamples();
    this.#reserved.push({ topic, samples });
    return samples;
  }

  #done(): Promise<void> {
    this.#settled ??= Promise.withResolvers();
    if (this.#outcome !== undefined) settle(this.#settled, this.#outcome.refusal);
    return this.#settled.promise;
  }
}

function settle(
  { resolve, reject }: PromiseWithResolvers<void>,
  refusal: Refusal | undefined,
): void {
  if (refusal === undefined) resolve();
  else reject(refusal.error);
}
