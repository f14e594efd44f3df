// The manifest: which segments count, and from where on the journal must be replayed. Replaced as a whole, it commits both together.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { replaceFile } from '../../journal/durable-file.ts';

export interface Manifest {
  /** Number of the next segment file. */
  readonly nextSegment: number;
  /** Names of the segment files, oldest first. */
  readonly segments: readonly string[];
  /** Every row of earlier entries is in a segment, or was dropped. */
  readonly replayFrom: number;
  /** Devices whose samples were dropped: rows of theirs in entries before the position count no more. */
  readonly droppedDevices: Readonly<Record<string, number>>;
}

export const emptyManifest: Manifest = { nextSegment: 1, segments: [], replayFrom: 0, droppedDevices: {} };

function manifestPath(directory: string): string {
  return join(directory, 'manifest.json');
}

export async function writeManifest(directory: string, manifest: Manifest): Promise<void> {
  const text = JSON.stringify(manifest);
  await replaceFile(manifestPath(directory), `${checksum(text)} ${text}\n`);
}

/** The manifest; `missing` in a folder without one, `damaged` when it is not what was written. */
export async function readManifest(directory: string): Promise<Manifest | 'missing' | 'damaged'> {
  let contents: string;
  try {
    contents = await readFile(manifestPath(directory), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'missing';
    throw error;
  }
  const match = /^([0-9a-f]{8}) (.*)\n$/s.exec(contents);
  if (match === null || checksum(match[2]!) !== match[1]) return 'damaged';
  return JSON.parse(match[2]!) as Manifest;
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}
