// Granted columns: the columns that API keys and OAuth clients have in common, name and permissions.
import type { Grant } from '../../../model/credential.ts';
import { fromFlag, fromJsonText, searchTextOf, toFlag, toJsonText } from '../columns.ts';

interface GrantedColumns {
  readonly allWorkspaces: number;
  readonly workspaceIds: string;
  readonly permissions: string;
  readonly searchText: string;
}

type Granted = Omit<Grant, 'organizationId'>;

export function toGrantedRow<R extends Granted & { readonly name: string }>(
  record: R,
): Omit<R, keyof GrantedColumns> & GrantedColumns {
  return {
    ...record,
    allWorkspaces: toFlag(record.allWorkspaces),
    workspaceIds: toJsonText(record.workspaceIds),
    permissions: toJsonText(record.permissions),
    searchText: searchTextOf(record.name),
  };
}

export function fromGrantedRow<R extends GrantedColumns>({
  searchText: _,
  ...row
}: R): Omit<R, keyof GrantedColumns> & Granted {
  return {
    ...row,
    allWorkspaces: fromFlag(row.allWorkspaces),
    workspaceIds: fromJsonText(row.workspaceIds),
    permissions: fromJsonText(row.permissions),
  };
}
