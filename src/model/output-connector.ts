// Output connectors: the destinations of samples from a data flow or a rule (contract 9).
import type { JsonObject } from './json.ts';
import type { AuditFields } from './record.ts';

export const outputScopes = ['DATA_FLOW', 'RULE_ACTION'] as const;
export type OutputScope = (typeof outputScopes)[number];

export interface OutputConnector extends AuditFields {
  readonly id: string;
  /** Null for the global database connector. */
  readonly organizationId: string | null;
  readonly workspaceId: string | null;
  readonly name: string;
  readonly scope: OutputScope;
  /**
   * The name of a row of the connector table; a record of another release may have a name that has
   * no row here.
   */
  readonly type: string;
  readonly sendConsecutiveAlerts: boolean;
  readonly invokeRuleEngine: boolean;
  readonly useCustomPayload: boolean;
  readonly customPayload: string | null;
  /** The properties of its type, secrets in clear; null for types without any. */
  readonly properties: JsonObject | null;
}
