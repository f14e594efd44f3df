// Problem: an error with a stable code, which code throws by the name of its row; the HTTP edge makes the body.
import { problems } from './problem-table.ts';

type Details = Readonly<Record<string, string | number | boolean | null | readonly unknown[]>>;

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
