// The properties of each output connector type that can be made: one row a type (contract 9).
import { type OutputConnectorType, propertiesKeys } from '../../model/connector.ts';
import { readDownlinkAction } from '../../connectors/downlink/downlink-action.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';
import {
  readCustomDatabase,
  readMail,
  readMsTeams,
  readSlack,
  readSms,
  readWebhook,
} from './message-properties.ts';
import { neededMembers } from './needed-properties.ts';
import { type PropertyReader, propertyReader } from '../../connectors/property-parser.ts';
import { targetProperties } from './target-properties.ts';

/** What stands in an answer for a secret; sent back in an update it keeps the stored one (contract 35). */
const secretMask = '********';

/** The name old clients know for the custom database's properties (contract 34). */
export const customDatabaseAlias = 'customAkenzaDbProperties';

interface OutputProperties {
  /** Checks what was sent and fills in defaults; throws 400. */
  readonly read: (sent: PropertyReader) => JsonObject;
  /** Members that are secret: texts, or maps whose values are; `a.b` is member b of the object a. */
  readonly secrets: readonly string[];
  /** Maps in which a value is secret when its key says so. */
  readonly secretsByName?: readonly string[];
}

/** Names of headers that carry credentials; any other header is shown, because people look there for mistakes. */
const secretName =
  /auth|key|token|secret|password|passwd|credential|cookie|session|signature|sign$|bearer|jwt/i;

/** Types without a row are not known well enough to be made. */
const rows: Readonly<Partial<Record<OutputConnectorType, OutputProperties>>> = {
  CUSTOM_DATABASE: { read: readCustomDatabase, secrets: [] },
  WEBHOOK: {
    read: readWebhook,
    secrets: [
      'authHeaders',
      'basicCredentials',
      'bearerToken',
      'oauth2.clientSecret',
      'hmacSecret',
    ],
    secretsByName: ['headers'],
  },
  DOWNLINK: { read: ({ sent, refuse }) => readDownlinkAction(sent, refuse), secrets: [] },
  MAIL: { read: readMail, secrets: [] },
  SMS: { read: readSms, secrets: [] },
  // Whoever knows the address of such a webhook can write to the room.
  SLACK: { read: readSlack, secrets: ['webhookUrl'] },
  MS_TEAMS: { read: readMsTeams, secrets: ['notificationUrl'] },
  ...targetProperties,
};

export function hasPropertyRules(type: OutputConnectorType): boolean {
  return rows[type] !== undefined;
}

/** The properties as they are stored; `stored` are those that masks stand for. Throws 400. */
export function readProperties(
  type: OutputConnectorType,
  sent: JsonObject,
  stored: JsonObject | null,
): JsonObject {
  const row = rows[type];
  if (row === undefined)
    throw new Error(`Output connectors of type ${type} have no rule for their properties`);
  const where = propertiesKeys[type as keyof typeof propertiesKeys];
  const properties = unmasked(type, sent, stored);
  const missing =
    neededMembers[type]?.(properties).filter((name) => isMissing(properties[name])) ?? [];
  if (missing.length > 0) {
    throw problem('invalidRequest', {
      reason: missing.map((name) => `body ${where}.${name}: is needed`).join('; '),
    });
  }
  return row.read(propertyReader(properties, where));
}

function isMissing(value: Json | undefined): boolean {
  return value === undefined || value === null || value === '';
}

/** The properties with every secret masked. */
export function masked(type: OutputConnectorType, properties: JsonObject): JsonObject {
  return mapSecrets(type, properties, () => secretMask);
}

/** The sent properties with every mask replaced by the secret it stands for; masks that stand for none stay. */
function unmasked(
  type: OutputConnectorType,
  sent: JsonObject,
  stored: JsonObject | null,
): JsonObject {
  return mapSecrets(type, sent, (secret, path) => {
    const kept =
      secret === secretMask
        ? path.reduce<Json | undefined>(memberOf, stored ?? undefined)
        : undefined;
    return typeof kept === 'string' ? kept : secret;
  });
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

type Replace = (secret: string, path: readonly string[]) => string;

function mapSecrets(
  type: OutputConnectorType,
  properties: JsonObject,
  replace: Replace,
): JsonObject {
  let mapped = properties;
  for (const name of rows[type]?.secrets ?? [])
    mapped = mapMember(mapped, name.split('.'), [], replace);
  for (const name of rows[type]?.secretsByName ?? []) {
    mapped = mapMember(mapped, [name], [], (value, path) =>
      isSecret(path.at(-1)!, value) ? replace(value, path) : value,
    );
  }
  return mapped;
}

/** A header whose name is harmless may still hold what looks like a credential. */
function isSecret(name: string, value: string): boolean {
  return (
    secretName.test(name) ||
    value === secretMask ||
    /^(basic|bearer|token|apikey) \S/i.test(value) ||
    /\S{40,}/.test(value)
  );
}

function mapMember(
  object: JsonObject,
  path: readonly string[],
  above: readonly string[],
  replace: Replace,
): JsonObject {
  const [name = '', ...rest] = path;
  const here = [...above, name];
  const value = object[name];
  if (rest.length > 0)
    return isJsonObject(value)
      ? { ...object, [name]: mapMember(value, rest, here, replace) }
      : object;
  if (typeof value === 'string') return { ...object, [name]: replace(value, here) };
  if (!isJsonObject(value)) return object;
  const texts = Object.entries(value).map(([key, text]) => [
    key,
    typeof text === 'string' ? replace(text, [...here, key]) : text,
  ]);
  return { ...object, [name]: Object.fromEntries(texts) as JsonObject };
}
