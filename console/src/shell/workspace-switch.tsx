// Workspace switch: opens another workspace of the organization, or creates one.
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { late } from '../parts/late.tsx';
import { useWorkspaceId } from '../session/last-workspace.ts';
import { useAccount, useWorkspaces } from '../session/session.ts';
import { useWords } from '../words/language.tsx';
import { shellWords } from './shell-words.ts';
import styles from './shell.module.css';

const createChoice = 'new';

const NewWorkspace = late('NewWorkspace', async () => {
  return (await import('../screens/settings/new-workspace.tsx')).NewWorkspace;
});

export function WorkspaceSwitch() {
  const words = useWords(shellWords);
  const workspaces = useWorkspaces();
  const workspaceId = useWorkspaceId();
  const navigate = useNavigate();
  const [isCreating, setCreating] = useState(false);
  const choose = (chosen: string) => {
    if (chosen === createChoice) setCreating(true);
    else void navigate({ to: '/w/$workspaceId', params: { workspaceId: chosen } });
  };
  return (
    <>
      <label className={styles['workspace']}>
        <span className="sr">{words.workspace}</span>
        <select value={workspaceId} onChange={({ target }) => choose(target.value)}>
          {workspaces.data?.content.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
          <CreateOption />
        </select>
      </label>
      {isCreating && <NewWorkspace close={() => setCreating(false)} />}
    </>
  );
}

/** Without the permission it is seen, but cannot be chosen. */
function CreateOption() {
  const words = useWords(shellWords);
  const { organizationId, organizations } = useAccount();
  const own = organizations.find((one) => one.organizationId === organizationId);
  const mayCreate = own?.permissions['workspace']?.includes('create') === true;
  return (
    <>
      <hr />
      <option value={createChoice} disabled={!mayCreate}>
        {words.newWorkspace}
      </option>
    </>
  );
}
