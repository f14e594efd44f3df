// Device connectors: create, read, list, update, delete.
import { randomBytes } from 'node:crypto';
import type {
  DeviceConnectorDraft,
  DeviceConnectorUpdate,
} from '../../contract/device-connectors.ts';
import {
  type DeviceConnector,
  lineProtocolDefaults,
  type LineProtocolMapping,
  sparkplugDefaults,
  type SparkplugMapping,
} from '../../model/connector.ts';
import { sentEncoding } from '../../model/device-type.ts';
import { type Page, pageOf, type PageRequest } from '../../model/page.ts';
import { holds, type Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { isTopic } from '../../model/ids.ts';
import type { Records } from '../../storage/records/records.ts';
import { dataFlowRows, deviceConnectorRows } from '../../storage/records/rows/data-flows.ts';
import { listReach, type ListScope } from '../list-scope.ts';
import { auditView, Crud, orCurrent, placeIn, usersNamedMax } from '../record-crud.ts';

const crud = new Crud<DeviceConnector>('deviceConnector', 'device connector', (sealer) =>
  deviceConnectorRows.with(sealer),
);

const uplinkSecretBytes = 16;

/** A new uplink secret: long and random, so that it cannot be guessed. */
export function newUplinkSecret(): string {
  return randomBytes(uplinkSecretBytes).toString('hex');
}

/** Uplink secrets are shown to those who may change data flows (contract 35). */
function seesUplinkSecrets(principal: Principal, workspaceId: string): boolean {
  return holds(principal, 'dataFlow', 'update', workspaceId);
}

/** The whole record; also nested in data flows. */
export function deviceConnectorView(record: DeviceConnector, principal: Principal) {
  const { organizationId: _, ...connector } = record;
  return {
    ...connector,
    ...auditView(record),
    readOnly: false,
    global: false,
    integrationDeleted: false,
    uplinkSecret: seesUplinkSecrets(principal, record.workspaceId) ? record.uplinkSecret : null,
    yanziProperties: null,
    spacetiProperties: null,
  };
}

/** Device connectors as callers make and read them. */
export class DeviceConnectors {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async create(principal: Principal, draft: DeviceConnectorDraft) {
    if (draft.connectivity === 'LORA') {
      throw problem('invalidRequest', {
        reason: 'body connectivity: LORA connectors are created by integrations',
      });
    }
    const authType = draft.authType ?? 'BASIC';
    if (authType === 'DEVICE_CREDENTIALS' && draft.connectivity === 'HTTP') {
      throw problem('invalidRequest', {
        reason: 'body authType: DEVICE_CREDENTIALS requires MQTT; use BASIC for HTTP',
      });
    }
    const { connectivity, workspaceId } = draft;
    const decodingType = draft.decodingType ?? 'NONE';
    const receiver = { connectivity, decodingType, workspaceId, authType };
    const record = await crud.create(this.#records, async (step, fields) => ({
      ...fields,
      ...(await placeIn(step, workspaceId)),
      name: draft.name,
      description: draft.description ?? null,
      connectivity,
      authType,
      uplinkSecret: authType === 'BASIC' ? newUplinkSecret() : null,
      decodingType,
      encoding: draft.encoding ?? null,
      lineProtocol: lineProtocolFrom(draft.lineProtocol ?? null, receiver, principal),
      sparkplug: sparkplugFrom(draft.sparkplug ?? null, receiver, principal),
      pushConfigurationAutomatically: draft.pushConfigurationAutomatically ?? false,
      integrationId: null,
      carrier: null,
      provider: null,
    }));
    return deviceConnectorView(record, principal);
  }

  async read(principal: Principal, id: string) {
    return deviceConnectorView(await crud.read(this.#records, id), principal);
  }

  async list(
    principal: Principal,
    filter: ListScope & { readonly search?: string | undefined },
    page: PageRequest,
  ): Promise<Page<ReturnType<typeof deviceConnectorView>>> {
    const reach = await listReach(this.#records, principal, filter);
    const { rows, total } = await deviceConnectorRows.list(
      this.#records,
      { ...reach, search: filter.search },
      page,
    );
    return pageOf(
      rows.map((row) => deviceConnectorView(row, principal)),
      total,
      page,
    );
  }

  /** Connectivity, authentication and decoding cannot be changed. */
  async update(principal: Principal, id: string, sent: DeviceConnectorUpdate, isVendor = false) {
    const saved = await crud.update(this.#records, id, sent, (current) => ({
      pushConfigurationAutomatically:
        sent.pushConfigurationAutomatically ?? current.pushConfigurationAutomatically,
      encoding: sentEncoding(
        orCurrent(sent.encoding, current.encoding),
        current.encoding,
        isVendor,
      ),
      ...(sent.lineProtocol !== undefined && {
        lineProtocol: lineProtocolFrom(sent.lineProtocol, current, principal),
      }),
      ...(sent.sparkplug !== undefined && {
        sparkplug: sparkplugFrom(sent.sparkplug, current, principal),
      }),
    }));
    return deviceConnectorView(saved, principal);
  }

  /**
   * The connector of an integration is deleted with the integration, which receives webhooks through
   * it.
   */
  async remove(id: string): Promise<void> {
    await crud.remove(this.#records, id, async (step) => {
      const { integrationId } = await crud.read(step, id);
      if (integrationId !== null) return [`integration ${integrationId}`];
      return dataFlowRows.using(step.db, { deviceConnectorId: id }, usersNamedMax);
    });
  }
}

