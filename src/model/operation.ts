// Operations: work on many devices that continues after the response to its request (contract 19).
import type { EpochMs } from './instant.ts';
import type { JsonObject } from './json.ts';
import type { SampleDeletion, SampleRecalculation } from './sample-changes.ts';

export const operationTypes = [
  'BULK_CREATE',
  'BULK_REGISTER',
  'BULK_DEREGISTER',
  'BULK_UPDATE',
  'BULK_DELETE',
  'BULK_ACTIVATE',
  'BULK_DEACTIVATE',
  'INTEGRATION_SYNC',
  'INTEGRATION_DELETE',
  'DATA_EXPORT',
  'DATA_DELETE',
  'DATA_RECALCULATE',
] as const;
export type OperationType = (typeof operationTypes)[number];

export const actionTypes = [
  'CREATE',
  'UPDATE',
  'DELETE',
  'REGISTER',
  'DEREGISTER',
  'ACTIVATE',
  'DEACTIVATE',
  'INTEGRATION_SYNC',
  'BULK_ACTIVATE',
  'BULK_DEACTIVATE',
  'INTEGRATION_DELETE',
  'FORCE_TERMINATE',
  'DATA_EXPORT',
  'DATA_DELETE',
] as const;
export type ActionType = (typeof actionTypes)[number];

/** `SKIPPED`: nothing was done, because there is nobody who could be told; clients of old do not know it. */
export const actionStates = ['STARTED', 'SUCCEEDED', 'FAILED', 'SKIPPED'] as const;
export type ActionState = (typeof actionStates)[number];

/** What a network server is told about a LoRa device. */
export const networkWorks = ['register', 'deregister', 'activate', 'deactivate'] as const;
export type NetworkWork = (typeof networkWorks)[number];

/** What is done with every item of an operation. */
export type OperationPlan =
  | { readonly work: 'create' }
  /** Items with an id are changed, others made. */
  | { readonly work: 'import' }
  | { readonly work: 'update' }
  | { readonly work: 'delete' }
  /** Not in items; see `sample-export.ts`. */
  | { readonly work: 'export' }
  | ({ readonly work: 'deleteSamples' } & SampleDeletion)
  | ({ readonly work: 'recalculate' } & SampleRecalculation)
  | { readonly work: NetworkWork }
  | { readonly work: 'move'; readonly workspaceId: string; readonly dataFlowId: string }
  | { readonly work: 'tag'; readonly add: readonly string[]; readonly remove: readonly string[] };

export interface Operation {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  /** Id of the user, key or client that asked for it. */
  readonly creator: string;
  readonly type: OperationType;
  readonly plan: OperationPlan;
  readonly started: EpochMs;
  readonly completed: EpochMs | null;
  readonly total: number;
  /** Items are worked on in order, so this is also the place of the next one. */
  readonly done: number;
  readonly failed: number;
}

/** What became of an item, for people and clients. */
export interface ActionData extends JsonObject {
  readonly name: string;
}

export interface OperationAction {
  readonly id: string;
  readonly place: number;
  readonly type: ActionType;
  readonly state: ActionState | 'PENDING';
  /** What must be done; null when it is done. */
  readonly input: JsonObject | null;
  readonly data: ActionData;
  readonly started: EpochMs | null;
  readonly completed: EpochMs | null;
}

// Sample export: samples of many devices written to one file, which a client downloads when it is complete.

export const sampleExportFormats = ['parquet', 'ndjson', 'csv'] as const;
export type SampleExportFormat = (typeof sampleExportFormats)[number];

export const sampleExportStates = ['RUNNING', 'COMPLETE', 'FAILED'] as const;
export type SampleExportState = (typeof sampleExportStates)[number];

/** What an export contains. */
export interface SampleExportPlan {
  readonly format: SampleExportFormat;
  /** Inclusive. */
  readonly from: EpochMs | null;
  /** Exclusive; at the latest the time of the request, so that an export comes to an end. */
  readonly to: EpochMs;
  /** All when null. */
  readonly topics: readonly string[] | null;
  /** Members of `data`; all when null. */
  readonly keys: readonly string[] | null;
  /** In ascending order. Null: all of the workspace, or those that have one of the tags. */
  readonly deviceIds: readonly string[] | null;
  readonly tagIds: readonly string[] | null;
}

/** An export has the id of its operation, which contains its progress in devices. */
export interface SampleExport {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  /** The node whose disk has the file; empty for the only platform on its records. */
  readonly node: string;
  readonly state: SampleExportState;
  readonly plan: SampleExportPlan;
  readonly samples: number;
  /** Bytes of the file. */
  readonly bytes: number;
  /** Stretches of samples that could not be read and are not in the file. */
  readonly unreadable: number;
  readonly errorCode: string | null;
  readonly error: string | null;
  /** The file and the record are removed then; null while the export runs. */
  readonly expires: EpochMs | null;
}

export const sampleExportLimits = {
  /** Devices that a request names, or that its expression finds. */
  devicesMax: 50_000,
  tagsMax: 100,
  topicsMax: 100,
  keysMax: 100,
  /** Of one organization, complete or not. */
  perOrganizationMax: 20,
  /** An export fails instead of leaving less room than this to what devices send. */
  freeBytesMin: 256 * 1024 * 1024,
} as const;

const fileEndings: Readonly<Record<SampleExportFormat, string>> = {
  parquet: 'parquet',
  ndjson: 'ndjson.gz',
  csv: 'csv.gz',
};

/** The name of the file, without its folder. */
export function exportFileName(format: SampleExportFormat): string {
  return `samples.${fileEndings[format]}`;
}
