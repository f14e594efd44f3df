// Custom logic: the event a script is given, and what its emits ask for (contract 15).
import { dayMs, type EpochMs, formatInstant, parseInstant } from '../model/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { Note } from '../model/processing-note.ts';
import { converted } from '../model/rule-value.ts';
import type { CompiledRule } from './compiled-rule.ts';
import { isWholeSample, ownValue, type Reading } from './rule-reading.ts';
import type { Emit } from '../scripting/emit.ts';

export const scriptRunLimits = {
  /** A timer that a script sets is at least so far ahead (contract 15). */
  timerAheadMsMin: 15_000,
  timerAheadMsMax: 366 * dayMs,
  /** Timers of a rule that may wait at once. */
  timersMax: 100,
} as const;

export interface ScriptCause {
  readonly type: 'uplink' | 'timer';
  /** What the script gave to its own timer; undefined for other causes. */
  readonly timerMeta?: JsonObject | null;
  readonly numberOfInvocations: number;
  readonly at: EpochMs;
}

/**
 * The event but for the state, which is read when the script runs. `device` and `dataSources` are as templates see them. The guest turns
 * `dataSourceNames` into aliases that are not enumerated (contract 36).
 */
export function scriptEvent(
  { rule, sources, logic }: CompiledRule,
  reading: Reading,
  cause: ScriptCause,
  device: JsonObject | null,
  dataSources: readonly JsonObject[],
): JsonObject {
  const inputs: Record<string, Json> = {};
  const told: Record<string, Json> = {};
  const names: Record<string, string> = {};
  for (const [place, { source }] of sources.entries()) {
    const value = ownValue(reading, sources, place);
    const shown = isWholeSample(source.dataKey) ? value : converted(value, source.valueType);
    const name = source.variableName ?? source.id;
    inputs[name] = shown ?? null;
    told[String(place + 1)] = dataSources[place]!;
    names[name] = String(place + 1);
  }
  const { id, name, description, workspaceId } = rule;
  return {
    type: cause.type,
    timestamp: formatInstant(cause.at),
    inputs,
    properties: propertiesOf(rule, logic),
    // A timed run has no device (contract 36).
    ...(device === null ? {} : { device }),
    dataSources: told,
    dataSourceNames: names,
    numberOfInvocations: cause.numberOfInvocations,
    timer: cause.type === 'timer' ? { meta: cause.timerMeta ?? null } : null,
    rule: { id, ruleId: id, name, description, workspaceId },
  };
}

/** The rule's values over the defaults of its block. */
function propertiesOf(
  { logic: { customLogic } }: CompiledRule['rule'],
  logic: CompiledRule['logic'],
): JsonObject {
  const properties: Record<string, Json> = {};
  if (logic.type !== 'CUSTOM_LOGIC') return properties;
  for (const { variableName, defaultValue, type } of logic.block.properties) {
    properties[variableName] = converted(defaultValue, type) ?? null;
  }
  for (const { variableName, value, type } of customLogic?.properties ?? []) {
    if (value !== null) properties[variableName] = converted(value, type) ?? null;
  }
  return properties;
}

export interface ScriptOutcome {
  /** What `emit('action', ...)` was given, in order. */
  readonly actions: readonly JsonObject[];
  readonly timers: readonly { readonly runAt: EpochMs; readonly meta: JsonObject | null }[];
  /** The last one emitted wins. */
  readonly state?: JsonObject;
  readonly notes: readonly Note[];
  /** The first error's message. */
  readonly error?: string;
}

/** Reads the emits of a run. What a script does wrong is a note; what it emitted before counts. */
export function scriptOutcome(emits: readonly Emit[], now: EpochMs): ScriptOutcome {
  const actions: JsonObject[] = [];
  const timers: ScriptOutcome['timers'][number][] = [];
  const notes: Note[] = [];
  let state: JsonObject | undefined;
  let error: string | undefined;
  const wrong = (message: string) => {
    notes.push({ level: 'ERROR', source: 'RULE', message });
    error ??= message;
  };
  for (const { type, event } of emits) {
    if (type === 'LOG') continue;
    if (type === 'ERROR') wrong(isJsonObject(event) ? placed(event) : String(event));
    else if (!isJsonObject(event)) wrong(`emit('${type.toLowerCase()}', ...) needs an object`);
    else if (type === 'ACTION') actions.push(event);
    else if (type === 'STATE') state = event;
    else if (type === 'TIMER') {
      const timer = timerOf(event, now);
      if (typeof timer === 'string') wrong(timer);
      else timers.push(timer);
    } else wrong(`emit('${type.toLowerCase()}', ...) has no effect in custom logic`);
  }
  return {
    actions,
    timers,
    notes,
    ...(state !== undefined && { state }),
    ...(error !== undefined && { error }),
  };
}

function placed({ message, line, column }: JsonObject): string {
  if (typeof line === 'number')
    return `${String(message)} (line ${line}, column ${String(column)})`;
  return String(message);
}

function timerOf(event: JsonObject, now: EpochMs): ScriptOutcome['timers'][number] | string {
  const { runAt, meta } = event;
  const at =
    typeof runAt === 'string' ? parseInstant(runAt) : typeof runAt === 'number' ? runAt : undefined;
  if (at === undefined) return "emit('timer', ...) needs runAt, a date";
  if (at < now + scriptRunLimits.timerAheadMsMin)
    return "The runAt of emit('timer', ...) must be at least 15 seconds ahead";
  if (at > now + scriptRunLimits.timerAheadMsMax)
    return "The runAt of emit('timer', ...) must be at most 366 days ahead";
  return { runAt: Math.round(at), meta: isJsonObject(meta) ? meta : null };
}

/**
 * Which emitted actions go to an action: all, or, when it does not fire again and again, the first of a run after a run
 * without one (contract 35).
 */
export function actionsFor(
  actions: readonly JsonObject[],
  isConsecutive: boolean,
  heldBefore: boolean,
): readonly JsonObject[] {
  if (isConsecutive) return actions;
  if (heldBefore) return [];
  return actions.slice(0, 1);
}
