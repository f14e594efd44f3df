// Script runs: one run of code on the platform, without effect (interface 4.8).
import { ask, platform } from '../../api/platform.ts';
import { sortedJson } from './json-lines.ts';
import type { JsonObject } from './payload.ts';

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
