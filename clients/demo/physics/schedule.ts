// When a device sends by itself: on its interval, with the few seconds of drift that every cheap clock has.
import type { EpochMs } from '../../../src/model/instant.ts';
import { uniform } from './seeded.ts';

/**
 * The instants in [from, to) of a device that sends every `intervalMs`; two devices never share
 * their phase.
 */
export function periodic(seed: number, from: EpochMs, to: EpochMs, intervalMs: number): EpochMs[] {
  const phase = Math.floor(uniform(seed, 1) * intervalMs);
  const driftMs = Math.min(8_000, intervalMs / 4);
  const instants: EpochMs[] = [];
  for (let k = Math.floor((from - phase - driftMs) / intervalMs); ; k++) {
    const at = phase + k * intervalMs + Math.floor(uniform(seed ^ 0x2545f491, k) * driftMs);
    if (at >= to) return instants;
    if (at >= from) instants.push(at);
  }
}

/** Several ascending lists of instants as one ascending list without repetitions. */
export function merged(...lists: readonly (readonly EpochMs[])[]): EpochMs[] {
  return [...new Set(lists.flat())].sort((a, b) => a - b);
}
