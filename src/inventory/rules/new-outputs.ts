// New outputs of rules: actions whose output connector is created with the rule, in its transaction (contract 39.4).
import type { RuleActionDraft, RuleDraft } from '../../contract/rules.ts';
import type { OutputConnector } from '../../model/output-connector.ts';
import { Problem } from '../../model/problem.ts';
import type { AvailableOutputs } from '../../outputs/connectors/available-outputs.ts';
import type { Records } from '../../storage/records/records.ts';
import { draftedOutputConnector, insertOutputConnector } from '../data-flows/output-connectors.ts';
import type { Step } from '../record-change.ts';
import { checkActions, invalidRule } from './rule-draft.ts';

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
    const output = await draftedOutputConnector(records, available, draft).catch(
      (error: unknown) => {
        throw at(`actions.${i}.outputConnector`, error);
      },
    );
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
  for (const output of outputs) await insertOutputConnector(step, output);
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
