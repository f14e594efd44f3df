// Routes of rules (contract 13).
import type { IncomingHttpHeaders } from 'node:http';
import { pageSchema } from '../../contract/page-envelope.ts';
import { idParams } from '../../contract/record-fields.ts';
import { ruleDraft, ruleListQuery, ruleSchema, ruleUpdate } from '../../contract/rule.ts';
import {
  createRule,
  deleteRule,
  listRules,
  readRule,
  updateRule,
} from '../../inventory/rules/rules.ts';
import type { RuleUpdate } from '../../inventory/rules/rule-draft.ts';
import type { Principal } from '../../model/principal.ts';
import { listOf, listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { alsoNeeds } from '../edge/further-permission.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { type ShowingParts, showingOf } from './connector-view-options.ts';
import { byId, byWorkspace, createdOnce, type RecordParts } from './record-parts.ts';

const tag = 'Rules';

export function ruleRoutes(parts: RecordParts & ShowingParts): Route[] {
  const { records, now } = parts;
  const showing = (headers: IncomingHttpHeaders) => showingOf(parts, headers);
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/rules',
      summary: 'Rules of workspaces',
      tag,
      access: { scope: 'rule', verb: 'read', place: { narrowedByHandler: true } },
      query: ruleListQuery,
      response: pageSchema(ruleSchema),
      handle: ({ query, headers }, principal) => {
        const ids = [
          ...(listOf(query, 'customLogicBlockId') ?? []),
          ...(listOf(query, 'inputIds') ?? []),
        ];
        const filter = {
          ...listScopeOf(query),
          search: query.search,
          referenceIds: ids.length === 0 ? undefined : ids,
        };
        return listRules(records, principal, showing(headers), filter, pageRequestOf(query));
      },
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/rules',
      summary: 'Make a rule',
      tag,
      access: {
        scope: 'rule',
        verb: 'create',
        also: [['asset', 'read']],
        place: byWorkspace(parts),
      },
      body: ruleDraft,
      status: 201,
      response: ruleSchema,
      handle: (input, principal) => {
        askForReferences(principal, input.body, input.body.workspaceId);
        return createdOnce(
          parts,
          input,
          principal,
          (step) => createRule(step, showing(input.headers), input.body, now()),
          (id) => readRule(records, showing(input.headers), id),
        );
      },
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/rules/:id',
      summary: 'One rule',
      tag,
      access: { scope: 'rule', verb: 'read', place: byId(parts, 'rule') },
      params: idParams,
      response: ruleSchema,
      handle: ({ params, headers }) => readRule(records, showing(headers), params.id),
    }),
    guardedRoute({
      method: 'PUT',
      path: '/v3/rules/:id',
      summary: 'Change a rule; deactivating it clears what it remembers',
      tag,
      access: { scope: 'rule', verb: 'update', place: byId(parts, 'rule') },
      params: idParams,
      body: ruleUpdate,
      response: ruleSchema,
      handle: async ({ params, body, headers }, principal) => {
        const { workspaceId } = await byId(parts, 'rule').byParams(params);
        askForReferences(principal, body, workspaceId);
        return updateRule(records, showing(headers), params.id, body, now());
      },
    }),
    guardedRoute({
      method: 'DELETE',
      path: '/v3/rules/:id',
      summary: 'Delete a rule and what it remembers',
      tag,
      access: { scope: 'rule', verb: 'delete', place: byId(parts, 'rule') },
      params: idParams,
      handle: async ({ params }) => {
        await deleteRule(records, params.id);
        return undefined;
      },
    }),
  ];
}

/** Whoever makes a rule reads its inputs and uses its actions: `asset` and `dataFlow` `read`, when they are named (contract 36). */
function askForReferences(
  principal: Principal,
  { inputs, logic, actions }: Pick<RuleUpdate, 'inputs' | 'logic' | 'actions'>,
  workspaceId: string | null,
): void {
  if (inputs || logic) alsoNeeds(principal, 'asset', 'read', workspaceId);
  if (actions && actions.length > 0) alsoNeeds(principal, 'dataFlow', 'read', workspaceId);
}
