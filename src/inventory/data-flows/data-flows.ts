// Data flows: create, read, list, update, delete (contract 10).
import type { DataFlowDraft, DataFlowUpdate } from '../../contract/data-flows.ts';
import type { DataFlow, DeviceConnector, FlowOutput } from '../../model/connector.ts';
import type { DeviceType } from '../../model/device-type.ts';
import { isTopic, newId } from '../../model/ids.ts';
import { type Page, pageOf, type PageRequest } from '../../model/page.ts';
import { holds, type Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Records } from '../../storage/records/records.ts';
import {
  dataFlowRows,
  deviceConnectorRows,
  outputConnectorRows,
} from '../../storage/records/rows/data-flows.ts';
import { deviceTypeRows } from '../../storage/records/rows/device-types.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { findPlace } from '../../storage/records/rows/search.ts';
import { workspaceRows } from '../../storage/records/rows/workspaces.ts';
import { listReach, type ListScope } from '../list-scope.ts';
import {
  auditView,
  change,
  firstVersion,
  found,
  nextVersion,
  orCurrent,
  refuseWhenUsed,
  type Step,
  usersNamedMax,
} from '../record-crud.ts';
import { deviceConnectorView } from './device-connectors.ts';
import { deviceTypeView } from './device-types.ts';
import {
  type ConnectorViewer,
  type ConnectorViewOptions,
  isKnownTo,
  outputConnectorView,
} from './output-connectors.ts';

const outputsMax = 50;

function outputsFrom(sent: NonNullable<DataFlowUpdate['outputConnectors']>): FlowOutput[] {
  const outputs = new Map<string, FlowOutput>();
  for (const { id, topic } of sent) {
    const output = { outputConnectorId: id, topic: topic ?? '*' };
    if (output.topic !== '*' && !isTopic(output.topic)) {
      throw problem('invalidRequest', {
        reason: `body outputConnectors: ${output.topic} is not a valid topic; use * for all topics`,
      });
    }
    // The same connector for the same topic twice would deliver every sample twice.
    outputs.set(`${output.outputConnectorId} ${output.topic}`, output);
  }
  if (outputs.size > outputsMax) {
    throw problem('invalidRequest', {
      reason: `body outputConnectors: must have at most ${outputsMax} items`,
    });
  }
  return [...outputs.values()];
}

/** Throws for a reference to a record of another workspace or organization. */
async function checkReferences(step: Step, flow: DataFlow): Promise<void> {
  const connector = await findPlace(step.db, 'deviceConnector', flow.deviceConnectorId);
  if (connector?.workspaceId !== flow.workspaceId) {
    throw unknown('deviceConnector', 'device connector', flow.deviceConnectorId, 'workspace');
  }
  if (flow.deviceTypeId !== null) {
    const type = await findPlace(step.db, 'deviceType', flow.deviceTypeId);
    if (
      type === undefined ||
      (type.organizationId !== null && type.organizationId !== flow.organizationId)
    ) {
      throw unknown('deviceType', 'device type', flow.deviceTypeId, 'organization');
    }
  }
  const ids = [...new Set(flow.outputs.map((output) => output.outputConnectorId))];
  const outputs = new Map(
    (await outputConnectorRows.findAll(step, ids)).map((output) => [output.id, output]),
  );
  for (const id of ids) {
    const output = outputs.get(id);
    if (
      output === undefined ||
      (output.organizationId !== null && output.workspaceId !== flow.workspaceId)
    ) {
      throw unknown('outputConnectors', 'output connector', id, 'workspace');
    }
    if (output.scope !== 'DATA_FLOW') {
      throw problem('invalidRequest', {
        reason: `body outputConnectors: ${id} has scope RULE_ACTION; data flows require scope DATA_FLOW`,
      });
    }
  }
}

function unknown(field: string, what: string, id: string, place: 'workspace' | 'organization') {
  return problem('unknownReference', { field: `body ${field}`, what, id, place });
}

