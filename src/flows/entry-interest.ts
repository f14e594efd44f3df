// Entry interest: which entries of a journal another node wants, kept up to date by changes.
import type { InterestChange } from '../live/live-interests.ts';
import { type DurableEntry, summaryOf } from '../model/journal-entry.ts';

export interface EntryInterest {
  change(change: InterestChange): void;
  /** An entry without samples is in no workspace. */
  matches(entry: DurableEntry): boolean;
}

export function createEntryInterest(first: InterestChange): EntryInterest {
  const workspaces = new Set<string>();
  const devices = new Set<string>();
  let isAll = false;

  function change(changed: InterestChange): void {
    for (const id of changed.withoutWorkspaces ?? []) workspaces.delete(id);
    for (const id of changed.withoutDevices ?? []) devices.delete(id);
    for (const id of changed.workspaces ?? []) workspaces.add(id);
    for (const id of changed.devices ?? []) devices.add(id);
    isAll = changed.all ?? isAll;
  }

  change(first);
  return {
    change,
    matches(entry) {
      if (isAll) return true;
      const summary = summaryOf(entry);
      if (summary === undefined) return false;
      if (workspaces.has(summary.workspaceId) || devices.has(entry.deviceId)) return true;
      // An entry in columns has samples of its device only, which are not created for this.
      if (devices.size === 0 || entry.summary !== undefined) return false;
      return entry.samples.some(({ deviceId }) => devices.has(deviceId));
    },
  };
}
