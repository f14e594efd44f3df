// A certificate for tests over TLS: its own authority, valid for localhost and 127.0.0.1.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface TestCertificate {
  readonly certPath: string;
  readonly keyPath: string;
  readonly cert: string;
  readonly key: string;
}

/** Makes a certificate and its key in the folder. */
export function makeCertificate(folder: string, name = 'localhost'): TestCertificate {
  const [certPath, keyPath] = [`${folder}/${name}.crt`, `${folder}/${name}.key`];
  const names = `subjectAltName=DNS:${name},IP:127.0.0.1`;
  const key = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-keyout',
    keyPath,
  ];
  const request = [
    'req',
    '-x509',
    ...key,
    '-out',
    certPath,
    '-days',
    '2',
    '-subj',
    `/CN=${name}`,
    '-addext',
    names,
  ];
  execFileSync('openssl', request, { stdio: 'ignore' });
  return {
    certPath,
    keyPath,
    cert: readFileSync(certPath, 'utf8'),
    key: readFileSync(keyPath, 'utf8'),
  };
}
