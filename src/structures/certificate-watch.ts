// Certificate watch: reads the files of a certificate again when they change, so that a renewal needs no restart.
import { readFile } from 'node:fs/promises';

export interface Certificate {
  /** PEM. */
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Paths. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/**
 * Returns what is to be called every few seconds: it reads the files and hands on what differs from
 * the certificate in use. What cannot be used, or a key that does not fit because only one of both
 * was written yet, is told once and looked at again when a file changes; one that fits in time is
 * not told.
 */
export function createCertificateWatch(
  files: CertificateFiles,
  inUse: Certificate,
  {
    renew,
    renewed,
    failed,
  }: {
    /** Throws when the certificate cannot be used. */
    readonly renew: (certificate: Certificate) => void;
    readonly renewed: () => void;
    readonly failed: (error: unknown) => void;
  },
): () => Promise<void> {
  let current = inUse;
  let refused: { readonly text: string; isTold: boolean } | undefined;
  let underWay: Promise<void> | undefined;

  /**
   * A failure counts when it is met twice: files that are being replaced do not fit for a moment.
   */
  const refuse = (text: string, error: unknown): void => {
    if (refused?.text !== text) refused = { text, isTold: false };
    else if (!refused.isTold) {
      refused.isTold = true;
      failed(error);
    }
  };

  const look = async (): Promise<void> => {
    let found: Certificate;
    try {
      const [cert, key] = await Promise.all([readFile(files.cert), readFile(files.key)]);
      found = { cert, key };
    } catch (error) {
      return refuse(String(error), error);
    }
    if (found.cert.equals(current.cert) && found.key.equals(current.key)) {
      refused = undefined;
      return;
    }
    try {
      renew(found);
    } catch (error) {
      return refuse(`${String(error)} ${found.cert.toString('latin1')}`, error);
    }
    current = found;
    refused = undefined;
    renewed();
  };

  return () => {
    underWay ??= look().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}
