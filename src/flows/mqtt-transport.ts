// MQTT transport of downlinks: publishes below the device's topic, or waits until the device subscribes (contract 17).
import type { PublishToDevice } from '../ingest/mqtt/mqtt-publisher.ts';
import { Problem } from '../model/problem.ts';
import type { SendDownlink } from './downlink-transport.ts';

export function createMqttTransport(publish: PublishToDevice): SendDownlink {
  return async ({ deviceId, topic, payloadHex, payload }) => {
    const bytes =
      payloadHex === null ? Buffer.from(JSON.stringify(payload)) : Buffer.from(payloadHex, 'hex');
    try {
      const outcome = await publish(deviceId, topic ?? '', bytes, { qos: 1, retain: false });
      if (outcome === 'offline') return { outcome, reason: 'the device is not connected' };
      return { outcome };
    } catch (error) {
      if (error instanceof Problem) return { outcome: 'failed', reason: error.message };
      throw error;
    }
  };
}
