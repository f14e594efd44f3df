// Custom fields of a workspace: create, read, list, update, delete (contract 5).
import {
  type CustomFieldMeta,
  type CustomFieldType,
  customFieldTypes,
} from '../../model/custom-field.ts';
import { newId } from '../../model/ids.ts';
import { type Page, type PageRequest, pageOf } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import {
  devicesUsingCustomField,
  findCustomField,
  findCustomFields,
  insertCustomField,
  listCustomFields as listRows,
  removeCustomField,
  saveCustomField,
} from '../../records/rows/custom-fields.ts';
import type { Records } from '../../records/records.ts';
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
  type Step,
  usersNamedMax,
} from '../record-change.ts';
import { type ListScope, listReach } from '../list-scope.ts';

const fieldsPerWorkspaceMax = 500;
const optionsMax = 500;

export interface CustomFieldUpdate extends RecordUpdate {
  readonly type?: string | null | undefined;
  readonly required?: boolean | null | undefined;
  readonly selectOptions?: readonly string[] | null | undefined;
}

export interface CustomFieldDraft extends CustomFieldUpdate {
  readonly workspaceId: string;
  readonly name: string;
  readonly type: CustomFieldType;
}

function view(record: CustomFieldMeta) {
  const { organizationId: _, ...meta } = record;
  return { ...meta, ...auditView(record) };
}

function optionsFrom(
  type: CustomFieldType,
  sent: readonly string[] | null,
): readonly string[] | null {
  if (sent === null || sent.length === 0) return null;
  if (type !== 'STRING') {
    throw problem('invalidRequest', {
      reason: `body selectOptions: only fields of type STRING have them`,
    });
  }
  const options = [...new Set(sent)];
  if (options.length > optionsMax) {
    throw problem('invalidRequest', { reason: `body selectOptions: more than ${optionsMax}` });
  }
  return options;
}

async function checkName(step: Step, record: CustomFieldMeta): Promise<void> {
  const { organizationId, workspaceId, name } = record;
  const fields = await findCustomFields(step.db, { organizationId, workspaceIds: [workspaceId] });
  if (fields.some((field) => field.name === name && field.id !== record.id)) {
    throw problem('nameNotUnique', { what: 'custom field', name });
  }
  if (fields.length >= fieldsPerWorkspaceMax && !fields.some((field) => field.id === record.id)) {
    throw problem('invalidRequest', {
      reason: `A workspace has at most ${fieldsPerWorkspaceMax} custom fields`,
    });
  }
}

export async function createCustomField(records: Records, draft: CustomFieldDraft) {
  const record = await change(records, async (step) => {
    const { organizationId } = found(
      await findWorkspace(step.db, draft.workspaceId),
      'workspace',
      draft.workspaceId,
    );
    const meta: CustomFieldMeta = {
      id: newId('customFieldMeta'),
      organizationId,
      workspaceId: draft.workspaceId,
      name: draft.name,
      description: draft.description ?? null,
      type: draft.type,
      required: draft.required ?? false,
      selectOptions: optionsFrom(draft.type, draft.selectOptions ?? null),
      ...firstVersion(records.now()),
    };
    await checkName(step, meta);
    await insertCustomField(step.db, meta);
    step.announce({ kind: 'customFieldMeta', id: meta.id, action: 'created' });
    return meta;
  });
  return view(record);
}

export async function readCustomField(records: Records, id: string) {
  return view(found(await findCustomField(records.db, id), 'custom field', id));
}

export async function listCustomFields(
  records: Records,
  principal: Principal,
  filter: ListScope & {
    readonly search?: string | undefined;
    readonly types?: readonly string[] | undefined;
  },
  page: PageRequest,
): Promise<Page<ReturnType<typeof view>>> {
  const reach = await listReach(records, principal, filter);
  const types = filter.types?.map((type) => type.toUpperCase());
  const unknown = types?.find((type) => !(customFieldTypes as readonly string[]).includes(type));
  if (unknown !== undefined) {
    throw problem('invalidRequest', {
      reason: `query type: ${unknown} is none of ${customFieldTypes.join(', ')}`,
    });
  }
  const { rows, total } = await listRows(
    records.db,
    { ...reach, search: filter.search, types },
    page,
  );
  return pageOf(rows.map(view), total, page);
}

/** The type is fixed: a body may repeat it, another one is refused. */
export async function updateCustomField(records: Records, id: string, sent: CustomFieldUpdate) {
  const saved = await change(records, async (step) => {
    const current = found(await findCustomField(step.db, id), 'custom field', id);
    if (sent.type && sent.type !== current.type) {
      throw problem('invalidRequest', {
        reason: `body type: the type ${current.type} of a custom field is fixed`,
      });
    }
    const record: CustomFieldMeta = {
      ...current,
      name: orCurrent(sent.name, current.name),
      description: orCurrent(sent.description, current.description),
      required: sent.required ?? current.required,
      selectOptions: optionsFrom(
        current.type,
        orCurrent(sent.selectOptions, current.selectOptions),
      ),
      ...nextVersion(current, sent.version, records.now()),
    };
    await checkName(step, record);
    await saveCustomField(step.db, record);
    step.announce({ kind: 'customFieldMeta', id, action: 'updated' });
    return record;
  });
  return view(saved);
}

/** A field that devices have values in is a 409 that names some of them; `force` removes the values with it. */
export async function deleteCustomField(
  records: Records,
  id: string,
  force: boolean,
): Promise<void> {
  await change(records, async (step) => {
    found(await findCustomField(step.db, id), 'custom field', id);
    if (!force)
      refuseWhenUsed('custom field', await devicesUsingCustomField(step.db, id, usersNamedMax));
    await removeCustomField(step.db, id);
    step.announce({ kind: 'customFieldMeta', id, action: 'deleted' });
  });
}
