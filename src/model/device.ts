// Device: the sender of uplinks; the interface also calls it an asset (interface 2.1, contract 4).
import type { Connectivity } from './connector.ts';
import type { EpochMs } from './instant.ts';
import type { JsonObject } from './json.ts';
import type { PlanPosition } from './place.ts';
import type { AuditFields } from './record.ts';
import type { UplinkMetrics } from './uplink-metrics.ts';

export interface Device extends AuditFields {
  /** Service device id. */
  readonly id: string;
  /** Physical device id; unique within the organization. */
  readonly deviceId: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly dataFlowId: string;
  readonly name: string;
  readonly description: string | null;
  readonly connectivity: Connectivity;
  readonly onlineTimeoutSeconds: number;
  readonly properties: JsonObject;
  readonly loraProperties: JsonObject | null;
  /** The integration that registers the device with its network server; null without one. */
  readonly integrationId: string | null;
  readonly excludeFromLifecycleReport: boolean;
  /**
   * Whether its network server knows the device: null until the server agreed, and for other than
   * LoRa devices. See `isRegistered`.
   */
  readonly registered: boolean | null;
  /** Whether its network server serves the device; null for other than LoRa devices. */
  readonly active: boolean | null;
  /** Of its workspace. */
  readonly placeId: string | null;
  /** On the plan of the nearest place at or above its own that has one. */
  readonly planPosition: PlanPosition | null;
}

export const onlineStates = ['UNKNOWN', 'DE_REGISTERED', 'OFFLINE', 'ONLINE'] as const;
export type OnlineState = (typeof onlineStates)[number];

/**
 * The state of a device that is new or has a new connectivity: whether the network server of a LoRa
 * device knows it is unknown.
 */
export function firstRegistration(connectivity: Connectivity): {
  readonly registered: boolean | null;
  readonly active: boolean | null;
} {
  return { registered: null, active: connectivity === 'LORA' ? true : null };
}

/** What answers tell: an uplink of a LoRa device shows that its network server knows it (contract 42). */
export function isRegistered(
  { registered, connectivity }: Device,
  lastUplink: unknown,
): boolean | null {
  if (registered !== null || connectivity !== 'LORA') return registered;
  return lastUplink === null ? null : true;
}

/**
 * LoRa and not registered: de-registered; never an uplink: unknown; one younger than the time-out,
 * which did not say that the device is gone: online; else offline (contract 4).
 */
export function onlineStateOf(
  registered: boolean | null,
  lastUplink: UplinkMetrics | null,
  onlineTimeoutSeconds: number,
  now: EpochMs,
): { readonly online: boolean | null; readonly onlineState: OnlineState } {
  if (registered === false) return { online: false, onlineState: 'DE_REGISTERED' };
  if (lastUplink === null) return { online: null, onlineState: 'UNKNOWN' };
  const { timestamp, isGone = false } = lastUplink;
  const online = !isGone && now - timestamp < onlineTimeoutSeconds * 1_000;
  return { online, onlineState: online ? 'ONLINE' : 'OFFLINE' };
}
