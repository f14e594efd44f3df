// RuleEvaluation: the result of evaluating a rule, with the conditions that are true and the actions that fire.

/** An action that must be performed. */
export interface Firing {
  readonly actionId: string;
  /** The reason of the firing. Rule, trigger and cause identify the firing permanently. */
  readonly cause: string;
}

export interface RuleEvaluation {
  /** One character per condition: logic blocks, or the inside of a fence. Kept per device. */
  readonly holds: string;
  readonly firings: readonly Firing[];
  /** A condition was already true, and an action does not fire again. */
  readonly suppressed: boolean;
  /** The conditions without a value. */
  readonly missing: readonly string[];
}
