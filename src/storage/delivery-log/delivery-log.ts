// Delivery log: outcomes of deliveries and deliveries that wait for long, in append-only segments (contract 35).
import { makeFolder } from '../log/durable-file.ts';
import { Compaction, type Needs } from './compaction.ts';
import {
  deliveryLogLimits,
  type DeliveryLogLimits,
  type RecordPlace,
  type StoredDelivery,
} from './record.ts';
import { findSegments, type FoundSegments, unlessDiskFull } from './found-segments.ts';
import { LogReader, type Recovered } from './log-reader.ts';
import { type DeliveryLogOptions, LogWriter } from './log-writer.ts';
import type { DeliveryRow } from './row-table.ts';

export class DeliveryLog {
  readonly #options: DeliveryLogOptions;
  readonly #limits: DeliveryLogLimits;
  readonly #writer: LogWriter;
  readonly #reader: LogReader;
  #isNoted = true;

  private constructor(options: DeliveryLogOptions, found: FoundSegments) {
    this.#options = options;
    this.#limits = { ...deliveryLogLimits, ...options.limits };
    this.#writer = new LogWriter(options, this.#limits, found);
    this.#reader = new LogReader(this.#writer, this.#limits.blocksCached, options.damaged);
  }

  /** Opens or creates the log of the folder. Throws OtherFormatError for files of another format. */
  static async open(options: DeliveryLogOptions): Promise<DeliveryLog> {
    const { directory, expected, damaged } = options;
    await makeFolder(directory);
    const found = await findSegments(directory, expected, true);
    const { closed, open, damage } = found;
    for (const place of damage) damaged(place);
    const isNew = closed.length === 0 && open === undefined;
    const log = new DeliveryLog(options, found);
    if (isNew || damage.length > 0)
      log.#isNoted = await unlessDiskFull(log.#writer.writeManifest());
    return log;
  }

  /** Whether the folder has files, which the next start can expect. */
  get isNoted(): boolean {
    return this.#isNoted;
  }

  /** Adds the newest state of a delivery. It is listed immediately and written soon. */
  append(record: StoredDelivery): RecordPlace {
    return this.#writer.append(record);
  }

  /** Whether so much waits for the disk that no delivery should start. */
  get isBehind(): boolean {
    return this.#writer.isBehind;
  }

  /** Whether writing failed and is tried again by itself. */
  get isStuck(): boolean {
    return this.#writer.isStuck;
  }

  /** Whether something is not on the disk for certain. */
  get isUnsynced(): boolean {
    return this.#writer.isUnsynced;
  }

  /** Resolves when all that was added is in its file, where a kill of the process leaves it. */
  write(): Promise<void> {
    return this.#writer.write();
  }

  /** Resolves when all that was added is on the disk. */
  sync(): Promise<void> {
    return this.#writer.sync();
  }

  /** Undefined when the record cannot be read, which is reported. */
  read(place: RecordPlace): Promise<StoredDelivery | undefined> {
    return this.#reader.read(place);
  }

  /**
   * The newest row of ended deliveries of the connector, by id: of at least `min` that ended last,
   * or of all.
   */
  endedOf(connectorId: string, min?: number): Promise<Map<string, DeliveryRow>> {
    return this.#reader.endedOf(connectorId, min);
  }

  /** The newest row of a delivery. */
  find(id: string): Promise<DeliveryRow | undefined> {
    return this.#reader.find(id);
  }

  /** What a start must know. `from` is the journal position from which deliveries are repeated. */
  recover(from: number): Promise<Recovered> {
    return this.#reader.recover(from);
  }

  /** Connectors with records. */
  connectorIds(): ReadonlySet<string> {
    return this.#reader.connectorIds();
  }

  get bytes(): number {
    const { closed, open } = this.#writer;
    return closed.reduce((sum, { bytes }) => sum + bytes, open?.bytes ?? 0);
  }

  /** Of all segments, those of one delivery counted one by one. */
  get records(): number {
    const { closed, open } = this.#writer;
    return closed.reduce((sum, { records }) => sum + records, open?.records ?? 0);
  }

  /** Removes segments that are no longer needed, after copying what is. */
  compact(needs: Needs): Promise<void> {
    const { now } = this.#options;
    return new Compaction(needs, this.#writer, this.#reader, this.#limits, now).run();
  }

  close(): Promise<void> {
    return this.#writer.close();
  }
}
