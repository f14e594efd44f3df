// LoRa properties of a device: from requests, and in answers (contract 4).
import type { Device } from '../../model/device.ts';
import type { Carrier } from '../../model/integration.ts';
import { isJsonObject, type Json, type JsonObject, objectOrEmpty } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';

const openFields = [
  'carrier',
  'activationMode',
  'loraVersion',
  'deviceClass',
  'deviceEui',
  'deviceAddress',
] as const;
const identityFields = ['applicationEui', 'joinEui'] as const;
const keyFields = [
  'applicationKey',
  'applicationSessionKey',
  'networkSessionKey',
  'forwardingNetworkSessionIntegrityKey',
  'networkSessionEncryptionKey',
  'servingNetworkSessionIntegrityKey',
] as const;
const objectFields = ['actilityProperties', 'ttnProperties'] as const;
const fields: readonly string[] = [...openFields, ...identityFields, ...keyFields, ...objectFields];

/**
 * The known members over the current ones. Null clears all; unknown members are ignored. Throws 400
 * for a wrong type.
 */
export function loraPropertiesFrom(
  current: JsonObject | null,
  sent: Readonly<Record<string, unknown>> | null | undefined,
): JsonObject | null {
  if (sent === undefined) return current;
  if (sent === null) return null;
  const properties: Record<string, Json> = { ...current };
  for (const [name, value] of Object.entries(sent)) {
    // Clients also send members of their own.
    if (!fields.includes(name)) continue;
    const wanted = typeOf(name);
    if (value !== null && (typeof value !== wanted || Array.isArray(value))) {
      throw problem('invalidRequest', {
        reason: `body loraProperties.${name}: must be of type ${wanted}`,
      });
    }
    properties[name] = value as Json;
  }
  return properties;
}

function typeOf(name: string): 'object' | 'string' {
  if ((objectFields as readonly string[]).includes(name)) return 'object';
  return 'string';
}

const actilityDefaults = {
  actilityId: '',
  connectivityPlanId: '',
  deviceProfileId: '',
  motionIndicator: 'NEAR_STATIC',
  routingProfileId: '',
};
const ttnDefaults = {
  deviceId: '',
  phyLoraVersion: '',
  networkServer: '',
  networkServerLabel: '',
  applicationServer: '',
  applicationServerId: '',
  applicationServerLabel: '',
  joinServer: '',
  networkId: '',
  frequencyPlan: '',
  multicast: false,
  support32BitFrameCount: false,
  disablePayloadEncryption: false,
};
/** Strict clients need a value; most devices have these. */
const loraDefaults = { activationMode: 'OTAA', deviceClass: 'A', loraVersion: '1.0.2' } as const;

/**
 * Every member for a LoRa device, so that strict clients can read it (contract 36): `carrier` is
 * that of its connector where none is stored. Keys only for those who may change the device. Null
 * for other devices without any.
 */
export function loraPropertiesView(
  device: Pick<Device, 'connectivity' | 'deviceId' | 'loraProperties'>,
  carrier: Carrier | null,
  keysShown: boolean,
): JsonObject | null {
  if (device.loraProperties === null && device.connectivity !== 'LORA') return null;
  const stored = device.loraProperties ?? {};
  const shown: Record<string, Json> = Object.fromEntries(
    fields.map((name) => [name, stored[name] ?? null]),
  );
  if (!keysShown) for (const name of keyFields) shown[name] = null;
  if (device.connectivity !== 'LORA') return shown;
  const known = shown['carrier'] ?? carrier;
  const isActility = known === 'GENERIC_ACTILITY' || known === 'SWISSCOM_ACTILITY';
  return {
    ...shown,
    carrier: known,
    deviceEui: shown['deviceEui'] || device.deviceId,
    activationMode: shown['activationMode'] || loraDefaults.activationMode,
    deviceClass: shown['deviceClass'] || loraDefaults.deviceClass,
    loraVersion: shown['loraVersion'] || loraDefaults.loraVersion,
    actilityProperties: filled(shown['actilityProperties'], actilityDefaults, isActility),
    ttnProperties: filled(shown['ttnProperties'], ttnDefaults, known === 'TTN'),
  };
}

/** The stored object over the defaults; null when there is none and none is needed. */
function filled(
  stored: Json | undefined,
  defaults: JsonObject,
  isNeeded: boolean,
): JsonObject | null {
  if (!isJsonObject(stored) && !isNeeded) return null;
  const given = Object.entries(objectOrEmpty(stored)).filter(([, value]) => value !== null);
  return { ...defaults, ...Object.fromEntries(given) };
}
