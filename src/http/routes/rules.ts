// Routes of rules (contract 13).
import { rules } from '../../contract/rules.ts';
import { healthOfRules, type RuleHealthParts } from '../../inventory/health/rule-health.ts';
import type { RuleUpdate } from '../../inventory/rules/rule-draft.ts';
import {
  createRule,
  deleteRule,
  listRules,
  readRule,
  updateRule,
} from '../../inventory/rules/rules.ts';
import type { Principal } from '../../model/principal.ts';
import { alsoNeeds } from '../edge/additional-permission.ts';
import { listOf, listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import type { Route } from '../edge/route.ts';
import { viewOptionsOf, type ViewOptionsParts } from './connector-view-options.ts';
import { byId, type RecordParts } from './record-parts.ts';
import { recordRoutes } from './record-routes.ts';
import { withHealth } from './with-health.ts';

export function ruleRoutes(parts: RecordParts & ViewOptionsParts & RuleHealthParts): Route[] {
  const { records } = parts;
  const findRule = byId(parts, 'rule');
  return recordRoutes(parts, rules, {
    kind: 'rule',
    list: async ({ query, headers }, principal) => {
      const ids = [
        ...(listOf(query, 'customLogicBlockId') ?? []),
        ...(listOf(query, 'inputIds') ?? []),
      ];
      const referenceIds = ids.length > 0 ? ids : undefined;
      const filter = { ...listScopeOf(query), search: query.search, referenceIds };
      const viewer = { principal, viewOptions: viewOptionsOf(parts, headers) };
      const page = await listRules(records, viewer, filter, pageRequestOf(query));
      return withHealth(query, page, (found) => healthOfRules(records, principal, found, parts));
    },
    checkCreate: ({ body }, principal) => checkReferences(principal, body, body.workspaceId),
    create: (step, { body, headers }) => createRule(step, viewOptionsOf(parts, headers), body),
    read: (id, { headers }) => readRule(records, viewOptionsOf(parts, headers), id),
    update: async (id, { body, headers }, principal) => {
      const { workspaceId } = await findRule({ id });
      checkReferences(principal, body, workspaceId);
      return updateRule(records, viewOptionsOf(parts, headers), id, body);
    },
    remove: (id) => deleteRule(records, id),
  });
}

/**
 * A rule reads its inputs and uses its actions: `asset` and `dataFlow` `read`, when they are named
 * (contract 36).
 */
function checkReferences(
  principal: Principal,
  { inputs, logic, actions }: RuleUpdate,
  workspaceId: string | null,
): void {
  if (inputs || logic) alsoNeeds(principal, 'asset', 'read', workspaceId);
  if (actions && actions.length > 0) alsoNeeds(principal, 'dataFlow', 'read', workspaceId);
}
