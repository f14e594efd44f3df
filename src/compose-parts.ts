// What the composition hands around: parts that several others are given, and the platform that comes out.
import type { ApiKeyAuthenticator } from './access/api-key-authenticator.ts';
import type { Authenticator } from './access/authenticator.ts';
import type { Config } from './config.ts';
import type { OperationRunner } from './flows/operation-runner.ts';
import type { UplinkDirectory } from './inventory/uplink-directory.ts';
import type { OpenRecords } from './store/records/database.ts';
import type { SampleStore } from './store/sample-store.ts';
import type { Telemetry } from './telemetry/events.ts';

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
  /** What the first start made, also on later starts; undefined when the last workspace was deleted. */
  readonly tenant: Tenant | undefined;
  /** Does now what is done once a minute: drops what is outdated, expired or deleted. */
  keepHouse(): Promise<void>;
  /** Stops taking requests, lets those under way end, makes everything durable and closes. */
  close(reason: string): Promise<void>;
}

/** Parts that several others are given. */
export interface Parts {
  readonly config: Config;
  readonly telemetry: Telemetry;
  readonly records: OpenRecords;
  readonly store: SampleStore;
  readonly directory: UplinkDirectory;
  readonly apiKeys: ApiKeyAuthenticator;
  readonly authenticators: readonly Authenticator[];
  readonly now: () => number;
  readonly newId: () => string;
  /** Work on many devices that goes on behind the answers. */
  readonly operations: OperationRunner;
}
