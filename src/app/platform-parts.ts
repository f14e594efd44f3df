// What the composition hands around: parts that several others are given, and the platform that comes out.
import type { Access } from './access.ts';
import type { ComposedNode } from './change-following.ts';
import type { SharedSamples } from './samples.ts';
import type { Config } from './config/config.ts';
import type { JournalCopy } from '../cluster/replication/journal-copy.ts';
import type { AlarmFeed } from '../rules/alarms/alarm-notifications.ts';
import type { EventAudience, LiveEvents } from '../live/live-events.ts';
import type { Followers } from '../uplinks/followers/followers.ts';
import type { LiveNodes } from '../cluster/node-streams.ts';
import type { ForwardedClients } from '../cluster/forwarded-clients.ts';
import type { DeviceOwnership } from '../cluster/owned-devices.ts';
import type { OperationRunner } from '../operations/operation-runner.ts';
import type { QuotaUse } from '../inventory/workspaces/organizations.ts';
import type { Refusals } from '../uplinks/refusals.ts';
import type { ReportOutcomes } from '../reports/report-runs.ts';
import type { OpenCounts } from '../model/quota.ts';
import type { UplinkRouteCache } from '../inventory/devices/uplink-route-cache.ts';
import type { TellNetworkServer } from '../inventory/devices/registration.ts';
import type { Route } from '../http/edge/route.ts';
import type { NodeMessages } from '../model/node-messages.ts';
import type { ChangeFollower } from '../model/record.ts';
import type { OpenRecords } from '../storage/records/records.ts';
import type { UplinkLimit } from '../uplinks/capture/capture-senders.ts';
import type { WorkTurns } from '../transports/work-turns.ts';
import type { WorkspaceFanOut } from '../live/sessions/workspace-fan-out.ts';
import type { SharedWork } from '../cluster/leases/lease-tasks.ts';
import type { LeaseName } from '../cluster/leases/leases.ts';
import type { EntryLog } from '../storage/log/entry-log.ts';
import type { Samples } from '../storage/samples/samples.ts';
import type { Telemetry } from '../telemetry/events.ts';
import type { Readiness } from '../telemetry/readiness.ts';

export interface Tenant {
  /** Whether this start made it. */
  readonly isNew: boolean;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly apiKeyId: string | null;
  readonly generatedPassword: string | null;
}

export interface Platform {
  /** The port that was bound, also when any free one was asked for. */
  readonly port: number;
  /** Of links and tokens, without a slash at its end. */
  readonly publicUrl: string;
  /**
   * What the first start made, also on later starts; undefined when the last workspace was deleted.
   */
  readonly tenant: Tenant | undefined;
  /** Every route there is, as declared. */
  readonly routes: readonly Route[];
  /** Does now what is done once a minute: drops what is outdated, expired or deleted. */
  runMaintenance(): Promise<void>;
  readonly journal: JournalProgress;
  /** Stops taking requests, lets those under way end, makes everything durable and closes. */
  close(reason: string): Promise<void>;
}

/** How far the entries of the journal have come. */
export interface JournalProgress {
  /** The position that the next entry gets. */
  end(): number;
  /** Whether everything before the position is where it belongs, and was handled. */
  isDone(before: number): boolean;
  /** Inserts the hours of what was shipped. */
  flushHours(): Promise<void>;
}

/** Parts that several others are given. */
export interface Parts {
  readonly config: Config;
  readonly telemetry: Telemetry;
  /** Parts add the reasons why no requests should come at present. */
  readonly readiness: Readiness;
  /** Whether only the records may still be written. */
  readonly diskIsFull: () => boolean;
  readonly records: OpenRecords;
  /** Undefined for the only platform on its records. */
  readonly node: ComposedNode | undefined;
  /** The journal of everything that came in. */
  readonly log: EntryLog;
  readonly store: Samples;
  /** Undefined when only this folder keeps the journal. */
  readonly journalCopy: JournalCopy | undefined;
  /** Undefined with samples in the data folder. */
  readonly sharedSamples: SharedSamples | undefined;
  /** All that follow the journal. */
  readonly followers: Followers;
  readonly directory: UplinkRouteCache;
  readonly access: Access;
  readonly address: PublicAddress;
  /** Adds somebody who is told every change of a record. */
  readonly followChanges: (follower: ChangeFollower) => void;
  /** Durable changes of alarms, as values. */
  readonly alarmFeed: AlarmFeed;
  /** Those who follow whole workspaces, and what they are sent. */
  readonly workspaceFanOut: WorkspaceFanOut;
  readonly liveEvents: LiveEvents;
  /** Told of every attempt of a delivery. */
  readonly reportOutcomes: ReportOutcomes;
  /** From now on, live events reach sessions of other nodes too. */
  readonly shareEvents: (events: EventAudience) => void;
  /** Organizations take turns on the main thread. */
  readonly turns: WorkTurns;
  /** Of each uplink secret, over all transports. */
  readonly uplinkLimit: UplinkLimit;
  /** What organizations use of their quotas. */
  readonly quotaUse: QuotaUse;
  /** What they have open just now, counted in one place for everybody who opens. */
  readonly openCounts: OpenCounts;
  /** What intakes refused, for the owners of the connectors. */
  readonly refusals: Refusals;
  /** With several nodes: the right to a device. Without it, all devices are of this process. */
  readonly ownership?: DeviceOwnership;
  /** With several nodes: what the live stream needs of the others. Call once. */
  readonly openLiveNodes?: () => LiveNodes;
  /** With several nodes: messages to the owners of devices, and to other nodes. */
  readonly messages?: NodeMessages;
  /** With several nodes: connections of clients that other nodes serve. */
  readonly forwardedClients?: ForwardedClients;
  /** With several nodes: the work that one of them does for all. Without it, this process does all. */
  readonly sharedWork?: SharedWork;
  readonly now: () => number;
  readonly newId: () => string;
  /** Work on many devices that goes on behind the answers. */
  readonly operations: OperationRunner;
  /** Sets the leases without which the journal keeps nothing. */
  readonly useLeases: (leases: { readonly continuity: () => number }) => void;
  /**
   * Sets who tells network servers of devices that are registered, activated and the like; without
   * one, nobody is told.
   */
  readonly useNetworkServers: (tell: TellNetworkServer) => void;
  /** Who tells them; undefined until then. */
  readonly networkServers: () => TellNetworkServer | undefined;
  /** Sets how changes are shared with other nodes before the answers of their requests. */
  readonly useChangeSharing: (share: () => Promise<void>) => void;
  /** Sets which operations this node runs, by their leases; without it, all. */
  readonly divideOperations: (holds: (lease: LeaseName) => boolean) => void;
}

// Public address: the address of the platform in links and tokens, known when its port is bound.

/** The URL of the settings while the system has not chosen the port. */
const unbound = /^(https?):\/\/localhost:0$/;

export class PublicAddress {
  readonly #publicUrl: string;
  readonly #deviceAudience: string;
  #bound: number | undefined;
  /** Without a slash at its end. */
  readonly url = (): string => this.#known(this.#publicUrl);
  /** The `aud` of tokens of devices. */
  readonly deviceAudience = (): string => this.#known(this.#deviceAudience);
  /** With `PORT=0` the system chooses the port: call before the first request. */
  readonly bound = (port: number): void => void (this.#bound = port);

  constructor({ publicUrl, deviceAudience }: Config) {
    this.#publicUrl = publicUrl;
    this.#deviceAudience = deviceAudience;
  }

  #known(url: string): string {
    return this.#bound === undefined ? url : url.replace(unbound, `$1://localhost:${this.#bound}`);
  }
}
