// Parts of a workspace's document that name other records: rules, calculations, custom logic blocks and outputs, with names and physical ids.
import { renamedFormula } from '../../query/expressions/parse.ts';
import { isJsonObject, type Json, type JsonObject, objectOrEmpty } from '../../model/json.ts';
import type { RuleInputType } from '../../model/rule.ts';
import { parseTagCombination } from '../../model/device.ts';
import { typesWithProperties } from '../../outputs/connectors/connector-table.ts';
import { namedDevices, renamedDevices } from '../../outputs/connectors/named-devices.ts';
import type { Records } from '../../storage/records/records.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import type { CalculationDraft } from '../../contract/calculations.ts';
import type { ConfiguredMute, MuteDraft } from '../../contract/alarms.ts';
import type { RuleDraft } from '../../contract/rules.ts';
import type { MutedWhat } from '../../model/mute.ts';
import type { Mutes } from '../alarms/mutes.ts';
import type { Calculations } from '../rules/calculations.ts';
import type { RuleView } from '../rules/rules.ts';
import { dashboardSchemaName } from '../../contract/dashboard-configuration.ts';

/**
 * An input of a rule in a document. Its id is a label that only the data sources of the same rule
 * use.
 */
interface ConfiguredInput {
  readonly id: string;
  readonly type: RuleInputType;
  readonly name?: string | null | undefined;
  /** The physical id, of a device. */
  readonly deviceId?: string | null | undefined;
  /** The name, of a tag. */
  readonly tag?: string | null | undefined;
  /** The path, of a place. */
  readonly place?: string | null | undefined;
  /** AND or OR, of a tag combination, and the names of its tags. */
  readonly tagCombination?: string | null | undefined;
  readonly tags?: readonly string[] | null | undefined;
}

/** Like the draft of a rule; connectors, tags and custom logic are named. */
type ConfiguredRule = Omit<RuleDraft, 'workspaceId' | 'inputs' | 'actions' | 'version'> & {
  readonly inputs: readonly ConfiguredInput[];
  readonly actions?:
    | readonly { readonly name: string; readonly configuration?: JsonObject | null | undefined }[]
    | null
    | undefined;
};

type Naming = (id: string) => string;

interface RuleNames {
  readonly device: Naming;
  readonly tag: Naming;
  readonly place: Naming;
  readonly action: Naming;
  readonly customLogic: Naming;
}

/** The document form of each rule, by the rule's id. */
export async function configuredRules(
  { db }: Records,
  workspaceId: string,
  rules: readonly RuleView[],
  named: Omit<RuleNames, 'device'>,
): Promise<ReadonlyMap<string, object>> {
  const deviceIds = rules.flatMap(({ inputs, logic }) => [
    ...inputs.filter(({ device }) => device).map(({ id }) => id),
    ...devicesInFormulas(logic),
  ]);
  const physical = await deviceRows.physicalIdsOf(db, workspaceId, deviceIds);
  const names: RuleNames = { ...named, device: (id) => physical.get(id) ?? id };
  return new Map(rules.map((rule) => [rule.id, configuredRule(rule, names)]));
}

function configuredRule(
  { description, active, inputs, timer, logic, actions }: RuleView,
  names: RuleNames,
) {
  const labels = new Map(inputs.map(({ id }, i) => [id, String(i + 1)]));
  const inNames = withReferences(logic, {
    input: (id) => labels.get(id) ?? id,
    device: names.device,
    action: names.action,
    customLogic: names.customLogic,
  });
  return {
    description,
    active,
    inputs: inputs.map((input) => configuredInput(input, labels.get(input.id)!, names)),
    timer: { ...timer },
    logic: inNames,
    actions: actions.map(({ id, configuration }) => ({ name: names.action(id), configuration })),
  };
}

function configuredInput(
  input: RuleView['inputs'][number],
  id: string,
  names: RuleNames,
): ConfiguredInput {
  const { type } = input;
  if (type === 'DEVICE') return { id, type, deviceId: names.device(input.id) };
  if (type === 'ASSET_TAG') return { id, type, tag: names.tag(input.id) };
  if (type === 'PLACE') return { id, type, place: names.place(input.id) };
  const { joined, tagIds } = parseTagCombination(input.tagCombination ?? '') ?? {
    joined: 'OR',
    tagIds: [],
  };
  return { id, type, name: input.name, tagCombination: joined, tags: tagIds.map(names.tag) };
}

