// Replacements: pieces of the samples of one device that are read, and written again in place of what is stored (contract 38).
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import { type EpochMs, formatInstant } from '../model/instant.ts';
import type { DurableEntry, JournalEntry } from '../model/journal-entry.ts';
import { problem } from '../model/problem.ts';
import type { Replacement, StoredEnd } from '../model/replacement.ts';
import type { Sample } from '../model/sample.ts';
import { refuseUnreadable } from '../storage/samples/reported-reads.ts';
import type { Samples } from '../storage/samples/samples.ts';

/** Behind every time that a sample can have. */
export const endOfTimes = 8.64e15;
/** Samples that one entry writes again, about. */
const rowsPerEntry = 4_000;
/** Samples of one instant that a piece can have. */
const instantMax = 20_000;
/** Attempts to read a piece without samples coming meanwhile. */
const attemptsMax = 50;

export interface ReplacementStages {
  /** Throws Problem 404. */
  readonly findRoute: (deviceId: string) => UplinkRoute | Promise<UplinkRoute>;
  readonly store: Samples;
  readonly append: (entry: JournalEntry) => Promise<DurableEntry>;
  readonly announce: (entry: DurableEntry) => void;
  readonly newId: () => string;
  readonly now: () => EpochMs;
}

/** The oldest samples of a range, oldest first. */
interface Piece {
  readonly samples: readonly Sample[];
  /** Where the samples of the device ended: none of these came later. */
  readonly before: StoredEnd;
  /** All samples before this time are read. */
  readonly to: EpochMs;
}

type Span = { readonly from: EpochMs; readonly to: EpochMs };

/** Of devices of this node. */
export class Replacements {
  readonly #on: ReplacementStages;
  readonly #rowsPerEntry: number;

  constructor(on: ReplacementStages, rowsPerPiece = rowsPerEntry) {
    this.#on = on;
    this.#rowsPerEntry = rowsPerPiece;
  }

  /**
   * The oldest samples of all topics, up to an end of an instant. Throws Problem `samplesDamaged` for unreadable ones, which
   * would be removed without being written again, and `tooManyRemovals` where samples come faster than they are read.
   */
  async readPiece(deviceId: string, span: Span): Promise<Piece> {
    let piece = await this.#read(deviceId, span);
    for (let attempt = 1; !piece.isQuiet; attempt += 1) {
      if (attempt === attemptsMax) throw problem('tooManyRemovals');
      // Ends of some stores are those of all devices together: then the samples of this one are counted.
      const to = piece.to;
      const counted = await this.#count(deviceId, { from: span.from, to });
      piece = await this.#read(deviceId, { from: span.from, to });
      const isSame = piece.to === to && piece.samples.length === counted;
      if (isSame && (await this.#count(deviceId, { from: span.from, to })) === counted) break;
    }
    return piece;
  }

  async #read(deviceId: string, span: Span): Promise<Piece & { readonly isQuiet: boolean }> {
    const { store } = this.#on;
    const before = await store.endOf(deviceId);
    const samples: Sample[] = [];
    let to = span.to;
    const range = { deviceId, from: span.from, to, unreadable: refuseUnreadable };
    for await (const batch of store.exportSamples(range)) {
      samples.push(...batch);
      const cut = samples[this.#rowsPerEntry]?.timestamp;
      if (cut === undefined) continue;
      const begin = samples[0]?.timestamp ?? cut;
      const end = samples.find(({ timestamp }) => timestamp > begin && timestamp >= cut);
      if (end !== undefined) {
        to = end.timestamp;
        break;
      }
      if (cut === begin && samples.length > instantMax)
        throw problem('instantTooLarge', { timestamp: formatInstant(begin), max: instantMax });
    }
    const after = await store.endOf(deviceId);
    // What came between would be read, and not be removed.
    const isQuiet = before.order === after.order || before.position === after.position;
    return { samples: samples.filter(({ timestamp }) => timestamp < to), before, to, isQuiet };
  }

  async #count(deviceId: string, { from, to }: Span): Promise<number> {
    const counted = await this.#on.store.count(deviceId, [{ topics: null, from, to }]);
    return counted.reduce((sum, { samples }) => sum + samples, 0);
  }

  /** Waits once for earlier removals when these are too many. */
  async replace(
    deviceId: string,
    replaces: Omit<Replacement, 'workspaceId'>,
    samples: readonly Sample[],
  ): Promise<void> {
    const { store } = this.#on;
    if (!store.takesRanges(deviceId, replaces.ranges.length)) await store.rewritten();
    await this.append(deviceId, samples, replaces);
  }

  /** Without a replacement, the samples go to rules and outputs as those of a backfill. */
  async append(
    deviceId: string,
    samples: readonly Sample[],
    replaces?: Omit<Replacement, 'workspaceId'>,
  ): Promise<void> {
    const { findRoute, append, announce, newId, now } = this.#on;
    const { device, flow } = await findRoute(deviceId);
    const { organizationId, workspaceId } = device;
    const correlationId = newId();
    const origin = {
      organizationId,
      workspaceId,
      dataFlowId: flow.id,
      correlationId,
      stored: true,
    };
    const entry = await append({
      deviceId,
      receivedAt: now(),
      notes: [],
      samples: samples.map((sample) => ({ ...sample, ...origin })),
      ...(replaces !== undefined && { replaces: { ...replaces, workspaceId } }),
    });
    announce(entry);
  }
}
