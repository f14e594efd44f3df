// A host as a user typed it, in the one form that everything after this works with: a lower-case name or a numeric address.
import { isIP } from 'node:net';

export interface Host {
  /** A name, or an address without brackets. */
  readonly name: string;
  readonly isAddress: boolean;
}

/**
 * Reads a host the way browsers do, so that every way to write an address becomes the plain one: decimal, octal and hexadecimal
 * numbers, missing parts, full-width digits, percent signs, IPv6 with and without brackets. Undefined when it is none.
 */
export function readHost(text: string): Host | undefined {
  const host = text.trim();
  // These would end the host for the reader below and start something else.
  if (host === '' || host.length > 300 || /[\s/?#@\\]/.test(host)) return undefined;
  const bracketed = isIP(host) === 6 ? `[${host}]` : host;
  const url = URL.parse(`http://${bracketed}/`);
  if (url === null || url.port !== '' || url.hostname === '') return undefined;
  // The port is left out when it is the scheme's own, so its colon is looked for.
  if (!bracketed.startsWith('[') && bracketed.includes(':')) return undefined;
  const name = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return name === '' ? undefined : { name, isAddress: isIP(name) !== 0 };
}

/** Names that mean this very machine wherever they are asked for (RFC 6761). */
export function isLocalName(name: string): boolean {
  return /^(.*\.)?(localhost|localhost\.localdomain|localhost6|ip6-localhost|ip6-loopback)$/.test(
    name,
  );
}
