// Short ways to what tests of LoRaWAN need: an integration, a device on it, its webhook and its downlinks.
import { databaseConnectorId } from '../../src/model/ids.ts';
import type { Answered, World } from './world.ts';

export interface LoraDevice {
  readonly id: string;
  readonly deviceEui: string;
  readonly integrationId: string;
  readonly secret: string;
  /** Hands a message in as the network server would. */
  webhook(body: unknown, query?: Record<string, string>): Promise<Answered>;
  downlink(body: unknown): Promise<Answered>;
  /** Its downlinks in the order of their making. */
  downlinks(): Promise<Answered['body'][]>;
  /** The messages of its processing log, oldest first. */
  notes(): Promise<string[]>;
}

export interface LoraOptions {
  readonly type?: string;
  readonly properties?: Record<string, string>;
  readonly deviceEui?: string;
  readonly uplinkScript?: string;
  readonly downlinkScript?: string;
  readonly loraProperties?: Record<string, unknown>;
}

let count = 0;

export async function loraDevice(world: World, options: LoraOptions = {}): Promise<LoraDevice> {
  const { must, call, workspaceId, organizationId } = world;
  const name = `lora ${++count}`;
  const integration = await must('POST', '/v3/integrations', {
    name,
    type: options.type ?? 'TTN',
    organizationId,
    workspaceId,
    properties: options.properties ?? {},
  });
  const { uplinkScript, downlinkScript } = options;
  const type =
    uplinkScript === undefined && downlinkScript === undefined
      ? null
      : await must('POST', '/v3/device-types', {
          name,
          organizationId,
          type: 'manual',
          meta: {},
          uplinkScript: uplinkScript === undefined ? null : { code: uplinkScript },
          downlinkScript: downlinkScript === undefined ? null : { code: downlinkScript },
        });
  const flow = await must('POST', '/v3/data-flows', {
    name,
    workspaceId,
    deviceConnector: { id: integration.deviceConnector.id },
    deviceType: type === null ? null : { id: type.id },
    outputConnectors: [{ id: databaseConnectorId, topic: '*' }],
    passThrough: uplinkScript === undefined,
  });
  const deviceEui = options.deviceEui ?? count.toString(16).padStart(16, 'a');
  const { id } = await must('POST', '/v3/devices', {
    name,
    deviceId: deviceEui.toUpperCase(),
    workspaceId,
    dataFlowId: flow.id,
    loraProperties: options.loraProperties ?? null,
  });
  const secret: string = integration.deviceConnector.uplinkSecret;
  return {
    id,
    deviceEui,
    integrationId: integration.id,
    secret,
    webhook: (body, query = {}) =>
      call(
        'POST',
        `/v3/capture/lora/${integration.id}?${new URLSearchParams({ secret, ...query }).toString()}`,
        body,
      ),
    downlink: (body) => call('POST', `/v3/devices/${id}/downlink`, body),
    downlinks: async () =>
      (await must('GET', `/v3/devices/${id}/downlinks?size=1000`)).content.reverse(),
    notes: async () => {
      await must('GET', `/v3/devices/${id}`);
      const log = await must('GET', `/v3/devices/${id}/processing-logs?size=1000`);
      return log.content.map((note: { message: string }) => note.message).reverse();
    },
  };
}
