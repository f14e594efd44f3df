// Problem table: one stable code, one status and one message per problem, by area in the files *-problems.ts.
// Code throws a Problem by the name of the row, and the HTTP edge makes the body.
import { accessProblems } from './access-problems.ts';
import { inventoryProblems } from './inventory-problems.ts';
import type { ProblemRow } from './problem-row.ts';
import { exportProblems, queryProblems } from './query-problems.ts';
import { damageProblems, nodeProblems, recordsProblems } from './records-problems.ts';
import { quotaProblems, requestProblems } from './request-problems.ts';
import { alarmProblems, deliveryProblems, ruleProblems } from './rule-problems.ts';
import {
  backfillProblems,
  intakeProblems,
  loraProblems,
  transportProblems,
  uplinkProblems,
} from './uplink-problems.ts';

type Details = Readonly<Record<string, string | number | boolean | null | readonly unknown[]>>;

/** Every row, by the name with which the code creates it. */
export const problems = {
  ...requestProblems,
  ...accessProblems,
  ...inventoryProblems,
  ...uplinkProblems,
  ...backfillProblems,
  ...loraProblems,
  ...transportProblems,
  ...intakeProblems,
  ...queryProblems,
  ...ruleProblems,
  ...alarmProblems,
  ...deliveryProblems,
  ...exportProblems,
  ...recordsProblems,
  ...damageProblems,
  ...quotaProblems,
  ...nodeProblems,
} as const satisfies Record<string, ProblemRow>;

export type ProblemName = keyof typeof problems;
type DetailsOf<N extends ProblemName> = (typeof problems)[N]['message'] extends (
  details: infer D,
) => string
  ? [D]
  : [];

/**
 * A row of the table with its details: invalid input or a missing permission, never an internal
 * error.
 */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly problem: ProblemName;
  readonly details: Details;

  constructor(problem: ProblemName, details: Details, message: string) {
    super(message);
    this.problem = problem;
    this.details = details;
  }

  get status(): number {
    return problems[this.problem].status;
  }

  get code(): string {
    return problems[this.problem].code;
  }
}

/** Creates the Problem of a row: `throw problem('notFound', { what: 'device', id })`. */
export function problem<N extends ProblemName>(name: N, ...args: DetailsOf<N>): Problem {
  const { message } = problems[name];
  const details = (args[0] ?? {}) as Details;
  if (typeof message === 'string') return new Problem(name, details, message);
  return new Problem(name, details, (message as (details: Details) => string)(details));
}

// Refusal: a Problem as a value, as it crosses from one node to another.

export interface Refusal {
  readonly problem: ProblemName;
  readonly details: Problem['details'];
  readonly message: string;
}

/** Rethrows what is not a Problem. */
export function refusalOf(error: unknown): Refusal {
  if (!(error instanceof Problem)) throw error;
  const { problem, details, message } = error;
  return { problem, details, message };
}

export function problemOf({ problem, details, message }: Refusal): Problem {
  return new Problem(problem, details, message);
}

export function isRefused<T extends object>(answer: T | Refusal): answer is Refusal {
  return 'problem' in answer;
}
