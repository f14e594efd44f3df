// Custom fields of a workspace: create, read, list, update, delete (contract 5).
import type { CustomFieldDraft, CustomFieldUpdate } from '../../contract/custom-fields.ts';
import {
  type CustomFieldMeta,
  type CustomFieldType,
  customFieldTypes,
} from '../../model/custom-field.ts';
import { type Page, type PageRequest, pageOf } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import {
  customFieldRows,
  devicesUsingCustomField,
  findCustomFields,
} from '../../storage/records/rows/custom-fields.ts';
import type { Records } from '../../storage/records/records.ts';
import { auditView, orCurrent, type Step, usersNamedMax } from '../record-change.ts';
import { Crud, placeIn } from '../record-crud.ts';
import { type ListScope, listReach } from '../list-scope.ts';

const fieldsPerWorkspaceMax = 500;
const optionsMax = 500;

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
      reason: 'body selectOptions: only valid for type STRING',
    });
  }
  const options = [...new Set(sent)];
  if (options.length > optionsMax) {
    throw problem('invalidRequest', {
      reason: `body selectOptions: must have at most ${optionsMax} items`,
    });
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
      reason: `A workspace can have at most ${fieldsPerWorkspaceMax} custom fields`,
    });
  }
}

const crud = new Crud<CustomFieldMeta>(
  'customFieldMeta',
  'custom field',
  () => customFieldRows,
  checkName,
);

export async function createCustomField(records: Records, draft: CustomFieldDraft) {
  const record = await crud.create(records, async (step, fields) => ({
    ...fields,
    ...(await placeIn(step, draft.workspaceId)),
    name: draft.name,
    description: draft.description ?? null,
    type: draft.type,
    required: draft.required ?? false,
    selectOptions: optionsFrom(draft.type, draft.selectOptions ?? null),
  }));
  return view(record);
}

export async function readCustomField(records: Records, id: string) {
  return view(await crud.read(records, id));
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
      reason: `query type: unknown type ${unknown}; valid types: ${customFieldTypes.join(', ')}`,
    });
  }
  const { rows, total } = await customFieldRows.list(
    records.db,
    { ...reach, search: filter.search, types },
    page,
  );
  return pageOf(rows.map(view), total, page);
}

/** The type is fixed: the request can repeat it, another type is rejected. */
export async function updateCustomField(records: Records, id: string, sent: CustomFieldUpdate) {
  const record = await crud.update(records, id, sent, (current) => {
    const { type, required, selectOptions } = current;
    if (sent.type && sent.type !== type) {
      throw problem('invalidRequest', {
        reason: `body type: cannot be changed (it is ${type})`,
      });
    }
    return {
      required: sent.required ?? required,
      selectOptions: optionsFrom(type, orCurrent(sent.selectOptions, selectOptions)),
    };
  });
  return view(record);
}

/** A field with values is a 409 that names some of the devices; `force` removes the values too. */
export async function deleteCustomField(
  records: Records,
  id: string,
  force: boolean,
): Promise<void> {
  await crud.remove(records, id, async ({ db }) => {
    if (force) return [];
    return devicesUsingCustomField(db, id, usersNamedMax);
  });
}
