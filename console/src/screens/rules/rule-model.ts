// Rule model: a rule as the editor changes it, and the bodies that save it.
import type { components } from '../../../generated/interface-types.ts';
import type { OpenCard } from '../../ui/lanes.tsx';

export type Rule = components['schemas']['Rule'];
export type RuleInput = Pick<
  Rule['inputs'][number],
  'id' | 'name' | 'type' | 'tagCombination' | 'workspaceId'
>;
export type RuleSource = Rule['logic']['dataSources'][number];
export type RuleBlock = NonNullable<Rule['logic']['logicBlocks']>[number];
export type RuleCondition = RuleBlock['conditions'][number];
export type RuleOperand = RuleCondition['operandFirst'];
export type Operator = RuleCondition['operator'];
export type ValueType = RuleSource['valueType'];

export interface RuleAction {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  /** The output that is created with the rule; `id` then stands for it in the logic. */
  readonly output?: components['schemas']['NewRuleOutput'];
}

export interface RuleDraft {
  readonly name: string;
  readonly active: boolean;
  readonly inputs: readonly RuleInput[];
  readonly timer: Rule['timer'];
  readonly logic: Rule['logic'];
  readonly actions: readonly RuleAction[];
}

export const operators: readonly Operator[] = ['EQ', 'NEQ', 'GT', 'GTE', 'LT', 'LTE'];

export function draftOf({ name, active, inputs, timer, logic, actions }: Rule): RuleDraft {
  return {
    name,
    active,
    inputs: inputs.map(({ id, name: called, type, tagCombination, workspaceId }) => {
      return { id, name: called, type, tagCombination, workspaceId };
    }),
    timer,
    logic,
    actions: actions.map(({ id, name: called, type }) => ({ id, name: called, type })),
  };
}

const constant = (value: unknown, valueType: ValueType): RuleOperand => {
  return { type: 'CONSTANT', value, valueType, dataKey: null, dataSourceId: null };
};

const fromSource = (dataSourceId: string): RuleOperand => {
  return { type: 'DATA_SOURCE', dataSourceId, value: null, valueType: null, dataKey: null };
};

/** Names the draft of a rule that is not created yet. */
export const newRuleKey = (workspaceId: string): string => `new rule ${workspaceId}`;

/** A rule with one condition that is still to be filled in. */
export function newRule(name: string): RuleDraft {
  const draft: RuleDraft = {
    name,
    active: true,
    inputs: [],
    timer: { enabled: false, schedule: null, type: null, startAt: null, timeZone: null },
    logic: {
      type: 'COMPARISON',
      dataSources: [],
      logicBlocks: [{ conditions: [], actionIds: [] }],
      geoFenceLogicBlock: null,
      customLogic: null,
    },
    actions: [],
  };
  return withCondition(draft, 0);
}

/** A rule of silence reads no data; one that compares begins with one condition. */
export function withLogicType(draft: RuleDraft, type: 'COMPARISON' | 'SILENCE'): RuleDraft {
  const actionIds = draft.actions.map(({ id }) => id);
  const { silenceLogicBlock: _, ...rest } = draft.logic;
  const logic = { ...rest, type, dataSources: [] };
  if (type === 'SILENCE')
    return {
      ...draft,
      timer: { ...draft.timer, enabled: false },
      logic: {
        ...logic,
        logicBlocks: null,
        silenceLogicBlock: { after: 'PT30M', mode: 'EACH', actionIds },
      },
    };
  return withCondition(
    { ...draft, logic: { ...logic, logicBlocks: [{ conditions: [], actionIds }] } },
    0,
  );
}

export const blocksOf = ({ logic }: RuleDraft): readonly RuleBlock[] => logic.logicBlocks ?? [];

export function sourceOf({ logic }: RuleDraft, { dataSourceId }: RuleOperand) {
  return logic.dataSources.find(({ id }) => id === dataSourceId);
}

function withLogic(draft: RuleDraft, logic: Partial<Rule['logic']>): RuleDraft {
  return { ...draft, logic: { ...draft.logic, ...logic } };
}

/** Every source reads the new input too. An input that is there already changes nothing. */
export function withInput(draft: RuleDraft, input: RuleInput): RuleDraft {
  if (draft.inputs.some(({ id }) => id === input.id)) return draft;
  const dataSources = draft.logic.dataSources.map((source) => {
    return { ...source, inputIds: [...source.inputIds, input.id] };
  });
  return withLogic({ ...draft, inputs: [...draft.inputs, input] }, { dataSources });
}

export function withoutInput(draft: RuleDraft, inputId: string): RuleDraft {
  const dataSources = draft.logic.dataSources.map((source) => {
    return { ...source, inputIds: source.inputIds.filter((id) => id !== inputId) };
  });
  const inputs = draft.inputs.filter(({ id }) => id !== inputId);
  return withLogic({ ...draft, inputs }, { dataSources });
}

