// What a start finds in the journal folder: the durable end, the frames to replay, and every byte that is not readable.
import { stat, truncate, unlink } from 'node:fs/promises';
import type { EpochMs } from '../model/instant.ts';
import { syncDirectory } from './durable-file.ts';
import { type Frame, frameBytes, frameHeaderBytes, frameTypes } from './frame.ts';
import { addMark, listSegments, type Segment } from './segment-list.ts';
import { scanSegment } from './segment-scan.ts';

/** A finding of a start or a check; `tornTail` is the normal trace of a crash, the others are lost data. */
export interface JournalDamage {
  readonly kind: 'tornTail' | 'unreadableBytes' | 'missingEntries';
  readonly path: string;
  readonly offset: number;
  readonly bytes: number;
  /** Entries known to be lost: from this position, so many. */
  readonly firstPosition: number;
  readonly entries: number;
}

export interface RecoveredJournal {
  readonly segments: Segment[];
  readonly nextPosition: number;
  readonly lastStoredAt: EpochMs;
  readonly damage: readonly JournalDamage[];
}

interface Progress {
  /** Undefined before the first segment that is looked into. */
  position: number | undefined;
  storedAt: EpochMs;
  damage: JournalDamage[];
}

/**
 * Reads every segment that holds positions from `from` on, gives each entry frame to `visit` in order, and cuts the torn tail when
 * `repair` is set. Older segments are taken as they are; whoever reads them meets their damage then.
 */
export async function recoverJournal(
  directory: string,
  from: number,
  visit: (frame: Frame) => void | Promise<void>,
  repair: boolean,
): Promise<RecoveredJournal> {
  const segments = await listSegments(directory);
  const progress: Progress = { position: undefined, storedAt: 0, damage: [] };
  for (const [i, segment] of segments.entries()) {
    segment.bytes = (await stat(segment.path)).size;
    const next = segments[i + 1];
    if (next !== undefined && next.firstPosition <= from) {
      segment.lastStoredAt = await timeBefore(next);
      continue;
    }
    await recoverSegment(segment, next === undefined, progress, (frame) =>
      frame.position >= from ? visit(frame) : undefined,
    );
  }
  const last = segments.at(-1);
  if (repair && last !== undefined) await cutTail(directory, segments, last);
  return {
    segments,
    nextPosition: Math.max(progress.position ?? 0, last?.firstPosition ?? 0),
    lastStoredAt: progress.storedAt,
    damage: progress.damage,
  };
}

/** The time of the newest entry before the segment, which its header carries; undefined when that is damaged. */
async function timeBefore(segment: Segment): Promise<EpochMs | undefined> {
  for await (const { frames } of scanSegment(segment.path, 0, frameHeaderBytes))
    if (frames[0]?.type === frameTypes.segmentStart) return frames[0].storedAt;
  return undefined;
}

async function recoverSegment(
  segment: Segment,
  newest: boolean,
  progress: Progress,
  visit: (frame: Frame) => void | Promise<void>,
): Promise<void> {
  const fileBytes = segment.bytes;
  segment.bytes = 0;
  noteGap(segment, progress, segment.firstPosition, 0);
  for await (const batch of scanSegment(segment.path, 0, fileBytes)) {
    if (batch.damage !== undefined) {
      const kind = newest && batch.frames.length === 0 ? 'tornTail' : 'unreadableBytes';
      const firstPosition = progress.position ?? segment.firstPosition;
      progress.damage.push({ kind, path: segment.path, ...batch.damage, firstPosition, entries: 0 });
    }
    let offset = batch.offset;
    for (const frame of batch.frames) {
      if (frame.type === frameTypes.entry) {
        noteGap(segment, progress, frame.position, offset);
        if (frame.position === progress.position) {
          addMark(segment, { position: frame.position, storedAt: frame.storedAt, offset });
          await visit(frame);
          progress.position++;
        }
      }
      progress.storedAt = Math.max(progress.storedAt, frame.storedAt);
      segment.lastStoredAt = progress.storedAt;
      offset += frameBytes(frame);
    }
    segment.bytes = Math.max(segment.bytes, batch.frames.length === 0 ? 0 : batch.end);
  }
  if (!newest) segment.bytes = fileBytes;
}

/** Entries between what was read and what comes are lost. */
function noteGap(segment: Segment, progress: Progress, position: number, offset: number): void {
  if (progress.position !== undefined && position > progress.position) {
    const lost = { firstPosition: progress.position, entries: position - progress.position };
    progress.damage.push({ kind: 'missingEntries', path: segment.path, offset, bytes: 0, ...lost });
  }
  progress.position = Math.max(progress.position ?? position, position);
}

async function cutTail(directory: string, segments: Segment[], last: Segment): Promise<void> {
  const { size } = await stat(last.path);
  if (last.bytes === 0) {
    // The crash came before the segment's first frame was whole.
    await unlink(last.path);
    await syncDirectory(directory);
    segments.pop();
  } else if (size > last.bytes) await truncate(last.path, last.bytes);
}
