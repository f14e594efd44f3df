// A small inventory of odd devices, and random filter expressions about it: what the filter reference is compared on.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { change } from '../../src/inventory/record-crud.ts';
import { CustomFields } from '../../src/inventory/devices/device-field-values.ts';
import { DataFlows } from '../../src/inventory/data-flows/data-flows.ts';
import { DeviceConnectors } from '../../src/inventory/data-flows/device-connectors.ts';
import { DeviceTypes } from '../../src/inventory/data-flows/device-types.ts';
import { Devices } from '../../src/inventory/devices/devices.ts';
import { changeDevice } from '../../src/inventory/devices/device-batch.ts';
import { Places } from '../../src/inventory/devices/places.ts';
import { Tags } from '../../src/inventory/devices/tags.ts';
import { Workspaces } from '../../src/inventory/workspaces/workspaces.ts';
import { fitsConnector } from '../../src/model/connector.ts';
import type { CustomFieldType } from '../../src/model/device.ts';
import type { Principal } from '../../src/model/principal.ts';
import { openRecords } from '../../src/storage/records/records.ts';
import { testEngine } from '../../src/storage/records/testing-engine.ts';
import { deviceStatusRows } from '../../src/storage/records/rows/device-status.ts';
import { organizationRows } from '../../src/storage/records/rows/workspaces.ts';
import { userRows } from '../../src/storage/records/rows/users.ts';

export type Random = () => number;

/** The same numbers for the same seed (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const pick = <T>(random: Random, from: readonly T[]): T =>
  from[Math.floor(random() * from.length)]!;

export const filterNow = Date.UTC(2026, 5, 1);
/** Words that SQL, patterns and case folding could trip over. */
export const words = [
  'Roof', 'roof', 'Keller', 'ÄPFEL', 'äpfel', 'straße', '100%', 'a_b', 'a!b', "O'Hara", '"; drop table devices; --', '東京', '😀 Sensor',
  'İstanbul', 'Kelvin', 'x\ny', ' ', 'Z', '%', '_', '!%', 'null', '\\', '5', '-3.5', 'true',
]; // biome-ignore format: a table of words

export const principal: Principal = {
  kind: 'USER',
  id: 'u',
  name: 'u',
  organizationId: 'o',
  workspaces: 'all',
  permissions: { asset: ['read', 'create', 'update'] },
};

const fieldTypes: readonly [string, CustomFieldType][] = [
  ['room', 'STRING'],
  ['level', 'NUMBER'],
  ['installed', 'DATE'],
  ['mixed', 'NUMBER'],
  ['extra', 'JSON'],
  ['place', 'GPS_COORDINATES'],
];

