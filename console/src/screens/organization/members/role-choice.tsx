// Role choice: changes the role of a member in place.
import { useQueryClient } from '@tanstack/react-query';
import { toast, toastFailure } from '../../../parts/toasts.tsx';
import { useMayDo } from '../../../session/permissions.ts';
import { useWords } from '../../../words/language.tsx';
import { organizationWords } from '../organization-words.ts';
import type { Member, MemberPlace, Role } from './member-place.ts';
import styles from './members.module.css';
import { useAction } from '../../../parts/use-action.ts';

interface RoleChoiceProps {
  readonly place: MemberPlace;
  readonly member: Member;
}

export function RoleChoice({ place, member }: RoleChoiceProps) {
  const words = useWords(organizationWords);
  const queries = useQueryClient();
  const mayChange = useMayDo(`${place.scope}: update`);
  const change = useAction({
    mutationFn: (role: Role) => place.changeRole(member.userId, role),
    onSuccess: (_answer, role) => toast(words.roleChanged(member.email, words.roles[role])),
    onError: toastFailure,
    onSettled: () => queries.invalidateQueries({ queryKey: place.key }),
  });
  return (
    <select
      className={styles['role']}
      aria-label={words.roleOf(member.email)}
      disabled={!mayChange}
      value={change.isPending ? change.variables : member.role}
      onChange={(event) => change.mutate(event.target.value as Role)}
    >
      {place.roles.map((role) => (
        <option key={role} value={role}>
          {words.roles[role]}
        </option>
      ))}
    </select>
  );
}
