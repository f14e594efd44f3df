// Samples over the embedded store in one folder, with all that tests and measurements read.
import { join } from 'node:path';
import type { EntryLog } from '../log/entry-log.ts';
import { type EmbeddedStore, openEmbeddedStore } from './embedded/embedded-store.ts';
import type { EmbeddedStoreOptions } from './embedded/store-loader.ts';
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
      tornBytes: log.tornBytes,
      positionAt: (storedAt: number) => log.positionAt(storedAt),
      reachTime: () => log.reachTime(),
      entriesFrom: (position: number) => log.entriesFrom(position),
      duplicateKeysFrom: (position: number) => log.duplicateKeysFrom(position),
      isLost: (from: number, to: number) => log.isLost(from, to),
      behindLost: (position: number) => log.behindLost(position),
      replay: (...of: Parameters<EntryLog['replay']>) => log.replay(...of),
      followerPosition: (follower: string) => log.followerPosition(follower),
      setFollowerPosition: (follower: string, position: number) =>
        log.setFollowerPosition(follower, position),
      saveFollowerPositions: () => log.saveFollowerPositions(),
      slowestFollower: () => log.slowestFollower(),
      removeFollower: (follower: string) => log.removeFollower(follower),
      release: (before: number) => log.release(before),
      journalled: () => log.journalled(),
      firstPosition: log.firstPosition,
      position: log.position,
      nextPosition: log.nextPosition,
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
      firstPosition: { get: () => log.firstPosition, enumerable: true },
    },
  );
}
