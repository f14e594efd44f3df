// Host reader: converts the host that a user enters to a lower-case name or a numeric address.
import { isIP } from 'node:net';

export interface Host {
  /** A name, or an address without brackets. */
  readonly name: string;
  readonly isAddress: boolean;
}

/**
 * Reads a host as browsers do, so that every notation of an address becomes the usual one: decimal,
 * octal and hexadecimal numbers, missing parts, full-width digits, percent signs, IPv6 with and
 * without brackets. Undefined if invalid.
 */
export function readHost(text: string): Host | undefined {
  const host = text.trim();
  // The URL parser would end the host at one of these characters.
  if (host === '' || host.length > 300 || /[\s/?#@\\]/.test(host)) return undefined;
  const bracketed = isIP(host) === 6 ? `[${host}]` : host;
  const url = URL.parse(`http://${bracketed}/`);
  if (url === null || url.port !== '' || url.hostname === '') return undefined;
  // The parser removes the default port of the scheme, so a colon is searched for.
  if (!bracketed.startsWith('[') && bracketed.includes(':')) return undefined;
  const name = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  if (name === '') return undefined;
  return { name, isAddress: isIP(name) !== 0 };
}

/** Whether a name always refers to the local machine (RFC 6761). */
export function isLocalName(name: string): boolean {
  return /^(.*\.)?(localhost|localhost\.localdomain|localhost6|ip6-localhost|ip6-loopback)$/.test(
    name,
  );
}

/** Undefined for anything but an http or https URL without user and password. */
export function readHttpUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  return url;
}