export function withBlock(draft: RuleDraft, at: number, block: RuleBlock): RuleDraft {
  return withLogic(draft, { logicBlocks: [...blocksOf(draft)].with(at, block) });
}

/** A further block fires what the rule has. */
export function withNewBlock(draft: RuleDraft): RuleDraft {
  const block = { conditions: [], actionIds: draft.actions.map(({ id }) => id) };
  const blocks = [...blocksOf(draft), block];
  return withCondition(withLogic(draft, { logicBlocks: blocks }), blocks.length - 1);
}

export function withoutBlock(draft: RuleDraft, at: number): RuleDraft {
  return withUsedSources(withLogic(draft, { logicBlocks: blocksOf(draft).toSpliced(at, 1) }));
}

/** A further condition begins with the key of the last one. */
export function withCondition(draft: RuleDraft, at: number): RuleDraft {
  const block = blocksOf(draft)[at];
  if (block === undefined) return draft;
  const last = block.conditions.at(-1);
  const like = last === undefined ? undefined : sourceOf(draft, last.operandFirst);
  const source: RuleSource = {
    id: `dataSource::${crypto.randomUUID()}`,
    inputIds: draft.inputs.map(({ id }) => id),
    dataTopic: like?.dataTopic ?? 'default',
    dataKey: like?.dataKey ?? '',
    valueType: like?.valueType ?? 'NUMERICAL',
    variableName: null,
    lastSample: false,
    triggerOnUplink: true,
  };
  const conditions = [
    ...block.conditions.map((one) => ({
      ...one,
      chainOperator: one.chainOperator ?? ('AND' as const),
    })),
    {
      operandFirst: fromSource(source.id),
      operator: 'GT' as const,
      operandSecond: constant(0, source.valueType),
      order: block.conditions.length,
      chainOperator: null,
    },
  ];
  const dataSources = [...draft.logic.dataSources, source];
  return withBlock(withLogic(draft, { dataSources }), at, { ...block, conditions });
}

/** Without its last condition a block has no sense, so that one stays. */
export function withoutCondition(draft: RuleDraft, at: number, place: number): RuleDraft {
  const block = blocksOf(draft)[at];
  if (block === undefined || block.conditions.length < 2) return draft;
  const left = block.conditions.toSpliced(place, 1);
  const last = left.length - 1;
  const conditions = left.map((one, order) => {
    return { ...one, order, chainOperator: order === last ? null : (one.chainOperator ?? 'AND') };
  });
  return withUsedSources(withBlock(draft, at, { ...block, conditions }));
}

export const sensitivities = ['LOW', 'MEDIUM', 'HIGH'] as const;
type Sensitivity = (typeof sensitivities)[number];

/** What a condition compares: a data key, a formula, or whether a value is unusual. */
export const operandKinds = ['KEY', 'FORMULA', 'UNUSUAL'] as const;
export type OperandKind = (typeof operandKinds)[number];

export function operandKindOf({ operandFirst: { type, expression } }: RuleCondition): OperandKind {
  if (type !== 'EXPRESSION') return 'KEY';
  return unusualOf(expression ?? '') === undefined ? 'FORMULA' : 'UNUSUAL';
}

const plainKey = /^[A-Za-z_]\w*$/;

/** The formula that asks whether the value of a key is unusual. */
export function unusualExpression(key: string, sensitivity: Sensitivity): string {
  const named = plainKey.test(key) ? key : `key(${JSON.stringify(key)})`;
  return `unusual(${named}, "${sensitivity}")`;
}

