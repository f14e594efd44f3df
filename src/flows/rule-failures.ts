// Runs of rules that came to nothing: left out, aborted or failed. Each is kept with the runs and told; the others go on.
import { type EpochMs, formatInstant } from '../model/instant.ts';
import type { StoredSample } from '../model/sample.ts';
import type { CompiledRule } from '../rules/compiled-rule.ts';
import type { Triggered } from '../rules/evaluation.ts';
import type { PreparationFailures } from '../rules/rule-registry.ts';
import type { RunLog } from '../rules/run-log.ts';
import { type LookUpDevice, type Origin, ruleNote } from './rule-effects.ts';
import { notedDevices } from './rule-triggers.ts';
import type { CollectedWrite } from './rule-writes.ts';

/** The tenant reads this; what went wrong inside is for the operator. */
const failedText = 'an internal error, which the log of the platform tells, kept';

const uncertainTexts = {
  unreadable:
    'stored samples of the device cannot be read, so its last sample may be an older one, or missing',
  backlog:
    'many samples wait for their rules, so its last sample was looked for by time: one that came late may be missing',
} as const;

export interface RunFailures extends PreparationFailures {
  /** So many runs of its script wait already. */
  dropped(triggered: Triggered, origin: Origin, waitingMax: number): void;
  /** A timer of a rule with tags as inputs. */
  aborted(compiled: CompiledRule, origin: Origin): void;
  /** The rule threw while it was evaluated, or while its effects were made. */
  failed(compiled: CompiledRule, origin: Origin, places: readonly number[], error: unknown): void;
  /** The sample threw before any rule saw it. */
  sampleFailed(sample: StoredSample, at: EpochMs, error: unknown): void;
}

/** Of one write: a rule and device are noted once in it, however many of its samples fail. */
export function createRunFailures(
  collected: CollectedWrite,
  parts: {
    readonly log: RunLog;
    readonly failed: (error: Error) => void;
    readonly now: () => EpochMs;
    readonly newId: () => string;
  },
): RunFailures {
  const { log, failed } = parts;
  const told = new Set<string>();
  const first = (what: string): boolean => !told.has(what) && told.add(what) !== undefined;

  /** Keeps the run, and notes it in the processing log of the device it is about, if there is one. */
  const note = (compiled: CompiledRule, origin: Origin, message: string): void => {
    const [deviceId] = notedDevices(compiled, origin);
    if (deviceId === undefined || !first(`${compiled.rule.id} ${deviceId} ${message}`)) return;
    collected.notes.push(ruleNote(compiled, origin, deviceId, { level: 'ERROR', message }));
  };

  const failedRun: RunFailures['failed'] = (compiled, origin, places, error) => {
    const samples = compiled.sources.map((_, place) =>
      places.includes(place) ? origin.sample : undefined,
    );
    const reason = `${failedText} it from being evaluated`;
    log.add(compiled, {
      ...runBy(origin),
      samples,
      places,
      outcome: 'FAILED',
      reason,
      actionIds: [],
    });
    note(compiled, origin, reason);
    const { id } = compiled.rule;
    if (first(`log ${id}`))
      failed(new Error(`Rule ${id} failed for ${origin.key}`, { cause: error }));
  };
  const originOf = (deviceId: string, key: string): Origin => {
    return {
      cause: 'UPLINK',
      key,
      deviceId,
      correlationId: parts.newId(),
      hops: 0,
      at: parts.now(),
    };
  };

  return {
    planningFailed(compiled, deviceId, error) {
      const key = `device ${deviceId} up to entry ${collected.position}`;
      failedRun(compiled, originOf(deviceId, key), [], error);
    },
    lastSampleUncertain(compiled, deviceId, gap) {
      const { id, activation } = compiled.rule;
      const key = `${gap.kind} ${deviceId} ${activation}`;
      if (!first(`${id} ${key}`)) return;
      const message = uncertainTexts[gap.kind];
      const details =
        gap.kind === 'unreadable'
          ? { from: formatInstant(gap.from), to: formatInstant(gap.to) }
          : undefined;
      // Its id is the same each time, so that the processing log keeps one.
      collected.notes.push(
        ruleNote(compiled, originOf(deviceId, key), deviceId, { level: 'WARN', message, details }),
      );
    },
    failed: failedRun,
    dropped({ compiled, reading, places }, origin, waitingMax) {
      const reason = `${waitingMax} runs of its script wait already; this one was left out`;
      const { samples } = reading;
      log.add(compiled, {
        ...runBy(origin),
        samples,
        places,
        outcome: 'DROPPED',
        reason,
        actionIds: [],
      });
      note(compiled, origin, reason);
    },
    aborted(compiled, origin) {
      const samples = compiled.sources.map(() => undefined);
      const reason = 'a timer cannot run a rule with tags as inputs: no device is definite then';
      log.add(compiled, {
        ...runBy(origin),
        samples,
        places: [],
        outcome: 'ABORTED',
        reason,
        actionIds: [],
      });
    },
    sampleFailed({ deviceId, cursor, correlationId }, at, error) {
      if (!first(`sample ${deviceId}`)) return;
      collected.notes.push({
        id: `rules-failed-${cursor}`,
        deviceId,
        timestamp: at,
        correlationId,
        level: 'ERROR',
        source: 'RULE',
        message: `Rules: ${failedText} a sample from meeting its rules`,
      });
      failed(new Error(`Sample ${cursor} of device ${deviceId} met no rules`, { cause: error }));
    },
  };
}

function runBy({ at, cause, deviceId, correlationId }: Origin) {
  return { at, cause, deviceId, correlationId };
}

/** The records could not be read: everything is tried again, nobody is to blame. */
class LookUpFailed extends Error {
  override readonly name = 'LookUpFailed';
}

/** Does the work; tells when it throws, but throws when it was the records that could not be read. */
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
