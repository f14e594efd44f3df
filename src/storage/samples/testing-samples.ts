// Samples over the embedded store in one folder, with all that tests and measurements read.
import { join } from 'node:path';
import type { EntryLog } from '../log/entry-log.ts';
import {
  type EmbeddedStore,
  type EmbeddedStoreOptions,
  openEmbeddedStore,
} from './embedded/embedded-store.ts';
import type { StoreLimits } from './embedded/store-limits.ts';
import { type OpenSamples, openSamples, type SamplesOptions } from './samples.ts';

export interface TestSamplesOptions
  extends Omit<SamplesOptions<EmbeddedStore>, 'openStore'>,
    Pick<EmbeddedStoreOptions, 'slices'> {
  readonly limits?: Partial<StoreLimits & { readonly journalSegmentBytes: number }>;
}

/** The log's members are beside those of the samples. */
export interface TestSamples
  extends OpenSamples<EmbeddedStore>,
    Omit<EntryLog, 'append' | 'appendColumns' | 'close'>,
    Pick<EmbeddedStore, 'sealAll'> {
  /**
   * Resolves when the background work in progress has ended and the positions of followers are
   * saved.
   */
  readonly idle: () => Promise<void>;
}

export async function openTestSamples({
  limits = {},
  slices,
  ...options
}: TestSamplesOptions): Promise<TestSamples> {
  const directory = join(options.directory, 'segments');
  const samples = await openSamples({
    ...(limits.journalSegmentBytes !== undefined && {
      journalSegmentBytes: limits.journalSegmentBytes,
    }),
    ...options,
    openStore: (surroundings) =>
      openEmbeddedStore({
        directory,
        limits,
        ...(slices !== undefined && { slices }),
        ...surroundings,
      }),
  });
  const { log, store } = samples;
  return Object.defineProperties(
    {
      ...log,
      ...samples,
      sealAll: store.sealAll,
      idle: async () => {
        await store.idle();
        await log.saveFollowerPositions();
      },
    },
    {
      position: { get: () => log.position, enumerable: true },
      nextPosition: { get: () => log.nextPosition, enumerable: true },
    },
  );
}
