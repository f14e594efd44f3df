// MQTT revocation: ends connections whose credential or subscribed device is no longer valid.
import type { EpochMs } from '../../model/instant.ts';
import type { ChangeFollower, RecordChange } from '../../model/record.ts';
import type { MqttBroker } from './mqtt-broker.ts';
import { lapseOf, type LoginParts } from './mqtt-login.ts';
import { type FindRoute, type MqttSession, type RoutedDevice, routeOf } from './mqtt-session.ts';

export interface MqttRevocation extends ChangeFollower {
  /** Ends connections whose token has expired. */
  readonly endExpired: (now: EpochMs) => void;
  /** Resolves when every connection that a change concerned has been looked at. */
  readonly settled: () => Promise<void>;
}

export interface RevocationParts {
  /** Undefined until there has been a connection. */
  readonly broker: () => MqttBroker | undefined;
  readonly login: LoginParts;
  readonly findRoute: FindRoute<RoutedDevice>;
  readonly failed: (error: unknown) => void;
}

export function createMqttRevocation({
  broker,
  login,
  findRoute,
  failed,
}: RevocationParts): MqttRevocation {
  const due = new Set<MqttSession>();
  let underWay: Promise<void> | undefined;

  async function lookAt(session: MqttSession): Promise<void> {
    const { identity } = session;
    // One that is still logging in reads its credential after the change.
    if (identity === undefined) return;
    const lapse = (await lapseOf(identity, login)) ?? (await foreignOf(session));
    if (lapse !== undefined) broker()?.end(session, lapse);
  }

  async function foreignOf(session: MqttSession): Promise<string | undefined> {
    for (const { filter, id } of session.subscriptions.values()) {
      try {
        if ((await routeOf(session, filter, findRoute)).device.id !== id)
          return 'the client id now belongs to another device';
      } catch {
        return 'the device was deleted or moved to another connector';
      }
    }
    return undefined;
  }

  function lookAtDue(): void {
    if (due.size === 0) return;
    underWay ??= lookAtAll().finally(() => {
      underWay = undefined;
    });
  }

  async function lookAtAll(): Promise<void> {
    for (const session of due) {
      due.delete(session);
      await lookAt(session).catch(failed);
    }
  }

  return {
    recordChanged(change) {
      const open = broker();
      if (open === undefined || open.sessions.size === 0 || change.action === 'created') return;
      for (const session of open.sessions.values()) if (concerns(change, session)) due.add(session);
      lookAtDue();
    },
    changesMissed() {
      for (const session of broker()?.sessions.values() ?? []) due.add(session);
      lookAtDue();
    },
    endExpired(now) {
      const open = broker();
      for (const session of open?.sessions.values() ?? []) {
        const { identity } = session;
        if (identity?.mode === 'token' && identity.expiresAt <= now)
          open?.end(session, 'the token has expired');
      }
    },
    settled: async () => underWay,
  };
}

function concerns(
  { kind, id, action, about }: RecordChange,
  { identity, subscriptions }: MqttSession,
): boolean {
  if (identity === undefined) return false;
  // What one tenant changes makes no work for the connections of another.
  if (about !== undefined && about.organizationId !== identity.organizationId) return false;
  if (kind === 'device') {
    if (identity.mode === 'token') return identity.id === id;
    for (const subscription of subscriptions.values()) if (subscription.id === id) return true;
    return false;
  }
  if (kind === 'deviceConnector') return identity.mode === 'token' || identity.connectorId === id;
  if (kind === 'deviceCredential') return identity.mode === 'token' && identity.credentialId === id;
  if (kind === 'organization') return action === 'deleted' && identity.organizationId === id;
  // Devices move with their data flow.
  return kind === 'dataFlow' || (kind === 'workspace' && action === 'deleted');
}
