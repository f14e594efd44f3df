// Figure table: rows with the goal that each meets or misses, printed on stderr when they are measured.
import { figure, verdict } from './measure.ts';

/** The goal of a figure. */
export interface Goal {
  readonly words: string;
  readonly isMet: (n: number) => boolean;
}

export interface FigureNotes {
  /** What, the figure in words, the verdict on its goal or nothing. */
  readonly rows: string[][];
  readonly note: (what: string, value: string, goal?: Goal, measured?: number) => void;
  readonly noteNumber: (what: string, measured: number, goal?: Goal) => void;
}

export const atLeast = (limit: number): Goal => ({
  words: `at least ${inWords(limit)}`,
  isMet: (n) => n >= limit,
});
export const under = (limit: number): Goal => ({
  words: `under ${inWords(limit)}`,
  isMet: (n) => n < limit,
});
export const upTo = (limit: number): Goal => ({
  words: `up to ${inWords(limit)}`,
  isMet: (n) => n <= limit,
});

export function figureNotes(): FigureNotes {
  const rows: string[][] = [];
  const note: FigureNotes['note'] = (what, value, goal, measured = Number.NaN) => {
    const met = goal === undefined ? '' : `${goal.words}: ${verdict(goal.isMet(measured))}`;
    rows.push([what, value, met]);
    console.error(`${what}: ${value} ${met}`);
  };
  return {
    rows,
    note,
    noteNumber: (what, measured, goal) => note(what, figure(measured), goal, measured),
  };
}

function inWords(limit: number): string {
  return limit.toLocaleString('en-US');
}
