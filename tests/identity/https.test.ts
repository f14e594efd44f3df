// HTTPS by files: pages, live connections and cookies over TLS, and a certificate that is renewed meanwhile.
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import WebSocket from 'ws';
import { makeCertificate } from '../servers/certificate.ts';
import { startWorld, type World } from '../world/world.ts';

const folder = mkdtempSync(join(tmpdir(), 'heliograph-https-'));
const files = { cert: join(folder, 'used.crt'), key: join(folder, 'used.key') };
let world: World | undefined;
afterEach(async () => {
  vi.useRealTimers();
  await world?.close();
  world = undefined;
});
afterAll(() => rmSync(folder, { recursive: true }));

function use({ certPath, keyPath }: { readonly certPath: string; readonly keyPath: string }): void {
  copyFileSync(certPath, files.cert);
  copyFileSync(keyPath, files.key);
}

function body(port: number, path: string, ca: string, headers = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path, ca, headers, agent: false }, (answer) => {
      let text = '';
      answer.on('data', (part: Buffer) => (text += part.toString()));
      answer.on('end', () => resolve(`${answer.statusCode} ${text}`));
    });
    request.on('error', reject);
  });
}

async function subject(port: number, ca: string, version?: 'TLSv1.1'): Promise<string> {
  const limits = version === undefined ? {} : { minVersion: version, maxVersion: version };
  const socket: TLSSocket = connect({ host: '127.0.0.1', port, ca, ...limits });
  await once(socket, 'secureConnect');
  const { CN } = socket.getPeerCertificate().subject;
  socket.destroy();
  return String(CN);
}

test('requests and live connections use TLS, and a renewal ends no connection', async () => {
  const [first, second] = [
    await makeCertificate(folder, 'first'),
    await makeCertificate(folder, 'second'),
  ];
  use(first);
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  world = await startWorld({
    environment: { TLS_CERT_FILE: files.cert, TLS_KEY_FILE: files.key, MQTT_TLS_PORT: '0' },
  });
  const { port, publicUrl } = world.platform;
  expect(publicUrl).toBe(`https://localhost:${port}`);
  expect(await body(port, '/health/ready', first.cert)).toMatch(/^200 /);
  const socket = new WebSocket(`wss://127.0.0.1:${port}/v3/data-streams?xApiKey=${world.apiKey}`, {
    ca: first.cert,
  });
  const [greeting] = (await once(socket, 'message')) as [Buffer];
  expect(JSON.parse(greeting.toString())).toMatchObject({ type: expect.any(String) });

  const renewed = async (wanted: () => Promise<unknown>) => {
    // Two looks: the first can meet files that are being replaced.
    for (let look = 0; look < 2; look++) {
      vi.advanceTimersByTime(10_000);
      await new Promise(setImmediate);
    }
    await expect.poll(wanted).toBe('second');
  };
  use(second);
  await renewed(() => subject(port, second.cert).catch(String));

  // Files that cannot be used change nothing.
  writeFileSync(files.cert, 'no certificate');
  await renewed(() => subject(port, second.cert).catch(String));
  copyFileSync(first.certPath, files.cert);
  await renewed(() => subject(port, second.cert).catch(String));
  await expect(subject(port, second.cert, 'TLSv1.1')).rejects.toThrow();

  const pong = once(socket, 'pong');
  socket.ping();
  await pong;
  expect(socket.readyState).toBe(WebSocket.OPEN);
  socket.terminate();
});

test('a request without TLS gets no answer, and the next one over TLS does', async () => {
  const certificate = await makeCertificate(folder, 'plain');
  use(certificate);
  world = await startWorld({ environment: { TLS_CERT_FILE: files.cert, TLS_KEY_FILE: files.key } });
  const { port } = world.platform;
  const socket = connectPlain(port, '127.0.0.1');
  let heard = '';
  socket.on('data', (part: Buffer) => (heard += part.toString('latin1')));
  socket.on('error', () => undefined);
  socket.write('GET /health/ready HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(socket, 'close');
  expect(heard).not.toContain('HTTP/1.1 200');
  expect(await body(port, '/health/ready', certificate.cert)).toMatch(/^200 /);
});

test('files that are missing or do not belong together stop the start', async () => {
  const [first, second] = [
    await makeCertificate(folder, 'one'),
    await makeCertificate(folder, 'two'),
  ];
  const missing = { TLS_CERT_FILE: first.certPath, TLS_KEY_FILE: join(folder, 'no.key') };
  await expect(startWorld({ environment: missing })).rejects.toThrow(
    /Invalid TLS_KEY_FILE=.*no\.key/,
  );
  const foreign = { TLS_CERT_FILE: first.certPath, TLS_KEY_FILE: second.keyPath };
  await expect(startWorld({ environment: foreign })).rejects.toThrow(/do not match/);
  const half = { TLS_CERT_FILE: first.certPath };
  await expect(startWorld({ environment: half })).rejects.toThrow(/TLS_KEY_FILE is not/);
});
