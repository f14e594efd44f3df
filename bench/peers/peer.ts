// Peer: the shape of an engine in the comparison.
import type { Query, QueryName } from './queries.ts';
import { minutesPerDay, type SampleColumns, type WorkloadShape } from '../load/workload.ts';

export interface Peer {
  readonly title: string;
  /** When the version was released that is measured; engines of Debian are years old. */
  readonly released: string;
  /** Debian packages, and the program that shows that they are there. */
  readonly packages: readonly string[];
  readonly program: string;
  /** What an acknowledgement means, in words. */
  readonly durability: string;
  /** How the samples are modelled, and what of them is not kept. */
  readonly model: string;
  /** Queries that the engine answers in another way than asked, or not at all: the words for it. */
  readonly exceptions: { readonly [N in QueryName]?: QueryException };
  start(folder: string, shape: WorkloadShape): Promise<Engine>;
}

/** Whether hourly aggregates are kept: not of devices that send a few samples an hour. */
export function keepsHours({ samplesPerDay = minutesPerDay }: WorkloadShape): boolean {
  return samplesPerDay === minutesPerDay;
}

export interface QueryException {
  readonly words: string;
  /** Omitted from the table when the engine has no such query. */
  readonly absent?: true;
  /** Answers keep only what the engine can hold; applied to the wanted answer before comparing. */
  readonly comparable?: (wanted: readonly number[]) => number[];
}

export interface Engine {
  readonly version: string;
  /**
   * The bytes of one bulk request, or, for a batch of one, of one single request. Not part of any
   * timing.
   */
  encode(batch: SampleColumns): Buffer;
  openLanes(count: number): Promise<Lane[]>;
  /** Makes everything resting: rollups, merges, flushes. Answers what it did, in words. */
  settle(): Promise<string>;
  bytesAtRest(): Promise<RestingBytes>;
  memoryBytes(): number;
  query(query: Query): Promise<number[]>;
  /** Ends the server and starts it again; resolves when it answers, with the moment of the start. */
  restart(): Promise<number>;
  stop(): Promise<void>;
}

/** Bytes on disk after `settle`. */
export interface RestingBytes {
  /** The samples and hourly aggregates with their indexes. */
  readonly samples: number;
  /**
   * Log that the engine keeps (journal, WAL): bounded by its own setting, independent of the number
   * of samples.
   */
  readonly log: number;
}

export interface Lane {
  /**
   * Resolves when the engine has acknowledged; rejects when it refused. `count` is the number of
   * samples in the request.
   */
  send(request: Buffer, count: number): Promise<void>;
  close(): void;
}
