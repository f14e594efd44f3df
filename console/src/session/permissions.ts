// Permissions of the session, so that a page asks for nothing that would be refused.
import type { components } from '../../generated/interface-types.ts';
import { useAccount } from './session.ts';

type Permissions = components['schemas']['EffectivePermissions'];

/** Whether the user may do this in the workspace. True where the answer lists not all workspaces. */
export function useMay(
  workspaceId: string,
  scope: string,
  verb: 'create' | 'delete' | 'read' | 'update',
): boolean {
  const { permissions, permissionsComplete } = useAccount();
  const held = (permissions as Readonly<Record<string, Permissions>>)[workspaceId];
  if (held === undefined) return !permissionsComplete;
  return (held as Readonly<Record<string, readonly string[]>>)[scope]?.includes(verb) ?? false;
}
