// Entries and reading shorthands for the suites that every sample store must pass.
import type { DurableEntry, JournalEntry } from '../../../model/journal-entry.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { Sample, StoredSample } from '../../../model/sample.ts';
import { dataOf } from '../../log/data-shape.ts';
import type { OpenSamples, Samples } from '../samples.ts';
import type { SampleRun, SampleStore } from '../sample-store.ts';

export interface Given {
  readonly at: number;
  readonly data: JsonObject;
  readonly topic?: string;
  readonly meta?: JsonObject;
  readonly stored?: boolean;
  readonly workspaceId?: string;
  readonly dataFlowId?: string | null;
}

/** With the samples as its own property: an appended entry makes them when they are first read. */
export function withSamples(entry: DurableEntry): DurableEntry {
  return { ...entry, samples: entry.samples };
}

/** An entry of one device with nothing but samples, unless `rest` says more. */
export function entryOf(
  deviceId: string,
  samples: readonly Given[],
  rest: Partial<JournalEntry> = {},
): JournalEntry {
  return {
    deviceId,
    receivedAt: 1_000,
    notes: [],
    ...rest,
    samples: samples.map(
      ({
        at,
        data,
        topic = 'default',
        meta,
        stored = true,
        workspaceId = 'w1',
        dataFlowId = 'f1',
      }) => ({
        deviceId,
        topic,
        timestamp: at,
        data,
        ...(meta === undefined ? {} : { meta }),
        organizationId: 'o1',
        workspaceId,
        dataFlowId,
        correlationId: 'c1',
        stored,
      }),
    ),
  };
}

export async function allSamples(
  store: Pick<Samples, 'samples'>,
  deviceId: string,
  topic?: string,
): Promise<readonly Sample[]> {
  return store.samples({
    deviceId,
    ...(topic === undefined ? {} : { topic }),
    limit: 1_000_000,
    skip: 0,
  });
}

export async function collect<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const batch of batches) all.push(...batch);
  return all;
}

/** The samples of runs as objects, without `meta`. */
export async function samplesOfRuns(
  deviceId: string,
  batches: AsyncIterable<readonly SampleRun[]>,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  for await (const runs of batches)
    for (const { topic, sorted, from, to } of runs) {
      const { rows, timestamps, permutation } = sorted;
      for (let place = from; place < to; place++) {
        const row = permutation?.[place] ?? place;
        const shapeId = rows.shapeIds?.[row] ?? 0;
        const columnOf = (leaf: number) => rows.columns[rows.shapeColumns[shapeId]![leaf]!]!;
        const data = dataOf(rows.shapes[shapeId]!, {
          numberAt: (leaf) => columnOf(leaf).numbers[row]!,
          textAt: (leaf) => columnOf(leaf).texts[columnOf(leaf).ids[row]!]!,
        });
        samples.push({ deviceId, topic, timestamp: timestamps[place]!, data });
      }
    }
  return samples;
}

/** The devices of the suites. */
export const devicesOfReplays: ReadonlySet<string> = new Set(['d0', 'd1', 'd2']);

export async function replayed(
  { log }: OpenSamples<SampleStore>,
  cursor: string,
): Promise<StoredSample[]> {
  return collect(log.replay({ cursor }, devicesOfReplays));
}
