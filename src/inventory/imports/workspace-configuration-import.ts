// Workspace configuration import: creates missing records and updates different ones in one transaction; deletes nothing.
import { isDeepStrictEqual } from 'node:util';
import { hasFormOfId } from '../../model/ids.ts';
import { isJsonObject, type JsonObject } from '../../model/json.ts';
import { formatPath, parsePath } from '../../model/place.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { AvailableOutputs } from '../../outputs/connectors/available-outputs.ts';
import type { Records } from '../../storage/records/records.ts';
import { Mutes } from '../alarms/mutes.ts';
import { OnCallOrders } from '../alarms/on-call.ts';
import { DataFlows } from '../data-flows/data-flows.ts';
import { DeviceConnectors } from '../data-flows/device-connectors.ts';
import { DeviceTypes } from '../data-flows/device-types.ts';
import { type ConnectorViewer, OutputConnectors } from '../data-flows/output-connectors.ts';
import { CustomFields } from '../devices/device-field-values.ts';
import { Places } from '../devices/places.ts';
import { Tags } from '../devices/tags.ts';
import { change, type Step } from '../record-crud.ts';
import { Calculations } from '../rules/calculations.ts';
import { CustomLogicBlocks } from '../rules/custom-logic.ts';
import { createRule, updateRule } from '../rules/rules.ts';
import type { ConfiguredMute } from '../../contract/alarms.ts';
import type { DashboardDraft } from '../../contract/dashboards.ts';
import type { WorkspaceUpdate } from '../../contract/workspaces.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import {
  createDashboard,
  createDashboardGroup,
  updateDashboard,
  updateDashboardGroup,
} from '../workspaces/dashboards.ts';
import { Workspaces } from '../workspaces/workspaces.ts';
import {
  calculationFromConfigured,
  connectorsNamedBy,
  devicesOfCalculation,
  devicesOfRule,
  inOrderOfNaming,
  missingDevices,
  muteFromConfigured,
  type NamedKind,
  recordsNamed,
  renamedConfiguration,
  ruleFromConfigured,
  targetsFromConfigured,
  withNamedRecords,
} from './workspace-configuration-parts.ts';
import {
  checkConfigurationScopes,
  checkDashboardScopes,
  configurationFormat,
  type ConfigurationItem,
  configurationSections,
  configurationViewOptions,
  type KnownItem,
  knownSections,
  type KnownSections,
  type SectionName,
} from './workspace-configuration.ts';

type ConfigurationDocument = {
  readonly format: string;
  readonly workspace?: WorkspaceUpdate | null | undefined;
} & { readonly [S in SectionName]?: readonly { readonly name: string }[] | null | undefined };

/** Members that never change after the record is created. */
const fixed: Readonly<Partial<Record<SectionName, readonly string[]>>> = {
  customFields: ['type'],
  deviceConnectors: ['connectivity', 'authType', 'decodingType'],
  outputConnectors: ['type', 'scope'],
  dataFlows: ['deviceConnector'],
};

/** What the routes know of the installation and of dashboards. */
interface ImportChecks {
  /** The output connector types that this installation offers. */
  readonly available: AvailableOutputs;
  /** Throws 400 for a configuration of a dashboard that cannot be drawn. */
  readonly checkDashboard: (configuration: JsonObject) => void;
}

/**
 * The same document again changes nothing. Throws 400 or 409 naming the item, and then changes
 * nothing.
 */
export async function importConfiguration(
  records: Records,
  principal: Principal,
  workspaceId: string,
  document: ConfigurationDocument,
  checks: ImportChecks,
): Promise<{
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Remaining work for users, such as entering secrets. */
  readonly notes: readonly string[];
}> {
  checkConfigurationScopes(principal, workspaceId, ['read', 'create', 'update']);
  if (document.dashboards || document.dashboardGroups)
    checkDashboardScopes(principal, workspaceId, ['read', 'create', 'update']);
  if (document.format !== configurationFormat) {
    throw problem('invalidRequest', { reason: `body format: must be ${configurationFormat}` });
  }
  return change(records, async (step) => {
    const known = await knownSections(step, principal, workspaceId);
    const context: ImportContext = {
      step,
      principal,
      workspaceId,
      organizationId: principal.organizationId,
      ...checks,
      document,
      now: step.now(),
      known,
      created: new Map(),
      mutes: new KnownMutes(known.mutes.values(), document.mutes ?? []),
    };
    const counts = { created: 0, updated: 0, unchanged: 0 };
    const notes: string[] = [];
    await importWorkspace(step, workspaceId, document.workspace, counts);
    const leftOut = new Set<string>();
    for (const section of configurationSections) {
      const items = (document[section] ?? []) as readonly ConfigurationItem[];
      for (const item of inOrderOfNaming(items)) {
        const reason = await reasonToLeaveOut(context, section, item, leftOut);
        if (reason !== undefined) {
          leftOut.add(`${section} ${item.name}`);
          notes.push(`${section} ${item.name}: left out, ${reason}`);
          continue;
        }
        const outcome = await importItem(context, section, item);
        counts[outcome] += 1;
        if (outcome === 'created' && JSON.stringify(item).includes('"********"'))
          notes.push(
            `${section} ${item.name}: enter its secrets; configuration documents do not contain them`,
          );
      }
    }
    return { ...counts, notes };
  });
}

