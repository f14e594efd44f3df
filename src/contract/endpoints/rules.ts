// Endpoints of rules (contract 13).
import { pageSchema } from '../page-envelope.ts';
import { ruleDraft, ruleItemSchema, ruleListQuery, ruleSchema, ruleUpdate } from '../rule.ts';
import { recordEndpoints } from './record-endpoints.ts';

export const rules = recordEndpoints({
  path: '/v3/rules',
  tag: 'Rules',
  scope: 'rule',
  record: ruleSchema,
  also: { create: [['asset', 'read']] },
  list: {
    summary: 'List rules',
    description: 'Returns a page of the rules in the requested workspaces.',
    query: ruleListQuery,
    response: pageSchema(ruleItemSchema),
  },
  create: {
    summary: 'Create a rule',
    description: 'Creates a rule with its inputs, logic, and actions.',
    body: ruleDraft,
  },
  read: {
    summary: 'Get a rule',
    description: 'Returns a rule with its inputs, logic, and actions.',
  },
  update: {
    summary: 'Update a rule',
    description: 'Updates a rule; deactivating it clears its state.',
    body: ruleUpdate,
  },
  remove: { summary: 'Delete a rule', description: 'Deletes a rule and its state.' },
});
