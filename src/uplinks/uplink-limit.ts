// Uplink limit: how many uplinks of one secret are taken a second, over HTTP, MQTT and CoAP together.
import { createTokenBuckets, type TokenBuckets } from '../access/token-buckets.ts';
import type { EpochMs } from '../model/instant.ts';
import { problem } from '../model/problem.ts';

/** The uplinks of so many seconds may arrive at the same time, such as after an outage. */
const burstSeconds = 10;
const secretsMax = 100_000;

/** A secret is known by its connector, the credential of a device by the device. */
export class UplinkLimit {
  readonly #buckets: TokenBuckets | undefined;

  /** `perSecond` 0 is no limit. */
  constructor(perSecond: number, now: () => EpochMs) {
    if (perSecond === 0) return;
    const capacity = burstSeconds * perSecond;
    this.#buckets = createTokenBuckets({ capacity, perSecond, keysMax: secretsMax, now });
  }

  /** Counts an uplink. Throws Problem 429 when there are too many. */
  take(id: string): void {
    if (this.#buckets === undefined || this.#buckets.take(id)) return;
    throw problem('rateLimited', { retryAfterSeconds: this.#buckets.secondsUntil(id) });
  }

  /** Whether another one would be taken. */
  hasRoomFor(id: string): boolean {
    return this.#buckets === undefined || this.#buckets.left(id) > 0;
  }

  /** Counts an uplink that `hasRoomFor` was asked for. */
  count(id: string): void {
    this.#buckets?.take(id);
  }
}
