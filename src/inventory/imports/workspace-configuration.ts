// Workspace configuration: a workspace as one JSON document with names instead of ids, and without secrets.
import { parseInstant } from '../../model/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { formatPath } from '../../model/place.ts';
import { type Page, type PageRequest, pageSizeMax } from '../../model/page.ts';
import { holds, type Principal, type Scope, type Verb } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { propertiesAliases } from '../../outputs/connectors/connector-table.ts';
import type { Records } from '../../storage/records/records.ts';
import { Mutes } from '../alarms/mutes.ts';
import { OnCallOrders } from '../alarms/on-call.ts';
import { DataFlows } from '../data-flows/data-flows.ts';
import { DeviceConnectors } from '../data-flows/device-connectors.ts';
import { DeviceTypes } from '../data-flows/device-types.ts';
import { OutputConnectors } from '../data-flows/output-connectors.ts';
import { CustomFields } from '../devices/device-field-values.ts';
import { Places } from '../devices/places.ts';
import { Tags } from '../devices/tags.ts';
import { Calculations } from '../rules/calculations.ts';
import { CustomLogicBlocks } from '../rules/custom-logic.ts';
import { listRules } from '../rules/rules.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { listDashboardGroups, listDashboards } from '../workspaces/dashboards.ts';
import { Workspaces } from '../workspaces/workspaces.ts';
import {
  configuredCalculations,
  configuredMutes,
  configuredRules,
  configuredTargets,
  customLogicNames,
  type NamedKind,
  recordsNamed,
  renamedConfiguration,
  withNamedRecords,
} from './workspace-configuration-parts.ts';

export const configurationFormat = 'heliograph-workspace/1';
/** In order of creation: later sections refer to earlier ones. */
export const configurationSections = [
  'customFields',
  'tags',
  'places',
  'deviceTypes',
  'deviceConnectors',
  'onCallOrders',
  'outputConnectors',
  'dataFlows',
  'customLogic',
  'rules',
  'mutes',
  'calculations',
  'dashboardGroups',
  'dashboards',
] as const;
export type SectionName = (typeof configurationSections)[number];

export interface ConfigurationItem extends JsonObject {
  readonly name: string;
}

/** A part as it is now: what the document says of it, and its id. */
export interface KnownItem {
  readonly id: string;
  readonly item: ConfigurationItem;
}

/** By section and name; mutes by id, because several can share a name. */
export type KnownSections = Readonly<Record<SectionName, ReadonlyMap<string, KnownItem>>>;

// Names of the neutral dialect, and secrets masked whatever the installation shows.
export const configurationViewOptions = { vendorNames: false, connectorSecrets: false } as const;
const workspaceScopes: readonly Scope[] = ['asset', 'dataFlow', 'rule'];
/** Scopes of records that belong to the organization. */
const organizationScopes: readonly Scope[] = ['deviceType', 'customLogic'];

/** Scopes of dashboards, which only a document that contains some needs. */
const dashboardScopes: readonly Scope[] = ['dashboard', 'dashboard.group'];

function holdsAll(
  principal: Principal,
  scopes: readonly Scope[],
  verbs: readonly Verb[],
  workspaceId: string | null,
): boolean {
  return scopes.every((scope) => verbs.every((verb) => holds(principal, scope, verb, workspaceId)));
}

/** A document contains records of all these scopes. Throws 403 without a permission for each. */
export function checkConfigurationScopes(
  principal: Principal,
  workspaceId: string,
  verbs: readonly Verb[],
): void {
  const isGranted =
    holdsAll(principal, workspaceScopes, verbs, workspaceId) &&
    holdsAll(principal, organizationScopes, verbs, null);
  if (!isGranted) throw problem('permissionDenied');
}

/** Throws 403 without a permission for each. */
export function checkDashboardScopes(
  principal: Principal,
  workspaceId: string,
  verbs: readonly Verb[],
): void {
  if (!holdsAll(principal, dashboardScopes, verbs, workspaceId)) throw problem('permissionDenied');
}

async function all<T>(list: (page: PageRequest) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  for (let page = 0; ; page++) {
    const { content, last } = await list({ page, size: pageSizeMax, sort: [] });
    items.push(...content);
    if (last) return items;
  }
}

type Row = { readonly id: string; readonly name: string };

/** Of several records of one name the first counts. */
function section<T extends Row>(
  rows: readonly T[],
  item: (row: T) => object,
): ReadonlyMap<string, KnownItem> {
  const known = new Map<string, KnownItem>();
  for (const row of rows) {
    if (!known.has(row.name))
      known.set(row.name, { id: row.id, item: { name: row.name, ...item(row) } });
  }
  return known;
}

/** The name of a record, or its id when it is not among them. */
function naming(rows: readonly Row[]): (id: string) => string {
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  return (id) => names.get(id) ?? id;
}

const script = (sent: { readonly code: string } | null) => sent && { code: sent.code };

type Listed<F extends (...of: never[]) => Promise<Page<unknown>>> =
  Awaited<ReturnType<F>> extends Page<infer T> ? T : never;

