// Downlink transports: one per connectivity, and the outcome of a try.
import type { Connectivity } from '../model/connector.ts';
import type { Downlink } from '../model/downlink.ts';

export type DownlinkOutcome =
  | { readonly outcome: 'sent' | 'acknowledged'; readonly serverReference?: string }
  /** The device is not connected; the downlink waits until the device connects. */
  | { readonly outcome: 'offline'; readonly reason: string }
  | { readonly outcome: 'retry'; readonly reason: string; readonly afterMs?: number }
  | { readonly outcome: 'failed'; readonly reason: string };

/** Sends one downlink. A failure is an outcome; the promise rejects only for an internal error. */
export type SendDownlink = (downlink: Downlink, signal: AbortSignal) => Promise<DownlinkOutcome>;

/** By connectivity; one that is missing takes none for now. */
export type DownlinkTransports = ReadonlyMap<Connectivity, SendDownlink>;
