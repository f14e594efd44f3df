// The login of MQTT connections: a bounded number at once, each with the bounds that the broker sets.
import type { Duplex } from 'node:stream';
import type { ConnectPacket } from 'aedes';
import { Problem } from '../../model/problem.ts';
import { mqttLimits } from './mqtt-limits.ts';
import type { Login, LoginOutcome } from './mqtt-login.ts';
import type { MqttSession } from './mqtt-session.ts';

/** Return codes of CONNACK (MQTT 3.1.1, 3.2.2.3). */
export const returnCodes = { serverUnavailable: 3, notAuthorized: 5 } as const;

export type LoginRefusal = Error & { readonly returnCode: number };

export interface LoginDesk {
  /** Reads what the CONNECT says besides the credential; an error ends the connection without an answer. */
  greet(session: MqttSession, packet: ConnectPacket): Error | null;
  /** Makes the session that of its identity; else how it is refused. Never rejects. */
  check(
    session: MqttSession,
    userName: string,
    password: string,
  ): Promise<LoginRefusal | undefined>;
}

export function loginDesk(parts: {
  readonly logIn: (address: string, login: Login) => Promise<LoginOutcome>;
  readonly countWebSocket: (organizationId: string, conn: Duplex) => boolean;
  readonly refused: (reason: string, about: Readonly<Record<string, string>>) => void;
}): LoginDesk {
  const waiting: (() => void)[] = [];
  let underWay = 0;

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (underWay >= mqttLimits.loginsUnderWayMax) await new Promise<void>((go) => waiting.push(go));
    else underWay++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) underWay--;
      else next();
    }
  }

  async function check(
    session: MqttSession,
    userName: string,
    password: string,
  ): Promise<LoginRefusal | undefined> {
    const { address, clientId } = session;
    // Whoever left while waiting needs no answer, and must not be counted.
    if (session.client.closed) return loginRefusal(returnCodes.serverUnavailable, 'gone');
    const outcome = await parts.logIn(address, { clientId, userName, password });
    if ('refused' in outcome) {
      parts.refused('wrongCredential', { address, clientId, reason: outcome.refused });
      return loginRefusal(returnCodes.notAuthorized, 'not authorized');
    }
    const { identity } = outcome;
    if (session.client.closed) return loginRefusal(returnCodes.serverUnavailable, 'gone');
    if (session.isWebSocket && !parts.countWebSocket(identity.organizationId, session.conn)) {
      const { organizationId } = identity;
      parts.refused('quotaReached', {
        address,
        clientId,
        organizationId,
        reason: 'limit webSockets',
      });
      return loginRefusal(returnCodes.serverUnavailable, 'too many connections');
    }
    session.identity = identity;
    session.passage.loggedIn();
    // Client ids are only unique within a connector; without this, tenants could end each other's connections.
    session.client.id =
      identity.mode === 'token' ? identity.id : `${identity.connectorId}/${session.client.id}`;
    return undefined;
  }

  return {
    greet(session, packet) {
      if (packet.clientId.length > mqttLimits.clientIdLengthMax)
        return new Error('the client id is too long');
      session.clientId = packet.clientId;
      session.willTopic = packet.will?.topic;
      const { keepaliveSecondsMin, keepaliveSecondsMax } = mqttLimits;
      packet.keepalive = packet.keepalive
        ? Math.max(packet.keepalive, keepaliveSecondsMin)
        : keepaliveSecondsMax;
      return null;
    },
    check: (session, userName, password) =>
      inTurn(() => check(session, userName, password)).catch((error: unknown) => {
        // Too many attempts, or our own fault: neither says anything about the credential.
        const reason = error instanceof Problem ? error.problem : 'loginFailed';
        parts.refused(reason, {
          address: session.address,
          clientId: session.clientId,
          reason: String(error),
        });
        return loginRefusal(returnCodes.serverUnavailable, 'server unavailable');
      }),
  };
}

export function loginRefusal(returnCode: number, message: string): LoginRefusal {
  return Object.assign(new Error(message), { returnCode });
}
