// Data flow: one device connector, at most one device type and the outputs for its samples (contract 10).
import type { AuditFields } from './record.ts';

/** `*` for every topic. */
export interface FlowOutput {
  readonly outputConnectorId: string;
  readonly topic: string;
}

export interface DataFlow extends AuditFields {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly description: string | null;
  readonly deviceConnectorId: string;
  readonly deviceTypeId: string | null;
  readonly outputs: readonly FlowOutput[];
  /** The body of an uplink becomes the sample's data unchanged. */
  readonly passThrough: boolean;
  /** Samples are kept for so many days; null as its workspace says. */
  readonly retentionDays: number | null;
}
