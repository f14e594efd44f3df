// Failed runs of rules: dropped, aborted or failed; each is logged and noted without stopping other runs.
import { type EpochMs, formatInstant } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import type { StoredSample } from '../model/sample.ts';
import type { CompiledRule } from '../rules/compiled-rule.ts';
import type { Triggered } from '../rules/evaluation.ts';
import type { PreparationFailures } from '../rules/rule-registry.ts';
import type { RunLog } from '../rules/run-log.ts';
import type { RuleRun } from '../rules/rule-run.ts';
import type { SearchGap } from '../rules/last-sample-search.ts';
import { type LookUpDevice, type Origin, ruleNote } from './rule-effects.ts';
import { notedDevices } from './rule-triggers.ts';
import type { CollectedWrite } from './rule-writes.ts';

/** For the tenant. The log of the platform has the error, for the operator. */
const failedText = 'an internal error (see the platform log) prevented';

const uncertainTexts = {
  unreadable: 'stored samples are unreadable, so the last sample may be outdated or missing',
  backlog:
    'rule evaluation is behind, so the last sample was looked up by timestamp; a late sample may be missing',
} as const;

export interface RunFailures extends PreparationFailures {
  /** The maximum number of runs of its script already waits. */
  dropped(triggered: Triggered, origin: Origin, waitingMax: number): void;
  /** The timer of a rule with tags as inputs was due. */
  aborted(compiled: CompiledRule, origin: Origin): void;
  /** The rule threw during its evaluation or while its effects were collected. */
  failed(compiled: CompiledRule, origin: Origin, places: readonly number[], error: unknown): void;
  /** The sample threw before the first rule. */
  sampleFailed(sample: StoredSample, at: EpochMs, error: unknown): void;
}

interface FailureState {
  readonly collected: CollectedWrite;
  readonly parts: RunFailuresParts;
  /** Keys of what this write has noted or logged. */
  readonly reported: Set<string>;
}

export interface RunFailuresParts {
  readonly log: RunLog;
  readonly failed: (error: Error) => void;
  readonly now: () => EpochMs;
  readonly newId: () => string;
}

/**
 * For one write, which has one note per rule and device, regardless of the number of samples that
 * fail.
 */
export function createRunFailures(collected: CollectedWrite, parts: RunFailuresParts): RunFailures {
  const state: FailureState = { collected, parts, reported: new Set() };
  return {
    planningFailed(compiled, deviceId, error) {
      const key = `device ${deviceId} up to entry ${collected.upTo}`;
      addFailedRun(state, compiled, { origin: originOf(parts, deviceId, key), places: [], error });
    },
    lastSampleUncertain: (compiled, deviceId, gap) => noteUncertain(state, compiled, deviceId, gap),
    failed: (compiled, origin, places, error) =>
      addFailedRun(state, compiled, { origin, places, error }),
    dropped({ compiled, reading, places }, origin, waitingMax) {
      const reason = `${waitingMax} script runs are already queued; this run was skipped`;
      const { samples } = reading;
      addRun(parts.log, compiled, origin, { samples, places, outcome: 'DROPPED', reason });
      addNote(state, compiled, origin, reason);
    },
    aborted(compiled, origin) {
      const samples = compiled.sources.map(() => undefined);
      const reason = 'timers do not support tag inputs because there is no triggering device';
      addRun(parts.log, compiled, origin, { samples, places: [], outcome: 'ABORTED', reason });
    },
    sampleFailed: (sample, at, error) => noteFailedSample(state, sample, at, error),
  };
}

function isFirst({ reported }: FailureState, key: string): boolean {
  if (reported.has(key)) return false;
  reported.add(key);
  return true;
}

function originOf({ newId, now }: RunFailuresParts, deviceId: string, key: string): Origin {
  return { cause: 'UPLINK', key, deviceId, correlationId: newId(), hops: 0, at: now() };
}

