// LoRa properties of a device: what is taken, and what an answer shows (contract 4).
import type { Json, JsonObject } from '../model/json.ts';
import { problem } from '../model/problem.ts';

const openFields = ['carrier', 'activationMode', 'loraVersion', 'deviceClass', 'deviceEui', 'deviceAddress'] as const;
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

/** The known members over the current ones; null clears all, unknown ones are passed over. Throws 400 for a wrong type. */
export function loraPropertiesFrom(
  current: JsonObject | null,
  sent: Readonly<Record<string, unknown>> | null | undefined,
): JsonObject | null {
  if (sent === undefined) return current;
  if (sent === null) return null;
  const properties: Record<string, Json> = { ...current };
  for (const [name, value] of Object.entries(sent)) {
    // Clients send members of their own, as everywhere.
    if (!fields.includes(name)) continue;
    const wanted = (objectFields as readonly string[]).includes(name) ? 'object' : 'string';
    if (value !== null && (typeof value !== wanted || Array.isArray(value))) {
      throw problem('invalidRequest', { reason: `body loraProperties.${name}: must be of type ${wanted}` });
    }
    properties[name] = value as Json;
  }
  return properties;
}

/** Every member, absent ones null; keys only for those who may change the device. */
export function loraPropertiesView(properties: JsonObject | null, keysShown: boolean): JsonObject | null {
  if (properties === null) return null;
  const hidden: readonly string[] = keysShown ? [] : keyFields;
  return Object.fromEntries(fields.map((name) => [name, hidden.includes(name) ? null : (properties[name] ?? null)]));
}
