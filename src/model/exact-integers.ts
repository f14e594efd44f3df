// Exact integers: the note on those of a value that arrived as their text, because a number would round them.
import { exactPathsIn } from './exact-json.ts';
import type { Json } from './json.ts';
import type { Note } from './processing-note.ts';

const shownLengthMax = 200;

/** Undefined when there are none. */
export function exactIntegersNote(value: Json): Note | undefined {
  const paths = exactPathsIn(value);
  return paths.length === 0 ? undefined : noteOfExact(paths);
}

export function noteOfExact(paths: readonly string[]): Note {
  const named = paths.join(', ');
  const shown = named.length <= shownLengthMax ? named : `${named.slice(0, shownLengthMax)}…`;
  const message = `Integers outside the safe range were stored as strings: ${shown}`;
  return { level: 'WARN', source: 'UPLINK', message, details: { paths } };
}
