// Open alarms of the workspace: how many, for the side bar and the bell.
import { useQuery } from '@tanstack/react-query';
import { newestOpen } from '../../api/alarms.ts';
import { useWorkspaceId } from '../../session/session.ts';
import { useMay } from '../../session/permissions.ts';

/** Undefined before the answer, and for users without permission to read alarms. */
export function useOpenAlarms(): { readonly total?: number } {
  const workspaceId = useWorkspaceId();
  const mayRead = useMay(workspaceId, 'rule', 'read') && workspaceId !== '';
  const { data } = useQuery({ ...newestOpen(workspaceId), enabled: mayRead });
  return data === undefined ? {} : { total: data.totalElements };
}
