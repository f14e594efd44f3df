// ThingsBoard: devices with attributes from its version control, lists of its REST API, and time series in files.
import { basename } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { type JsonDocument, jsonDocuments } from './json-documents.ts';
import {
  type Moved,
  type MovedDevice,
  type MovedSample,
  type Place,
  type Remark,
  samplesOf,
  type Source,
} from './moved.ts';
import { memberAt, objectAt, textAt } from './source-fields.ts';
import { deviceFrom, rowsOf } from './thingsboard-items.ts';
import { readThingsBoardServer } from './thingsboard-server.ts';

interface Found {
  readonly devices: Map<string, MovedDevice>;
  /** Names of devices by their id. */
  readonly names: Map<string, string>;
  readonly samples: MovedSample[];
  readonly remarks: Remark[];
}

export const thingsBoard: Source = {
  title: 'ThingsBoard',
  integration: null,
  read(files, options) {
    const [first = '', ...others] = files;
    if (!/^https?:\/\//.test(first)) return Promise.resolve(readFiles(files));
    if (others.length > 0) throw new Error('name either the address of a server, or files');
    return readThingsBoardServer(first, options);
  },
};

function readFiles(files: readonly string[]): Moved {
  const found: Found = { devices: new Map(), names: new Map(), samples: [], remarks: [] };
  const documents = files.map((file) => ({ file, documents: jsonDocuments(file) }));
  const all = documents.flatMap((one) => one.documents);
  // Devices first: time series name them by their ids.
  for (const document of all) takeDevices(document, found);
  for (const one of documents)
    for (const document of one.documents) takeSeries(one.file, document, found);
  return {
    types: [],
    devices: [...found.devices.values()],
    remarks: found.remarks,
    samples: () => samplesOf(found.samples),
    close: () => undefined,
  };
}

function takeDevices({ place, value }: JsonDocument, found: Found): void {
  const list = memberAt(value, 'data');
  if (Array.isArray(list)) {
    for (const one of list) if (isJsonObject(one)) takeDevice(place, one, {}, found);
    return;
  }
  const entity = objectAt(value, 'entity');
  const entityType =
    textAt(value, 'entityType') ?? textAt(objectAt(value, 'id') ?? {}, 'entityType');
  if (entityType === undefined) return;
  if (entityType === 'DEVICE') takeDevice(place, entity ?? value, value, found);
  else {
    const name = textAt(entity ?? value, 'name') ?? '';
    const reason = `entities of type ${entityType} have no counterpart`;
    found.remarks.push({ place, outcome: 'skip', kind: 'entity', name, reason });
  }
}

function takeDevice(place: Place, device: JsonObject, about: JsonObject, found: Found): void {
  const { devices, names, remarks } = found;
  const moved = deviceFrom(place, device, objectAt(about, 'attributes') ?? {});
  if (moved === undefined) {
    const reason = 'a device needs a name, which becomes its physical id';
    remarks.push({ place, outcome: 'error', kind: 'device', name: '', reason });
    return;
  }
  const name = moved.deviceId;
  const id = textAt(device, 'id.id') ?? textAt(device, 'externalId.id');
  if (id !== undefined) names.set(id, name);
  if (textAt(about, 'credentials.credentialsId') !== undefined) {
    const reason = 'credentials are not taken over: the device gets those of its connector';
    remarks.push({ place, outcome: 'skip', kind: 'credential', name, reason });
  }
  const { customFields = {} } = devices.get(name) ?? {};
  devices.set(name, { ...moved, customFields: { ...customFields, ...moved.customFields } });
}

/** An answer of the REST API: by key a list of values with times. The file is named after the device. */
function takeSeries(file: string, { place, value }: JsonDocument, found: Found): void {
  const { names, samples, remarks } = found;
  const series = Object.entries(value);
  const isSeries = series.length > 0 && series.every(([, list]) => isSeriesOf(list));
  if (!isSeries) {
    const isKnown = ['data', 'entity', 'entityType', 'id'].some((name) => name in value);
    if (isKnown) return;
    const reason = 'neither an entity, nor a list of devices, nor time series';
    remarks.push({ place, outcome: 'error', kind: 'item', name: '', reason });
    return;
  }
  const named = basename(file).replace(/\.json$/i, '');
  const deviceId = names.get(named) ?? named;
  for (const [timestamp, data] of rowsOf(value))
    samples.push({ place, deviceId, topic: 'default', timestamp, data });
}

function isSeriesOf(list: Json | undefined): boolean {
  return (
    Array.isArray(list) && list.every((one) => isJsonObject(one) && typeof one['ts'] === 'number')
  );
}
