// Permissions of the session, so that a page offers nothing that would be refused.
import type { components } from '../../generated/interface-types.ts';
import { useAccount, useWorkspaceId } from './session.ts';

type Permissions = components['schemas']['EffectivePermissions'];
type Verb = 'create' | 'delete' | 'manage' | 'read' | 'update';
type Scope =
  | 'asset'
  | 'customLogic'
  | 'dashboard'
  | 'dataFlow'
  | 'deviceType'
  | 'integration'
  | 'organization'
  | 'organization.member'
  | 'rule'
  | 'workspace'
  | 'workspace.member';

/** What an action needs, as the platform names it. */
export type Need = `${Scope}: ${Verb}`;

/** Whether the user may do this in the workspace. True where the answer lists not all workspaces. */
export function useMay(workspaceId: string, scope: string, verb: Verb): boolean {
  return useHeld(workspaceId)(scope, verb);
}

/** Whether the user may do what needs this, in the workspace that is open. */
export function useMayDo(need: Need): boolean {
  return useGate()(need);
}

/** The same for many needs at once. */
export function useGate(): (need: Need) => boolean {
  const isHeld = useHeld(useWorkspaceId());
  return (need) => {
    const [scope, verb] = need.split(': ') as [string, Verb];
    return isHeld(scope, verb);
  };
}

/** Of the role in the organization and of that in the workspace, whichever has it. */
function useHeld(workspaceId: string): (scope: string, verb: Verb) => boolean {
  const { permissions, permissionsComplete, organizations, organizationId } = useAccount();
  const own = organizations.find((one) => one.organizationId === organizationId)?.permissions;
  const here = (permissions as Readonly<Record<string, Permissions>>)[workspaceId];
  if (here === undefined && !permissionsComplete) return () => true;
  const held = [own, here] as readonly (Readonly<Record<string, readonly string[]>> | undefined)[];
  return (scope, verb) => held.some((one) => one?.[scope]?.includes(verb) === true);
}
