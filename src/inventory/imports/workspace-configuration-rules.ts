// Rules and custom logic blocks in a workspace's document, with names and physical device ids instead of ids.
import type { Json, JsonObject } from '../../model/json.ts';
import type { RuleInputType } from '../../model/rule.ts';
import { parseTagCombination } from '../../model/tag.ts';
import type { Records } from '../../storage/records/records.ts';
import { physicalIdsOf, serviceIdsOf } from '../../storage/records/rows/devices.ts';
import type { RuleDraft } from '../rules/rule-draft.ts';
import type { RuleView } from '../rules/rule-view.ts';

/**
 * An input of a rule in a document. Its id is a label that only the data sources of the same rule
 * use.
 */
export interface ConfiguredInput {
  readonly id: string;
  readonly type: RuleInputType;
  readonly name?: string | null | undefined;
  /** The physical id, of a device. */
  readonly deviceId?: string | null | undefined;
  /** The name, of a tag. */
  readonly tag?: string | null | undefined;
  /** AND or OR, of a tag combination, and the names of its tags. */
  readonly tagCombination?: string | null | undefined;
  readonly tags?: readonly string[] | null | undefined;
}

/** Like the draft of a rule; connectors, tags and custom logic are named. */
export type ConfiguredRule = Omit<RuleDraft, 'workspaceId' | 'inputs' | 'actions' | 'version'> & {
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
  readonly action: Naming;
  readonly customLogic: Naming;
}

/** The document form of each rule, by the rule's id. */
export async function configuredRules(
  records: Pick<Records, 'db'>,
  rules: readonly RuleView[],
  named: Omit<RuleNames, 'device'>,
): Promise<ReadonlyMap<string, object>> {
  const deviceIds = rules.flatMap(({ inputs }) =>
    inputs.filter(({ device }) => device).map(({ id }) => id),
  );
  const physical = await physicalIdsOf(records.db, deviceIds);
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
  const { joined, tagIds } = parseTagCombination(input.tagCombination ?? '') ?? {
    joined: 'OR',
    tagIds: [],
  };
  return { id, type, name: input.name, tagCombination: joined, tags: tagIds.map(names.tag) };
}

/** Which of the rule's devices, by physical id, the workspace does not have. */
export async function missingDevices(
  { db }: Pick<Records, 'db'>,
  {
    organizationId,
    workspaceId,
  }: { readonly organizationId: string; readonly workspaceId: string },
  inputs: readonly ConfiguredInput[],
): Promise<string[]> {
  const wanted = inputs.flatMap(({ type, deviceId }) =>
    type === 'DEVICE' ? [deviceId ?? ''] : [],
  );
  const known = await serviceIdsOf(db, organizationId, wanted);
  return wanted.filter((deviceId) => known.get(deviceId)?.workspaceId !== workspaceId);
}

/** The rule with the ids of this workspace; `idOf` throws 400 for a name that is not there. */
export async function ruleFromConfigured(
  { db }: Pick<Records, 'db'>,
  organizationId: string,
  sent: ConfiguredRule,
  idOf: (section: 'tags' | 'outputConnectors' | 'customLogic', name: string) => string,
): Promise<Omit<RuleDraft, 'workspaceId'>> {
  const devices = await serviceIdsOf(
    db,
    organizationId,
    sent.inputs.map(({ deviceId }) => deviceId ?? ''),
  );
  const inputOf = (input: ConfiguredInput): RuleDraft['inputs'][number] => {
    const { id, type, name, deviceId, tag, tagCombination, tags } = input;
    if (type === 'DEVICE') return { id: devices.get(deviceId ?? '')?.id ?? '', type };
    if (type === 'ASSET_TAG') return { id: idOf('tags', tag ?? ''), type };
    const tagIds = (tags ?? []).map((of) => idOf('tags', of));
    return { id, type, name, tagCombination: `${tagCombination ?? 'OR'}:${tagIds.join(',')}` };
  };
  const inputs = sent.inputs.map((input) => ({ label: input.id, input: inputOf(input) }));
  const labels = new Map(inputs.map(({ label, input }) => [label, input.id]));
  const { name, description, active, timer } = sent;
  return {
    name,
    description,
    active,
    timer,
    inputs: inputs.map(({ input }) => input),
    logic: withReferences(sent.logic, {
      input: (label) => labels.get(label) ?? label,
      action: (of) => idOf('outputConnectors', of),
      customLogic: (of) => idOf('customLogic', of),
    }),
    actions: (sent.actions ?? []).map((action) => ({
      id: idOf('outputConnectors', action.name),
      configuration: action.configuration,
    })),
  };
}

type Logic = RuleDraft['logic'];

/** The same logic with every reference renamed; the name of custom logic comes from its record. */
function withReferences(
  { type, dataSources, logicBlocks, geoFenceLogicBlock, customLogic }: Logic,
  put: { readonly input: Naming; readonly action: Naming; readonly customLogic: Naming },
): Logic {
  const each = (ids: readonly string[] | null | undefined) => (ids ?? []).map(put.action);
  return {
    type,
    dataSources: dataSources.map((source) => ({
      ...source,
      inputIds: source.inputIds.map(put.input),
    })),
    ...(logicBlocks && {
      logicBlocks: logicBlocks.map((block) => ({ ...block, actionIds: each(block.actionIds) })),
    }),
    ...(geoFenceLogicBlock && {
      geoFenceLogicBlock: {
        ...geoFenceLogicBlock,
        insideActionIds: each(geoFenceLogicBlock.insideActionIds),
        outsideActionIds: each(geoFenceLogicBlock.outsideActionIds),
      },
    }),
    ...(customLogic && {
      customLogic: {
        customLogicId: put.customLogic(customLogic.customLogicId),
        actionIds: each(customLogic.actionIds),
        properties: customLogic.properties,
      },
    }),
  };
}

/** Names of the custom logic that the rules of a document use. */
export function customLogicNames(rules: readonly JsonObject[]): ReadonlySet<Json | undefined> {
  return new Set(
    rules.map((rule) => (rule as unknown as ConfiguredRule).logic.customLogic?.customLogicId),
  );
}
