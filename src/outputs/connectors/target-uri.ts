// Target URIs: host, port and path out of the address that the owner of a connector entered.
import type { PropertyReader } from './properties.ts';

/** A host and port; IPv6 addresses without brackets. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export interface TargetUri extends Endpoint {
  /** Without the colon. */
  readonly scheme: string;
  /** Without the leading slash, decoded; empty without one. */
  readonly path: string;
}

/** Schemes that are allowed, with the ports they have if none is given. */
type SchemePorts = Readonly<Record<string, number>>;

/**
 * What the names of hosts may consist of; programs do not agree on the meaning of anything else.
 */
const hostForm = /^(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_.])?|[0-9a-f:.]+)$/i;

/**
 * Reads `scheme://host[:port][/path]`. Undefined for anything else, also for user names, passwords,
 * queries and fragments, because those have properties of their own.
 */
export function targetUri(text: string, ports: SchemePorts): TargetUri | undefined {
  const url = URL.parse(text);
  if (
    url === null ||
    [url.username, url.password, url.search, url.hash].some((part) => part !== '')
  )
    return undefined;
  const scheme = url.protocol.slice(0, -1);
  const usualPort = ports[scheme];
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const path = decoded(url.pathname.replace(/^\//, ''));
  if (usualPort === undefined || path === undefined || !hostForm.test(host)) return undefined;
  return { scheme, host, port: Number(url.port || usualPort), path };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Returns the member `uri` as it was sent. Throws unless it is a URI with one of these schemes. */
export function parseUri(
  sent: PropertyReader<'uri'>,
  ports: SchemePorts,
  path: 'with path' | 'without path',
): string {
  const uri = sent.needed('uri');
  const target = targetUri(uri, ports);
  const hasPath = path === 'with path';
  if (target === undefined || (target.path !== '' && !hasPath)) {
    const form = hasPath ? '://host:port/path' : '://host:port';
    const forms = Object.keys(ports).map((scheme) => scheme + form);
    sent.refuse('uri', `must be ${forms.join(' or ')}, without credentials`);
  }
  return uri;
}
