// PEM checks: whether a string is a certificate or a private key in PEM.
import { createPrivateKey, X509Certificate } from 'node:crypto';

export function isCertificate(text: string): boolean {
  return succeeds(() => new X509Certificate(text));
}

/** Whether a string is a private key in PEM without a passphrase. */
export function isPrivateKey(text: string): boolean {
  return succeeds(() => createPrivateKey(text));
}

function succeeds(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
