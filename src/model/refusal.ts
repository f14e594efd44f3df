// Refusal: a Problem as a value, as it crosses from one node to another.
import { Problem, type ProblemName } from './problem.ts';

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
