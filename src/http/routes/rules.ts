// Routes of rules, their runs and simulation, and of custom logic blocks (contract 13, 14).
import type { Static } from 'typebox';
import {
  customLogic,
  type ruleDraft,
  ruleRuns,
  type ruleRunSchema,
  rules,
  type RuleUpdate,
  type runSortFields,
  type simulationSchema,
} from '../../contract/rules.ts';
import { healthOfRules, type RuleHealthParts } from '../../inventory/health/health.ts';
import { CustomLogicBlocks } from '../../inventory/rules/custom-logic.ts';
import { change } from '../../inventory/record-crud.ts';
import {
  createRule,
  deleteRule,
  hasNewOutputs,
  listRules,
  readRule,
  updateRule,
  withNewOutputs,
} from '../../inventory/rules/rules.ts';
import type { EpochMs } from '../../model/instant.ts';
import { parseBound } from '../../model/timestamp.ts';
import { inSortOrder, pageOf } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import type { AvailableOutputs } from '../../outputs/connectors/available-outputs.ts';
import { listOf, listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { alsoNeeds, resourceRoute, type Route } from '../edge/route.ts';
import { byOrganization, type RecordRoutes, withHealth } from './record-routes.ts';

/** Of rules and of custom logic blocks. */
export function ruleRoutes(
  common: RecordRoutes,
  availableOutputs: AvailableOutputs,
  health: RuleHealthParts,
): Route[] {
  const { records } = common;
  const findRule = common.byId('rule');
  const crud = common.crud(rules, {
    kind: 'rule',
    list: async ({ query, headers }, principal) => {
      const ids = [
        ...(listOf(query, 'customLogicBlockId') ?? []),
        ...(listOf(query, 'inputIds') ?? []),
      ];
      const referenceIds = ids.length > 0 ? ids : undefined;
      const filter = { ...listScopeOf(query), search: query.search, referenceIds };
      const viewer = { principal, viewOptions: common.viewOptions(headers) };
      const page = await listRules(records, viewer, filter, pageRequestOf(query));
      return withHealth(query, page, (found) => healthOfRules(records, principal, found, health));
    },
    checkCreate: ({ body }, principal) => checkReferences(principal, body, body.workspaceId),
    create: (step, { body, headers }) =>
      change(step, async (inner) => {
        const rule = await withNewOutputs(inner, availableOutputs, body.workspaceId, body);
        return createRule(inner, common.viewOptions(headers), rule);
      }),
    read: (id, { headers }) => readRule(records, common.viewOptions(headers), id),
    update: async (id, { body, headers }, principal) => {
      const { workspaceId } = await findRule({ id });
      checkReferences(principal, body, workspaceId);
      return change(records, async (step) => {
        const sent = await withNewOutputs(step, availableOutputs, workspaceId ?? '', body);
        return updateRule(step, common.viewOptions(headers), id, sent);
      });
    },
    remove: (id) => deleteRule(records, id),
  });
  return [...crud, ...customLogicRoutes(common)];
}

/**
 * A rule reads its inputs and uses its actions: `asset` and `dataFlow` `read`, when they are named
 * (contract 36). New output connectors ask for `dataFlow` `create` (contract 39.4).
 */
function checkReferences(
  principal: Principal,
  { inputs, logic, actions }: RuleUpdate,
  workspaceId: string | null,
): void {
  if (inputs || logic) alsoNeeds(principal, 'asset', 'read', workspaceId);
  checkActions(principal, actions, workspaceId);
}

function checkActions(
  principal: Principal,
  actions: RuleUpdate['actions'],
  workspaceId: string | null,
): void {
  if (actions && actions.length > 0) alsoNeeds(principal, 'dataFlow', 'read', workspaceId);
  if (hasNewOutputs({ actions })) alsoNeeds(principal, 'dataFlow', 'create', workspaceId);
}

// Routes of custom logic blocks (contract 14).

function customLogicRoutes(common: RecordRoutes): Route[] {
  const { records } = common;
  const service = new CustomLogicBlocks(records);
  return common.crud(customLogic, {
    kind: 'customLogic',
    createIn: byOrganization,
    list: ({ query }, principal) => service.list(principal, query, pageRequestOf(query)),
    create: (step, { body }, principal) => new CustomLogicBlocks(step).create(principal, body),
    read: (id, _input, principal) => service.read(principal, id),
    update: (id, { body }, principal) => service.update(principal, id, body),
    remove: (id) => service.remove(id),
  });
}

// Routes of rule runs and of the simulation of a rule.

type Run = Static<typeof ruleRunSchema>;

/** Times of the same format compare as strings. */
const runSortKeys = {
  timestamp: (run: Run) => run.timestamp,
  trigger: (run: Run) => run.trigger,
  outcome: (run: Run) => run.outcome,
} as const satisfies Record<(typeof runSortFields)[number], (run: Run) => string>;

export function ruleRunRoutes(
  common: RecordRoutes,
  {
    runsOf,
    simulate,
    simulateDraft,
  }: {
    /** Newest first. */
    readonly runsOf: (ruleId: string) => Promise<readonly unknown[]>;
    readonly simulate: (
      ruleId: string,
      range: { readonly from: EpochMs; readonly to: EpochMs },
    ) => Promise<unknown>;
    readonly simulateDraft: (
      draft: Static<typeof ruleDraft>,
      range: { readonly from: EpochMs; readonly to: EpochMs },
    ) => Promise<unknown>;
  },
): Route[] {
  const place = common.byId('rule');
  return [
    resourceRoute(ruleRuns.list, place, async ({ params, query }) => {
      const page = pageRequestOf(query);
      const newest = (await runsOf(params.id)) as readonly Run[];
      const runs = inSortOrder(newest, page.sort, runSortKeys);
      return pageOf(
        runs.slice(page.page * page.size, (page.page + 1) * page.size),
        runs.length,
        page,
      );
    }),
    resourceRoute(ruleRuns.simulate, place, async ({ params, body }) => {
      const range = { from: parseBound('from', body.from), to: parseBound('to', body.to) };
      return (await simulate(params.id, range)) as Static<typeof simulationSchema>;
    }),
    resourceRoute(
      ruleRuns.simulateDraft,
      ({ rule }) => common.byWorkspace(rule),
      async ({ body }, principal) => {
        const { rule } = body;
        checkActions(principal, rule.actions, rule.workspaceId);
        const range = { from: parseBound('from', body.from), to: parseBound('to', body.to) };
        return (await simulateDraft(rule, range)) as Static<typeof simulationSchema>;
      },
    ),
  ];
}
