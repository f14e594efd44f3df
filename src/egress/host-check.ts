// Host check: the checked addresses of a host that a user may choose.
import { lookup as systemLookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { addressCheck } from './address.ts';
import { EgressRefused } from './egress-refused.ts';
import { type Host, isLocalName, readHost } from './host.ts';

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

/** All methods fail with EgressRefused. */
export interface HostCheck {
  /** Checks everything that can be checked without a name lookup. */
  checkedHost(text: string): Host;
  /**
   * All addresses of the host, after each of them is checked: one forbidden address refuses the
   * host.
   */
  addressesOf(text: string): Promise<readonly ResolvedAddress[]>;
  /** The same for a port, which is refused where it is one of the platform's own. */
  placesOf(text: string, port: number): Promise<readonly ResolvedAddress[]>;
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

export function createHostCheck({
  allow,
  onlyAllowed = false,
  own = [],
  resolve = resolveBySystem,
}: HostCheckOptions): HostCheck {
  const check = addressCheck(allow, onlyAllowed);

  function checkAddress(address: string, host: string): void {
    const reason = check(address);
    if (reason !== undefined) throw new EgressRefused(host, reason);
  }

  function checkedHost(text: string): Host {
    const host = readHost(text);
    if (host === undefined) throw new EgressRefused(text, 'unreadable');
    if (host.isAddress) checkAddress(host.name, host.name);
    else if (isLocalName(host.name)) checkAddress('127.0.0.1', host.name);
    return host;
  }

  async function refuseOwn(host: string, port: number, addresses: readonly ResolvedAddress[]) {
    for (const place of own) {
      if (place.port !== port) continue;
      const known = place.host === undefined ? [] : await knownAddresses(place.host, resolve);
      const isOwn = ({ address }: ResolvedAddress) =>
        place.host === undefined ? isOfThisMachine(address) : known.includes(plainOf(address));
      if (addresses.some(isOwn)) throw new EgressRefused(`${host}:${port}`, "the platform's own");
    }
  }

  const addresses = {
    checkedHost,
    async addressesOf(text: string) {
      const host = checkedHost(text);
      if (host.isAddress) return [{ address: host.name, family: isIP(host.name) }];
      const found = await resolve(host.name);
      if (found.length === 0) throw new Error(`${host.name} could not be resolved`);
      for (const { address } of found) checkAddress(address, host.name);
      return found;
    },
  };
  return {
    ...addresses,
    async placesOf(text, port) {
      const found = await addresses.addressesOf(text);
      await refuseOwn(text, port, found);
      return found;
    },
  };
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
