// Samples to the data folder: all rows of ClickHouse become segments, written next to those in use.
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  endMove,
  type MovedParts,
  type MoveFile,
  moveFolder,
  type SamplesMove,
  setAside,
} from '../samples-move.ts';
import { DataFolderError } from '../../storage/data-folder/data-folder.ts';
import { createShapeInterner, type ShapeInterner } from '../../storage/log/data-shape.ts';
import { makeFolder, syncDirectory } from '../../storage/log/durable-file.ts';
import { countUplinks, movedUplinks } from '../../storage/raw-uplinks/clickhouse/uplink-table.ts';
import { EmbeddedUplinks } from '../../storage/raw-uplinks/embedded/embedded-uplinks.ts';
import { storedUplinks } from '../../storage/raw-uplinks/embedded/stored-folder.ts';
import type { RawUplinkStore } from '../../storage/raw-uplinks/raw-uplink-store.ts';
import { openClickHouseStore } from '../../storage/samples/clickhouse/clickhouse-store.ts';
import {
  countStored,
  keptCondition,
  movedSamples,
  storedSums,
} from '../../storage/samples/clickhouse/moved-rows.ts';
import {
  readState,
  shippingFile,
  type ShippingState,
} from '../../storage/samples/clickhouse/shipping-state.ts';
import {
  type EmbeddedStore,
  openEmbeddedStore,
} from '../../storage/samples/embedded/embedded-store.ts';
import {
  emptyManifest,
  readManifest,
  writeManifest,
} from '../../storage/samples/embedded/segments/manifest.ts';
import {
  SumsOfSamples,
  differingParts,
  type MovedSample,
  type PartSums,
} from '../../storage/samples/moved-samples.ts';
import { openSamples } from '../../storage/samples/samples.ts';
import { missing } from '../../structures/missing.ts';
import type { MoveDirection, RowTarget, UplinkBatch } from './sample-mover.ts';

/** Noted ahead of what is written, so that after a kill it is known what may be there. */
const notedEntries = 2_000;

export class ToFolder implements MoveDirection {
  readonly to = 'embedded';
  /**
   * Entries of the move have positions below those of the journal, so that a start of the platform
   * takes none of the journal for one of them.
   */
  readonly firstPosition = -(2 ** 50);
  readonly #parts: MovedParts;
  readonly #samples: string;
  /** Condition of the rows that are moved. */
  #kept = '';

  constructor(parts: MovedParts) {
    this.#parts = parts;
    this.#samples = join(parts.dataDirectory, 'samples');
  }

  async begin(begun: SamplesMove | undefined): Promise<SamplesMove> {
    const state = await this.#flushedState();
    this.#kept = keptCondition(state);
    return {
      to: this.to,
      startedAt: begun?.startedAt ?? this.#parts.now(),
      position: state.shipped,
      journal: state.journal,
      isCompared: false,
      writtenTo: begun?.writtenTo ?? this.firstPosition,
    };
  }

