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
    summary: 'List custom logic blocks',
    description: "Returns a page of the organization's custom logic blocks.",
    query: customLogicListQuery,
    response: pageSchema(customLogicItemSchema),
  },
  create: {
    summary: 'Create a custom logic block',
    description: 'Creates a script that rules can use as their logic.',
    body: customLogicDraft,
    bodyBytesMax,
  },
  read: {
    summary: 'Get a custom logic block',
    description: 'Returns a custom logic block and the rules that use it.',
  },
  update: {
    summary: 'Update a custom logic block',
    description:
      'Updates a custom logic block; its data sources and properties are fixed while an active rule uses it.',
    body: customLogicUpdate,
    bodyBytesMax,
  },
  remove: {
    summary: 'Delete a custom logic block',
    description: 'Deletes a custom logic block; fails with 409 while a rule uses it.',
  },
});
