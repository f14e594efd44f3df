// Output connectors: create, read, list, update, delete, and their answers without secrets (contract 9).
import type {
  OutputConnectorDraft,
  OutputConnectorUpdate,
} from '../../contract/output-connectors.ts';
import { databaseConnectorId, mailConnectorId, newId } from '../../model/ids.ts';
import { isJsonObject, type JsonObject } from '../../model/json.ts';
import type { OutputConnector, OutputScope } from '../../model/connector.ts';
import { type Page, pageOf, type PageRequest } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { AvailableOutputs } from '../../outputs/connectors/available-outputs.ts';
import {
  connectorTypeNames,
  findConnectorType,
  type PropertiesKey,
  typeNamed,
  typesNamingConnectors,
  typesWithProperties,
} from '../../outputs/connectors/connector-table.ts';
import type { ConnectorType } from '../../outputs/connectors/connector-type.ts';
import { namedDevices } from '../../outputs/connectors/named-devices.ts';
import { masked, parseProperties } from '../../outputs/connectors/secret-mask.ts';
import type { Records } from '../../storage/records/records.ts';
import { outputConnectorRows, dataFlowRows } from '../../storage/records/rows/data-flows.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { onCallRows } from '../../storage/records/rows/mutes.ts';
import { ruleRows } from '../../storage/records/rows/rules.ts';
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

/**
 * The properties that a request sends under the key of the type or its alias; else those that are
 * stored.
 */
function propertiesIn(
  sent: object,
  type: string,
  { properties: rules }: ConnectorType,
  stored: JsonObject | null,
): JsonObject | null {
  if (rules === null) return stored;
  const { [rules.key]: named, [rules.alias ?? '']: aliased } = sent as JsonObject;
  const value = named ?? aliased;
  if (value === undefined && stored !== null) return stored;
  if (isJsonObject(value)) return parseProperties(rules, value, stored);
  throw problem('invalidRequest', {
    reason: `body ${rules.key}: is required for type ${type}`,
  });
}

/** A record of a type without a row keeps its properties. */
function updatedProperties(sent: object, { type, properties: stored }: OutputConnector) {
  const row = findConnectorType(type);
  if (row === undefined) return stored;
  return propertiesIn(sent, type, row, stored);
}

/**
 * The row of a type that clients can create here. Throws a Problem that says why for any other
 * type.
 */
function creatableType({ type: name }: OutputConnectorDraft, available: AvailableOutputs) {
  const type = typeNamed(name);
  const row = findConnectorType(type);
  if (row !== undefined && row.properties === null) {
    const reason = `body type: ${type} connectors cannot be created; every workspace has the built-in connector ${type === 'DATABASE' ? databaseConnectorId : mailConnectorId}`;
    throw problem('invalidRequest', { reason });
  }
  const setting = available.missingSetting(type);
  if (setting !== undefined) throw problem('outputNotConfigured', { type: name, setting });
  if (row === undefined || !available.types.includes(type))
    throw problem('outputNotAvailable', { type: name, available: available.types });
  return { type, row };
}

