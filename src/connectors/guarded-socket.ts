// Sockets to targets, opened through the egress guard: the address that was checked is the address that is connected to.
import { isIP, type Socket } from 'node:net';
import { problem } from '../model/problem.ts';
import type { Endpoint } from './target-address.ts';
import type { TlsProperties } from '../model/target-properties.ts';
import type { EgressGuard } from '../egress/guard.ts';

/** What TLS to a target needs: whom to trust, who we are, and whom the certificate must name. */
export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Absent for an address, which is not a server name. */
  readonly servername?: string;
}

/** TLS towards `host` with the certificates of a connector. */
export function tlsMaterial(properties: TlsProperties, host: string): TlsMaterial {
  const { caCertificate, clientCertificate, clientKey } = properties;
  return {
    ...(caCertificate === null ? {} : { ca: caCertificate }),
    ...(clientCertificate === null ? {} : { cert: clientCertificate }),
    ...(clientKey === null ? {} : { key: clientKey }),
    ...(isIP(host) === 0 ? { servername: host } : {}),
  };
}

/** Throws a Problem (400) for an address that cannot be read or may not be connected to; `where` names the property. */
export function checkTarget(
  egress: EgressGuard,
  target: Endpoint | undefined,
  where: string,
): void {
  if (target === undefined)
    throw problem('invalidRequest', { reason: `body ${where}: is no address of a target` });
  egress.checkLiteral(target.host);
}

/** A connected socket; with `tls` it is encrypted from the start. Rejects with EgressRefused or the network's error. */
export function guardedSocket(
  egress: EgressGuard,
  { host, port }: Endpoint,
  tls: TlsMaterial | undefined,
  signal: AbortSignal,
): Promise<Socket> {
  const target = { host, port, signal };
  return tls === undefined ? egress.connect(target) : egress.connectTls(target, { ...tls });
}

/** An address of the host that may be connected to; rejects with EgressRefused or the resolver's error. */
export function guardedAddress(egress: EgressGuard, host: string): Promise<string> {
  egress.checkLiteral(host);
  if (isIP(host) !== 0) return Promise.resolve(host);
  return new Promise((resolve, reject) => {
    egress.lookup(host, { all: false }, (error, address) => {
      if (error === null && typeof address === 'string') resolve(address);
      else reject(error ?? new Error(`${host} has no address`));
    });
  });
}
