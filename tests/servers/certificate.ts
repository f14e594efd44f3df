// A certificate for tests over TLS: its own authority, valid for its name and 127.0.0.1. Made without a program of the system, so that these tests run on a fresh machine.
import 'reflect-metadata';
import { KeyObject, webcrypto } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import {
  BasicConstraintsExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

export interface TestCertificate {
  readonly certPath: string;
  readonly keyPath: string;
  readonly cert: string;
  readonly key: string;
}

const dayMs = 86_400_000;

/** Makes a certificate and its key in the folder: valid from yesterday to the day after tomorrow. */
export async function makeCertificate(
  folder: string,
  name = 'localhost',
): Promise<TestCertificate> {
  const curve = { name: 'ECDSA', namedCurve: 'P-256' };
  const keys = await webcrypto.subtle.generateKey(curve, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    keys,
    notBefore: new Date(Date.now() - dayMs),
    notAfter: new Date(Date.now() + 2 * dayMs),
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new SubjectAlternativeNameExtension([
        { type: 'dns', value: name },
        { type: 'ip', value: '127.0.0.1' },
      ]),
    ],
  });
  const cert = `${certificate.toString('pem')}\n`;
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString();
  const [certPath, keyPath] = [`${folder}/${name}.crt`, `${folder}/${name}.key`];
  writeFileSync(certPath, cert);
  writeFileSync(keyPath, key, { mode: 0o600 });
  return { certPath, keyPath, cert, key };
}
