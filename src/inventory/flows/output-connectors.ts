// Output connectors: create, read, list, update, delete (contract 9).
import {
  type AvailableOutputs,
  type OutputConnector,
  type OutputConnectorType,
  type OutputScope,
  outputConnectorTypes,
  propertiesKeys,
} from '../../model/connector.ts';
import { databaseConnectorId, newId } from '../../model/ids.ts';
import { isJsonObject, type JsonObject } from '../../model/json.ts';
import { type Page, type PageRequest, pageOf } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
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
  type Showing,
  sentProperties,
  typeNamed,
} from './output-connector-view.ts';
import { checkDownlink, checkTargetDevices } from './output-references.ts';
import { hasPropertyRules, readProperties } from './output-properties.ts';
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

function properties(
  type: OutputConnectorType,
  sent: object,
  stored: JsonObject | null,
): JsonObject | null {
  const value = sentProperties(type, sent as Readonly<Record<string, unknown>>);
  if (value === undefined && stored !== null) return stored;
  if (!isJsonObject(value)) {
    const key = propertiesKeys[type as keyof typeof propertiesKeys];
    throw problem('invalidRequest', {
      reason: `body ${key}: is needed for an output connector of type ${type}`,
    });
  }
  return readProperties(type, value, stored);
}

/**
 * Makes a connector of a type that is delivered to. `available` is what deliveries are served; any other type is refused with
 * 400, because a connector that silently does nothing would lose data.
 */
export async function createOutputConnector(
  records: Records,
  showing: Showing,
  available: AvailableOutputs,
  draft: OutputConnectorDraft,
  now: number,
) {
  const type = outputConnectorTypes.find((known) => known === typeNamed(draft.type));
  if (type === 'DATABASE') {
    const reason = `body type: the database connector exists in every workspace, as ${databaseConnectorId}`;
    throw problem('invalidRequest', { reason });
  }
  const setting = type === undefined ? undefined : available.missingSetting(type);
  if (setting !== undefined) throw problem('outputNotConfigured', { type: draft.type, setting });
  if (type === undefined || !available.types.includes(type) || !hasPropertyRules(type)) {
    throw problem('outputNotAvailable', { type: draft.type, available: available.types });
  }
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
      scope:
        draft.scope ??
        (type === 'CUSTOM_DATABASE' || type === 'DOWNLINK' ? 'RULE_ACTION' : 'DATA_FLOW'),
      type,
      sendConsecutiveAlerts: draft.sendConsecutiveAlerts ?? false,
      invokeRuleEngine: draft.invokeRuleEngine ?? false,
      useCustomPayload: draft.useCustomPayload ?? false,
      customPayload: draft.customPayload ?? null,
      properties: properties(type, draft, null),
      ...firstVersion(now),
    };
    checkDownlink(connector);
    available.check(connector);
    await checkTargetDevices(step, connector);
    await insertOutputConnector(step, connector);
    step.announce({ kind: 'outputConnector', id: connector.id, action: 'created' });
    return connector;
  });
  return outputConnectorView(record, showing);
}

export async function readOutputConnector(records: Records, showing: Showing, id: string) {
  return outputConnectorView(
    found(await findOutputConnector(records, id), 'output connector', id),
    showing,
  );
}

/** Those of the workspaces and the global database connector. */
export async function listOutputConnectors(
  records: Records,
  principal: Principal,
  showing: Showing,
  filter: ListScope & {
    readonly search?: string | undefined;
    readonly scope?: OutputScope | undefined;
    readonly types?: readonly string[] | undefined;
    readonly global?: boolean | undefined;
  },
  page: PageRequest,
): Promise<Page<ReturnType<typeof outputConnectorView>>> {
  const reach = await listReach(records, principal, filter);
  const wanted = filter.types?.map(typeNamed) as OutputConnectorType[] | undefined;
  const known = outputConnectorTypes.filter((type) => isKnownTo(showing, type));
  const types = showing.vendorNames
    ? (wanted ?? known).filter((type) => known.includes(type))
    : wanted;
  const { scope, search, global } = filter;
  const { rows, total } = await listRows(records, { ...reach, scope, search, global, types }, page);
  return pageOf(
    rows.map((row) => outputConnectorView(row, showing)),
    total,
    page,
  );
}

/** Type and scope cannot be changed. */
export async function updateOutputConnector(
  records: Records,
  showing: Showing,
  available: AvailableOutputs,
  id: string,
  sent: OutputConnectorUpdate,
  now: number,
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
      properties: properties(current.type, sent, current.properties),
      ...nextVersion(current, sent.version, now),
    };
    checkDownlink(record, current);
    available.check(record);
    await checkTargetDevices(step, record, current);
    await saveOutputConnector(step, record);
    step.announce({ kind: 'outputConnector', id, action: 'updated' });
    return record;
  });
  return outputConnectorView(saved, showing);
}

export async function deleteOutputConnector(records: Records, id: string): Promise<void> {
  await change(records, async (step) => {
    found(await findOutputConnector(step, id), 'output connector', id);
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
