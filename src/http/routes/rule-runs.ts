// Routes that tell what a rule did last, and what it would have done.
import { pageSchema } from '../../contract/page-envelope.ts';
import { idParams } from '../../contract/record-fields.ts';
import { ruleRunSchema, simulationRequest, simulationSchema } from '../../contract/rule-runs.ts';
import { listParameters } from '../../contract/list-parameters.ts';
import Type, { type Static } from 'typebox';
import { type EpochMs, parseInstant } from '../../model/instant.ts';
import { pageOf } from '../../model/page.ts';
import { problem } from '../../model/problem.ts';
import { inSortOrder } from '../../model/sort-order.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { byId, type RecordParts } from './record-parts.ts';

const tag = 'Rules';

type Run = Static<typeof ruleRunSchema>;

/** Times of one form compare as text. */
const runSortKeys = {
  timestamp: (run: Run) => run.timestamp,
  trigger: (run: Run) => run.trigger,
  outcome: (run: Run) => run.outcome,
} as const;

export interface RuleRunParts extends RecordParts {
  /** Newest first. */
  readonly runsOf: (ruleId: string) => Promise<readonly unknown[]>;
  readonly simulate: (
    ruleId: string,
    range: { readonly from: EpochMs; readonly to: EpochMs },
  ) => Promise<unknown>;
}

export function ruleRunRoutes(parts: RuleRunParts): Route[] {
  const { runsOf, simulate } = parts;
  const place = byId(parts, 'rule');
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/rules/:id/runs',
      summary: 'The last runs of a rule with what it saw, what came of it and why; newest first',
      tag,
      access: { scope: 'rule', verb: 'read', also: [['asset', 'read']], place },
      params: idParams,
      query: Type.Object(listParameters(Object.keys(runSortKeys))),
      response: pageSchema(ruleRunSchema),
      handle: async ({ params, query }) => {
        const page = pageRequestOf(query);
        const newest = (await runsOf(params.id)) as readonly Run[];
        const runs = inSortOrder(newest, page.sort, runSortKeys);
        return pageOf(
          runs.slice(page.page * page.size, (page.page + 1) * page.size),
          runs.length,
          page,
        );
      },
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/rules/:id/simulate',
      summary:
        'What the rule would have done over stored samples; nothing is sent and nothing is changed',
      tag,
      access: { scope: 'rule', verb: 'read', also: [['asset', 'read']], place },
      params: idParams,
      body: simulationRequest,
      response: simulationSchema,
      handle: async ({ params, body }) => {
        const range = { from: bound('from', body.from), to: bound('to', body.to) };
        return (await simulate(params.id, range)) as Static<typeof simulationSchema>;
      },
    }),
  ];
}

function bound(name: string, value: string): EpochMs {
  const at = parseInstant(value);
  if (at === undefined) throw problem('badBound', { bound: name, value });
  return at;
}
