// Network of an address: the range that one host gets without asking, which limits count as one.

/** IPv6 by its /64, an IPv4 address inside IPv6 as IPv4; anything else as it is. */
export function networkOf(ip: string): string {
  return rangeOf(ip, 64);
}

/** IPv6 by the /56 that one customer of a provider gets, which has 256 networks; else as `networkOf`. */
export function siteOf(ip: string): string {
  return rangeOf(ip, 56);
}

function rangeOf(ip: string, bits: 56 | 64): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped !== undefined) return mapped;
  if (!ip.includes(':')) return ip;
  const [head = '', tail] = ip.replace(/%.*/, '').toLowerCase().split('::');
  const groups = groupsOf(head);
  if (tail !== undefined) {
    const last = groupsOf(tail);
    while (groups.length + last.length < 8) groups.push('0');
    groups.push(...last);
  }
  const network = groups.slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ''));
  if (bits === 64) return `${network.join(':')}::/64`;
  // The last byte of four groups names the network of the site.
  const site = (Number.parseInt(network[3] ?? '0', 16) & 0xff_00).toString(16);
  return `${[...network.slice(0, 3), site].join(':')}::/56`;
}

function groupsOf(part: string): string[] {
  return part.split(':').filter((group) => group !== '');
}
