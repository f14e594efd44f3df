// Rules: create, read, list, update, delete, and their answers with the names of the records that they refer to (contract 13).
import { isDeepStrictEqual } from 'node:util';
import { newId } from '../../model/ids.ts';
import { formatInstantOrNull } from '../../model/instant.ts';
import type { OutputConnector } from '../../model/connector.ts';
import { type Page, pageOf, type PageRequest } from '../../model/page.ts';
import { problem, Problem } from '../../model/problem.ts';
import type { Rule, RuleInput, RuleLogic } from '../../model/rule.ts';
import { parseTagCombination } from '../../model/device.ts';
import type { Records } from '../../storage/records/records.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { outputConnectorRows } from '../../storage/records/rows/data-flows.ts';
import { findPlace } from '../../storage/records/rows/search.ts';
import { clearRuleState, ruleRunRows } from '../../storage/records/rows/rule-state.ts';
import { customLogicRows, ruleRows } from '../../storage/records/rows/rules.ts';
import { placeRows } from '../../storage/records/rows/places.ts';
import { tagRows } from '../../storage/records/rows/tags.ts';
import { workspaceRows } from '../../storage/records/rows/workspaces.ts';
import {
  type ConnectorViewer,
  type ConnectorViewOptions,
  typeName,
  OutputConnectors,
} from '../data-flows/output-connectors.ts';
import { listReach, type ListScope } from '../list-scope.ts';
import {
  auditView,
  change,
  firstVersion,
  found,
  nextVersion,
  orCurrent,
  type Step,
} from '../record-crud.ts';
import { checkRecordQuota } from '../workspaces/organizations.ts';
import type { RuleActionDraft, RuleDraft, RuleUpdate } from '../../contract/rules.ts';
import {
  actionsFrom,
  checkActions,
  devicesNamed,
  inputsFrom,
  invalidRule,
  logicFrom,
  nextExecutionOf,
  timerFrom,
  usualKeysOf,
} from './rule-draft.ts';
import type { AvailableOutputs } from '../../outputs/connectors/available-outputs.ts';

async function view(
  records: Records,
  viewOptions: ConnectorViewOptions,
  rule: Rule,
): Promise<RuleView> {
  const [shown] = await ruleViews(records, viewOptions, [rule]);
  if (shown === undefined) throw new Error(`Rule ${rule.id} has no view`);
  return shown;
}

/** The rule is active by default. */
export async function createRule(
  records: Records,
  viewOptions: ConnectorViewOptions,
  draft: RuleDraft,
): Promise<RuleView> {
  const record = await change(records, async (step) => {
    const rule = await draftedRule(step, draft);
    await checkRecordQuota(step, rule.organizationId, 'rules');
    await ruleRows.insert(step.db, rule);
    step.announce({ kind: 'rule', id: rule.id, action: 'created' });
    return rule;
  });
  return view(records, viewOptions, record);
}

/**
 * The rule of a draft, checked and not stored. `outputs` are those of its actions that are not
 * stored either. Throws 400 naming the field.
 */
export async function draftedRule(
  records: Records,
  draft: RuleDraft,
  outputs: readonly OutputConnector[] = [],
): Promise<Rule> {
  const { workspaceId } = draft;
  const workspace = found(
    await workspaceRows.find(records.db, workspaceId),
    'workspace',
    workspaceId,
  );
  const now = records.now();
  const active = draft.active ?? true;
  const inputs = inputsFrom(draft.inputs);
  const actions = actionsFrom(draft.actions);
  const timer = timerFrom(draft.timer);
  const rule: Rule = {
    id: newId('rule'),
    organizationId: workspace.organizationId,
    workspaceId,
    name: draft.name,
    description: draft.description ?? null,
    active,
    inputs,
    timer,
    logic: logicFrom(draft.logic, inputs, actions, timer.enabled),
    actions,
    activation: 0,
    activatedAt: now,
    nextExecution: nextExecutionOf(active, timer, now),
    ...firstVersion(now),
  };
  await checkRuleReferences(records, rule, outputs);
  return rule;
}

