// Endpoints of template previews (interface 2.11).
import { endpoint } from '../endpoint.ts';
import { templatePreviewBody, templatePreviewSchema } from '../template-preview.ts';

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
