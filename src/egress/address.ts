// Which addresses may be connected to: public unicast ones and those that the operator allows (`EGRESS_ALLOW`), nothing else.
import { BlockList, isIP } from 'node:net';

/** IPv4 ranges that are not the public internet, with the word that a refusal says. */
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

/** IPv6 ranges within 2000::/3, the only public unicast, that are not public after all. */
const forbiddenV6 = [
  ['2001::/32', 'Teredo'],
  ['2001::/23', 'reserved'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['2620:4f:8000::/48', 'reserved'],
  ['3fff::/20', 'documentation'],
  // What the largest clouds answer metadata on has unicast addresses of its own.
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
    const isV4 = isIP(address) === 4;
    list.addSubnet(
      address,
      bits === undefined ? (isV4 ? 32 : 128) : Number(bits),
      isV4 ? 'ipv4' : 'ipv6',
    );
  }
  return list;
}

const listed = [...forbiddenV4, ...forbiddenV6].map(([cidr, word]) => ({
  word,
  list: ranges([cidr]),
}));
const publicV6 = ranges(['2000::/3']);

/** Tells of a numeric address why it may not be connected to; undefined when it may. */
export type AddressCheck = (address: string) => string | undefined;

/** `allow`: CIDR ranges that may be connected to whatever they are; `10.0.0.0/8`, `fd00::/8`, single addresses. */
export function addressCheck(allow: readonly string[]): AddressCheck {
  const allowed = ranges(allow);
  return function check(address: string): string | undefined {
    // A zone names an interface of this machine.
    if (address.includes('%')) return 'link-local';
    const family = isIP(address);
    if (family === 0) return 'not a numeric';
    if (family === 4) return allowed.check(address, 'ipv4') ? undefined : wordOf(address, 'ipv4');
    const inner = innerV4(address);
    if (inner !== undefined) return check(inner);
    if (allowed.check(address, 'ipv6')) return undefined;
    return wordOf(address, 'ipv6') ?? (publicV6.check(address, 'ipv6') ? undefined : 'reserved');
  };
}

function wordOf(address: string, family: 'ipv4' | 'ipv6'): string | undefined {
  return listed.find(({ list }) => list.check(address, family))?.word;
}

/**
 * The IPv4 address that an IPv6 one stands for when packets to it end up there: mapped ones, and those that a translator
 * (64:ff9b::/96) puts into the last four bytes.
 */
function innerV4(address: string): string | undefined {
  // The shortest form has the last four bytes as two groups, of which leading zeros are left out.
  const short = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const found = /^(?:::ffff|64:ff9b:):(?:([0-9a-f]+):)?([0-9a-f]+)$/.exec(short);
  if (found === null) return short === '64:ff9b::' ? '0.0.0.0' : undefined;
  const bytes = [found[1] ?? '0', found[2]!].flatMap((group) => [
    Number.parseInt(group, 16) >> 8,
    Number.parseInt(group, 16) & 255,
  ]);
  return bytes.join('.');
}
