// Sources of a dashboard: the devices that its series name, by themselves, a tag, a place, or a custom field (contract 39).
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Records } from '../../storage/records/records.ts';
import { customFieldRows } from '../../storage/records/rows/custom-fields.ts';
import { placeRows } from '../../storage/records/rows/places.ts';
import { tagRows } from '../../storage/records/rows/tags.ts';
import { type AssetFilter, listDevicePage } from '../devices/assets.ts';

export type NamedDevice = {
  readonly id: string;
  readonly name: string;
  readonly onlineTimeoutSeconds: number;
};

/** What devices have in common; that they are of the workspace has no id. */
type DeviceGroup =
  | { readonly kind: 'DEVICE' | 'TAG' | 'PLACE' | 'WORKSPACE'; readonly id: string }
  | { readonly kind: 'CUSTOM_FIELD'; readonly id: string; readonly value: string };

const devicesPerRead = 1_000;

/** Reads the workspace as the principal may. */
export class DashboardSources {
  readonly #records: Records;
  readonly #principal: Principal;
  readonly #workspaceId: string;

  constructor(records: Records, principal: Principal, workspaceId: string) {
    this.#records = records;
    this.#principal = principal;
    this.#workspaceId = workspaceId;
  }

  /** Those of the ids that are devices of the workspace, in order of name. */
  async devices(ids: readonly string[]): Promise<readonly NamedDevice[]> {
    const found: NamedDevice[] = [];
    for (let from = 0; from < ids.length; from += devicesPerRead) {
      const assetIds = ids.slice(from, from + devicesPerRead);
      found.push(...(await this.#page({ assetIds }, devicesPerRead)).rows);
    }
    return found;
  }

  /** The first `max` devices of the group in order of name, and how many it has. */
  async members(
    group: DeviceGroup,
    max: number,
  ): Promise<{ readonly rows: readonly NamedDevice[]; readonly total: number }> {
    if (!('value' in group)) {
      const filters: Readonly<Record<typeof group.kind, AssetFilter>> = {
        DEVICE: { assetIds: [group.id] },
        TAG: { tagIds: [group.id] },
        PLACE: { placeIds: [group.id] },
        WORKSPACE: {},
      };
      return this.#page(filters[group.kind], max);
    }
    const field = await customFieldRows.find(this.#records.db, group.id);
    if (field?.workspaceId !== this.#workspaceId) return { rows: [], total: 0 };
    const expression = {
      operator: 'FILTER',
      field: 'customFields',
      customFieldName: field.name,
      predicate: 'EQUALS',
      values: [group.value],
    };
    return this.#page({ expression }, max);
  }

  /** The name of the record. Throws Problem 404 for one that is not of the workspace. */
  async nameOf(kind: 'DEVICE' | 'TAG' | 'PLACE', id: string): Promise<string> {
    if (kind === 'DEVICE') {
      const [device] = await this.devices([id]);
      if (device !== undefined) return device.name;
      throw problem('notFound', { what: 'device', id });
    }
    const { db } = this.#records;
    const rows = kind === 'TAG' ? tagRows : placeRows;
    const record = await rows.find(db, id);
    if (record?.workspaceId !== this.#workspaceId)
      throw problem('notFound', { what: kind === 'TAG' ? 'tag' : 'place', id });
    return record.name;
  }

  #page(filter: AssetFilter, size: number) {
    const page = { page: 0, size, sort: [] };
    const wanted = { ...filter, workspaceIds: [this.#workspaceId] };
    return listDevicePage(this.#records, this.#principal, wanted, page);
  }
}