export async function readRule(
  records: Records,
  viewOptions: ConnectorViewOptions,
  id: string,
): Promise<RuleView> {
  return view(records, viewOptions, found(await ruleRows.find(records.db, id), 'rule', id));
}

export async function listRules(
  records: Records,
  { principal, viewOptions }: ConnectorViewer,
  filter: ListScope & {
    readonly search?: string | undefined;
    /** Ids of custom logic blocks, or of inputs: old clients send those under the same name. */
    readonly referenceIds?: readonly string[] | undefined;
  },
  page: PageRequest,
): Promise<Page<RuleView>> {
  const reach = await listReach(records, principal, filter);
  const { search, referenceIds } = filter;
  const withoutSilence = viewOptions.vendorNames;
  const listed = { ...reach, search, referenceIds, withoutSilence };
  const { rows, total } = await ruleRows.list(records.db, listed, page);
  return pageOf(await ruleViews(records, viewOptions, rows), total, page);
}

/** Clears the state of the rule when it is deactivated and when its inputs or logic change. */
export async function updateRule(
  records: Records,
  viewOptions: ConnectorViewOptions,
  id: string,
  sent: RuleUpdate,
): Promise<RuleView> {
  const saved = await change(records, async (step) => {
    const current = found(await ruleRows.find(step.db, id), 'rule', id);
    const now = step.now();
    const active = sent.active ?? current.active;
    let { inputs, actions, timer } = current;
    if (sent.inputs) inputs = inputsFrom(sent.inputs);
    if (sent.actions) actions = actionsFrom(sent.actions);
    if (sent.timer !== undefined) timer = timerFrom(sent.timer);
    // Logic that was not sent is checked again, because its inputs and actions may have changed.
    const logic = logicFrom(sent.logic ?? current.logic, inputs, actions, timer.enabled);
    const evaluated = (rule: {
      readonly inputs: readonly RuleInput[];
      readonly logic: RuleLogic;
    }) => [rule.inputs, rule.logic];
    const clearsState =
      (current.active && !active) ||
      !isDeepStrictEqual(evaluated({ inputs, logic }), evaluated(current));
    const keepsDue = active === current.active && isDeepStrictEqual(timer, current.timer);
    const record: Rule = {
      ...current,
      name: orCurrent(sent.name, current.name),
      description: orCurrent(sent.description, current.description),
      active,
      inputs,
      timer,
      logic,
      actions,
      activation: current.activation + Number(clearsState),
      activatedAt: clearsState || (active && !current.active) ? now : current.activatedAt,
      nextExecution: keepsDue ? current.nextExecution : nextExecutionOf(active, timer, now),
      ...nextVersion(current, sent.version, now),
    };
    await checkRuleReferences(step, record);
    await ruleRows.save(step.db, record);
    if (clearsState) await clearRuleState(step.db, id);
    step.announce({ kind: 'rule', id, action: 'updated' });
    return record;
  });
  return view(records, viewOptions, saved);
}

export async function deleteRule(records: Records, id: string): Promise<void> {
  await change(records, async (step) => {
    found(await ruleRows.find(step.db, id), 'rule', id);
    await ruleRows.remove(step.db, id);
    await clearRuleState(step.db, id);
    await ruleRunRows.remove(step.db, id);
    step.announce({ kind: 'rule', id, action: 'deleted' });
  });
}

// Reference checks of rules: inputs and actions belong to the workspace, custom logic to the organization (contract 13).

