// Composes what deliveries change: outcomes in the log with notes for the device's owner, and samples that outputs write back.
import type { Parts } from './platform-parts.ts';
import type { Uplinks } from './uplinks.ts';
import type { WriteSample, WrittenSample } from '../connectors/database/database-sender.ts';
import { createRuleBudget, type RuleBudget } from '../flows/rule-budget.ts';
import { outcomeNotes } from '../deliveries/failure-notes.ts';
import type { TriedDelivery } from '../model/delivery.ts';
import type { JournalEntry } from '../model/journal-entry.ts';
import { Problem, problem } from '../model/problem.ts';
import type { Sample } from '../model/sample.ts';
import { lazyTransaction } from '../records/records.ts';
import { saveDeliveryOutcomes } from '../records/rows/deliveries.ts';
import { appendProcessingLog } from '../records/rows/processing-log.ts';
import { validateSample } from '../validate/sample-validation.ts';

export interface OutputEffects {
  readonly writeSample: WriteSample;
  readonly save: (tried: readonly TriedDelivery[]) => Promise<void>;
}

export function outputEffects(parts: Parts, uplinks: Uplinks): OutputEffects {
  const { records, telemetry, newId } = parts;
  const budget = createRuleBudget(parts.config.quotas.ruleSamples);
  return {
    writeSample: (sample) => writeSample(sample, parts, uplinks, budget),
    async save(tried) {
      const notes = tried.flatMap((one) => outcomeNotes(one, newId));
      // What a power cut takes of this is tried once more.
      await lazyTransaction(records.db, async (step) => {
        const outcomes = tried.map(({ outcome }) => outcome);
        await saveDeliveryOutcomes(step, outcomes);
        await appendProcessingLog(step, notes);
      });
      for (const { outcome, tookMs } of tried)
        telemetry.deliveryTried(outcome.state, tookMs / 1_000);
      for (const note of notes) telemetry.noted(note);
    },
  };
}

/** Puts a sample into the journal like one that a device sent; the target must be in the workspace the trigger came from. */
async function writeSample(
  written: WrittenSample,
  { directory, now, newId }: Parts,
  { appendEntry, admit }: Uplinks,
  budget: RuleBudget,
): ReturnType<WriteSample> {
  try {
    const { device: from } = await directory.byDevice(written.from);
    const { device, flow } = await directory.byDevice(written.deviceId);
    if (device.workspaceId !== from.workspaceId)
      throw problem('notFound', { what: 'device', id: written.deviceId });
    const { deviceId, topic, timestamp, data, meta, correlationId, ruleHops, invokeRules } =
      written;
    const sample: Sample = {
      deviceId,
      topic,
      timestamp,
      data,
      ...(meta === undefined ? {} : { meta }),
    };
    if (!budget.take(device.organizationId, correlationId)) {
      const reason = `rules made ${budget.max} samples from one uplink already (limit ruleSamples)`;
      return { ok: false, retry: false, reason };
    }
    const validated = (await admit(deviceId, [validateSample(sample)]))[0]!;
    const { organizationId, workspaceId } = device;
    const origin = {
      organizationId,
      workspaceId,
      dataFlowId: flow.id,
      correlationId,
      stored: true,
    };
    const receivedAt = now();
    const entry: JournalEntry = {
      deviceId,
      receivedAt,
      samples: [{ ...validated.sample, ...origin }],
      notes: validated.notes.map((note) => ({
        id: newId(),
        deviceId,
        timestamp: receivedAt,
        correlationId,
        ...note,
      })),
      trace: { ruleHops, ...(invokeRules ? {} : { rulesSkipped: true }) },
    };
    const { samples } = await appendEntry(entry);
    const where = `topic ${validated.sample.topic} of device ${deviceId}`;
    return {
      ok: true,
      answer: samples.length === 0 ? `was stored already in ${where}` : `stored in ${where}`,
    };
  } catch (error) {
    if (error instanceof Problem)
      return { ok: false, retry: error.status >= 500, reason: error.message };
    throw error;
  }
}