/** Data flows as callers make and read them. */
export class DataFlows {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async create(viewer: ConnectorViewer, draft: DataFlowDraft) {
    const record = await change(this.#records, (step) => insertDataFlow(step, draft));
    return dataFlowView(this.#records, viewer, record);
  }

  async read(viewer: ConnectorViewer, id: string) {
    return dataFlowView(
      this.#records,
      viewer,
      found(await dataFlowRows.find(this.#records.db, id), 'data flow', id),
    );
  }

  /** Items name device type and outputs only; the single record shows them whole. */
  async list(
    { principal, viewOptions }: ConnectorViewer,
    filter: ListScope & { readonly search?: string | undefined },
    page: PageRequest,
  ) {
    const reach = await listReach(this.#records, principal, filter);
    const { rows, total } = await dataFlowRows.list(
      this.#records.db,
      { ...reach, search: filter.search },
      page,
    );
    const connectorIds = rows.map((row) => row.deviceConnectorId);
    const typeIds = rows.flatMap((row) => row.deviceTypeId ?? []);
    const connectors = await deviceConnectorRows.byId(this.#records, connectorIds);
    const types = await deviceTypeRows.namesOf(this.#records.db, typeIds);
    const hidden = await unknownOutputs(this.#records, viewOptions, rows);
    const items = rows.map((row) => ({
      ...dataFlowHead(row, connectors.get(row.deviceConnectorId), principal),
      deviceType: types.get(row.deviceTypeId ?? '') ?? null,
      outputConnectors: row.outputs.flatMap(({ outputConnectorId: id, topic }) =>
        hidden.has(id) ? [] : [{ id, topic }],
      ),
    }));
    return pageOf(items, total, page) satisfies Page<unknown>;
  }

  /** The device connector cannot be changed. */
  async update(viewer: ConnectorViewer, id: string, sent: DataFlowUpdate) {
    const saved = await change(this.#records, async (step) => {
      const current = found(await dataFlowRows.find(step.db, id), 'data flow', id);
      const deviceTypeId =
        sent.deviceType === undefined ? current.deviceTypeId : (sent.deviceType?.id ?? null);
      const passThrough =
        sent.passThrough ??
        sent.isPassThrough ??
        (current.deviceTypeId !== null && current.passThrough);
      const record: DataFlow = {
        ...current,
        name: orCurrent(sent.name, current.name),
        description: orCurrent(sent.description, current.description),
        deviceTypeId,
        outputs:
          sent.outputConnectors === undefined
            ? current.outputs
            : [
                ...outputsFrom(sent.outputConnectors ?? []),
                ...(await hiddenOutputs(step, viewer.viewOptions, current, sent)),
              ],
        passThrough: deviceTypeId === null || passThrough,
        retentionDays: orCurrent(sent.retentionDays, current.retentionDays),
        ...nextVersion(current, sent.version, step.now()),
      };
      await checkReferences(step, record);
      await dataFlowRows.save(step.db, record);
      step.announce({ kind: 'dataFlow', id, action: 'updated' });
      return record;
    });
    return dataFlowView(this.#records, viewer, saved);
  }

  async remove(id: string): Promise<void> {
    await change(this.#records, async (step) => {
      found(await dataFlowRows.find(step.db, id), 'data flow', id);
      refuseWhenUsed('data flow', await deviceRows.usingDataFlow(step.db, id, usersNamedMax));
      await dataFlowRows.remove(step.db, id);
      step.announce({ kind: 'dataFlow', id, action: 'deleted' });
    });
  }
}

/** The same in the open transaction. */
export async function insertDataFlow(step: Step, draft: DataFlowDraft): Promise<DataFlow> {
  const { organizationId } = found(
    await workspaceRows.find(step.db, draft.workspaceId),
    'workspace',
    draft.workspaceId,
  );
  const deviceTypeId = draft.deviceType?.id ?? null;
  const flow: DataFlow = {
    id: newId('dataFlow'),
    organizationId,
    workspaceId: draft.workspaceId,
    name: draft.name,
    description: draft.description ?? null,
    deviceConnectorId: draft.deviceConnector.id,
    deviceTypeId,
    outputs: outputsFrom(draft.outputConnectors ?? []),
    passThrough: deviceTypeId === null || (draft.passThrough ?? draft.isPassThrough ?? false),
    retentionDays: draft.retentionDays ?? null,
    ...firstVersion(step.now()),
  };
  await checkReferences(step, flow);
  await dataFlowRows.insert(step.db, flow);
  step.announce({ kind: 'dataFlow', id: flow.id, action: 'created' });
  return flow;
}

/** Hidden outputs stay when a client sends back the list that it received. */
async function hiddenOutputs(
  step: Step,
  viewOptions: ConnectorViewOptions,
  { outputs }: DataFlow,
  { outputConnectors }: DataFlowUpdate,
): Promise<FlowOutput[]> {
  const sent = new Set(outputConnectors?.map(({ id }) => id));
  const unsent = outputs.filter(({ outputConnectorId }) => !sent.has(outputConnectorId));
  const hidden = await unknownOutputs(step, viewOptions, [{ outputs: unsent }]);
  return unsent.filter(({ outputConnectorId }) => hidden.has(outputConnectorId));
}

// Data flows in answers: the single record contains whole records, a list contains names (contract 10).

/** The members that the single record and the items of a list have in common. */
function dataFlowHead(
  flow: DataFlow,
  connector: DeviceConnector | undefined,
  principal: Principal,
) {
  const { id, name, description, workspaceId, organizationId, passThrough, retentionDays } = flow;
  if (connector === undefined)
    throw new Error(`The device connector of data flow ${id} is missing`);
  return {
    id,
    ...auditView(flow),
    name,
    description,
    deviceConnector: deviceConnectorView(connector, principal),
    workspaceId,
    organizationId,
    passThrough,
    isPassThrough: passThrough,
    retentionDays,
  };
}

async function dataFlowView(
  records: Records,
  { principal, viewOptions }: ConnectorViewer,
  flow: DataFlow,
) {
  const connectors = await deviceConnectorRows.byId(records, [flow.deviceConnectorId]);
  const type =
    flow.deviceTypeId === null
      ? undefined
      : await deviceTypeRows.find(records.db, flow.deviceTypeId);
  const ids = flow.outputs.map((output) => output.outputConnectorId);
  const outputs = new Map(
    (await outputConnectorRows.findAll(records, ids)).map((output) => [output.id, output]),
  );
  return {
    ...dataFlowHead(flow, connectors.get(flow.deviceConnectorId), principal),
    deviceType: typeFor(principal, type),
    outputConnectors: flow.outputs.flatMap(({ outputConnectorId, topic }) => {
      const output = outputs.get(outputConnectorId);
      if (output === undefined || !isKnownTo(viewOptions, output.type)) return [];
      return [{ ...outputConnectorView(output, viewOptions), topic }];
    }),
  };
}

/** Only callers with `deviceType` `read` receive the scripts of the type. */
function typeFor(principal: Principal, type: DeviceType | undefined) {
  if (type === undefined) return null;
  if (holds(principal, 'deviceType', 'read', null)) return deviceTypeView(type);
  return deviceTypeWithoutScripts(type);
}

/** Ids of the outputs of the flows whose type the client does not know (contract 36). */
async function unknownOutputs(
  records: Records,
  viewOptions: ConnectorViewOptions,
  flows: readonly { readonly outputs: readonly FlowOutput[] }[],
): Promise<ReadonlySet<string>> {
  if (!viewOptions.vendorNames) return new Set();
  const ids = new Set(
    flows.flatMap(({ outputs }) => outputs.map((output) => output.outputConnectorId)),
  );
  const connectors = await outputConnectorRows.findAll(records, [...ids]);
  return new Set(
    connectors.filter(({ type }) => !isKnownTo(viewOptions, type)).map(({ id }) => id),
  );
}

/**
 * As `deviceTypeView`, for those who may read data flows but not device types: without the scripts.
 */
function deviceTypeWithoutScripts(record: DeviceType) {
  return { ...deviceTypeView(record), uplinkScript: null, downlinkScript: null };
}
