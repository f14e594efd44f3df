// A renewed certificate of MQTT: new connections get it, open ones stay, and an invalid one changes nothing.
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, expect, test } from 'vitest';
import { makeCertificate } from '../../../tests/servers/certificate.ts';
import { createCertificateWatch } from '../../structures/certificate-watch.ts';
import { listenMqtt } from './mqtt-listeners.ts';

const folder = mkdtempSync(join(tmpdir(), 'heliograph-renewed-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('review reliability 19: certificate files that change are read again on the running port', async () => {
  const first = await makeCertificate(folder, 'first');
  const second = await makeCertificate(folder, 'second');
  const files = { cert: join(folder, 'used.crt'), key: join(folder, 'used.key') };
  const inUse = { cert: Buffer.from(first.cert), key: Buffer.from(first.key) };
  const accepted: Socket[] = [];
  const listener = await listenMqtt(
    { host: '127.0.0.1', port: 0 },
    inUse,
    (socket) => void accepted.push(socket),
  );
  const told: string[] = [];
  const look = createCertificateWatch(files, inUse, {
    renew: (found) => listener.renew(found),
    renewed: () => void told.push('renewed'),
    failed: (error) => void told.push((error as NodeJS.ErrnoException).code ?? String(error)),
  });
  const sockets: TLSSocket[] = [];
  const subject = async (ca: string) => {
    const socket = connect({ host: '127.0.0.1', port: listener.port, ca });
    sockets.push(socket);
    await once(socket, 'secureConnect');
    return socket.getPeerCertificate().subject.CN;
  };
  copyFileSync(first.certPath, files.cert);
  copyFileSync(first.keyPath, files.key);
  await look();
  expect([await subject(first.cert), told]).toEqual(['first', []]);

  // Half of the pair was written when it was read; the other half follows.
  copyFileSync(second.certPath, files.cert);
  await look();
  expect([await subject(first.cert), told]).toEqual(['first', []]);
  copyFileSync(second.keyPath, files.key);
  await Promise.all([look(), look()]);
  expect([await subject(second.cert), told]).toEqual(['second', ['renewed']]);
  await expect(subject(first.cert)).rejects.toThrow('self-signed certificate');

  // What cannot be used is reported once, and the one in use stays.
  writeFileSync(files.cert, 'no certificate');
  for (let round = 0; round < 4; round++) await look();
  rmSync(files.key);
  for (let round = 0; round < 4; round++) await look();
  expect(told).toEqual(['renewed', expect.stringMatching(/^ERR_(OSSL_)?/), 'ENOENT']);
  expect(await subject(second.cert)).toBe('second');
  expect(sockets[0]!.destroyed).toBe(false);

  copyFileSync(first.certPath, files.cert);
  copyFileSync(first.keyPath, files.key);
  await look();
  expect([await subject(first.cert), told.at(-1)]).toEqual(['first', 'renewed']);
  for (const socket of [...sockets, ...accepted]) socket.destroy();
  listener.close();
});