function deviceTypeItem(type: Listed<DeviceTypes['list']>): object {
  return {
    library: type.type === 'library',
    description: type.description,
    meta: type.meta,
    pictureUrl: type.pictureUrl,
    ...('schemas' in type && {
      schemas: type.schemas,
      sampleData: type.sampleData,
      uplinkScript: script(type.uplinkScript),
      downlinkScript: script(type.downlinkScript),
      calculatedKeys: type.calculatedKeys,
    }),
  };
}

/** Members of a stored connector that a document does not contain. */
const storedMembers: ReadonlySet<string> = new Set(
  'id name created updated version workspaceId deleted'.split(' '),
);

function outputConnectorItem(output: object): object {
  const contained = Object.entries(output).filter(
    ([name, value]) => value !== null && !storedMembers.has(name) && !propertiesAliases.has(name),
  );
  return Object.fromEntries(contained);
}

/**
 * The content of a document for the workspace, by section and name. Device types are those of the
 * organization.
 */
export async function knownSections(
  records: Records,
  principal: Principal,
  workspaceId: string,
): Promise<KnownSections> {
  const scope = { workspaceIds: [workspaceId] };
  const viewer = { principal, viewOptions: configurationViewOptions };
  const fields = await all((page) => new CustomFields(records).list(principal, scope, page));
  const tags = await all((page) => new Tags(records).list(principal, scope, page));
  const places = (await all((page) => new Places(records).list(principal, scope, page))).map(
    (place) => ({
      ...place,
      name: formatPath(place.path.map((step) => step.name)),
    }),
  );
  const types = await all((page) =>
    new DeviceTypes(records).list(principal, { details: true }, page),
  );
  const connectors = await all((page) =>
    new DeviceConnectors(records).list(principal, scope, page),
  );
  const outputs = await all((page) => new OutputConnectors(records).list(viewer, scope, page));
  const flows = await all((page) => new DataFlows(records).list(viewer, scope, page));
  const orders = await all((page) => new OnCallOrders(records).list(principal, scope, page));
  const outputName = naming(outputs);
  const ofRules = await ruleSections(records, principal, workspaceId, {
    tag: naming(tags),
    place: naming(places),
    action: outputName,
  });
  return {
    customFields: section(fields, ({ type, description, required, selectOptions }) => ({
      type,
      description,
      required,
      selectOptions,
    })),
    tags: section(tags, ({ description, color }) => ({ description, color })),
    // A place is behind those above it, whose paths are the start of its own.
    places: section(
      places.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      ({ kind, description, externalId, position, properties: own }) => ({
        kind,
        description,
        externalId,
        position,
        properties: own,
      }),
    ),
    deviceTypes: section(types, deviceTypeItem),
    deviceConnectors: section(connectors, (connector) => ({
      description: connector.description,
      connectivity: connector.connectivity,
      authType: connector.authType,
      decodingType: connector.decodingType,
      encoding: connector.encoding,
      pushConfigurationAutomatically: connector.pushConfigurationAutomatically,
      lineProtocol: connector.lineProtocol,
      sparkplug: connector.sparkplug,
    })),
    onCallOrders: section(
      orders,
      ({ description, timeZone, order, turn, startsAt, overrides }) => ({
        description,
        timeZone,
        order,
        turn,
        startsAt,
        overrides,
      }),
    ),
    outputConnectors: section(
      (await configuredTargets(records, workspaceId, outputs)).map((item) =>
        withNamedRecords(item, { connector: outputName, onCall: naming(orders) }),
      ),
      outputConnectorItem,
    ),
    dataFlows: section(flows, (flow) => ({
      description: flow.description,
      deviceConnector: flow.deviceConnector.name,
      deviceType: flow.deviceType?.name ?? null,
      outputConnectors: flow.outputConnectors.map(({ id, topic }) => ({
        name: outputName(id),
        topic,
      })),
      passThrough: flow.passThrough,
    })),
    ...ofRules,
    mutes: await muteSection(records, principal, workspaceId, {
      rules: new Map([...ofRules.rules].map(([name, { id }]) => [id, name])),
      tags: new Map(tags.map(({ id, name }) => [id, name])),
      places: new Map(places.map(({ id, name }) => [id, name])),
    }),
    ...(await dashboardSections(records, principal, workspaceId, {
      tag: naming(tags),
      place: naming(places),
      customFieldMeta: naming(fields),
      deviceType: naming(types),
      rule: naming([...ofRules.rules].map(([name, { id }]) => ({ id, name }))),
    })),
  };
}

