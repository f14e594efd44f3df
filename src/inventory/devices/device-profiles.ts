// Device profiles: data flow, tags, custom fields and common properties of devices, each kept once for all its devices.
import type { Json, JsonObject } from '../../model/json.ts';
import type { Tag } from '../../model/tag.ts';
import type { Records } from '../../storage/records/records.ts';
import { findCustomFieldsInOrder } from '../../storage/records/rows/custom-fields.ts';
import { findTagsInOrder } from '../../storage/records/rows/tags.ts';
import type { RecordChanges } from '../../structures/record-changes.ts';
import type { ProfileContent } from './compact-device.ts';
import type { FlowCache, SharedFlow } from './flow-route-cache.ts';

/** The records that a profile names, as they are now. */
export interface ProfileParts {
  readonly flow: SharedFlow;
  /** In order of name. */
  readonly tags: readonly Tag[];
  /** The custom fields of these values, which are in the order of the profile's fields. */
  readonly fieldsOf: (values: readonly Json[]) => JsonObject;
}

export interface DeviceProfile extends ProfileContent {
  readonly key: string;
  /** Number of devices that have the profile, and of reads that use it. */
  holders: number;
  /** Undefined until it is read, and after a change of a tag or field. */
  parts: ProfileParts | undefined;
  /** The read in progress, for callers that came before a further change. */
  reading: { readonly revision: number; readonly parts: Promise<ProfileParts> } | undefined;
}

export interface DeviceProfiles {
  readonly size: number;
  /** The profile with this content, held once more. */
  hold(content: ProfileContent): DeviceProfile;
  /** Drops the profile with its last holder. */
  release(profile: DeviceProfile): void;
  /** A promise when records must be read. Rejects when a record cannot be read. */
  parts(profile: DeviceProfile): ProfileParts | Promise<ProfileParts>;
  /** Call when a tag or custom field changed. */
  labelChanged(labelId: string): void;
}

export function createDeviceProfiles(
  records: Records,
  flows: FlowCache,
  changes: RecordChanges,
): DeviceProfiles {
  const profiles = new Map<string, DeviceProfile>();
  const usersOf = new Map<string, Set<DeviceProfile>>();
  const labelsOf = ({ tagIds, fieldIds }: ProfileContent) => [...tagIds, ...fieldIds];

  function add(key: string, content: ProfileContent): DeviceProfile {
    const profile = { ...content, key, holders: 0, parts: undefined, reading: undefined };
    profiles.set(key, profile);
    for (const label of labelsOf(content)) {
      const users = usersOf.get(label);
      if (users === undefined) usersOf.set(label, new Set([profile]));
      else users.add(profile);
    }
    return profile;
  }

  async function read(profile: DeviceProfile): Promise<ProfileParts> {
    const { revision } = changes;
    const { tagIds, fieldIds, parts: before, shared } = profile;
    const flow = await flows.read(shared.dataFlowId);
    // Only the flow changed: the tags and fields are still those of the records.
    if (before !== undefined && profile.parts === before) {
      profile.parts = { ...before, flow };
      return profile.parts;
    }
    const tags = await findTagsInOrder(records.db, tagIds);
    const fields = await findCustomFieldsInOrder(records.db, fieldIds);
    const places = fields.map(({ id, name }) => [name, fieldIds.indexOf(id)] as const);
    const fieldsOf = (values: readonly Json[]): JsonObject =>
      Object.fromEntries(places.map(([name, place]) => [name, values[place] ?? null]));
    const parts = { flow, tags, fieldsOf };
    const isOutdated = labelsOf(profile).some((id) => changes.hasChanged(id, revision));
    // Parts that changed meanwhile are used once.
    if (!isOutdated) profile.parts = parts;
    return parts;
  }

  return {
    get size() {
      return profiles.size;
    },
    hold(content) {
      const { shared, tagIds, fieldIds } = content;
      const key = JSON.stringify([...Object.values(shared), tagIds, fieldIds]);
      const profile = profiles.get(key) ?? add(key, content);
      profile.holders += 1;
      return profile;
    },
    release(profile) {
      profile.holders -= 1;
      if (profile.holders > 0) return;
      profiles.delete(profile.key);
      for (const label of labelsOf(profile)) {
        const users = usersOf.get(label);
        if (users?.delete(profile) === true && users.size === 0) usersOf.delete(label);
      }
    },
    parts(profile) {
      if (profile.parts !== undefined && !profile.parts.flow.isStale) return profile.parts;
      const { revision } = changes;
      if (profile.reading?.revision === revision) return profile.reading.parts;
      const reading = { revision, parts: read(profile) };
      profile.reading = reading;
      const end = (): void => {
        if (profile.reading === reading) profile.reading = undefined;
      };
      reading.parts.then(end, end);
      return reading.parts;
    },
    labelChanged(labelId) {
      for (const profile of usersOf.get(labelId) ?? []) profile.parts = undefined;
    },
  };
}
