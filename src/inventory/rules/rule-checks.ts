// Rule checks: limits of rules, and the error for an invalid field.
import { problem } from '../../model/problem.ts';

export const ruleLimits = {
  inputsMax: 50,
  dataSourcesMax: 50,
  logicBlocksMax: 20,
  conditionsMax: 50,
  actionsMax: 20,
} as const;

/** The error for an invalid field of a rule. */
export function invalidRule(field: string, reason: string) {
  return problem('ruleInvalid', { field, reason });
}

/** Throws when a list is longer than its limit. */
export function checkLength(field: string, list: readonly unknown[], max: number): void {
  if (list.length > max) throw invalidRule(field, `must have at most ${max} items`);
}
