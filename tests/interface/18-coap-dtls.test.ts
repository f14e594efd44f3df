// CoAP over DTLS through the documented proxy: socat with a certificate, and the client of libcoap.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { makeCertificate } from '../servers/certificate.ts';
import { describeWith, startedBefore } from '../servers/server-tests.ts';
import { freeUdpPort } from '../world/coap-device.ts';
import { startWorld } from '../world/world.ts';

const client = { path: '/usr/bin/coap-client-openssl', debianPackage: 'libcoap3-bin' };
const proxy = { path: '/usr/bin/socat', debianPackage: 'socat' };

/** A platform and the proxy before its CoAP port. */
async function startBoth(folder: string) {
  const [plain, secure] = [await freeUdpPort(), await freeUdpPort()];
  const world = await startWorld({ environment: { COAP_PORT: String(plain) } });
  const { certPath, keyPath } = await makeCertificate(folder);
  const listen = `OPENSSL-DTLS-SERVER:${secure},bind=127.0.0.1,cert=${certPath},key=${keyPath},verify=0,fork,reuseaddr`;
  const server = spawn(proxy.path, [listen, `UDP4:127.0.0.1:${plain}`], { stdio: 'ignore' });
  await once(server, 'spawn');
  const ended = once(server, 'exit');
  return {
    world,
    secure,
    certPath,
    async stop() {
      server.kill();
      await ended;
      await world.close();
    },
  };
}

describeWith(proxy, 'CoAP behind a DTLS proxy', () => {
  describeWith(client, 'a client of libcoap', () => {
    const both = startedBefore(startBoth);

    /** What the client prints. */
    async function sent(deviceId: string, secret: string, body: string): Promise<string> {
      const { secure, certPath } = both();
      const address = `coaps://127.0.0.1:${secure}/v3/capture?secret=${secret}&deviceId=${deviceId}`;
      const args = ['-m', 'post', '-t', '50', '-B', '10', '-R', certPath, '-e', body, address];
      const run = spawn(client.path, args, { stdio: ['ignore', 'pipe', 'pipe'] });
      let printed = '';
      // Errors are printed elsewhere.
      for (const output of [run.stdout, run.stderr])
        output.setEncoding('utf8').on('data', (text: string) => {
          printed += text;
        });
      await once(run, 'close');
      return printed;
    }

    test('sends payloads that are stored, and gets refusals', async () => {
      const { world } = both();
      const device = await world.device({ name: 'dtls' });
      const [id, secret] = [encodeURIComponent(device.deviceId), device.secret];
      for (const t of [1, 2])
        expect(await sent(id, secret, `{"t":${t}}`)).toContain('uplink received');
      expect(await sent(id, 'wrong', '{"t":3}')).toContain('4.01');
      const body = { topic: 'default', limit: 10 };
      const samples = await world.must('POST', `/v3/devices/${device.id}/query`, body);
      expect(samples.map(({ data }: { data: object }) => data)).toEqual([{ t: 2 }, { t: 1 }]);
    });
  });
});
