// Grant fields: workspaces, presets and the permission grid, for keys and for OAuth clients.
import { Button } from '../../../ui/button.tsx';
import { CheckField, toggled } from '../../../ui/check-field.tsx';
import { Segments } from '../../../ui/choice.tsx';
import { useWorkspaces } from '../../../session/session.ts';
import { useWords } from '../../../words/language.tsx';
import { organizationWords } from '../organization-words.ts';
import type { Grant, Grantee } from './grant.ts';
import { presetNames, presets } from './key-permissions.ts';
import styles from './keys.module.css';
import { PermissionGrid, PermissionSentence } from './permission-grid.tsx';

interface GrantFieldsProps {
  readonly grantee: Grantee;
  readonly grant: Grant;
  readonly change: (part: Partial<Grant>) => void;
}

export function GrantFields({ grantee, grant, change }: GrantFieldsProps) {
  const words = useWords(organizationWords);
  return (
    <>
      <WorkspaceChoice grant={grant} change={change} />
      <div className={styles['presets']}>
        <span>{words.preset}</span>
        {presetNames.map((name) => (
          <Button key={name} onClick={() => change({ permissions: presets[name] })}>
            {words.presets[name]}
          </Button>
        ))}
      </div>
      <PermissionGrid
        permissions={grant.permissions}
        change={(permissions) => change({ permissions })}
      />
      <PermissionSentence grantee={grantee} permissions={grant.permissions} />
    </>
  );
}

function WorkspaceChoice({ grant, change }: Omit<GrantFieldsProps, 'grantee'>) {
  const words = useWords(organizationWords);
  const workspaces = useWorkspaces().data?.content ?? [];
  return (
    <fieldset className={styles['workspaces']}>
      <legend>{words.workspaces}</legend>
      <Segments
        label={words.workspaces}
        value={grant.allWorkspaces ? 'all' : 'these'}
        options={[
          { value: 'all', label: words.allWorkspaces },
          { value: 'these', label: words.onlyThese },
        ]}
        choose={(value) => change({ allWorkspaces: value === 'all' })}
      />
      {!grant.allWorkspaces &&
        workspaces.map(({ id, name }) => (
          <CheckField
            key={id}
            label={name}
            isOn={grant.workspaceIds.includes(id)}
            change={(isOn) => change({ workspaceIds: toggled(grant.workspaceIds, id, isOn) })}
          />
        ))}
    </fieldset>
  );
}
