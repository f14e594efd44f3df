// Output connectors: create, read, list, update, delete (contract 9).
import type { AvailableOutputs } from '../../connectors/available-outputs.ts';
import {
  connectorTypeNames,
  findConnectorType,
  typeNamed,
} from '../../connectors/connector-table.ts';
import type { ConnectorType } from '../../connectors/connector-type.ts';
import { parseProperties } from '../../connectors/sent-properties.ts';
import { databaseConnectorId } from '../../model/ids.ts';
import { newId } from '../../model/new-id.ts';
import { isJsonObject, type JsonObject } from '../../model/json.ts';
import { type Page, type PageRequest, pageOf } from '../../model/page.ts';
import type { OutputConnector, OutputScope } from '../../model/output-connector.ts';
import { problem } from '../../model/problem.ts';
import { dataFlowsUsing } from '../../records/rows/data-flows.ts';
import type { Records } from '../../records/records.ts';
import {
  findOutputConnector,
  insertOutputConnector,
  listOutputConnectors as listRows,
  removeOutputConnector,
  saveOutputConnector,
} from '../../records/rows/output-connectors.ts';
import { namesOfRulesUsing } from '../../records/rows/rules.ts';
import { findWorkspace } from '../../records/rows/workspaces.ts';
import {
  change,
  firstVersion,
  found,
  nextVersion,
  orCurrent,
  refuseWhenUsed,
  usersNamedMax,
} from '../record-change.ts';
import {
  isKnownTo,
  outputConnectorView,
  type ConnectorViewer,
  type ConnectorViewOptions,
} from './output-connector-view.ts';
import { checkNamedConnectors, checkTargetDevices, connectorsNaming } from './output-references.ts';
import { type ListScope, listReach } from '../list-scope.ts';

export interface OutputConnectorUpdate {
  readonly name?: string | undefined;
  readonly sendConsecutiveAlerts?: boolean | null | undefined;
  readonly invokeRuleEngine?: boolean | null | undefined;
  readonly useCustomPayload?: boolean | null | undefined;
  readonly customPayload?: string | null | undefined;
  readonly version?: number | null | undefined;
}

export interface OutputConnectorDraft extends OutputConnectorUpdate {
  readonly workspaceId: string;
  readonly name: string;
  readonly type: string;
  readonly scope?: OutputScope | null | undefined;
}

/** What creating and updating need in addition to the request. */
export interface OutputConnectorContext {
  readonly viewOptions: ConnectorViewOptions;
  readonly available: AvailableOutputs;
}

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
    const reason = `body type: DATABASE connectors cannot be created; every workspace has the built-in connector ${databaseConnectorId}`;
    throw problem('invalidRequest', { reason });
  }
  const setting = available.missingSetting(type);
  if (setting !== undefined) throw problem('outputNotConfigured', { type: name, setting });
  if (row === undefined || !available.types.includes(type))
    throw problem('outputNotAvailable', { type: name, available: available.types });
  return { type, row };
}

/**
 * Creates a connector of a type that this installation delivers to. Throws for any other type,
 * because a connector that does nothing would lose data silently.
 */
export async function createOutputConnector(
  records: Records,
  { viewOptions, available }: OutputConnectorContext,
  draft: OutputConnectorDraft,
) {
  const { type, row } = creatableType(draft, available);
  const record = await change(records, async (step) => {
    const { organizationId } = found(
      await findWorkspace(step.db, draft.workspaceId),
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
      ...firstVersion(step.now()),
    };
    available.check(connector);
    await checkTargetDevices(step, connector);
    await checkNamedConnectors(step, connector);
    await insertOutputConnector(step, connector);
    step.announce({ kind: 'outputConnector', id: connector.id, action: 'created' });
    return connector;
  });
  return outputConnectorView(record, viewOptions);
}

export async function readOutputConnector(
  records: Records,
  viewOptions: ConnectorViewOptions,
  id: string,
) {
  return outputConnectorView(
    found(await findOutputConnector(records, id), 'output connector', id),
    viewOptions,
  );
}

/** Those of the workspaces and the global database connector. */
export async function listOutputConnectors(
  records: Records,
  { principal, viewOptions }: ConnectorViewer,
  filter: ListScope & {
    readonly search?: string | undefined;
    readonly scope?: OutputScope | undefined;
    readonly types?: readonly string[] | undefined;
    readonly global?: boolean | undefined;
  },
  page: PageRequest,
): Promise<Page<ReturnType<typeof outputConnectorView>>> {
  const reach = await listReach(records, principal, filter);
  const { scope, search, global } = filter;
  const types = listedTypes(viewOptions, filter.types?.map(typeNamed));
  const { rows, total } = await listRows(records, { ...reach, scope, search, global, types }, page);
  return pageOf(
    rows.map((row) => outputConnectorView(row, viewOptions)),
    total,
    page,
  );
}

/**
 * The types of a list, of which clients of the vendor receive only those they know; undefined for
 * all.
 */
function listedTypes(viewOptions: ConnectorViewOptions, wanted: readonly string[] | undefined) {
  if (!viewOptions.vendorNames) return wanted;
  return (wanted ?? connectorTypeNames).filter((type) => isKnownTo(viewOptions, type));
}

/** Type and scope cannot be changed. */
export async function updateOutputConnector(
  records: Records,
  { viewOptions, available }: OutputConnectorContext,
  id: string,
  sent: OutputConnectorUpdate,
) {
  const saved = await change(records, async (step) => {
    const current = found(await findOutputConnector(step, id), 'output connector', id);
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
    await saveOutputConnector(step, record);
    step.announce({ kind: 'outputConnector', id, action: 'updated' });
    return record;
  });
  return outputConnectorView(saved, viewOptions);
}

export async function deleteOutputConnector(records: Records, id: string): Promise<void> {
  await change(records, async (step) => {
    const connector = found(await findOutputConnector(step, id), 'output connector', id);
    refuseWhenUsed('output connector', await connectorsNaming(step, connector, usersNamedMax));
    refuseWhenUsed(
      'output connector',
      await dataFlowsUsing(step.db, { outputConnectorId: id }, usersNamedMax),
    );
    refuseWhenUsed(
      'output connector',
      await namesOfRulesUsing(step.db, 'outputConnector', id, usersNamedMax),
    );
    await removeOutputConnector(step.db, id);
    step.announce({ kind: 'outputConnector', id, action: 'deleted' });
  });
}
