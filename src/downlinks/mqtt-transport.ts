// MQTT transport of downlinks: publishes below the device's topic, or waits until the device subscribes (contract 17).
import type { PublishToDevice } from '../transports/mqtt/mqtt-publisher.ts';
import { Problem } from '../model/problem.ts';
import type { SendDownlink } from './downlink-transport.ts';
import type { SparkplugNodes } from '../uplinks/capture/sparkplug-nodes.ts';

/** `command` reaches devices of edge nodes of Sparkplug; it is undefined for others. */
export function createMqttTransport(
  publish: PublishToDevice,
  command: SparkplugNodes['command'],
): SendDownlink {
  return async ({ deviceId, topic, payloadHex, payload }) => {
    const bytes =
      payloadHex === null ? Buffer.from(JSON.stringify(payload)) : Buffer.from(payloadHex, 'hex');
    const commanded = command(deviceId, payloadHex === null ? payload : bytes);
    if (commanded !== undefined) return commanded;
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
