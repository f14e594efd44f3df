// MQTT broker state: what the handlers of one broker are given and share.
import type { Duplex } from 'node:stream';
import type { QuotaCount } from '../../model/quota.ts';
import type { SharedPool } from '../../structures/shared-pool.ts';
import type { SetTimer } from '../../structures/timers.ts';
import type { SparkplugIntake } from '../sparkplug/sparkplug-topic.ts';
import type { Deadlines } from './mqtt-limits.ts';
import type { FlowControl, Pace, PublishLimit } from './mqtt-flow-control.ts';
import type { LoginLimiter } from './mqtt-login-limiter.ts';
import type { Login, LoginOutcome } from './mqtt-login.ts';
import type { Deliveries } from './mqtt-messages.ts';
import type { PublishHandler, PublishParts, WillHandler } from './mqtt-publish.ts';
import type {
  DeviceSubscription,
  MqttSession,
  RoutedDevice,
  SessionStore,
} from './mqtt-session.ts';
import type { SparkplugClients } from './mqtt-sparkplug.ts';
import type { MqttTransport } from './mqtt-listeners.ts';

export interface BrokerParts<R extends RoutedDevice> extends PublishParts<R> {
  readonly logIn: (address: string, login: Login) => Promise<LoginOutcome>;
  /**
   * Counts a WebSocket until its connection closes; false when the organization may have no more.
   */
  readonly countWebSocket: (organizationId: string, conn: MqttTransport) => boolean;
  /** Connections that organizations have. */
  readonly connectionCount: Pick<QuotaCount, 'take' | 'give'>;
  /** The network of an address, whose connections share before they have logged in. */
  readonly networkOf: (address: string) => string;
  /** Called when a session has subscribed for a device, and can be sent its messages. */
  readonly reachable: (session: MqttSession, subscription: DeviceSubscription) => void;
  readonly refused: (reason: string, about: Readonly<Record<string, string>>) => void;
  readonly ended: (reason: string, about: Readonly<Record<string, string>>) => void;
  /** Called for a publish whose acknowledgement the client perhaps did not receive. */
  readonly doubt: (duplicateKey: string) => void;
  readonly sparkplug: SparkplugIntake;
  readonly publishLimit: PublishLimit;
  readonly setTimer: SetTimer;
  /** Of what organizations share; by default those of the platform. */
  readonly shared?: Partial<SharedLimits>;
  /** What clients find again when they reconnect. */
  readonly keptSessions: SessionStore;
  /** Undefined in a single process, which serves every client. */
  readonly placeOf?: PlaceOfClient | undefined;
}

/** Where a client is served: at the node that holds its workspace. */
export interface ClientPlace {
  readonly organizationId: string;
  readonly workspaceId: string;
  /** To the node that serves the client; undefined when that is this one. */
  readonly connection: Duplex | undefined;
}

/**
 * By what the client says of itself, before anybody has checked it. Undefined for a login that no
 * node would accept. Rejects when no node serves the workspace.
 */
export type PlaceOfClient = (
  login: Login,
  from: { readonly address: string; readonly network: string; readonly isWebSocket: boolean },
) => Promise<ClientPlace | undefined>;

type SharedLimits = {
  readonly [N in 'partialBytesMax' | 'connectionsMax' | 'strangersMax']: number;
};

/** What the handlers of one broker share. */
export interface BrokerState<R extends RoutedDevice> {
  readonly parts: BrokerParts<R>;
  /** Connections from their acceptance until their session ends. */
  readonly sessions: Set<MqttSession>;
  /** Connections whose session has ended and whose transport is still open. */
  readonly closing: Set<MqttSession>;
  /** Open transports of clients that have not logged in, by network, and of those that have. */
  readonly strangers: SharedPool<MqttSession>;
  readonly members: SharedPool<MqttSession>;
  /** Sessions that have logged in, by key. */
  readonly byKey: Map<string, MqttSession>;
  readonly flowControl: FlowControl<MqttSession>;
  readonly pace: Pace<MqttSession>;
  readonly deadlines: Deadlines<MqttSession>;
  readonly deliveries: Deliveries;
  readonly logins: LoginLimiter;
  readonly publish: PublishHandler;
  readonly will: WillHandler;
  readonly sparkplug: SparkplugClients;
  /** Handles the packets of a session that may be read again. */
  readonly readOn: (session: MqttSession) => void;
  isStopping: boolean;
}
