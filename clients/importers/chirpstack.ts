// ChirpStack 3 and 4: device profiles with codecs, devices, keys and activations, as their APIs answer.
import { isJsonObject, type JsonObject } from '../../src/model/json.ts';
import { cayenneLppDecoder } from './cayenne-lpp.ts';
import { type JsonDocument, jsonDocuments } from './json-documents.ts';
import { type MovedDevice, type Place, type Remark, samplesOf, type Source } from './moved.ts';
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

interface Item {
  readonly place: Place;
  readonly value: JsonObject;
}

/** What the files say, by EUI and by id of a profile. */
interface Found {
  readonly profiles: Map<string, Item>;
  readonly devices: Map<string, Item>;
  readonly keys: Map<string, JsonObject>;
  readonly activations: Map<string, JsonObject>;
  readonly remarks: Remark[];
}

export const chirpStack: Source = {
  title: 'ChirpStack',
  integration: 'CHIRP_STACK',
  async read(files) {
    const found: Found = {
      profiles: new Map(),
      devices: new Map(),
      remarks: [],
      keys: new Map(),
      activations: new Map(),
    };
    for (const file of files) for (const document of jsonDocuments(file)) take(document, found);
    const book = createTypeBook({ hashed: false });
    const typeNames = new Map([...found.profiles].map(([id, item]) => [id, typeOf(item, book)]));
    const devices = [...found.devices].map(([eui, item]) => deviceOf(eui, item, found, typeNames));
    return {
      types: book.types(),
      devices,
      remarks: found.remarks,
      samples: () => samplesOf([]),
      close: () => undefined,
    };
  },
};

/** Each answer names its content; lists have it as `result`. */
function take({ place, value }: JsonDocument, found: Found): void {
  const list = memberAt(value, 'result');
  if (Array.isArray(list)) {
    for (const one of list) if (isJsonObject(one)) takeListed({ place, value: one }, found);
    return;
  }
  const contents = {
    profile: objectAt(value, 'device_profile'),
    device: objectAt(value, 'device'),
    keys: objectAt(value, 'device_keys'),
    activation: objectAt(value, 'device_activation'),
  };
  if (contents.profile !== undefined) takeListed({ place, value: contents.profile }, found);
  else if (contents.device !== undefined) takeListed({ place, value: contents.device }, found);
  else if (contents.keys !== undefined) takeSecrets(contents.keys, found.keys);
  else if (contents.activation !== undefined) takeSecrets(contents.activation, found.activations);
  else takeListed({ place, value }, found);
}

function takeSecrets(value: JsonObject, into: Map<string, JsonObject>): void {
  const eui = euiOf(textAt(value, 'dev_eui'));
  if (eui !== undefined) into.set(eui, value);
}

/** Answers about one item say more than lists, in any order. */
function takeListed({ place, value }: Item, { profiles, devices, remarks }: Found): void {
  const written = textAt(value, 'dev_eui');
  const eui = euiOf(written);
  const profile = textAt(value, 'id');
  const merged = (known: Item | undefined): Item => {
    const [less = {}, more = {}] = [known?.value ?? {}, value].toSorted(
      (one, other) => Object.keys(one).length - Object.keys(other).length,
    );
    return { place: known?.place ?? place, value: { ...less, ...more } };
  };
  if (eui !== undefined) devices.set(eui, merged(devices.get(eui)));
  else if (written === undefined && profile !== undefined)
    profiles.set(profile, merged(profiles.get(profile)));
  else {
    const reason = 'neither a device profile with an id, nor a device with an EUI';
    remarks.push({ place, outcome: 'error', kind: 'item', name: written ?? '', reason });
  }
}