/** The physical ids of the devices that a rule of a document names. */
export function devicesOfRule({ inputs, logic }: Partial<ConfiguredRule>): readonly string[] {
  return [
    ...(inputs ?? []).flatMap(({ type, deviceId }) => (type === 'DEVICE' ? [deviceId ?? ''] : [])),
    ...(logic === undefined ? [] : devicesInFormulas(logic)),
  ];
}

/** Which of the devices, by physical id, the workspace does not have. */
export async function missingDevices(
  { db }: Records,
  {
    organizationId,
    workspaceId,
  }: { readonly organizationId: string; readonly workspaceId: string },
  wanted: readonly string[],
): Promise<string[]> {
  const known = await deviceRows.serviceIdsOf(db, organizationId, wanted);
  return wanted.filter((deviceId) => known.get(deviceId)?.workspaceId !== workspaceId);
}

/** The rule with the ids of this workspace; `idOf` throws 400 for a name that is not there. */
export async function ruleFromConfigured(
  { db }: Records,
  organizationId: string,
  sent: ConfiguredRule,
  idOf: (section: 'tags' | 'places' | 'outputConnectors' | 'customLogic', name: string) => string,
): Promise<Omit<RuleDraft, 'workspaceId'>> {
  const devices = await deviceRows.serviceIdsOf(db, organizationId, devicesOfRule(sent));
  const inputOf = (input: ConfiguredInput): RuleDraft['inputs'][number] => {
    const { id, type, name, deviceId, tag, place, tagCombination, tags } = input;
    if (type === 'DEVICE') return { id: devices.get(deviceId ?? '')?.id ?? '', type };
    if (type === 'ASSET_TAG') return { id: idOf('tags', tag ?? ''), type };
    if (type === 'PLACE') return { id: idOf('places', place ?? ''), type };
    const tagIds = (tags ?? []).map((of) => idOf('tags', of));
    return {
      id,
      type,
      name: name ?? null,
      tagCombination: `${tagCombination ?? 'OR'}:${tagIds.join(',')}`,
    };
  };
  const inputs = sent.inputs.map((input) => ({ label: input.id, input: inputOf(input) }));
  const labels = new Map(inputs.map(({ label, input }) => [label, input.id]));
  const { name, description, active, timer } = sent;
  return {
    name,
    ...(description !== undefined && { description }),
    ...(active !== undefined && { active }),
    ...(timer !== undefined && { timer }),
    inputs: inputs.map(({ input }) => input),
    logic: withReferences(sent.logic, {
      input: (label) => labels.get(label) ?? label,
      device: (of) => devices.get(of)?.id ?? of,
      action: (of) => idOf('outputConnectors', of),
      customLogic: (of) => idOf('customLogic', of),
    }),
    actions: (sent.actions ?? []).map((action) => ({
      id: idOf('outputConnectors', action.name),
      configuration: action.configuration ?? null,
    })),
  };
}

// Calculations: the tag by name, devices by physical id. `from` is not contained: one begins when it is imported.

type CalculationView = Awaited<ReturnType<Calculations['read']>>;

interface ConfiguredCalculation
  extends Omit<CalculationDraft, 'workspaceId' | 'tagId' | 'deviceIds' | 'from'> {
  readonly tag?: string | null | undefined;
  readonly devices?: readonly string[] | null | undefined;
}

/** The document form of each calculation, by its id. */
export async function configuredCalculations(
  { db }: Records,
  workspaceId: string,
  calculations: readonly CalculationView[],
  tagName: Naming,
): Promise<ReadonlyMap<string, object>> {
  const ids = calculations.flatMap(({ deviceIds, target }) => [
    ...(deviceIds ?? []),
    target.deviceId,
  ]);
  const physical = await deviceRows.physicalIdsOf(db, workspaceId, ids);
  const named = (id: string) => physical.get(id) ?? id;
  return new Map(
    calculations.map(({ id, tagId, deviceIds, target, ...calculation }) => {
      const { description, active, topic, period, timeZone, outputs } = calculation;
      const devices = {
        tag: tagId === null ? null : tagName(tagId),
        devices: deviceIds?.map(named) ?? null,
        target: { ...target, deviceId: named(target.deviceId) },
      };
      return [id, { description, active, ...devices, topic, period, timeZone, outputs }];
    }),
  );
}

/** The devices that a calculation of a document names. */
export function devicesOfCalculation({ devices, target }: Partial<ConfiguredCalculation>) {
  return [...(devices ?? []), ...(target === undefined ? [] : [target.deviceId])];
}

