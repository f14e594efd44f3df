// Ratchets: counts of what the project wants less of. A count may fall and never rise.
import type { Violation } from './violation.ts';
import { captionOf } from './captions.ts';
import { functionsOf } from './functions.ts';
import { conditionalsOf } from './conditionals.ts';
import { fileLinesMax, functionLinesMax } from './lengths.ts';
import { nonNullAssertions } from './non-null.ts';
import type { ProjectFile } from './project-files.ts';
import { allowedDocument, readAllowed, writeAllowed } from './allowed-counts.ts';
import { wordingPatterns, wordUses } from './wording.ts';

/** One count with its limit. */
export interface Ratchet {
  /** Name of its row in allowed.txt, such as `long-functions src`. */
  readonly name: string;
  readonly places: readonly Violation[];
  /** Uses that are in order even without a row. */
  readonly goal: number;
  readonly advice: string;
}

/**
 * Counts that every area of the project has: what is counted in one file, and how many are in
 * order.
 */
interface AreaCount {
  readonly name: string;
  readonly advice: string;
  readonly isCounted?: (file: ProjectFile) => boolean;
  readonly placesOf: (file: ProjectFile) => readonly number[];
  readonly goalOf?: (files: readonly ProjectFile[]) => number;
}

const captionWordsMax = 20;
const parametersMax = 4;

const areaCounts: readonly AreaCount[] = [
  {
    name: 'long-files',
    advice: 'split the file by reason to change',
    placesOf: (file) => (file.lines.length > fileLinesMax(file) ? [1] : []),
  },
  {
    name: 'long-functions',
    advice: `a function has at most ${functionLinesMax} lines, closures included`,
    placesOf: (file) =>
      functionsOf(file)
        .filter((found) => !found.isSuite && found.lineCount > functionLinesMax)
        .map((found) => found.line),
    // One in two hundred, so that a table or a schema may be long.
    goalOf: (files) => Math.floor(files.flatMap(functionsOf).length / 200),
  },
  {
    name: 'many-parameters',
    advice: `a function has at most ${parametersMax} positional parameters: pass one object`,
    placesOf: (file) =>
      functionsOf(file)
        .filter((found) => found.parameterCount > parametersMax)
        .map((found) => found.line),
  },
  {
    name: 'conditionals',
    advice: 'write an early return, `??`, a small function or a table instead of `?:`',
    isCounted: (file) => file.path.startsWith('src/') && !file.isTest,
    placesOf: conditionalsOf,
    goalOf: (files) => (files.reduce((sum, file) => sum + file.lines.length, 0) * 10) / 1000,
  },
  {
    name: 'caption-questions',
    advice: 'a caption starts with the noun, not with What, Who, Where, How or Whether',
    placesOf: (file) => (/^(What|Who|Where|How|Whether)\b/.test(captionOf(file) ?? '') ? [1] : []),
  },
  {
    name: 'long-captions',
    advice: `a caption has at most ${captionWordsMax} words`,
    placesOf: (file) => ((captionOf(file) ?? '').split(/\s+/).length > captionWordsMax ? [1] : []),
  },
];

const placesShownMax = 20;
const assertionsGoal = 60;

/** Every count of the project at `root`, also those that are in order. */
export function ratchets(root: string, files: readonly ProjectFile[]): Ratchet[] {
  const areas = Map.groupBy(files, areaOf);
  return [
    ...areaCounts.flatMap((count) =>
      [...areas].map(([area, members]) => areaRatchet(count, area, members)),
    ),
    assertionRatchet(root, files),
    ...wordRatchets(root, files),
  ];
}

/** Returns the top folder of a file, or `tests` for a test anywhere. */
function areaOf(file: ProjectFile): string {
  if (file.isTest) return 'tests';
  return file.path.includes('/') ? file.path.slice(0, file.path.indexOf('/')) : 'tools';
}

function areaRatchet(count: AreaCount, area: string, members: readonly ProjectFile[]): Ratchet {
  const counted = members.filter(count.isCounted ?? (() => true));
  return {
    name: `${count.name} ${area}`,
    advice: count.advice,
    goal: count.goalOf?.(counted) ?? 0,
    places: counted.flatMap((file) =>
      count.placesOf(file).map((line) => ({ path: file.path, line, message: count.name })),
    ),
  };
}

function assertionRatchet(root: string, files: readonly ProjectFile[]): Ratchet {
  const source = files.filter((file) => file.path.startsWith('src/') && !file.isTest);
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

function wordRatchets(root: string, files: readonly ProjectFile[]): Ratchet[] {
  const uses = Map.groupBy(
    wordUses(root, files),
    (use) => `word-${use.name}${use.isTest ? ' tests' : ' product'}`,
  );
  const advices = new Map(wordingPatterns.map(({ name, instead }) => [name, instead]));
  return [...uses].map(([name, places]) => ({
    name,
    advice: `write ${advices.get(places[0]?.name ?? '') ?? 'the standard term'}`,
    goal: 0,
    places: places.map(({ path, line }) => ({ path, line, message: name })),
  }));
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
