// Forwarded clients: the connection of an MQTT client goes on at the node that holds its workspace.
import type { Duplex } from 'node:stream';
import type { DeviceConnector } from '../model/connector.ts';
import type { Device } from '../model/device.ts';
import type { NodeAddress } from '../model/node-messages.ts';
import { problem } from '../model/problem.ts';
import { SharedPool } from '../structures/shared-pool.ts';
import type { SetTimer } from '../structures/timers.ts';
import { type Login, looksLikeToken } from '../transports/mqtt/mqtt-login.ts';
import type { PlaceOfClient } from '../transports/mqtt/mqtt-broker-state.ts';
import { loginTurns } from '../transports/mqtt/mqtt-login-limiter.ts';
import { type LeaseName, type Leases, leaseOfWorkspace } from './leases/leases.ts';
import { type DialConnection, type Dialed, mqttPath, mqttSocketPath } from './nodes/nodes.ts';
import { askOwner, type OwnerSearch } from './nodes/owner-search.ts';

const forwardedLimits = {
  /** Logins whose workspace is looked up at the same time; others wait. */
  lookUpsMax: 16,
  /** Clients that wait for a holder of their workspace, shared by organizations; further ones are refused. */
  waitingMax: 1_000,
  /** How often holders are compared: a node that is gone may not close its connections. */
  compareEveryMs: 1_000,
} as const;

/** What a login says of itself. */
interface LoginRecords {
  /** Undefined for an unknown connector. */
  readonly connectorOf: (
    id: string,
  ) => DeviceConnector | undefined | Promise<DeviceConnector | undefined>;
  /** Devices of every organization with this physical id that have credentials. */
  readonly devicesOf: (deviceId: string) => Promise<readonly Device[]>;
  /** The service id of the device that signed the token; undefined without one. */
  readonly signerOf: (login: Login) => Promise<string | undefined>;
}

type Place = { readonly organizationId: string; readonly workspaceId: string };

export class ForwardedClients {
  readonly #leases: Pick<Leases, 'node' | 'held' | 'owners'>;
  readonly #search: OwnerSearch;
  readonly #dial: DialConnection;
  readonly #lookUps = loginTurns(forwardedLimits.lookUpsMax);
  /** Clients without a holder of their workspace, by organization. */
  readonly #waiting = new SharedPool<object>({ max: forwardedLimits.waitingMax });
  /** Connections to other nodes. */
  readonly #open = new Map<Duplex, { readonly lease: LeaseName; readonly node: NodeAddress }>();
  readonly #stopComparing: () => void;

  constructor(
    leases: Pick<Leases, 'node' | 'held' | 'owners'>,
    search: OwnerSearch,
    dial: DialConnection,
    setRepeatingTimer: SetTimer,
  ) {
    this.#leases = leases;
    this.#search = search;
    this.#dial = dial;
    this.#stopComparing = setRepeatingTimer(() => this.#endMoved(), forwardedLimits.compareEveryMs);
  }

  /** Connections of clients here that other nodes serve. */
  get size(): number {
    return this.#open.size;
  }

  /** See `PlaceOfClient`. */
  placeBy(records: LoginRecords): PlaceOfClient {
    return async (login, { address, network, isWebSocket }) => {
      const place = await this.#lookUps.run(network, () => placeOfLogin(login, records));
      if (place === undefined) return undefined;
      const lease = leaseOfWorkspace(place.workspaceId);
      const { organizationId, workspaceId } = place;
      const path = isWebSocket ? mqttSocketPath : mqttPath;
      const client = { lease, remoteAddress: address };
      const connection = await this.#connect(organizationId, lease, { path, client });
      return { organizationId, workspaceId, connection };
    };
  }

  close(): void {
    this.#stopComparing();
    for (const connection of this.#open.keys()) connection.destroy();
  }

  async #connect(
    organizationId: string,
    lease: LeaseName,
    dialed: Dialed,
  ): Promise<Duplex | undefined> {
    const isOwn = () => this.#leases.held(lease) !== undefined;
    if (isOwn()) return undefined;
    if (!this.#waiting.hasRoomFor(organizationId)) throw problem('deviceWithoutOwner');
    const owner = () => this.#holderOf(lease);
    this.#waiting.hold(organizationId, dialed, 1);
    try {
      const answer = await askOwner({ isOwn, owner }, this.#search, async (node) => {
        const connection = await this.#dial(node, dialed);
        return connection === 'notHeld' ? connection : { connection, node };
      });
      if (answer === 'own') return undefined;
      const { connection, node } = answer;
      this.#open.set(connection, { lease, node });
      connection.once('close', () => this.#open.delete(connection));
      return connection;
    } finally {
      this.#waiting.release(dialed);
    }
  }

  /** Undefined when no other node is known to hold it. */
  #holderOf(lease: LeaseName): NodeAddress | undefined {
    const holder = this.#leases.owners().get(lease)?.node;
    return holder?.id === this.#leases.node.id ? undefined : holder;
  }

  #endMoved(): void {
    for (const [connection, { lease, node }] of this.#open)
      if (this.#holderOf(lease)?.id !== node.id) connection.destroy();
  }
}

/** Several organizations may have a device with this physical id: then the token decides. */
async function placeOfLogin(
  login: Login,
  { connectorOf, devicesOf, signerOf }: LoginRecords,
): Promise<Place | undefined> {
  if (!looksLikeToken(login.password)) return connectorOf(login.userName);
  const devices = await devicesOf(login.clientId);
  const [first] = devices;
  if (devices.every(({ workspaceId }) => workspaceId === first?.workspaceId)) return first;
  const signer = await signerOf(login);
  return devices.find(({ id }) => id === signer);
}