/** Throws 400 naming the field. */
async function checkRuleReferences(
  step: Step,
  rule: Rule,
  outputs: readonly OutputConnector[] = [],
): Promise<void> {
  await checkInputs(step, rule);
  for (const id of devicesNamed(rule.logic.logicBlocks ?? []))
    await checkWorkspace(
      step,
      { kind: 'device', id, field: 'logic.logicBlocks' },
      rule.workspaceId,
    );
  await checkActionTargets(step, rule, outputs);
  await checkUsualKeys(step, rule);
  const { customLogic } = rule.logic;
  if (customLogic === null) return;
  const block = await customLogicRows.find(step.db, customLogic.customLogicId);
  if (block?.organizationId === rule.organizationId) return;
  throw problem('unknownReference', {
    field: 'body logic.customLogic.customLogicId',
    what: 'custom logic block',
    id: customLogic.customLogicId,
    place: 'organization',
  });
}

/** Of a workspace: each is learned once a day. */
const usualKeysMax = 10_000;

async function checkUsualKeys(step: Step, rule: Rule): Promise<void> {
  if (!rule.active || usualKeysOf(rule).length === 0) return;
  const others = await ruleRows.ofUsual(step.db, rule.workspaceId);
  const counted = new Map<string, number>();
  let keys = 0;
  for (const one of [...others.filter(({ id }) => id !== rule.id), rule])
    for (const { dataSourceId } of usualKeysOf(one)) {
      const inputIds = one.logic.dataSources.find(({ id }) => id === dataSourceId)?.inputIds ?? [];
      for (const input of one.inputs)
        if (inputIds.includes(input.id)) keys += await devicesOfInput(step, input, counted);
    }
  if (keys > usualKeysMax) throw problem('usualKeysFull', { keys, keysMax: usualKeysMax });
}

/** At most so many; `counted` has the devices of tags. */
async function devicesOfInput(
  step: Step,
  { id, type, tagCombination }: RuleInput,
  counted: Map<string, number>,
): Promise<number> {
  if (type === 'DEVICE') return 1;
  if (type === 'PLACE') return placeRows.countDevicesAt(step.db, id);
  const combination = type === 'ASSET_TAG' ? undefined : parseTagCombination(tagCombination ?? '');
  let least = Number.POSITIVE_INFINITY;
  let all = 0;
  for (const tagId of combination?.tagIds ?? [id]) {
    const devices = counted.get(tagId) ?? (await tagRows.countDevicesOf(step.db, tagId));
    counted.set(tagId, devices);
    least = Math.min(least, devices);
    all += devices;
  }
  return combination?.joined === 'AND' ? least : all;
}

async function checkInputs(step: Step, { inputs, workspaceId }: Rule): Promise<void> {
  for (const [i, input] of inputs.entries()) {
    if (input.workspaceId !== null && input.workspaceId !== workspaceId) {
      throw invalidRule(
        `inputs.${i}.workspaceId`,
        `must be ${workspaceId}, the workspace of the rule`,
      );
    }
    if (input.type === 'DEVICE')
      await checkWorkspace(
        step,
        { kind: 'device', id: input.id, field: `inputs.${i}.id` },
        workspaceId,
      );
    else if (input.type === 'PLACE')
      await checkWorkspace(
        step,
        { kind: 'place', id: input.id, field: `inputs.${i}.id` },
        workspaceId,
      );
    else if (input.type === 'ASSET_TAG')
      await checkWorkspace(
        step,
        { kind: 'tag', id: input.id, field: `inputs.${i}.id` },
        workspaceId,
      );
    else {
      const { tagIds } = parseTagCombination(input.tagCombination ?? '') ?? { tagIds: [] };
      const field = `inputs.${i}.tagCombination`;
      for (const id of tagIds) await checkWorkspace(step, { kind: 'tag', id, field }, workspaceId);
    }
  }
}

async function checkWorkspace(
  step: Step,
  {
    kind,
    id,
    field,
  }: { readonly kind: 'device' | 'tag' | 'place'; readonly id: string; readonly field: string },
  workspaceId: string,
): Promise<void> {
  const place = await findPlace(step.db, kind, id);
  if (place?.workspaceId === workspaceId) return;
  throw problem('unknownReference', { field: `body ${field}`, what: kind, id, place: 'workspace' });
}

