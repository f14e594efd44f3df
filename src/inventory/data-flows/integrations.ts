// Integrations with LoRaWAN network servers and their device connectors: create, read, list, update, delete (contract 35).
import type { IntegrationDraft, IntegrationUpdate } from '../../contract/device-connectors.ts';
import {
  carrierOf,
  type DeviceConnector,
  type Integration,
  integrationSecrets,
  type IntegrationType,
} from '../../model/connector.ts';
import { newId } from '../../model/ids.ts';
import { pageOf, type PageRequest } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Place } from '../../model/record.ts';
import type { Records } from '../../storage/records/records.ts';
import {
  dataFlowRows,
  deviceConnectorRows,
  integrationRows,
} from '../../storage/records/rows/data-flows.ts';
import { workspaceRows } from '../../storage/records/rows/workspaces.ts';
import { listReach, type ListScope } from '../list-scope.ts';
import {
  auditView,
  change,
  firstVersion,
  found,
  nextVersion,
  orCurrent,
  placeIn,
  placeInWorkspace,
  refuseWhenUsed,
  type Step,
  usersNamedMax,
} from '../record-crud.ts';
import { deviceConnectorView, newUplinkSecret } from './device-connectors.ts';

const integrationLimits = { propertiesMax: 30, propertyLengthMax: 4_000 } as const;

const providers: Readonly<Record<IntegrationType, string>> = {
  GENERIC_ACTILITY: 'actility',
  SWISSCOM_ACTILITY: 'swisscom_lora',
  SWISSCOM_CMP: 'swisscom_lora',
  LORIOT: 'loriot',
  TTN: 'ttn',
  CHIRP_STACK: 'chirpstack',
  EVERYNET: 'everynet',
  HELIUM: 'helium',
  GENERIC: 'generic',
};

/** Replaces a secret in answers. In an update it keeps the stored secret. */
const secretMask = '********';

type SentProperties = Readonly<Record<string, unknown>> | null | undefined;

/** Throws Problem 400 for a forbidden address of a network server. */
export type CheckHost = (host: string) => void;

