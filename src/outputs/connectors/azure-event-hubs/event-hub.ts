// Event Hub: host, name and key out of a connection string.
import { targetUri } from '../target-uri.ts';

export interface EventHub {
  readonly host: string;
  readonly hub: string;
  readonly keyName: string;
  readonly key: string;
}

const httpsPort = 443;

/** Reads the connection string of an Event Hub; undefined when a part is missing. */
export function eventHub(connectionString: string): EventHub | undefined {
  const parts = new Map(connectionString.split(';').map(namedPart));
  const endpoint = targetUri(parts.get('endpoint') ?? '', { sb: httpsPort });
  const hub = parts.get('entitypath');
  const keyName = parts.get('sharedaccesskeyname');
  const key = parts.get('sharedaccesskey');
  if (endpoint === undefined || endpoint.path !== '' || !hub || !keyName || !key) return undefined;
  return { host: authorityOf(endpoint), hub, keyName, key };
}

function namedPart(part: string): readonly [name: string, value: string] {
  const end = part.indexOf('=');
  return [part.slice(0, end).trim().toLowerCase(), part.slice(end + 1).trim()];
}

function authorityOf({ host, port }: { readonly host: string; readonly port: number }): string {
  const name = host.replace(/^(.*:.*)$/, '[$1]');
  if (port === httpsPort) return name;
  return `${name}:${port}`;
}
