// Samples to ClickHouse: all rows of the data folder become rows of a journal with a number for itself.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  endMove,
  type MovedParts,
  type MoveFile,
  moveFolder,
  type SamplesMove,
  setAside,
} from '../samples-move.ts';
import { dayMs } from '../../model/instant.ts';
import { DataFolderError } from '../../storage/data-folder/data-folder.ts';
import type { ShapeInterner } from '../../storage/log/data-shape.ts';
import { replaceChecked } from '../../storage/log/durable-file.ts';
import { openClickHouseUplinks } from '../../storage/raw-uplinks/clickhouse/clickhouse-uplinks.ts';
import { movedUplinks } from '../../storage/raw-uplinks/clickhouse/uplink-table.ts';
import { storedUplinks } from '../../storage/raw-uplinks/embedded/stored-folder.ts';
import type { RawUplinkStore } from '../../storage/raw-uplinks/raw-uplink-store.ts';
import { openClickHouseStore } from '../../storage/samples/clickhouse/clickhouse-store.ts';
import { shardOf } from '../../storage/samples/clickhouse/flusher.ts';
import {
  shippingFile,
  type ShippingState,
  takeJournalNumber,
} from '../../storage/samples/clickhouse/shipping-state.ts';
import {
  hasRows,
  partsWithoutHours,
  storedSums,
} from '../../storage/samples/clickhouse/moved-rows.ts';
import {
  type EmbeddedStore,
  openEmbeddedStore,
} from '../../storage/samples/embedded/embedded-store.ts';
import {
  differingParts,
  type MovedSample,
  SumsOfSamples,
} from '../../storage/samples/moved-samples.ts';
import { openSamples, type OpenSamples } from '../../storage/samples/samples.ts';
import { missing } from '../../structures/missing.ts';
import type { MoveDirection, RowTarget, UplinkBatch } from './sample-mover.ts';

/** Rows that wait for ClickHouse. */
const openRowsMax = 60_000;
const openBytesMax = 32 * 1024 * 1024;

export class ToClickHouse implements MoveDirection {
  readonly to = 'clickhouse';
  readonly firstPosition = 0;
  readonly #parts: MovedParts;
  readonly #samples: string;
  readonly #sums = new SumsOfSamples();
  readonly #unreadable = new Set<string>();
  #source: OpenSamples<EmbeddedStore> | undefined;

  constructor(parts: MovedParts) {
    this.#parts = parts;
    this.#samples = join(parts.dataDirectory, 'samples');
  }

  async begin(begun: SamplesMove | undefined): Promise<SamplesMove> {
    const { clickHouse, now } = this.#parts;
    this.#source = await openSamples({
      directory: this.#samples,
      now,
      openStore: (surroundings) =>
        openEmbeddedStore({ directory: join(this.#samples, 'segments'), ...surroundings }),
    });
    const { position } = this.#source.log;
    if (begun !== undefined && begun.position !== position)
      throw new DataFolderError(
        `The folder has changed since the migration started. Delete ${join(this.#samples, moveFolder)} and the ClickHouse tables, and start over.`,
      );
    if (begun !== undefined) return begun;
    if (await hasRows(clickHouse))
      throw new DataFolderError(
        'The ClickHouse database already contains samples. Nothing was changed. Set SAMPLES_URL to an empty database.',
      );
    const [first = missing('shard')] = clickHouse.shards;
    const journal = await takeJournalNumber(first, now());
    const state = { position, journal, writtenTo: 0, isCompared: false };
    return { to: this.to, startedAt: now(), ...state };
  }

  get #store(): EmbeddedStore {
    return (this.#source ?? missing('opened samples')).store;
  }

  async total(): Promise<number> {
    const usage = [...(await this.#store.usage()).values()];
    return usage.reduce((sum, { samples }) => sum + samples, 0);
  }

  async *batches(): AsyncGenerator<readonly MovedSample[]> {
    for (const deviceId of this.#store.deviceIds())
      for await (const { samples, unreadable } of this.#store.exportMoved(deviceId)) {
        for (const { place } of unreadable) this.#unreadable.add(place);
        this.#sums.add(samples);
        yield samples;
      }
  }

  /** Rows are stored as of the begin of the move: after them comes what is stored later. */
  async openRows({ move }: MoveFile, shapes: ShapeInterner): Promise<RowTarget> {
    const store = await openClickHouseStore({
      directory: join(this.#samples, moveFolder),
      clickhouse: this.#parts.clickHouse,
      now: () => move.startedAt,
      shapes,
      logStart: undefined,
      damaged: () => undefined,
      // `flush` rejects with it.
      failed: () => undefined,
      committed: async () => undefined,
    });
    let openBytes = 0;
    return {
      from: await store.replayFrom(),
      async write(entry) {
        await store.write([entry], 'new');
        openBytes += entry.bytes;
        if (store.figures().openRows < openRowsMax && openBytes < openBytesMax) return;
        await store.flush();
        openBytes = 0;
      },
      finish: () => store.flushHours(),
      close: () => store.close(),
    };
  }

  openUplinks({ journal, position }: SamplesMove): Promise<RawUplinkStore> {
    const { clickHouse } = this.#parts;
    return openClickHouseUplinks({
      clickHouse,
      shardOf: (deviceId) => shardOf(deviceId, clickHouse.shards),
      journal,
      position,
      // No uplink of any time comes later.
      now: () => Number.POSITIVE_INFINITY,
      retentionMs: Number.POSITIVE_INFINITY,
      bytesMax: Number.POSITIVE_INFINITY,
      failed: () => undefined,
      // Old uplinks in slots of seconds would be very many blocks.
      limits: { slotMs: dayMs },
    });
  }

  async *uplinks(): AsyncGenerator<UplinkBatch> {
    const directory = join(this.#parts.dataDirectory, 'uplinks');
    if (!existsSync(directory)) return;
    const damaged = ({ path }: { readonly path: string }) => void this.#unreadable.add(path);
    for await (const uplinks of storedUplinks(directory, damaged))
      yield { uplinks, through: (uplinks.at(-1)?.position ?? 0) + 1 };
  }

  storedUplinks({ journal }: SamplesMove) {
    return movedUplinks(this.#parts.clickHouse, journal);
  }

  async differing(): Promise<readonly number[]> {
    const { clickHouse } = this.#parts;
    const stored = await storedSums(clickHouse, '');
    const withoutHours = await partsWithoutHours(clickHouse);
    return [...new Set([...differingParts(this.#sums.sums(), stored), ...withoutHours])];
  }

  async left(): Promise<readonly string[]> {
    return [...this.#unreadable];
  }

  /** The folder then names ClickHouse as the place of its samples. */
  async use({ position, journal, startedAt }: SamplesMove): Promise<void> {
    const { dataDirectory } = this.#parts;
    const state: ShippingState = {
      journal,
      shipped: position,
      nextOrder: 0,
      blockTo: null,
      dropped: [],
      hours: { to: position, storedFrom: startedAt, blockTo: null },
    };
    await replaceChecked(join(this.#samples, shippingFile), JSON.stringify(state));
    await setAside(this.#samples, 'segments', `segments-until-${startedAt}`);
    await setAside(dataDirectory, 'uplinks', `uplinks-until-${startedAt}`);
    await endMove(this.#samples);
  }

  async close(): Promise<void> {
    await this.#source?.close();
  }
}
