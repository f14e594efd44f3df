// Platform state: what a workspace has before an import, by the names that the import uses.
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { Client } from '../typescript/client.ts';

export interface NamedItem extends JsonObject {
  readonly name: string;
}

export interface KnownDevice {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly tags: ReadonlySet<string>;
  readonly customFields: ReadonlyMap<string, Json>;
  readonly lora: JsonObject;
}

export interface PlatformState {
  readonly organizationId: string;
  /** Items of the configuration of the workspace. */
  readonly customFields: ReadonlyMap<string, NamedItem>;
  readonly tags: ReadonlySet<string>;
  readonly deviceTypes: ReadonlyMap<string, NamedItem>;
  readonly connectors: ReadonlyMap<string, NamedItem>;
  readonly dataFlows: ReadonlySet<string>;
  /** By physical id. */
  readonly devices: ReadonlyMap<string, KnownDevice>;
}

type Page = { readonly client: Client; readonly workspaceId: string; readonly signal: AbortSignal };

/** Reads all devices of the workspace. Throws HeliographError. */
export async function readPlatformState(on: Page): Promise<PlatformState> {
  const { client, workspaceId, signal } = on;
  const path = { id: workspaceId };
  const { organizationId } = await client.get('/v3/workspaces/{id}', { path, signal });
  const document = await client.get('/v3/workspaces/{id}/configuration', { path, signal });
  const items = (section: readonly object[]): Map<string, NamedItem> =>
    new Map((section as readonly NamedItem[]).map((item) => [item.name, item]));
  return {
    organizationId,
    customFields: items(document.customFields),
    tags: new Set(items(document.tags).keys()),
    deviceTypes: await deviceTypesOf(on, organizationId),
    connectors: items(document.deviceConnectors),
    dataFlows: new Set(items(document.dataFlows).keys()),
    devices: await devicesOf(on),
  };
}

/** Those of the organization, also when no data flow of the workspace uses them. */
async function deviceTypesOf(
  { client, signal }: Page,
  organizationId: string,
): Promise<Map<string, NamedItem>> {
  const types = new Map<string, NamedItem>();
  const query = { organizationId, details: true };
  for await (const type of client.pages('/v3/device-types', { query, signal })) {
    const item = type as unknown as NamedItem;
    if (!types.has(item.name) && item['type'] !== 'library') types.set(item.name, item);
  }
  return types;
}

async function devicesOf({ client, workspaceId, signal }: Page): Promise<Map<string, KnownDevice>> {
  const devices = new Map<string, KnownDevice>();
  const body = { workspaceIds: [workspaceId] };
  for await (const device of client.pagesOf('/v3/assets/list', { body, signal })) {
    const { id, deviceId, name, description, tags, customFields, loraProperties } = device;
    devices.set(deviceId, {
      id,
      name,
      description: description ?? null,
      tags: new Set(tags.map((tag) => tag.name)),
      customFields: new Map(
        customFields.map((field) => [field.fieldMetaName, field[field.meta.type] as Json]),
      ),
      lora: (loraProperties ?? {}) as JsonObject,
    });
  }
  return devices;
}

/** Ids of records by their names, after the configuration was applied. */
export async function idsByName(
  { client, workspaceId, signal }: Page,
  path: '/v3/tags' | '/v3/data-flows' | '/v3/device-connectors',
): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  const query = { workspaceIds: [workspaceId] };
  for await (const { name, id } of client.pages(path, { query, signal }))
    if (!ids.has(name)) ids.set(name, id);
  return ids;
}