/** The calculation with the ids of this workspace; `tagId` throws 400 for a name that is not there. */
export async function calculationFromConfigured(
  { db }: Records,
  organizationId: string,
  { tag, devices, target, ...sent }: ConfiguredCalculation,
  tagId: Naming,
): Promise<Omit<CalculationDraft, 'workspaceId'>> {
  const ids = await deviceRows.serviceIdsOf(db, organizationId, [
    ...(devices ?? []),
    target.deviceId,
  ]);
  const idOf = (deviceId: string) => ids.get(deviceId)?.id ?? deviceId;
  return {
    ...sent,
    tagId: tag ? tagId(tag) : null,
    deviceIds: devices?.map(idOf) ?? null,
    target: { ...target, deviceId: idOf(target.deviceId) },
  };
}

// Mutes: rules, tags and places by name, devices by physical id. What was deleted since is left out.

type MuteView = Awaited<ReturnType<Mutes['read']>>;
type Known = ReadonlyMap<string, string>;

/** The document form of each mute, by its id; none for one of which everything was deleted. */
export async function configuredMutes(
  { db }: Records,
  workspaceId: string,
  mutes: readonly MuteView[],
  names: { readonly rules: Known; readonly tags: Known; readonly places: Known },
): Promise<ReadonlyMap<string, object>> {
  const ids = mutes.flatMap(({ what }) => ('all' in what ? [] : (what.deviceIds ?? [])));
  const devices = await deviceRows.physicalIdsOf(db, workspaceId, [...new Set(ids)]);
  const configured = new Map<string, object>();
  for (const { id, what, reason, severityBelow, once, weekly, active } of mutes) {
    const named = 'all' in what ? what : mutedByName(what, { ...names, devices });
    if (Object.keys(named).length > 0)
      configured.set(id, { what: named, reason, severityBelow, once, weekly, active });
  }
  return configured;
}

function mutedByName(
  { ruleIds, deviceIds, tagIds, placeIds, alarmKeys = [] }: Exclude<MutedWhat, { all: true }>,
  names: { readonly [S in 'rules' | 'devices' | 'tags' | 'places']: Known },
) {
  const lists = {
    rules: ruleIds?.flatMap((id) => names.rules.get(id) ?? []) ?? [],
    devices: deviceIds?.flatMap((id) => names.devices.get(id) ?? []) ?? [],
    tags: tagIds?.flatMap((id) => names.tags.get(id) ?? []) ?? [],
    places: placeIds?.flatMap((id) => names.places.get(id) ?? []) ?? [],
    alarmKeys,
  };
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
}

/** The mute with the ids of this workspace; `idOf` throws 400 for a name that is not there. */
export async function muteFromConfigured(
  { db }: Records,
  organizationId: string,
  { what, ...sent }: ConfiguredMute,
  idOf: (section: 'rules' | 'tags' | 'places', name: string) => string,
): Promise<Omit<MuteDraft, 'workspaceId'>> {
  const { all, rules, devices, tags, places, alarmKeys } = what;
  const ids = await deviceRows.serviceIdsOf(db, organizationId, devices ?? []);
  return {
    ...sent,
    what: {
      ...(all && { all }),
      ruleIds: rules?.map((name) => idOf('rules', name)) ?? null,
      deviceIds: devices?.map((deviceId) => ids.get(deviceId)?.id ?? deviceId) ?? null,
      tagIds: tags?.map((name) => idOf('tags', name)) ?? null,
      placeIds: places?.map((path) => idOf('places', path)) ?? null,
      alarmKeys: alarmKeys ?? null,
    },
  };
}

type Logic = RuleDraft['logic'];

/** The same logic with every reference renamed; the name of custom logic comes from its record. */
function withReferences(
  logic: Logic,
  put: {
    readonly input: Naming;
    /** Of the devices in formulas. */
    readonly device: Naming;
    readonly action: Naming;
    readonly customLogic: Naming;
  },
): Logic {
  const each = (ids: readonly string[] | null | undefined) => (ids ?? []).map(put.action);
  const { dataSources, logicBlocks, geoFenceLogicBlock, silenceLogicBlock, customLogic } = logic;
  return {
    type: logic.type,
    dataSources: dataSources.map((source) => ({
      ...source,
      inputIds: source.inputIds.map(put.input),
    })),
    ...(logicBlocks && {
      logicBlocks: logicBlocks.map((block) => ({
        ...block,
        conditions: withFormulas(block.conditions, put.device),
        ...(block.clearConditions && {
          clearConditions: withFormulas(block.clearConditions, put.device),
        }),
        actionIds: each(block.actionIds),
      })),
    }),
    ...(geoFenceLogicBlock && {
      geoFenceLogicBlock: {
        ...geoFenceLogicBlock,
        insideActionIds: each(geoFenceLogicBlock.insideActionIds),
        outsideActionIds: each(geoFenceLogicBlock.outsideActionIds),
      },
    }),
    ...(silenceLogicBlock && {
      silenceLogicBlock: { ...silenceLogicBlock, actionIds: each(silenceLogicBlock.actionIds) },
    }),
    ...(customLogic && {
      customLogic: {
        customLogicId: put.customLogic(customLogic.customLogicId),
        actionIds: each(customLogic.actionIds),
        properties: customLogic.properties ?? null,
      },
    }),
  };
}

