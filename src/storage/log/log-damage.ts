// Log damage: what reading the journal and the positions of its followers found, in sentences for an operator.
import { join } from 'node:path';
import type { FollowerPositions } from './follower-positions.ts';
import type { JournalDamage } from './journal-recovery.ts';

export interface LogDamage {
  /** `records`: the records know less of the journal than they did. */
  readonly kind: 'journal' | 'records';
  readonly path: string;
  readonly reason: string;
}

/** What is known of the journal outside its own folder. */
export interface JournalEndSeen {
  /** Every entry before this position was acknowledged. */
  readonly acknowledgedTo: number;
  /** Every entry before this one was durable, because raw uplinks made of them are on the disk. */
  readonly uplinksTo?: number;
  /** Where followers go on whose own positions are lost. */
  readonly followFrom: number;
}

/** Every entry before the position was durable, regardless of the journal's files. */
export function durableTo(followers: FollowerPositions, seen: JournalEndSeen | undefined): number {
  return Math.max(followers.newest(), seen?.acknowledgedTo ?? 0, seen?.uplinksTo ?? 0);
}

/** The same sentence whether a start or a reader finds the damage, so that it is reported once. */
export function unreadableText(bytes: number, offset: number): string {
  return `${bytes} bytes from ${offset} on cannot be read`;
}

/** What opening the journal found, but for a torn tail, and what is known of its followers. */
export function logDamage(
  found: readonly JournalDamage[],
  followers: FollowerPositions,
  directory: string,
  seen?: JournalEndSeen,
): LogDamage[] {
  const damage: LogDamage[] = [];
  // The records are on the disk before the journal is told so; the other way round they are an
  // older copy.
  const reached = followers.found === 'sound' ? (followers.get('device-status') ?? 0) : 0;
  if (seen !== undefined && reached > seen.acknowledgedTo)
    damage.push({
      kind: 'records',
      path: join(directory, 'followers.json'),
      reason: `The record database is older than the samples (journal position ${reached}, samples at ${seen.acknowledgedTo}). Records created in between are missing.`,
    });
  for (const { kind, path, offset, bytes, firstPosition, entries } of found) {
    if (kind === 'tornTail') continue;
    const what =
      kind === 'unreadableBytes'
        ? unreadableText(bytes, offset)
        : `${entries} journal entries are missing from position ${firstPosition}`;
    damage.push({ kind: 'journal', path, reason: what });
  }
  if (followers.found !== 'sound')
    damage.push({
      kind: 'journal',
      path: join(directory, 'followers.json'),
      reason: `The positions of followers are ${followers.found}: outputs and rules that were behind position ${followers.fallback} may not have seen all entries before it`,
    });
  return damage;
}
