// Demo workspace: created once in an organization, and deleted with all that is in it (contract 37).
import { demoWorkspaceDraft } from '../../model/workspace.ts';
import { holds, type Principal, type Scope } from '../../model/principal.ts';
import { problem, Problem } from '../../model/problem.ts';
import type { Records } from '../../storage/records/records.ts';
import { type DemoContent, demoWorkspaceRows } from '../../storage/records/rows/workspaces.ts';
import { CustomFields } from '../devices/device-field-values.ts';
import { Devices } from '../devices/devices.ts';
import { Places } from '../devices/places.ts';
import { Tags } from '../devices/tags.ts';
import { DataFlows } from '../data-flows/data-flows.ts';
import { DeviceConnectors } from '../data-flows/device-connectors.ts';
import { DeviceTypes } from '../data-flows/device-types.ts';
import { Integrations } from '../data-flows/integrations.ts';
import { OutputConnectors } from '../data-flows/output-connectors.ts';
import { change } from '../record-crud.ts';
import { Calculations } from '../rules/calculations.ts';
import { deleteRule, updateRule } from '../rules/rules.ts';
import { Blobs } from './blobs.ts';
import { deleteDashboard, deleteDashboardGroup } from './dashboards.ts';
import { Workspaces } from './workspaces.ts';

/** A workspace with more of one kind is not deleted by one request. */
const contentsMax = 1_000;

/** What is deleted with the workspace; the caller must be able to delete each by itself. */
const contentScopes: readonly Scope[] = [
  'rule',
  'asset',
  'dataFlow',
  'integration',
  'dashboard',
  'dashboard.group',
  'blob',
];

const deletions: Readonly<Record<DemoContent, (step: Records, id: string) => Promise<unknown>>> = {
  rule: deleteRule,
  calculation: (step, id) => new Calculations(step).remove(id),
  device: (step, id) => new Devices(step).remove(id),
  dataFlow: (step, id) => new DataFlows(step).remove(id),
  outputConnector: (step, id) => new OutputConnectors(step).remove(id),
  integration: (step, id) => new Integrations(step).remove(id),
  deviceConnector: deleteConnectorIfLeft,
  tag: (step, id) => new Tags(step).remove(id),
  place: deletePlaceIfLeft,
  customFieldMeta: (step, id) => new CustomFields(step).remove(id, true),
  dashboard: deleteDashboard,
  dashboardGroup: deleteDashboardGroup,
  blob: (step, id) => new Blobs(step).remove(id),
};

/** The demo workspace of the organization, created if it does not exist. */
export async function ensureDemoWorkspace(
  records: Records,
  organizationId: string,
): Promise<string> {
  return change(records, async (step) => {
    const known = await demoWorkspaceRows.of(step.db, organizationId);
    if (known !== undefined) return known;
    // `npm run demo` makes one too, with the same devices.
    const id =
      (await demoWorkspaceRows.simulatedOf(step.db, organizationId)) ??
      (await new Workspaces(step).create({ organizationId, ...demoWorkspaceDraft })).id;
    await demoWorkspaceRows.insert(step.db, { workspaceId: id, organizationId });
    return id;
  });
}

/** Notes which device types go with the workspace. */
export async function keepDemoDeviceTypes(
  { db }: Records,
  workspaceId: string,
  created: readonly string[],
): Promise<void> {
  const known = (await demoWorkspaceRows.deviceTypes(db, workspaceId)) ?? [];
  if (created.length > 0)
    await demoWorkspaceRows.saveDeviceTypes(db, workspaceId, [...new Set([...known, ...created])]);
}

/**
 * Activates the named rules that were created inactive and not changed since. A restart ends the
 * request whose caller could activate them.
 */
export async function activateNewRules(
  records: Records,
  workspaceId: string,
  names: readonly string[],
): Promise<void> {
  await change(records, async (step) => {
    const view = { vendorNames: false, connectorSecrets: false };
    for (const id of await demoWorkspaceRows.newInactiveRules(step.db, workspaceId, names))
      await updateRule(step, view, id, { active: true });
  });
}

/**
 * Deletes a workspace, one of the demo with all that is in it; returns the ids of its devices,
 * whose samples the caller drops. Throws 409 for any other workspace that is not empty.
 */
export async function deleteWorkspaceOrDemo(
  records: Records,
  principal: Principal,
  id: string,
): Promise<readonly string[]> {
  return change(records, async (step) => {
    const deviceTypeIds = await demoWorkspaceRows.deviceTypes(step.db, id);
    if (deviceTypeIds === undefined) {
      await new Workspaces(step).remove(id);
      return [];
    }
    if (!contentScopes.every((scope) => holds(principal, scope, 'delete', id)))
      throw problem('permissionDenied');
    const contents = await demoWorkspaceRows.contents(step.db, id, contentsMax);
    for (const { kind, ids } of contents) for (const one of ids) await deletions[kind](step, one);
    // The refusal names what exceeds the limit, and nothing is deleted.
    await new Workspaces(step).remove(id);
    for (const typeId of deviceTypeIds) await deleteUnusedType(step, typeId);
    return contents.find(({ kind }) => kind === 'device')?.ids ?? [];
  });
}

/** A connector of an integration went with it. */
async function deleteConnectorIfLeft(step: Records, id: string): Promise<void> {
  await unless('notFound', new DeviceConnectors(step).remove(id));
}

/** The places below one go with it. */
async function deletePlaceIfLeft(step: Records, id: string): Promise<void> {
  await unless('notFound', new Places(step).remove(id, true));
}

/** Flows of other workspaces may use the type by now, and users may have deleted it. */
async function deleteUnusedType(step: Records, id: string): Promise<void> {
  await unless('inUse', unless('notFound', new DeviceTypes(step).remove(id)));
}

async function unless(expected: Problem['problem'], work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof Problem) || error.problem !== expected) throw error;
  }
}
