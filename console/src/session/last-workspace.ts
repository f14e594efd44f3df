// Last workspace: where the links lead on pages that belong to no workspace.
import { useParams } from '@tanstack/react-router';

const key = 'workspace';

/** That of this tab, else the one that was open last in any tab. */
export function lastWorkspace(): string | undefined {
  return sessionStorage.getItem(key) ?? localStorage.getItem(key) ?? undefined;
}

export function rememberWorkspace(id: string): void {
  sessionStorage.setItem(key, id);
  localStorage.setItem(key, id);
}

/** The workspace of the address, else the last one that was open. */
export function useWorkspaceId(): string {
  const { workspaceId } = useParams({ strict: false });
  return workspaceId ?? lastWorkspace() ?? '';
}
