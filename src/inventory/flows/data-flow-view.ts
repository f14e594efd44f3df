// Data flows in answers: the single record contains whole records, a list contains names (contract 10).
import type { DeviceConnector } from '../../model/connector.ts';
import type { DataFlow } from '../../model/data-flow.ts';
import type { DeviceType } from '../../model/device-type.ts';
import { holds, type Principal } from '../../model/principal.ts';
import type { Records } from '../../records/records.ts';
import { findDeviceConnectors } from '../../records/rows/device-connectors.ts';
import { findDeviceType } from '../../records/rows/device-types.ts';
import { findOutputConnectors } from '../../records/rows/output-connectors.ts';
import { auditView } from '../record-change.ts';
import { deviceConnectorView } from './device-connectors.ts';
import { deviceTypeView, deviceTypeWithoutScripts } from './device-types.ts';
import {
  isKnownTo,
  outputConnectorView,
  type ConnectorViewer,
  type ConnectorViewOptions,
} from './output-connector-view.ts';

/** The members that the single record and the items of a list have in common. */
export function dataFlowHead(
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

export async function dataFlowView(
  records: Records,
  { principal, viewOptions }: ConnectorViewer,
  flow: DataFlow,
) {
  const connectors = await findDeviceConnectors(records, [flow.deviceConnectorId]);
  const type =
    flow.deviceTypeId === null ? undefined : await findDeviceType(records.db, flow.deviceTypeId);
  const ids = flow.outputs.map((output) => output.outputConnectorId);
  const outputs = new Map(
    (await findOutputConnectors(records, ids)).map((output) => [output.id, output]),
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
export async function unknownOutputs(
  records: Parameters<typeof findOutputConnectors>[0],
  viewOptions: Pick<ConnectorViewOptions, 'vendorNames'>,
  flows: readonly Pick<DataFlow, 'outputs'>[],
): Promise<ReadonlySet<string>> {
  if (!viewOptions.vendorNames) return new Set();
  const ids = new Set(
    flows.flatMap(({ outputs }) => outputs.map((output) => output.outputConnectorId)),
  );
  const connectors = await findOutputConnectors(records, [...ids]);
  return new Set(
    connectors.filter(({ type }) => !isKnownTo(viewOptions, type)).map(({ id }) => id),
  );
}
