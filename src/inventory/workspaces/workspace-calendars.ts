// Workspace calendars: the settings that queries need, in memory until their workspace changes.
import type { ChangeFollower } from '../../model/record.ts';
import { defaultWorkspaceSettings, type WorkspaceSettings } from '../../model/workspace.ts';
import type { RecordsDb } from '../../storage/records/records.ts';
import { workspaceRows } from '../../storage/records/rows/workspaces.ts';
import { createBoundedMap } from '../../structures/bounded-map.ts';
import { RecordChanges } from '../../structures/cache-by-part.ts';

const workspacesMax = 10_000;

/** A changed workspace is read again. */
export interface WorkspaceCalendars extends ChangeFollower {
  /** The settings of the workspace; the default ones when it does not exist. */
  readonly calendarOf: (workspaceId: string) => WorkspaceSettings | Promise<WorkspaceSettings>;
}

export function createWorkspaceCalendars(db: RecordsDb): WorkspaceCalendars {
  const known = createBoundedMap<string, WorkspaceSettings>(workspacesMax);
  const changes = new RecordChanges();

  async function load(workspaceId: string): Promise<WorkspaceSettings> {
    const { revision } = changes;
    const settings = (await workspaceRows.find(db, workspaceId))?.settings;
    // Settings that changed while they were being read must not stay in memory.
    if (settings !== undefined && !changes.hasChanged(workspaceId, revision))
      known.set(workspaceId, settings);
    return settings ?? defaultWorkspaceSettings;
  }

  return {
    calendarOf: (workspaceId) => known.use(workspaceId) ?? load(workspaceId),
    recordChanged({ kind, id }) {
      if (kind !== 'workspace') return;
      changes.add(id);
      known.delete(id);
    },
    changesMissed() {
      changes.addAll();
      known.clear();
    },
  };
}
