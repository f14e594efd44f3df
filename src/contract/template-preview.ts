// Schemas and endpoints of template previews (interface 2.11).
import Type from 'typebox';
import { endpoint } from './endpoint.ts';
import { namedObject } from './named.ts';
import { id, object, oneOf, optional, orNull } from './record-fields.ts';

const templatePreviewBody = namedObject('TemplatePreviewBody', {
  workspaceId: id,
  template: Type.String({ maxLength: 300_000 }),
  place: Type.Optional(oneOf(['json', 'text', 'url'])),
  deviceId: optional(
    Type.String({
      description: 'Service device ID. Its latest sample is used to render the template.',
    }),
  ),
  topic: optional(Type.String()),
  context: optional(object),
});

const templatePreviewSchema = namedObject('TemplatePreview', {
  text: Type.String({ description: 'Rendered template.' }),
  valid: Type.Boolean({
    description: 'Whether the result is valid for its target, such as JSON or a URL.',
  }),
  reason: orNull(Type.String()),
  context: object,
});

export const templates = {
  preview: endpoint({
    method: 'POST',
    path: '/v3/templates/preview',
    ownBody: true,
    summary: 'Preview a template',
    description: 'Renders a template with the latest sample of a device.',
    tag: 'Templates',
    access: { scope: 'dataFlow', verb: 'read', resource: 'body' },
    needsAlso: 'With a device, also requires `asset` `read`.',
    body: templatePreviewBody,
    response: templatePreviewSchema,
  }),
} as const;
