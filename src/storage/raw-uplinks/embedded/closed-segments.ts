// Closed segments: read by their indexes at a start; a missing or damaged index is rebuilt.
import { stat } from 'node:fs/promises';
import { replaceFile } from '../../log/durable-file.ts';
import type { EpochMs } from '../../../model/instant.ts';
import { rawUplinkFormat } from './block.ts';
import {
  indexPath,
  listSegmentFiles,
  type RawUplinkDamage,
  removeSegmentFile,
  type SegmentName,
  scanSegmentFile,
} from './segment-file.ts';
import { encodeIndex, readHead, type SegmentHead } from './segment-index.ts';
import type { WrittenSegment } from './segment-writer.ts';
import { missing } from '../../../structures/missing.ts';

export interface ClosedSegment extends SegmentName {
  readonly head: SegmentHead;
  readonly bytes: number;
  /** When its newest uplink was received. */
  readonly to: EpochMs;
}

export interface FoundSegments {
  /** In the order of their writing. */
  readonly closed: ClosedSegment[];
  /** The path of the one that was being written, when there is one. */
  readonly left: string | undefined;
}

export async function openClosedSegments(
  directory: string,
  damaged: (damage: RawUplinkDamage) => void,
): Promise<FoundSegments> {
  const names = await withoutHalves(await listSegmentFiles(directory));
  const closed: ClosedSegment[] = [];
  for (const name of names) {
    const { size: bytes } = await stat(name.path);
    let head = await readHead(indexPath(name.path));
    if (head === undefined) {
      if (name === names.at(-1) && name.generation === 0) return { closed, left: name.path };
      const scanned = await scanSegmentFile(name.path, bytes);
      scanned.damage.forEach(damaged);
      await replaceFile(indexPath(name.path), encodeIndex(scanned.contents));
      head = (await readHead(indexPath(name.path))) ?? missing('index that was written');
    }
    closed.push({ ...name, head, bytes, to: Math.max(...head.blocks.map(({ to }) => to), 0) });
  }
  return { closed, left: undefined };
}

/**
 * A segment is written anew under its next generation: the newest one with an index is whole,
 * others are what a crash left over.
 */
async function withoutHalves(names: readonly SegmentName[]): Promise<SegmentName[]> {
  const bySequence = new Map<number, SegmentName[]>();
  for (const name of names)
    bySequence.set(name.sequence, [...(bySequence.get(name.sequence) ?? []), name]);
  const whole: SegmentName[] = [];
  for (const generations of bySequence.values()) {
    const heads = await Promise.all(generations.map(({ path }) => readHead(indexPath(path))));
    const newest = heads.findLastIndex((head) => head !== undefined);
    const kept = generations[Math.max(newest, 0)] ?? missing('generation of a segment');
    for (const other of generations) if (other !== kept) await removeSegmentFile(other);
    whole.push(kept);
  }
  return whole;
}

/** A segment as it is known when it was just closed. */
export function closedSegment({
  sequence,
  generation,
  path,
  contents,
  bytes,
}: Omit<WrittenSegment, 'synced'>): ClosedSegment {
  const { blocks, devices, uplinks, lastPosition } = contents;
  const head = { format: rawUplinkFormat, blocks, devices: devices.size, uplinks, lastPosition };
  return {
    sequence,
    generation,
    path,
    bytes,
    head,
    to: blocks.reduce((to, block) => Math.max(to, block.to), Number.NEGATIVE_INFINITY),
  };
}
