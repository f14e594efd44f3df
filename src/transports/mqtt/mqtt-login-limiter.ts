// MQTT login limiter: limits concurrent logins, and WebSockets per organization.
import { randomUUID } from 'node:crypto';
import { Problem, problem } from '../../model/problem.ts';
import type { QuotaCount } from '../../model/quota.ts';
import { FairTurns } from '../../structures/work-queues.ts';
import { mqttLimits } from './mqtt-limits.ts';
import type { Login, LoginOutcome, MqttIdentity } from './mqtt-login.ts';
import { type ReturnCode, returnCodes } from './mqtt-packet-writer.ts';
import type { MqttSession } from './mqtt-session.ts';
import type { MqttTransport } from './mqtt-listeners.ts';

/** Logs clients in, a limited number at the same time. */
export class LoginLimiter {
  readonly #turns = loginTurns(mqttLimits.loginsUnderWayMax);
  readonly #check: (address: string, login: Login) => Promise<LoginOutcome>;
  readonly #countWebSocket: (organizationId: string, conn: MqttTransport) => boolean;
  readonly #admit: (session: MqttSession, organizationId: string) => string | undefined;
  readonly #refused: (reason: string, about: Readonly<Record<string, string>>) => void;

  constructor(
    check: (address: string, login: Login) => Promise<LoginOutcome>,
    countWebSocket: (organizationId: string, conn: MqttTransport) => boolean,
    /** Returns the limit that the connection would exceed, or counts it for its organization. */
    admit: (session: MqttSession, organizationId: string) => string | undefined,
    refused: (reason: string, about: Readonly<Record<string, string>>) => void,
  ) {
    this.#check = check;
    this.#countWebSocket = countWebSocket;
    this.#admit = admit;
    this.#refused = refused;
  }

  /**
   * Makes the session that of its identity and returns undefined, or returns the code of the refusal.
   * Never rejects its promise.
   */
  async logIn(
    session: MqttSession,
    userName: string,
    password: string,
  ): Promise<ReturnCode | undefined> {
    try {
      return await this.#turns.run(session.owner, () =>
        this.#authenticate(session, userName, password),
      );
    } catch (error) {
      // Too many attempts, or an internal error: neither means that the credential is wrong.
      const { address, clientId } = session;
      const reason = error instanceof Problem ? error.problem : 'loginFailed';
      this.#refused(reason, { address, clientId, reason: String(error) });
      return returnCodes.serverUnavailable;
    }
  }

  async #authenticate(
    session: MqttSession,
    userName: string,
    password: string,
  ): Promise<ReturnCode | undefined> {
    const { address, clientId } = session;
    // A client that left while waiting gets no answer, and its login is not counted.
    if (session.isClosed()) return returnCodes.serverUnavailable;
    const outcome = await this.#check(address, { clientId, userName, password });
    if ('refused' in outcome) {
      this.#refused('wrongCredential', { address, clientId, reason: outcome.refused });
      return returnCodes.notAuthorized;
    }
    if (session.isClosed()) return returnCodes.serverUnavailable;
    const { organizationId } = outcome.identity;
    if (session.isWebSocket && !this.#countWebSocket(organizationId, session.conn)) {
      this.#refused('quotaReached', {
        address,
        clientId,
        organizationId,
        reason: 'WebSocket quota reached (limit webSockets)',
      });
      return returnCodes.serverUnavailable;
    }
    session.key = keyOf(outcome.identity, clientId);
    const limit = this.#admit(session, organizationId);
    if (limit !== undefined) {
      this.#refused('quotaReached', {
        address,
        clientId,
        organizationId,
        reason: `limit ${limit}`,
      });
      return returnCodes.serverUnavailable;
    }
    session.identity = outcome.identity;
    session.framer.limit(mqttLimits.packetBytesMax);
    session.framer.skipLargePublishes();
    return undefined;
  }
}

/**
 * Turns of networks whose clients log in, at most `runningMax` logins at the same time. A client that
 * waits has a connection, which is counted already: no turn is refused for its number.
 */
export function loginTurns(runningMax: number): FairTurns {
  const { strangersMax } = mqttLimits;
  return new FairTurns({ runningMax, waitingPerKeyMax: strangersMax, keysMax: strangersMax }, () =>
    problem('intakeFull'),
  );
}

/**
 * Client ids are unique only within a connector. Without the prefix, tenants could end each other's
 * connections.
 */
function keyOf(identity: MqttIdentity, clientId: string): string {
  if (identity.mode === 'token') return identity.id;
  return `${identity.connectorId}/${clientId === '' ? randomUUID() : clientId}`;
}

// MQTT WebSocket count: each counts as a WebSocket of its organization until it closes (contract 36).

/** Returns false when the organization has no WebSocket left. */
export function takeUntilClose(
  count: Pick<QuotaCount, 'take' | 'give'>,
  organizationId: string,
  conn: MqttTransport,
): boolean {
  if (conn.closed) return true;
  if (!count.take(organizationId, 1)) return false;
  conn.once('close', () => count.give(organizationId, 1));
  return true;
}
