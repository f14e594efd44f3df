// The Things Stack: end devices with their payload formatters, as JSON or CSV, and decoded uplink messages.
import { csvRows } from '../../src/structures/csv.ts';
import { isJsonObject, type JsonObject } from '../../src/model/json.ts';
import { cayenneLppDecoder } from './cayenne-lpp.ts';
import { fileText, type JsonDocument, jsonDocuments } from './json-documents.ts';
import {
  type MovedDevice,
  type MovedSample,
  type Place,
  type Remark,
  samplesOf,
  type Source,
} from './moved.ts';
import {
  euiOf,
  keyOf,
  loraVersionOf,
  memberAt,
  objectAt,
  present,
  textAt,
} from './source-fields.ts';
import { createTypeBook, type TypeBook } from './type-book.ts';

interface Found {
  readonly devices: Map<string, MovedDevice>;
  readonly samples: MovedSample[];
  readonly remarks: Remark[];
  readonly book: TypeBook;
}

export const theThingsStack: Source = {
  title: 'The Things Stack',
  integration: 'TTN',
  async read(files) {
    const book = createTypeBook({ hashed: true });
    const found: Found = { devices: new Map(), samples: [], remarks: [], book };
    for (const file of files) for (const document of documentsOf(file)) take(document, found);
    return {
      types: book.types(),
      devices: [...found.devices.values()],
      remarks: found.remarks,
      samples: () => samplesOf(found.samples),
      close: () => undefined,
    };
  },
};

