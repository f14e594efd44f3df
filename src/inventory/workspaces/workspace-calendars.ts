// Workspace calendars: the settings that queries need, in memory until their workspace changes.
import type { ChangeFollower, RecordChange } from '../../model/record.ts';
import { defaultWorkspaceSettings, type WorkspaceSettings } from '../../model/workspace.ts';
import type { RecordsDb } from '../../storage/records/records.ts';
import { workspaceRows } from '../../storage/records/rows/workspaces.ts';
import { createBoundedMap } from '../../structures/bounded-map.ts';
import { RecordChanges } from '../../structures/cache-by-part.ts';

const workspacesMax = 10_000;

/** A changed workspace is read again. */
export class WorkspaceCalendars implements ChangeFollower {
  readonly #db: RecordsDb;
  readonly #known = createBoundedMap<string, WorkspaceSettings>(workspacesMax);
  readonly #changes = new RecordChanges();
  /** The settings of the workspace; the default ones when it does not exist. */
  readonly calendarOf = (workspaceId: string): WorkspaceSettings | Promise<WorkspaceSettings> =>
    this.#known.use(workspaceId) ?? this.#load(workspaceId);
  readonly recordChanged = ({ kind, id }: RecordChange): void => {
    if (kind !== 'workspace') return;
    this.#changes.add(id);
    this.#known.delete(id);
  };
  readonly changesMissed = (): void => {
    this.#changes.addAll();
    this.#known.clear();
  };

  constructor(db: RecordsDb) {
    this.#db = db;
  }

  async #load(workspaceId: string): Promise<WorkspaceSettings> {
    const { revision } = this.#changes;
    const settings = (await workspaceRows.find(this.#db, workspaceId))?.settings;
    // Settings that changed while they were being read must not stay in memory.
    if (settings !== undefined && !this.#changes.hasChanged(workspaceId, revision))
      this.#known.set(workspaceId, settings);
    return settings ?? defaultWorkspaceSettings;
  }
}
