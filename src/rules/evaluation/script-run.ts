// Custom logic: the event that a script receives, and the effects that its emits request (contract 15).
import { dayMs, type EpochMs, formatInstant, parseInstant } from '../../model/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import type { Note } from '../../model/entry-trace.ts';
import { converted } from '../../model/rule.ts';
import type { CompiledRule } from './compiled-rule.ts';
import { isWholeSample, ownValue, type Reading } from './rule-reading.ts';
import type { Emit } from '../../scripting/emit.ts';

export const scriptRunLimits = {
  /** Minimum time until a timer that a script sets (contract 15). */
  timerAheadMsMin: 15_000,
  timerAheadMsMax: 366 * dayMs,
  /** Timers of a rule that may wait at the same time. */
  timersMax: 100,
} as const;

/** The type of event for each cause of a run. */
export const scriptCauses = {
  UPLINK: 'uplink',
  TIMER: 'timer',
  SCRIPT_TIMER: 'timer',
} as const;

interface ScriptCause {
  readonly type: 'uplink' | 'timer';
  /** The value that the script passed to its timer; undefined for other causes. */
  readonly timerMeta?: JsonObject | null;
  readonly numberOfInvocations: number;
  readonly at: EpochMs;
  /** Since when the platform listens to devices: what was before is no silence of theirs. */
  readonly platformStart: EpochMs;
}

/**
 * Returns the event without the state, which is read when the script runs. `device` and
 * `dataSources` are as in templates. The guest converts `dataSourceNames` into aliases that are not
 * enumerated (contract 36).
 */
export function scriptEvent(
  { rule, sources, logic }: CompiledRule,
  reading: Reading,
  cause: ScriptCause,
  {
    device = null,
    dataSources,
  }: {
    readonly device?: JsonObject | null | undefined;
    readonly dataSources?: Readonly<Record<string, JsonObject>> | undefined;
  },
): JsonObject {
  const inputs: Record<string, Json> = {};
  const bySource: Record<string, Json> = {};
  const names: Record<string, string> = {};
  for (const [place, { source }] of sources.entries()) {
    let value = ownValue(reading, sources, place);
    if (!isWholeSample(source.dataKey)) value = converted(value, source.valueType);
    const name = source.variableName ?? source.id;
    const number = String(place + 1);
    inputs[name] = value ?? null;
    bySource[number] = dataSources?.[number] ?? null;
    names[name] = number;
  }
  const { id, name, description, workspaceId } = rule;
  return {
    type: cause.type,
    timestamp: formatInstant(cause.at),
    platformStart: formatInstant(cause.platformStart),
    inputs,
    properties: propertiesOf(rule, logic),
    // A timed run has no device (contract 36).
    ...(device !== null && { device }),
    dataSources: bySource,
    dataSourceNames: names,
    numberOfInvocations: cause.numberOfInvocations,
    timer: timerEvent(cause),
    rule: { id, ruleId: id, name, description, workspaceId },
  };
}

function timerEvent({ type, timerMeta = null }: ScriptCause): JsonObject | null {
  if (type === 'timer') return { meta: timerMeta };
  return null;
}

/** The values of the rule, or the defaults of its block. */
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
  /** The events of `emit('action', ...)`, in order. */
  readonly actions: readonly JsonObject[];
  readonly timers: readonly { readonly runAt: EpochMs; readonly meta: JsonObject | null }[];
  /** The last emitted state. */
  readonly state?: JsonObject;
  readonly notes: readonly Note[];
  /** The first error's message. */
  readonly error?: string;
}

/** Reads the emits of a run. An error of the script becomes a note; earlier emits are valid. */
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
    if (type === 'ERROR') wrong(errorMessage(event));
    else if (!isJsonObject(event)) wrong(`emit('${type.toLowerCase()}', ...) requires an object`);
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

function errorMessage(event: Json): string {
  if (!isJsonObject(event)) return String(event);
  const { message, line, column } = event;
  if (typeof line === 'number')
    return `${String(message)} (line ${line}, column ${String(column)})`;
  return String(message);
}

function timerOf(event: JsonObject, now: EpochMs): ScriptOutcome['timers'][number] | string {
  const { runAt, meta } = event;
  const at = instantFrom(runAt);
  if (at === undefined) return "emit('timer', ...) requires runAt, a date";
  if (at < now + scriptRunLimits.timerAheadMsMin)
    return "runAt in emit('timer', ...) must be at least 15 seconds in the future";
  if (at > now + scriptRunLimits.timerAheadMsMax)
    return "The runAt of emit('timer', ...) must be at most 366 days ahead";
  const runAtMs = Math.round(at);
  if (isJsonObject(meta)) return { runAt: runAtMs, meta };
  return { runAt: runAtMs, meta: null };
}

function instantFrom(value: Json | undefined): EpochMs | undefined {
  if (typeof value === 'string') return parseInstant(value);
  if (typeof value === 'number') return value;
  return undefined;
}

/** Whether an emitted action clears the alarm of its key, instead of triggering (contract 37). */
export function clearsAlarm({ alarm }: JsonObject): boolean {
  return alarm === 'clear';
}

/**
 * Returns the emitted actions for an action of the rule. An action that does not fire in
 * consecutive runs gets the first one, and only after a run without one (contract 35).
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

/** Reason of a run whose script emitted actions. */
export function emittedReason(count: number): string {
  if (count === 1) return 'the script emitted 1 action';
  return `the script emitted ${count} actions`;
}
