// Simulated devices over HTTP: POST /v3/capture on kept-alive connections.
import { Pool } from 'undici';
import { type ClientOptions, createClient, type HeliographError } from '../typescript/client.ts';
import type { Sender } from './simulation.ts';
import type { SenderTarget } from './sender-target.ts';

const connectionsMax = 64;
const timeoutMs = 30_000;

export async function httpSender({
  host,
  port,
  tls,
  uplinkSecret,
  inFlightMax,
}: SenderTarget): Promise<Sender> {
  const url = `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const pool = new Pool(url, { connections: Math.min(connectionsMax, inFlightMax) });
  // The outcome of each payload is counted, so none is sent again.
  const client = createClient({ url, timeoutMs, triesMax: 1, fetch: fetchOf(pool, url) });
  const headers = { 'x-uplink-secret': uplinkSecret };
  return {
    async send({ deviceId }, body) {
      const call = { query: { deviceId }, headers, body, idempotencyKey: '' };
      await client.post('/v3/capture', call).catch((error: HeliographError) => {
        const { status, errorCode, message } = error;
        throw new Error(status === 0 ? message : `${status} ${errorCode}`.trim());
      });
    },
    close: () => pool.close(),
  };
}

/** A sixth of the processor time of Node's `fetch`, which is much for small requests. */
function fetchOf(pool: Pool, origin: string): NonNullable<ClientOptions['fetch']> {
  return async (address, { method, headers, body = null, signal }) => {
    const path = address.slice(origin.length);
    const answer = await pool.request({ method, path, headers, body, signal });
    const text = await answer.body.text();
    return {
      ok: answer.statusCode >= 200 && answer.statusCode < 300,
      status: answer.statusCode,
      statusText: '',
      headers: { get: (name) => answer.headers[name]?.toString() ?? null },
      body: null,
      text: async () => text,
    };
  };
}