/** Undefined for any other formula. */
export function unusualOf(
  expression: string,
): { readonly key: string; readonly sensitivity: Sensitivity } | undefined {
  const found = /^unusual\((?:([A-Za-z_]\w*)|key\(("(?:[^"\\]|\\.)*")\)), "(\w+)"\)$/.exec(
    expression,
  );
  const sensitivity = sensitivities.find((one) => one === found?.[3]);
  if (found === null || sensitivity === undefined) return undefined;
  const [, plain, quoted] = found;
  return { key: plain ?? String(JSON.parse(quoted ?? '""')), sensitivity };
}

/** The condition compares something else from now on. */
export function withOperandKind(
  draft: RuleDraft,
  at: number,
  place: number,
  kind: OperandKind,
): RuleDraft {
  const condition = blocksOf(draft)[at]?.conditions[place];
  if (condition === undefined || operandKindOf(condition) === kind) return draft;
  const { dataKey = '', valueType = 'NUMERICAL' } = sourceOf(draft, condition.operandFirst) ?? {};
  if (kind === 'UNUSUAL')
    return editCondition(draft, at, place, {
      expression: unusualExpression(dataKey, 'MEDIUM'),
      source: { valueType: 'BOOLEAN' },
      operator: 'EQ',
      value: true,
    });
  const wasUnusual = operandKindOf(condition) === 'UNUSUAL';
  return editCondition(draft, at, place, {
    expression: kind === 'FORMULA' ? dataKey : null,
    source: { valueType: wasUnusual ? 'NUMERICAL' : valueType },
    ...(wasUnusual && { operator: 'GT', value: 0 }),
  });
}

export interface ConditionEdit {
  /** A formula in place of the data key; null for the data key. */
  readonly expression?: string | null;
  readonly source?: Partial<RuleSource>;
  readonly operator?: Operator;
  readonly value?: unknown;
  readonly chainOperator?: 'AND' | 'OR';
}

/** The value follows the type of the key. */
export function editCondition(
  draft: RuleDraft,
  at: number,
  place: number,
  { source: sourceEdit = {}, value, expression, ...edit }: ConditionEdit,
): RuleDraft {
  const block = blocksOf(draft)[at];
  const condition = block?.conditions[place];
  if (block === undefined || condition === undefined) return draft;
  const dataSources = draft.logic.dataSources.map((one) =>
    one.id === condition.operandFirst.dataSourceId ? { ...one, ...sourceEdit } : one,
  );
  const source = dataSources.find(({ id }) => id === condition.operandFirst.dataSourceId);
  const valueType = source?.valueType ?? 'STRING';
  const { operandSecond } = condition;
  const given = value ?? operandSecond.value;
  const second =
    operandSecond.type === 'CONSTANT'
      ? constant(valueAs(valueType, given), valueType)
      : operandSecond;
  const operator = valueType === 'NUMERICAL' ? condition.operator : equality(condition.operator);
  const text = expression === undefined ? condition.operandFirst.expression : expression;
  const { dataSourceId } = condition.operandFirst;
  // What the form says is how the result is compared.
  const operandFirst: RuleOperand =
    typeof text === 'string'
      ? { ...fromSource(dataSourceId ?? ''), type: 'EXPRESSION', expression: text, valueType }
      : { ...withoutExpression(condition.operandFirst), type: 'DATA_SOURCE' };
  const changed = { ...condition, operandFirst, operator, operandSecond: second, ...edit };
  const conditions = block.conditions.with(place, changed);
  const edited = withBlock(withLogic(draft, { dataSources }), at, { ...block, conditions });
  const limit = clearLimitOf(block);
  return limit === undefined ? edited : withClearLimit(edited, at, limit);
}

function withoutExpression({ expression: _, ...operand }: RuleOperand): RuleOperand {
  return { ...operand, valueType: null };
}

/** Comparisons of numbers, each with the one that ends it. */
const opposites: Partial<Record<Operator, Operator>> = { GT: 'LT', GTE: 'LT', LT: 'GT', LTE: 'GT' };

/** How a block can end at another value: only if it compares one number with a constant. */
export function clearOperatorOf(draft: RuleDraft, block: RuleBlock): Operator | undefined {
  const [only, ...others] = block.conditions;
  if (only === undefined || others.length > 0) return undefined;
  const { operandFirst, operandSecond, operator } = only;
  if (operandFirst.type === 'CONSTANT' || operandSecond.type !== 'CONSTANT') return undefined;
  if (sourceOf(draft, operandFirst)?.valueType !== 'NUMERICAL') return undefined;
  return opposites[operator];
}

/** The value at which a block ends; undefined without one, or with conditions of another form. */
export function clearLimitOf({ conditions, clearConditions }: RuleBlock): number | undefined {
  const [only, ...others] = clearConditions ?? [];
  const [own, ...more] = conditions;
  if (only === undefined || own === undefined || others.length + more.length > 0) return undefined;
  const { operandFirst, operandSecond, operator } = only;
  const isOwn = operandFirst.dataSourceId === own.operandFirst.dataSourceId;
  const isOpposite = Object.values(opposites).includes(operator);
  const { value } = operandSecond;
  return isOwn && isOpposite && typeof value === 'number' ? value : undefined;
}

export function withClearLimit(draft: RuleDraft, at: number, limit: number | undefined): RuleDraft {
  const block = blocksOf(draft)[at];
  if (block === undefined) return draft;
  const { clearConditions: _, ...plain } = block;
  const operator = clearOperatorOf(draft, block);
  const [own] = block.conditions;
  if (limit === undefined || operator === undefined || own === undefined)
    return withBlock(draft, at, plain);
  const operandSecond = constant(limit, 'NUMERICAL');
  const clearConditions = [{ ...own, operator, operandSecond, order: 0, chainOperator: null }];
  return withBlock(draft, at, { ...block, clearConditions });
}

/** An empty duration is none. */
export function withDuration(
  draft: RuleDraft,
  at: number,
  member: 'holdsFor' | 'clearsFor',
  duration: string,
): RuleDraft {
  const block = blocksOf(draft)[at];
  if (block === undefined) return draft;
  const { [member]: _, ...plain } = block;
  return withBlock(draft, at, duration === '' ? plain : { ...block, [member]: duration });
}

/** Only numbers have an order. */
function equality(operator: Operator): Operator {
  return operator === 'NEQ' ? 'NEQ' : 'EQ';
}

function valueAs(type: ValueType, value: unknown): unknown {
  if (type === 'STRING') return typeof value === 'string' ? value : String(value ?? '');
  if (type === 'BOOLEAN') return value === true || value === 'true' || typeof value !== 'boolean';
  const number = typeof value === 'number' ? value : Number.parseFloat(String(value));
  return Number.isFinite(number) ? number : 0;
}

/** The action has another name now. */
export function withRenamed(draft: RuleDraft, action: RuleAction): RuleDraft {
  const actions = draft.actions.map((one) => (one.id === action.id ? action : one));
  return { ...draft, actions };
}

/** The action is fired by every block. */
export function withAction(draft: RuleDraft, action: RuleAction): RuleDraft {
  if (draft.actions.some(({ id }) => id === action.id)) return draft;
  const logicBlocks = blocksOf(draft).map((block) => {
    return { ...block, actionIds: [...block.actionIds, action.id] };
  });
  const { customLogic, silenceLogicBlock: silence } = draft.logic;
  return withLogic(
    { ...draft, actions: [...draft.actions, action] },
    {
      ...(silence && {
        silenceLogicBlock: { ...silence, actionIds: [...silence.actionIds, action.id] },
      }),
      logicBlocks: draft.logic.logicBlocks === null ? null : logicBlocks,
      ...(customLogic === null
        ? {}
        : { customLogic: { ...customLogic, actionIds: [...customLogic.actionIds, action.id] } }),
    },
  );
}

export function withoutAction(draft: RuleDraft, actionId: string): RuleDraft {
  const without = (ids: readonly string[]) => ids.filter((id) => id !== actionId);
  const { logicBlocks, geoFenceLogicBlock: fence, customLogic } = draft.logic;
  const { silenceLogicBlock: silence } = draft.logic;
  return withLogic(
    { ...draft, actions: draft.actions.filter(({ id }) => id !== actionId) },
    {
      ...(silence && {
        silenceLogicBlock: { ...silence, actionIds: without(silence.actionIds) },
      }),
      logicBlocks:
        logicBlocks?.map((block) => ({ ...block, actionIds: without(block.actionIds) })) ?? null,
      geoFenceLogicBlock:
        fence === null
          ? null
          : {
              ...fence,
              insideActionIds: without(fence.insideActionIds),
              outsideActionIds: without(fence.outsideActionIds),
            },
      customLogic:
        customLogic === null ? null : { ...customLogic, actionIds: without(customLogic.actionIds) },
    },
  );
}

/** Sources that no condition reads are omitted. */
function withUsedSources(draft: RuleDraft): RuleDraft {
  const used = new Set(
    blocksOf(draft).flatMap(({ conditions, clearConditions = [] }) =>
      [...conditions, ...clearConditions].flatMap((one) => [
        one.operandFirst.dataSourceId,
        one.operandSecond.dataSourceId,
      ]),
    ),
  );
  return withLogic(draft, {
    dataSources: draft.logic.dataSources.filter(({ id }) => used.has(id)),
  });
}

/** Members of a rule that both of its requests send. */
export function bodyOf(draft: RuleDraft) {
  const { name, active, inputs, timer, actions } = draft;
  return {
    name,
    active,
    inputs: [...inputs],
    timer,
    logic: withPlaces(draft),
    actions: actions.map(({ id, output }) => (output ? { outputConnector: output } : { id })),
  };
}

/** New outputs are named by their place among the actions, which others may have changed. */
function withPlaces({ logic, actions }: RuleDraft): Rule['logic'] {
  const names = new Map(actions.map(({ id, output }, at) => [id, output ? `new:${at}` : id]));
  const placed = <T extends { readonly actionIds: string[] }>(block: T): T => ({
    ...block,
    actionIds: block.actionIds.map((id) => names.get(id) ?? id),
  });
  const { logicBlocks, silenceLogicBlock: silence, customLogic, geoFenceLogicBlock: fence } = logic;
  return {
    ...logic,
    logicBlocks: logicBlocks?.map(placed) ?? null,
    ...(silence && { silenceLogicBlock: placed(silence) }),
    customLogic: customLogic && placed(customLogic),
    geoFenceLogicBlock: fence,
  };
}

/** What each lane of the editor gets. */
export interface LaneProps extends OpenCard {
  readonly workspaceId: string;
  readonly rule: RuleDraft;
  readonly change: (rule: RuleDraft) => void;
}
