// The address of a client that asks for a WebSocket, which no framework has looked at.
import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';

/** The address that counts: behind trusted proxies, the nearest that is none of them. */
export function clientAddress(
  trustedProxies: readonly string[],
): (request: IncomingMessage) => string {
  const trusted = new BlockList();
  for (const range of trustedProxies) {
    const [address = '', bits] = range.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(bits), family);
  }
  const isTrusted = (address: string) => {
    const plain = address.replace(/^::ffff:/i, '');
    return trusted.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
  };
  return ({ socket, headers }) => {
    const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
    const hops = [
      ...forwarded.map((hop) => hop.trim()).filter((hop) => hop !== ''),
      socket.remoteAddress ?? '',
    ];
    while (hops.length > 1 && isTrusted(hops.at(-1)!)) hops.pop();
    return hops.at(-1)!;
  };
}
