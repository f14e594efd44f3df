// Import run: reads an export, says what is done to each item, does it, and counts.
import type { Client } from '../typescript/client.ts';
import { type Outcome, type PlannedLine, planImport } from './import-plan.ts';
import { applyPlan } from './import-work.ts';
import type { Moved, MovedSample, ReadOptions, Source } from './moved.ts';
import { readPlatformState } from './platform-state.ts';
import { sendSamples, type TransferCount } from './sample-transfer.ts';

export interface ImportParts {
  readonly client: Client;
  readonly workspaceId: string;
  readonly source: Source;
  readonly files: readonly string[];
  readonly options: ReadOptions;
  /** Name of an existing device connector. */
  readonly connector: string | undefined;
  readonly isDryRun: boolean;
  readonly report: (line: PlannedLine) => Promise<void>;
}

export interface ImportSummary {
  readonly dryRun: boolean;
  /** Items by what happened to them. */
  readonly items: Readonly<Record<Outcome, number>>;
  readonly samples: TransferCount;
}

/** Throws HeliographError, and Error for a file that cannot be read. */
export async function runImport(parts: ImportParts): Promise<ImportSummary> {
  const { source, files, options } = parts;
  const moved = await source.read(files, options);
  try {
    return await importMoved(moved, parts);
  } finally {
    moved.close();
  }
}

async function importMoved(moved: Moved, parts: ImportParts): Promise<ImportSummary> {
  const { client, workspaceId, source, files, options, isDryRun } = parts;
  const { signal } = options;
  const items = { create: 0, update: 0, same: 0, skip: 0, error: 0 };
  const report = async (line: PlannedLine): Promise<void> => {
    items[line.outcome]++;
    await parts.report(line);
  };
  const state = await readPlatformState({ client, workspaceId, signal });
  const plan = planImport({ moved, state, source, connector: parts.connector });
  for (const line of plan.lines) await report(line);
  const { organizationId } = state;
  const { deviceIds } = plan;
  const samples = withUnknownReported(moved.samples(), deviceIds, report);
  if (isDryRun) return { dryRun: true, items, samples: await counted(samples, deviceIds) };
  const work = { client, workspaceId, organizationId, source, signal };
  for (const line of await applyPlan(plan, work)) await report(line);
  const settings = JSON.stringify([options.device, options.topic, options.database]);
  const on = { client, organizationId, deviceIds, files, settings, signal, report };
  return { dryRun: false, items, samples: await sendSamples(samples, on) };
}

/** A device that does not exist is one error, however many samples it has. */
async function* withUnknownReported(
  batches: AsyncIterable<readonly MovedSample[]>,
  deviceIds: ReadonlySet<string>,
  report: (line: PlannedLine) => Promise<void>,
): AsyncGenerator<readonly MovedSample[]> {
  const reported = new Set<string>();
  for await (const batch of batches) {
    for (const { deviceId, place } of batch) {
      if (deviceIds.has(deviceId) || reported.has(deviceId)) continue;
      reported.add(deviceId);
      const reason = 'the workspace has no such device, and the files neither';
      await report({ outcome: 'error', kind: 'samples', name: deviceId, place, reason });
    }
    yield batch;
  }
}

async function counted(
  batches: AsyncIterable<readonly MovedSample[]>,
  deviceIds: ReadonlySet<string>,
): Promise<TransferCount> {
  let stored = 0;
  for await (const batch of batches)
    stored += batch.filter(({ deviceId }) => deviceIds.has(deviceId)).length;
  return { stored, duplicates: 0, rejected: 0, resumed: 0 };
}