/** Why an item cannot be imported yet: a device is missing, or a record that it names was left out. */
async function reasonToLeaveOut(
  context: ImportContext,
  section: SectionName,
  item: ConfigurationItem,
  leftOut: ReadonlySet<string>,
): Promise<string | undefined> {
  const absent = await missingDevicesOf(context, section, item);
  if (absent.length > 0) return `the workspace has no device ${absent.join(', ')}`;
  const outputs = outputNames(section, item);
  const needed = outputs.filter((name) => leftOut.has(`outputConnectors ${name}`));
  if (needed.length > 0) return `as was its output connector ${needed.join(', ')}`;
  const rules = section === 'mutes' ? (mutedOf(item).rules ?? []) : [];
  const unmade = rules.filter((name) => leftOut.has(`rules ${name}`));
  if (unmade.length > 0) return `as was its rule ${unmade.join(', ')}`;
  return undefined;
}

/**
 * Device types and custom logic serve all workspaces: a credential limited to some can use but not
 * change them (contract 35).
 */
function checkReach({ workspaces }: Principal, section: SectionName): void {
  if (workspaces !== 'all' && (section === 'deviceTypes' || section === 'customLogic'))
    throw problem('permissionDenied');
}

type Outcome = 'created' | 'updated' | 'unchanged';

async function importWorkspace(
  step: Step,
  workspaceId: string,
  sent: WorkspaceUpdate | null | undefined,
  counts: Record<Outcome, number>,
): Promise<void> {
  if (!sent) return;
  const { name, description, settings, properties } = await new Workspaces(step).read(workspaceId);
  const current = { name, description, settings, properties };
  if (isDeepStrictEqual({ ...current, ...sent }, current)) counts.unchanged += 1;
  else {
    await new Workspaces(step).update(workspaceId, sent);
    counts.updated += 1;
  }
}

/** The mutes of the workspace, each of which one item of the document describes at most. */
class KnownMutes {
  readonly #same = new Map<object, KnownItem>();
  readonly #others: Map<string, KnownItem[]>;

  constructor(known: Iterable<KnownItem>, items: readonly object[]) {
    const others = new Set(known);
    const byContent = Map.groupBy(others, ({ item }) => contentOf(item));
    for (const item of items) {
      const same = byContent.get(contentOf(item))?.shift();
      if (same === undefined) continue;
      this.#same.set(item, same);
      others.delete(same);
    }
    this.#others = Map.groupBy(others, ({ item }) => item.name);
  }

  /** The one with the content of the item, else the next one of its name. */
  take(item: ConfigurationItem): KnownItem | undefined {
    return this.#same.get(item) ?? this.#others.get(item.name)?.shift();
  }
}

