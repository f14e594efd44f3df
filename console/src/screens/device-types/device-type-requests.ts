// Device type requests: the list, one record, the devices of the type, and the newest uplink of one of them.
import { queryOptions } from '@tanstack/react-query';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { pageRows } from '../../ui/rows/use-pages.ts';
import type { TypeSearch } from './type-search.ts';

export type DeviceType = Omit<components['schemas']['DeviceType'], 'typedSchemas'>;
type SentUpdate = components['schemas']['DeviceTypeUpdate'];
/** The document leaves open what a schema is; the console sends strings, as it gets them. */
export type DeviceTypeUpdate = Omit<SentUpdate, 'schemas'> & {
  readonly schemas?: Readonly<Record<string, string>>;
};
type Device = components['schemas']['Device'];

export const deviceTypeOf = (id: string) =>
  queryOptions({
    queryKey: ['device-type', id],
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/device-types/{id}', { signal, params: { path: { id } } })),
  });

export function saveDeviceType(id: string, update: DeviceTypeUpdate): Promise<DeviceType> {
  const body = update as SentUpdate;
  return ask(platform.PUT('/v3/device-types/{id}', { params: { path: { id } }, body }));
}

/** A new type with the content of another, under another name. */
export function copyDeviceType(type: DeviceType, name: string, organizationId: string) {
  const { description, meta, schemas, sampleData, uplinkScript, downlinkScript } = type;
  const { calculatedKeys } = type;
  const computed = { uplinkScript, downlinkScript, calculatedKeys };
  const draft = { name, organizationId, description, meta, schemas, sampleData, ...computed };
  const body = draft as components['schemas']['DeviceTypeDraft'];
  return ask(platform.POST('/v3/device-types', { body }));
}

/** Body of `POST /v3/assets/list` for the devices of one type in one workspace. */
export function devicesOfTypeBody(workspaceId: string, typeId: string) {
  return {
    workspaceIds: [workspaceId],
    expression: { field: 'deviceType', predicate: 'EQUALS' as const, values: [typeId] },
  };
}

/** Devices of a type, those that sent last first. */
export const devicesOfType = (workspaceId: string, typeId: string, size: number) =>
  queryOptions({
    queryKey: ['devices-of-type', workspaceId, typeId, size],
    queryFn: ({ signal }) =>
      ask(
        platform.POST('/v3/assets/list', {
          signal,
          params: { query: { size, sort: 'uplinkMetrics.timestamp,desc' } },
          body: devicesOfTypeBody(workspaceId, typeId),
        }),
      ),
  });

/** The newest uplink of the device that sent last, as the event of a decoder; else undefined. */
export async function lastRealEvent(workspaceId: string, typeId: string) {
  const { content: devices } = await ask(
    platform.POST('/v3/assets/list', {
      params: { query: { size: 1, sort: 'uplinkMetrics.timestamp,desc' } },
      body: devicesOfTypeBody(workspaceId, typeId),
    }),
  );
  const [device] = devices;
  if (device === undefined) return undefined;
  const { content } = await ask(
    platform.GET('/v3/devices/{id}/uplinks', {
      params: { path: { id: device.id }, query: { size: 1 } },
    }),
  );
  const [uplink] = content;
  return uplink === undefined ? undefined : { device, uplink, event: eventOf(device, uplink) };
}

/** An uplink of the device as the event of a decoder; undefined when it is no longer kept. */
export async function eventOfUplink(deviceId: string, uplinkId: string, at: string) {
  const device = await ask(
    platform.GET('/v3/devices/{id}', { params: { path: { id: deviceId } } }),
  );
  const to = new Date(Date.parse(at) + 1).toISOString();
  const { content } = await ask(
    platform.GET('/v3/devices/{id}/uplinks', {
      params: { path: { id: deviceId }, query: { from: at, to, size: uplinksMax } },
    }),
  );
  const uplink = content.find(({ id }) => id === uplinkId);
  return uplink === undefined ? undefined : eventOf(device, uplink);
}

/** Uplinks that were received in the same millisecond. */
const uplinksMax = 100;

function eventOf(device: Device, uplink: components['schemas']['RawUplink']) {
  const { payload, encoding, timestamp, sentTimestamp, topic } = uplink;
  const { id, deviceId, name, description } = device;
  return {
    data: Array.isArray(payload) ? { values: payload } : payload,
    encoding,
    timestamp: sentTimestamp ?? timestamp,
    ...(topic === null ? {} : { topic }),
    device: {
      id,
      deviceId,
      name,
      description,
      customFields: Object.fromEntries(
        device.customFields.map((field) => [field.meta.name, field[field.meta.type]]),
      ),
      tags: device.tags.map((tag) => tag.name),
    },
    state: {},
  };
}

// Device type list: the requests for it, and which data flows use a type.

export type DeviceTypeItem = components['schemas']['DeviceTypeItem'];

/** Query of `GET /v3/device-types`, without the page. */
export function typeQuery(organizationId: string, { q, source }: TypeSearch) {
  return {
    organizationId,
    ...(q === undefined ? {} : { search: q }),
    ...(source === undefined ? {} : { types: source }),
    sort: 'name,asc',
    size: pageRows,
    details: 'health' as const,
  };
}

export function fetchTypes(query: ReturnType<typeof typeQuery>) {
  return (page: number, signal: AbortSignal) =>
    ask(platform.GET('/v3/device-types', { signal, params: { query: { ...query, page } } }));
}

const flowsMax = 1_000;

/** Data flows of a workspace, at most 1000 by name; `totalElements` says how many there are. */
export const flowsOf = (workspaceId: string) =>
  queryOptions({
    queryKey: ['data-flows', workspaceId, 'names'],
    queryFn: ({ signal }) =>
      ask(
        platform.GET('/v3/data-flows', {
          signal,
          params: {
            query: { workspaceId, size: flowsMax, sort: 'name,asc', fields: 'id,name,deviceType' },
          },
        }),
      ),
  });

// First code of a new device type: a decoder that runs as it is, to be changed.

export type FirstCode = 'bytes' | 'json' | 'passes';

export const firstCode: Readonly<Record<FirstCode, string | null>> = {
  bytes: `// Runs once for each uplink. Bytes 0 and 1: temperature, signed, 0.1 degrees Celsius.
function consume(event) {
  const bits = Bits.hexToBits(event.data.payloadHex);
  const temperature = Bits.bitsToSigned(bits.slice(0, 16)) / 10;
  emit('sample', { data: { temperature }, topic: 'default' });
}
`,
  json: `// Runs once for each uplink.
function consume(event) {
  const { temperature, humidity } = event.data;
  emit('sample', { data: { temperature, humidity }, topic: 'default' });
}
`,
  passes: null,
};
