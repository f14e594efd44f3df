// Certificates: read from their files at the start, and again when they change, for each port that speaks TLS.
import { createSecureContext } from 'node:tls';
import { type CertificateSetting, ConfigError, fileOf } from './config/config-values.ts';
import {
  type Certificate,
  type CertificateFiles,
  createCertificateWatch,
} from '../structures/certificate-watch.ts';
import { setRepeatingTimer } from '../structures/timers.ts';
import type { Telemetry } from '../telemetry/events.ts';

const lookEveryMs = 10_000;

/** Throws ConfigError for files that cannot be read, or do not belong together. */
export function readCertificate({ names, cert, key }: CertificateSetting): Certificate {
  const certificate = { cert: fileOf(names.cert, cert), key: fileOf(names.key, key) };
  try {
    createSecureContext(certificate);
  } catch (error) {
    throw new ConfigError(
      `${names.cert}=${cert} and ${names.key}=${key} are invalid or do not match: ${(error as Error).message}`,
    );
  }
  return certificate;
}

/** `what` is the port in the log. Returns a function that ends it. */
export function followCertificate(
  {
    what,
    files,
    inUse,
    renew,
  }: {
    readonly what: string;
    readonly files: CertificateFiles;
    readonly inUse: Certificate;
    /** Throws when the certificate cannot be used. */
    readonly renew: (certificate: Certificate) => void;
  },
  telemetry: Telemetry,
): () => void {
  const look = createCertificateWatch(files, inUse, {
    renew,
    renewed: () => telemetry.certificateRenewed(what),
    failed: (error) => telemetry.backgroundFailed(`renewing the certificate of ${what}`, error),
  });
  return setRepeatingTimer(() => void look(), lookEveryMs);
}
