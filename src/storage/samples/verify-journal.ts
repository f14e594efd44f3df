// Verification of the journal, which every sample store has, and what is found of a store.
import type { ShapeInterner } from '../log/data-shape.ts';
import { EntryDecoder } from '../log/entry-codec.ts';
import {
  durableTo,
  FollowerPositions,
  type JournalEndSeen,
  logDamage,
  recoverJournal,
} from '../log/journal-recovery.ts';
import type { StoreDamage } from './sample-store.ts';

interface JournalFindings {
  readonly journalEntries: number;
  readonly journalSamples: number;
  /** Bytes behind the last whole entry, as a crash leaves them; the next start cuts them off. */
  readonly tornBytes: number;
  readonly damage: readonly StoreDamage[];
}

export interface StoreFindings extends JournalFindings {
  readonly segments: number;
  readonly chunks: number;
  /** Pages of runs. */
  readonly pages: number;
  /** Samples in readable chunks and pages. */
  readonly sealedSamples: number;
  /**
   * Hours with aggregates of their own in readable chunks, by device and topic; one cut by a
   * chunk's end counts in each.
   */
  readonly hours: number;
}

/** Reads the whole journal of a folder that is not open. */
export async function verifyJournal(
  directory: string,
  shapes: ShapeInterner,
  /** The store has everything before. */
  replayFrom: number,
  seen?: JournalEndSeen,
): Promise<JournalFindings> {
  const decoder = new EntryDecoder(shapes);
  let journalEntries = 0;
  let journalSamples = 0;
  const followers = await FollowerPositions.open(directory, () => 0, seen?.followFrom);
  const journal = await recoverJournal(directory, {
    from: 0,
    visit: (entries) => {
      journalEntries += entries.length;
      for (const entry of entries) journalSamples += decoder.logged(entry).rows.samples.length;
    },
    acknowledgedTo: Math.max(durableTo(followers, seen), replayFrom),
    repair: false,
  });
  const damage = logDamage(journal.damage, followers, directory, seen);
  const tornBytes = journal.damage.reduce(
    (sum, { kind, bytes }) => sum + (kind === 'tornTail' ? bytes : 0),
    0,
  );
  return { journalEntries, journalSamples, tornBytes, damage: [...damage] };
}
