// Written sample: a sample of an output enters the journal like one that a device sent (contract 9, 36).
import type { WriteSample, WrittenSample } from '../outputs/connectors/connector-services.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import type { EpochMs } from '../model/instant.ts';
import type { DurableEntry, JournalEntry } from '../model/journal-entry.ts';
import { problem, Problem } from '../model/problem.ts';
import type { Sample } from '../model/sample.ts';
import { type Validated, validateSample } from './validate/sample-validation.ts';
import { type BoundedMap, createBoundedMap } from '../structures/caches.ts';

type Written = Awaited<ReturnType<WriteSample>>;

export interface WrittenSampleStages {
  /** Throws Problem 404. */
  readonly findRoute: (deviceId: string) => UplinkRoute | Promise<UplinkRoute>;
  /** Limits the samples that rules make of one uplink. */
  readonly budget: RuleBudget;
  /** Removes what exceeds the limits of the device. */
  readonly admit: (
    deviceId: string,
    samples: readonly Validated[],
  ) => readonly Validated[] | Promise<readonly Validated[]>;
  readonly appendEntry: (entry: JournalEntry) => Promise<DurableEntry>;
  readonly newId: () => string;
  readonly now: () => EpochMs;
}

/**
 * The target device must be in the workspace of the device that triggered the output. Problems are
 * outcomes, not errors.
 */
export async function storeWrittenSample(
  written: WrittenSample,
  stages: WrittenSampleStages,
): Promise<Written> {
  try {
    const route = await targetOf(written, stages);
    const { budget } = stages;
    if (!budget.take(route.device.organizationId, written.correlationId)) {
      const reason = `rules already created ${budget.max} samples from one uplink (limit ruleSamples)`;
      return { ok: false, retry: false, reason };
    }
    const validated = await validatedOf(written, stages);
    const entry = entryOf(written, validated, route, stages);
    const { samples } = await stages.appendEntry(entry);
    const place = `topic ${validated.sample.topic} of device ${written.deviceId}`;
    if (samples.length === 0) return { ok: true, answer: `was already stored in ${place}` };
    return { ok: true, answer: `stored in ${place}` };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { ok: false, retry: error.status >= 500, reason: error.message };
  }
}

/** Throws Problem 404, also for a device of another workspace. */
async function targetOf(
  { from, deviceId }: WrittenSample,
  { findRoute }: WrittenSampleStages,
): Promise<UplinkRoute> {
  const source = await findRoute(from);
  const target = await findRoute(deviceId);
  if (source.device.workspaceId !== target.device.workspaceId)
    throw problem('notFound', { what: 'device', id: deviceId });
  return target;
}

async function validatedOf(
  { deviceId, topic, timestamp, data, meta }: WrittenSample,
  { admit }: WrittenSampleStages,
): Promise<Validated> {
  const sample: Sample = { deviceId, topic, timestamp, data, ...(meta && { meta }) };
  const [validated] = await admit(deviceId, [validateSample(sample)]);
  if (validated === undefined)
    throw new Error(`a sample of device ${deviceId} was rejected (overload)`);
  return validated;
}

function entryOf(
  { deviceId, correlationId, ruleHops, invokeRules }: WrittenSample,
  { sample, notes }: Validated,
  { device, flow }: UplinkRoute,
  { newId, now }: WrittenSampleStages,
): JournalEntry {
  const receivedAt = now();
  const { organizationId, workspaceId } = device;
  const origin = { organizationId, workspaceId, dataFlowId: flow.id, correlationId, stored: true };
  return {
    deviceId,
    receivedAt,
    samples: [{ ...sample, ...origin }],
    notes: notes.map((note) => ({
      id: newId(),
      deviceId,
      timestamp: receivedAt,
      correlationId,
      ...note,
    })),
    trace: { ruleHops, ...(!invokeRules && { rulesSkipped: true }) },
  };
}

// The budget of samples that rules make from one uplink: depth is limited by hops, breadth is limited here (contract 36).

/**
 * Uplinks whose samples are counted at the same time; the longest inactive ones are evicted first.
 */
const uplinksMax = 100_000;

/**
 * Counts restart with a start of the platform; how deep a chain goes does not, so a restart adds
 * `max` at most.
 */
export class RuleBudget {
  readonly max: number;
  readonly #made: BoundedMap<string, number>;

  constructor(max: number, keptMax = uplinksMax) {
    this.max = max;
    this.#made = createBoundedMap<string, number>(keptMax);
  }

  /** False when rules made as many samples from the uplink already; else it is counted. */
  readonly take = (organizationId: string, correlationId: string): boolean => {
    const key = `${organizationId} ${correlationId}`;
    const count = this.#made.get(key) ?? 0;
    this.#made.set(key, Math.min(this.max, count + 1));
    return count < this.max;
  };
}
