// Connects the ports of MQTT: TCP, TLS with a certificate that is read again when it changes, and WebSockets.
import type { Server } from 'node:http';
import { followCertificate, readCertificate } from './certificates.ts';
import type { Parts } from './platform-parts.ts';
import { attachMqttSocket } from '../http/streams/mqtt-socket.ts';
import type { MqttBrokerOnDemand } from '../ingest/mqtt/mqtt-broker-on-demand.ts';
import { listenMqtt } from '../ingest/mqtt/mqtt-listeners.ts';
import { closeInOrder } from '../structures/closers.ts';
import { setRepeatingTimer } from '../structures/timers.ts';

const tickEveryMs = 10_000;

export interface MqttPorts {
  readonly listen: (server: Server) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** `tick` runs every ten seconds while the ports are open. */
export function composeMqttPorts(
  parts: Parts,
  { accept, close }: Pick<MqttBrokerOnDemand, 'accept' | 'close'>,
  tick: () => void,
): MqttPorts {
  const { config, now } = parts;
  const { host, mqttPort, trustedProxies, publicUrl } = config;
  const closers: (() => unknown)[] = [];
  return {
    async listen(server) {
      if (mqttPort !== 0) {
        const listener = await listenMqtt({ host, port: mqttPort }, undefined, accept);
        closers.push(listener.close);
      }
      await listenTls(parts, accept, closers);
      closers.push(
        attachMqttSocket(server, { accept, trustedProxies, now, publicUrl }),
        setRepeatingTimer(tick, tickEveryMs),
      );
    },
    close: () => closeInOrder(...closers, close),
  };
}

/**
 * Adds what it opened to the closers. Throws ConfigError when a file of the certificate cannot be
 * read.
 */
async function listenTls(
  { config, telemetry }: Parts,
  accept: MqttBrokerOnDemand['accept'],
  closers: (() => unknown)[],
): Promise<void> {
  const { host, mqttTlsPort: port, mqttTls: files } = config;
  if (files === undefined) return;
  const certificate = readCertificate(files);
  if (port === 0) return;
  const { close, renew } = await listenMqtt({ host, port }, certificate, accept);
  const followed = { what: 'MQTT', files, inUse: certificate, renew };
  closers.push(close, followCertificate(followed, telemetry));
}
