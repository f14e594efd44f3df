// Seeded randomness: every number is a pure function of a seed and an index, in any order.
import type { EpochMs } from '../../../src/model/instant.ts';

/**
 * A 32-bit seed from a name (FNV-1a, then mixed). The same name gives the same device behaviour in
 * every installation.
 */
export function seedOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return mixed(hash);
}

/** A number in [0, 1) that belongs to the integer `index`. */
export function uniform(seed: number, index: number): number {
  const low = index >>> 0;
  const high = Math.floor(index / 0x1_0000_0000) | 0;
  return (
    mixed(Math.imul(low ^ seed, 0x9e3779b1) ^ mixed(high ^ (seed + 0x7f4a7c15))) / 0x1_0000_0000
  );
}

/** A standard normal number that belongs to the integer `index` (Box-Muller). */
export function gaussian(seed: number, index: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - uniform(seed, index)));
  return radius * Math.cos(2 * Math.PI * uniform(seed ^ 0x5bd1e995, index));
}

/**
 * How many of independent events of the expected number `mean` happen in slot `index` (Poisson,
 * Knuth's product; mean up to some hundreds).
 */
export function poisson(seed: number, index: number, mean: number): number {
  if (mean > 40) return Math.max(0, Math.round(mean + Math.sqrt(mean) * gaussian(seed, index)));
  const limit = Math.exp(-mean);
  let product = uniform(seed, index * 64);
  let count = 0;
  while (product > limit && count < 63) product *= uniform(seed, index * 64 + ++count);
  return count;
}

/**
 * Smooth noise in [-1, 1] that wanders with about the given period: what the wind, a crowd or a
 * thermostat adds to a rhythm.
 */
export function drift(seed: number, at: EpochMs, periodMs: number): number {
  const place = at / periodMs;
  const index = Math.floor(place);
  const share = place - index;
  const eased = share * share * (3 - 2 * share);
  const before = uniform(seed, index);
  return 2 * (before + (uniform(seed, index + 1) - before) * eased) - 1;
}

function mixed(value: number): number {
  let x = value | 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}