/** The same for members in another order. */
function contentOf(item: object): string {
  return JSON.stringify(item, (_, value: unknown) =>
    isJsonObject(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

async function importItem(
  context: ImportContext,
  section: SectionName,
  item: ConfigurationItem,
): Promise<Outcome> {
  const current =
    section === 'mutes' ? context.mutes.take(item) : context.known[section].get(item.name);
  if (current === undefined) {
    // A second mute of the same name is another mute.
    const made = section === 'mutes' ? undefined : context.created.get(`${section} ${item.name}`);
    if (made !== undefined) {
      await writers[section].update(context, item, made);
      return 'created';
    }
    if (item['library'] === true) {
      throw problem('invalidRequest', {
        reason: `body ${section}: unknown library type ${item.name}; import the library first`,
      });
    }
    checkReach(context.principal, section);
    const { id } = await writers[section].create(context, item);
    context.created.set(`${section} ${item.name}`, id);
    return 'created';
  }
  if (item['library'] === true || isDeepStrictEqual({ ...current.item, ...item }, current.item))
    return 'unchanged';
  const changed = fixed[section]?.find(
    (name) => item[name] !== undefined && !isDeepStrictEqual(item[name], current.item[name]),
  );
  if (changed !== undefined) {
    throw problem('invalidRequest', {
      reason: `body ${section}: the ${changed} of ${item.name} cannot be changed; use another name`,
    });
  }
  checkReach(context.principal, section);
  await writers[section].update(context, item, current.id);
  return 'updated';
}

/** A document contains no devices, so an item that names devices waits until they exist. */
async function missingDevicesOf(
  context: ImportContext,
  section: SectionName,
  item: ConfigurationItem,
): Promise<readonly string[]> {
  const { step, known } = context;
  if (section === 'outputConnectors') {
    const current = known.outputConnectors.get(item.name);
    if (current !== undefined && isDeepStrictEqual({ ...current.item, ...item }, current.item))
      return [];
    return (await targetsFromConfigured(step, context, item)).missing;
  }
  if (section === 'calculations') {
    const merged: object = { ...known.calculations.get(item.name)?.item, ...item };
    return missingDevices(step, context, devicesOfCalculation(merged));
  }
  if (section === 'dashboards') {
    const current = known.dashboards.get(item.name);
    if (current !== undefined && isDeepStrictEqual({ ...current.item, ...item }, current.item))
      return [];
    return missingDevices(step, context, devicesOfDashboard(context, item));
  }
  if (section === 'mutes') return missingDevices(step, context, mutedOf(item).devices ?? []);
  if (section !== 'rules') return [];
  const merged: object = { ...known.rules.get(item.name)?.item, ...item };
  return missingDevices(step, context, devicesOfRule(merged));
}

/** What a mute of a document mutes. */
function mutedOf({ what }: ConfigurationItem): Partial<ConfiguredMute['what']> {
  return isJsonObject(what) ? what : {};
}

/** The output connectors that an item of a document needs. */
function outputNames(section: SectionName, item: ConfigurationItem): readonly string[] {
  if (section === 'outputConnectors') return connectorsNamedBy(item);
  const { actions, outputConnectors } = item;
  const outputs = new Map<SectionName, unknown>([
    ['rules', actions],
    ['dataFlows', outputConnectors],
  ]);
  const named = (outputs.get(section) ?? []) as readonly { readonly name: string }[];
  return named.map(({ name }) => name);
}

// Writers of a workspace configuration: create and update the records of each section from the items of a document.

/** The state of one import. */
interface ImportContext extends ImportChecks {
  readonly step: Step;
  readonly principal: Principal;
  readonly workspaceId: string;
  readonly organizationId: string;
  readonly document: ConfigurationDocument;
  readonly now: number;
  /** The records before the import. */
  readonly known: KnownSections;
  /** Ids of the records that the import created, by section and name. */
  readonly created: Map<string, string>;
  readonly mutes: KnownMutes;
}

type ItemId = Promise<{ readonly id: string }>;

/** Creates and updates the records of each section. */
const writers: Readonly<
  Record<
    SectionName,
    {
      readonly create: (context: ImportContext, item: ConfigurationItem) => ItemId;
      readonly update: (context: ImportContext, item: ConfigurationItem, id: string) => ItemId;
    }
  >
> = {
  customFields: {
    create: ({ step, workspaceId }, item) =>
      new CustomFields(step).create({ ...item, workspaceId } as never),
    update: ({ step }, item, id) => new CustomFields(step).update(id, item),
  },
  tags: {
    create: ({ step, workspaceId }, item) => new Tags(step).create({ ...item, workspaceId }),
    update: ({ step }, item, id) => new Tags(step).update(id, item),
  },
  places: {
    create: (context, item) => {
      const { step, workspaceId } = context;
      const names = parsePath(item.name);
      const name = names?.at(-1);
      if (names === undefined || name === undefined)
        throw problem('invalidRequest', { reason: `body places: ${item.name} is not a path` });
      const above = names.slice(0, -1);
      const parentId = above.length === 0 ? null : idOf(context, 'places', formatPath(above));
      return new Places(step).create({ ...item, name, parentId, workspaceId });
    },
    update: ({ step }, { name: _, ...item }, id) => new Places(step).update(id, item),
  },
  deviceTypes: {
    create: ({ step, organizationId, now }, { library: _, ...item }) =>
      new DeviceTypes(step).create({ ...item, organizationId }, now),
    update: ({ step, now }, { library: _, ...item }, id) =>
      new DeviceTypes(step).update(id, item, now),
  },
  deviceConnectors: {
    create: ({ step, principal, workspaceId }, item) =>
      new DeviceConnectors(step).create(principal, { ...item, workspaceId } as never),
    update: ({ step, principal }, item, id) =>
      new DeviceConnectors(step).update(principal, id, item),
  },
  onCallOrders: {
    create: ({ step, workspaceId }, item) =>
      new OnCallOrders(step).create({ ...item, workspaceId } as never),
    update: ({ step }, item, id) => new OnCallOrders(step).update(id, item),
  },
  outputConnectors: {
    create: async (context, configured) => {
      const { step, workspaceId, available } = context;
      const item = await outputFromConfigured(context, configured);
      return new OutputConnectors(step).create(configurationViewOptions, available, {
        ...item,
        workspaceId,
      } as never);
    },
    update: async (context, configured, id) => {
      const { step, available } = context;
      const item = await outputFromConfigured(context, configured);
      return new OutputConnectors(step).update(configurationViewOptions, available, id, item);
    },
  },
  dataFlows: {
    create: (context, item) => {
      const draft = { ...flowFromConfigured(context, item), workspaceId: context.workspaceId };
      return new DataFlows(context.step).create(viewerOf(context), draft);
    },
    update: (context, item, id) => {
      return new DataFlows(context.step).update(
        viewerOf(context),
        id,
        flowFromConfigured(context, item),
      );
    },
  },
  customLogic: {
    create: ({ step, principal, organizationId }, item) =>
      new CustomLogicBlocks(step).create(principal, { ...item, organizationId } as never),
    update: ({ step, principal }, item, id) =>
      new CustomLogicBlocks(step).update(principal, id, item),
  },
  rules: {
    create: async (context, item) => {
      const { step, workspaceId } = context;
      const draft = { ...(await ruleOf(context, item)), workspaceId };
      return createRule(step, configurationViewOptions, draft);
    },
    update: async (context, item, id) => {
      const current = context.known.rules.get(item.name)?.item;
      const sent = await ruleOf(context, { ...current, ...item });
      return updateRule(context.step, configurationViewOptions, id, sent);
    },
  },
  mutes: {
    create: async (context, item) => {
      const { step, workspaceId } = context;
      return new Mutes(step).create({ ...(await muteOf(context, item)), workspaceId });
    },
    update: async (context, item, id) => {
      const current = context.known.mutes.get(id)?.item;
      return new Mutes(context.step).update(id, await muteOf(context, { ...current, ...item }));
    },
  },
  dashboardGroups: {
    create: ({ step, workspaceId }, item) => createDashboardGroup(step, { ...item, workspaceId }),
    update: ({ step }, item, id) => updateDashboardGroup(step, id, item),
  },
  dashboards: {
    create: async (context, item) => {
      const { step, workspaceId } = context;
      return createDashboard(step, { ...(await dashboardOf(context, item)), workspaceId });
    },
    update: async (context, item, id) => {
      const current = context.known.dashboards.get(item.name)?.item;
      return updateDashboard(context.step, id, await dashboardOf(context, { ...current, ...item }));
    },
  },
  calculations: {
    create: async (context, item) => {
      const { step, workspaceId } = context;
      return new Calculations(step).create({
        ...(await calculationOf(context, item)),
        workspaceId,
      });
    },
    update: async (context, item, id) => {
      const current = context.known.calculations.get(item.name)?.item;
      return new Calculations(context.step).update(
        id,
        await calculationOf(context, { ...current, ...item }),
      );
    },
  },
};

// Dashboards name each other, also in a circle.

type ConfiguredDashboard = {
  readonly name: string;
  readonly group?: string | null;
  readonly deviceType?: string | null;
  readonly placeKind?: string | null;
  readonly configuration?: JsonObject | null;
};

/** The dashboard of the document; undefined for one that it does not contain. */
function dashboardIn({ document }: ImportContext, name: string): ConfiguredDashboard | undefined {
  return document.dashboards?.find((one) => one.name === name);
}

/** The devices that the dashboard names, and those of the dashboards that have to be created with it. */
function devicesOfDashboard(context: ImportContext, item: ConfigurationItem): readonly string[] {
  const devices = new Set<string>();
  const reached = new Set<string>([item.name]);
  for (const name of reached) {
    const { configuration } = dashboardIn(context, name) ?? {};
    if (!configuration) continue;
    for (const device of recordsNamed(configuration, 'device')) devices.add(device);
    for (const other of recordsNamed(configuration, 'dashboard'))
      if (!context.known.dashboards.has(other)) reached.add(other);
  }
  return [...devices];
}

async function dashboardOf(
  context: ImportContext,
  { name, group, deviceType, placeKind, configuration, ...rest }: ConfiguredDashboard,
): Promise<Omit<DashboardDraft, 'workspaceId'>> {
  const { step, known, created, workspaceId, organizationId } = context;
  for (const other of configuration ? recordsNamed(configuration, 'dashboard') : []) {
    const isKnown = known.dashboards.has(other) || created.has(`dashboards ${other}`);
    if (isKnown || dashboardIn(context, other) === undefined) continue;
    // Its own content follows with its turn.
    const { id } = await createDashboard(step, { name: other, workspaceId });
    created.set(`dashboards ${other}`, id);
  }
  const devices = await deviceRows.serviceIdsOf(
    step.db,
    organizationId,
    configuration ? recordsNamed(configuration, 'device') : [],
  );
  const renamed =
    configuration &&
    renamedConfiguration(configuration, {
      rename(kind, of) {
        if (kind === 'device') return devices.get(of)?.id ?? of;
        // What was deleted since is named by its id.
        const section = sectionOfKind[kind];
        const isDeleted = !known[section].has(of) && hasFormOfId(kind, of);
        return isDeleted ? of : idOf(context, section, of);
      },
      configurationOf: (of) =>
        (dashboardIn(context, of) ?? known.dashboards.get(of)?.item)?.['configuration'],
    });
  if (renamed) context.checkDashboard(renamed);
  return {
    ...rest,
    name,
    groupId: group ? idOf(context, 'dashboardGroups', group) : null,
    deviceTypeId: deviceType ? idOf(context, 'deviceTypes', deviceType) : null,
    placeKind: placeKind ?? null,
    ...(renamed && { configuration: renamed }),
  };
}

const sectionOfKind = {
  tag: 'tags',
  place: 'places',
  customFieldMeta: 'customFields',
  deviceType: 'deviceTypes',
  dashboard: 'dashboards',
  rule: 'rules',
} as const satisfies Record<Exclude<NamedKind, 'device'>, SectionName>;

function viewerOf({ principal }: ImportContext): ConnectorViewer {
  return { principal, viewOptions: configurationViewOptions };
}

function ruleOf(context: ImportContext, item: ConfigurationItem) {
  const { step, organizationId } = context;
  return ruleFromConfigured(step, organizationId, item as never, (section, name) =>
    idOf(context, section, name),
  );
}

function calculationOf(context: ImportContext, item: ConfigurationItem) {
  const { step, organizationId } = context;
  return calculationFromConfigured(step, organizationId, item as never, (name) =>
    idOf(context, 'tags', name),
  );
}

function muteOf(context: ImportContext, item: ConfigurationItem) {
  const { step, organizationId } = context;
  return muteFromConfigured(step, organizationId, item as never, (section, name) =>
    idOf(context, section, name),
  );
}

async function outputFromConfigured(context: ImportContext, configured: ConfigurationItem) {
  const { item } = await targetsFromConfigured(context.step, context, configured);
  return withNamedRecords(item, {
    connector: (name) => idOf(context, 'outputConnectors', name),
    onCall: (name) => idOf(context, 'onCallOrders', name),
  });
}

function flowFromConfigured(
  context: ImportContext,
  { deviceConnector, deviceType, outputConnectors, ...rest }: ConfigurationItem,
) {
  const outputs = (outputConnectors ?? []) as readonly {
    readonly name: string;
    readonly topic: string;
  }[];
  return {
    ...rest,
    deviceConnector: { id: idOf(context, 'deviceConnectors', String(deviceConnector)) },
    deviceType: deviceType ? { id: idOf(context, 'deviceTypes', String(deviceType)) } : null,
    outputConnectors: outputs.map(({ name, topic }) => ({
      id: idOf(context, 'outputConnectors', name),
      topic,
    })),
  };
}

/**
 * The id of a record that a document names, also of one that the import created. Throws 400 for an
 * unknown name.
 */
function idOf({ created, known }: ImportContext, section: SectionName, name: string): string {
  const id = created.get(`${section} ${name}`) ?? known[section].get(name)?.id;
  if (id !== undefined) return id;
  throw problem('unknownReference', { field: 'body', what: section, id: name, place: 'workspace' });
}