export async function openFilteredInventory(seed: number, devices: number) {
  const directory = mkdtempSync(join(tmpdir(), 'filters-'));
  const records = await openRecords({
    directory,
    engine: testEngine(directory),
    announce: () => {},
  });
  const random = randomFrom(seed);
  const audit = { created: 1, updated: null, version: 0 };
  await userRows.insert(records.db, {
    id: 'u',
    name: 'u',
    email: 'u',
    passwordHash: '',
    proven: false,
    ...audit,
  });
  const tenant = {
    id: 'o',
    name: 'o',
    description: null,
    logo: null,
    ownerId: 'u',
    properties: null,
  };
  await organizationRows.insert(records.db, { ...tenant, ...audit });
  const places = [
    await makePlace(records, 'one', 'NUMBER'),
    await makePlace(records, 'two', 'STRING'),
  ];
  const ids: string[] = [];
  for (let n = 0; n < devices; n++)
    ids.push(await makeDevice(records, random, pick(random, places), n));
  const metrics = ids.filter(() => random() < 0.6).map((deviceId) => metricsOf(deviceId, random));
  await deviceStatusRows.saveMetrics(records.db, metrics);
  return {
    records,
    ids,
    places,
    async close() {
      await records.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

type Records = Awaited<ReturnType<typeof openRecords>>;
type Place = Awaited<ReturnType<typeof makePlace>>;

async function makePlace(records: Records, name: string, mixedType: CustomFieldType) {
  const { id } = await new Workspaces(records).create({ organizationId: 'o', name });
  const fields = [];
  for (const [fieldName, type] of fieldTypes) {
    const draft = {
      workspaceId: id,
      name: fieldName,
      type: fieldName === 'mixed' ? mixedType : type,
    };
    fields.push(await new CustomFields({ ...records, now: () => 1 }).create(draft));
  }
  const tags = [];
  for (const word of words.slice(0, 8))
    tags.push(await new Tags({ ...records, now: () => 1 }).create({ workspaceId: id, name: word }));
  const connectors = [];
  for (const connectivity of ['HTTP', 'MQTT'] as const) {
    const draft = { workspaceId: id, name: 'c', connectivity };
    connectors.push(
      await new DeviceConnectors({ ...records, now: () => 1 }).create(principal, draft),
    );
  }
  const type = await new DeviceTypes(records).create(
    { organizationId: 'o', name: `Type ÄÖ ${name}` },
    1,
  );
  const viewer = { principal, viewOptions: { vendorNames: false, connectorSecrets: false } };
  const flows = [];
  for (const deviceType of [null, { id: type.id }]) {
    for (const { id: connectorId, connectivity } of connectors) {
      const flow = {
        workspaceId: id,
        name: `Flow ${name}`,
        deviceConnector: { id: connectorId },
        deviceType,
      };
      flows.push({
        ...(await new DataFlows({ ...records, now: () => 1 }).create(viewer, flow)),
        connectivity,
      });
    }
  }
  const rooms: Awaited<ReturnType<Places['create']>>[] = [];
  for (const word of words.slice(0, 6)) {
    const parentId = rooms.at(-1)?.id ?? null;
    rooms.push(await new Places(records).create({ workspaceId: id, name: word, parentId }));
  }
  return { id, fields, tags, flows, rooms };
}

async function makeDevice(
  records: Records,
  random: Random,
  place: Place,
  n: number,
): Promise<string> {
  const connectivity = pick(random, ['HTTP', 'MQTT', 'LORA'] as const);
  const flows = place.flows.filter((flow) => fitsConnector(connectivity, flow.connectivity));
  const draft = {
    name: random() < 0.2 ? pick(random, words) : `${pick(random, words)} ${pick(random, words)}`,
    deviceId: `${pick(random, words)}-${n}`,
    workspaceId: place.id,
    dataFlowId: pick(random, flows).id,
    description: random() < 0.4 ? null : pick(random, words),
    connectivity,
    onlineTimeout: pick(random, [60, 3_600, 86_400]),
    excludeFromLifecycleReport: random() < 0.5,
    tags: place.tags.filter(() => random() < 0.25).map(({ id }) => ({ id })),
    placeId: random() < 0.3 ? null : pick(random, place.rooms).id,
    customFields: place.fields
      .filter(() => random() < 0.6)
      .map((field) => fieldValue(field, random)),
    loraProperties:
      random() < 0.5
        ? null
        : {
            carrier: pick(random, ['TTN', 'LORIOT']),
            actilityProperties: { deviceProfileId: pick(random, words) },
          },
  };
  const at = filterNow - Math.floor(random() * 10) * 86_400_000;
  const { id } = await new Devices({ ...records, now: () => at }).create(principal, draft);
  if (random() < 0.5)
    await new Devices({ ...records, now: () => at + 3_600_000 }).update(principal, id, {
      onlineTimeout: 7_200,
    });
  if (random() < 0.3 && draft.connectivity === 'LORA') {
    await change(records, (step) =>
      changeDevice({ ...step, now: () => at }, { work: 'deregister', id, isAgreed: true }),
    );
  }
  return id;
}

function fieldValue(
  { id, type }: { readonly id: string; readonly type: CustomFieldType },
  random: Random,
) {
  const values = {
    STRING: pick(random, words),
    NUMBER: Math.floor(random() * 20) / 2 - 3.5,
    DATE: new Date(filterNow - Math.floor(random() * 10) * 86_400_000).toISOString(),
    JSON: { a: [1, 'x'] },
    GPS_COORDINATES: { latitude: 47, longitude: 8 },
  };
  return { fieldMetaId: id, [type]: values[type] };
}

function metricsOf(deviceId: string, random: Random) {
  const maybe = (value: number) => (random() < 0.7 ? value : undefined);
  const entries = Object.entries({
    rssi: maybe(-120 + Math.floor(random() * 60)),
    snr: maybe(Math.floor(random() * 40) / 4 - 5),
    sqi: maybe(1 + Math.floor(random() * 3)),
    batteryLevel: maybe(Math.floor(random() * 101)),
    frameCountUp: maybe(Math.floor(random() * 100)),
  }).filter(([, value]) => value !== undefined);
  const timestamp = filterNow - Math.floor(random() * 200_000) * 1_000;
  return {
    uplinkId: 'u',
    deviceId,
    uplinkSize: Math.floor(random() * 50),
    timestamp,
    ...Object.fromEntries(entries),
  };
}
