// Endpoints of custom fields (contract 5).
import {
  customFieldDeleteQuery,
  customFieldDraft,
  customFieldListQuery,
  customFieldSchema,
  customFieldUpdate,
} from '../custom-field.ts';
import { pageSchema } from '../page-envelope.ts';
import { recordEndpoints } from './record-endpoints.ts';

export const customFields = recordEndpoints({
  path: '/v3/custom-fields/meta',
  tag: 'Custom fields',
  scope: 'asset',
  record: customFieldSchema,
  list: {
    summary: 'Custom fields of workspaces',
    query: customFieldListQuery,
    response: pageSchema(customFieldSchema),
  },
  create: { summary: 'Make a custom field', body: customFieldDraft },
  read: { summary: 'One custom field' },
  update: { summary: 'Change a custom field; its type is fixed', body: customFieldUpdate },
  remove: {
    summary: 'Delete a custom field that no device has a value in',
    query: customFieldDeleteQuery,
  },
});
