// Goals: figures of a bench in relation to something else in the same run, which `bench -- all` gathers.
import process from 'node:process';

/** A figure that has a goal. Absolute times drift with the machine, so that each is a ratio. */
export interface Goal {
  readonly what: string;
  readonly figure: number;
  /** What the figure is a multiple of, measured in the same run. */
  readonly of: string;
  readonly goal: number;
  readonly best: 'high' | 'low';
}

/** What a bench tells the process that started it. */
export interface Told {
  readonly goals: readonly Goal[];
  /** What was not measured, and why, in words. */
  readonly skipped: readonly string[];
}

/** Hands them to `bench -- all`; without it they are only in what the bench prints. */
export function tellGoals(goals: readonly Goal[], skipped: readonly string[] = []): void {
  process.send?.({ goals, skipped } satisfies Told);
}

export function isReached({ figure, goal, best }: Goal): boolean {
  return best === 'high' ? figure >= goal : figure <= goal;
}
