// Address check: allows public unicast addresses and those that the operator permits (`EGRESS_ALLOW`).
import { BlockList, isIP } from 'node:net';

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
export type AddressCheck = (address: string) => string | undefined;

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
