// The tables of alarms as Kysely sees them; a part of the schema.

/** JSON as a string. */
type JsonText = string;

export interface AlarmTables {
  alarms: {
    id: string;
    organizationId: string;
    workspaceId: string;
    name: string;
    severity: string;
    /** The place of the severity in their order, for sorting. */
    severityRank: number;
    state: string;
    key: string;
    /** The key until the alarm is cleared. */
    openKey: string | null;
    connectorId: string;
    deviceId: string | null;
    deviceName: string | null;
    devicePhysicalId: string | null;
    ruleId: string;
    ruleName: string;
    count: number;
    firstTriggered: number;
    lastTriggered: number;
    firstSampleAt: number | null;
    lastSampleAt: number | null;
    acknowledgedAt: number | null;
    acknowledgedBy: JsonText | null;
    clearedAt: number | null;
    clearedBy: JsonText | null;
    clearReason: string | null;
    escalatedAt: number | null;
    data: JsonText;
    correlationId: string;
    clearAt: number | null;
    escalateAt: number | null;
    sources: number;
    commentCount: number;
    orderedBy: string;
    searchText: string;
    version: number;
  };
  alarmSources: { ruleId: string; deviceId: string; connectorId: string; alarmId: string };
  alarmComments: { id: string; alarmId: string; at: number; by: JsonText; text: string };
}
