// InfluxDB properties: schemas and parser (contract 9).
import type { PropertyReader } from '../property-parser.ts';
import { oneOf, optional, optionalText, text } from '../property-schemas.ts';
import { parseUri } from '../target-uri.ts';
import { parseUser, type UserProperties, userProperties } from '../user-properties.ts';

const versions = ['V1', 'V2'] as const;
const ports = { http: 80, https: 443 };

export type InfluxDbProperties = UserProperties & {
  readonly uri: string;
  /** V1: user and password, if any; V2: token and organization. */
  readonly version: (typeof versions)[number];
  readonly token: string | null;
  readonly orgId: string | null;
  /** V1: the database, or `database/retention policy`. */
  readonly bucket: string;
  readonly measurementName: string;
};

export const influxDbProperties = {
  uri: text('URL: `http://host:port` or `https://host:port`.'),
  version: optional(oneOf(versions)),
  token: optionalText('API token. Required for V2. Secret.'),
  orgId: optionalText('Organization ID. Required for V2.'),
  bucket: text('Bucket. For V1: `database` or `database/retention_policy`.'),
  measurementName: text('Template of the measurement name.'),
  ...userProperties,
};

export function parseInfluxDb(sent: PropertyReader<keyof InfluxDbProperties>): InfluxDbProperties {
  const version = sent.oneOf('version', versions, 'V2');
  const token = versionText(sent, 'token', version);
  if (token !== null && /[^\x21-\x7e]/.test(token))
    sent.refuse('token', 'must contain only printable characters, without spaces');
  const measurementName = sent.needed('measurementName');
  // InfluxDB ignores lines that begin with #, because they are comments.
  if (measurementName.startsWith('#')) sent.refuse('measurementName', 'must not start with #');
  return {
    uri: parseUri(sent, ports, 'with path'),
    version,
    token,
    orgId: versionText(sent, 'orgId', version),
    ...parseUser(sent),
    bucket: sent.needed('bucket'),
    measurementName,
  };
}

function versionText<N extends string>(
  sent: PropertyReader<N>,
  member: N,
  version: InfluxDbProperties['version'],
): string | null {
  if (version === 'V2') return sent.needed(member);
  return sent.text(member);
}
