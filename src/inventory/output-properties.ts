// The properties of each output connector type that can be made: one row a type (contract 9).
import type { OutputConnectorType } from '../model/connector.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { problem } from '../model/problem.ts';

/** What stands in an answer for a secret; sent back in an update it keeps the stored one (contract 35). */
const secretMask = '********';

/** Where each type's properties stand in a record; types without a row have none. */
export const propertiesKeys = {
  CUSTOM_DATABASE: 'customDatabaseProperties',
  WEBHOOK: 'webhookProperties',
  MAIL: 'mailProperties',
  SMS: 'smsProperties',
  DOWNLINK: 'downlinkProperties',
  AZURE: 'azureProperties',
  GCP: 'gcpProperties',
  AMAZON_KINESIS: 'amazonKinesisProperties',
  INFLUX_DB: 'influxProperties',
  KAFKA: 'kafkaProperties',
  MS_TEAMS: 'msTeamsProperties',
  SLACK: 'slackProperties',
  SQL: 'sqlProperties',
} as const satisfies Partial<Record<OutputConnectorType, string>>;

export type PropertiesKey = (typeof propertiesKeys)[keyof typeof propertiesKeys];

/** The name old clients know for the custom database's properties (contract 34). */
export const customDatabaseAlias = 'customAkenzaDbProperties';

interface OutputProperties {
  /** Checks what was sent and fills in defaults; throws 400. */
  readonly read: (sent: JsonObject) => JsonObject;
  /** Members that are secret: texts, or maps whose values are. */
  readonly secrets: readonly string[];
}

/** Types without a row are not known well enough to be made. */
export const outputProperties: Readonly<Partial<Record<OutputConnectorType, OutputProperties>>> = {
  CUSTOM_DATABASE: { read: readCustomDatabase, secrets: [] },
  WEBHOOK: { read: readWebhook, secrets: ['headers', 'authHeaders', 'basicCredentials', 'bearerToken'] },
};

function refuse(member: string, reason: string): never {
  throw problem('invalidRequest', { reason: `body ${member}: ${reason}` });
}

function textOf(sent: JsonObject, name: string, where: string): string | null {
  const value = sent[name] ?? null;
  return value === null || typeof value === 'string' ? value : refuse(`${where}.${name}`, 'must be a text');
}

function flagOf(sent: JsonObject, name: string, where: string): boolean {
  const value = sent[name] ?? false;
  return typeof value === 'boolean' ? value : refuse(`${where}.${name}`, 'must be true or false');
}

function textsOf(sent: JsonObject, name: string, where: string): Readonly<Record<string, string>> {
  const value = sent[name] ?? {};
  if (!isJsonObject(value)) refuse(`${where}.${name}`, 'must be an object of texts');
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== 'string') refuse(`${where}.${name}.${key}`, 'must be a text');
  }
  return value as Readonly<Record<string, string>>;
}

function oneOf(value: string | null, allowed: readonly string[], fallback: string, where: string): string {
  if (value === null) return fallback;
  return allowed.includes(value) ? value : refuse(where, `must be one of ${allowed.join(', ')}`);
}

function readCustomDatabase(sent: JsonObject): JsonObject {
  const where = propertiesKeys.CUSTOM_DATABASE;
  const topic = textOf(sent, 'topic', where);
  if (topic === null || topic === '') refuse(`${where}.topic`, 'is needed');
  const targetDeviceId = textOf(sent, 'targetDeviceId', where);
  const useCurrentDevice =
    sent['useCurrentDevice'] === undefined ? targetDeviceId === null : flagOf(sent, 'useCurrentDevice', where);
  if (!useCurrentDevice && targetDeviceId === null) {
    refuse(`${where}.targetDeviceId`, 'is needed when useCurrentDevice is false');
  }
  return { topic, targetDeviceId, useCurrentDevice };
}

function readWebhook(sent: JsonObject): JsonObject {
  const where = propertiesKeys.WEBHOOK;
  const uri = textOf(sent, 'uri', where);
  if (uri === null) refuse(`${where}.uri`, 'is needed');
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') refuse(`${where}.uri`, 'must be an http or https URL');
  const authType = oneOf(
    textOf(sent, 'authType', where),
    ['BEARER', 'HEADER', 'BASIC', 'NONE'],
    'NONE',
    `${where}.authType`,
  );
  const webhook: Readonly<Record<string, Json>> = {
    uri,
    method: oneOf(textOf(sent, 'method', where), ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], 'POST', `${where}.method`),
    contentType: oneOf(textOf(sent, 'contentType', where), ['JSON'], 'JSON', `${where}.contentType`),
    headers: textsOf(sent, 'headers', where),
    authType,
    authHeaders: textsOf(sent, 'authHeaders', where),
    basicCredentials: textOf(sent, 'basicCredentials', where),
    bearerToken: textOf(sent, 'bearerToken', where),
    customPayload: textOf(sent, 'customPayload', where),
    useCustomPayload: flagOf(sent, 'useCustomPayload', where),
  };
  if (authType === 'BEARER' && webhook['bearerToken'] === null) refuse(`${where}.bearerToken`, 'is needed for BEARER');
  if (authType === 'BASIC' && !(webhook['basicCredentials'] as string | null)?.includes(':')) {
    refuse(`${where}.basicCredentials`, 'must be user:password for BASIC');
  }
  return webhook;
}

/** The properties with every secret masked. */
export function masked(type: OutputConnectorType, properties: JsonObject): JsonObject {
  return mapSecrets(type, properties, () => secretMask);
}

/** The sent properties with every mask replaced by the secret it stands for; masks that stand for none stay. */
export function unmasked(type: OutputConnectorType, sent: JsonObject, stored: JsonObject | null): JsonObject {
  return mapSecrets(type, sent, (secret, name, key) => {
    if (secret !== secretMask) return secret;
    const kept = stored?.[name];
    const value = key === undefined ? kept : isJsonObject(kept) ? kept[key] : undefined;
    return typeof value === 'string' ? value : secret;
  });
}

function mapSecrets(
  type: OutputConnectorType,
  properties: JsonObject,
  replace: (secret: string, name: string, key?: string) => string,
): JsonObject {
  const mapped: Record<string, Json> = { ...properties };
  for (const name of outputProperties[type]?.secrets ?? []) {
    const value = properties[name];
    if (typeof value === 'string') mapped[name] = replace(value, name);
    if (!isJsonObject(value)) continue;
    mapped[name] = Object.fromEntries(
      Object.entries(value).map(([key, secret]) => [
        key,
        typeof secret === 'string' ? replace(secret, name, key) : secret,
      ]),
    );
  }
  return mapped;
}