async function checkActionTargets(
  step: Step,
  { actions, workspaceId }: Rule,
  outputs: readonly OutputConnector[],
): Promise<void> {
  const ids = actions.map(({ id }) => id);
  const stored = await outputConnectorRows.findAll(step, ids);
  const connectors = new Map([...stored, ...outputs].map((connector) => [connector.id, connector]));
  for (const [i, id] of ids.entries()) {
    const connector = connectors.get(id);
    if (connector === undefined || connector.workspaceId !== workspaceId) {
      throw problem('unknownReference', {
        field: `body actions.${i}.id`,
        what: 'output connector',
        id,
        place: 'workspace',
      });
    }
    if (connector.scope !== 'RULE_ACTION') {
      throw invalidRule(
        `actions.${i}.id`,
        `${id} has scope DATA_FLOW; rules require scope RULE_ACTION`,
      );
    }
  }
}

// Rule view: rules in answers, with the names of the records that they refer to (contract 13).

export type RuleView = Awaited<ReturnType<typeof ruleViews>>[number];

async function ruleViews(
  records: Records,
  viewOptions: ConnectorViewOptions,
  rules: readonly Rule[],
) {
  const inputs = rules.flatMap((rule) => rule.inputs);
  const idsOf = (type: RuleInput['type']) =>
    inputs.filter((input) => input.type === type).map(({ id }) => id);
  const devices = await deviceRows.namesOf(records.db, idsOf('DEVICE'));
  const tags = await tagRows.findAll(records.db, idsOf('ASSET_TAG'));
  const places = await placeRows.findAll(records.db, idsOf('PLACE'));
  const names = new Map([...devices, ...tags, ...places].map(({ id, name }) => [id, name]));
  const actionIds = rules.flatMap(({ actions }) => actions.map(({ id }) => id));
  const found = await outputConnectorRows.findAll(records, [...new Set(actionIds)]);
  const connectors = new Map(found.map((connector) => [connector.id, connector]));
  const blockIds = rules.flatMap(({ logic }) => logic.customLogic?.customLogicId ?? []);
  const blocks = new Map(
    (await customLogicRows.findAll(records.db, [...new Set(blockIds)])).map((block) => [
      block.id,
      block.name,
    ]),
  );
  return rules.map((rule) => {
    const { id, workspaceId, name, description, active, nextExecution, timer, logic } = rule;
    const { customLogic } = logic;
    return {
      id,
      ruleId: id,
      workspaceId,
      name,
      description,
      active,
      deleted: false,
      ...auditView(rule),
      nextExecution: formatInstantOrNull(nextExecution),
      inputs: rule.inputs.map((input) => inputView(rule, input, names.get(input.id))),
      timer: { ...timer, startAt: formatInstantOrNull(timer.startAt) },
      logic: {
        ...logic,
        customLogic: customLogic && {
          ...customLogic,
          name: blocks.get(customLogic.customLogicId) ?? customLogic.name,
        },
      },
      actions: rule.actions.flatMap(({ id: actionId, configuration }) => {
        const connector = connectors.get(actionId);
        if (connector === undefined) return [];
        const { name: connectorName } = connector;
        const type = typeName(connector.type, viewOptions);
        return [{ id: actionId, name: connectorName, type, configuration }];
      }),
    };
  });
}

function inputView({ timer, logic }: Rule, input: RuleInput, name: string | undefined) {
  const sources = logic.dataSources.filter(({ inputIds }) => inputIds.includes(input.id));
  return {
    ...input,
    name: name ?? input.name,
    device: input.type === 'DEVICE',
    trigger: sources.some(({ triggerOnUplink }) => !timer.enabled || triggerOnUplink),
    tag: input.type === 'ASSET_TAG' || input.type === 'TAG_COMBINATION',
  };
}