function documentsOf(file: string): readonly JsonDocument[] {
  const text = fileText(file);
  return /^\s*[[{]/.test(text) ? jsonDocuments(file, text) : csvDocuments(file, text);
}

/** Where the columns of CSV files are in the JSON of a device; the others have the same name. */
const columnPaths: Readonly<Record<string, string>> = {
  id: 'ids.device_id',
  dev_eui: 'ids.dev_eui',
  join_eui: 'ids.join_eui',
  app_eui: 'ids.join_eui',
  brand_id: 'version_ids.brand_id',
  model_id: 'version_ids.model_id',
  app_key: 'root_keys.app_key.key',
  nwk_key: 'root_keys.nwk_key.key',
  dev_addr: 'session.dev_addr',
  app_s_key: 'session.keys.app_s_key.key',
  f_nwk_s_int_key: 'session.keys.f_nwk_s_int_key.key',
  s_nwk_s_int_key: 'session.keys.s_nwk_s_int_key.key',
  nwk_s_enc_key: 'session.keys.nwk_s_enc_key.key',
  up_formatter: 'formatters.up_formatter',
  up_formatter_parameter: 'formatters.up_formatter_parameter',
  down_formatter: 'formatters.down_formatter',
  down_formatter_parameter: 'formatters.down_formatter_parameter',
};

/** Rows under the names of columns, with semicolons, in the form of JSON exports. */
function csvDocuments(file: string, text: string): JsonDocument[] {
  const [head, ...rows] = csvRows(text, ';');
  const names = (head?.cells ?? []).map((name) => name.trim());
  if (!names.includes('dev_eui'))
    throw new Error(`${file}:1: neither JSON nor CSV with a column dev_eui`);
  return rows.map(({ line, cells, fault }) => {
    if (fault !== undefined) throw new Error(`${file}:${line}: ${fault}`);
    const value: Record<string, never> = {};
    names.forEach((name, i) => setAt(value, columnPaths[name] ?? name, cells[i] ?? ''));
    return { place: { file, line }, value };
  });
}

function setAt(object: object, path: string, cell: string): void {
  if (cell === '') return;
  const names = path.split('.');
  let at = object as Record<string, unknown>;
  for (const name of names.slice(0, -1)) {
    const inner = (at[name] ?? {}) as Record<string, unknown>;
    at[name] = inner;
    at = inner;
  }
  at[names.at(-1) ?? ''] = cell === 'true' || cell === 'false' ? cell === 'true' : cell;
}

function take({ place, value }: JsonDocument, found: Found): void {
  // The storage integration wraps each message.
  const content = objectAt(value, 'result') ?? value;
  const list = memberAt(content, 'end_devices');
  if (Array.isArray(list)) {
    for (const one of list) if (isJsonObject(one)) takeDevice(place, one, found);
  } else if (objectAt(content, 'end_device_ids') === undefined) takeDevice(place, content, found);
  else takeMessage(place, content, found);
}

/** Messages other than uplinks contain nothing that is stored. */
function takeMessage(place: Place, message: JsonObject, { samples, remarks }: Found): void {
  const uplink = objectAt(message, 'uplink_message');
  if (uplink === undefined) return;
  const name = textAt(message, 'end_device_ids.dev_eui');
  const deviceId = euiOf(name);
  const data = objectAt(uplink, 'decoded_payload');
  const timestamp = textAt(message, 'received_at') ?? textAt(uplink, 'received_at');
  const refuse = (reason: string) =>
    void remarks.push({ place, outcome: 'error', kind: 'sample', name: name ?? '', reason });
  if (deviceId === undefined) refuse('end_device_ids.dev_eui is missing or not an EUI');
  else if (timestamp === undefined) refuse('received_at is missing');
  else if (data === undefined) refuse('decoded_payload is missing: only decoded uplinks are taken');
  else samples.push({ place, deviceId, topic: 'default', timestamp, data });
}

function takeDevice(place: Place, device: JsonObject, { devices, remarks, book }: Found): void {
  const written = textAt(device, 'ids.dev_eui');
  const id = textAt(device, 'ids.device_id') ?? written ?? '';
  const deviceId = euiOf(written);
  if (deviceId === undefined) {
    const reason = 'ids.dev_eui is missing or not an EUI of 16 hexadecimal digits';
    remarks.push({ place, outcome: 'error', kind: 'device', name: id, reason });
    return;
  }
  const remark = (kind: string, reason: string) =>
    void remarks.push({ place, outcome: 'skip', kind, name: deviceId, reason });
  const isJoining = memberAt(device, 'supports_join') !== false;
  const lora = loraOf(device, deviceId, isJoining);
  if (isJoining && lora['applicationKey'] === undefined)
    remark('key', 'root_keys.app_key is not in the export: export with the keys, or enter it');
  if (textAt(device, 'root_keys.nwk_key.key') !== undefined)
    remark('key', 'root_keys.nwk_key of LoRaWAN 1.1 stays with the network server');
  devices.set(deviceId, {
    place,
    deviceId,
    lora,
    tags: [],
    name: textAt(device, 'name') ?? id,
    description: textAt(device, 'description') ?? null,
    type: typeOf(place, device, { book, remark }),
    customFields: { ...objectAt(device, 'attributes') },
  });
}

function loraOf(device: JsonObject, deviceEui: string, isJoining: boolean): JsonObject {
  const session = (name: string) => keyOf(textAt(device, `session.keys.${name}.key`));
  const deviceClass =
    memberAt(device, 'supports_class_c') === true
      ? 'C'
      : memberAt(device, 'supports_class_b') === true
        ? 'B'
        : 'A';
  return present({
    carrier: 'TTN',
    deviceEui,
    deviceClass,
    activationMode: isJoining ? 'OTAA' : 'ABP',
    joinEui: euiOf(textAt(device, 'ids.join_eui')),
    loraVersion: loraVersionOf(textAt(device, 'lorawan_version')),
    applicationKey: keyOf(textAt(device, 'root_keys.app_key.key')),
    deviceAddress: textAt(device, 'session.dev_addr') ?? textAt(device, 'ids.dev_addr'),
    applicationSessionKey: session('app_s_key'),
    networkSessionKey: session('f_nwk_s_int_key'),
    ttnProperties: present({
      deviceId: textAt(device, 'ids.device_id'),
      frequencyPlan: textAt(device, 'frequency_plan_id'),
      phyLoraVersion: textAt(device, 'lorawan_phy_version'),
    }),
  });
}

interface TypeParts {
  readonly book: TypeBook;
  readonly remark: (kind: string, reason: string) => void;
}

function typeOf(place: Place, device: JsonObject, { book, remark }: TypeParts): string | null {
  const script = (direction: 'up' | 'down'): string | null => {
    const kind = textAt(device, `formatters.${direction}_formatter`) ?? 'FORMATTER_NONE';
    const code = textAt(device, `formatters.${direction}_formatter_parameter`);
    if (kind === 'FORMATTER_JAVASCRIPT') return code ?? null;
    if (kind === 'FORMATTER_CAYENNELPP') return direction === 'up' ? cayenneLppDecoder : null;
    if (kind !== 'FORMATTER_NONE') remark('formatter', formatterReason(kind, device));
    return null;
  };
  const decoder = script('up');
  const encoder = script('down');
  if (decoder === null && encoder === null) return null;
  const model = ['brand_id', 'model_id'].map((name) => textAt(device, `version_ids.${name}`));
  const name = model.filter((part) => part !== undefined).join(' ') || 'Formatter';
  return book.nameOf(name, { decoder, encoder }, place);
}

function formatterReason(kind: string, device: JsonObject): string {
  const brand = textAt(device, 'version_ids.brand_id') ?? 'BRAND';
  const model = textAt(device, 'version_ids.model_id') ?? 'MODEL';
  if (kind === 'FORMATTER_REPOSITORY')
    return `its code is in the device repository, vendor/${brand}/${model}.yaml: create a device type with it`;
  return `${kind} has no code: create a device type`;
}
