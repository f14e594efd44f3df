// Registration of a device: the device itself and, when asked for, a new data flow with its connector.
import { ask, platform } from '../../api/platform.ts';

export const connectivities = ['HTTP', 'MQTT', 'COAP'] as const;
export type Connectivity = (typeof connectivities)[number];

export interface Registration {
  readonly workspaceId: string;
  readonly name: string;
  readonly deviceId: string;
  readonly description: string;
  /** Empty for a new data flow. */
  readonly flowId: string;
  readonly connectivity: Connectivity;
  /** Empty for devices whose JSON is stored as it is. */
  readonly deviceTypeId: string;
}

export function registerDevice(sent: Registration, dataFlowId: string) {
  const { workspaceId, name, deviceId } = sent;
  const description = sent.description === '' ? {} : { description: sent.description };
  const body = { workspaceId, name, deviceId, dataFlowId, ...description };
  return ask(platform.POST('/v3/devices', { body }));
}

interface MadeFlow {
  readonly flowId: string;
  /** Deletes what was made, for a device that was refused. */
  readonly discard: () => Promise<void>;
}

/** A data flow that stores what arrives, with its connector. */
export async function createFlow(sent: Registration): Promise<MadeFlow> {
  const { workspaceId, connectivity, deviceTypeId, name } = sent;
  const known = await knownConnector(workspaceId, connectivity);
  const connector = known ?? (await createConnector(workspaceId, connectivity));
  const store = await storeOf(workspaceId);
  const flow = await ask(
    platform.POST('/v3/data-flows', {
      body: {
        workspaceId,
        name,
        deviceConnector: { id: connector },
        deviceType: deviceTypeId === '' ? null : { id: deviceTypeId },
        passThrough: deviceTypeId === '',
        outputConnectors: store === undefined ? [] : [{ id: store, topic: '*' }],
      },
    }),
  );
  return {
    flowId: flow.id,
    async discard() {
      // The refusal is what the user must know; what stays is in the list of flows.
      const path = { id: flow.id };
      await ask(platform.DELETE('/v3/data-flows/{id}', { params: { path } })).catch(
        () => undefined,
      );
      if (known !== undefined) return;
      const own = { path: { id: connector } };
      await ask(platform.DELETE('/v3/device-connectors/{id}', { params: own })).catch(
        () => undefined,
      );
    },
  };
}

/** Id of the output that stores samples, if the caller may use it. */
export async function storeOf(workspaceId: string): Promise<string | undefined> {
  const query = { workspaceId, size: 1_000 };
  const outputs = await ask(platform.GET('/v3/output-connectors', { params: { query } }));
  return outputs.content.find(({ type }) => type === 'DATABASE')?.id;
}

async function createConnector(workspaceId: string, connectivity: Connectivity): Promise<string> {
  const body = { workspaceId, connectivity, name: connectivity };
  return (await ask(platform.POST('/v3/device-connectors', { body }))).id;
}

/** Id of an own connector of the workspace whose devices need only its secret. */
export async function knownConnector(
  workspaceId: string,
  connectivity: Connectivity,
): Promise<string | undefined> {
  const query = { workspaceId, size: 1_000 };
  const { content } = await ask(platform.GET('/v3/device-connectors', { params: { query } }));
  const known = content.find(
    (one) => one.connectivity === connectivity && one.authType === 'BASIC' && !one.readOnly,
  );
  return known?.id;
}
