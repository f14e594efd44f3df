// Annotations: create, read, list, update, delete; what they refer to is in their workspace (contract 39.1).
import type { AnnotationDraft, AnnotationUpdate } from '../../contract/annotations.ts';
import type { Author, Principal } from '../../model/principal.ts';
import { type Annotation, annotationLimits } from '../../model/annotation.ts';
import { newId } from '../../model/ids.ts';
import { formatInstant, formatInstantOrNull, restorePlus } from '../../model/instant.ts';
import { parseBound } from '../../model/timestamp.ts';
import { pageOf, type PageRequest } from '../../model/page.ts';
import { problem } from '../../model/problem.ts';
import type { Records } from '../../storage/records/records.ts';
import { annotationRows } from '../../storage/records/rows/annotations.ts';
import { findPlace } from '../../storage/records/rows/search.ts';
import { listReach, type ListScope } from '../list-scope.ts';
import {
  auditView,
  change,
  firstVersion,
  found,
  nextVersion,
  placeIn,
  type Step,
} from '../record-crud.ts';

const view = (record: Annotation) => ({
  ...record,
  at: formatInstant(record.at),
  until: formatInstantOrNull(record.until),
  ...auditView(record),
});

async function check(
  { db }: Step,
  { workspaceId, at, until, deviceId, placeId }: Annotation,
): Promise<void> {
  if (until !== null && until <= at)
    throw problem('invalidRequest', {
      reason: `body until: must be after at (${formatInstant(at)}), got ${formatInstant(until)}`,
    });
  for (const [field, kind, id] of [
    ['deviceId', 'device', deviceId],
    ['placeId', 'place', placeId],
  ] as const)
    if (id !== null && (await findPlace(db, kind, id))?.workspaceId !== workspaceId)
      throw problem('unknownReference', {
        field: `body ${field}`,
        what: kind,
        id,
        place: 'workspace',
      });
}

/** Annotations as callers make and read them. */
export class Annotations {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /** Throws 400 for times and references, 404 for the workspace, and 409 at the limit. */
  create(by: Author, draft: AnnotationDraft) {
    return change(this.#records, async (step) => {
      const place = await placeIn(step, draft.workspaceId);
      const record: Annotation = {
        id: newId('annotation'),
        ...place,
        at: parseBound('body at', draft.at),
        until: instantOrNull(draft.until),
        text: draft.text,
        deviceId: draft.deviceId ?? null,
        placeId: draft.placeId ?? null,
        by,
        ...firstVersion(step.now()),
      };
      await check(step, record);
      if (
        (await annotationRows.count(step.db, place.workspaceId)) >= annotationLimits.perWorkspaceMax
      )
        throw problem('quotaReached', {
          limitName: 'annotations',
          limitMax: annotationLimits.perWorkspaceMax,
          per: 'workspace',
          what: 'annotations',
        });
      await annotationRows.insert(step.db, record);
      step.announce({ kind: 'annotation', id: record.id, action: 'created' });
      return view(record);
    });
  }

  /** Throws 404. */
  async read(id: string) {
    const { db } = this.#records;
    return view(found(await annotationRows.find(db, id), 'annotation', id));
  }

  /** The newest first, unless the page asks for another order. Throws 400, 403 or 404. */
  async list(principal: Principal, query: AnnotationQuery, page: PageRequest) {
    const { search, deviceIds, placeId, concerns } = query;
    const reach = await listReach(this.#records, principal, query, ['dashboard', 'read']);
    // Both tell which devices are where.
    if (placeId !== undefined || concerns !== undefined)
      await listReach(this.#records, principal, query, ['asset', 'read']);
    if ((concerns?.length ?? 0) > annotationLimits.concernedMax)
      throw problem('invalidRequest', {
        reason: `query concerns: must be at most ${annotationLimits.concernedMax} devices, got ${concerns?.length}`,
      });
    const [from, to] = [boundOf('query from', query.from), boundOf('query to', query.to)];
    const wanted = { ...reach, search, from, to, deviceIds, placeId, concerns };
    const { rows, total } = await annotationRows.list(this.#records.db, wanted, page);
    return pageOf(rows.map(view), total, page);
  }

  /** Throws 400 for times and references, 404, or 409 for a stale version. */
  update(id: string, sent: AnnotationUpdate) {
    return change(this.#records, async (step) => {
      const current = found(await annotationRows.find(step.db, id), 'annotation', id);
      const record: Annotation = {
        ...current,
        at: sent.at === undefined ? current.at : parseBound('body at', sent.at),
        until: sent.until === undefined ? current.until : instantOrNull(sent.until),
        text: sent.text ?? current.text,
        deviceId: sent.deviceId === undefined ? current.deviceId : sent.deviceId,
        placeId: sent.placeId === undefined ? current.placeId : sent.placeId,
        ...nextVersion(current, sent.version, step.now()),
      };
      await check(step, record);
      await annotationRows.save(step.db, record);
      step.announce({ kind: 'annotation', id, action: 'updated' });
      return view(record);
    });
  }

  /** Throws 404. */
  remove(id: string): Promise<void> {
    return change(this.#records, async (step) => {
      found(await annotationRows.find(step.db, id), 'annotation', id);
      await annotationRows.remove(step.db, id);
      step.announce({ kind: 'annotation', id, action: 'deleted' });
    });
  }
}

function instantOrNull(until: string | null | undefined): number | null {
  return until === null || until === undefined ? null : parseBound('body until', until);
}

interface AnnotationQuery extends ListScope {
  readonly search?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly deviceIds?: readonly string[] | undefined;
  readonly placeId?: string | undefined;
  readonly concerns?: readonly string[] | undefined;
}

function boundOf(bound: string, value: string | undefined): number | undefined {
  return value === undefined ? undefined : parseBound(bound, restorePlus(value));
}
