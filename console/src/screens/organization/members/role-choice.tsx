// Role choice: changes the role of a member in place.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ask, platform } from '../../../api/platform.ts';
import { toast, toastFailure } from '../../../parts/toasts.tsx';
import { useAccount } from '../../../session/session.ts';
import { useWords } from '../../../words/language.tsx';
import { organizationWords } from '../organization-words.ts';
import type { Member } from './members.tsx';
import styles from './members.module.css';

export const roles = ['OWNER', 'ADMIN', 'MEMBER', 'EDITOR', 'VIEWER'] as const;
type Role = (typeof roles)[number];

export function RoleChoice({ member }: { readonly member: Member }) {
  const words = useWords(organizationWords);
  const { organizationId } = useAccount();
  const queries = useQueryClient();
  const path = { id: organizationId, userId: member.userId };
  const change = useMutation({
    mutationFn: (role: Role) =>
      ask(
        platform.PUT('/v3/organizations/{id}/members/{userId}', {
          params: { path },
          body: { role },
        }),
      ),
    onSuccess: (_answer, role) => toast(words.roleChanged(member.email, words.roles[role])),
    onError: toastFailure,
    onSettled: () => queries.invalidateQueries({ queryKey: ['members'] }),
  });
  return (
    <select
      className={styles['role']}
      aria-label={words.roleOf(member.email)}
      value={change.isPending ? change.variables : member.role}
      onChange={(event) => change.mutate(event.target.value as Role)}
    >
      {roles.map((role) => (
        <option key={role} value={role}>
          {words.roles[role]}
        </option>
      ))}
    </select>
  );
}
