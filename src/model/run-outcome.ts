// Outcome of a rule's run, as its log counts it and lists of rules show it.
export const runOutcomes = [
  'FIRED',
  'NOT_FIRED',
  'SUPPRESSED',
  'ABORTED',
  'FAILED',
  'DROPPED',
  'LATE',
] as const;
export type RunOutcome = (typeof runOutcomes)[number];
