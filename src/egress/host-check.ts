// Host check: the checked addresses of a host that a user may choose.
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { addressCheck } from './address.ts';
import { EgressRefused } from './egress-refused.ts';
import { type Host, isLocalName, readHost } from './host.ts';

interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>;

/** Both methods fail with EgressRefused. */
export interface HostCheck {
  /** Checks everything that can be checked without a name lookup. */
  checkedHost(text: string): Host;
  /**
   * All addresses of the host, after each of them is checked: one forbidden address refuses the
   * host.
   */
  addressesOf(text: string): Promise<readonly ResolvedAddress[]>;
}

export interface HostCheckOptions {
  /** CIDR ranges that may be reached although they are not public (`EGRESS_ALLOW`). */
  readonly allow: readonly string[];
  readonly resolve?: Resolve;
}

export function createHostCheck({ allow, resolve = resolveBySystem }: HostCheckOptions): HostCheck {
  const check = addressCheck(allow);

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

  return {
    checkedHost,
    async addressesOf(text) {
      const host = checkedHost(text);
      if (host.isAddress) return [{ address: host.name, family: isIP(host.name) }];
      const addresses = await resolve(host.name);
      if (addresses.length === 0) throw new Error(`${host.name} has no address`);
      for (const { address } of addresses) checkAddress(address, host.name);
      return addresses;
    },
  };
}

async function resolveBySystem(host: string): Promise<readonly ResolvedAddress[]> {
  return systemLookup(host, { all: true });
}
