// Endpoints of rule runs and simulation.
import Type from 'typebox';
import { endpoint } from '../endpoint.ts';
import { listParameters } from '../list-parameters.ts';
import { pageSchema } from '../page-envelope.ts';
import { idParams } from '../record-fields.ts';
import { draftSimulationRequest } from '../rule.ts';
import { ruleRunSchema, simulationRequest, simulationSchema } from '../rule-runs.ts';

const tag = 'Rules';
/** What runs can be ordered by. */
export const runSortFields = ['timestamp', 'trigger', 'outcome'] as const;

export const ruleRuns = {
  list: endpoint({
    method: 'GET',
    path: '/v3/rules/:id/runs',
    summary: 'List rule runs',
    description:
      'Returns the last 50 runs of a rule with their inputs, outcome, and reason, newest first.',
    tag,
    access: { scope: 'rule', verb: 'read', also: [['asset', 'read']], resource: 'path' },
    params: idParams,
    query: Type.Object(listParameters(runSortFields)),
    response: pageSchema(ruleRunSchema),
  }),
  simulate: endpoint({
    method: 'POST',
    path: '/v3/rules/:id/simulate',
    ownBody: true,
    summary: 'Simulate a rule',
    description:
      'Runs a saved rule over stored samples and returns when it would have fired; sends and changes nothing.',
    tag,
    access: { scope: 'rule', verb: 'read', also: [['asset', 'read']], resource: 'path' },
    params: idParams,
    body: simulationRequest,
    response: simulationSchema,
  }),
  simulateDraft: endpoint({
    method: 'POST',
    path: '/v3/rules/simulate',
    summary: 'Simulate a rule draft',
    description:
      'Runs an unsaved rule over stored samples and returns when it would have fired; sends and changes nothing.',
    tag,
    access: { scope: 'rule', verb: 'read', also: [['asset', 'read']], resource: 'body' },
    needsAlso: 'A rule with actions also requires `dataFlow` `read`.',
    body: draftSimulationRequest,
    response: simulationSchema,
  }),
} as const;
