// API schemas of template previews (interface 2.11).
import Type from 'typebox';
import { id, object, oneOf, optional, orNull } from './record-fields.ts';
import { namedObject } from './named.ts';

export const templatePreviewBody = namedObject('TemplatePreviewBody', {
  workspaceId: id,
  template: Type.String({ maxLength: 300_000 }),
  place: Type.Optional(oneOf(['json', 'text', 'url'])),
  deviceId: optional(
    Type.String({ description: 'Service device id; its last sample fills the template in' }),
  ),
  topic: optional(Type.String()),
  context: optional(object),
});

export const templatePreviewSchema = namedObject('TemplatePreview', {
  text: Type.String({ description: 'The template filled in' }),
  valid: Type.Boolean({
    description: 'Whether the text is valid at its place: JSON that can be read, a URL',
  }),
  reason: orNull(Type.String()),
  context: object,
});
