// Endpoints of custom logic blocks (contract 14).
import {
  customLogicDraft,
  customLogicItemSchema,
  customLogicListQuery,
  customLogicSchema,
  customLogicUpdate,
} from '../custom-logic.ts';
import { pageSchema } from '../page-envelope.ts';
import { recordEndpoints } from './record-endpoints.ts';

const bodyBytesMax = 4 * 1024 * 1024;

export const customLogic = recordEndpoints({
  path: '/v3/rules/custom',
  tag: 'Custom logic',
  scope: 'customLogic',
  record: customLogicSchema,
  list: {
    summary: 'Custom logic blocks of the organization',
    query: customLogicListQuery,
    response: pageSchema(customLogicItemSchema),
  },
  create: { summary: 'Make a custom logic block', body: customLogicDraft, bodyBytesMax },
  read: { summary: 'One custom logic block with the rules that use it' },
  update: {
    summary:
      'Change a custom logic block; its data sources and properties only while no active rule uses it',
    body: customLogicUpdate,
    bodyBytesMax,
  },
  remove: { summary: 'Delete a custom logic block that no rule uses' },
});
