// Examples: events with the emits that are right for them, kept in the sample data of their type.
import type { JsonObject, ScriptPart } from './payload.ts';
import type { Emit } from './script-run.ts';

export interface Example {
  readonly name: string;
  readonly part: ScriptPart;
  readonly event: JsonObject;
  readonly emits: readonly Emit[];
}

/** Each is one run of the script, after every run of the editor. */
export const examplesMax = 50;

/** Sample data is free JSON; examples are members of its list, next to any other entries. */
export function examplesIn(sampleData: unknown, part: ScriptPart): Example[] {
  return entriesOf(sampleData)
    .filter(isExample)
    .filter((example) => example.part === part);
}

/** Sample data with the example added, or in the place of the one with its name. */
export function withExample(sampleData: unknown, example: Example): unknown[] {
  const entries = entriesOf(sampleData);
  const place = entries.findIndex((entry) => isSame(entry, example));
  return place < 0 ? [...entries, example] : entries.with(place, example);
}

export function withoutExample(sampleData: unknown, example: Example): unknown[] {
  return entriesOf(sampleData).filter((entry) => !isSame(entry, example));
}

function entriesOf(sampleData: unknown): readonly unknown[] {
  if (sampleData === null || sampleData === undefined) return [];
  return Array.isArray(sampleData) ? (sampleData as unknown[]) : [sampleData];
}

function isSame(entry: unknown, { name, part }: Example): boolean {
  return isExample(entry) && entry.name === name && entry.part === part;
}

function isExample(entry: unknown): entry is Example {
  const { name, part, event, emits } = (entry ?? {}) as Partial<Example>;
  return (
    typeof name === 'string' &&
    (part === 'uplinkScript' || part === 'downlinkScript') &&
    typeof event === 'object' &&
    Array.isArray(emits)
  );
}