type Conditions = NonNullable<Logic['logicBlocks']>[number]['conditions'];

function withFormulas(conditions: Conditions, rename: Naming): Conditions {
  const operand = (of: Conditions[number]['operandFirst']) =>
    of.expression ? { ...of, expression: renamedFormula(of.expression, rename) } : of;
  return conditions.map((condition) => ({
    ...condition,
    operandFirst: operand(condition.operandFirst),
    operandSecond: operand(condition.operandSecond),
  }));
}

function devicesInFormulas(logic: Logic): readonly string[] {
  const found = new Set<string>();
  const same = (of: string) => of;
  withReferences(logic, {
    input: same,
    device: (of) => (found.add(of), of),
    action: same,
    customLogic: same,
  });
  return [...found];
}

/** Names of the custom logic that the rules of a document use. */
export function customLogicNames(rules: readonly JsonObject[]): ReadonlySet<Json | undefined> {
  return new Set(
    rules.map(
      (rule) => objectOrEmpty(objectOrEmpty(rule['logic'])['customLogic'])['customLogicId'],
    ),
  );
}

// Output connectors that name others, or on-call orders, in a workspace's document: by name, because ids differ between workspaces.

type Item = Readonly<Record<string, unknown>>;

const naming = typesWithProperties.filter(({ properties }) => properties.namesConnectors);

/** The item with other ids or names of the output connectors and on-call orders that its properties name. */
export function withNamedRecords<T extends Item>(
  item: T,
  rename: { readonly connector: Naming; readonly onCall: Naming },
): T {
  const changed: Record<string, unknown> = { ...item };
  for (const { properties: rules } of typesWithProperties) {
    const properties = item[rules.key];
    if (!isJsonObject(properties)) continue;
    const renamed = rules.connectorIds.renamed(properties, rename.connector);
    changed[rules.key] = rules.onCallIds.renamed(renamed, rename.onCall);
  }
  return changed as T;
}

/** The ids or names of the output connectors that the properties of the item name. */
export function connectorsNamedBy(item: Item): readonly string[] {
  return naming.flatMap(({ properties: rules }) => {
    const properties = item[rules.key];
    if (!isJsonObject(properties)) return [];
    return rules.connectorIds.named(properties).map(({ id }) => id);
  });
}

/** Items that name no others first, so that an import finds what is named. */
export function inOrderOfNaming<T extends Item>(items: readonly T[]): readonly T[] {
  const isNaming = (item: T) => connectorsNamedBy(item).length > 0;
  return [...items.filter((item) => !isNaming(item)), ...items.filter(isNaming)];
}

// Target devices of output connectors in a workspace's document: physical ids, because service ids differ between workspaces.

type Place = { readonly organizationId: string; readonly workspaceId: string };

/** The ids of the devices that an output connector of a record or a document names. */
function targetsOf(item: Item): string[] {
  return typesWithProperties.flatMap(({ properties: rules }) => {
    const properties = item[rules.key];
    if (!isJsonObject(properties)) return [];
    return namedDevices(rules, properties).map(({ deviceId }) => deviceId);
  });
}

function withTargets<T extends Item>(item: T, named: ReadonlyMap<string, string>): T {
  const changed: Record<string, unknown> = { ...item };
  for (const { properties: rules } of typesWithProperties) {
    const properties = item[rules.key];
    if (isJsonObject(properties)) changed[rules.key] = renamedDevices(rules, properties, named);
  }
  return changed as T;
}

/** Output connectors in the form of a document. */
export async function configuredTargets<T extends Item>(
  { db }: Records,
  workspaceId: string,
  items: readonly T[],
): Promise<T[]> {
  const physical = await deviceRows.physicalIdsOf(db, workspaceId, [
    ...new Set(items.flatMap(targetsOf)),
  ]);
  return items.map((item) => withTargets(item, physical));
}

/**
 * The output connector with the ids of this workspace, and the devices that the workspace does not
 * have.
 */
