// A real sample store in a temporary folder, holding given samples.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sample } from '../../src/model/sample.ts';
import { openTestSamples } from '../../src/storage/samples/testing-samples.ts';
import type { Samples } from '../../src/storage/samples/samples.ts';

export interface FilledStore {
  readonly store: Samples;
  readonly close: () => Promise<void>;
}

const samplesAnEntry = 100;

export type FillStore = (samples: readonly Sample[]) => Promise<FilledStore>;

/** The embedded store with the samples. */
export async function filledStore(samples: readonly Sample[]): Promise<FilledStore> {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-filled-'));
  const store = await openTestSamples({ directory, now: () => Date.now() });
  await appendAll(store, samples);
  return {
    store,
    async close() {
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Stores the samples in their order, device after device. */
export async function appendAll(
  store: Pick<Samples, 'append'>,
  samples: readonly Sample[],
): Promise<void> {
  const rest = {
    organizationId: 'o1',
    workspaceId: 'w1',
    dataFlowId: null,
    correlationId: 'c1',
    stored: true,
  };
  for (const deviceId of new Set(samples.map((sample) => sample.deviceId))) {
    const own = samples
      .filter((sample) => sample.deviceId === deviceId)
      .map((sample) => ({ ...sample, ...rest }));
    for (let at = 0; at < own.length; at += samplesAnEntry) {
      await store.append({
        deviceId,
        receivedAt: 0,
        samples: own.slice(at, at + samplesAnEntry),
        notes: [],
      });
    }
  }
}
