// Simulated devices over HTTP: POST /v3/capture on kept-alive connections.
import { Pool } from 'undici';
import type { Sender } from './simulation.ts';
import type { SenderTarget } from './sender-target.ts';

const connectionsMax = 64;
const answerTimeoutMs = 30_000;

export async function httpSender({
  host,
  port,
  tls,
  uplinkSecret,
  inFlightMax,
}: SenderTarget): Promise<Sender> {
  const connections = Math.min(connectionsMax, inFlightMax);
  const pool = new Pool(`${tls ? 'https' : 'http'}://${host}:${port}`, {
    connections,
    headersTimeout: answerTimeoutMs,
    bodyTimeout: answerTimeoutMs,
  });
  const headers = { 'content-type': 'application/json', 'x-uplink-secret': uplinkSecret };
  return {
    async send({ deviceId }, payload) {
      const path = `/v3/capture?deviceId=${encodeURIComponent(deviceId)}`;
      const { statusCode, body } = await pool.request({
        method: 'POST',
        path,
        headers,
        body: payload,
      });
      if (statusCode === 201) return body.dump();
      const { errorCode } = (await body.json().catch(() => ({}))) as { errorCode?: string };
      throw new Error(`${statusCode} ${errorCode ?? ''}`.trim());
    },
    close: () => pool.close(),
  };
}
