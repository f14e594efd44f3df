// Host check: the checked addresses of a host that a user may choose.
import { lookup as systemLookup } from 'node:dns/promises';
import { BlockList, connect as netConnect, isIP, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { connect as tlsConnect, type ConnectionOptions, type TLSSocket } from 'node:tls';

// Address check: allows public unicast addresses and those that the operator permits (`EGRESS_ALLOW`).

/** IPv4 ranges that are not the public internet, with the reason for the message. */
const forbiddenV4 = [
  ['0.0.0.0/8', 'unspecified'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'carrier-grade NAT'],
  ['127.0.0.0/8', 'loopback'],
  ['168.63.129.16/32', 'cloud metadata'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'documentation'],
  ['192.31.196.0/24', 'reserved'],
  ['192.52.193.0/24', 'reserved'],
  ['192.88.99.0/24', '6to4 relay'],
  ['192.168.0.0/16', 'private'],
  ['192.175.48.0/24', 'reserved'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
] as const;

/**
 * IPv6 ranges that are not public. Most are in 2000::/3, the only range of public unicast
 * addresses.
 */
const forbiddenV6 = [
  ['2001::/32', 'Teredo'],
  ['2001::/23', 'reserved'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['2620:4f:8000::/48', 'reserved'],
  ['3fff::/20', 'documentation'],
  // The metadata service of a large cloud has an address of its own.
  ['fd00:ec2::254/128', 'cloud metadata'],
  ['fe80::/10', 'link-local'],
  ['fec0::/10', 'site-local'],
  ['fc00::/7', 'private'],
  ['ff00::/8', 'multicast'],
  ['::1/128', 'loopback'],
  ['::/128', 'unspecified'],
] as const;

function ranges(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', bits] = cidr.split('/');
    if (isIP(address) === 4) list.addSubnet(address, Number(bits ?? 32), 'ipv4');
    else list.addSubnet(address, Number(bits ?? 128), 'ipv6');
  }
  return list;
}

const listed = [...forbiddenV4, ...forbiddenV6].map(([cidr, word]) => ({
  word,
  list: ranges([cidr]),
}));
const publicV6 = ranges(['2000::/3']);

/** Returns why connections to a numeric address are forbidden; undefined if they are allowed. */
type AddressCheck = (address: string) => string | undefined;

/**
 * `allow`: CIDR ranges that are allowed in any case; `10.0.0.0/8`, `fd00::/8`, single addresses.
 * With `onlyAllowed` public addresses are not.
 */
export function addressCheck(allow: readonly string[], onlyAllowed = false): AddressCheck {
  const allowed = ranges(allow);
  const unlisted = onlyAllowed ? 'not an allowed' : undefined;
  return function check(address: string): string | undefined {
    // A zone names an interface of this machine.
    if (address.includes('%')) return 'link-local';
    const family = isIP(address);
    if (family === 0) return 'not a numeric';
    if (family === 4) {
      if (allowed.check(address, 'ipv4')) return undefined;
      return forbiddenRange(address, 'ipv4') ?? unlisted;
    }
    const inner = innerV4(address);
    if (inner !== undefined) return check(inner);
    if (allowed.check(address, 'ipv6')) return undefined;
    const word = forbiddenRange(address, 'ipv6');
    if (word === undefined && !publicV6.check(address, 'ipv6')) return 'reserved';
    return word ?? unlisted;
  };
}

function forbiddenRange(address: string, family: 'ipv4' | 'ipv6'): string | undefined {
  return listed.find(({ list }) => list.check(address, family))?.word;
}

/**
 * The IPv4 address that receives the packets to an IPv6 address: a mapped address, or one that a
 * translator (64:ff9b::/96) takes from the last four bytes.
 */
function innerV4(address: string): string | undefined {
  // The shortest form contains the last four bytes as two groups without leading zeros.
  const short = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  if (short === '64:ff9b::') return '0.0.0.0';
  const found = /^(?:::ffff|64:ff9b:):(?:([0-9a-f]+):)?([0-9a-f]+)$/.exec(short);
  if (found === null) return undefined;
  const [, high = '0', low = '0'] = found;
  const bytes = [high, low].flatMap((group) => [
    Number.parseInt(group, 16) >> 8,
    Number.parseInt(group, 16) & 255,
  ]);
  return bytes.join('.');
}

interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>;

/** A port of the platform, or of a database that is for it alone. */
export interface OwnPlace {
  /** Undefined for a port of this machine. */
  readonly host: string | undefined;
  readonly port: number;
}

export interface HostCheckOptions {
  /** CIDR ranges that may be reached although they are not public (`EGRESS_ALLOW`). */
  readonly allow: readonly string[];
  /** Whether nothing else may be reached (`EGRESS_ONLY_ALLOWED`). */
  readonly onlyAllowed?: boolean | undefined;
  /** Never reached, whatever is allowed: they trust whoever reaches them. */
  readonly own?: readonly OwnPlace[] | undefined;
  readonly resolve?: Resolve;
}

/** All methods fail with EgressRefused. */
export class HostCheck {
  /** Why an address is forbidden; undefined for an allowed one. */
  readonly #reasonOf: (address: string) => string | undefined;
  readonly #own: readonly OwnPlace[];
  readonly #resolve: Resolve;

  constructor({
    allow,
    onlyAllowed = false,
    own = [],
    resolve = resolveBySystem,
  }: HostCheckOptions) {
    this.#reasonOf = addressCheck(allow, onlyAllowed);
    this.#own = own;
    this.#resolve = resolve;
  }

  /** Checks everything that can be checked without a name lookup. */
  checkedHost(text: string): Host {
    const host = readHost(text);
    if (host === undefined) throw new EgressRefused(text, 'unreadable');
    if (host.isAddress) this.#checkAddress(host.name, host.name);
    else if (isLocalName(host.name)) this.#checkAddress('127.0.0.1', host.name);
    return host;
  }

  /**
   * All addresses of the host, after each of them is checked: one forbidden address refuses the
   * host.
   */
  async addressesOf(text: string): Promise<readonly ResolvedAddress[]> {
    const host = this.checkedHost(text);
    if (host.isAddress) return [{ address: host.name, family: isIP(host.name) }];
    const found = await this.#resolve(host.name);
    if (found.length === 0) throw new Error(`${host.name} could not be resolved`);
    for (const { address } of found) this.#checkAddress(address, host.name);
    return found;
  }

  /** The same for a port, which is refused where it is one of the platform's own. */
  async placesOf(text: string, port: number): Promise<readonly ResolvedAddress[]> {
    const found = await this.addressesOf(text);
    await this.#refuseOwn(text, port, found);
    return found;
  }

  #checkAddress(address: string, host: string): void {
    const reason = this.#reasonOf(address);
    if (reason !== undefined) throw new EgressRefused(host, reason);
  }

  async #refuseOwn(host: string, port: number, addresses: readonly ResolvedAddress[]) {
    for (const place of this.#own) {
      if (place.port !== port) continue;
      const known = place.host === undefined ? [] : await knownAddresses(place.host, this.#resolve);
      const isOwn = ({ address }: ResolvedAddress) =>
        place.host === undefined ? isOfThisMachine(address) : known.includes(plainOf(address));
      if (addresses.some(isOwn)) throw new EgressRefused(`${host}:${port}`, "the platform's own");
    }
  }
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('0.0.0.0', 'ipv4');
loopback.addAddress('::1', 'ipv6');
loopback.addAddress('::', 'ipv6');

/** An IPv4 address in IPv6 as IPv4. */
function plainOf(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*/, '');
}

function isOfThisMachine(address: string): boolean {
  const plain = plainOf(address);
  if (loopback.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4')) return true;
  const known = Object.values(networkInterfaces()).flat();
  return known.some((one) => one?.address === plain);
}

/** None of a name that cannot be resolved now: nobody reaches it by that name either. */
async function knownAddresses(host: string, resolve: Resolve): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [plainOf(host)];
  try {
    return (await resolve(host)).map(({ address }) => plainOf(address));
  } catch {
    return [];
  }
}

async function resolveBySystem(host: string): Promise<readonly ResolvedAddress[]> {
  return systemLookup(host, { all: true });
}

// Host reader: converts the host that a user enters to a lower-case name or a numeric address.

interface Host {
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

// EgressRefused: the error for a forbidden target. It is permanent, in contrast to a network error.

export class EgressRefused extends Error {
  override readonly name = 'EgressRefused';
  readonly host: string;
  readonly reason: string;

  constructor(host: string, reason: string) {
    super(`connections to ${host} are blocked (${reason} address)`);
    this.host = host;
    this.reason = reason;
  }
}

// Guarded connections: TCP and TLS sockets to the checked addresses of a host.

const connectionLimits = {
  /** For name, connection and TLS together; a request has its own limit above this. */
  connectTimeoutMs: 8_000,
  /** Addresses of one name that are tried, one after the other. */
  addressesTriedMax: 4,
} as const;

interface EgressTarget {
  readonly host: string;
  readonly port: number;
  readonly signal?: AbortSignal;
}

export class GuardedConnections {
  readonly #hosts: HostCheck;

  constructor(hosts: HostCheck) {
    this.#hosts = hosts;
  }

  /** A connected socket to a checked address; rejects with EgressRefused or the network's error. */
  async connect({ host, port, signal }: EgressTarget): Promise<Socket> {
    const ends = withTimeout(signal);
    const addresses = await until(ends, this.#hosts.placesOf(host, port));
    let failure: unknown;
    for (const { address } of addresses.slice(0, connectionLimits.addressesTriedMax)) {
      try {
        return await connected(netConnect({ host: address, port, noDelay: true }), 'connect', ends);
      } catch (error) {
        failure = error;
        if (ends.aborted) break;
      }
    }
    throw failure;
  }

  /** The same with TLS on top: the certificate is checked for `servername`, by default the host. */
  async connectTls(target: EgressTarget, tls: ConnectionOptions = {}): Promise<TLSSocket> {
    const socket = await this.connect(target);
    const ends = withTimeout(target.signal);
    const secured = tlsConnect({ ...tlsHost(target.host), ...tls, socket });
    return connected(secured, 'secureConnect', ends);
  }
}

/** Addresses have no server name indication. */
function tlsHost(text: string): ConnectionOptions {
  const host = readHost(text);
  if (host === undefined) return { host: text };
  if (host.isAddress) return { host: host.name };
  return { host: host.name, servername: host.name };
}

function withTimeout(signal: AbortSignal | undefined): AbortSignal {
  const timeout = AbortSignal.timeout(connectionLimits.connectTimeoutMs);
  if (signal === undefined) return timeout;
  return AbortSignal.any([signal, timeout]);
}

/** Resolves with the socket after the event; destroys the socket if the event does not come. */
function connected<S extends Socket>(
  socket: S,
  event: 'connect' | 'secureConnect',
  ends: AbortSignal,
): Promise<S> {
  const done = new Promise<S>((resolve, reject) => {
    socket.once(event, () => resolve(socket));
    socket.once('error', reject);
    socket.once('close', () =>
      reject(new Error('The connection was closed before it was established')),
    );
  });
  return until(ends, done).catch((error: unknown) => {
    socket.destroy();
    throw error;
  });
}

function until<T>(ends: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(ends.reason as Error);
    if (ends.aborted) stop();
    ends.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => ends.removeEventListener('abort', stop));
  });
}
