// Sample exports: writes the samples of each export part by part into a file of the data folder.
import { mkdir, readdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { change } from '../inventory/record-crud.ts';
import { isDiskFull, problem, Problem } from '../model/problem.ts';
import { exportFileName, type SampleExport, sampleExportLimits } from '../model/operation.ts';
import {
  type DevicePage,
  type ExportCursor,
  type ExportFile,
  openExportFile,
  type ReachedPart,
  readPart,
} from '../query/exports/export-file.ts';
import type { ExportContent, PartEncoder } from '../query/exports/part-encoder.ts';
import type { Records } from '../storage/records/records.ts';
import { operationRows, sampleExportRows } from '../storage/records/rows/operations.ts';
import type { Samples } from '../storage/samples/samples.ts';
import { SharedPool } from '../structures/shared-pool.ts';

/** The bytes that are free on the disk of a folder. */
export async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

export class SampleExports {
  readonly #parts;
  /** Files between two of their parts. */
  readonly #open = new Map<string, ExportFile>();

  constructor(parts: {
    readonly records: Records;
    readonly store: Pick<Samples, 'exportSamples' | 'exportColumns'>;
    readonly encoder: PartEncoder;
    /** The folder of all exports. */
    readonly folder: string;
    /** Empty for the only platform on its records. */
    readonly node: string;
    /** Of the files of all exports on this node. */
    readonly bytesMax: number;
    /** How long a file is kept. */
    readonly retentionMs: number;
    /** Bytes free on the disk of the folder. */
    readonly freeBytes: () => Promise<number>;
  }) {
    this.#parts = parts;
  }

  /** Removes the file of a deleted export. */
  readonly removeFile = async (id: string): Promise<void> => {
    this.#open.delete(id);
    await rm(this.#folderOf(id), { recursive: true, force: true });
  };

  /** Reads and stores the next part. Resolves with true when the export has ended. */
  readonly runPart = async (id: string): Promise<boolean> => {
    const record = await sampleExportRows.find(this.#parts.records.db, id);
    if (record?.state !== 'RUNNING') {
      await removeFileUnlessComplete(record, id, this.removeFile);
      return true;
    }
    try {
      return await this.#runExport(record);
    } catch (error) {
      // An export that was deleted while it ran has no folder.
      if ((await sampleExportRows.find(this.#parts.records.db, id)) === undefined) {
        await this.removeFile(id);
        return true;
      }
      const failure = isDiskFull(error) && !(error instanceof Problem) ? diskFull(error) : error;
      // Other failures, such as of a database that is away, are tried again.
      if (!(failure instanceof Problem) || failure.status !== 507) throw error;
      await this.removeFile(id);
      await this.#saveFailed(record, failure);
      return true;
    }
  };

  /** The complete file. Throws Problem `exportNotReady` or `exportElsewhere`. */
  readonly fileOf = (record: SampleExport): string => {
    const { id, state, plan } = record;
    if (state !== 'COMPLETE') throw problem('exportNotReady', { id, state });
    if (record.node !== this.#parts.node)
      throw problem('exportElsewhere', { id, node: record.node });
    return join(this.#folderOf(id), exportFileName(plan.format));
  };

  /** Removes exports that expired, and files without a record. */
  readonly runMaintenance = async (): Promise<void> => {
    for (const id of await sampleExportRows.expired(
      this.#parts.records.db,
      this.#parts.records.now(),
    ))
      await sampleExportRows.remove(this.#parts.records.db, id);
    await mkdir(this.#parts.folder, { recursive: true, mode: 0o700 });
    const known = new Set(await sampleExportRows.ofNode(this.#parts.records.db, this.#parts.node));
    for (const id of await readdir(this.#parts.folder))
      if (!known.has(id)) await this.removeFile(id);
  };

  #folderOf(id: string) {
    return join(this.#parts.folder, id);
  }

  async #openFile({ id, plan }: SampleExport): Promise<ExportFile> {
    const file =
      this.#open.get(id) ??
      (await openExportFile(this.#folderOf(id), this.#parts.encoder.head(plan.format)));
    this.#open.set(id, file);
    return file;
  }

  /**
   * Throws Problem when the disk has no room for the bytes, or when the limit of all exports has
   * none and the organization holds most. Else files of the one that holds most give way.
   */
  async #needRoom(record: SampleExport, file: ExportFile, bytes: number): Promise<void> {
    const { bytesMax } = this.#parts;
    const crowdedOut: string[] = [];
    const stored = await sampleExportRows.filesOf(this.#parts.records.db, this.#parts.node);
    const files = new SharedPool<string>({
      // A limit that was lowered ends no file by itself.
      max: Math.max(
        bytesMax,
        stored.reduce((sum, one) => sum + one.bytes, 0),
      ),
      giveWay: (id) => crowdedOut.push(id),
      ownGivesWay: 'newcomer',
    });
    for (const one of stored) files.hold(one.organizationId, one.id, one.bytes);
    if (!files.hold(record.organizationId, record.id, file.bytes() + bytes))
      throw problem('exportTooLarge', { bytesMax });
    for (const id of crowdedOut) await this.#endEarly(id);
    if ((await this.#parts.freeBytes()) - bytes < sampleExportLimits.freeBytesMin)
      throw problem('exportDiskFull');
  }

  /** A file that is complete ends as if its time were over. */
  async #endEarly(id: string): Promise<void> {
    const record = await sampleExportRows.find(this.#parts.records.db, id);
    if (record?.state === 'RUNNING')
      await this.#saveFailed(record, problem('exportTooLarge', { bytesMax: this.#parts.bytesMax }));
    else if (record !== undefined) await sampleExportRows.remove(this.#parts.records.db, id);
    await this.removeFile(id);
  }

  /** Returns how many bytes the file has, and its progress. */
  async #storePart(
    record: SampleExport,
    file: ExportFile,
    { progress, isLast }: ReachedPart,
    content: ExportContent,
  ) {
    const { format } = record.plan;
    const { isEmpty } = content;
    const none = { bytes: new Uint8Array(), footer: new Uint8Array(), samples: 0 };
    const part = isEmpty
      ? none
      : await this.#parts.encoder.part(format, content.content(), file.bytes());
    await this.#needRoom(record, file, part.bytes.length);
    const reached = { ...progress, samples: progress.samples + part.samples };
    if (!isEmpty || !isLast) await file.append(part, reached);
    if (!isLast) return { bytes: file.bytes(), progress: reached };
    const footers = format === 'parquet' ? await file.footers() : [];
    const tail = await this.#parts.encoder.tail(format, footers, file.bytes());
    await this.#needRoom(record, file, tail.length);
    return { bytes: await file.complete(tail, exportFileName(format)), progress: reached };
  }

  async #runExport(record: SampleExport): Promise<boolean> {
    const { encoder, records, store } = this.#parts;
    const file = await this.#openFile(record);
    const content = encoder.content(record.plan, store);
    const next = await readPart(
      record.plan,
      file.progress(),
      (cursor) => nextDevices(records, record, cursor),
      content,
    );
    const { bytes, progress } = await this.#storePart(record, file, next, content);
    const { samples, unreadable, devices } = progress;
    const reached = { ...record, node: this.#parts.node, bytes, samples, unreadable };
    if (next.isLast) this.#open.delete(record.id);
    await this.#saveReached(reached, { devices, isComplete: next.isLast });
    return next.isLast;
  }

  /** Nothing is stored for an export that was deleted meanwhile. */
  async #saveReached(
    record: SampleExport,
    { devices, isComplete }: { readonly devices: number; readonly isComplete: boolean },
  ): Promise<void> {
    const { records, retentionMs } = this.#parts;
    await change(records, async (step) => {
      const operation = await operationRows.find(step.db, record.id);
      if (operation === undefined || operation.completed !== null) return;
      const now = step.now();
      const ended = { state: 'COMPLETE', expires: now + retentionMs } as const;
      await sampleExportRows.save(step.db, isComplete ? { ...record, ...ended } : record);
      // Devices may come and go while an export runs.
      const total = isComplete ? devices : Math.max(operation.total, devices);
      const completed = isComplete ? now : null;
      await operationRows.saveProgress(step.db, { ...operation, total, done: devices, completed });
    });
  }

  async #saveFailed(record: SampleExport, { code, message }: Problem): Promise<void> {
    const { records, retentionMs } = this.#parts;
    await change(records, async (step) => {
      const operation = await operationRows.find(step.db, record.id);
      if (operation === undefined || operation.completed !== null) return;
      const completed = step.now();
      const failed = Math.max(1, operation.total - operation.done);
      await operationRows.saveProgress(step.db, { ...operation, failed, completed });
      const expires = completed + retentionMs;
      const failure = { state: 'FAILED', errorCode: code, error: message, bytes: 0 } as const;
      await sampleExportRows.save(step.db, { ...record, ...failure, expires });
    });
  }
}

function diskFull(cause: unknown): Problem {
  return Object.assign(problem('exportDiskFull'), { cause });
}

async function removeFileUnlessComplete(
  record: SampleExport | undefined,
  id: string,
  removeFile: SampleExports['removeFile'],
): Promise<void> {
  if (record?.state !== 'COMPLETE') await removeFile(id);
}

function nextDevices(
  { db }: Records,
  { workspaceId, plan }: SampleExport,
  cursor: ExportCursor | null,
): Promise<DevicePage> {
  const selection = { workspaceId, deviceIds: plan.deviceIds, tagIds: plan.tagIds };
  return sampleExportRows.nextDevices(db, selection, {
    id: cursor?.deviceId ?? '',
    isIncluded: (cursor?.behind ?? null) !== null,
  });
}
