// MQTT broker state: what the handlers of one broker are given and share.
import type { Duplex } from 'node:stream';
import type { Aedes, Client } from 'aedes';
import type { SetTimer } from '../../structures/timers.ts';
import type { FlowControl } from './mqtt-flow-control.ts';
import type { Login, LoginOutcome } from './mqtt-login.ts';
import type { Deliveries } from './mqtt-messages.ts';
import type { PublishParts } from './mqtt-publish.ts';
import type { RoutedDevice } from './mqtt-route.ts';
import type { DeviceSubscription, MqttSession } from './mqtt-session.ts';
import type { SessionStore } from './mqtt-session-store.ts';

export interface BrokerParts<R extends RoutedDevice> extends PublishParts<R> {
  readonly logIn: (address: string, login: Login) => Promise<LoginOutcome>;
  /**
   * Counts a WebSocket until its connection closes; false when the organization may have no more.
   */
  readonly countWebSocket: (organizationId: string, conn: Duplex) => boolean;
  /** Called when a session has subscribed for a device, and can be sent its messages. */
  readonly reachable: (session: MqttSession, subscription: DeviceSubscription) => void;
  readonly refused: (reason: string, about: Readonly<Record<string, string>>) => void;
  readonly ended: (reason: string, about: Readonly<Record<string, string>>) => void;
  /** Called for a publish whose acknowledgement the client may not have received. */
  readonly doubt: (duplicateKey: string) => void;
  readonly setTimer: SetTimer;
}

/** What the handlers of one broker share. */
export interface BrokerState<R extends RoutedDevice> {
  readonly aedes: Aedes;
  readonly parts: BrokerParts<R>;
  readonly sessions: Map<Client, MqttSession>;
  readonly flowControl: FlowControl;
  readonly deliveries: Deliveries;
  readonly store: SessionStore;
  isStopping: boolean;
}

/** Callback of the broker library. */
export type Done<T> = (error: Error | null, answer: T | null) => void;
