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
