// Sample: one stored measurement of a device (interface 2.3).
import type { EpochMs } from './instant.ts';
import type { JsonObject } from './json.ts';

export const defaultTopic = 'default';

/** A sample as decoders and backfills produce it, after validation. */
export interface Sample {
  /** Service device id. */
  readonly deviceId: string;
  readonly topic: string;
  readonly timestamp: EpochMs;
  readonly data: JsonObject;
  readonly meta?: JsonObject;
}

/**
 * A sample on its way through the journal, with all that its followers need to know about its
 * origin.
 */
export interface SampleEntry extends Sample {
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly dataFlowId: string | null;
  readonly correlationId: string;
  /** Time of storing; the journal sets it, never decreasing. */
  readonly storedAt: EpochMs;
  /**
   * Whether the flow has the database connector: if not, it is journalled and forwarded but never
   * queried.
   */
  readonly stored: boolean;
}

/**
 * A sample that is durable. `cursor` is its place in the order of storing; cursors compare as
 * strings.
 */
export interface StoredSample extends SampleEntry {
  readonly cursor: string;
}
