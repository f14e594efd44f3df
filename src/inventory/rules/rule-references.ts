// Reference checks of rules: inputs and actions belong to the workspace, custom logic to the organization (contract 13).
import { problem } from '../../model/problem.ts';
import type { Rule } from '../../model/rule.ts';
import { parseTagCombination } from '../../model/tag-combination.ts';
import { findCustomLogic } from '../../records/rows/custom-logic.ts';
import { findOutputConnectors } from '../../records/rows/output-connectors.ts';
import { findPlace } from '../../records/rows/resource-refs.ts';
import type { Step } from '../record-change.ts';
import { invalidRule } from './rule-checks.ts';

/** Throws 400 naming the field. */
export async function checkRuleReferences(step: Step, rule: Rule): Promise<void> {
  await checkInputs(step, rule);
  await checkActions(step, rule);
  const { customLogic } = rule.logic;
  if (customLogic === null) return;
  const block = await findCustomLogic(step.db, customLogic.customLogicId);
  if (block?.organizationId === rule.organizationId) return;
  throw problem('unknownReference', {
    field: 'body logic.customLogic.customLogicId',
    what: 'custom logic block',
    id: customLogic.customLogicId,
    place: 'organization',
  });
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
  }: { readonly kind: 'device' | 'tag'; readonly id: string; readonly field: string },
  workspaceId: string,
): Promise<void> {
  const place = await findPlace(step.db, kind, id);
  if (place?.workspaceId === workspaceId) return;
  throw problem('unknownReference', { field: `body ${field}`, what: kind, id, place: 'workspace' });
}

async function checkActions(step: Step, { actions, workspaceId }: Rule): Promise<void> {
  const ids = actions.map(({ id }) => id);
  const connectors = new Map(
    (await findOutputConnectors(step, ids)).map((connector) => [connector.id, connector]),
  );
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