// New outputs of rules: actions whose output connector is created with the rule, in its transaction (contract 39.4).

type Logic = RuleDraft['logic'];

/** The parts of a rule that name output connectors. */
interface Acting {
  readonly actions?: readonly RuleActionDraft[] | null | undefined;
  readonly logic?: Logic | null | undefined;
}

/** Whether an action of the rule is an output connector that does not exist yet. */
export function hasNewOutputs({ actions }: Acting): boolean {
  return actions?.some(({ outputConnector }) => outputConnector) === true;
}

/**
 * The rule with ids in place of new output connectors, and these, checked and not stored. Throws a
 * Problem that names the place in the body.
 */
export async function draftedOutputs<T extends Acting>(
  records: Records,
  available: AvailableOutputs,
  workspaceId: string,
  rule: T,
): Promise<{ readonly rule: T; readonly outputs: readonly OutputConnector[] }> {
  if (!hasNewOutputs(rule)) return { rule, outputs: [] };
  const actions = rule.actions ?? [];
  checkActions(actions);
  const ids = new Map<string, string>();
  const outputs: OutputConnector[] = [];
  const named: RuleActionDraft[] = [];
  for (const [i, action] of actions.entries()) {
    const { outputConnector, ...rest } = action;
    if (!outputConnector) {
      named.push(action);
      continue;
    }
    if (action.id)
      throw invalidRule(`actions.${i}`, 'must have either id or outputConnector, not both');
    const draft = { ...outputConnector, workspaceId, scope: 'RULE_ACTION' } as const;
    const output = await new OutputConnectors(records)
      .drafted(available, draft)
      .catch((error: unknown) => {
        throw at(`actions.${i}.outputConnector`, error);
      });
    ids.set(`new:${i}`, output.id);
    outputs.push(output);
    named.push({ ...rest, id: output.id });
  }
  const renamed = { actions: named, ...(rule.logic && { logic: withNewIds(rule.logic, ids) }) };
  return { rule: { ...rule, ...renamed }, outputs };
}

/** The same with the output connectors stored in the open transaction. */
export async function withNewOutputs<T extends Acting>(
  step: Step,
  available: AvailableOutputs,
  workspaceId: string,
  sent: T,
): Promise<T> {
  const { rule, outputs } = await draftedOutputs(step, available, workspaceId, sent);
  for (const output of outputs) await new OutputConnectors(step).insert(output);
  return rule;
}

/** A Problem about a body, with the place of that body in the request. */
function at(place: string, error: unknown): unknown {
  if (!(error instanceof Problem)) return error;
  const message = error.message.replace(/^body /, `body ${place}.`);
  return new Problem(error.problem, error.details, message);
}

function withNewIds(logic: Logic, ids: ReadonlyMap<string, string>): Logic {
  const named = (actionIds: readonly string[] | null | undefined) =>
    (actionIds ?? []).map((id) => ids.get(id) ?? id);
  const { logicBlocks, geoFenceLogicBlock, silenceLogicBlock, customLogic } = logic;
  return {
    ...logic,
    ...(logicBlocks && {
      logicBlocks: logicBlocks.map((block) => ({ ...block, actionIds: named(block.actionIds) })),
    }),
    ...(geoFenceLogicBlock && {
      geoFenceLogicBlock: {
        ...geoFenceLogicBlock,
        insideActionIds: named(geoFenceLogicBlock.insideActionIds),
        outsideActionIds: named(geoFenceLogicBlock.outsideActionIds),
      },
    }),
    ...(silenceLogicBlock && {
      silenceLogicBlock: { ...silenceLogicBlock, actionIds: named(silenceLogicBlock.actionIds) },
    }),
    ...(customLogic && {
      customLogic: { ...customLogic, actionIds: named(customLogic.actionIds) },
    }),
  };
}