// Connector mappings: what a device connector makes of points and of edge nodes, checked and with its defaults.

type LineProtocolDraft = NonNullable<DeviceConnectorUpdate['lineProtocol']>;
type SparkplugDraft = NonNullable<DeviceConnectorUpdate['sparkplug']>;

type Receiver = Pick<DeviceConnector, 'connectivity' | 'decodingType' | 'workspaceId' | 'authType'>;

function refuse(member: string, reason: string): never {
  throw problem('invalidRequest', { reason: `body ${member}: ${reason}` });
}

/** Throws 403 when the caller cannot create the devices that senders would create. */
function checkCreation(
  { createDevices }: LineProtocolDraft | SparkplugDraft,
  { workspaceId }: Receiver,
  principal: Principal,
): void {
  if (createDevices && !holds(principal, 'asset', 'create', workspaceId))
    throw problem('permissionDenied');
}

/**
 * What is absent of the mapping has its default. Throws 400 for a connector that cannot receive
 * points, 403 when the caller cannot create the devices that points would create.
 */
function lineProtocolFrom(
  sent: LineProtocolDraft | null,
  receiver: Receiver,
  principal: Principal,
): LineProtocolMapping | null {
  if (sent === null) return null;
  if (receiver.connectivity !== 'HTTP' || receiver.decodingType !== 'NONE')
    refuse('lineProtocol', 'only valid for HTTP connectors without an integration');
  checkCreation(sent, receiver, principal);
  return {
    device: sent.device ?? lineProtocolDefaults.device,
    topic: sent.topic ?? lineProtocolDefaults.topic,
    createDevices: sent.createDevices ?? null,
  };
}

/**
 * As `lineProtocolFrom`, for edge nodes. Throws 400 also for templates that would make one device
 * of several.
 */
function sparkplugFrom(
  sent: SparkplugDraft | null,
  receiver: Receiver,
  principal: Principal,
): SparkplugMapping | null {
  if (sent === null) return null;
  if (receiver.connectivity !== 'MQTT' || receiver.authType !== 'BASIC')
    refuse('sparkplug', 'only valid for MQTT connectors that use an uplink secret');
  checkCreation(sent, receiver, principal);
  const node = sent.node ?? sparkplugDefaults.node;
  const device = sent.device ?? sparkplugDefaults.device;
  const topic = sent.topic ?? sparkplugDefaults.topic;
  checkTemplate('sparkplug.node', node, { needed: 'edge', known: ['group', 'edge'] });
  const names = ['group', 'edge', 'device'];
  checkTemplate('sparkplug.device', device, { needed: 'device', known: names });
  if (!isTopic(topic)) refuse('sparkplug.topic', `${topic} is not a valid topic`);
  const hostId = sent.hostId ?? sparkplugDefaults.hostId;
  return { node, device, topic, hostId, createDevices: sent.createDevices ?? null };
}

function checkTemplate(
  member: string,
  template: string,
  { needed, known }: { readonly needed: string; readonly known: readonly string[] },
): void {
  if (!template.includes(`{${needed}}`)) refuse(member, `it must contain {${needed}}`);
  for (const [, name = ''] of template.matchAll(/\{([^{}]*)\}/g))
    if (!known.includes(name))
      refuse(member, `unknown placeholder {${name}}; valid placeholders: {${known.join('}, {')}}`);
}
