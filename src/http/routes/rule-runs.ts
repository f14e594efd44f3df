// Routes of rule runs and of the simulation of a rule.
import type { Static } from 'typebox';
import {
  type ruleDraft,
  ruleRuns,
  type ruleRunSchema,
  type runSortFields,
  type simulationSchema,
} from '../../contract/rules.ts';
import type { EpochMs } from '../../model/instant.ts';
import { pageOf } from '../../model/page.ts';
import { inSortOrder } from '../../model/sort-order.ts';
import { parseBound } from '../../model/timestamp.ts';
import { alsoNeeds } from '../edge/additional-permission.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import { byId, byWorkspace, type RecordParts } from './record-parts.ts';

type Run = Static<typeof ruleRunSchema>;

/** Times of the same format compare as strings. */
const runSortKeys = {
  timestamp: (run: Run) => run.timestamp,
  trigger: (run: Run) => run.trigger,
  outcome: (run: Run) => run.outcome,
} as const satisfies Record<(typeof runSortFields)[number], (run: Run) => string>;

export interface RuleRunParts extends RecordParts {
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
}

export function ruleRunRoutes(parts: RuleRunParts): Route[] {
  const { runsOf, simulate, simulateDraft } = parts;
  const place = byId(parts, 'rule');
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
      ({ rule }) => byWorkspace(parts)(rule),
      async ({ body }, principal) => {
        const { rule } = body;
        if (rule.actions && rule.actions.length > 0)
          alsoNeeds(principal, 'dataFlow', 'read', rule.workspaceId);
        const range = { from: parseBound('from', body.from), to: parseBound('to', body.to) };
        return (await simulateDraft(rule, range)) as Static<typeof simulationSchema>;
      },
    ),
  ];
}
