// Script runs: one run of code on the platform, without effect (interface 4.8), and runs on the examples of a device type.
import { useState } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { sortedJson } from './json-lines.ts';
import type { JsonObject, ScriptPart } from './payload.ts';
import { useAction } from '../../ui/use-action.ts';

export interface Emit {
  /** `SAMPLE`, `LOG`, `STATE`, `DOWNLINK` or `ERROR`. */
  readonly type: string;
  readonly event: unknown;
}

export interface ScriptRun {
  readonly event: JsonObject;
  readonly emits: readonly Emit[];
  /** With the way to the platform and back. */
  readonly ms: number;
}

/** A place in the code, counted from 1, and what is wrong there. */
export interface ScriptProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export async function runScript(script: string, event: JsonObject): Promise<ScriptRun> {
  const startedAt = performance.now();
  const emits = await ask(platform.POST('/v3/run-script', { body: { script, event } }));
  return { event, emits, ms: performance.now() - startedAt };
}

/** What a decoder gets of a payload in CBOR, as the platform reads it. */
export async function cborData(hex: string): Promise<unknown> {
  const script = "function consume(event) { emit('log', { data: event.data }); }";
  const body = { script, payload: { hex, encoding: 'CBOR' } } as const;
  const emits = await ask(platform.POST('/v3/run-script', { body }));
  const [data] = emits.map(({ event }) => (event as { readonly data: unknown }).data);
  return data;
}

/** The first error of a run that names its line. */
export function problemOf({ emits }: ScriptRun): ScriptProblem | undefined {
  for (const { type, event } of emits) {
    if (type !== 'ERROR') continue;
    const { line, column, message } = event as Partial<ScriptProblem>;
    if (line !== undefined) return { line, column: column ?? 1, message: message ?? '' };
  }
  return undefined;
}

export function hasFailed({ emits }: ScriptRun): boolean {
  return emits.some(({ type }) => type === 'ERROR');
}

/** Whether two runs have the same effect; logs have none. */
export function isSameEffect(one: readonly Emit[], other: readonly Emit[]): boolean {
  const effect = (emits: readonly Emit[]) => sortedJson(emits.filter(({ type }) => type !== 'LOG'));
  return effect(one) === effect(other);
}

// Examples: events with the emits that are right for them, kept in the sample data of their type, and trials that run the edited code on them.

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

// Trials: runs of the edited code on the payload of the box, and of the examples after it.

export interface Trials {
  readonly run: ScriptRun | undefined;
  /** The run before, which the results are compared with. */
  readonly before: ScriptRun | undefined;
  /** Runs of the examples by name. */
  readonly tested: ReadonlyMap<string, ScriptRun>;
  readonly isRunning: boolean;
  readonly error: Error | null;
  readonly start: (code: string, event: JsonObject | undefined) => void;
}

interface Started {
  readonly code: string;
  readonly event: JsonObject | undefined;
}

/** Examples are run one after the other: the platform runs few scripts of one user at a time. */
export function useTrials(sampleData: unknown, part: ScriptPart): Trials {
  const [runs, setRuns] = useState<readonly ScriptRun[]>([]);
  const [tested, setTested] = useState<ReadonlyMap<string, ScriptRun>>(new Map());
  const examples: readonly Example[] = examplesIn(sampleData, part).slice(0, examplesMax);
  const mutation = useAction({
    mutationFn: async ({ code, event }: Started) => {
      if (event !== undefined) {
        const run = await runScript(code, event);
        setRuns((before) => [run, ...before].slice(0, 2));
      }
      const results = new Map<string, ScriptRun>();
      for (const example of examples)
        results.set(example.name, await runScript(code, example.event));
      setTested(results);
    },
  });
  const [run, before] = runs;
  return {
    run,
    before,
    tested,
    isRunning: mutation.isPending,
    error: mutation.error,
    start: (code, event) => mutation.mutate({ code, event }),
  };
}