  /** Afterwards the journal has nothing that ClickHouse has not. */
  async #flushedState(): Promise<ShippingState> {
    const { clickHouse, now } = this.#parts;
    const directory = this.#samples;
    const before = await readState(join(directory, shippingFile));
    if (before === undefined || existsSync(join(directory, 'segments')))
      throw new DataFolderError(
        `The samples of ${directory} are not in ClickHouse; there is nothing to move`,
      );
    const opened = await openSamples({
      directory,
      now,
      openStore: (surroundings) =>
        openClickHouseStore({ directory, clickhouse: clickHouse, now, ...surroundings }),
    });
    try {
      await opened.store.flush();
    } finally {
      await opened.close();
    }
    const state = await readState(join(directory, shippingFile));
    return state === undefined || state === 'damaged' ? missing('shipping state') : state;
  }

  total(): Promise<number> {
    return countStored(this.#parts.clickHouse, this.#kept);
  }

  batches(): AsyncIterable<readonly MovedSample[]> {
    return movedSamples(this.#parts.clickHouse, this.#kept);
  }

  async openRows(file: MoveFile, shapes: ShapeInterner): Promise<RowTarget> {
    const { store, check } = await openSegments(this.#samples, this.firstPosition, shapes);
    const { writtenTo: doubtfulTo } = file.move;
    return {
      from: await store.replayFrom(),
      async write(entry) {
        if (entry.position >= file.move.writtenTo)
          await file.update({ writtenTo: entry.position + notedEntries });
        await store.write([entry], entry.position < doubtfulTo ? 'replayed' : 'new');
        await store.ends([]);
        check();
      },
      async finish() {
        await store.sealAll();
        check();
      },
      close: () => store.close(),
    };
  }

  get #uplinkFolder(): string {
    return join(this.#samples, moveFolder, 'uplinks');
  }

  async openUplinks(): Promise<RawUplinkStore> {
    const directory = this.#uplinkFolder;
    await rm(directory, { recursive: true, force: true });
    return EmbeddedUplinks.open({
      directory,
      damaged: refuseDamaged,
      followedFrom: undefined,
      now: this.#parts.now,
      retentionMs: Number.POSITIVE_INFINITY,
      bytesMax: Number.POSITIVE_INFINITY,
    });
  }

  async *uplinks({ journal, position }: SamplesMove): AsyncGenerator<UplinkBatch> {
    for await (const uplinks of movedUplinks(this.#parts.clickHouse, journal))
      yield {
        uplinks: uplinks.filter((uplink) => uplink.position < position),
        through: position,
      };
  }

  storedUplinks() {
    return storedUplinks(this.#uplinkFolder, refuseDamaged);
  }

  async differing(): Promise<readonly number[]> {
    const stored = await storedSums(this.#parts.clickHouse, this.#kept);
    return differingParts(await this.#writtenSums(), stored);
  }

  /** Reads the segments again, as they are on the disk. */
  async #writtenSums(): Promise<PartSums> {
    const shapes = createShapeInterner();
    const { store, check } = await openSegments(this.#samples, this.firstPosition, shapes);
    try {
      const sums = new SumsOfSamples();
      for (const deviceId of store.deviceIds())
        for await (const batch of store.exportMoved(deviceId)) sums.add(batch.samples);
      check();
      return sums.sums();
    } finally {
      await store.close();
    }
  }

  async left({ journal }: SamplesMove): Promise<readonly string[]> {
    const { others } = await countUplinks(this.#parts.clickHouse, journal);
    return others === 0
      ? []
      : [`${others} raw uplinks of other data folders, which stay in ClickHouse`];
  }

  /** The journal of the folder then continues behind its segments. */
  async use({ position, startedAt }: SamplesMove): Promise<void> {
    const { dataDirectory } = this.#parts;
    const written = join(this.#samples, moveFolder, 'segments');
    if (existsSync(written)) {
      const manifest = await readManifest(written);
      if (typeof manifest === 'string')
        throw new DataFolderError(`The manifest of ${written} is ${manifest}`);
      await writeManifest(written, { ...manifest, replayFrom: position });
      await rename(written, join(this.#samples, 'segments'));
    }
    if (existsSync(this.#uplinkFolder)) {
      await setAside(dataDirectory, 'uplinks', `uplinks-until-${startedAt}`);
      await rename(this.#uplinkFolder, join(dataDirectory, 'uplinks'));
      await syncDirectory(dataDirectory);
    }
    await setAside(this.#samples, shippingFile, `shipping-until-${startedAt}.json`);
    await endMove(this.#samples);
  }

  async close(): Promise<void> {
    // ClickHouse is of the command.
  }
}

interface OpenedSegments {
  readonly store: EmbeddedStore;
  /** Throws what background work has failed with. */
  readonly check: () => void;
}

async function openSegments(
  samples: string,
  firstPosition: number,
  shapes: ShapeInterner,
): Promise<OpenedSegments> {
  const directory = join(samples, moveFolder, 'segments');
  await makeFolder(directory);
  if ((await readManifest(directory)) === 'missing')
    await writeManifest(directory, { ...emptyManifest, replayFrom: firstPosition });
  let failure: Error | undefined;
  const failed = (error: unknown): void => {
    failure = error instanceof Error ? error : new Error(String(error));
  };
  const store = await openEmbeddedStore({
    directory,
    shapes,
    logStart: undefined,
    failed,
    damaged: ({ path, reason }) => failed(new DataFolderError(`${path} is corrupted: ${reason}`)),
    committed: async () => undefined,
  });
  return {
    store,
    check() {
      if (failure !== undefined) throw failure;
    },
  };
}

function refuseDamaged({ path }: { readonly path: string }): void {
  throw new DataFolderError(`${path} is damaged`);
}
