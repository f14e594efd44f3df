// Export file: the file of an export while it grows, and a log of its parts for a restart.
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile, rename, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { EpochMs } from '../../model/instant.ts';

/** Where an export continues: behind some samples of a device, or behind the device. */
export interface ExportCursor {
  readonly deviceId: string;
  /** Null: the device is complete. */
  readonly behind: {
    readonly time: EpochMs;
    /** Samples of this time that were read. */
    readonly count: number;
    /** Whether some of the samples of the device could not be read. */
    readonly isDamaged: boolean;
  } | null;
}

/** What the finished parts contain. */
export interface ExportProgress {
  readonly cursor: ExportCursor | null;
  readonly devices: number;
  readonly samples: number;
  /** Devices of which samples could not be read. */
  readonly unreadable: number;
}

export interface ExportFile {
  readonly bytes: () => number;
  readonly progress: () => ExportProgress;
  /** Makes a part durable, then what the parts contain so far. */
  readonly append: (
    part: { readonly bytes: Uint8Array; readonly footer: Uint8Array },
    progress: ExportProgress,
  ) => Promise<void>;
  /** What the end of the file must say of each part. */
  readonly footers: () => Promise<readonly Uint8Array[]>;
  /** Adds the end and names the file; resolves to its bytes. */
  readonly complete: (tail: Uint8Array, name: string) => Promise<number>;
}

interface PartLine extends ExportProgress {
  /** Where the part ends. */
  readonly end: number;
  /** Base64. */
  readonly footer: string;
}

const growing = 'growing';
const partLog = 'parts.ndjson';
const atStart: ExportProgress = { cursor: null, devices: 0, samples: 0, unreadable: 0 };
/** Files contain what devices measured. */
const ownerOnly = { folder: 0o700, file: 0o600 } as const;

/** Opens the file in the folder, behind its last finished part; what follows that is removed. */
export async function openExportFile(folder: string, head: Uint8Array): Promise<ExportFile> {
  const path = join(folder, growing);
  const log = join(folder, partLog);
  await mkdir(folder, { recursive: true, mode: ownerOnly.folder });
  const known = await knownParts(log, path);
  let end = known?.end ?? head.length;
  let logged = known?.logged ?? 0;
  let progress: ExportProgress = known?.progress ?? atStart;
  if (known === undefined) {
    await writeAt(path, head, 0);
    await writeAt(log, new Uint8Array(), 0);
  }
  await truncate(path, end);
  await truncate(log, logged);
  return {
    bytes: () => end,
    progress: () => progress,
    async append({ bytes, footer }, reached) {
      await writeAt(path, bytes, end);
      const line: PartLine = {
        ...reached,
        end: end + bytes.length,
        footer: Buffer.from(footer).toString('base64'),
      };
      const text = Buffer.from(`${JSON.stringify(line)}\n`);
      await writeAt(log, text, logged);
      logged += text.length;
      end = line.end;
      progress = reached;
    },
    async footers() {
      const footers: Uint8Array[] = [];
      for await (const line of createInterface({ input: createReadStream(log) }))
        footers.push(Buffer.from((JSON.parse(line) as PartLine).footer, 'base64'));
      return footers;
    },
    async complete(tail, name) {
      await writeAt(path, tail, end);
      await rename(path, join(folder, name));
      await rm(log);
      return end + tail.length;
    },
  };
}

function partOf(line: string): PartLine | undefined {
  try {
    return JSON.parse(line) as PartLine;
  } catch {
    return undefined;
  }
}

/** The end of the last part whose line and bytes are complete; undefined when the file begins again. */
async function knownParts(log: string, path: string) {
  const lines = await readFile(log, 'utf8').catch(undefinedIfMissing);
  const size = await sizeOf(path);
  if (lines === undefined || size === undefined) return undefined;
  let last: PartLine | undefined;
  let logged = 0;
  for (const line of lines.split('\n').slice(0, -1)) {
    const part = partOf(line);
    // Behind the last sync, a power cut leaves any part of what was written.
    if (part === undefined || part.end > size) break;
    last = part;
    logged += Buffer.byteLength(line) + 1;
  }
  if (last === undefined) return undefined;
  const { end, footer: _, ...progress } = last;
  return { end, logged, progress };
}

async function sizeOf(path: string): Promise<number | undefined> {
  const file = await open(path, 'r').catch(undefinedIfMissing);
  if (file === undefined) return undefined;
  try {
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** Writes all bytes and makes them durable. */
async function writeAt(path: string, bytes: Uint8Array, offset: number): Promise<void> {
  const file = await open(path, offset === 0 ? 'w' : 'r+', ownerOnly.file);
  try {
    for (let from = 0; from < bytes.length; ) {
      const { bytesWritten } = await file.write(bytes, from, bytes.length - from, offset + from);
      from += bytesWritten;
    }
    await file.datasync();
  } finally {
    await file.close();
  }
}
