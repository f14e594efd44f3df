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
    summary: 'List custom fields',
    description: 'Returns a page of the custom field definitions in the requested workspaces.',
    query: customFieldListQuery,
    response: pageSchema(customFieldSchema),
  },
  create: {
    summary: 'Create a custom field',
    description: 'Defines a custom field for the devices of a workspace.',
    body: customFieldDraft,
  },
  read: { summary: 'Get a custom field', description: 'Returns a custom field definition.' },
  update: {
    summary: 'Update a custom field',
    description: 'Updates a custom field definition; its type cannot be changed.',
    body: customFieldUpdate,
  },
  remove: {
    summary: 'Delete a custom field',
    description:
      'Deletes a custom field definition; fails with 409 while a device has a value for it, unless `force` is true.',
    query: customFieldDeleteQuery,
  },
});
