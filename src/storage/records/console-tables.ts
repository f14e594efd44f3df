// Tables of what users arrange for themselves, as Kysely sees them.

/** JSON as a string; read and written only through `columns.ts`. */
type JsonText = string;

export interface ConsoleTables {
  dashboardShares: {
    id: string;
    lastUsed: number | null;
    tokenHash: string;
    dashboardId: string;
    created: number;
    expiresAt: number | null;
  };
  demoWorkspaces: { workspaceId: string; organizationId: string; deviceTypeIds: JsonText };
  preferences: { ownerId: string; content: JsonText; updated: number };
  activities: {
    id: string;
    organizationId: string;
    workspaceId: string;
    requestId: string | null;
    actorType: string;
    actorId: string;
    actorName: string;
    started: number;
    timestamp: number;
    /** Between bars, so that each is found. */
    resourceTypes: string;
    changes: JsonText;
    records: JsonText;
  };
  /** What happened to a record in a period that begins at `start`. */
  periodCounts: { recordId: string; what: string; start: number; count: number };
  flowSamples: { dataFlowId: string; lastSampleAt: number };
  views: {
    id: string;
    organizationId: string;
    workspaceId: string;
    ownerId: string;
    name: string;
    description: string | null;
    searchText: string;
    kind: string;
    shared: number;
    content: JsonText;
    created: number;
    updated: number | null;
    version: number;
  };
}
