// Guarded sockets: connections to targets through the egress guard, to the address that it checked.
import { isIP, type Socket } from 'node:net';
import type { EgressGuard } from '../egress/guard.ts';
import type { Endpoint } from './target-uri.ts';
import type { TlsProperties } from './properties.ts';

/** Certificates, key and server name of a TLS connection to a target. */
export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Absent for an address, which is not a server name. */
  readonly servername?: string;
}

/** TLS towards `host` with the certificates of a connector. */
export function tlsMaterial(properties: TlsProperties, host: string): TlsMaterial {
  const { caCertificate: ca, clientCertificate: cert, clientKey: key } = properties;
  return {
    ...(ca !== null && { ca }),
    ...(cert !== null && { cert }),
    ...(key !== null && { key }),
    ...(isIP(host) === 0 && { servername: host }),
  };
}

/**
 * Resolves with a connected socket, encrypted if `tls` is given. Rejects with `EgressRefused` or a
 * network error.
 */
export function guardedSocket(
  egress: EgressGuard,
  { host, port }: Endpoint,
  tls: TlsMaterial | undefined,
  signal: AbortSignal,
): Promise<Socket> {
  const target = { host, port, signal };
  if (tls === undefined) return egress.connect(target);
  return egress.connectTls(target, { ...tls });
}

/**
 * Resolves with an allowed address of the host. Rejects with `EgressRefused` or an error of the
 * resolver.
 */
export function guardedAddress(egress: EgressGuard, host: string): Promise<string> {
  egress.checkLiteral(host);
  if (isIP(host) !== 0) return Promise.resolve(host);
  return new Promise((resolve, reject) => {
    egress.lookup(host, { all: false }, (error, address) => {
      if (error === null && typeof address === 'string') resolve(address);
      else reject(error ?? new Error(`${host} could not be resolved`));
    });
  });
}