export async function targetsFromConfigured<T extends Item>(
  { db }: Records,
  { organizationId, workspaceId }: Place,
  item: T,
): Promise<{ readonly item: T; readonly missing: readonly string[] }> {
  const wanted = targetsOf(item);
  if (wanted.length === 0) return { item, missing: [] };
  const known = await deviceRows.serviceIdsOf(db, organizationId, wanted);
  const here = [...known].filter(([, device]) => device.workspaceId === workspaceId);
  const ids = new Map(here.map(([deviceId, { id }]) => [deviceId, id]));
  return { item: withTargets(item, ids), missing: wanted.filter((deviceId) => !ids.has(deviceId)) };
}

// Dashboards in a workspace's document: names and physical ids in place of ids, in configurations that declare the schema of the platform (contract 32, 39).

/** Members that name a record, and its kind. */
const kindOfMember = {
  deviceId: 'device',
  tagId: 'tag',
  placeId: 'place',
  fieldMetaId: 'customFieldMeta',
  deviceTypeId: 'deviceType',
  dashboardId: 'dashboard',
  ruleId: 'rule',
} as const;
export type NamedKind = (typeof kindOfMember)[keyof typeof kindOfMember];

/** Kinds of variables whose values are ids. */
const kindOfVariable = { DEVICE: 'device', TAG: 'tag', PLACE: 'place' } as const;

/** What is sent to a device, whose members have names of their own. */
const freeMembers: ReadonlySet<string> = new Set(['downlink']);

interface Renaming {
  /** The other name of a record that has the id or name `of`. */
  readonly rename: (kind: NamedKind, of: string) => string;
  /** The configuration of the dashboard that has the id or name, of which the variables count. */
  readonly configurationOf: (dashboard: string) => Json | undefined;
}

/** The configuration with other names of the records that it refers to; one of another client as it is. */
export function renamedConfiguration(configuration: JsonObject, renaming: Renaming): JsonObject {
  if (configuration['schema'] !== dashboardSchemaName) return configuration;
  return renamedObject(configuration, renaming);
}

/** The records of the kind that the configuration names, by ID or name. */
export function recordsNamed(configuration: JsonObject, kind: NamedKind): readonly string[] {
  const named = new Set<string>();
  renamedConfiguration(configuration, {
    rename(of, name) {
      if (of === kind) named.add(name);
      return name;
    },
    configurationOf: () => undefined,
  });
  return [...named];
}

function renamed(value: Json, renaming: Renaming): Json {
  if (Array.isArray(value)) return value.map((one) => renamed(one, renaming));
  return isJsonObject(value) ? renamedObject(value, renaming) : value;
}

function renamedObject(object: JsonObject, renaming: Renaming): JsonObject {
  const { rename, configurationOf } = renaming;
  const members = Object.entries(object).map(([member, value]): [string, Json] => {
    if (freeMembers.has(member)) return [member, value];
    if (typeof value === 'string') {
      if (member === 'expression')
        return [member, renamedFormula(value, (id) => rename('device', id))];
      if (Object.hasOwn(kindOfMember, member))
        return [member, rename(kindOfMember[member as keyof typeof kindOfMember], value)];
    }
    return [member, renamed(value, renaming)];
  });
  const result: Record<string, Json> = Object.fromEntries(members);
  const { kind, default: chosen, dashboardId, variables } = object;
  // Of a variable.
  if (chosen !== undefined) result['default'] = renamedValues(chosen, kind, rename);
  // Of a link: values for the variables of the other dashboard.
  if (typeof dashboardId === 'string' && isJsonObject(variables)) {
    const kinds = kindsOfVariables(configurationOf(dashboardId));
    result['variables'] = Object.fromEntries(
      Object.entries(variables).map(([name, of]) => [
        name,
        renamedValues(of, kinds.get(name), rename),
      ]),
    );
  }
  return result;
}

function renamedValues(values: Json, kind: Json | undefined, rename: Renaming['rename']): Json {
  if (typeof kind !== 'string' || !Object.hasOwn(kindOfVariable, kind)) return values;
  const of = kindOfVariable[kind as keyof typeof kindOfVariable];
  if (Array.isArray(values)) return values.map((value) => renamedValues(value, kind, rename));
  return typeof values === 'string' ? rename(of, values) : values;
}

function kindsOfVariables(configuration: Json | undefined): ReadonlyMap<Json, Json> {
  const variables = isJsonObject(configuration) ? configuration['variables'] : undefined;
  const known = Array.isArray(variables) ? variables.filter(isJsonObject) : [];
  return new Map(known.map(({ name, kind }) => [name ?? null, kind ?? null]));
}
