// Block waits: a logic block becomes true, or false, only when its conditions say so for long enough (contract 38).
import type { EpochMs } from '../../model/instant.ts';
import type { BlockWait, BlockWaits } from '../../model/rule.ts';
import type { BlockTest } from './comparison.ts';

/** When a block changes later than its conditions. */
export interface BlockHold {
  /** Time for which the conditions have to be true; 0 without any. */
  readonly holdsForMs: number;
  /** Conditions that end the block, instead of its conditions being false. */
  readonly clearTest: BlockTest | undefined;
  /** Time for which the block has to be over; 0 without any. */
  readonly clearsForMs: number;
}

/** Time of the sample that is evaluated, and when it was received. */
export interface Moment {
  readonly time: EpochMs;
  readonly now: EpochMs;
}

/**
 * A block after an evaluation. `isTrue` says what its conditions make of it; `before` and `wait`
 * are its state. It changes with a sample that is late enough after the first one that
 * contradicted, or when that one was received long enough ago.
 */
export function heldBlock(
  hold: BlockHold,
  before: boolean,
  wait: BlockWait | null,
  isTrue: boolean,
  { time, now }: Moment,
): { readonly isTrue: boolean; readonly wait: BlockWait | null } {
  if (isTrue === before) return { isTrue, wait: null };
  const ms = before ? hold.clearsForMs : hold.holdsForMs;
  const { since, due } = wait ?? { since: time, due: now + ms };
  if (time - since >= ms || now >= due) return { isTrue, wait: null };
  return { isTrue: before, wait: wait ?? { since, due } };
}

export function equalWaits(a: BlockWaits | null, b: BlockWaits | null): boolean {
  if (a === null || b === null) return a === b;
  return a.every((wait, i) => wait?.since === b[i]?.since && wait?.due === b[i]?.due);
}