/** Integrations with network servers as callers make and read them. */
export class Integrations {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /**
   * Without a workspace an integration belongs to the oldest one of its organization. Throws 404 or
   * 400.
   */
  async placeOfNew(
    principal: Principal,
    draft: IntegrationDraft,
  ): Promise<Place & { readonly workspaceId: string }> {
    const organizationId = draft.organizationId ?? principal.organizationId;
    const workspaceId =
      draft.workspaceId ?? (await workspaceRows.oldestOf(this.#records.db, organizationId));
    if (workspaceId === undefined)
      throw problem('notFound', { what: 'workspace of organization', id: organizationId });
    const place = await placeInWorkspace(this.#records, workspaceId);
    if (draft.organizationId && place.organizationId !== draft.organizationId) {
      throw problem('notFound', { what: 'workspace', id: workspaceId });
    }
    return { ...place, workspaceId };
  }

  /** Creates the integration and the LORA device connector of its devices. */
  async create(principal: Principal, checkHost: CheckHost, draft: IntegrationDraft) {
    const { workspaceId } = await this.placeOfNew(principal, draft);
    return change(this.#records, async (step) => {
      const { organizationId } = await placeIn(step, workspaceId);
      const integration: Integration = {
        id: newId('integration'),
        organizationId,
        workspaceId,
        name: draft.name,
        description: draft.description ?? null,
        type: draft.type,
        provider: draft.provider ?? providerOf(draft.type),
        properties: propertiesFrom(draft.properties, {}, checkHost),
        ...firstVersion(step.now()),
      };
      const connector = connectorOf(integration);
      await integrationRows.insert(step, integration);
      await deviceConnectorRows.insert(step, connector);
      step.announce({ kind: 'integration', id: integration.id, action: 'created' });
      step.announce({ kind: 'deviceConnector', id: connector.id, action: 'created' });
      return view(step, principal, integration, connector);
    });
  }

  async read(principal: Principal, id: string) {
    return view(
      this.#records,
      principal,
      found(await integrationRows.find(this.#records, id), 'integration', id),
    );
  }

  async list(
    principal: Principal,
    filter: ListScope & { readonly search?: string | undefined },
    page: PageRequest,
  ) {
    const reach = await listReach(this.#records, principal, filter);
    const { rows, total } = await integrationRows.list(
      this.#records,
      { ...reach, search: filter.search },
      page,
    );
    const items: Awaited<ReturnType<typeof view>>[] = [];
    for (const row of rows) items.push(await view(this.#records, principal, row));
    return pageOf(items, total, page);
  }

  /** The type cannot be changed; settings are replaced as a whole when they are sent. */
  async update(principal: Principal, checkHost: CheckHost, id: string, sent: IntegrationUpdate) {
    return change(this.#records, async (step) => {
      const current = found(await integrationRows.find(step, id), 'integration', id);
      const record: Integration = {
        ...current,
        name: orCurrent(sent.name, current.name),
        description: orCurrent(sent.description, current.description),
        provider: orCurrent(sent.provider, current.provider),
        properties: propertiesFrom(sent.properties, current.properties, checkHost),
        ...nextVersion(current, sent.version, step.now()),
      };
      await integrationRows.save(step, record);
      step.announce({ kind: 'integration', id, action: 'updated' });
      return view(step, principal, record);
    });
  }

  /** Deletes its device connector too. Throws 409 naming the users of either. */
  async remove(id: string): Promise<void> {
    await change(this.#records, async (step) => {
      found(await integrationRows.find(step, id), 'integration', id);
      const connector = await deviceConnectorRows.ofIntegration(step, id);
      refuseWhenUsed('integration', await usersOf(step, id, connector));
      if (connector !== undefined) {
        await deviceConnectorRows.remove(step, connector.id);
        step.announce({ kind: 'deviceConnector', id: connector.id, action: 'deleted' });
      }
      await integrationRows.remove(step, id);
      step.announce({ kind: 'integration', id, action: 'deleted' });
    });
  }
}

function refuse(name: string, reason: string): never {
  throw problem('invalidRequest', { reason: `body properties.${name}: ${reason}` });
}

/** The sent settings; a mask keeps the stored secret, null and an empty string remove a setting. */
function propertiesFrom(
  sent: SentProperties,
  stored: Integration['properties'],
  checkHost: CheckHost,
): Integration['properties'] {
  if (sent === undefined || sent === null) return stored;
  const entries = Object.entries(sent);
  if (entries.length > integrationLimits.propertiesMax) {
    throw problem('invalidRequest', {
      reason: `body properties: must have at most ${integrationLimits.propertiesMax} members`,
    });
  }
  const properties: Record<string, string> = {};
  for (const [name, value] of entries) {
    if (value === null || value === '') continue;
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
    if (typeof text !== 'string') refuse(name, 'must be a string');
    if (text.length > integrationLimits.propertyLengthMax) {
      refuse(name, `must have at most ${integrationLimits.propertyLengthMax} characters`);
    }
    const isKept = text === secretMask && integrationSecrets.includes(name);
    const kept = isKept ? stored[name] : text;
    if (kept !== undefined) properties[name] = kept;
  }
  if (properties['baseUrl'] !== undefined)
    properties['baseUrl'] = baseUrlFrom(properties['baseUrl'], checkHost);
  return properties;
}

function baseUrlFrom(text: string, checkHost: CheckHost): string {
  const url = URL.canParse(text)
    ? new URL(text)
    : refuse('baseUrl', 'must be an http or https URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    refuse('baseUrl', 'must be an http or https URL');
  if (url.username !== '' || url.password !== '') refuse('baseUrl', 'must not contain credentials');
  checkHost(url.hostname);
  return text.replace(/\/+$/, '');
}

function shownProperties(properties: Integration['properties']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [
      name,
      integrationSecrets.includes(name) ? secretMask : value,
    ]),
  );
}

/** The integration in the answer for a device (contract 4). */
export function nestedIntegration({ id, name, type, provider }: Integration) {
  return { id, name, type, global: false, deleted: false, readOnly: false, provider };
}

async function view(
  records: Records,
  principal: Principal,
  record: Integration,
  connector?: DeviceConnector,
) {
  const made = connector ?? (await deviceConnectorRows.ofIntegration(records, record.id));
  if (made === undefined)
    throw new Error(`The device connector of integration ${record.id} is missing`);
  const { description, organizationId, workspaceId } = record;
  return {
    ...nestedIntegration(record),
    ...auditView(record),
    description,
    organizationId,
    workspaceId,
    properties: shownProperties(record.properties),
    deviceConnector: deviceConnectorView(made, principal),
  };
}

function connectorOf(integration: Integration): DeviceConnector {
  const { organizationId, workspaceId, name, description, type, provider, created } = integration;
  return {
    id: newId('deviceConnector'),
    organizationId,
    workspaceId,
    name,
    description,
    connectivity: 'LORA',
    authType: 'BASIC',
    uplinkSecret: newUplinkSecret(),
    decodingType: 'NONE',
    encoding: null,
    pushConfigurationAutomatically: false,
    lineProtocol: null,
    sparkplug: null,
    integrationId: integration.id,
    carrier: carrierOf(type),
    provider,
    ...firstVersion(created),
  };
}

async function usersOf(
  step: Step,
  id: string,
  connector: DeviceConnector | undefined,
): Promise<string[]> {
  const flows =
    connector === undefined
      ? []
      : await dataFlowRows.using(step.db, { deviceConnectorId: connector.id }, usersNamedMax);
  return [...flows, ...(await integrationRows.devicesOf(step.db, id, usersNamedMax))];
}

/** The default provider of an integration. */
function providerOf(type: IntegrationType): string {
  return providers[type];
}
