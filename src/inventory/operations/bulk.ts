// Bulk requests: work on many devices, accepted as an operation that runs in the background (contract 4, 19).
import type { JsonObject } from '../../model/json.ts';
import type { NetworkWork, OperationPlan } from '../../model/operation.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { dataFlowRows } from '../../storage/records/rows/data-flows.ts';
import type { Records } from '../../storage/records/records.ts';
import { findDeviceIds } from '../../storage/records/rows/device-lists.ts';
import { tagRows } from '../../storage/records/rows/tags.ts';
import { Assets } from '../devices/assets.ts';
import type { DeviceDraft, DeviceUpdate } from '../../contract/devices.ts';
import { acceptOperation, operationLimits, type OperationItem } from './operations.ts';
import { listReach } from '../list-scope.ts';

/** The selected devices of the workspace: by id, or all that a filter finds. */
export interface BulkSelection {
  readonly workspaceId: string;
  readonly deviceIds?: readonly string[] | null | undefined;
  readonly search?: string | null | undefined;
  readonly expression?: unknown;
}

/** Throws 400 for named devices besides a filter: who sends both expects fewer devices than are named. */
export function refuseMixed({
  deviceIds,
  ...filter
}: BulkSelection & { readonly tagId?: string | null | undefined }): void {
  if (deviceIds === undefined || deviceIds === null) return;
  for (const name of ['tagId', 'expression', 'search'] as const)
    if (filter[name] !== undefined && filter[name] !== null)
      throw problem('invalidRequest', {
        reason: `body ${name}: cannot be combined with deviceIds`,
      });
}

async function selectedIds(
  records: Records,
  principal: Principal,
  selection: BulkSelection,
): Promise<readonly string[]> {
  const { workspaceId, deviceIds, search, expression } = selection;
  refuseMixed(selection);
  if (deviceIds !== undefined && deviceIds !== null) return [...new Set(deviceIds)];
  if (expression === undefined || expression === null) {
    throw problem('invalidRequest', { reason: 'body: set deviceIds or expression' });
  }
  const scope = { workspaceIds: [workspaceId], search: search ?? undefined, expression };
  const filter = await new Assets(records).filterOf(principal, scope);
  return findDeviceIds(
    records.elsewhere(filter.organizationId),
    filter,
    operationLimits.itemsMax + 1,
    records.now(),
  );
}

const asInput = (value: object) => value as JsonObject;

/** Work on many devices, accepted as an operation that runs in the background. */
export class BulkRequests {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  create(
    principal: Principal,
    sent: {
      readonly workspaceId: string;
      readonly devices: readonly Omit<DeviceDraft, 'workspaceId'>[];
    },
  ) {
    const items = sent.devices.map(
      (device): OperationItem => ({ type: 'CREATE', name: device.name, input: asInput(device) }),
    );
    const draft = {
      workspaceId: sent.workspaceId,
      type: 'BULK_CREATE',
      plan: { work: 'create' },
    } as const;
    return acceptOperation(this.#records, principal, draft, items);
  }

  /** Each device has its own changes (`devices`), or all selected ones get the same `changes`. */
  async update(
    principal: Principal,
    sent: BulkSelection & {
      readonly devices?: readonly (DeviceUpdate & { readonly id: string })[] | null | undefined;
      readonly changes?: DeviceUpdate | null | undefined;
    },
  ) {
    const items = sent.devices?.map(
      (device): OperationItem => ({
        type: 'UPDATE',
        name: device.name ?? device.id,
        input: asInput(device),
      }),
    );
    const draft = {
      workspaceId: sent.workspaceId,
      type: 'BULK_UPDATE',
      plan: { work: 'update' },
    } as const;
    if (items !== undefined) return acceptOperation(this.#records, principal, draft, items);
    return this.#acceptSelected(principal, sent, 'UPDATE', draft.plan, sent.changes ?? {});
  }

  async remove(principal: Principal, sent: BulkSelection) {
    return this.#acceptSelected(principal, sent, 'DELETE', { work: 'delete' });
  }

  /** Registers LoRa devices with network servers, or the reverse; other devices fail one by one. */
  async networkWork(principal: Principal, work: NetworkWork, sent: BulkSelection) {
    const type = work.toUpperCase() as Uppercase<NetworkWork>;
    return this.#acceptSelected(principal, sent, type, { work });
  }

  /** Moves to a data flow of another workspace, in which the principal can update devices. */
  async move(
    principal: Principal,
    sent: BulkSelection & { readonly targetWorkspaceId: string; readonly dataFlowId: string },
  ) {
    const { targetWorkspaceId, dataFlowId } = sent;
    await listReach(this.#records, principal, { workspaceIds: [targetWorkspaceId] }, [
      'asset',
      'update',
    ]);
    const flow = await dataFlowRows.find(this.#records.db, dataFlowId);
    if (flow?.workspaceId !== targetWorkspaceId) {
      const field = 'body dataFlowId';
      throw problem('unknownReference', {
        field,
        what: 'data flow',
        id: dataFlowId,
        place: 'workspace',
      });
    }
    const plan = { work: 'move', workspaceId: targetWorkspaceId, dataFlowId } as const;
    return this.#acceptSelected(principal, sent, 'UPDATE', plan);
  }

  async tag(
    principal: Principal,
    sent: BulkSelection & {
      readonly addTagIds?: readonly string[] | null | undefined;
      readonly removeTagIds?: readonly string[] | null | undefined;
    },
  ) {
    const { workspaceId } = sent;
    const add = [...new Set(sent.addTagIds ?? [])];
    const remove = [...new Set(sent.removeTagIds ?? [])];
    if (add.length + remove.length === 0) {
      throw problem('invalidRequest', { reason: 'body: set addTagIds or removeTagIds' });
    }
    const own = (await tagRows.findAll(this.#records.db, [...add, ...remove])).filter(
      (tag) => tag.workspaceId === workspaceId,
    );
    const missing = [...add, ...remove].find((id) => !own.some((tag) => tag.id === id));
    if (missing !== undefined) {
      throw problem('unknownReference', {
        field: 'body tags',
        what: 'tag',
        id: missing,
        place: 'workspace',
      });
    }
    return this.#acceptSelected(principal, sent, 'UPDATE', { work: 'tag', add, remove });
  }

  /** The same for each device that the request selects; `input` is that of each. */
  async #acceptSelected(
    principal: Principal,
    sent: BulkSelection,
    type: 'UPDATE' | 'DELETE' | Uppercase<NetworkWork>,
    plan: OperationPlan,
    input: object = {},
  ) {
    const ids = await selectedIds(this.#records, principal, sent);
    const items = ids.map((id) => ({ type, name: id, input: asInput({ ...input, id }) }));
    const draft = { workspaceId: sent.workspaceId, type: `BULK_${type}`, plan } as const;
    return acceptOperation(this.#records, principal, draft, items);
  }
}
