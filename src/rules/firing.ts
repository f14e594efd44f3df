// What judging a rule says: what holds now, and the actions that fire.

/** An action that is to be performed. */
export interface Firing {
  readonly actionId: string;
  /** What made it fire; with rule and trigger it names the firing for ever. */
  readonly cause: string;
}

export interface Verdict {
  /** One character for each thing that can hold: logic blocks, or the inside of a fence. Kept for each device. */
  readonly holds: string;
  readonly firings: readonly Firing[];
  /** Something held before and holds still, and an action does not fire again for that. */
  readonly suppressed: boolean;
  /** Where a value was missing. */
  readonly missing: readonly string[];
}
