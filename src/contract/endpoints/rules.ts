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
    summary: 'Rules of workspaces',
    query: ruleListQuery,
    response: pageSchema(ruleItemSchema),
  },
  create: { summary: 'Make a rule', body: ruleDraft },
  read: { summary: 'One rule' },
  update: { summary: 'Change a rule; deactivating it clears what it remembers', body: ruleUpdate },
  remove: { summary: 'Delete a rule and what it remembers' },
});
