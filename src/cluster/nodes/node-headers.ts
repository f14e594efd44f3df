// Node headers: what one node adds to a request to another one, and what of a client's it omits.

export const nodeHeaders = {
  /** Proves that a node of the same cluster sends, and what. */
  signature: 'heliograph-node-signature',
  /** The id of the node that sends. */
  from: 'heliograph-node',
  /** Of a call: the same when it is sent again. */
  call: 'heliograph-call',
  /** Of a forwarded request: the lease that the receiver must hold. */
  lease: 'heliograph-lease',
  /** Of a forwarded request: where it came from. */
  address: 'heliograph-client-address',
  /** Of the answer 421. */
  notHeld: 'heliograph-not-held',
  /** Of an answer to a request that was refused by its signature: the run to sign for. */
  run: 'heliograph-node-run',
} as const;

export const callPath = '/node/calls/';
export const linkPath = '/node/links';
/** The name of the call that only makes two nodes know each other's runs. */
export const meetCall = 'meet';

/** Headers of one connection, which another connection has for itself (RFC 9110, section 7.6.1). */
const ofConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'proxy-authenticate',
  'proxy-authorization',
]);
const own = new Set<string>(Object.values(nodeHeaders));

/** Headers of a client that go to another node. A client cannot send those of nodes. */
export function* passedHeaders(raw: readonly string[]): Iterable<string> {
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = '', value = ''] = [raw[at], raw[at + 1]];
    const key = name.toLowerCase();
    if (!ofConnection.has(key) && !own.has(key)) yield* [name, value];
  }
}

/** Headers of an answer that go back to the client. */
export function answerHeaders<T>(headers: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name)));
}

/** What of a forwarded request is signed besides its method, path and body. */
export function aboutForwarded(lease: string, address: string): string {
  return `${lease} ${address}`;
}

/** The same headers, of a body that is so many bytes longer. */
export function longer(raw: readonly string[], bytes: number): string[] {
  return raw.map((value, at) =>
    at % 2 === 1 && raw[at - 1]?.toLowerCase() === 'content-length'
      ? String(Number(value) + bytes)
      : value,
  );
}
