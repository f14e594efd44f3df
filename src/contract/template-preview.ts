// API schemas of template previews (interface 2.11).
import Type from 'typebox';
import { id, object, oneOf, optional, orNull } from './record-fields.ts';
import { namedObject } from './named.ts';

export const templatePreviewBody = namedObject('TemplatePreviewBody', {
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

export const templatePreviewSchema = namedObject('TemplatePreview', {
  text: Type.String({ description: 'Rendered template.' }),
  valid: Type.Boolean({
    description: 'Whether the result is valid for its target, such as JSON or a URL.',
  }),
  reason: orNull(Type.String()),
  context: object,
});