/** Empty for a principal that may not read dashboards. */
async function dashboardSections(
  records: Records,
  principal: Principal,
  workspaceId: string,
  names: Readonly<Record<Exclude<NamedKind, 'device' | 'dashboard'>, (id: string) => string>>,
): Promise<Pick<KnownSections, 'dashboardGroups' | 'dashboards'>> {
  if (!holdsAll(principal, dashboardScopes, ['read'], workspaceId))
    return { dashboardGroups: new Map(), dashboards: new Map() };
  const scope = { workspaceIds: [workspaceId] };
  const groups = await all((page) => listDashboardGroups(records, principal, scope, page));
  const dashboards = await all((page) => listDashboards(records, principal, scope, page));
  const devices = await deviceRows.physicalIdsOf(records.db, workspaceId, [
    ...new Set(dashboards.flatMap(({ configuration }) => recordsNamed(configuration, 'device'))),
  ]);
  const nameOf = {
    ...names,
    device: (id: string) => devices.get(id) ?? id,
    dashboard: naming(dashboards),
  };
  const configurations = new Map(dashboards.map(({ id, configuration }) => [id, configuration]));
  const groupName = naming(groups);
  return {
    dashboardGroups: section(groups, ({ description }) => ({ description })),
    dashboards: section(dashboards, ({ groupId, deviceTypeId, configuration, ...dashboard }) => ({
      description: dashboard.description,
      placeKind: dashboard.placeKind,
      group: groupId && groupName(groupId),
      deviceType: deviceTypeId && names.deviceType(deviceTypeId),
      configuration: renamedConfiguration(configuration, {
        rename: (kind, id) => nameOf[kind](id),
        configurationOf: (id) => configurations.get(id),
      }),
    })),
  };
}

/** Without those that are over, which mute nothing any more. In order of name and id. */
async function muteSection(
  records: Records,
  principal: Principal,
  workspaceId: string,
  names: Parameters<typeof configuredMutes>[3],
): Promise<KnownSections['mutes']> {
  const scope = { workspaceIds: [workspaceId] };
  const now = records.now();
  const mutes = (await all((page) => new Mutes(records).list(principal, scope, page))).filter(
    ({ once }) => once === null || (parseInstant(once.to) ?? now) > now,
  );
  const configured = await configuredMutes(records, workspaceId, mutes, names);
  const known = new Map<string, KnownItem>();
  for (const { id, name } of mutes) {
    const item = configured.get(id);
    if (item !== undefined) known.set(id, { id, item: { name, ...item } });
  }
  return known;
}

async function ruleSections(
  records: Records,
  principal: Principal,
  workspaceId: string,
  names: Pick<Parameters<typeof configuredRules>[3], 'tag' | 'place' | 'action'>,
): Promise<Pick<KnownSections, 'customLogic' | 'rules' | 'calculations'>> {
  const scope = { workspaceIds: [workspaceId] };
  const blocks = await all((page) => new CustomLogicBlocks(records).list(principal, {}, page));
  const rules = await all((page) =>
    listRules(records, { principal, viewOptions: configurationViewOptions }, scope, page),
  );
  const calculations = await all((page) => new Calculations(records).list(principal, scope, page));
  const computed = await configuredCalculations(records, workspaceId, calculations, names.tag);
  const configured = await configuredRules(records, workspaceId, rules, {
    ...names,
    customLogic: naming(blocks),
  });
  return {
    customLogic: section(blocks, (block) => ({
      description: block.description,
      dataSources: block.dataSources,
      properties: block.properties,
      script: block.script,
    })),
    rules: section(rules, ({ id }) => {
      const rule = configured.get(id);
      if (rule === undefined) throw new Error(`Rule ${id} has no configured form`);
      return rule;
    }),
    calculations: section(calculations, ({ id }) => {
      const calculation = computed.get(id);
      if (calculation === undefined) throw new Error(`Calculation ${id} has no configured form`);
      return calculation;
    }),
  };
}

/**
 * Contains only the device types and custom logic that the workspace uses, and not the global
 * database connector.
 */
export async function exportConfiguration(
  records: Records,
  principal: Principal,
  workspaceId: string,
) {
  checkConfigurationScopes(principal, workspaceId, ['read']);
  const { name, description, settings, properties } = await new Workspaces(records).read(
    workspaceId,
  );
  const known = await knownSections(records, principal, workspaceId);
  const items = (section: SectionName) => [...known[section].values()].map(({ item }) => item);
  const dataFlows = items('dataFlows');
  const dashboards = items('dashboards');
  const used = new Set<Json | undefined>([
    ...dataFlows.map((flow) => flow['deviceType']),
    ...dashboards.flatMap(({ deviceType, configuration }) => [
      deviceType,
      ...(isJsonObject(configuration) ? recordsNamed(configuration, 'deviceType') : []),
    ]),
  ]);
  const rules = items('rules');
  const usedLogic = customLogicNames(rules);
  return {
    format: configurationFormat,
    workspace: { name, description, settings, properties },
    customFields: items('customFields'),
    tags: items('tags'),
    places: items('places'),
    deviceTypes: items('deviceTypes').filter((type) => used.has(type.name)),
    deviceConnectors: items('deviceConnectors'),
    onCallOrders: items('onCallOrders'),
    outputConnectors: items('outputConnectors').filter((output) => output['global'] !== true),
    dataFlows,
    customLogic: items('customLogic').filter((block) => usedLogic.has(block.name)),
    rules,
    mutes: items('mutes'),
    calculations: items('calculations'),
    ...(holdsAll(principal, dashboardScopes, ['read'], workspaceId) && {
      dashboardGroups: items('dashboardGroups'),
      dashboards,
    }),
  };
}
