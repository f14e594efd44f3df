// Tags: create, read, list, update, delete (contract 6).
import { newId } from '../../model/ids.ts';
import { type Page, type PageRequest, pageOf } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Tag } from '../../model/tag.ts';
import type { Records } from '../../records/records.ts';
import { namesOfRulesUsing } from '../../records/rows/rules.ts';
import {
  findTag,
  insertTag,
  listTags as listRows,
  removeTag,
  saveTag,
  taggedDeviceCounts,
} from '../../records/rows/tags.ts';
import { findWorkspace } from '../../records/rows/workspaces.ts';
import {
  auditView,
  change,
  firstVersion,
  found,
  nextVersion,
  orCurrent,
  type RecordUpdate,
  refuseWhenUsed,
  usersNamedMax,
} from '../record-change.ts';
import { type ListScope, listReach } from '../list-scope.ts';

export interface TagUpdate extends RecordUpdate {
  readonly color?: string | null | undefined;
}

export interface TagDraft extends TagUpdate {
  readonly workspaceId: string;
  readonly name: string;
}

const colorPattern = /^#[0-9a-fA-F]{6}$/;

function view(record: Tag, counts: ReadonlyMap<string, number>) {
  const { organizationId: _, ...tag } = record;
  return { ...tag, taggedDevices: counts.get(record.id) ?? 0, ...auditView(record) };
}

function checkColor(color: string | null): string | null {
  if (color === null || colorPattern.test(color)) return color;
  throw problem('invalidRequest', { reason: `body color: ${color} is not of the form #RRGGBB` });
}

export async function createTag(records: Records, draft: TagDraft) {
  const record = await change(records, async (step) => {
    const { organizationId } = found(
      await findWorkspace(step.db, draft.workspaceId),
      'workspace',
      draft.workspaceId,
    );
    const tag: Tag = {
      id: newId('tag'),
      organizationId,
      workspaceId: draft.workspaceId,
      name: draft.name,
      description: draft.description ?? null,
      color: checkColor(draft.color ?? null),
      ...firstVersion(records.now()),
    };
    await insertTag(step.db, tag);
    step.announce({ kind: 'tag', id: tag.id, action: 'created' });
    return tag;
  });
  return view(record, new Map());
}

export async function readTag(records: Records, id: string) {
  const record = found(await findTag(records.db, id), 'tag', id);
  return view(record, await taggedDeviceCounts(records.db, [id]));
}

export async function listTags(
  records: Records,
  principal: Principal,
  filter: ListScope & { readonly search?: string | undefined },
  page: PageRequest,
): Promise<Page<ReturnType<typeof view>>> {
  const reach = await listReach(records, principal, filter);
  const { rows, total } = await listRows(records.db, { ...reach, search: filter.search }, page);
  const counts = await taggedDeviceCounts(
    records.db,
    rows.map((row) => row.id),
  );
  return pageOf(
    rows.map((row) => view(row, counts)),
    total,
    page,
  );
}

export async function updateTag(records: Records, id: string, sent: TagUpdate) {
  await change(records, async (step) => {
    const current = found(await findTag(step.db, id), 'tag', id);
    await saveTag(step.db, {
      ...current,
      name: orCurrent(sent.name, current.name),
      description: orCurrent(sent.description, current.description),
      color: checkColor(orCurrent(sent.color, current.color)),
      ...nextVersion(current, sent.version, records.now()),
    });
    step.announce({ kind: 'tag', id, action: 'updated' });
  });
  return readTag(records, id);
}

/** Devices that carry the tag merely lose it; a rule that has it as input would silently judge nothing, so it refuses (409). */
export async function deleteTag(records: Records, id: string): Promise<void> {
  await change(records, async (step) => {
    found(await findTag(step.db, id), 'tag', id);
    refuseWhenUsed('tag', await namesOfRulesUsing(step.db, 'tag', id, usersNamedMax));
    await removeTag(step.db, id);
    step.announce({ kind: 'tag', id, action: 'deleted' });
  });
}
