// MQTT login: limits concurrent logins and applies the limits of a session.
import type { Duplex } from 'node:stream';
import type { ConnectPacket } from 'aedes';
import { Problem } from '../../model/problem.ts';
import { mqttLimits } from './mqtt-limits.ts';
import type { Login, LoginOutcome, MqttIdentity } from './mqtt-login.ts';
import type { MqttSession } from './mqtt-session.ts';

/** Return codes of CONNACK (MQTT 3.1.1, 3.2.2.3). */
export const returnCodes = { serverUnavailable: 3, notAuthorized: 5 } as const;

export type LoginRefusal = Error & { readonly returnCode: number };

export interface LoginLimiter {
  /**
   * Reads the CONNECT apart from the credential. An error ends the connection without an answer.
   */
  readConnect(session: MqttSession, packet: ConnectPacket): Error | null;
  /**
   * Makes the session that of its identity, or returns why it is rejected. Never rejects its
   * promise.
   */
  authenticate(
    session: MqttSession,
    userName: string,
    password: string,
  ): Promise<LoginRefusal | undefined>;
}

interface LoginLimiterParts {
  readonly logIn: (address: string, login: Login) => Promise<LoginOutcome>;
  readonly countWebSocket: (organizationId: string, conn: Duplex) => boolean;
  readonly refused: (reason: string, about: Readonly<Record<string, string>>) => void;
}

export function createLoginLimiter(parts: LoginLimiterParts): LoginLimiter {
  const inTurn = createTurns(mqttLimits.loginsUnderWayMax);
  return {
    readConnect,
    authenticate: async (session, userName, password) => {
      try {
        return await inTurn(() => authenticate(session, userName, password, parts));
      } catch (error) {
        // Too many attempts, or an internal error: neither means that the credential is wrong.
        const { address, clientId } = session;
        const reason = error instanceof Problem ? error.problem : 'loginFailed';
        parts.refused(reason, { address, clientId, reason: String(error) });
        return loginRefusal(returnCodes.serverUnavailable, 'server unavailable');
      }
    },
  };
}

function readConnect(session: MqttSession, packet: ConnectPacket): Error | null {
  if (packet.clientId.length > mqttLimits.clientIdLengthMax)
    return new Error('the client id is too long');
  session.clientId = packet.clientId;
  session.willTopic = packet.will?.topic;
  const { keepaliveSecondsMin, keepaliveSecondsMax } = mqttLimits;
  // 0 means never.
  const wanted = packet.keepalive || keepaliveSecondsMax;
  packet.keepalive = Math.max(wanted, keepaliveSecondsMin);
  return null;
}

/**
 * Returns a function that runs work, at most `max` at the same time; further work waits in order.
 */
function createTurns(max: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < max) running++;
    else await new Promise<void>((begin) => waiting.push(begin));
    try {
      return await work();
    } finally {
      const begin = waiting.shift();
      if (begin === undefined) running--;
      else begin();
    }
  };
}

async function authenticate(
  session: MqttSession,
  userName: string,
  password: string,
  { logIn, countWebSocket, refused }: LoginLimiterParts,
): Promise<LoginRefusal | undefined> {
  const { address, clientId, client } = session;
  const closed = loginRefusal(returnCodes.serverUnavailable, 'the connection is closed');
  // A client that left while waiting gets no answer, and its login is not counted.
  if (client.closed) return closed;
  const outcome = await logIn(address, { clientId, userName, password });
  if ('refused' in outcome) {
    refused('wrongCredential', { address, clientId, reason: outcome.refused });
    return loginRefusal(returnCodes.notAuthorized, 'not authorized');
  }
  if (client.closed) return closed;
  const { organizationId } = outcome.identity;
  if (session.isWebSocket && !countWebSocket(organizationId, session.conn)) {
    refused('quotaReached', { address, clientId, organizationId, reason: 'limit webSockets' });
    return loginRefusal(returnCodes.serverUnavailable, 'too many connections');
  }
  session.identity = outcome.identity;
  session.inFlight.loggedIn();
  client.id = brokerIdOf(outcome.identity, client.id);
  return undefined;
}

/**
 * Client ids are unique only within a connector. Without the prefix, tenants could end each other's
 * connections.
 */
function brokerIdOf(identity: MqttIdentity, clientId: string): string {
  if (identity.mode === 'token') return identity.id;
  return `${identity.connectorId}/${clientId}`;
}

export function loginRefusal(returnCode: number, message: string): LoginRefusal {
  return Object.assign(new Error(message), { returnCode });
}
