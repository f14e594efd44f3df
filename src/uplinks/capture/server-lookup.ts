// Server lookup: the network server that sends to a device connector. The type of an integration never changes.
import type { DeviceConnector } from '../../model/connector.ts';
import type { Integration, IntegrationType } from '../../model/integration.ts';
import type { NetworkServer } from '../../transports/network-servers/network-server.ts';
import {
  serverOfDecodingType,
  serverOfIntegration,
} from '../../transports/network-servers/network-server-table.ts';

/** Throws when the integration of the connector is missing. */
export function createServerLookup(
  findIntegration: (id: string) => Promise<Pick<Integration, 'type'> | undefined>,
): (connector: DeviceConnector) => Promise<NetworkServer> {
  const types = new Map<string, IntegrationType>();

  async function typeOf(id: string): Promise<IntegrationType> {
    const known = types.get(id);
    if (known !== undefined) return known;
    const integration = await findIntegration(id);
    if (integration === undefined)
      throw new Error(`Integration ${id} of a device connector is missing`);
    types.set(id, integration.type);
    return integration.type;
  }

  return async ({ decodingType, integrationId }) => {
    if (decodingType !== 'NONE') return serverOfDecodingType[decodingType];
    return serverOfIntegration[await typeOf(integrationId ?? '')];
  };
}
