// How downlinks leave: one transport per connectivity, and what becomes of a try.
import type { Connectivity } from '../model/connector.ts';
import type { Downlink } from '../model/downlink.ts';

export type DownlinkOutcome =
  | { readonly outcome: 'sent' | 'acknowledged'; readonly serverReference?: string }
  /** Nobody is there to take it; it waits until somebody is, who wakes the queue. */
  | { readonly outcome: 'offline'; readonly reason: string }
  | { readonly outcome: 'retry'; readonly reason: string; readonly afterMs?: number }
  | { readonly outcome: 'failed'; readonly reason: string };

/** Sends one downlink. What fails is an outcome; it rejects through our own fault alone. */
export type SendDownlink = (downlink: Downlink, signal: AbortSignal) => Promise<DownlinkOutcome>;

/** By connectivity; one that is missing takes none for now. */
export type DownlinkTransports = ReadonlyMap<Connectivity, SendDownlink>;