function typeOf({ place, value }: Item, book: TypeBook): string | null {
  // Version 3 has a codec and two scripts, version 4 a runtime and one.
  const codec = textAt(value, 'payload_codec_runtime') ?? textAt(value, 'payload_codec') ?? 'NONE';
  const script = textAt(value, 'payload_codec_script');
  const name = textAt(value, 'name') ?? 'Device profile';
  const scripts = {
    decoder: script ?? textAt(value, 'payload_decoder_script') ?? null,
    encoder:
      textAt(value, 'payload_encoder_script') ??
      (script?.includes('encodeDownlink') === true ? script : null),
  };
  if (codec === 'CAYENNE_LPP') scripts.decoder = cayenneLppDecoder;
  if (codec === 'NONE' || (scripts.decoder === null && scripts.encoder === null)) return null;
  return book.nameOf(name, scripts, place);
}

function deviceOf(
  deviceId: string,
  { place, value }: Item,
  { profiles, keys, activations, remarks }: Found,
  typeNames: ReadonlyMap<string, string | null>,
): MovedDevice {
  const profileId = textAt(value, 'device_profile_id') ?? '';
  const profile = profiles.get(profileId)?.value;
  const remark = (kind: string, reason: string) =>
    void remarks.push({ place, outcome: 'skip', kind, name: deviceId, reason });
  if (profile === undefined)
    remark('profile', `device profile ${profileId} is not in the files: its decoder is missing`);
  if (memberAt(value, 'is_disabled') === true)
    remark('state', 'it is disabled there; here it is served');
  const version = loraVersionOf(profile && textAt(profile, 'mac_version'));
  const lora = loraOf(value, {
    deviceId,
    version,
    profile,
    keys: keys.get(deviceId) ?? {},
    activation: activations.get(deviceId) ?? {},
  });
  if (lora['activationMode'] === 'OTAA' && lora['applicationKey'] === undefined)
    remark('key', 'its keys are not in the files');
  const tags = Object.entries(objectAt(value, 'tags') ?? {});
  return {
    place,
    deviceId,
    lora,
    name: textAt(value, 'name') ?? deviceId,
    description: textAt(value, 'description') ?? null,
    type: typeNames.get(profileId) ?? null,
    tags: tags.map(([key, text]) => (text === '' ? key : `${key}: ${String(text)}`)),
    customFields: { ...objectAt(value, 'variables') },
  };
}

interface LoraParts {
  readonly deviceId: string;
  readonly version: string | undefined;
  readonly profile: JsonObject | undefined;
  readonly keys: JsonObject;
  readonly activation: JsonObject;
}

/** Before LoRaWAN 1.1, the member `nwkKey` has the application key. */
function loraOf(device: JsonObject, { profile = {}, ...parts }: LoraParts): JsonObject {
  const { deviceId, version, keys, activation } = parts;
  const isOtaa =
    (memberAt(profile, 'supports_otaa') ?? memberAt(profile, 'supports_join')) !== false;
  const isOld = version !== undefined && !version.startsWith('1.1');
  const applicationKey = isOld
    ? (keyOf(textAt(keys, 'nwk_key')) ?? keyOf(textAt(keys, 'app_key')))
    : (keyOf(textAt(keys, 'app_key')) ?? keyOf(textAt(keys, 'nwk_key')));
  return present({
    deviceEui: deviceId,
    loraVersion: version,
    applicationKey,
    activationMode: isOtaa ? 'OTAA' : 'ABP',
    deviceClass: deviceClassOf(profile),
    joinEui: euiOf(textAt(device, 'join_eui')),
    deviceAddress: textAt(activation, 'dev_addr'),
    applicationSessionKey: keyOf(textAt(activation, 'app_s_key')),
    networkSessionKey:
      keyOf(textAt(activation, 'nwk_s_enc_key')) ?? keyOf(textAt(activation, 'nwk_s_key')),
  });
}

function deviceClassOf(profile: JsonObject): string {
  if (memberAt(profile, 'supports_class_c') === true) return 'C';
  return memberAt(profile, 'supports_class_b') === true ? 'B' : 'A';
}
