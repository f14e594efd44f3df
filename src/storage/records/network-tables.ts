// The tables of integrations and downlinks as Kysely sees them.
import type { Generated } from 'kysely';

export interface NetworkTables {
  integrations: {
    id: string;
    organizationId: string;
    workspaceId: string;
    name: string;
    description: string | null;
    searchText: string;
    type: string;
    provider: string | null;
    /** JSON, encrypted with the installation's key. */
    properties: string;
    created: number;
    updated: number | null;
    version: number;
  };
  /** In the order of their making; flags are 0 or 1. */
  downlinks: {
    sequence: Generated<number>;
    id: string;
    deviceId: string;
    connectivity: string;
    created: number;
    updated: number | null;
    state: string;
    error: string | null;
    port: number | null;
    confirmed: number | null;
    payloadHex: string | null;
    topic: string | null;
    /** JSON. */
    payload: string | null;
    replaces: number;
    tries: number;
    nextTryAt: number | null;
    expiresAt: number;
    serverReference: string | null;
    correlationId: string;
  };
}
