// Schemas and endpoints of annotations (contract 39.1).
import Type, { type Static } from 'typebox';
import { annotationLimits } from '../model/annotation.ts';
import {
  auditFields,
  author,
  id,
  listParameter,
  namedObject,
  optional,
  orNull,
  pageSchema,
  text as storedText,
  time,
  updateFields,
  workspaceListParameters,
} from './schema-parts.ts';
import { recordEndpoints } from './endpoint.ts';

const annotationSortFields = ['at', 'id', 'created', 'updated', 'version'] as const;

const text = Type.String({
  minLength: 1,
  maxLength: annotationLimits.textCharactersMax,
  pattern: '\\S',
});
const instant = (description: string) => Type.String({ maxLength: 100, description });

const annotationSchema = namedObject('Annotation', {
  id,
  organizationId: id,
  workspaceId: id,
  at: time,
  until: orNull(time),
  text: storedText,
  deviceId: orNull(id),
  placeId: orNull(id),
  by: author,
  ...auditFields,
});

const draftFields = {
  until: optional(
    instant('End of a range, an ISO-8601 date-time after `at`. Null for a single moment.'),
  ),
  deviceId: optional(
    Type.String({
      maxLength: 500,
      description: 'Device of the workspace that the annotation is about. Null for none.',
    }),
  ),
  placeId: optional(
    Type.String({
      maxLength: 500,
      description: 'Place of the workspace that the annotation is about. Null for none.',
    }),
  ),
};
const at = instant('ISO-8601 date-time of the moment, or of the start of the range.');

const annotationDraft = namedObject('AnnotationDraft', {
  workspaceId: id,
  at,
  text,
  ...draftFields,
});
export type AnnotationDraft = Static<typeof annotationDraft>;
const annotationUpdate = namedObject('AnnotationUpdate', {
  ...updateFields,
  at: Type.Optional(at),
  text: Type.Optional(text),
  ...draftFields,
});
export type AnnotationUpdate = Static<typeof annotationUpdate>;

const { search: _, ...listParameters } = workspaceListParameters(annotationSortFields);
const annotationListQuery = Type.Object({
  ...listParameters,
  search: Type.Optional(
    Type.String({ maxLength: 500, description: 'Case-insensitive search in the text.' }),
  ),
  from: Type.Optional(
    Type.String({
      description:
        'ISO-8601 date-time. Returns annotations at this time or later, or that last until then.',
    }),
  ),
  to: Type.Optional(
    Type.String({ description: 'ISO-8601 date-time. Returns annotations before this time.' }),
  ),
  deviceId: listParameter,
  placeId: Type.Optional(
    Type.String({
      description:
        'Returns the annotations of a place, of the places below it, and of the devices there.',
    }),
  ),
  concerns: Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String())], {
      description: `IDs of up to ${annotationLimits.concernedMax} devices. Returns the annotations that a chart of these devices shows: those of the devices, of their places and the places above, and those without device and place.`,
    }),
  ),
});

const naming = 'Naming a device or place also requires `asset` `read`.';

export const annotations = recordEndpoints({
  path: '/v3/annotations',
  isOwn: true,
  tag: 'Dashboards',
  scope: 'dashboard',
  record: annotationSchema,
  list: {
    summary: 'List annotations',
    description: 'Returns a page of the annotations in the requested workspaces, newest first.',
    query: annotationListQuery,
    response: pageSchema(annotationSchema),
    needsAlso: 'The parameters `placeId` and `concerns` also require `asset` `read`.',
  },
  create: {
    summary: 'Create an annotation',
    description:
      'Creates a note at a moment or for a range, about a workspace, a device, or a place. Charts show it.',
    body: annotationDraft,
    needsAlso: naming,
  },
  read: { summary: 'Get an annotation', description: 'Returns an annotation.' },
  update: {
    summary: 'Update an annotation',
    description: 'Updates an annotation.',
    body: annotationUpdate,
    needsAlso: naming,
  },
  remove: { summary: 'Delete an annotation', description: 'Deletes an annotation.' },
});
