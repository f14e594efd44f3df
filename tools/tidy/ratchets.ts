// Ratchets: counts of what the project wants less of. A count may fall and never rise.
import type { Violation } from './violation.ts';
import { conditionalsOf } from './conditionals.ts';
import { nonNullAssertions } from './non-null.ts';
import type { ProjectFile } from './project-files.ts';
import { allowedDocument, readAllowed, writeAllowed } from './allowed-counts.ts';

/** One count with its limit. */
export interface Ratchet {
  /** Name of its row in allowed.txt, such as `conditionals src`. */
  readonly name: string;
  readonly places: readonly Violation[];
  /** Uses that are in order even without a row. */
  readonly goal: number;
  readonly advice: string;
}

const placesShownMax = 20;
const assertionsGoal = 60;

/** Every count of the project at `root`, also those that are in order. */
export function ratchets(root: string, files: readonly ProjectFile[]): Ratchet[] {
  const source = files.filter((file) => file.path.startsWith('src/') && !file.isTest);
  return [conditionalRatchet(source), assertionRatchet(root, source)];
}

function conditionalRatchet(source: readonly ProjectFile[]): Ratchet {
  return {
    name: 'conditionals src',
    advice: 'write an early return, `??`, a small function or a table instead of `?:`',
    goal: (source.reduce((sum, file) => sum + file.lines.length, 0) * 10) / 1000,
    places: source.flatMap((file) =>
      conditionalsOf(file).map((line) => ({ path: file.path, line, message: 'conditionals' })),
    ),
  };
}

function assertionRatchet(root: string, source: readonly ProjectFile[]): Ratchet {
  return {
    name: 'non-null src',
    advice: 'narrow, destructure, use for..of or a function that throws instead of `x!`',
    goal: assertionsGoal,
    places: nonNullAssertions(root, source).map(({ file, line }) => ({
      path: file.path,
      line,
      message: 'non-null',
    })),
  };
}

/** Counts above what is allowed, each with all its places. */
export function ratchetViolations(root: string, files: readonly ProjectFile[]): Violation[] {
  const allowed = readAllowed(root);
  return ratchets(root, files)
    .filter(({ name, places, goal }) => places.length > Math.max(allowed.get(name) ?? 0, goal))
    .map(({ name, places, advice }) => ({
      path: places.length === 1 ? (places[0]?.path ?? allowedDocument) : allowedDocument,
      message: `${name}: ${places.length}, allowed ${allowed.get(name) ?? 0}: ${advice}${placesText(name, places)}`,
    }));
}

function placesText(name: string, places: readonly Violation[]): string {
  if (places.length > placesShownMax) return `; npm run tidy -- --list ${name}`;
  return places.map(({ path, line }) => `\n  ${path}:${line}`).join('');
}

/** Lowers every row to today's count; returns whether anything changed. A row never rises. */
export function lowerAllowed(root: string, files: readonly ProjectFile[]): boolean {
  const counts = new Map(ratchets(root, files).map((ratchet) => [ratchet.name, ratchet]));
  const lowered = [...readAllowed(root)].flatMap(([name, allowed]) => {
    const { places, goal } = counts.get(name) ?? { places: [], goal: 0 };
    const count = Math.min(allowed, places.length);
    return count > goal ? [[name, count] as const] : [];
  });
  return writeAllowed(root, new Map(lowered));
}
