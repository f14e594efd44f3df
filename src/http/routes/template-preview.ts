// Route of template previews, with the last sample of a device (interface 2.11, contract 29).
import { templates } from '../../contract/template-preview.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Principal } from '../../model/principal.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import { byWorkspace, type RecordParts } from './record-parts.ts';

interface TemplatePreview {
  readonly text: string;
  readonly valid: boolean;
  readonly reason: string | null;
  readonly context: JsonObject;
}

interface TemplatePreviewParts extends RecordParts {
  /**
   * Throws `templateInvalid` for a broken template, 404 or 403 for a device the principal may not
   * read, 404 for one without samples. `context` members replace those of the sample.
   */
  readonly preview: (
    wanted: {
      readonly template: string;
      readonly place: 'json' | 'text' | 'url';
      readonly deviceId: string | undefined;
      readonly topic: string | undefined;
      readonly context: JsonObject | undefined;
    },
    principal: Principal,
  ) => Promise<TemplatePreview>;
}

export function templatePreviewRoute(parts: TemplatePreviewParts): Route {
  return resourceRoute(templates.preview, byWorkspace(parts), ({ body }, principal) => {
    const { template, place = 'json', deviceId, topic, context } = body;
    const wanted = {
      template,
      place,
      deviceId: deviceId ?? undefined,
      topic: topic ?? undefined,
    };
    return parts.preview({ ...wanted, context: context ?? undefined }, principal);
  });
}
