// MQTT revocation: ends connections whose credential or subscribed device is no longer valid.
import type { EpochMs } from '../../model/instant.ts';
import type { ChangeFollower, RecordChange } from '../../model/record.ts';
import type { MqttBroker } from './mqtt-broker.ts';
import { lapseOf, type LoginParts } from './mqtt-login.ts';
import { type FindRoute, type MqttSession, type RoutedDevice, routeOf } from './mqtt-session.ts';

export class MqttRevocation implements ChangeFollower {
  readonly #broker: () => MqttBroker | undefined;
  readonly #login: LoginParts;
  readonly #findRoute: FindRoute<RoutedDevice>;
  readonly #failed: (error: unknown) => void;
  readonly #due = new Set<MqttSession>();
  #underWay: Promise<void> | undefined;

  constructor(
    /** Undefined until there has been a connection. */
    broker: () => MqttBroker | undefined,
    login: LoginParts,
    findRoute: FindRoute<RoutedDevice>,
    failed: (error: unknown) => void,
  ) {
    this.#broker = broker;
    this.#login = login;
    this.#findRoute = findRoute;
    this.#failed = failed;
  }

  /** Call for every record change, once it is durable. */
  readonly recordChanged = (change: RecordChange): void => {
    const open = this.#broker();
    if (open === undefined || open.sessions.size === 0 || change.action === 'created') return;
    for (const session of open.sessions.values())
      if (concerns(change, session)) this.#due.add(session);
    this.#lookAtDue();
  };

  /** Call when changes of other nodes were missed: every record may have changed. */
  readonly changesMissed = (): void => {
    for (const session of this.#broker()?.sessions.values() ?? []) this.#due.add(session);
    this.#lookAtDue();
  };

  /** Resolves when every connection that a change concerned has been looked at. */
  readonly settled = async (): Promise<void> => this.#underWay;

  /** Ends connections whose token has expired. */
  endExpired(now: EpochMs): void {
    const open = this.#broker();
    for (const session of open?.sessions.values() ?? []) {
      const { identity } = session;
      if (identity?.mode === 'token' && identity.expiresAt <= now)
        open?.end(session, 'the token has expired');
    }
  }

  async #lookAt(session: MqttSession): Promise<void> {
    const { identity } = session;
    // One that is still logging in reads its credential after the change.
    if (identity === undefined) return;
    const lapse = (await lapseOf(identity, this.#login)) ?? (await this.#foreignOf(session));
    if (lapse !== undefined) this.#broker()?.end(session, lapse);
  }

  async #foreignOf(session: MqttSession): Promise<string | undefined> {
    const { identity, workspaceId } = session;
    if (workspaceId !== undefined && identity?.mode === 'token') {
      const device = await this.#login.findDevice(identity.id);
      if (device?.workspaceId !== workspaceId)
        return 'the device was moved to another workspace; reconnect';
    }
    for (const { filter, id } of session.subscriptions.values()) {
      try {
        if ((await routeOf(session, filter, this.#findRoute)).device.id !== id)
          return 'the client id now belongs to another device';
      } catch {
        return 'the device was deleted or moved to another connector';
      }
    }
    return undefined;
  }

  #lookAtDue(): void {
    if (this.#due.size === 0) return;
    this.#underWay ??= this.#lookAtAll().finally(() => {
      this.#underWay = undefined;
    });
  }

  async #lookAtAll(): Promise<void> {
    for (const session of this.#due) {
      this.#due.delete(session);
      await this.#lookAt(session).catch(this.#failed);
    }
  }
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