/** Output connectors as callers make and read them. */
export class OutputConnectors {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /**
   * Creates a connector of a type that this installation delivers to. Throws for any other type,
   * because a connector that does nothing would lose data silently.
   */
  async create(
    viewOptions: ConnectorViewOptions,
    available: AvailableOutputs,
    draft: OutputConnectorDraft,
  ) {
    const record = await change(this.#records, async (step) => {
      const connector = await new OutputConnectors(step).drafted(available, draft);
      await new OutputConnectors(step).insert(connector);
      return connector;
    });
    return outputConnectorView(record, viewOptions);
  }

  /** The connector of a draft, checked and not stored. Throws as `createOutputConnector`. */
  async drafted(
    available: AvailableOutputs,
    draft: OutputConnectorDraft,
  ): Promise<OutputConnector> {
    const { type, row } = creatableType(draft, available);
    const { organizationId } = found(
      await workspaceRows.find(this.#records.db, draft.workspaceId),
      'workspace',
      draft.workspaceId,
    );
    const connector: OutputConnector = {
      id: newId('outputConnector'),
      organizationId,
      workspaceId: draft.workspaceId,
      name: draft.name,
      scope: draft.scope ?? row.defaultScope,
      type,
      sendConsecutiveAlerts: draft.sendConsecutiveAlerts ?? row.defaultSendConsecutiveAlerts,
      invokeRuleEngine: draft.invokeRuleEngine ?? false,
      useCustomPayload: draft.useCustomPayload ?? false,
      customPayload: draft.customPayload ?? null,
      properties: propertiesIn(draft, type, row, null),
      ...firstVersion(this.#records.now()),
    };
    available.check(connector);
    await checkTargetDevices(this.#records, connector);
    await checkNamedConnectors(this.#records, connector);
    await checkNamedOnCalls(this.#records, connector);
    return connector;
  }

  /** Stores a drafted connector in the open transaction. */
  async insert(connector: OutputConnector): Promise<void> {
    await outputConnectorRows.insert(this.#records, connector);
    this.#records.announce({ kind: 'outputConnector', id: connector.id, action: 'created' });
  }

  async read(viewOptions: ConnectorViewOptions, id: string) {
    return outputConnectorView(
      found(await outputConnectorRows.find(this.#records, id), 'output connector', id),
      viewOptions,
    );
  }

  /** Those of the workspaces and the global ones, without mail where the operator has set up none. */
  async list(
    { principal, viewOptions }: ConnectorViewer,
    filter: ListScope & {
      readonly search?: string | undefined;
      readonly scope?: OutputScope | undefined;
      readonly types?: readonly string[] | undefined;
      readonly global?: boolean | undefined;
    },
    page: PageRequest,
  ): Promise<Page<ReturnType<typeof outputConnectorView>>> {
    const reach = await listReach(this.#records, principal, filter);
    const { scope, search, global } = filter;
    const types = listedTypes(viewOptions, filter.types?.map(typeNamed));
    const hasMail = viewOptions.missingSetting?.('INSTALLATION_MAIL') === undefined;
    const withoutId = hasMail ? undefined : mailConnectorId;
    const { rows, total } = await outputConnectorRows
      .with(this.#records.sealer)
      .list(this.#records.db, { ...reach, scope, search, global, types, withoutId }, page);
    return pageOf(
      rows.map((row) => outputConnectorView(row, viewOptions)),
      total,
      page,
    );
  }

  /** Type and scope cannot be changed. */
  async update(
    viewOptions: ConnectorViewOptions,
    available: AvailableOutputs,
    id: string,
    sent: OutputConnectorUpdate,
  ) {
    const saved = await change(this.#records, async (step) => {
      const current = found(await outputConnectorRows.find(step, id), 'output connector', id);
      const record: OutputConnector = {
        ...current,
        name: orCurrent(sent.name, current.name),
        sendConsecutiveAlerts: sent.sendConsecutiveAlerts ?? current.sendConsecutiveAlerts,
        invokeRuleEngine: sent.invokeRuleEngine ?? current.invokeRuleEngine,
        useCustomPayload: sent.useCustomPayload ?? current.useCustomPayload,
        customPayload: orCurrent(sent.customPayload, current.customPayload),
        properties: updatedProperties(sent, current),
        ...nextVersion(current, sent.version, step.now()),
      };
      available.check(record, current);
      await checkTargetDevices(step, record, current);
      await checkNamedConnectors(step, record, current);
      await checkNamedOnCalls(step, record, current);
      await outputConnectorRows.save(step, record);
      step.announce({ kind: 'outputConnector', id, action: 'updated' });
      return record;
    });
    return outputConnectorView(saved, viewOptions);
  }

  async remove(id: string): Promise<void> {
    await change(this.#records, async (step) => {
      const connector = found(await outputConnectorRows.find(step, id), 'output connector', id);
      refuseWhenUsed('output connector', await connectorsNaming(step, connector, usersNamedMax));
      refuseWhenUsed(
        'output connector',
        await dataFlowRows.using(step.db, { outputConnectorId: id }, usersNamedMax),
      );
      refuseWhenUsed(
        'output connector',
        await ruleRows.namesOfUsing(step.db, 'outputConnector', id, usersNamedMax),
      );
      await outputConnectorRows.remove(step, id);
      step.announce({ kind: 'outputConnector', id, action: 'deleted' });
    });
  }
}

/**
 * The types of a list, of which clients of the vendor receive only those they know; undefined for
 * all.
 */
function listedTypes(viewOptions: ConnectorViewOptions, wanted: readonly string[] | undefined) {
  if (!viewOptions.vendorNames) return wanted;
  return (wanted ?? connectorTypeNames).filter((type) => isKnownTo(viewOptions, type));
}

// References of output connectors: devices and outputs that properties name belong to the workspace (contract 9, 36).

type Connector = {
  readonly type: string;
  readonly properties: JsonObject | null;
  readonly workspaceId: string | null;
};

/**
 * Throws `unknownReference` for the first device that does not exist or is in another workspace.
 * The two cases have the same message, so that a caller learns nothing about other tenants. Devices
 * that `stored` names are not checked, because one of them may have been deleted since.
 */
async function checkTargetDevices(
  step: Step,
  connector: Connector,
  stored?: Connector,
): Promise<void> {
  const known = new Set(usedDevices(stored).map(({ deviceId }) => deviceId));
  const devices = usedDevices(connector).filter(({ deviceId }) => !known.has(deviceId));
  const ids = devices.map(({ deviceId }) => deviceId);
  const workspaces = await deviceRows.workspacesOf(step.db, ids);
  for (const { field, deviceId: id } of devices) {
    if (workspaces.get(id) === connector.workspaceId) continue;
    throw problem('unknownReference', { field, what: 'device', id, place: 'workspace' });
  }
}

/**
 * Throws `unknownReference` for an output connector that the properties name and that is not in the
 * workspace, or that opens alarms itself. Those that `stored` names are not checked again.
 */
async function checkNamedConnectors(
  step: Step,
  connector: Connector,
  stored?: Connector,
): Promise<void> {
  const known = new Set(namedIn('connectorIds', stored).map(({ id }) => id));
  const named = namedIn('connectorIds', connector).filter(({ id }) => !known.has(id));
  const found = await outputConnectorRows.findOpen(step.db, [
    ...new Set(named.map(({ id }) => id)),
  ]);
  const usable = new Set(
    found
      .filter(({ workspaceId }) => workspaceId === connector.workspaceId)
      .filter(({ type }) => type !== connector.type)
      .map(({ id }) => id),
  );
  const refused = named.find(({ id }) => !usable.has(id));
  if (refused === undefined) return;
  const { field, id } = refused;
  const what = 'output connector of another type';
  throw problem('unknownReference', { field, what, id, place: 'workspace' });
}

/**
 * Throws `unknownReference` for an on-call order that the properties name and that is not in the
 * workspace. Those that `stored` names are not checked again.
 */
async function checkNamedOnCalls(
  step: Step,
  connector: Connector,
  stored?: Connector,
): Promise<void> {
  const known = new Set(namedIn('onCallIds', stored).map(({ id }) => id));
  const named = namedIn('onCallIds', connector).filter(({ id }) => !known.has(id));
  const found = await onCallRows.byId(step.db, [...new Set(named.map(({ id }) => id))]);
  for (const { field, id } of named)
    if (found.get(id)?.workspaceId !== connector.workspaceId)
      throw problem('unknownReference', { field, what: 'on-call order', id, place: 'workspace' });
}

/** The records that the properties name, with their paths in the body. */
function namedIn(kind: 'connectorIds' | 'onCallIds', connector: Connector | undefined) {
  if (connector === undefined || connector.properties === null) return [];
  const rules = findConnectorType(connector.type)?.properties ?? null;
  if (rules === null) return [];
  return rules[kind].named(connector.properties).map(({ member, id }) => ({
    field: `body ${rules.key}.${member}`,
    id,
  }));
}

/** The connectors of the workspace that name this one, `output connector Name (id)`. */
async function connectorsNaming(
  step: Step,
  { id, workspaceId }: OutputConnector,
  max: number,
): Promise<string[]> {
  if (workspaceId === null) return [];
  const users: string[] = [];
  for (const type of typesNamingConnectors) {
    for (const other of await outputConnectorRows.findReadable(step, workspaceId, type)) {
      const isUser = namedIn('connectorIds', other).some((named) => named.id === id);
      if (isUser) users.push(`output connector ${other.name} (${other.id})`);
      if (users.length === max) return users;
    }
  }
  return users;
}

/** The devices that the target uses, with their paths in the body. */
function usedDevices(connector: Connector | undefined) {
  if (connector === undefined || connector.properties === null) return [];
  const rules = findConnectorType(connector.type)?.properties ?? null;
  if (rules === null || !rules.usesDevices(connector.properties)) return [];
  return namedDevices(rules, connector.properties).map(({ member, deviceId }) => ({
    field: `body ${rules.key}.${member}`,
    deviceId,
  }));
}

// Output connectors in answers: every property object is present, type names depend on the client, secrets are masked (contract 9, 34).

/** Names and secrets in an answer. */
export interface ConnectorViewOptions {
  /**
   * Whether types have the names of the original vendor, which old clients require (contract 34).
   */
  readonly vendorNames: boolean;
  /** Whether secrets of output connectors are shown in clear (`REVEAL_CONNECTOR_SECRETS`). */
  readonly connectorSecrets: boolean;
  /** The setting that a type lacks here; absent where answers do not say it. */
  readonly missingSetting?: (type: string) => string | undefined;
}

/** The client that an answer is for. */
export interface ConnectorViewer {
  readonly principal: Principal;
  readonly viewOptions: ConnectorViewOptions;
}

/**
 * Whether the client knows the type. Clients of the vendor reject a whole list that contains a type
 * they do not know (contract 36).
 */
export function isKnownTo({ vendorNames }: ConnectorViewOptions, type: string): boolean {
  return !vendorNames || typeof findConnectorType(type)?.vendorName === 'string';
}

/** The type as an answer names it. */
export function typeName(type: string, { vendorNames }: ConnectorViewOptions): string {
  if (!vendorNames) return type;
  return findConnectorType(type)?.vendorName ?? type;
}

type PropertyObjects = Readonly<Record<PropertiesKey, JsonObject | null>>;

function propertyObjects(
  record: OutputConnector,
  viewOptions: ConnectorViewOptions,
): PropertyObjects {
  const shown = shownProperties(record, viewOptions);
  const entries = typesWithProperties.flatMap(({ type, properties: { key, alias } }) => {
    const value = type === record.type ? shown : null;
    return [key, alias].filter((member) => member !== undefined).map((member) => [member, value]);
  });
  return Object.fromEntries(entries) as PropertyObjects;
}

function shownProperties({ type, properties }: OutputConnector, viewOptions: ConnectorViewOptions) {
  const rules = findConnectorType(type)?.properties ?? null;
  if (properties === null || rules === null || viewOptions.connectorSecrets) return properties;
  return masked(rules, properties);
}

/** The whole record; also nested in data flows. */
export function outputConnectorView(record: OutputConnector, viewOptions: ConnectorViewOptions) {
  const {
    id,
    name,
    workspaceId,
    scope,
    sendConsecutiveAlerts,
    invokeRuleEngine,
    useCustomPayload,
    customPayload,
  } = record;
  return {
    id,
    ...auditView(record),
    name,
    workspaceId,
    deleted: false,
    global: record.organizationId === null,
    scope,
    type: typeName(record.type, viewOptions),
    sendConsecutiveAlerts,
    invokeRuleEngine,
    useCustomPayload,
    customPayload,
    ...propertyObjects(record, viewOptions),
    ...unavailable(viewOptions.missingSetting?.(record.type)),
  };
}

/** Of a type that the installation cannot deliver to any longer (contract 42). */
function unavailable(setting: string | undefined) {
  if (setting === undefined) return {};
  return { available: false, unavailableReason: `The operator has not set ${setting}` } as const;
}
