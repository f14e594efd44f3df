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
    summary: 'The last runs of a rule with what it saw, what came of it and why; newest first',
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
    summary:
      'What the rule would have done over stored samples; nothing is sent and nothing is changed',
    tag,
    access: { scope: 'rule', verb: 'read', also: [['asset', 'read']], resource: 'path' },
    params: idParams,
    body: simulationRequest,
    response: simulationSchema,
  }),
  simulateDraft: endpoint({
    method: 'POST',
    path: '/v3/rules/simulate',
    summary:
      'What a rule would have done that is not stored; nothing is sent and nothing is changed',
    tag,
    access: { scope: 'rule', verb: 'read', also: [['asset', 'read']], resource: 'body' },
    needsAlso: 'A rule with actions needs the permission to read data flows.',
    body: draftSimulationRequest,
    response: simulationSchema,
  }),
} as const;