function addRun(
  log: RunLog,
  compiled: CompiledRule,
  origin: Origin,
  run: Pick<RuleRun, 'samples' | 'places' | 'outcome' | 'reason'>,
): void {
  log.add(compiled, { ...runBy(origin), ...run, actionIds: [] });
}

/** Adds a note to the processing log of the device that the run is about, if there is one. */
function addNote(
  state: FailureState,
  compiled: CompiledRule,
  origin: Origin,
  message: string,
): void {
  const [deviceId] = notedDevices(compiled, origin);
  if (deviceId === undefined) return;
  if (!isFirst(state, `${compiled.rule.id} ${deviceId} ${message}`)) return;
  state.collected.notes.push(ruleNote(compiled, origin, deviceId, { level: 'ERROR', message }));
}

interface FailedRun {
  readonly origin: Origin;
  readonly places: readonly number[];
  readonly error: unknown;
}

function addFailedRun(
  state: FailureState,
  compiled: CompiledRule,
  { origin, places, error }: FailedRun,
): void {
  const { log, failed } = state.parts;
  const samples = compiled.sources.map((_, place) => {
    if (places.includes(place)) return origin.sample;
    return undefined;
  });
  const reason = `${failedText} its evaluation`;
  addRun(log, compiled, origin, { samples, places, outcome: 'FAILED', reason });
  addNote(state, compiled, origin, reason);
  const { id } = compiled.rule;
  if (isFirst(state, `log ${id}`))
    failed(new Error(`Rule ${id} failed for ${origin.key}`, { cause: error }));
}

function noteUncertain(
  state: FailureState,
  compiled: CompiledRule,
  deviceId: string,
  gap: SearchGap,
): void {
  const { id, activation } = compiled.rule;
  const key = `${gap.kind} ${deviceId} ${activation}`;
  if (!isFirst(state, `${id} ${key}`)) return;
  const note = { level: 'WARN', message: uncertainTexts[gap.kind], details: rangeOf(gap) } as const;
  // The id of the note is the same each time, so that the processing log keeps one.
  state.collected.notes.push(
    ruleNote(compiled, originOf(state.parts, deviceId, key), deviceId, note),
  );
}

function rangeOf(gap: SearchGap): JsonObject | undefined {
  if (gap.kind !== 'unreadable') return undefined;
  return { from: formatInstant(gap.from), to: formatInstant(gap.to) };
}

function noteFailedSample(
  state: FailureState,
  { deviceId, cursor, correlationId }: StoredSample,
  at: EpochMs,
  error: unknown,
): void {
  if (!isFirst(state, `sample ${deviceId}`)) return;
  state.collected.notes.push({
    id: `rules-failed-${cursor}`,
    deviceId,
    timestamp: at,
    correlationId,
    level: 'ERROR',
    source: 'RULE',
    message: `Rules: ${failedText} the evaluation of a sample`,
  });
  const message = `Rules were not evaluated for sample ${cursor} of device ${deviceId}`;
  state.parts.failed(new Error(message, { cause: error }));
}

function runBy({ at, cause, deviceId, correlationId }: Origin) {
  return { at, cause, deviceId, correlationId };
}

/** The records could not be read. The entire batch is retried. */
class LookUpFailed extends Error {
  override readonly name = 'LookUpFailed';
}

/** Runs `work`. Calls `failed` when it throws; rethrows when the records could not be read. */
export async function isolated(
  lookUp: LookUpDevice,
  failed: (error: unknown) => void,
  work: (lookUp: LookUpDevice) => Promise<void>,
): Promise<void> {
  try {
    await work(async (deviceId) => {
      try {
        return await lookUp(deviceId);
      } catch (error) {
        throw new LookUpFailed('The records cannot be read', { cause: error });
      }
    });
  } catch (error) {
    if (error instanceof LookUpFailed) throw error.cause;
    failed(error);
  }
}
