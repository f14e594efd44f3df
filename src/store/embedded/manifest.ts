// The manifest: which segments count, and from where on the journal must be replayed. Replaced as a whole, it commits both together.
import { join } from 'node:path';
import { readChecked, replaceChecked } from '../../journal/durable-file.ts';

export interface Manifest {
  /** Number of the next segment file. */
  readonly nextSegment: number;
  /** Names of the segment files, oldest first. */
  readonly segments: readonly string[];
  /** Every row of earlier entries is in a segment, or was dropped. */
  readonly replayFrom: number;
  readonly droppedDevices: DroppedDevices;
}

/**
 * Devices whose samples were dropped: rows of theirs in entries before the position, and in segments with a smaller number, count no more.
 */
export type DroppedDevices = Readonly<Record<string, { readonly position: number; readonly segment: number }>>;

export function segmentNumber(name: string): number {
  return Number.parseInt(name, 10);
}

export const emptyManifest: Manifest = { nextSegment: 1, segments: [], replayFrom: 0, droppedDevices: {} };

function manifestPath(directory: string): string {
  return join(directory, 'manifest.json');
}

export async function writeManifest(directory: string, manifest: Manifest): Promise<void> {
  await replaceChecked(manifestPath(directory), JSON.stringify(manifest));
}

/** The manifest; `missing` in a folder without one, `damaged` when it is not what was written. */
export async function readManifest(directory: string): Promise<Manifest | 'missing' | 'damaged'> {
  const found = await readChecked(manifestPath(directory));
  if (found === undefined) return 'missing';
  return found === 'damaged' ? found : (JSON.parse(found.text) as Manifest);
}
