// Shared dashboard: what its token reads, which is the data of the devices and tags that it names.
import { hasFormOfId } from './ids.ts';
import type { Json, JsonObject } from './json.ts';

/** Distinguishes tokens of dashboards from those of OAuth clients. */
export const shareTokenPrefix = 'share_';

export interface SharedDashboard {
  readonly dashboardId: string;
  /** Devices and tags of other workspaces are not read. */
  readonly workspaceId: string;
  readonly deviceIds: ReadonlySet<string>;
  readonly tagIds: ReadonlySet<string>;
}

/** The ids of devices and tags anywhere in the configuration, as values or names of members. */
export function idsInConfiguration(
  configuration: JsonObject,
): Pick<SharedDashboard, 'deviceIds' | 'tagIds'> {
  const deviceIds = new Set<string>();
  const tagIds = new Set<string>();
  const note = (word: string): void => {
    if (hasFormOfId('device', word)) deviceIds.add(word);
    else if (hasFormOfId('tag', word)) tagIds.add(word);
  };
  const left: Json[] = [configuration];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value === 'string') note(value);
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, member] of Object.entries(value)) {
      note(name);
      left.push(member as Json);
    }
  }
  return { deviceIds, tagIds };
}
