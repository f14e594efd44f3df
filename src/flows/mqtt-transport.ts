// MQTT's way out for downlinks: published below the device's topic, or waiting until the device is there (contract 17).
import { Problem } from '../model/problem.ts';
import type { SendDownlink } from './downlink-transport.ts';

/** Publishes below the device's own topic; `offline` when nobody is subscribed there. */
export type PublishToDevice = (
  deviceId: string,
  topic: string,
  payload: Buffer,
  options: { readonly qos: 0 | 1; readonly retain: boolean },
) => Promise<'sent' | 'acknowledged' | 'offline'>;

export function mqttTransport(publish: PublishToDevice): SendDownlink {
  return async ({ deviceId, topic, payloadHex, payload }) => {
    const bytes =
      payloadHex === null ? Buffer.from(JSON.stringify(payload)) : Buffer.from(payloadHex, 'hex');
    try {
      const outcome = await publish(deviceId, topic ?? '', bytes, { qos: 1, retain: false });
      return outcome === 'offline'
        ? { outcome, reason: 'the device is not connected' }
        : { outcome };
    } catch (error) {
      if (error instanceof Problem) return { outcome: 'failed', reason: error.message };
      throw error;
    }
  };
}
