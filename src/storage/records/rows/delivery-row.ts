// The row of a delivery in the records store.
import type { Generated } from 'kysely';

export interface DeliveryRow {
  sequence: Generated<number>;
  id: string;
  idempotencyKey: string;
  connectorId: string;
  organizationId: string;
  workspaceId: string;
  deviceId: string;
  correlationId: string;
  cause: string;
  ruleId: string | null;
  ruleHops: number;
  /** JSON. */
  context: string;
  state: string;
  tries: number;
  nextAt: number;
  created: number;
  updated: number;
  payload: string | null;
  answer: string | null;
  reason: string | null;
  /** Of several nodes; null in the only process. */
  shard: number | null;
  revision: Generated<number>;
  isResent: Generated<number>;
}
