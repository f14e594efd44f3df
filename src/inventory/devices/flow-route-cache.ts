// Flow route cache: data flows with their connector, device type and outputs, each shared by its devices.
import type { ImplausibleTimes } from '../../model/workspace.ts';
import type { DataFlow, DeviceConnector } from '../../model/connector.ts';
import type { DeviceType } from '../../model/device-type.ts';
import type { OpenOutputConnector } from '../../storage/records/rows/data-flows.ts';

/** A data flow with its connector, device type and outputs. */
export interface FlowRoute {
  readonly flow: DataFlow;
  readonly connector: DeviceConnector;
  readonly type: DeviceType | null;
  /** For how many days samples are kept, by the flow or else its workspace; null without limit. */
  readonly keptDays: number | null;
  /** What becomes of samples with times that cannot be right. */
  readonly implausibleTimes: ImplausibleTimes;
  readonly outputs: readonly { readonly connector: OpenOutputConnector; readonly topic: string }[];
}

/** A flow that devices share. A stale flow is read again, without its devices. */
export interface SharedFlow {
  readonly route: FlowRoute;
  isStale: boolean;
}

/** Flows of devices, each read once and shared. */
export interface FlowCache {
  /** Undefined when it must be read. */
  cached(id: string): SharedFlow | undefined;
  /** The cached flow, or the stored one. */
  read(id: string): Promise<SharedFlow>;
  /** Marks the flow as stale. */
  delete(id: string): void;
  /** Marks the flows that contain the record as stale. */
  deleteUsersOf(id: string): void;
}
