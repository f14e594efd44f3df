// MQTT over WebSocket on `/mqtt` of the HTTP server (contract 18).
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocketServer } from 'ws';
import { type Problem, problem } from '../../model/problem.ts';
import { mqttLimits } from '../../transports/mqtt/mqtt-limits.ts';
import type { MqttTransport } from '../../transports/mqtt/mqtt-listeners.ts';
import { checkRequestHead, clientAddress } from '../edge/request-head.ts';
import { pathOf, refuseBadHandshakes, refuseHandshake } from './handshake.ts';
import { WebSocketTransport } from './web-socket-transport.ts';

export const mqttSocketPath = '/mqtt';
const subprotocols = ['mqtt', 'mqttv3.1'];
/** A frame may hold a packet and parts of others. */
const frameBytesMax = mqttLimits.packetBytesMax + 64 * 1024;

/**
 * Serves upgrades of the path; others are left to whoever serves them. The returned function ends
 * that.
 */
export function attachMqttSocket(
  server: Server,
  options: {
    readonly accept: (conn: MqttTransport, address: string, isWebSocket: boolean) => void;
    /** Proxies whose `X-Forwarded-For` is believed. */
    readonly trustedProxies: readonly string[];
    readonly now: () => number;
    readonly publicUrl: string;
  },
): () => void {
  const addressOf = clientAddress(options.trustedProxies);
  const webSockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    clientTracking: false,
    maxPayload: frameBytesMax,
    // A client that names none is served as well; it will speak MQTT or be cut off.
    handleProtocols: (offered) => subprotocols.find((one) => offered.has(one)) ?? false,
  });

  const onUpgrade = (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (pathOf(request) !== mqttSocketPath) return;
    try {
      checkRequestHead(request);
    } catch (refused) {
      refuseHandshake(request, socket, refused as Problem, options);
      return;
    }
    const offered = request.headers['sec-websocket-protocol'];
    if (
      offered !== undefined &&
      !offered.split(',').some((one) => subprotocols.includes(one.trim()))
    ) {
      const refused = problem('invalidRequest', {
        reason: `The WebSocket subprotocol must be ${subprotocols[0]}`,
      });
      refuseHandshake(request, socket, refused, options);
      return;
    }
    webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      options.accept(new WebSocketTransport(webSocket, socket), addressOf(request), true);
    });
  };
  server.on('upgrade', onUpgrade);
  refuseBadHandshakes(webSockets, options);
  return () => void server.off('upgrade', onUpgrade);
}
